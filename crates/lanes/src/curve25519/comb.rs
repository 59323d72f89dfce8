//! Multiples of the base point, eight at once, from a table.
//!
//! A scalar k is written in 51 digits of base 32, all odd: k = sum of d_j 32^j, |d_j| <= 31. The
//! table holds d 32^j B for d = 1, 3, ..., 31 and each j, so that k B is 51 additions and no
//! doubling.
//!
//! # All digits odd
//! An odd k below 2^255 is a sum of +-2^i, i = 0 to 254: with e = (k + 2^255 - 1) / 2 < 2^255, the
//! sign of 2^i is bit i of e. So five bits v of e stand for the digit 2 v - 31; its sign is that of
//! v - 16 and its place in the table the low four bits of v, complemented if it is negative. An
//! even k gives way to k - L, which is odd, as L B = 0. (k - L > -2^255: e stays positive.) No
//! digit is zero, so nothing needs blending in, and recoding carries nothing from digit to digit.
//!
//! # Lookup
//! 16 entries of one digit of a coordinate fill two registers, and `pick` takes for each lane its
//! own entry from them: 15 instructions an entry, constant time without scanning. The table is
//! public and has 51 * 16 * 15 * 8 bytes = 96 KiB. It is made when first used (about 0.3 ms).
//!
//! An addition is 7 products (469 instructions), 7 carries (77), 35 additions and 35 for the
//! lookup: 616; 51 of them 31,416.
//!
//! Everything is constant time.

use super::edwards::{Completed, Multiple, StoredCompleted};
use super::field::{DIGITS, Element, five};
use super::words::Words;
use crate::LANES;
use crate::vector::{DIGIT, Digit, Kernel, Vector};
use std::sync::OnceLock;

/// Digits of a scalar.
const WINDOWS: usize = 51;

/// 2^255 - 1.
const ALL_ONES: [u64; DIGITS] = [DIGIT, DIGIT, DIGIT, DIGIT, DIGIT >> 5];

/// 2^255 - 1 - L.
const ALL_ONES_LESS_ORDER: [u64; DIGITS] = [
    0xd_9ce5_a30a_2c12,
    0x2_15d0_8632_9a7e,
    0xf_ffff_ffeb_2106,
    0xf_ffff_ffff_ffff,
    0x0_6fff_ffff_ffff,
];

/// The 16 values of one digit of a coordinate.
type Column = [Digit; 2];

/// The multiples 1, 3, ..., 31 of 32^j B, affine: five columns a coordinate.
#[derive(Clone, Copy)]
struct Row {
    y_minus_x: [Column; DIGITS],
    y_plus_x: [Column; DIGITS],
    /// 2 d x y.
    t: [Column; DIGITS],
}

impl Row {
    const ZERO: Row = Row {
        y_minus_x: [[Digit::ZERO; 2]; DIGITS],
        y_plus_x: [[Digit::ZERO; 2]; DIGITS],
        t: [[Digit::ZERO; 2]; DIGITS],
    };
}

static TABLE: OnceLock<Box<[Row; WINDOWS]>> = OnceLock::new();

/// The multiple of the base point by each scalar (its low 255 bits).
#[inline(always)]
pub(crate) fn multiply_base<V: Vector>(scalars: &Words) -> Completed<V> {
    add_multiple_of_base(Completed::neutral(), scalars)
}

/// The same, added to a point.
#[inline(always)]
pub(crate) fn add_multiple_of_base<V: Vector>(
    point: Completed<V>,
    scalars: &Words,
) -> Completed<V> {
    let mut start = StoredCompleted::ZERO;
    point.store(&mut start);
    Completed::load(&V::call(Multiply {
        start: &start,
        scalars,
    }))
}

struct Multiply<'a> {
    start: &'a StoredCompleted,
    scalars: &'a Words,
}

