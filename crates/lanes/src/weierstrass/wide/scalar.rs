//! A scalar across the lanes: digit l of the odd k in lane l, with 2^(w m) (`recode.rs`), in one register.
//!
//! Constant time in k: places, shifts and permutations are those of windows.

use crate::LANES;
use crate::vector::unroll;
use crate::vector::{Digit, Vector};
use crate::weierstrass::recode::{OddDigit, Windows};

/// An odd scalar in one register.
#[derive(Clone, Copy)]
pub(crate) struct Scalar<V>(V);

/// Where each lane's window begins: in which digit and the one after it, and at which of its bits.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    digit: Digit,
    next: Digit,
    shift: Digit,
}

impl Places {
    /// Window `first` in lane 0, the next one in lane 1, and so on. Of windows that there are not, any.
    pub(crate) const fn of_eight(first: usize, windows: Windows) -> Places {
        let mut places = Places {
            digit: Digit::ZERO,
            next: Digit::ZERO,
            shift: Digit::ZERO,
        };
        let mut lane = 0;
        while lane < LANES && first + lane < windows.count {
            let bit = windows.width * (first + lane) + 1;
            places.digit.0[lane] = bit as u64 / 52;
            places.next.0[lane] = bit as u64 / 52 + 1;
            places.shift.0[lane] = bit as u64 % 52;
            lane += 1;
        }
        places
    }
}

impl<V: Vector> Scalar<V> {
    /// From digits of which each is the same in every lane.
    #[inline(always)]
    pub(crate) fn across<const N: usize>(k: &[Digit; N], windows: Windows) -> Self {
        let mut out = V::zero();
        unroll!(I < N => { out = out.blend(1 << I, V::load(&k[I])); });
        let end = windows.width * windows.count;
        let mut power = Digit::ZERO;
        power.0[end / 52] = 1 << (end % 52);
        Scalar(out.or(V::load(&power)))
    }

    /// Each lane's digit, that of its own window.
    #[inline(always)]
    pub(crate) fn digits(self, places: &Places, windows: Windows) -> OddDigit<V> {
        let digits = [V::load(&places.digit), V::load(&places.next)];
        self.pick(digits, V::load(&places.shift), windows)
    }

    /// The digit of window `i`, the same in every lane.
    #[inline(always)]
    pub(crate) fn digit(self, i: usize, windows: Windows) -> OddDigit<V> {
        let bit = windows.width as u64 * i as u64 + 1;
        let digits = [V::splat(bit / 52), V::splat(bit / 52 + 1)];
        self.pick(digits, V::splat(bit % 52), windows)
    }

    #[inline(always)]
    fn pick(self, [digit, next]: [V; 2], shift: V, windows: Windows) -> OddDigit<V> {
        let low = self.0.permute(digit);
        let high = self.0.permute(next).shl::<52>();
        OddDigit::of_bits(low.or(high).shr_by(shift), windows.width)
    }
}
