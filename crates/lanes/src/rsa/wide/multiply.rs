//! `a·b/R mod m`, with the digits of a number in different lanes.
//!
//! # Mathematics
//! Radix X = 2^52, R = X^N for N digits (`STEPS`). Montgomery's multiplication goes through b digit by digit, divides
//! the sum by X each time and adds the next product. With M = 1/X mod m, and t_0 for the lowest digit of t:
//!
//! ```text
//! t = a·b_0
//! t = ⌊t/X⌋ + t_0·M + a·b_i             for i = 1 … N − 1
//! t = (t + (k·t_0 mod X)·m)/X           k = −1/m mod X
//! ```
//!
//! With M in the place of m, the quotient's digit is t_0 itself. With m, as in the last line, it would take a product
//! more in each step. M = (k·m + 1)/X, so that a step is Montgomery's for the modulus k·m. The last line is for m,
//! because a number reduced modulo k·m has a digit too many.
//!
//! # Bounds
//! By the equations above, R·t = a·b + Q·k·m + q·X^(N−1)·m with Q < X^(N−1) and k, q < X. So the result is below
//! a·b/R + 2m − 2m/X. A modulus is at least 16 bits shorter than R: with a, b < 6m, the result is below 2.001 m, and may
//! be fed back for ever. If one factor is below m and the other one below R, the result is below 3m. Nothing is
//! subtracted before the very end ([`carry::canonical`]).
//!
//! A column receives four halves of products in each step, less than 4N·2^52 in all its way down: 2^60.4 at N = 80.
//! `tests.rs` shows with intervals that nothing leaves 64 bits.
//!
//! # Order of instructions
//! ```text
//! lowest column ─▶ its digit in all lanes ─▶ low half of its product with M_0 ─▶ next lowest column      8 cycles (Zen 5)
//! ```
//!
//! A step has 4R multiply-adds, for which the processor takes 2R = 10, 16 or 20 cycles. So the chain hides behind them if it
//! comes first in each step (`vector.rs` on order). Products by b and products by the quotient have accumulators of
//! their own: otherwise a column would wait for four multiply-adds in a row. Between two products, carries are a
//! chain that nothing hides (`carry.rs`).
//!
//! # Count of `vpmadd52`
//! 4RN + 1: 401, 961 and 1,601 for two primes of 1,024, 1,536 and 2,048 bits, both together; 801, 1,921 and 3,201 for n.
//!
//! # Constant time
//! Straight-line code; the loop depends on N alone.

use super::carry;
use super::layout::Layout;
use crate::vector::{Digit, Kernel, Vector, unroll};
use core::marker::PhantomData;

/// Odd moduli, laid out as their numbers are.
#[derive(Clone, Copy)]
pub(in crate::rsa) struct Modulus<'a, const R: usize> {
    /// m.
    pub(in crate::rsa) digits: &'a [Digit; R],
    /// M = 1/2^52 mod m = (k·m + 1)/2^52.
    pub(in crate::rsa) multiple: &'a [Digit; R],
    /// k = −1/m mod 2^52, in all lanes.
    pub(in crate::rsa) k: &'a Digit,
}

/// `out = a·b/2^(52·STEPS) mod m`, as a function of its own. Bit 52 of a result's digit means nothing.
pub(in crate::rsa) struct Multiply<'a, L, const R: usize, const STEPS: usize> {
    a: &'a [Digit; R],
    b: &'a [Digit; R],
    modulus: Modulus<'a, R>,
    out: &'a mut [Digit; R],
    layout: PhantomData<L>,
}

impl<'a, L, const R: usize, const STEPS: usize> Multiply<'a, L, R, STEPS> {
    pub(in crate::rsa) fn new(
        a: &'a [Digit; R],
        b: &'a [Digit; R],
        modulus: Modulus<'a, R>,
        out: &'a mut [Digit; R],
    ) -> Self {
        let layout = PhantomData;
        Self {
            a,
            b,
            modulus,
            out,
            layout,
        }
    }
}

impl<L: Layout, const R: usize, const STEPS: usize> Kernel for Multiply<'_, L, R, STEPS> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let a = load::<V, R>(self.a);
        let product = multiply::<V, L, R, STEPS>(a, self.b, self.modulus, &mut Nothing);
        store(product, self.out);
    }
}

#[inline(always)]
pub(in crate::rsa) fn load<V: Vector, const R: usize>(from: &[Digit; R]) -> [V; R] {
    let mut out = [V::zero(); R];
    unroll!(J < R of 10 => {
        out[J] = V::load(&from[J]);
    });
    out
}

#[inline(always)]
pub(in crate::rsa) fn store<V: Vector, const R: usize>(from: [V; R], to: &mut [Digit; R]) {
    unroll!(J < R of 10 => {
        from[J].store(&mut to[J]);
    });
}

/// The turns of a multiplication: in each, `R` steps use one lane of b.
pub(in crate::rsa) const fn turns(registers: usize, steps: usize) -> usize {
    steps.div_ceil(registers)
}

/// Work to be done beside a multiplication, a part in each turn.
pub(in crate::rsa) trait Beside {
    fn turn<V: Vector>(&mut self, turn: usize);
}

/// No work.
pub(in crate::rsa) struct Nothing;

