//! `out = x·y + start`, of twice the digits: 2N² multiply-adds.

use super::{panel, panel_mut, tile};
use crate::vector::{Digit, Kernel, Vector, reread, unroll};

/// `out = x·y + start`, where `start` is below 2^(52N). `out` has 2N digits.
pub(in crate::rsa) struct Product<'a, const N: usize> {
    pub(in crate::rsa) x: &'a [Digit; N],
    pub(in crate::rsa) y: &'a [Digit; N],
    pub(in crate::rsa) start: &'a [Digit; N],
    pub(in crate::rsa) out: &'a mut [Digit],
}

impl<const N: usize> Kernel for Product<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        if N.is_multiple_of(20) {
            product::<V, N, 20>(self);
        } else {
            product::<V, N, 15>(self);
        }
    }
}

#[inline(always)]
fn product<V: Vector, const N: usize, const W: usize>(operands: Product<'_, N>) {
    let Product { x, y, start, out } = operands;
    let out = &mut out[..2 * N];
    out[..N].copy_from_slice(start);
    out[N..].fill(Digit::ZERO);
    for i in 0..N / W {
        let x = panel::<W>(x, i);
        let mut window: tile::Window<V> = tile::load(panel::<W>(out, i));
        for j in 0..N / W {
            let y = panel::<W>(y, j);
            for turn in (0..W).step_by(tile::TURN) {
                unroll!(R < 5 => {
                    let row = (i + j) * W + turn + R;
                    window[R + W] = V::load(&out[row + W]);
                    tile::add_row(&mut window, R, V::load(&x[turn + R]), reread(y));
                    window[R].store(&mut out[row]);
                });
                tile::slide::<V, W>(&mut window);
            }
        }
        tile::store(&window, panel_mut::<W>(out, i + N / W));
    }
    let mut carry = V::zero();
    for digit in out {
        let sum = V::load(digit).add(carry);
        sum.store(digit);
        carry = sum.shr::<52>();
    }
}