impl Kernel for Multiply<'_> {
    type Output = StoredCompleted;

    #[inline(always)]
    fn run<V: Vector>(self) -> Self::Output {
        let table = TABLE.get_or_init(|| V::call(Build));
        let windows = recode::<V>(self.scalars);
        let mut sum = Completed::<V>::load(self.start);
        let mut bits = V::zero();
        for (j, row) in table.iter().enumerate() {
            bits = if j % 12 == 0 {
                V::load(&windows[j / 12])
            } else {
                bits.shr::<5>()
            };
            let negative = !bits.test(V::splat(16));
            let place = bits.blend(negative, bits.xor(V::splat(15)));
            let multiple = Multiple {
                y_minus_x: pick(place, &row.y_minus_x),
                y_plus_x: pick(place, &row.y_plus_x),
                t: pick(place, &row.t),
            };
            sum = sum.extended().add_multiple(multiple, negative);
        }
        let mut out = StoredCompleted::ZERO;
        sum.store(&mut out);
        out
    }
}

#[inline(always)]
fn pick<V: Vector>(place: V, columns: &[Column; DIGITS]) -> Element<V> {
    Element::from_digits(five!(|i| {
        let [low, high] = &columns[i];
        place.pick(V::load(low), V::load(high))
    }))
}

/// e (see above), twelve windows of five bits in each word.
#[inline(always)]
fn recode<V: Vector>(scalars: &Words) -> [Digit; 5] {
    let mut d: [V; DIGITS] = scalars.unpack();
    let even = !d[0].test(V::splat(1));
    for i in 0..DIGITS {
        let addend = V::splat(ALL_ONES[i]).blend(even, V::splat(ALL_ONES_LESS_ORDER[i]));
        d[i] = d[i].and(V::splat(DIGIT)).add(addend);
    }
    for i in 0..DIGITS - 1 {
        d[i + 1] = d[i + 1].add(d[i].shr::<52>());
        d[i] = d[i].and(V::splat(DIGIT));
    }
    // Bits 1, 61, 121, 181 and 241 and above.
    let mut words = [Digit::ZERO; 5];
    d[0].shr::<1>().or(d[1].shl::<51>()).store(&mut words[0]);
    d[1].shr::<9>().or(d[2].shl::<43>()).store(&mut words[1]);
    d[2].shr::<17>().or(d[3].shl::<35>()).store(&mut words[2]);
    d[3].shr::<25>().or(d[4].shl::<27>()).store(&mut words[3]);
    d[4].shr::<33>().store(&mut words[4]);
    words
}

/// Makes the table.
struct Build;

impl Kernel for Build {
    type Output = Box<[Row; WINDOWS]>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Self::Output {
        // 32^j B, the same in all lanes.
        let mut powers = [StoredCompleted::ZERO; WINDOWS];
        let mut power = Completed::<V>::base_point();
        for to in &mut powers {
            power.store(to);
            for _ in 0..5 {
                power = power.projective().double();
            }
        }

        // Eight rows at a time: lane l works on row 8 i + l.
        let mut table = Box::new([Row::ZERO; WINDOWS]);
        for (rows, powers) in table.chunks_mut(LANES).zip(powers.chunks(LANES)) {
            let mut lanes = powers[0];
            for (lane, power) in powers.iter().enumerate() {
                lanes.take_lane(lane, power);
            }
            let mut odd = Completed::<V>::load(&lanes);
            let twice = odd.projective().double().extended().cached();
            for place in 0..16 {
                let (x, y) = odd.coordinates();
                let Multiple {
                    y_minus_x,
                    y_plus_x,
                    t,
                } = Multiple::affine(x, y);
                let mut stored = [[Digit::ZERO; DIGITS]; 3];
                for (coordinate, to) in [y_minus_x, y_plus_x, t].into_iter().zip(&mut stored) {
                    coordinate.store(to);
                }
                for (lane, row) in rows.iter_mut().enumerate() {
                    let coordinates = [&mut row.y_minus_x, &mut row.y_plus_x, &mut row.t];
                    let columns = coordinates.into_iter().flatten();
                    for (column, digit) in columns.zip(stored.as_flattened()) {
                        column[place / LANES].0[place % LANES] = digit.0[lane];
                    }
                }
                odd = odd.extended().add(twice);
            }
        }
        table
    }
}
