//! Arithmetic across the lanes against arithmetic off the lanes, and its bounds.

use super::carry::{canonical, normalise};
use super::key::{across, multiple, row};
use super::layout::{Halves, Layout, Whole};
use super::multiply::{Modulus, Multiply, load, store};
use crate::rsa::number::Constants;
use crate::vector::{DIGIT, Digit, Kernel, Vector, run, run_for_all};
use core::marker::PhantomData;
use zeroize::Zeroizing;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545f4914f6cdd1d)
    }

    /// Mostly random digits, often 0 or all ones: what carries dislike.
    fn digit(&mut self) -> u64 {
        match self.next() >> 61 {
            0 => 0,
            1 | 2 => DIGIT,
            3 => 1,
            4 => DIGIT - 1,
            _ => self.next() & DIGIT,
        }
    }

    /// `bits` long at most, in `n` digits.
    fn number(&mut self, n: usize, bits: usize) -> Vec<u64> {
        let mut number: Vec<u64> = (0..n).map(|_| self.digit()).collect();
        for (i, digit) in number.iter_mut().enumerate() {
            *digit &= DIGIT >> (52 * (i + 1)).saturating_sub(bits).min(52);
        }
        number
    }

    /// An odd number of exactly so many bits.
    fn modulus(&mut self, n: usize, bits: usize) -> Constants {
        let mut m = self.number(n, bits);
        m[0] |= 1;
        m[(bits - 1) / 52] |= 1 << ((bits - 1) % 52);
        Constants::new(Zeroizing::new(m), bits)
    }
}

/// The numbers of a layout, one or two.
fn laid_out<L: Layout>(registers: usize, numbers: &[Vec<u64>]) -> Zeroizing<Vec<Digit>> {
    let mut out = Zeroizing::new(vec![Digit::ZERO; registers]);
    for (i, number) in numbers.iter().enumerate() {
        let one = across(registers, [(i * L::LANES, number)]);
        for (out, one) in out.iter_mut().zip(one.iter()) {
            for lane in 0..8 {
                out.0[lane] |= one.0[lane];
            }
        }
    }
    out
}

/// Digits of number `i`, as they are read by `vpmadd52`.
fn back<L: Layout>(digits: &[Digit], i: usize, n: usize) -> Vec<u64> {
    let digit = |d: usize| digits[d % digits.len()].0[d / digits.len() + i * L::LANES] & DIGIT;
    (0..n).map(digit).collect()
}

struct Canonical<'a, L, const R: usize>(&'a [Digit; R], &'a [Digit; R], PhantomData<L>);

impl<L: Layout, const R: usize> Kernel for Canonical<'_, L, R> {
    type Output = [Digit; R];
    #[inline(always)]
    fn run<V: Vector>(self) -> [Digit; R] {
        let mut out = [Digit::ZERO; R];
        store(canonical::<V, L, R>(load(self.0), self.1), &mut out);
        out
    }
}

struct Normalise<'a, L, const R: usize>(&'a [Digit; R], PhantomData<L>);

impl<L: Layout, const R: usize> Kernel for Normalise<'_, L, R> {
    type Output = [Digit; R];
    #[inline(always)]
    fn run<V: Vector>(self) -> [Digit; R] {
        let mut out = [Digit::ZERO; R];
        store(normalise::<V, L, R>(load(self.0)), &mut out);
        out
    }
}

/// `a + b·factor`.
fn sum(a: &[u64], b: &[u64], factor: u64) -> Vec<u64> {
    let mut carry = 0;
    let digit = |(a, b): (&u64, &u64)| {
        carry += a + b * factor;
        let digit = carry & DIGIT;
        carry >>= 52;
        digit
    };
    a.iter().zip(b).map(digit).collect()
}

