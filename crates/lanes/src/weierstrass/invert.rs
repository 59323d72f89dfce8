//! Modular inversion by divsteps, in eight lanes (Bernstein and Yang, "Fast constant-time gcd
//! computation and modular inversion", 2019; the variant that starts with δ = 1/2 and its bound are
//! by Wuille and others, <https://github.com/sipa/safegcd-bounds>).
//!
//! f starts as the modulus m, g as x; a divstep, with δ carried along, is
//!
//! ```text
//! g odd, δ > 0:  δ, f, g = 1 - δ, g, (g - f) / 2
//! g odd:         δ, f, g = 1 + δ, f, (g + f) / 2
//! g even:        δ, f, g = 1 + δ, f,  g / 2
//! ```
//!
//! After at most (45907 bits + 26313) / 19929 steps, 590 for 256 bits and 885 for 384, g is 0 and
//! f is ±gcd. Steps depend on low bits only, so they come in *jumps* of 51: a 2 × 2 matrix is
//! worked out on low words, then applied to all digits, to (f, g) and, modulo m, to
//! (d, e), which start as (0, R) and keep d x ≡ f R, e x ≡ g R (mod m). At the end d = ±R / x.
//!
//! # The matrix of 51 steps
//! is the product of three of 17. For 17 steps one register holds a row and the number it makes:
//!
//! ```text
//! bits 63 … 40        39 … 20   19 … 0
//! f, then its combination  v        u        F = u + v 2^20 + (u f + v g) 2^40
//! ```
//!
//! g is not halved but f doubled, so that step i looks at bit i, and both rows do the same to all
//! three of their fields at once. u and v are signed, |u| + |v| ≤ 2^17; a bias of 2^39 on G keeps
//! borrows out of the field whose bits decide. A step is 11 instructions.
//!
//! Matrices are negated (F starts as -1, …): entries of 51 steps are in (-2^51, 2^51] and so,
//! negated, are 52-bit two's complement, which composes and applies with `madlo`. Negating f and g
//! together changes no decision.
//!
//! # Bounds
//! f and g stay in [-m, m], in two's complement of 52 N bits. The matrix is applied doubled and the
//! result divided by 2^52 = dropping a digit. To (d, e) a multiple k m is added that makes the
//! lowest digit vanish, |k| ≤ 2^51: each jump adds at most m / 2 to |d| and |e|: below 7 m
//! after 12 jumps (m < 2^256, 8 m < 2^259), below 10 m after 18 (m < 2^384).
//!
//! Constant time. The inverse of 0 comes out as 0.

use super::bound::{Limit, REDUCED};
use super::element::{Element, Sum};
use super::modulus::Modulus;
use crate::vector::unroll;
use crate::vector::{DIGIT, Digit, Kernel, Mask, Vector};
use core::marker::PhantomData;

/// Steps in one register, and blocks of them in a jump.
const BLOCK: usize = 17;
const BLOCKS: usize = 3;

/// The bias of row G, see above.
const BIAS: u64 = 1 << 39;

/// Bit 51: the sign of a digit that is two's complement.
const SIGN: u64 = 1 << 51;

/// Jumps that suffice for a modulus of N digits of which 4 bits at least are unused.
const fn jumps<const N: usize>(m: &[u64; N]) -> usize {
    let bits = 52 * (N - 1) + (64 - m[N - 1].leading_zeros() as usize);
    ((45907 * bits + 26313) / 19929).div_ceil(BLOCK * BLOCKS)
}

/// The rows (u, v) and (q, r) of a matrix, entries modulo 2^52.
#[derive(Clone, Copy)]
struct Matrix<V> {
    u: V,
    v: V,
    q: V,
    r: V,
}

/// A signed number in two's complement of 52 N bits.
type Signed<V, const N: usize> = [V; N];

/// Where the divsteps stand.
#[derive(Clone, Copy)]
struct State<V, M, const N: usize> {
    f: Signed<V, N>,
    g: Signed<V, N>,
    d: Signed<V, N>,
    e: Signed<V, N>,
    /// -(δ + 1/2)
    zeta: V,
    modulus: PhantomData<M>,
}

/// R / x mod m for x in [0, m): the inverse in Montgomery form of a number that is not.
/// The results are below [`Modulus::CARRIED`].
pub(crate) struct Invert<'a, M, const N: usize> {
    pub(crate) x: &'a mut [Digit; N],
    pub(crate) modulus: PhantomData<M>,
}

