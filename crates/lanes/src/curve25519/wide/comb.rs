//! One multiple of the base point, from a table.
//!
//! A scalar k is written in 64 digits of base 16, all odd: k = sum of d_j 16^j, |d_j| <= 15. Lane l adds the multiples
//! of its eight digits, j = 8 l to 8 l + 7; three more additions, of each lane's sum and its neighbour's, make one sum of
//! eight.
//!
//! # All digits odd
//! As in `comb.rs` of the batch: with e = (k + 2^256 - 1) / 2, four bits v of e stand for the digit 2 v - 15. An even k
//! gives way to k - L. Lane l's eight digits are 32 bits of e.
//!
//! # Lookup
//! The table has the eight multiples 1, 3, ..., 15 of each 16^j B, packed: three coordinates of four words. What the
//! lanes choose from lies side by side, so the choice is a scan: eight masks, 96 loads. The table is public and has
//! 48 KiB, the size of a first-level cache; five bits a digit would need 80 KiB and save one addition of ten. It is made
//! when first used.
//!
//! # The check
//! As for the NIST curves, and for the reasons that `checks.rs` gives: beside an entry's coordinates the same masks
//! select what multiple it is, and the sum of these, each times a number that its digit alone has, is compared with
//! that of the digits, which are made anew. The sum's lanes are added along the same permutations as the points'. That
//! nothing happened to the coordinates shows when the caller tries whether the point is on the curve: an addition with
//! a mistake in it leads elsewhere.
//!
//! No addition is an exception: the formulas are complete.
//!
//! Everything is constant time.

use crate::Error;
use crate::LANES;
use crate::checks::Check;
use crate::curve25519::edwards::{Completed, Multiple, StoredCompleted};
use crate::curve25519::field::Element;
use crate::curve25519::inverse::NEIGHBOUR;
use crate::curve25519::words::{self, Words};
use crate::vector::{self, DIGIT, Digit, Kernel, Mask, Vector, opaque, reread, unroll};
use std::sync::OnceLock;
use zeroize::{Zeroize, Zeroizing};

/// Digits that a lane has.
const ROUNDS: usize = 8;

/// Multiples to choose from.
const ENTRIES: usize = 8;

/// The order L of the base point.
const ORDER: [u64; 4] = [
    0x5812_631a_5cf5_d3ed,
    0x14de_f9de_a2f7_9cd6,
    0,
    0x1000_0000_0000_0000,
];

/// y - x, y + x and 2 d x y of a point in each lane.
type Entry = [Words; 3];

/// The multiples 1, 3, ..., 15 of 16^(8 l + i) B for round i and lane l.
pub(crate) struct Table([[Entry; ENTRIES]; ROUNDS]);

/// The base point's table, made at the first use.
///
/// # Errors
/// [`Error::Fault`] where it did not come out the same twice, [`Error::Unavailable`] where there are no lanes.
pub(crate) fn table() -> Result<&'static Table, Error> {
    static TABLE: OnceLock<Result<Box<Table>, Error>> = OnceLock::new();
    match TABLE.get_or_init(build) {
        Ok(table) => Ok(table),
        Err(error) => Err(*error),
    }
}

impl Table {
    /// k times the base point, for a k below 2^255 in all lanes.
    #[inline(always)]
    pub(crate) fn multiply<V: Vector>(&self, k: &Words) -> Zeroizing<Product> {
        V::call(WideMultiply { k, table: self })
    }
}

/// A table of any entries, for the tests of bounds.
#[cfg(test)]
pub(crate) fn any_table() -> Table {
    let any = Words([Digit([0, u64::MAX, 0, u64::MAX, 0, u64::MAX, 0, u64::MAX]); 4]);
    Table([[[any; 3]; ENTRIES]; ROUNDS])
}

/// k B, and the tally of what was added.
pub(crate) struct Product {
    /// In lane 0.
    pub(crate) point: StoredCompleted,
    tally: Digit,
}

