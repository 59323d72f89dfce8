//! Exponentiation with a secret exponent of its own in each lane: fixed windows, masked table scans.
//!
//! `x^d` with d in windows of w bits, the highest first: w squarings, then a multiplication by `x^window`,
//! for every window, 0 included. The table holds x^0 … x^(2^w − 1).
//!
//! # Table scan
//! A lane's window is secret, so each entry of the table is read and kept where the lane's window equals
//! its number: one masked move (`vmovdqa64 zmm{k}, [entry]`) for each digit of each entry.
//!
//! A look at the code that the compiler made of it: `make lanes-table-scan` (a compare into a mask, masked
//! moves at consecutive addresses; no branch but the loop's).
//!
//! Read at one go, a table of 60 or 80 KiB comes from the second-level cache: by count 15 % of an operation.
//! So it is cut into slices, one for each squaring of a window; a squaring prefetches its slice, which is then read
//! from the first-level cache: 3072 and 4096 bits gained 13 %.
//!
//! What does not help: loads masked to zero and a three-way `or` (they take the port as well), a tree of
//! blends (it needs as many), `vpgatherqq` (its addresses are secret).
//!
//! # Width of the windows
//! Entries cost a masked move a digit, windows a multiplication. 4 and 5 are within 2 % of each other at
//! 20 digits, where the table of 4 (20 KiB) fits in the first-level cache; 5 is better for 30 and 40.
//!
//! # Constant time
//! In the base and in the exponent. Its length is that of the prime, which is public.

use super::montgomery::{Modulus, Multiply, Scratch, Square};
use crate::vector::{Digit, Kernel, Vector, reread, unroll};
use zeroize::{Zeroize, Zeroizing};

/// The width of a window for primes of `n` digits.
pub(super) const fn window_bits(n: usize) -> usize {
    if n <= 20 { 4 } else { 5 }
}

/// `out = base^exponent`, base and result in Montgomery form.
pub(super) struct Power<'a, const N: usize> {
    pub(super) base: &'a [Digit; N],
    /// Windows of [`window_bits`] bits, the highest first; at least one.
    pub(super) exponent: &'a [Digit],
    pub(super) modulus: &'a Modulus<N>,
    /// R mod m: one in Montgomery form.
    pub(super) one: &'a [Digit; N],
    /// Room for the powers of the base.
    pub(super) table: &'a mut Table<N>,
    pub(super) scratch: &'a mut Scratch<N>,
    pub(super) out: &'a mut [Digit; N],
}

/// The powers of the base, x^0 … x^(2^w − 1), cut into *slices*:
///
/// ```text
/// slice 0:  x^0 digits 0 to 5, x^1 digits 0 to 5, … x^31 digits 0 to 5        (30 digits, w = 5)
/// slice 1:  x^0 digits 6 to 11, …
/// ```
///
/// Wiped when dropped.
pub(super) struct Table<const N: usize>(Vec<Digit>);

impl<const N: usize> Table<N> {
    const ENTRIES: usize = 1 << window_bits(N);
    /// One for each squaring of a window, so that a slice stays in the first-level cache; a table that fits
    /// in there as a whole is not cut, which saves compares.
    const SLICES: usize = if N <= 20 { 1 } else { window_bits(N) };
    /// Digits of an entry in a slice.
    const PART: usize = N / Self::SLICES;

    pub(super) fn new() -> Self {
        Self(vec![Digit::ZERO; N * Self::ENTRIES])
    }

    /// What the i-th squaring of a window prefetches.
    fn ahead(&self, i: usize) -> &[Digit] {
        let len = N * Self::ENTRIES / window_bits(N);
        &self.0[i * len..][..len]
    }

    fn slice(&self, i: usize) -> &[Digit] {
        let len = Self::PART * Self::ENTRIES;
        &self.0[i * len..][..len]
    }

    fn set(&mut self, entry: usize, number: &[Digit; N]) {
        for (i, part) in number.chunks(Self::PART).enumerate() {
            self.0[(i * Self::ENTRIES + entry) * Self::PART..][..Self::PART].copy_from_slice(part);
        }
    }