/// Two inversions with different moduli, interleaved: each hides the other's latency.
pub(crate) struct InvertTwo<'a, M, P, const N: usize> {
    pub(crate) x: &'a mut [Digit; N],
    pub(crate) y: &'a mut [Digit; N],
    pub(crate) moduli: PhantomData<(M, P)>,
}

impl<M: Modulus<N>, const N: usize> Kernel for Invert<'_, M, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let mut x = State::<V, M, N>::new(Element::load_below(REDUCED, self.x));
        for _ in 0..const { jumps(&M::DIGITS) } {
            let [matrix] = jump([&mut x.zeta], [(x.f[0], x.g[0])]);
            x.apply(matrix);
        }
        x.result().store(self.x);
    }
}

impl<M: Modulus<N>, P: Modulus<N>, const N: usize> Kernel for InvertTwo<'_, M, P, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let mut x = State::<V, M, N>::new(Element::load_below(REDUCED, self.x));
        let mut y = State::<V, P, N>::new(Element::load_below(REDUCED, self.y));
        const { assert!(jumps(&M::DIGITS) == jumps(&P::DIGITS)) }
        for _ in 0..const { jumps(&M::DIGITS) } {
            let [one, other] = jump(
                [&mut x.zeta, &mut y.zeta],
                [(x.f[0], x.g[0]), (y.f[0], y.g[0])],
            );
            x.apply(one);
            y.apply(other);
        }
        x.result().store(self.x);
        y.result().store(self.y);
    }
}

/// The negated matrices of the next 51 steps, from the lowest digits of f and g. S inversions go
/// hand in hand.
#[inline(always)]
fn jump<V: Vector, const S: usize>(zeta: [&mut V; S], lowest: [(V, V); S]) -> [Matrix<V>; S] {
    let mut all = [Matrix {
        u: V::splat(1),
        v: V::zero(),
        q: V::zero(),
        r: V::splat(1),
    }; S];
    for done in 0..BLOCKS {
        let mut rows = [(V::zero(), V::zero()); S];
        let mut negative = [0; S];
        unroll!(I < S => {
            let (f, g) = lowest[I];
            let m = all[I];
            let shift = V::splat((BLOCK * done) as u64);
            let f_now = V::zero().madlo(m.u, f).madlo(m.v, g).shr_by(shift);
            let g_now = V::zero().madlo(m.q, f).madlo(m.r, g).shr_by(shift);
            rows[I] = (
                V::splat(u64::MAX).sub(f_now.shl::<40>()),
                V::splat(BIAS - (1 << 20)).sub(g_now.shl::<40>()),
            );
            negative[I] = zeta[I].test(V::splat(1 << 63));
        });
        let mut bit = V::splat(1 << 40);
        for _ in 0..BLOCK {
            unroll!(I < S => {
                let (f, g) = rows[I];
                let odd = g.test(bit);
                let swap = odd & negative[I];
                rows[I] = (
                    f.add(f).blend(swap, g.add(g).sub(V::splat(2 * BIAS))),
                    g.blend(odd, g.add(f)).blend(swap, g.sub(f)),
                );
                // δ = 1 - δ is ζ = -2 - ζ; δ = 1 + δ is ζ = ζ - 1.
                *zeta[I] = zeta[I].sub(V::splat(1)).blend(swap, V::splat(2_u64.wrapping_neg()).sub(*zeta[I]));
                negative[I] = zeta[I].test(V::splat(1 << 63));
            });
            bit = bit.add(bit);
        }
        unroll!(I < S => {
            let (f, g) = rows[I];
            let (u, v) = unpack(f);
            let (q, r) = unpack(g.sub(V::splat(BIAS)));
            all[I] = Matrix { u, v, q, r }.times(all[I]);
        });
    }
    all
}

/// The two signed entries of a row.
#[inline(always)]
fn unpack<V: Vector>(row: V) -> (V, V) {
    let u = row.shl::<44>().sar::<44>();
    (u, row.sub(u).shl::<24>().sar::<44>())
}