struct WideMultiply<'a> {
    k: &'a Words,
    table: &'a Table,
}

impl Kernel for WideMultiply<'_> {
    type Output = Zeroizing<Product>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Self::Output {
        let windows = recode(self.k);
        let mut windows = V::load(&windows);
        let mut tally = Tally::<V>::new();
        let [first, others @ ..] = &self.table.0;
        let (multiple, negative) = lookup(windows, first, &mut tally);
        let mut sum = multiple.completed(negative);
        for entries in others {
            windows = windows.shr::<4>();
            let (multiple, negative) = lookup(windows, entries, &mut tally);
            sum = sum.extended().add_multiple(multiple, negative);
        }
        let mut tally = tally.of_lanes();
        for next in &NEIGHBOUR {
            let next = V::load(next);
            let point = sum.extended();
            sum = point.add(point.cached().permute(next));
            tally = tally.add(tally.permute(next));
        }
        let mut product = Product {
            point: StoredCompleted::ZERO,
            tally: Digit::ZERO,
        };
        sum.store(&mut product.point);
        tally.and(V::splat(DIGIT)).store(&mut product.tally);
        Zeroizing::new(product)
    }
}

impl Zeroize for Product {
    fn zeroize(&mut self) {
        self.point.zeroize();
        self.tally.zeroize();
    }
}

impl Product {
    /// Whether it is k B: all ones or, in lane 0, a zero.
    #[inline(always)]
    pub(crate) fn is_of<V: Vector>(&self, k: &Words) -> Mask {
        let windows = recode(reread(k));
        let mut windows = V::load(&windows);
        let mut tally = Tally::<V>::new();
        for _ in 0..ROUNDS {
            let v = windows.and(V::splat(15));
            tally = tally.add(v.add(v).sub(V::splat(15)));
            windows = windows.shr::<4>();
        }
        let mut tally = tally.of_lanes();
        for next in &NEIGHBOUR {
            tally = tally.add(tally.permute(V::load(next)));
        }
        let same = tally.and(V::splat(DIGIT)).eq(V::load(&self.tally));
        let point = Completed::<V>::load(reread(&self.point));
        Check::Tally.verdict(same) & Check::OnCurve.verdict(point.is_on_curve())
    }
}

/// Any odd number that is not small.
const MULTIPLIER: u64 = 0x9_e377_9b97_f4a7;

/// Sum of d_j c^j mod 2^52 over digits d_j, c odd. Bits above 52 are garbage.
struct Tally<V>(V);

impl<V: Vector> Tally<V> {
    #[inline(always)]
    fn new() -> Self {
        Tally(V::zero())
    }

    /// Adds each lane's next digit.
    #[inline(always)]
    fn add(self, digit: V) -> Self {
        Tally(digit.madlo(self.0, V::splat(MULTIPLIER)))
    }

    /// Each lane's sum, times what the lane's digits are to be multiplied with.
    #[inline(always)]
    fn of_lanes(self) -> V {
        const FACTORS: Digit = {
            let mut factors = [1_u64; LANES];
            let mut i = 1;
            while i < LANES * ROUNDS {
                let mut lane = 0;
                while lane < LANES {
                    if i <= lane * ROUNDS {
                        factors[lane] = factors[lane].wrapping_mul(MULTIPLIER);
                    }
                    lane += 1;
                }
                i += 1;
            }
            Digit(factors)
        };
        V::zero().madlo(self.0, V::load(&FACTORS))
    }
}

/// e, 32 bits in each lane, and more above them.
fn recode(k: &Words) -> Zeroizing<Digit> {
    let k = k.lane(0);
    let even = opaque((k[0] & 1).wrapping_sub(1));
    // 2^256 - 1 - L has the bits that L has not.
    let (mut sum, mut carry) = ([0; 4], 0);
    for i in 0..4 {
        let column = u128::from(k[i]) + u128::from(!(ORDER[i] & even)) + carry;
        sum[i] = column as u64;
        carry = column >> 64;
    }
    let [s0, s1, s2, s3] = sum;
    let e = [
        s0 >> 1 | s1 << 63,
        s1 >> 1 | s2 << 63,
        s2 >> 1 | s3 << 63,
        s3 >> 1 | (carry as u64) << 63,
    ];
    let lanes = core::array::from_fn(|lane| e[lane / 2] >> (32 * (lane % 2)));
    Zeroizing::new(Digit(lanes))
}

