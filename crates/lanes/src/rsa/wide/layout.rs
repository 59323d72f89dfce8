//! How a number lies across the lanes.
//!
//! ```text
//!                lane 0     lane 1       lane 2      …
//! register 0     digit 0    digit R      digit 2R
//! register 1     digit 1    digit R+1    digit 2R+1
//! …
//! register R−1   digit R−1  digit 2R−1   digit 3R−1
//! ```
//!
//! So moving a number by one digit renames the registers; only one of them moves by a lane.

use crate::vector::{Digit, Mask, Vector};

/// Which lanes a number lies across.
pub(in crate::rsa) trait Layout {
    /// The lanes of one number.
    const LANES: usize;
    /// The lanes of the first number.
    const NUMBER: Mask;
    /// The lowest lane of each number.
    const LOWEST: Mask;
    /// The highest lane of each number.
    const HIGHEST: Mask;

    /// The lowest lane of each number in all of its lanes.
    fn lowest<V: Vector>(x: V) -> V;
    /// Lane `LANE` of each number in all of its lanes.
    fn lane<V: Vector, const LANE: usize>(x: V) -> V;
    /// `lane` of each number in memory in all of its lanes.
    fn broadcast<V: Vector>(of: &Digit, lane: usize) -> V;
    /// Each lane takes what the next higher one has; the highest takes 0.
    fn down<V: Vector>(x: V) -> V;
    /// Each lane takes what the next lower one has; the lowest takes 0.
    fn up<V: Vector>(x: V) -> V;
}

/// Two numbers, of one prime each: p's in lanes 0 to 3, q's in lanes 4 to 7.
pub(in crate::rsa) struct Halves;

impl Layout for Halves {
    const LANES: usize = 4;
    const NUMBER: Mask = 0x0f;
    const LOWEST: Mask = 0x11;
    const HIGHEST: Mask = 0x88;

    #[inline(always)]
    fn lowest<V: Vector>(x: V) -> V {
        x.permute_halves::<0>()
    }

    #[inline(always)]
    fn lane<V: Vector, const LANE: usize>(x: V) -> V {
        match LANE {
            0 => x.permute_halves::<0b00_00_00_00>(),
            1 => x.permute_halves::<0b01_01_01_01>(),
            2 => x.permute_halves::<0b10_10_10_10>(),
            _ => x.permute_halves::<0b11_11_11_11>(),
        }
    }

    #[inline(always)]
    fn broadcast<V: Vector>(of: &Digit, lane: usize) -> V {
        const HALF: Digit = Digit([0, 0, 0, 0, 4, 4, 4, 4]);
        V::load(of).permute(V::splat(lane as u64).add(V::load(&HALF)))
    }

    #[inline(always)]
    fn down<V: Vector>(x: V) -> V {
        x.permute_halves::<0b00_11_10_01>()
            .blend(Self::HIGHEST, V::zero())
    }

    #[inline(always)]
    fn up<V: Vector>(x: V) -> V {
        x.permute_halves::<0b10_01_00_00>()
            .blend(Self::LOWEST, V::zero())
    }
}

/// One number across all lanes: modulo n.
pub(in crate::rsa) struct Whole;

impl Layout for Whole {
    const LANES: usize = 8;
    const NUMBER: Mask = 0xff;
    const LOWEST: Mask = 0x01;
    const HIGHEST: Mask = 0x80;

    #[inline(always)]
    fn lowest<V: Vector>(x: V) -> V {
        x.permute(V::zero())
    }

    #[inline(always)]
    fn lane<V: Vector, const LANE: usize>(x: V) -> V {
        x.permute(V::splat(LANE as u64))
    }

    #[inline(always)]
    fn broadcast<V: Vector>(of: &Digit, lane: usize) -> V {
        V::splat(of.0[lane])
    }

    #[inline(always)]
    fn down<V: Vector>(x: V) -> V {
        x.permute(V::load(&Digit([1, 2, 3, 4, 5, 6, 7, 7])))
            .blend(Self::HIGHEST, V::zero())
    }

    #[inline(always)]
    fn up<V: Vector>(x: V) -> V {
        x.permute(V::load(&Digit([0, 0, 1, 2, 3, 4, 5, 6])))
            .blend(Self::LOWEST, V::zero())
    }
}
