//! Every instruction against its emulation, on edge cases and random lanes.

use super::*;

/// All instructions on one pair of operands and one accumulator.
struct Everything([Digit; 3]);

impl Kernel for Everything {
    type Output = (Vec<Digit>, [Mask; 3]);

    #[inline(always)]
    fn run<V: Vector>(self) -> Self::Output {
        let [a, b, c] = [
            V::load(&self.0[0]),
            V::load(&self.0[1]),
            V::load(&self.0[2]),
        ];
        let masks = [a.eq(b), a.lt(b), a.test(b)];
        let vectors = [
            V::splat(self.0[0].0[0]),
            V::zero(),
            a.add(b),
            a.sub(b),
            a.and(b),
            a.or(b),
            a.xor(b),
            a.not_and(b),
            a.shl::<5>(),
            a.shl_in(b),
            a.shr::<52>(),
            a.sar::<52>(),
            a.shr_by(b.and(V::splat(127))),
            a.madlo(b, c),
            a.madhi(b, c),
            a.madlo_in_order(b, c),
            a.madhi_in_order(b, c),
            a.blend(masks[1], b),
            a.pick(b, c),
            a.permute(b),
            a.permute_halves::<0b01_11_00_10>(),
            a.mul_low(b),
            a.only(masks[1]),
        ];
        let mut stored = Vec::new();
        for vector in vectors {
            let mut digit = Digit::ZERO;
            vector.store(&mut digit);
            stored.push(digit);
        }
        stored.extend(turned::<V>(&self.0, LANES));
        stored.extend(turned::<V::Half>(&self.0, LANES / 2));
        stored.extend(bits_of_half::<V::Half>(&self.0));
        (stored, masks)
    }
}

/// Rows that become columns, and are rows again; of the first so many lanes.
#[inline(always)]
fn turned<B: Bits>(operands: &[Digit; 3], lanes: usize) -> Vec<Digit> {
    let mut rows = [[0; 64]; LANES];
    for (lane, row) in rows.iter_mut().enumerate() {
        for (word, bytes) in row.as_chunks_mut().0.iter_mut().enumerate() {
            let number = operands[(lane + word) % 3].0[lane] ^ operands[lane % 3].0[word];
            *bytes = number.to_le_bytes();
        }
    }
    let columns = B::load_turned(rows.each_ref());
    let mut seen = Vec::new();
    for column in columns {
        let mut digit = Digit::ZERO;
        column.store(&mut digit);
        digit.0[lanes..].fill(0);
        seen.push(digit);
    }
    let mut again = [[0; 64]; LANES];
    B::store_turned(columns, again.each_mut());
    assert_eq!(again[..lanes], rows[..lanes]);
    seen
}

/// The instructions on half a register, on two operands.
#[inline(always)]
fn bits_of_half<B: Bits>(operands: &[Digit; 3]) -> Vec<Digit> {
    let (a, b) = (B::load(&operands[0]), B::load(&operands[1]));
    let mut seen = Vec::new();
    for vector in [
        B::splat(operands[2].0[0]),
        a.or(b),
        a.xor(b),
        a.not_and(b),
        a.shl::<5>(),
        a.shr::<59>(),
        a.only(0b1010),
    ] {
        let mut digit = Digit::ZERO;
        vector.store(&mut digit);
        digit.0[LANES / 2..].fill(0);
        seen.push(digit);
    }
    seen
}

#[test]
fn processor_and_emulation_agree() {
    if !available() {
        return eprintln!("skipped: no IFMA here, so nothing to compare the emulation with");
    }
    let edges = [
        0,
        1,
        2,
        51,
        52,
        63,
        64,
        DIGIT - 1,
        DIGIT,
        DIGIT + 1,
        1 << 63,
        u64::MAX,
    ];
    let mut state = 1_u64;
    let mut random = || {
        // Knuth's MMIX generator: good enough to fill lanes.
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let high = state >> 32;
        if high & 3 == 0 {
            edges[(high >> 2) as usize % edges.len()]
        } else {
            state.rotate_left(29)
        }
    };
    for _ in 0..10_000 {
        let operands = core::array::from_fn(|_| Digit(core::array::from_fn(|_| random())));
        assert_eq!(
            ifma::run(Everything(operands)),
            emulated::run(Everything(operands))
        );
    }
}

#[test]
fn known_products() {
    struct Product;
    impl Kernel for Product {
        type Output = [Digit; 2];
        #[inline(always)]
        fn run<V: Vector>(self) -> Self::Output {
            // The excess bit above 52 must be ignored: (2^52 - 1)^2 = (2^52 - 2) 2^52 + 1.
            let a = V::splat(DIGIT | 1 << 60);
            let mut out = [Digit::ZERO; 2];
            V::splat(10).madlo(a, a).store(&mut out[0]);
            V::splat(10).madhi(a, a).store(&mut out[1]);
            out
        }
    }
    assert_eq!(
        run(Product),
        Ok([Digit::splat(11), Digit::splat(DIGIT - 1 + 10)])
    );
}
