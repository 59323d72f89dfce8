//! The two primes of P-384 (FIPS 186-5, SP 800-186 section 3.2.1.4): of the field and of the group.

use crate::digits::from_words;
use crate::vector::Vector;
use crate::vector::unroll;
use crate::weierstrass::element::Columns;
use crate::weierstrass::modulus::{Modulus, upper};

/// p = 2^384 - 2^128 - 2^96 + 2^32 - 1, in 8 digits: R = 2^416.
#[derive(Clone, Copy)]
pub(crate) struct Field;

impl Modulus<8> for Field {
    const DIGITS: [u64; 8] = from_words([
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_fffe,
        0xffff_ffff_0000_0000,
        0x0000_0000_ffff_ffff,
    ]);

    /// -1/p is 1 + 2^32 modulo 2^52, so with u the lowest digit q = u + (u 2^32 mod 2^52), and
    ///
    /// ```text
    /// q p = -q + q 2^32 - q 2^96 - q 2^128 + q 2^384
    ///            │        │        │         └ digit 7: 2^20
    ///            │        │        └ digit 2: 2^24
    ///            │        └ digit 1: 2^44
    ///            └ digit 0: 2^32, its low half already in q's sum
    /// ```
    ///
    /// The lowest column is u + q 2^32 - q = (u + (u 2^32 mod 2^52)) - q + 2^52 (q 2^32 >> 52):
    /// it vanishes, and what exceeds 52 bits in the sum is the carry. Negative terms are collected
    /// apart, because there is no multiply-subtract. 11 instructions a digit.
    #[inline(always)]
    fn reduce<V: Vector>(columns: Columns<V>) -> [V; 8] {
        let mut c = columns.0;
        let mut minus = [V::zero(); 16];
        let (at_0, at_1) = (V::splat(1 << 32), V::splat(1 << 44));
        let (at_2, at_7) = (V::splat(1 << 24), V::splat(1 << 20));
        unroll!(I < 8 => {
            let q = c[I].sub(minus[I]);
            let q = q.madlo(q, at_0);
            c[I + 1] = c[I + 1].add(q.sar::<52>()).madhi(q, at_0);
            minus[I + 1] = minus[I + 1].madlo(q, at_1);
            minus[I + 2] = minus[I + 2].madhi(q, at_1).madlo(q, at_2);
            minus[I + 3] = minus[I + 3].madhi(q, at_2);
            c[I + 7] = c[I + 7].madlo(q, at_7);
            c[I + 8] = c[I + 8].madhi(q, at_7);
        });
        c[8] = c[8].sub(minus[8]);
        c[9] = c[9].sub(minus[9]);
        c[10] = c[10].sub(minus[10]);
        upper(&c)
    }
}

/// n, the order of the group, in 8 digits. It has no special form.
#[derive(Clone, Copy)]
pub(crate) struct Order;

impl Modulus<8> for Order {
    const DIGITS: [u64; 8] = from_words([
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0xffff_ffff_ffff_ffff,
        0xc763_4d81_f437_2ddf,
        0x581a_0db2_48b0_a77a,
        0xecec_196a_ccc5_2973,
    ]);
}
