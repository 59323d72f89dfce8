//! k G for the base point G, one k: eight windows at once, one in each lane.
//!
//! ```text
//! k = Σ d_i 2^(w i)           odd digits (`recode.rs`), in lane l those with i = 8 r + l of the rounds r
//! S_l = Σ_r d_i 2^(w i) G     each lane adds up its own entries, Jacobian plus affine
//! k G = S_0 + … + S_7         three complete additions: with the neighbour, the second next, the other half
//! ```
//!
//! The table holds (2 j + 1) 2^(w i) G for each round and each j < 2^(w-1), lane l that of its window. A lookup is a
//! masked scan of the round's entries: each lane takes the one that its digit names.
//!
//! ```text
//!                  P-256                     P-384
//! windows          52 of 5 bits              64 of 6 bits
//! rounds           7 (the last: 4 lanes)     8
//! a lookup         16 · 11 masked moves      32 · 17
//! ```
//!
//! # No exception occurs
//! A lane adds d 2^(w i) G to A = Σ d_j 2^(w j), times G, over other windows j of the lane. As the digits are odd, A and
//! d 2^(w i) are divisible by different powers of 2: neither of A and A ± d 2^(w i) is zero. Nor is any of them another
//! multiple of n, for they are all smaller: the uppermost digit of all, d_{m-1} = 2 (k >> w (m - 1) + 1) + 1, is at most
//! T = 2 (n >> w (m - 1) + 1) + 1, and the lane's others add up to less than 2^(w (m - 7)), which is less than half of
//! 2^(w (m - 1)). So (2 T + 1) 2^(w (m - 1) - 1) ≤ n is enough, which [`lanes_stay_below`] reckons when the crate is
//! compiled. In the other lanes the sums are smaller still. The three sums across the lanes are complete (`complete.rs`).
//!
//! # The tally
//! Each entry has a number of its own beside its coordinates, (2 j + 1) c^i mod 2^52 for a constant odd c. The lanes add
//! them up with the points, by the same masks and permutations; the sum has to be Σ d_i c^i (see `check.rs`). It shows
//! that every window was added once, and with which digit. In the end all lanes have the same point; that they do is
//! checked as well, for the check that the point is on the curve has to pass in every lane, and they share one 1/Z.
//!
//! Constant time: every entry of a round is read, the digit decides which one stays; the addresses are the round's. The
//! table is public.

use super::complete::{AddPartner, Homogeneous, StoredHomogeneous};
use super::scalar::{Places, Scalar};
use crate::checks::Check;
use crate::vector::{self, DIGIT, Digit, Kernel, Mask, Vector, unroll};
use crate::weierstrass::bound::REDUCED;
use crate::weierstrass::check::MULTIPLIER;
use crate::weierstrass::comb::each_eight_windows;
use crate::weierstrass::curve::Curve;
use crate::weierstrass::element::Element;
use crate::weierstrass::modulus::Modulus;
use crate::weierstrass::point::{Affine, Jacobian, StoredJacobian};
use crate::weierstrass::recode::{OddDigit, Windows};
use crate::{Error, LANES};
use core::marker::PhantomData;
use zeroize::Zeroize;

/// The base point's table: round by round, in each the entries in the order of j.
pub(crate) struct Table<const N: usize> {
    entries: Vec<Entry<N>>,
}

#[cfg(feature = "fault")]
impl<const N: usize> Table<N> {
    /// Whether it is the same as another.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

/// Lane l: (2 j + 1) 2^(w i) G for its window i.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
struct Entry<const N: usize> {
    x: [Digit; N],
    y: [Digit; N],
    /// (2 j + 1) c^i mod 2^52.
    multiple: Digit,
}

/// k G.
#[derive(Zeroize)]
pub(crate) struct Product<const N: usize> {
    /// In every lane.
    pub(crate) point: StoredHomogeneous<N>,
    /// In every lane, modulo 2^52.
    pub(crate) tally: Digit,
}

/// k G for one odd k in [1, n - 1], the same in every lane.
pub(crate) struct MultiplyBase<'a, C, const N: usize> {
    pub(crate) k: &'a [Digit; N],
    pub(crate) table: &'a Table<N>,
    pub(crate) curve: PhantomData<C>,
}

