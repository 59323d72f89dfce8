//! Every instruction on 32-bit numbers against its emulation, and the emulation against known numbers.

use super::*;

/// All instructions on one pair of operands and one accumulator.
struct Everything([Digit; 3]);

impl WordKernel for Everything {
    type Output = (Vec<Digit>, WordMask);

    #[inline(always)]
    fn run<V: Vector, W: Words>(self) -> Self::Output {
        let [a, b, c] = [
            W::load(&self.0[0]),
            W::load(&self.0[1]),
            W::load(&self.0[2]),
        ];
        let words = self.0[0].0;
        let bytes: [u8; 64] = core::array::from_fn(|i| (words[i / 8] >> (8 * (i % 8))) as u8);
        let below = a.below(b);
        let vectors = [
            W::splat(words[0] as i32),
            W::load_bytes(&bytes),
            a.add(b),
            a.sub(b),
            a.and(b),
            a.mul_low(b),
            a.shr::<7>(),
            a.sar::<7>(),
            a.shl::<7>(),
            a.shr_by(b.and(W::splat(31))),
            a.mul_even(b),
            a.odd(),
            a.add_pairs(b),
            a.sub_pairs(b),
            W::merge_high(a, b),
            a.blend(below, b),
            a.pick(b, c),
            a.permute_bytes(b),
            a.compress(below),
        ];
        let mut stored = Vec::new();
        for vector in vectors {
            let mut digit = Digit::ZERO;
            vector.store(&mut digit);
            stored.push(digit);
        }
        // All of it, and all but the last seven.
        for at in [5, 23] {
            let mut digits = [self.0[2]; 2];
            a.store_at(&mut digits, at);
            stored.extend(digits);
        }
        (stored, below)
    }
}

fn random(state: &mut u64) -> u64 {
    // Knuth's MMIX generator: good enough to fill lanes.
    *state = state
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    state.rotate_left(29)
}

#[cfg(all(target_arch = "x86_64", not(feature = "emulation")))]
#[test]
fn processor_and_emulation_agree() {
    use crate::vector::{emulated, ifma};
    if !available() {
        return eprintln!(
            "skipped: no AVX-512 VBMI here, so nothing to compare the emulation with"
        );
    }
    let mut state = 1;
    for _ in 0..10_000 {
        let operands =
            core::array::from_fn(|_| Digit(core::array::from_fn(|_| random(&mut state))));
        assert_eq!(
            ifma::run_words(Everything(operands)),
            emulated::run_words(Everything(operands))
        );
    }
}

/// Each instruction by its description.
#[test]
fn instructions_do_what_they_say() {
    let mut state = 7;
    for _ in 0..100 {
        let operands: [Digit; 3] =
            core::array::from_fn(|_| Digit(core::array::from_fn(|_| random(&mut state))));
        let (vectors, below) = run_words(Everything(operands)).expect("lanes");
        let [a, b, c] = operands.each_ref().map(words);
        let bytes = a.map(i32::to_le_bytes).concat();
        let (unsigned, limits) = (a.map(i32::cast_unsigned), b.map(i32::cast_unsigned));
        let chosen: Vec<i32> = (0..WORDS)
            .filter(|&i| unsigned[i] < limits[i])
            .map(|i| a[i])
            .collect();
        for i in 0..WORDS {
            let (x, y) = (a[i], b[i]);
            let (shift, table) = (y & 31, [b, c].concat());
            let product = i64::from(a[i & !1]) * i64::from(b[i & !1]);
            let pair = |all: [i32; WORDS]| {
                let (low, high) = (all[i & !1].cast_unsigned(), all[i | 1].cast_unsigned());
                u64::from(low) | u64::from(high) << 32
            };
            let half = |pair: u64| ((pair >> (32 * (i % 2))) as u32).cast_signed();
            let is_below = unsigned[i] < limits[i];
            assert_eq!(below >> i & 1 == 1, is_below);
            let expected = [
                a[0],
                x,
                x.wrapping_add(y),
                x.wrapping_sub(y),
                x & y,
                x.wrapping_mul(y),
                (unsigned[i] >> 7).cast_signed(),
                x >> 7,
                x << 7,
                (unsigned[i] >> shift).cast_signed(),
                half(product.cast_unsigned()),
                a[i | 1],
                half(pair(a).wrapping_add(pair(b))),
                half(pair(a).wrapping_sub(pair(b))),
                if i % 2 == 0 { a[i + 1] } else { y },
                if is_below { y } else { x },
                table[x as usize % 32],
                i32::from_le_bytes(y.to_le_bytes().map(|at| bytes[usize::from(at) % 64])),
                *chosen.get(i).unwrap_or(&0),
                if i < 5 { c[i] } else { a[i - 5] },
                if i < 5 { a[i + 11] } else { c[i] },
                c[i],
                if i < 7 { c[i] } else { a[i - 7] },
            ];
            let found: Vec<i32> = vectors.iter().map(|vector| words(vector)[i]).collect();
            assert_eq!(found, expected);
        }
    }
}