/// Each lane's entry for the low four bits of its window, and the lanes where its negative is meant.
#[allow(
    clippy::out_of_bounds_indexing,
    reason = "`unroll` writes more bodies than are used"
)]
#[inline(always)]
fn lookup<V: Vector>(
    windows: V,
    entries: &[Entry; ENTRIES],
    tally: &mut Tally<V>,
) -> (Multiple<V>, Mask) {
    let negative = !windows.test(V::splat(8));
    let place = windows.blend(negative, windows.xor(V::splat(7)));
    let place = place.and(V::splat(7));
    let mut multiple = V::splat(1);
    let mut found = [[V::zero(); 4]; 3];
    unroll!(I < 8 => {
        let here = place.eq(V::splat(I as u64));
        unroll!(C < 3 => {
            unroll!(W < 4 => {
                let word = V::load(&entries[I][C].0[W]);
                found[C][W] = if I == 0 { word } else { found[C][W].blend(here, word) };
            });
        });
        if I > 0 {
            multiple = multiple.blend(here, V::splat(2 * I as u64 + 1));
        }
    });
    let digit = multiple.blend(negative, V::zero().sub(multiple));
    *tally = core::mem::replace(tally, Tally::new()).add(digit);
    let [y_minus_x, y_plus_x, t] = found;
    let multiple = Multiple {
        y_minus_x: Element::from_digits(words::unpack(y_minus_x)),
        y_plus_x: Element::from_digits(words::unpack(y_plus_x)),
        t: Element::from_digits(words::unpack(t)),
    };
    (multiple, negative)
}

/// Makes the table: twice, and compares, because a fault in it would last.
fn build() -> Result<Box<Table>, Error> {
    let table = vector::run(WideBuild)?;
    let again = vector::run(WideBuild)?;
    let same = if again.0 == table.0 { Mask::MAX } else { 0 };
    if Check::Table.verdict(same) == 0 {
        return Err(Error::Fault);
    }
    Ok(table)
}

/// Makes the table once more, for tests of faults. Whether it is the one in use.
#[cfg(feature = "fault")]
pub(crate) fn rebuild() -> Result<bool, Error> {
    Ok(build()?.0 == table()?.0)
}

/// Makes the table. It is public.
struct WideBuild;

impl Kernel for WideBuild {
    type Output = Box<Table>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Self::Output {
        // Lane l starts with 2^(32 l) B.
        let mut lanes = StoredCompleted::ZERO;
        let mut power = Completed::<V>::base_point();
        power.store(&mut lanes);
        let mut stored = StoredCompleted::ZERO;
        for lane in 1..LANES {
            for _ in 0..4 * ROUNDS {
                power = power.projective().double();
            }
            power.store(&mut stored);
            lanes.take_lane(lane, &stored);
        }
        let mut base = Completed::<V>::load(&lanes);
        let zero = [const { [Words::ZERO; 3] }; ENTRIES];
        let mut table = Box::new(Table([zero; ROUNDS]));
        for entries in &mut table.0 {
            let twice = base.projective().double();
            let step = twice.extended().cached();
            let mut odd = base;
            for entry in entries {
                let (x, y) = odd.coordinates();
                let multiple = Multiple::affine(x, y);
                *entry = [
                    multiple.y_minus_x.to_words(),
                    multiple.y_plus_x.to_words(),
                    multiple.t.to_words(),
                ];
                odd = odd.extended().add(step);
            }
            base = twice.projective().double();
            for _ in 0..2 {
                base = base.projective().double();
            }
        }
        table
    }
}