impl<V: Vector> Matrix<V> {
    /// The product modulo 2^52.
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let zero = V::zero();
        Matrix {
            u: zero.madlo(self.u, other.u).madlo(self.v, other.q),
            v: zero.madlo(self.u, other.v).madlo(self.v, other.r),
            q: zero.madlo(self.q, other.u).madlo(self.r, other.q),
            r: zero.madlo(self.q, other.v).madlo(self.r, other.r),
        }
    }
}

impl<V: Vector, M: Modulus<N>, const N: usize> State<V, M, N> {
    #[inline(always)]
    fn new(x: Element<V, M, N>) -> Self {
        State {
            f: Element::<V, M, N>::splat(M::DIGITS).digits(),
            g: x.digits(),
            d: [V::zero(); N],
            e: Element::<V, M, N>::one().digits(),
            zeta: V::splat(u64::MAX),
            modulus: PhantomData,
        }
    }

    #[inline(always)]
    fn apply(&mut self, matrix: Matrix<V>) {
        let Matrix { u, v, q, r } = matrix;
        let f = combine((u, v), &self.f, &self.g);
        let g = combine((q, r), &self.f, &self.g);
        (self.f, self.g) = (drop_lowest(f), drop_lowest(g));
        let d = clear_lowest::<V, M, N>(combine((u, v), &self.d, &self.e));
        let e = clear_lowest::<V, M, N>(combine((q, r), &self.d, &self.e));
        (self.d, self.e) = (drop_lowest(d), drop_lowest(e));
    }

    /// d · f, where f is 1 or -1, as a positive number.
    #[inline(always)]
    fn result(self) -> Element<V, M, N> {
        let mut digits = self.d;
        digits[N - 1] = digits[N - 1].shl::<12>().sar::<12>();
        let negative = self.f[N - 1].test(V::splat(SIGN));
        // |d| < 7 m where m has 4 bits of room, < 10 m where it has 32.
        let bound = if N == 5 { 7 } else { 10 };
        let d = Sum::from_digits(Limit::times(bound), digits);
        d.blend(negative, Sum::zero() - d).plus(bound).carry()
    }
}

/// The columns of 2 (u a + v b), where only digit N is not exact: it is right modulo 2^52.
///
/// 2 u is in [-2^52, 2^52): its low 52 bits times a digit by `madlo` and `madhi`, less
/// the digit, one column up, where u is negative. The sign of a and b counts likewise.
#[inline(always)]
fn combine<V: Vector, const N: usize>(
    (u, v): (V, V),
    a: &Signed<V, N>,
    b: &Signed<V, N>,
) -> [V; 9] {
    let sign = V::splat(SIGN);
    let mut c = [V::zero(); 9];
    for (entry, number) in [(u, a), (v, b)] {
        let negative = entry.test(sign);
        let twice = entry.add(entry);
        unroll!(I < N => {
            c[I] = c[I].madlo(twice, number[I]);
            c[I + 1] = sub_where(c[I + 1].madhi(twice, number[I]), negative, number[I]);
        });
        c[N] = sub_where(c[N], number[N - 1].test(sign), twice);
    }
    c
}

/// Adds k m, |k| ≤ 2^51, that makes column 0 a multiple of 2^52.
#[inline(always)]
fn clear_lowest<V: Vector, M: Modulus<N>, const N: usize>(columns: [V; 9]) -> [V; 9] {
    let mut c = columns;
    let k = V::zero().madlo(c[0], V::splat(M::NEGATED_INVERSE));
    let negative = k.test(V::splat(SIGN));
    unroll!(I < N => {
        if M::DIGITS[I] != 0 {
            let digit = V::splat(M::DIGITS[I]);
            c[I] = c[I].madlo(k, digit);
            c[I + 1] = sub_where(c[I + 1].madhi(k, digit), negative, digit);
        }
    });
    c
}

/// Carries, and divides by 2^52.
#[inline(always)]
fn drop_lowest<V: Vector, const N: usize>(columns: [V; 9]) -> Signed<V, N> {
    let mut c = columns;
    let mut out = [V::zero(); N];
    unroll!(I < N => {
        c[I + 1] = c[I + 1].add(c[I].sar::<52>());
        out[I] = c[I + 1].and(V::splat(DIGIT));
    });
    out
}

#[inline(always)]
fn sub_where<V: Vector>(from: V, mask: Mask, what: V) -> V {
    from.blend(mask, from.sub(what))
}