impl<C: Curve<N>, const N: usize> Kernel for MultiplyBase<'_, C, N> {
    type Output = Product<N>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Product<N> {
        const {
            assert!(lanes_stay_below::<N>(
                &C::Order::DIGITS,
                8 * C::BYTES,
                C::WIDE_WIDTH
            ));
        }
        let Self { k, table, .. } = self;
        let windows = Rounds::<C, N>::WINDOWS;
        let k = Scalar::<V>::across(k, windows);
        let mut sum = StoredJacobian::ZERO;
        let mut tally = V::zero();
        for round in 0..const { Rounds::<C, N>::COUNT } {
            let digit = k.digits(&Rounds::<C, N>::PLACES[round], windows);
            let (point, multiple) = lookup::<V, C, N>(table, round, digit);
            let added = tally.add(multiple);
            if round == 0 {
                tally = added;
                point.to_jacobian().store(&mut sum);
                continue;
            }
            let there = Rounds::<C, N>::LANES[round];
            tally = tally.blend(there, added);
            let before = Jacobian::<V, C::Field, N>::load(&sum);
            before
                .blend(there, before.add_affine(point))
                .store(&mut sum);
        }

        let mut product = Product {
            point: StoredHomogeneous::ZERO,
            tally: Digit::ZERO,
        };
        tally.store(&mut product.tally);
        Homogeneous::<V, C::Field, N>::from_jacobian(&sum).store(&mut product.point);
        for partner in &PARTNERS {
            V::call(AddPartner {
                point: &mut product.point,
                tally: &mut product.tally,
                partner,
                curve: PhantomData::<C>,
            });
        }
        sum.zeroize();
        product
    }
}

/// The lanes whose `tally` is that of the odd `k`.
#[inline(always)]
pub(crate) fn tally_is_of<V: Vector, C: Curve<N>, const N: usize>(
    tally: &Digit,
    k: &[Digit; N],
) -> Mask {
    let windows = Rounds::<C, N>::WINDOWS;
    let k = Scalar::<V>::across(k, windows);
    let mut sum = V::zero();
    for round in 0..const { Rounds::<C, N>::COUNT } {
        let OddDigit { index, negative } = k.digits(&Rounds::<C, N>::PLACES[round], windows);
        let multiple = index.add(index).add(V::splat(1));
        let power = V::load(&Rounds::<C, N>::POWERS[round]);
        let product = V::zero().madlo(multiple, power);
        let product = product.blend(negative, V::zero().sub(product));
        sum = sum.blend(Rounds::<C, N>::LANES[round], sum.add(product));
    }
    for partner in &PARTNERS {
        sum = sum.add(sum.permute(V::load(partner)));
    }
    let digit = V::splat(DIGIT);
    sum.and(digit).eq(V::load(tally).and(digit))
}

/// The lane that each lane adds: the neighbour, the second next, the one in the other half.
const PARTNERS: [Digit; 3] = [
    Digit([1, 0, 3, 2, 5, 4, 7, 6]),
    Digit([2, 3, 0, 1, 6, 7, 4, 5]),
    Digit([4, 5, 6, 7, 0, 1, 2, 3]),
];

/// Rounds of any curve at most.
const MOST: usize = 8;

/// The rounds of a curve.
struct Rounds<C, const N: usize>(PhantomData<C>);

impl<C: Curve<N>, const N: usize> Rounds<C, N> {
    const WINDOWS: Windows = Windows::of(8 * C::BYTES, C::WIDE_WIDTH);
    const COUNT: usize = Self::WINDOWS.count.div_ceil(LANES);

    /// The lanes that have a window in each round.
    const LANES: [Mask; MOST] = {
        let mut lanes = [0; MOST];
        let mut i = 0;
        while i < Self::WINDOWS.count {
            lanes[i / LANES] |= 1 << (i % LANES);
            i += 1;
        }
        lanes
    };

