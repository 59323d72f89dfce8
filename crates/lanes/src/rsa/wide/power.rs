//! Both primes' exponentiations at once, with a secret exponent each: fixed windows, masked table scans.
//!
//! As in the lanes' `rsa/power.rs`: five squarings, then a multiplication by `x^window`, 0 included. One scan of the table
//! finds both entries: lanes 0 to 3 compare an entry's number with p's window, lanes 4 to 7 with q's. The table has 10, 16 or
//! 20 KiB and stays in the first-level cache.
//!
//! A scan has as many masked moves as a third of a product has multiply-adds. They take ports that multiply-adds
//! leave free, but only if they stand among them. So each turn of a squaring has two entries beside it. (4096 bits:
//! 5 % less time than with a fifth of the scan between two squarings.)
//!
//! # Constant time
//! In the base and in the exponents. Their length is that of the primes, which is public.

use super::layout::Halves;
use super::multiply::{Beside, Modulus, Multiply, Nothing, load, multiply, store, turns};
use crate::vector::{Digit, Kernel, Vector, reread, unroll};
use zeroize::{Zeroize, Zeroizing};

/// The width of a window.
pub(super) const WINDOW: usize = 5;

/// Powers of the base in the table.
const ENTRIES: usize = 1 << WINDOW;

/// `out = base^exponent` modulo p and modulo q; base and result are in Montgomery form.
pub(super) struct Power<'a, const R: usize, const STEPS: usize> {
    pub(super) base: &'a [Digit; R],
    /// Windows of p's exponent and of q's, the highest first; at least one.
    pub(super) windows: &'a [[u8; 2]],
    pub(super) modulus: Modulus<'a, R>,
    /// 1 in Montgomery form.
    pub(super) one: &'a [Digit; R],
    pub(super) table: &'a mut Table<R>,
    pub(super) out: &'a mut [Digit; R],
}

/// The powers of the base, from x^0 to x^31. Wiped when dropped.
pub(super) struct Table<const R: usize>(Vec<[Digit; R]>);

impl<const R: usize> Table<R> {
    pub(super) fn new() -> Self {
        Self(vec![[Digit::ZERO; R]; ENTRIES])
    }
}

impl<const R: usize> Drop for Table<R> {
    fn drop(&mut self) {
        self.0.iter_mut().flatten().for_each(Digit::zeroize);
    }
}

impl<const R: usize, const STEPS: usize> Kernel for Power<'_, R, STEPS> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let Self {
            base,
            windows,
            modulus,
            one,
            table,
            out,
        } = self;
        let table = &mut table.0;
        (table[0], table[1]) = (*one, *base);
        for i in 2..ENTRIES {
            let (known, new) = table.split_at_mut(i);
            let (a, b) = (&known[i / 2], &known[i - i / 2]);
            V::call(Multiply::<Halves, R, STEPS>::new(
                a,
                b,
                modulus,
                &mut new[0],
            ));
        }

        let (first, windows) = windows.split_first().expect("the key has a window");
        let mut selected = Zeroizing::new([Digit::ZERO; R]);
        for part in 0..PARTS {
            select::<V, R>(table, part, first, &mut selected);
        }
        *out = *selected;
        let mut power = load::<V, R>(out);
        for window in windows {
            for square in 0..WINDOW {
                let scan = &mut Scan {
                    table,
                    first: square * turns(R, STEPS),
                    window,
                    selected: &mut selected,
                };
                power = multiply::<V, Halves, R, STEPS>(power, out, modulus, scan);
                store(power, out);
            }
            power = multiply::<V, Halves, R, STEPS>(power, &selected, modulus, &mut Nothing);
            store(power, out);
        }
    }
}

/// A part of the scan in each turn: were all of it in one place, the multiply-adds would wait meanwhile.
struct Scan<'a, const R: usize> {
    table: &'a [[Digit; R]],
    first: usize,
    window: &'a [u8; 2],
    selected: &'a mut [Digit; R],
}

impl<const R: usize> Beside for Scan<'_, R> {
    #[inline(always)]
    fn turn<V: Vector>(&mut self, turn: usize) {
        select::<V, R>(self.table, self.first + turn, self.window, self.selected);
    }
}

/// The entries' numbers, in memory: a load spreads one over the lanes on a port that has nothing else to do.
static NUMBERS: [u64; ENTRIES] = {
    let mut numbers = [0; ENTRIES];
    let mut i = 0;
    while i < ENTRIES {
        numbers[i] = i as u64;
        i += 1;
    }
    numbers
};

/// Parts of a scan. They have to fit into a window's turns: four for each square.
const PARTS: usize = 16;

/// Takes `table[window]` into `selected`, p's and q's, if it is in this part of the table: all entries are read.
/// After all [`PARTS`] it is there. Parts beyond are empty.
#[inline(always)]
fn select<V: Vector, const R: usize>(
    table: &[[Digit; R]],
    part: usize,
    window: &[u8; 2],
    selected: &mut [Digit; R],
) {
    if part >= PARTS {
        return;
    }
    let [p, q] = window.map(u64::from);
    let index = V::splat(p).blend(0xf0, V::splat(q));
    let mut found = load::<V, R>(selected);
    unroll!(I < 2 => {
        let entry = part * (ENTRIES / PARTS) + I;
        let here = index.eq(V::splat(*reread(&NUMBERS[entry])));
        unroll!(J < R of 10 => {
            found[J] = found[J].blend(here, V::load(&table[entry][J]));
        });
    });
    store(found, selected);
}