fn products<L: Layout, const R: usize, const N: usize>(bits: usize, rounds: usize) {
    let mut random = Random(N as u64);
    let count = 8 / L::LANES;
    for _ in 0..rounds {
        let moduli: Vec<_> = (0..count).map(|_| random.modulus(N, bits)).collect();
        let of = |f: &dyn Fn(&Constants) -> Vec<u64>| {
            let numbers: Vec<_> = moduli.iter().map(f).collect();
            laid_out::<L>(R, &numbers)
        };
        let (m, big) = (of(&|c| c.m.to_vec()), of(&|c| multiple(c).to_vec()));
        let k = Digit(core::array::from_fn(|lane| moduli[lane / L::LANES].k[0]));
        let modulus = Modulus::<R> {
            digits: row(&m),
            multiple: row(&big),
            k: &k,
        };
        // Below 4m, and what may be fed back.
        let [a, b]: [Vec<_>; 2] =
            [(); 2].map(|()| (0..count).map(|_| random.number(N, bits + 1)).collect());
        let (in_a, in_b) = (laid_out::<L>(R, &a), laid_out::<L>(R, &b));
        let mut out = [Digit::ZERO; R];
        let product = Multiply::<L, R, N>::new(row(&in_a), row(&in_b), modulus, &mut out);
        run(product).expect("or emulated");
        let out = run(Canonical::<L, R>(&out, row(&m), PhantomData)).expect("or emulated");
        for i in 0..count {
            let expected = moduli[i].multiply(&a[i], &b[i]);
            assert_eq!(back::<L>(&out, i, N), *expected, "number {i} of {N} digits");
        }
        // Around multiples of m.
        let small = |c: &Constants| {
            let mut one = vec![0; c.m.len()];
            one[0] = 1;
            one
        };
        for times in 0..=2 {
            for add in [0, 1] {
                let x = of(&|c| sum(&sum(&vec![0; N], &small(c), add), &c.m, times));
                let out =
                    run(Canonical::<L, R>(row(&x), row(&m), PhantomData)).expect("or emulated");
                assert_eq!(&out[..], &of(&|c| sum(&vec![0; N], &small(c), add))[..]);
            }
            if times > 0 {
                let less = |c: &Constants| {
                    let mut m = c.m.to_vec();
                    m[0] -= 1;
                    m
                };
                let x = of(&|c| sum(&less(c), &c.m, times - 1));
                let out =
                    run(Canonical::<L, R>(row(&x), row(&m), PhantomData)).expect("or emulated");
                assert_eq!(&out[..], &of(&less)[..]);
            }
        }
    }
}

#[test]
fn products_modulo_two_primes() {
    products::<Halves, 5, 20>(1024, 300);
    products::<Halves, 8, 30>(1536, 200);
    products::<Halves, 10, 40>(2048, 100);
}

#[test]
fn products_modulo_n() {
    products::<Whole, 5, 40>(2048, 100);
    products::<Whole, 8, 60>(3072, 100);
    products::<Whole, 10, 80>(4096, 50);
}

fn carries<L: Layout, const R: usize>() {
    let mut random = Random(R as u64);
    let digits = L::LANES * R;
    for _ in 0..20_000 {
        // Runs of all ones, now and then a digit that makes a carry, and seldom a large one.
        let rare = random.next() % 4;
        let numbers: Vec<Vec<u64>> = (0..8 / L::LANES)
            .map(|_| {
                let column = |i| match random.next() >> 59 {
                    _ if i == digits - 1 => 0,
                    0 => DIGIT + 1,
                    1 => DIGIT + 1 + (random.next() & 255),
                    2 => random.next() >> 3,
                    3 => 0,
                    4..8 if rare == 0 => random.digit(),
                    _ => DIGIT,
                };
                (0..digits).map(column).collect()
            })
            .collect();
        let columns = laid_out::<L>(R, &numbers);
        let out = run(Normalise::<L, R>(row(&columns), PhantomData)).expect("or emulated");
        for (i, number) in numbers.iter().enumerate() {
            let expected = sum(number, &vec![0; digits], 0);
            assert_eq!(back::<L>(&out, i, digits), expected);
        }
    }
}

#[test]
fn carries_run_through_all_digits() {
    carries::<Halves, 5>();
    carries::<Halves, 8>();
    carries::<Halves, 10>();
    carries::<Whole, 5>();
    carries::<Whole, 8>();
    carries::<Whole, 10>();
}

/// Whatever is between 0 and `most`.
fn up_to(most: u64) -> Digit {
    Digit([0, most, 0, most, 0, most, 0, most])
}

/// No column leaves 64 bits, whatever the digits, and those of the result exceed 52 bits by so little that a carry is 1
/// at most.
fn bounds<L: Layout, const R: usize, const N: usize>() {
    let any = [up_to(u64::MAX); R];
    // The digits of b come from single lanes of memory: products grow with them.
    let largest = [Digit::splat(DIGIT); R];
    let k = up_to(DIGIT);
    let modulus = Modulus {
        digits: &[up_to(DIGIT); R],
        multiple: &[up_to(DIGIT); R],
        k: &k,
    };
    let mut out = any;
    run_for_all(Multiply::<L, R, N>::new(&any, &largest, modulus, &mut out));
    let most = out.iter().flat_map(|digit| digit.0).max();
    assert!(most <= Some(DIGIT + (1 << 10)), "{most:x?}");
}

#[test]
fn columns_keep_their_bounds() {
    bounds::<Halves, 5, 20>();
    bounds::<Halves, 8, 30>();
    bounds::<Halves, 10, 40>();
    bounds::<Whole, 5, 40>();
    bounds::<Whole, 8, 60>();
    bounds::<Whole, 10, 80>();
}
