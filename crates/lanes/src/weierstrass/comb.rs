//! k G for the base point G: one addition a window, no doubling.
//!
//! The table holds (2 j + 1) 2^(w i) G for each window i and j < 2^(w-1). It is the same for all
//! lanes, so a lookup needs neither a scan nor an address: 16 entries of one digit are two vector
//! registers, from which `vpermt2q` picks each lane's. For w = 7 a digit is four picks and three
//! blends: a window's lookup takes about a sixth as long as its addition. The permutation's
//! time depends on no operand.
//!
//! ```text
//!                  P-256                              P-384
//! windows          37                                 55
//! a lookup         44 picks, 33 blends                68 picks, 51 blends           (2 N + 1 rows)
//! vpmadd52         36 additions and a tally: 28,477   54 additions and a tally: 101,575
//! ```
//!
//! Bounds: entries are carried and below p, so `negate` gives y in [0, p]; the sum keeps to the bounds of `point.rs`.
//!
//! The table is built by the lanes themselves at first use, eight windows at a time, in a
//! fraction of a millisecond. Its content is public: `build` and `Build` see no secret.
//!
//! Constant time, all else: `lookup`, `groups` and `pick` load every vector of a window's rows, at addresses that
//! depend on the window alone; the digit is an operand of permutations, comparisons and blends.

use super::affine::to_affine;
use super::bound::REDUCED;
use super::check::Tally;
use super::curve::Curve;
use super::element::Element;
use super::modulus::Modulus;
use super::multiples::OddMultiples;
use super::point::{Affine, Double, Jacobian, Product, StoredAffine, StoredJacobian};
use super::recode::{self, OddDigit, Windows};
use crate::checks::Check;
use crate::vector;
use crate::vector::unroll;
use crate::vector::{Digit, Kernel, Mask, Vector};
use crate::{Error, LANES};
use core::marker::PhantomData;

/// The base point's table, uppermost window first; a window is 2 N + 1 rows of 2^(w - 1) / 8 vectors:
/// one for each digit and one for 2 j + 1 itself. Entry j is lane j mod 8 of vector j / 8.
pub(crate) struct Comb<const N: usize> {
    vectors: Vec<Digit>,
    width: usize,
    windows: usize,
}

impl<const N: usize> Comb<N> {
    /// Whether it is the same as another.
    #[cfg(feature = "fault")]
    pub(crate) fn equals(&self, other: &Self) -> bool {
        self.vectors == other.vectors
    }

    /// Rows of a window.
    const ROWS: usize = 2 * N + 1;

    /// Vectors that one digit's entries take.
    fn row(&self) -> usize {
        (1 << (self.width - 1)) / LANES
    }

    /// The rows of window `i`.
    #[inline(always)]
    fn window(&self, i: usize) -> &[Digit] {
        let size = Self::ROWS * self.row();
        &self.vectors[size * (self.windows - 1 - i)..][..size]
    }
}

/// k G in Jacobian coordinates, for odd k in [1, n - 1].
pub(crate) struct MultiplyBase<'a, C, const N: usize> {
    pub(crate) k: &'a [Digit; N],
    pub(crate) comb: &'a Comb<N>,
    pub(crate) curve: PhantomData<C>,
}

impl<C: Curve<N>, const N: usize> Kernel for MultiplyBase<'_, C, N> {
    type Output = Product<N>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Product<N> {
        let Self { k, comb, .. } = self;
        const {
            assert!(!recode::exceptional(&C::Order::DIGITS, C::COMB_WIDTH));
        }
        let windows = windows::<C, N>();
        let mut sum = StoredJacobian::ZERO;
        let top = windows.count - 1;
        let mut tally = Tally::<V>::new();
        lookup::<V, C, N>(comb, top, recode::digit(k, top, windows), &mut tally)
            .to_jacobian()
            .store(&mut sum);
        for i in (0..top).rev() {
            let digit = recode::digit(k, i, windows);
            let point = lookup::<V, C, N>(comb, i, digit, &mut tally);
            Jacobian::load(&sum).add_affine(point).store(&mut sum);
        }
        Product {
            point: sum,
            tally: tally.store(),
        }
    }
}

/// The windows of a scalar.
pub(crate) const fn windows<C: Curve<N>, const N: usize>() -> Windows {
    Windows::of(8 * C::BYTES, C::COMB_WIDTH)
}

