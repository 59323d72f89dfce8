//! Keccak-f[1600] (FIPS 202, section 3.3) of eight states at once.
//!
//! A state is 25 words of 64 bits, so lane `l` of 25 vectors is state `l`. Word (x, y) is number x + 5 y. A round takes the rows
//! of the new state one by one: each is made of five words of the old one, so that no more than 25 words and a row are
//! live. Six rounds are written out, for no reason but the constants.
//!
//! Constant time.

pub(crate) mod sponge;

use crate::vector::{Bits, Digit};

/// Eight states in memory.
pub(crate) type State = [Digit; WORDS];

/// Words of a state.
pub(crate) const WORDS: usize = 25;

/// The constants of step ι.
#[rustfmt::skip]
const ROUNDS: [u64; 24] = [
    0x0000_0000_0000_0001, 0x0000_0000_0000_8082, 0x8000_0000_0000_808a, 0x8000_0000_8000_8000,
    0x0000_0000_0000_808b, 0x0000_0000_8000_0001, 0x8000_0000_8000_8081, 0x8000_0000_0000_8009,
    0x0000_0000_0000_008a, 0x0000_0000_0000_0088, 0x0000_0000_8000_8009, 0x0000_0000_8000_000a,
    0x0000_0000_8000_808b, 0x8000_0000_0000_008b, 0x8000_0000_0000_8089, 0x8000_0000_0000_8003,
    0x8000_0000_0000_8002, 0x8000_0000_0000_0080, 0x0000_0000_0000_800a, 0x8000_0000_8000_000a,
    0x8000_0000_8000_8081, 0x8000_0000_0000_8080, 0x0000_0000_8000_0001, 0x8000_0000_8000_8008,
];

/// The permutation of as many states as a register has lanes.
#[inline(always)]
fn permute<B: Bits>(state: &mut State) {
    let mut a = [B::splat(0); WORDS];
    for (to, from) in a.iter_mut().zip(state.iter()) {
        *to = B::load(from);
    }
    let (rounds, _) = ROUNDS.as_chunks::<6>();
    for [r0, r1, r2, r3, r4, r5] in rounds {
        a = round(a, *r0);
        a = round(a, *r1);
        a = round(a, *r2);
        a = round(a, *r3);
        a = round(a, *r4);
        a = round(a, *r5);
    }
    for (from, to) in a.into_iter().zip(state.iter_mut()) {
        from.store(to);
    }
}

/// Rotation left by 1 to 63: one instruction.
#[inline(always)]
fn rotate<const LEFT: u32, const RIGHT: u32, B: Bits>(x: B) -> B {
    const { assert!(LEFT + RIGHT == 64) };
    x.shl::<LEFT>().or(x.shr::<RIGHT>())
}

macro_rules! rotate {
    ($x:expr, $left:literal) => {
        rotate::<$left, { 64 - $left }, B>($x)
    };
}

/// The sum of a column.
#[inline(always)]
fn column<B: Bits>(a: &[B; WORDS], x: usize) -> B {
    let lower = a[x].xor(a[x + 5]).xor(a[x + 10]);
    lower.xor(a[x + 15]).xor(a[x + 20])
}

/// χ of a row.
#[inline(always)]
fn row<B: Bits>([b0, b1, b2, b3, b4]: [B; 5]) -> [B; 5] {
    [
        b0.xor(b1.not_and(b2)),
        b1.xor(b2.not_and(b3)),
        b2.xor(b3.not_and(b4)),
        b3.xor(b4.not_and(b0)),
        b4.xor(b0.not_and(b1)),
    ]
}

/// θ, ρ, π, χ and ι.
#[inline(always)]
fn round<B: Bits>(a: [B; WORDS], constant: u64) -> [B; WORDS] {
    let c = [
        column(&a, 0),
        column(&a, 1),
        column(&a, 2),
        column(&a, 3),
        column(&a, 4),
    ];
    let d = [
        c[4].xor(rotate!(c[1], 1)),
        c[0].xor(rotate!(c[2], 1)),
        c[1].xor(rotate!(c[3], 1)),
        c[2].xor(rotate!(c[4], 1)),
        c[3].xor(rotate!(c[0], 1)),
    ];
    // The word that θ makes of word i of the old state, before ρ turns it.
    macro_rules! word {
        ($i:literal) => {
            a[$i].xor(d[$i % 5])
        };
    }
    let [a0, a1, a2, a3, a4] = row([
        word!(0),
        rotate!(word!(6), 44),
        rotate!(word!(12), 43),
        rotate!(word!(18), 21),
        rotate!(word!(24), 14),
    ]);
    let [a5, a6, a7, a8, a9] = row([
        rotate!(word!(3), 28),
        rotate!(word!(9), 20),
        rotate!(word!(10), 3),
        rotate!(word!(16), 45),
        rotate!(word!(22), 61),
    ]);
    let [a10, a11, a12, a13, a14] = row([
        rotate!(word!(1), 1),
        rotate!(word!(7), 6),
        rotate!(word!(13), 25),
        rotate!(word!(19), 8),
        rotate!(word!(20), 18),
    ]);
    let [a15, a16, a17, a18, a19] = row([
        rotate!(word!(4), 27),
        rotate!(word!(5), 36),
        rotate!(word!(11), 10),
        rotate!(word!(17), 15),
        rotate!(word!(23), 56),
    ]);
    let [a20, a21, a22, a23, a24] = row([
        rotate!(word!(2), 62),
        rotate!(word!(8), 55),
        rotate!(word!(14), 39),
        rotate!(word!(15), 41),
        rotate!(word!(21), 2),
    ]);
    let a0 = a0.xor(B::splat(constant));
    [
        a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19,
        a20, a21, a22, a23, a24,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{self, Kernel, Vector};

    struct Permute<'a>(&'a mut State);

    impl Kernel for Permute<'_> {
        type Output = ();

        #[inline(always)]
        fn run<V: Vector>(self) {
            permute::<V>(self.0);
        }
    }

    struct PermuteHalf<'a>(&'a mut State);

    impl Kernel for PermuteHalf<'_> {
        type Output = ();

        #[inline(always)]
        fn run<V: Vector>(self) {
            permute::<V::Half>(self.0);
        }
    }

    /// The permutation of the state of zeros, once and twice: the Keccak team's KeccakF-1600-IntermediateValues.
    #[test]
    fn zeros() {
        let mut state = [Digit::ZERO; WORDS];
        vector::run(Permute(&mut state)).expect("lanes");
        assert_eq!(state[0], Digit::splat(0xf125_8f79_40e1_dde7));
        assert_eq!(state[24], Digit::splat(0xeaf1_ff7b_5cec_a249));
        vector::run(Permute(&mut state)).expect("lanes");
        assert_eq!(state[0], Digit::splat(0x2d5c_954d_f96e_cb3c));
        assert_eq!(state[24], Digit::splat(0x20d0_6cd2_6a8f_bf5c));
    }

    /// Four states come out as of eight.
    #[test]
    fn a_half() {
        let mut whole: State = core::array::from_fn(|word| {
            Digit(core::array::from_fn(|lane| {
                (word as u64 * 8 + lane as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            }))
        });
        let mut half = whole;
        vector::run(Permute(&mut whole)).expect("lanes");
        vector::run(PermuteHalf(&mut half)).expect("lanes");
        let lower = |state: &State| state.map(|word| [0, 1, 2, 3].map(|lane| word.0[lane]));
        assert_eq!(lower(&half), lower(&whole));
    }
}
