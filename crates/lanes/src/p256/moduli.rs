//! The two primes of P-256 (FIPS 186-5, SP 800-186 section 3.2.1.3): of the field and of the group.

use crate::digits::from_words;
use crate::vector::Vector;
use crate::vector::unroll;
use crate::weierstrass::bound::Limit;
use crate::weierstrass::element::Columns;
use crate::weierstrass::modulus::{Modulus, upper};

/// p = 2^256 - 2^224 + 2^192 + 2^96 - 1, in 5 digits: R = 2^260.
#[derive(Clone, Copy)]
pub(crate) struct Field;

impl Modulus<5> for Field {
    const DIGITS: [u64; 5] = from_words([
        0xffff_ffff_0000_0001,
        0x0000_0000_0000_0000,
        0x0000_0000_ffff_ffff,
        0xffff_ffff_ffff_ffff,
    ]);

    /// -1/p is 1 modulo 2^52, so q is the lowest digit itself, and
    ///
    /// ```text
    /// q p = -q + q 2^96 + q 2^192 + q (2^256 - 2^224)
    ///              │        │         └ digit 4: 2^48 - 2^16
    ///              │        └ digit 3: 2^36
    ///              └ digit 1: 2^44
    /// ```
    ///
    /// -q clears the lowest digit; what exceeds 52 bits in it is the carry. 8 instructions a digit.
    #[inline(always)]
    fn reduce<V: Vector>(columns: Columns<V>) -> [V; 5] {
        let mut c = columns.0;
        let (at_1, at_3) = (V::splat(1 << 44), V::splat(1 << 36));
        let at_4 = V::splat((1 << 48) - (1 << 16));
        unroll!(I < 5 => {
            let q = c[I]; // Its low 52 bits, which are all that a factor has.
            c[I + 1] = c[I + 1].add(c[I].sar::<52>()).madlo(q, at_1);
            c[I + 2] = c[I + 2].madhi(q, at_1);
            c[I + 3] = c[I + 3].madlo(q, at_3);
            c[I + 4] = c[I + 4].madhi(q, at_3).madlo(q, at_4);
            c[I + 5] = c[I + 5].madhi(q, at_4);
        });
        upper(&c)
    }

    const TIGHT: Limit = Limit(210);
    const SETTLED: Limit = Self::TIGHT;

    #[inline(always)]
    fn settle<V: Vector>(sum: [V; 5]) -> [V; 5] {
        Self::tighten(sum)
    }

    /// p has 4 bits of room. Subtracts t p where t is v / 2^256 rounded down to within 1, and
    /// adds p: v - t 2^256 is in (-2^212, 2^256 + 2^212), t (2^256 - p) below 2^230 for sums in (-60 p, 60 p).
    #[inline(always)]
    fn tighten<V: Vector>(sum: [V; 5]) -> [V; 5] {
        let [d0, d1, d2, d3, d4] = sum;
        let t = d4.sar::<48>();
        let [p0, p1, p2, p3, p4] = Self::DIGITS;
        [
            d0.add(V::splat(p0)).add(t),
            d1.add(V::splat(p1)).sub(t.shl::<44>()),
            d2.add(V::splat(p2)),
            d3.add(V::splat(p3)).sub(t.shl::<36>()),
            d4.and(V::splat((1 << 48) - 1))
                .add(V::splat(p4))
                .add(t.shl::<16>()),
        ]
    }
}

/// n, the order of the group, in 5 digits. It has no special form.
#[derive(Clone, Copy)]
pub(crate) struct Order;

impl Modulus<5> for Order {
    const DIGITS: [u64; 5] = from_words([
        0xffff_ffff_0000_0000,
        0xffff_ffff_ffff_ffff,
        0xbce6_faad_a717_9e84,
        0xf3b9_cac2_fc63_2551,
    ]);
}