    /// Where the windows of each round are.
    const PLACES: [Places; MOST] = {
        let mut places = [Places::of_eight(0, Self::WINDOWS); MOST];
        let mut round = 1;
        while round < MOST {
            places[round] = Places::of_eight(LANES * round, Self::WINDOWS);
            round += 1;
        }
        places
    };

    /// c^i mod 2^52.
    const POWERS: [Digit; MOST] = {
        let mut powers = [Digit::ZERO; MOST];
        let mut power = 1_u64;
        let mut i = 0;
        while i < MOST * LANES {
            powers[i / LANES].0[i % LANES] = power;
            power = power.wrapping_mul(MULTIPLIER) & DIGIT;
            i += 1;
        }
        powers
    };
}

/// Each lane's entry of a round, and what it is the multiple of.
#[inline(always)]
fn lookup<V: Vector, C: Curve<N>, const N: usize>(
    table: &Table<N>,
    round: usize,
    digit: OddDigit<V>,
) -> (Affine<V, C::Field, N>, V) {
    let size = const { 1 << (C::WIDE_WIDTH - 1) };
    let (mut x, mut y) = ([V::zero(); N], [V::zero(); N]);
    let mut multiple = V::zero();
    for (j, entry) in table.entries[size * round..][..size].iter().enumerate() {
        let here = digit.index.eq(V::splat(j as u64));
        unroll!(I < N => {
            x[I] = x[I].blend(here, V::load(&entry.x[I]));
            y[I] = y[I].blend(here, V::load(&entry.y[I]));
        });
        multiple = multiple.blend(here, V::load(&entry.multiple));
    }
    let point = Affine {
        x: Element::from_digits(REDUCED, x),
        y: Element::from_digits(REDUCED, y),
    };
    let negative = V::zero().sub(multiple);
    (
        point.negate(digit.negative),
        multiple.blend(digit.negative, negative),
    )
}

/// Whether no lane's sum reaches n: see the header.
const fn lanes_stay_below<const N: usize>(order: &[u64; N], bits: usize, width: usize) -> bool {
    let windows = Windows::of(bits, width);
    let top = width * (windows.count - 1);
    let most = 2 * above(order, top + 1) + 1;
    windows.count > LANES && 2 * most < above(order, top - 1)
}

/// n >> bit, for an n with fewer than 64 bits above it.
const fn above<const N: usize>(n: &[u64; N], bit: usize) -> u64 {
    let (digit, shift) = (bit / 52, bit % 52);
    let mut out = 0;
    let mut i = N;
    while i > digit + 1 {
        i -= 1;
        assert!(out == 0);
        out = out << 52 | n[i];
    }
    if digit < N {
        out << (52 - shift) | n[digit] >> shift
    } else {
        0
    }
}

/// Makes the table: twice, and compares, because a fault in it would last.
///
/// # Errors
/// [`Error::Fault`] where they differ, [`Error::Unavailable`] where there are no lanes.
pub(crate) fn build<C: Curve<N>, const N: usize>() -> Result<Table<N>, Error> {
    let table = vector::run(Build::<C, N>(PhantomData))?;
    let again = vector::run(Build::<C, N>(PhantomData))?;
    let same = if again.entries == table.entries {
        Mask::MAX
    } else {
        0
    };
    if Check::Table.verdict(same) == 0 {
        return Err(Error::Fault);
    }
    Ok(table)
}

/// Makes the table.
struct Build<C, const N: usize>(PhantomData<C>);

impl<C: Curve<N>, const N: usize> Kernel for Build<C, N> {
    type Output = Table<N>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Table<N> {
        let mut entries = Vec::new();
        each_eight_windows::<V, C, N>(Rounds::<C, N>::WINDOWS, |first, multiples| {
            for (j, entry) in multiples.iter().enumerate() {
                let power = V::load(&Rounds::<C, N>::POWERS[first / LANES]);
                let mut multiple = Digit::ZERO;
                V::zero()
                    .madlo(V::splat(2 * j as u64 + 1), power)
                    .store(&mut multiple);
                entries.push(Entry {
                    x: entry.x,
                    y: entry.y,
                    multiple,
                });
            }
        });
        Table { entries }
    }
}
