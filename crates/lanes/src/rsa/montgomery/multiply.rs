//! `out = a·b/R mod m`: 4N² multiply-adds, and three for each panel.
//!
//! Product and reduction go together, a panel of a at a time, row by row: the window holds the columns of
//! the sum `a·b + q·m`.

use super::{Modulus, Scratch, panel, panel_mut, tile};
use crate::vector::{DIGIT, Digit, Kernel, Vector, reread, unroll};
use tile::{Quotient, TURN, Window};

/// `out = a·b/R mod m` for a·b < R·(R − m).
pub(in crate::rsa) struct Multiply<'a, const N: usize> {
    pub(in crate::rsa) a: &'a [Digit; N],
    pub(in crate::rsa) b: &'a [Digit; N],
    pub(in crate::rsa) modulus: &'a Modulus<N>,
    pub(in crate::rsa) scratch: &'a mut Scratch<N>,
    pub(in crate::rsa) out: &'a mut [Digit; N],
}

impl<const N: usize> Kernel for Multiply<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        if N.is_multiple_of(20) {
            multiply::<V, N, 20>(self);
        } else {
            multiply::<V, N, 15>(self);
        }
    }
}

/// The columns that the first panel finds: X − 1 in those below N (see the module's header).
struct Start<const N: usize>;

impl<const N: usize> Start<N> {
    const COLUMNS: [Digit; 100] = {
        let mut columns = [Digit::ZERO; 100];
        let mut i = 0;
        while i < N {
            columns[i] = Digit::splat(DIGIT);
            i += 1;
        }
        columns
    };
}

#[inline(always)]
fn multiply<V: Vector, const N: usize, const W: usize>(operands: Multiply<'_, N>) {
    let Multiply {
        a,
        b,
        modulus,
        scratch,
        out,
    } = operands;
    let b0 = panel::<W>(b, 0);
    let m0 = panel::<W>(&modulus.digits, 0);
    let [sums, previous] = &mut scratch.sums;
    let (mut sums, mut previous) = (sums, previous);
    let q = panel_mut::<W>(&mut scratch.quotients, 0);
    for block in 0..N / W {
        // Columns come from one array and go to the other; their upper W stay 0 in both.
        let from: &[Digit; 100] = if block == 0 {
            const { &Start::<N>::COLUMNS }
        } else {
            previous
        };
        let x = panel::<W>(a, block);
        let mut window = first_panel::<V, N, W>(x, b0, m0, &modulus.k, from, q);
        if block < N / W - 1 {
            for j in 1..N / W {
                let (y, m) = (panel::<W>(b, j), panel::<W>(&modulus.digits, j));
                for turn in (0..W).step_by(TURN) {
                    unroll!(R < 5 => {
                        let row = j * W + turn + R;
                        window[R + W] = V::load(&from[row + W]);
                        add_two_rows(&mut window, R, [&x[turn + R], &q[turn + R]], [y, m]);
                        window[R].store(&mut sums[row - W]);
                    });
                    tile::slide::<V, W>(&mut window);
                }
            }
            tile::store(&window, panel_mut::<W>(&mut sums[..], N / W - 1));
            (sums, previous) = (previous, sums);
        } else {
            // The last block's columns are the result: they leave normalised.
            let mut carry = V::zero();
            for j in 1..N / W {
                let (y, m) = (panel::<W>(b, j), panel::<W>(&modulus.digits, j));
                for turn in (0..W).step_by(TURN) {
                    unroll!(R < 5 => {
                        let row = j * W + turn + R;
                        window[R + W] = V::load(&from[row + W]);
                        add_two_rows(&mut window, R, [&x[turn + R], &q[turn + R]], [y, m]);
                        let sum = window[R].add(carry);
                        sum.store(&mut out[row - W]);
                        carry = sum.shr::<52>();
                    });
                    tile::slide::<V, W>(&mut window);
                }
            }
            tile::normalise(&window, carry, panel_mut::<W>(&mut out[..], N / W - 1));
        }
    }
}

/// A panel of a times the lowest panel of b, reduced by the lowest panel of m. As in
/// [`tile::reduce_row`], the next row's q is made in the middle of a row; its column must have the next
/// digit's low product by then.
#[inline(always)]
fn first_panel<V: Vector, const N: usize, const W: usize>(
    x: &[Digit; W],
    y: &[Digit; W],
    m: &[Digit; W],
    k: &Digit,
    from: &[Digit; 100],
    q: &mut [Digit; W],
) -> Window<V> {
    let mut window: Window<V> = tile::load(panel::<W>(&from[..], 0));
    let mut xi = V::load(&x[0]);
    window[0] = window[0].madlo_in_order(xi, V::load(&y[0]));
    let mut quotient = Quotient::new(k, window[0], &m[0]);
    for turn in (0..W).step_by(TURN) {
        unroll!(R < 5 => {
            let (y, m) = (reread(y), reread(m));
            // The last row has no next one; a digit of 0 does for it.
            let next_xi = if turn + R < W - 1 { V::load(&x[turn + R + 1]) } else { V::zero() };
            window[R + W] = V::load(&from[turn + R + W]);
            let qi = quotient.q;
            if N > W {
                qi.store(&mut q[turn + R]);
            }
            let y0 = V::load(&y[0]);
            window[R + 1] = window[R + 1].madlo_in_order(next_xi, y0);
            tile::add_group(&mut window, R, qi, m, 0, 1);
            window[R + 1] = window[R + 1].madhi_in_order(xi, y0);
            tile::add_group(&mut window, R, xi, y, 0, 1);
            let next_carry = tile::next_quotient(&mut window, R, &mut quotient);
            tile::add_group(&mut window, R, xi, y, 1, 0);
            quotient.carry = next_carry.madhi_in_order(quotient.q, V::load(&m[0]));
            tile::add_group(&mut window, R, qi, m, 1, 0);
            unroll!(G < 4 => {
                if 2 <= G && 5 * G < W {
                    tile::add_group(&mut window, R, xi, y, G, 0);
                    tile::add_group(&mut window, R, qi, m, G, 0);
                }
            });
            xi = next_xi;
        });
        tile::slide::<V, W>(&mut window);
    }
    window
}

/// `window += x·y + q·m`.
#[inline(always)]
fn add_two_rows<V: Vector, const W: usize>(
    window: &mut Window<V>,
    c: usize,
    [x, q]: [&Digit; 2],
    [y, m]: [&[Digit; W]; 2],
) {
    let (x, q, y, m) = (V::load(x), V::load(q), reread(y), reread(m));
    unroll!(G < 4 => {
        if 5 * G < W {
            tile::add_group(window, c, x, y, G, 0);
            tile::add_group(window, c, q, m, G, 0);
        }
    });
}