/// Each lane's entry of window `i`.
#[inline(always)]
fn lookup<V: Vector, C: Curve<N>, const N: usize>(
    comb: &Comb<N>,
    i: usize,
    digit: OddDigit<V>,
    tally: &mut Tally<V>,
) -> Affine<V, C::Field, N> {
    let groups = groups(digit.index.shr::<4>());
    let rows = comb.window(i);
    let row = comb.row();
    let (mut x, mut y) = ([V::zero(); N], [V::zero(); N]);
    unroll!(I < N => {
        x[I] = pick::<V, C, N>(&rows[row * I..][..row], digit.index, &groups);
        y[I] = pick::<V, C, N>(&rows[row * (N + I)..][..row], digit.index, &groups);
    });
    let multiple = pick::<V, C, N>(&rows[row * 2 * N..][..row], digit.index, &groups);
    *tally = tally.add(multiple, digit.negative);
    Affine {
        x: Element::from_digits(REDUCED, x),
        y: Element::from_digits(REDUCED, y),
    }
    .negate(digit.negative)
}

/// The lanes whose entry is in each pair of vectors.
#[inline(always)]
fn groups<V: Vector>(group: V) -> [Mask; 8] {
    let mut lanes = [0; 8];
    unroll!(I < 8 => { lanes[I] = group.eq(V::splat(I as u64)); });
    lanes
}

/// Each lane's entry of one row.
#[inline(always)]
fn pick<V: Vector, C: Curve<N>, const N: usize>(row: &[Digit], index: V, groups: &[Mask; 8]) -> V {
    let mut out = V::zero();
    unroll!(I < const { (1 << (C::COMB_WIDTH - 1)) / 16 } => {
        let entry = index.pick(V::load(&row[2 * I]), V::load(&row[2 * I + 1]));
        out = if I == 0 { entry } else { out.blend(groups[I], entry) };
    });
    out
}
/// Makes the base point's table: twice, and compares, because a fault in it would last.
///
/// # Errors
/// [`Error::Fault`] where they differ, [`Error::Unavailable`] where there are no lanes.
pub(crate) fn build<C: Curve<N>, const N: usize>() -> Result<Comb<N>, Error> {
    let comb = vector::run(Build::<C, N>(PhantomData))?;
    let again = vector::run(Build::<C, N>(PhantomData))?;
    let same = if again.vectors == comb.vectors {
        Mask::MAX
    } else {
        0
    };
    if Check::Table.verdict(same) == 0 {
        return Err(Error::Fault);
    }
    Ok(comb)
}

/// Makes the base point's table.
struct Build<C, const N: usize>(PhantomData<C>);

impl<C: Curve<N>, const N: usize> Kernel for Build<C, N> {
    type Output = Comb<N>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Comb<N> {
        let Windows {
            width,
            count: windows,
        } = windows::<C, N>();
        let entries = 1 << (width - 1);
        let mut comb = Comb {
            vectors: vec![Digit::ZERO; Comb::<N>::ROWS * windows * entries / LANES],
            width,
            windows,
        };
        each_eight_windows::<V, C, N>(self::windows::<C, N>(), |first, multiples| {
            for lane in 0..LANES.min(windows - first) {
                let size = Comb::<N>::ROWS * entries / LANES;
                let at = size * (windows - 1 - (first + lane));
                let window = &mut comb.vectors[at..][..size];
                for (j, entry) in multiples.iter().enumerate() {
                    for (row, digit) in entry.x.iter().chain(&entry.y).enumerate() {
                        window[row * entries / LANES + j / LANES].0[j % LANES] = digit.0[lane];
                    }
                    let multiple = 2 * j as u64 + 1;
                    window[2 * N * entries / LANES + j / LANES].0[j % LANES] = multiple;
                }
            }
        });
        comb
    }
}

/// Gives `take` the multiples (2 j + 1) 2^(w i) G of eight windows at a time, lane l of entry j being that of window
/// i = first + l.
#[inline(always)]
pub(crate) fn each_eight_windows<V: Vector, C: Curve<N>, const N: usize>(
    windows: Windows,
    mut take: impl FnMut(usize, &[StoredAffine<N>]),
) {
    let modulus = PhantomData::<C::Field>;
    let Windows { width, count } = windows;

    // Lane l starts with 2^(w l) G.
    let mut base = StoredJacobian::ZERO;
    Affine::<V, C::Field, N> {
        x: Element::splat(C::GENERATOR[0]).to_montgomery(),
        y: Element::splat(C::GENERATOR[1]).to_montgomery(),
    }
    .to_jacobian()
    .store(&mut base);
    for lane in 1..LANES {
        let mut doubled = base;
        V::call(Double {
            point: &mut doubled,
            times: width,
            modulus,
        });
        let later = u8::MAX << lane;
        Jacobian::<V, C::Field, N>::load(&base)
            .blend(later, Jacobian::load(&doubled))
            .store(&mut base);
    }

    let mut multiples = vec![StoredAffine::<N>::ZERO; 1 << (width - 1)];
    for first in (0..count).step_by(LANES) {
        let affine = to_affine::<V, C::Field, N>(&base);
        V::call(OddMultiples {
            point: &affine,
            table: &mut multiples,
            modulus,
        });
        take(first, &multiples);
        V::call(Double {
            point: &mut base,
            times: width * LANES,
            modulus,
        });
    }
}