impl Beside for Nothing {
    #[inline(always)]
    fn turn<V: Vector>(&mut self, _: usize) {}
}

/// `a·b/2^(52·STEPS) mod m`. Runs `beside` once in each turn: the processor has ports to spare for it.
#[inline(always)]
pub(in crate::rsa) fn multiply<V: Vector, L: Layout, const R: usize, const STEPS: usize>(
    a: [V; R],
    b: &[Digit; R],
    modulus: Modulus<'_, R>,
    beside: &mut impl Beside,
) -> [V; R] {
    let m = modulus.multiple;
    // The digits of the first lane come out of registers: where they were stored a moment ago, a load would wait.
    let mut columns = Columns::start(&a, L::lowest(V::load(&b[0])));
    unroll!(I < R of 10 => {
        if I > 0 {
            columns.step::<L>(&a, L::lowest(V::load(&b[I])), m);
        }
    });
    beside.turn::<V>(0);
    if L::LANES == 4 && R == 5 {
        // Longer numbers would not profit, and the code has to stay in the first-level cache.
        unroll!(LANE < 4 => {
            if LANE > 0 {
                unroll!(I < R of 10 => {
                    columns.step::<L>(&a, L::lane::<V, LANE>(V::load(&b[I])), m);
                });
                beside.turn::<V>(LANE);
            }
        });
    } else {
        for lane in 1..STEPS / R {
            unroll!(I < R of 10 => {
                columns.step::<L>(&a, L::broadcast(&b[I], lane), m);
            });
            beside.turn::<V>(lane);
        }
    }
    unroll!(I < R of 10 => {
        if I < STEPS % R {
            columns.step::<L>(&a, L::broadcast(&b[I], STEPS / R), m);
        }
    });
    if !STEPS.is_multiple_of(R) {
        beside.turn::<V>(STEPS / R);
    }
    carry::normalise::<V, L, R>(columns.finish::<L>(modulus))
}

/// The columns of t. High halves of products with register R − 1 belong to the lowest digit of the next lane: to a register
/// more.
struct Columns<V, const R: usize> {
    /// Register 0, with all that belongs to its column.
    lowest: V,
    /// Registers 1 to R, products with digits of b.
    factor: [V; R],
    /// Registers 1 to R, products with digits of the quotient, and what else there is.
    quotient: [V; R],
}

impl<V: Vector, const R: usize> Columns<V, R> {
    /// `t = a·digit`.
    #[inline(always)]
    fn start(a: &[V; R], digit: V) -> Self {
        let mut columns = Columns {
            lowest: V::zero().madlo(a[0], digit),
            factor: [V::zero(); R],
            quotient: [V::zero(); R],
        };
        unroll!(J < R of 10 => {
            if J + 1 < R {
                columns.factor[J] = columns.factor[J].madlo(a[J + 1], digit);
            }
            columns.factor[J] = columns.factor[J].madhi(a[J], digit);
        });
        columns
    }

    /// `t = ⌊t/X⌋ + t_0·M + a·digit`. Registers are renamed: the lowest one falls by a lane and becomes the highest.
    #[inline(always)]
    fn step<L: Layout>(&mut self, a: &[V; R], digit: V, multiple: &[Digit; R]) {
        let q = L::lowest(self.lowest);
        let carry = self.lowest.shr::<52>().blend(!L::LOWEST, V::zero());
        let falling = L::down(self.lowest);
        let start = self.factor[0].madlo_in_order(a[0], digit);
        let start = start.add(self.quotient[0]).add(carry);
        self.lowest = start.madlo_in_order(q, V::load(&multiple[0]));
        unroll!(J < R of 10 => {
            let (mut f, mut s) = (V::zero(), V::zero());
            if J + 1 < R {
                (f, s) = (self.factor[J + 1], self.quotient[J + 1]);
            }
            if J + 2 == R {
                s = s.add(falling);
            }
            s = s.madhi_in_order(q, V::load(&multiple[J]));
            f = f.madhi_in_order(a[J], digit);
            if J + 1 < R {
                s = s.madlo_in_order(q, V::load(&multiple[J + 1]));
                f = f.madlo_in_order(a[J + 1], digit);
            }
            (self.factor[J], self.quotient[J]) = (f, s);
        });
    }

    /// `(t + (k·t_0 mod X)·m)/X`, in columns.
    #[inline(always)]
    fn finish<L: Layout>(self, modulus: Modulus<'_, R>) -> [V; R] {
        let q = L::lowest(V::zero().madlo(self.lowest, V::load(modulus.k)));
        let lowest = self.lowest.madlo(q, V::load(&modulus.digits[0]));
        let carry = lowest.shr::<52>().blend(!L::LOWEST, V::zero());
        let falling = L::down(lowest);
        let mut out = self.factor;
        unroll!(J < R of 10 => {
            let high = self.quotient[J].madhi(q, V::load(&modulus.digits[J]));
            if J + 1 < R {
                out[J] = out[J].madlo(q, V::load(&modulus.digits[J + 1]));
            }
            out[J] = out[J].add(high);
        });
        out[0] = out[0].add(carry);
        out[R - 1] = out[R - 1].add(falling);
        out
    }
}
