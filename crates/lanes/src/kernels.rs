//! RSA's two kernels against the processor's rate of multiply-adds: `make bench-lanes-kernels`.
//!
//! A benchmark, not a part of the library: the crate keeps its kernels to itself, so this program is made of
//! their sources, and stands where they find each other.

use outboard_lanes::{Error, LANES};

#[allow(dead_code)]
mod vector;

#[allow(dead_code, unused_imports)]
mod rsa {
    mod montgomery;

    pub(crate) use measure::all;
    mod measure {
        use super::montgomery::{Modulus, Multiply, Scratch, Square};
        use crate::vector::{Digit, Kernel, Vector, run, unroll};

        /// Independent multiply-adds, 40 a turn: the processor's rate.
        struct Rate(usize);

        impl Kernel for Rate {
            type Output = [Digit; 20];

            #[inline(always)]
            fn run<V: Vector>(self) -> Self::Output {
                let (x, y) = (V::splat(self.0 as u64), V::splat(3));
                let mut sums = [V::zero(); 20];
                for _ in 0..self.0 {
                    unroll!(J < 20 => { sums[J] = sums[J].madlo_in_order(x, y); });
                    unroll!(J < 20 => { sums[J] = sums[J].madhi_in_order(x, y); });
                }
                let mut out = [Digit::ZERO; 20];
                unroll!(J < 20 => { sums[J].store(&mut out[J]); });
                out
            }
        }

        /// Multiplications and squares of N digits, ten of them by turns with as many multiply-adds.
        fn measure<const N: usize>() {
            let modulus = Modulus {
                digits: [Digit::splat(0xf_edcb_a987_6543); N],
                k: Digit::splat(0x3_4567_89ab_cdef),
            };
            let mut x = [Digit::splat(0x1_2345_6789_abcd); N];
            let mut scratch = Scratch::<N>::new();
            let mut multiply = |square: bool| {
                let a = x;
                let (a, modulus, scratch, out) = (&a, &modulus, &mut *scratch, &mut x);
                let done = if square {
                    let ahead = &[];
                    run(Square {
                        a,
                        modulus,
                        scratch,
                        ahead,
                        out,
                    })
                } else {
                    run(Multiply {
                        a,
                        b: a,
                        modulus,
                        scratch,
                        out,
                    })
                };
                done.expect("the processor has lanes");
            };
            for (name, mads) in [("multiply", 4 * N * N), ("square", 3 * N * N + N)] {
                let mut shares: Vec<f64> = (0..3000)
                    .map(|_| {
                        let start = cycles();
                        for _ in 0..10 {
                            multiply(name == "square");
                        }
                        let middle = cycles();
                        run(Rate(10 * mads / 40)).expect("the processor has lanes");
                        (cycles() - middle) as f64 / (middle - start) as f64
                    })
                    .collect();
                shares.sort_by(f64::total_cmp);
                let share = |of: usize| 100.0 * shares[of];
                println!(
                    "{name:9}{N:3} digits: {:5.1} % of the bound, best {:5.1} %",
                    share(1500),
                    share(2900)
                );
            }
        }

        fn cycles() -> u64 {
            // SAFETY: every x86-64 has it.
            unsafe { core::arch::x86_64::_rdtsc() }
        }

        /// All sizes.
        pub(crate) fn all() {
            measure::<20>();
            measure::<30>();
            measure::<40>();
            measure::<60>();
            measure::<80>();
        }
    }
}

fn main() {
    if !outboard_lanes::available() {
        println!("{}", Error::Unavailable);
        return;
    }
    rsa::all();
}
