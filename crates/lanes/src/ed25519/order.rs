//! Arithmetic modulo L = 2^252 + 27742317777372353535851937790883648493, the order of the base
//! point, eight at once, in radix 2^52.
//!
//! Montgomery reduction with R = 2^260: five times, a multiple q L of L that clears the lowest
//! digit is added to the number, and the digit dropped. A number x below 2^512 comes out below
//! 2^252 + L < 2 L. Digit 3 of L is zero, so a round takes one instruction for q and 8 for q L. No
//! column exceeds 2^56: it sums at most 10 halves of products with digits and 10 with those of L.
//!
//! Everything is constant time.

use crate::curve25519::words::Words;
use crate::digits::negative_inverse;
use crate::vector::{DIGIT, Digit, Vector};

const L: [u64; 5] = [
    0x2_631a_5cf5_d3ed,
    0xd_ea2f_79cd_6581,
    0x0_0000_0014_def9,
    0x0_0000_0000_0000,
    0x0_1000_0000_0000,
];

/// -1/L mod 2^52.
const NEGATED_INVERSE: u64 = negative_inverse(L[0]) & DIGIT;

/// R^2 mod L.
const R_SQUARED: [u64; 5] = [
    0x9_d265_e952_d13b,
    0xd_63c7_15be_a69f,
    0x5_be65_cb68_7604,
    0x3_dcee_c73d_217f,
    0x0_0941_1b7c_309a,
];

/// Little-endian numbers of 512 bits, modulo L.
#[inline(always)]
pub(super) fn reduce<V: Vector>(wide: &[Digit; 8]) -> Words {
    let [w0, w1, w2, w3, w4, w5, w6, w7] = wide;
    let [w0, w1, w2, w3] = [V::load(w0), V::load(w1), V::load(w2), V::load(w3)];
    let [w4, w5, w6, w7] = [V::load(w4), V::load(w5), V::load(w6), V::load(w7)];
    let mut columns = [
        w0,
        w0.shr::<52>().or(w1.shl::<12>()),
        w1.shr::<40>().or(w2.shl::<24>()),
        w2.shr::<28>().or(w3.shl::<36>()),
        w3.shr::<16>().or(w4.shl::<48>()),
        w4.shr::<4>(),
        w4.shr::<56>().or(w5.shl::<8>()),
        w5.shr::<44>().or(w6.shl::<20>()),
        w6.shr::<32>().or(w7.shl::<32>()),
        w7.shr::<20>(),
    ];
    for column in &mut columns {
        *column = column.and(V::splat(DIGIT));
    }
    let x = times_r(montgomery(columns));
    // Below 2^252 + 2^246 + L.
    Words::pack(subtract_order(x))
}

/// `a * b + c` modulo L, for `a` below 2^253, `b` below 2^255 and `c` below L.
#[inline(always)]
pub(super) fn multiply_add<V: Vector>(a: &Words, b: &Words, c: &Words) -> Words {
    let product = times_r(montgomery(multiply(a.unpack::<V>(), b.unpack())));
    let c = c.unpack::<V>();
    let mut sum = product;
    for i in 0..5 {
        sum[i] = product[i].add(c[i].and(V::splat(DIGIT)));
    }
    // Below 2 L + 2^246, then below L + 2^246.
    Words::pack(subtract_order(subtract_order(carry(sum))))
}

/// `a - b` modulo L, for both below L.
#[inline(always)]
pub(super) fn subtract<V: Vector>(a: &Words, b: &Words) -> Words {
    let (a, b) = (a.unpack::<V>(), b.unpack::<V>());
    let mut difference = a;
    for i in 0..5 {
        let digit = V::splat(DIGIT);
        difference[i] = a[i].and(digit).sub(b[i].and(digit)).add(V::splat(L[i]));
    }
    for i in 0..4 {
        difference[i + 1] = difference[i + 1].add(difference[i].sar::<52>());
        difference[i] = difference[i].and(V::splat(DIGIT));
    }
    Words::pack(subtract_order(difference))
}

/// `a / 2` modulo L, for `a` below L.
#[inline(always)]
pub(super) fn halve<V: Vector>(a: &Words) -> Words {
    let mut sum = a.unpack::<V>();
    let odd = sum[0].test(V::splat(1));
    for i in 0..5 {
        let addend = V::zero().blend(odd, V::splat(L[i]));
        sum[i] = sum[i].and(V::splat(DIGIT)).add(addend);
    }
    Words::pack(carry(sum)).halve::<V>()
}

/// x R mod L, below L + 2^246, for x below 2 L.
#[inline(always)]
fn times_r<V: Vector>(x: [V; 5]) -> [V; 5] {
    let [r0, r1, r2, r3, r4] = R_SQUARED;
    let r_squared = [
        V::splat(r0),
        V::splat(r1),
        V::splat(r2),
        V::splat(r3),
        V::splat(r4),
    ];
    montgomery(multiply(x, r_squared))
}

#[inline(always)]
fn multiply<V: Vector>(a: [V; 5], b: [V; 5]) -> [V; 10] {
    let mut c = [V::zero(); 10];
    for i in 0..5 {
        for j in 0..5 {
            c[i + j] = c[i + j].madlo(a[i], b[j]);
            c[i + j + 1] = c[i + j + 1].madhi(a[i], b[j]);
        }
    }
    c
}

/// x / R mod L: below x / R + L.
#[inline(always)]
fn montgomery<V: Vector>(mut c: [V; 10]) -> [V; 5] {
    let factor = V::splat(NEGATED_INVERSE);
    for i in 0..5 {
        let q = V::zero().madlo(c[i], factor);
        for j in [0, 1, 2, 4] {
            c[i + j] = c[i + j].madlo(q, V::splat(L[j]));
            c[i + j + 1] = c[i + j + 1].madhi(q, V::splat(L[j]));
        }
        c[i + 1] = c[i + 1].add(c[i].shr::<52>());
    }
    carry([c[5], c[6], c[7], c[8], c[9]])
}

/// Digits without garbage.
#[inline(always)]
fn carry<V: Vector>(mut d: [V; 5]) -> [V; 5] {
    for i in 0..4 {
        d[i + 1] = d[i + 1].add(d[i].shr::<52>());
        d[i] = d[i].and(V::splat(DIGIT));
    }
    d
}

/// x - L, or x if that is less than L.
#[inline(always)]
fn subtract_order<V: Vector>(x: [V; 5]) -> [V; 5] {
    let mut difference = x;
    for i in 0..5 {
        difference[i] = difference[i].sub(V::splat(L[i]));
    }
    for i in 0..4 {
        difference[i + 1] = difference[i + 1].add(difference[i].sar::<52>());
        difference[i] = difference[i].and(V::splat(DIGIT));
    }
    let less = difference[4].test(V::splat(1 << 63));
    for i in 0..5 {
        difference[i] = difference[i].blend(less, x[i]);
    }
    difference
}
