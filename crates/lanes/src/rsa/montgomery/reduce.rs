//! `out = t/R mod m`: 2N² multiply-adds, and two for each panel.

use super::{Modulus, Scratch, panel, panel_mut, tile};
use crate::vector::{Digit, Kernel, Vector, prefetch, reread, unroll};
use tile::{Quotient, TURN};

/// `out = t/R mod m` for t < R·(R − m), where `scratch.columns` holds t, and 2^52 − 1 more in each of the
/// lower N columns (see the module's header).
pub(in crate::rsa) struct Reduce<'a, const N: usize> {
    pub(in crate::rsa) modulus: &'a Modulus<N>,
    pub(in crate::rsa) scratch: &'a mut Scratch<N>,
    pub(in crate::rsa) out: &'a mut [Digit; N],
}

impl<const N: usize> Kernel for Reduce<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let Self {
            modulus,
            scratch,
            out,
        } = self;
        if N.is_multiple_of(20) {
            reduce::<V, N, 20>(modulus, scratch, &[], out);
        } else {
            reduce::<V, N, 15>(modulus, scratch, &[], out);
        }
    }
}

/// W columns at a time: their q from the lowest panel of m, then q times the other panels. Prefetches
/// `ahead` meanwhile: the load ports have nothing else to do.
#[inline(always)]
pub(super) fn reduce<V: Vector, const N: usize, const W: usize>(
    modulus: &Modulus<N>,
    scratch: &mut Scratch<N>,
    ahead: &[Digit],
    out: &mut [Digit; N],
) {
    let columns = &mut scratch.columns[..2 * N];
    let q = panel_mut::<W>(&mut scratch.quotients, 0);
    // Four cache lines a row.
    let ahead = ahead.as_chunks::<4>().0;
    let m0 = panel::<W>(&modulus.digits, 0);
    for block in 0..N / W {
        let columns = &mut columns[block * W..][..N + W];
        let mut window: tile::Window<V> = tile::load(panel::<W>(columns, 0));
        let mut quotient = Quotient::new(&modulus.k, window[0], &m0[0]);
        for turn in (0..W).step_by(TURN) {
            unroll!(R < 5 => {
                if let Some(lines) = ahead.get(block * N + turn + R) {
                    prefetch(lines);
                }
                window[R + W] = V::load(&columns[turn + R + W]);
                if N > W {
                    quotient.q.store(&mut q[turn + R]);
                }
                tile::reduce_row(&mut window, R, &mut quotient, reread(m0));
            });
            tile::slide::<V, W>(&mut window);
        }
        if block < N / W - 1 {
            for j in 1..N / W {
                let m = panel::<W>(&modulus.digits, j);
                for turn in (0..W).step_by(TURN) {
                    unroll!(R < 5 => {
                        let row = j * W + turn + R;
                        if let Some(lines) = ahead.get(block * N + row) {
                            prefetch(lines);
                        }
                        window[R + W] = V::load(&columns[row + W]);
                        tile::add_row(&mut window, R, V::load(&q[turn + R]), reread(m));
                        window[R].store(&mut columns[row]);
                    });
                    tile::slide::<V, W>(&mut window);
                }
            }
            tile::store(&window, panel_mut::<W>(columns, N / W));
        } else {
            // The last block's columns are the result: they leave normalised.
            let mut carry = V::zero();
            for j in 1..N / W {
                let m = panel::<W>(&modulus.digits, j);
                for turn in (0..W).step_by(TURN) {
                    unroll!(R < 5 => {
                        let row = j * W + turn + R;
                        if let Some(lines) = ahead.get(block * N + row) {
                            prefetch(lines);
                        }
                        window[R + W] = V::load(&columns[row + W]);
                        tile::add_row(&mut window, R, V::load(&q[turn + R]), reread(m));
                        let sum = window[R].add(carry);
                        sum.store(&mut out[row - W]);
                        carry = sum.shr::<52>();
                    });
                    tile::slide::<V, W>(&mut window);
                }
            }
            tile::normalise(&window, carry, panel_mut::<W>(out, N / W - 1));
        }
    }
}