    fn get(&self, entry: usize) -> [Digit; N] {
        let part = |i: usize| &self.0[(i * Self::ENTRIES + entry) * Self::PART..];
        core::array::from_fn(|digit| part(digit / Self::PART)[digit % Self::PART])
    }
}

impl<const N: usize> Drop for Table<N> {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Digit::zeroize);
    }
}

impl<const N: usize> Kernel for Power<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let Self {
            base,
            exponent,
            modulus,
            one,
            table,
            scratch,
            out,
        } = self;
        let mut buffers = Zeroizing::new([[Digit::ZERO; N]; 3]);
        let [power, other, selected] = &mut *buffers;
        let (mut power, mut other) = (power, other);

        table.set(0, one);
        table.set(1, base);
        *power = *base;
        for i in 2..Table::<N>::ENTRIES {
            if i % 2 == 0 {
                let mut half = Zeroizing::new(table.get(i / 2));
                V::call(Square {
                    a: &half,
                    modulus,
                    scratch,
                    ahead: &[],
                    out: other,
                });
                half.zeroize();
            } else {
                V::call(Multiply {
                    a: power,
                    b: base,
                    modulus,
                    scratch,
                    out: other,
                });
            }
            core::mem::swap(&mut power, &mut other);
            table.set(i, power);
        }

        let (first, windows) = exponent.split_first().expect("the caller passes a window");
        for i in 0..Table::<N>::SLICES {
            let out = &mut selected[i * Table::<N>::PART..][..Table::<N>::PART];
            V::call(Select {
                slice: table.slice(i),
                index: first,
                out,
            });
        }
        *power = *selected;
        for window in windows {
            for i in 0..window_bits(N) {
                V::call(Square {
                    a: power,
                    modulus,
                    scratch,
                    ahead: table.ahead(i),
                    out: other,
                });
                core::mem::swap(&mut power, &mut other);
                // The slice that was brought in; all of a single one at the end.
                let slice = if Table::<N>::SLICES > 1 { i } else { 0 };
                if Table::<N>::SLICES > 1 || i == window_bits(N) - 1 {
                    let out = &mut selected[slice * Table::<N>::PART..][..Table::<N>::PART];
                    V::call(Select {
                        slice: table.slice(slice),
                        index: window,
                        out,
                    });
                }
            }
            V::call(Multiply {
                a: power,
                b: selected,
                modulus,
                scratch,
                out: other,
            });
            core::mem::swap(&mut power, &mut other);
        }
        *out = *power;
    }
}

/// One slice of `table[index]`, lane by lane.
struct Select<'a> {
    slice: &'a [Digit],
    index: &'a Digit,
    out: &'a mut [Digit],
}

impl Kernel for Select<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        match self.out.len() {
            20 => select::<V, 20>(self),
            6 => select::<V, 6>(self),
            8 => select::<V, 8>(self),
            _ => unreachable!("the parts of 20, 30 and 40 digits"),
        }
    }
}

/// The entries' numbers, in memory: a load spreads one over the lanes on a port that has nothing else to do.
static NUMBERS: [u64; 32] = {
    let mut numbers = [0; 32];
    let mut i = 0;
    while i < numbers.len() {
        numbers[i] = i as u64;
        i += 1;
    }
    numbers
};

#[inline(always)]
fn select<V: Vector, const PART: usize>(operands: Select<'_>) {
    let Select { slice, index, out } = operands;
    let index = V::load(index);
    let (first, others) = slice
        .as_chunks::<PART>()
        .0
        .split_first()
        .expect("a slice has a part of every entry");
    let mut selected = [V::zero(); 20];
    unroll!(J < PART of 20 => {
        selected[J] = V::load(&first[J]);
    });
    for (entry, number) in others.iter().zip(&NUMBERS[1..]) {
        let here = index.eq(V::splat(*reread(number)));
        unroll!(J < PART of 20 => {
            selected[J] = selected[J].blend(here, V::load(&entry[J]));
        });
    }
    unroll!(J < PART of 20 => {
        selected[J].store(&mut out[J]);
    });
}
