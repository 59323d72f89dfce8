//! `out = a²/R mod m`: N² + N multiply-adds for the square, 2N² and two a panel for the reduction.
//!
//! Products of different panels are added up first, undoubled, in `cross`. Then each panel's own square
//! takes its columns from there, adds its cross products, doubles, adds the squares of its digits and
//! leaves the sum in `columns`.

use super::{HALF, Modulus, Scratch, panel, panel_mut, reduce, tile};
use crate::vector::{Digit, Kernel, Vector, reread, unroll};

/// `out = a²/R mod m` for a² < R·(R − m).
pub(in crate::rsa) struct Square<'a, const N: usize> {
    pub(in crate::rsa) a: &'a [Digit; N],
    pub(in crate::rsa) modulus: &'a Modulus<N>,
    pub(in crate::rsa) scratch: &'a mut Scratch<N>,
    /// What will be needed soon, at most 4N²/W digits: it is brought into the first-level cache.
    pub(in crate::rsa) ahead: &'a [Digit],
    pub(in crate::rsa) out: &'a mut [Digit; N],
}

impl<const N: usize> Kernel for Square<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        if N.is_multiple_of(20) {
            square::<V, N, 20>(self);
        } else {
            square::<V, N, 15>(self);
        }
    }
}

#[inline(always)]
fn square<V: Vector, const N: usize, const W: usize>(operands: Square<'_, N>) {
    let Square {
        a,
        modulus,
        scratch,
        ahead,
        out,
    } = operands;
    if N == 2 * W {
        first_cross_products::<V, W>(a, &mut scratch.cross);
    } else if N > 2 * W {
        cross_products::<V, N, W>(a, &mut scratch.cross);
    }
    for i in 0..N / W {
        // Columns below N start at half of X − 1; doubling shifts in the other half.
        let ones = [2 * i * W, (2 * i + 1) * W].map(|c| if c < N { u64::MAX } else { 0 });
        let cross = &scratch.cross[2 * i * W..][..2 * W];
        let columns = &mut scratch.columns[2 * i * W..][..2 * W];
        panel_square::<V, W>(panel(a, i), cross, ones, columns);
    }
    reduce::reduce::<V, N, W>(modulus, scratch, ahead, out);
}

/// `cross = a_0·a_1` for a number of two panels: its columns start in registers.
#[inline(always)]
fn first_cross_products<V: Vector, const W: usize>(a: &[Digit], cross: &mut [Digit]) {
    let (x, y) = (panel::<W>(a, 0), panel::<W>(a, 1));
    let mut window = [V::splat(HALF); _];
    for turn in (0..W).step_by(tile::TURN) {
        unroll!(R < 5 => {
            window[R + W] = V::zero();
            tile::add_row(&mut window, R, V::load(&x[turn + R]), reread(y));
            window[R].store(&mut cross[W + turn + R]);
        });
        tile::slide::<V, W>(&mut window);
    }
    tile::store(&window, panel_mut::<W>(cross, 2));
}

/// `cross = Σ a_i·a_j, i < j`: the same for any number of panels.
#[inline(always)]
fn cross_products<V: Vector, const N: usize, const W: usize>(a: &[Digit; N], cross: &mut [Digit]) {
    cross[W..N].fill(Digit::splat(HALF));
    cross[N..2 * N - W].fill(Digit::ZERO);
    for i in 0..N / W {
        let x = panel::<W>(a, i);
        let mut window: tile::Window<V> = tile::load(panel::<W>(cross, 2 * i + 1));
        for j in i + 1..N / W {
            let y = panel::<W>(a, j);
            for turn in (0..W).step_by(tile::TURN) {
                unroll!(R < 5 => {
                    let row = (i + j) * W + turn + R;
                    window[R + W] = V::load(&cross[row + W]);
                    tile::add_row(&mut window, R, V::load(&x[turn + R]), reread(y));
                    window[R].store(&mut cross[row]);
                });
                tile::slide::<V, W>(&mut window);
            }
        }
        if i + 1 < N / W {
            tile::store(&window, panel_mut::<W>(cross, i + N / W));
        }
    }
}

/// `columns = 2·(cross + Σ x_i·x_j, i < j) + ones + Σ x_i²`: W² + W multiply-adds.
#[inline(always)]
fn panel_square<V: Vector, const W: usize>(
    x: &[Digit; W],
    cross: &[Digit],
    ones: [u64; 2],
    columns: &mut [Digit],
) {
    let ones = [V::splat(ones[0]), V::splat(ones[1])];
    let mut window = [V::zero(); 40];
    unroll!(J < W of 20 => {
        window[J] = V::load(&cross[J]);
    });
    unroll!(I < W of 20 => {
        let xi = V::load(&x[I]);
        // The column that this row is the first to reach.
        window[I + W] = V::load(&cross[I + W]);
        unroll!(J < W of 20 => {
            if I < J {
                let xj = V::load(&x[J]);
                window[I + J] = window[I + J].madlo_in_order(xi, xj);
                window[I + J + 1] = window[I + J + 1].madhi_in_order(xi, xj);
            }
        });
        // Columns 2I and 2I + 1 have all their cross products.
        let doubled = window[2 * I].shl_in(ones[2 * I / W]);
        doubled.madlo_in_order(xi, xi).store(&mut columns[2 * I]);
        let doubled = window[2 * I + 1].shl_in(ones[(2 * I + 1) / W]);
        doubled.madhi_in_order(xi, xi).store(&mut columns[2 * I + 1]);
    });
}
