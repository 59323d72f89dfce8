//! SHA-512 (FIPS 180-4, section 6.4) of eight messages of equal length at once.
//!
//! Its words are the lanes' 64 bits.
//! Constant time.

pub(crate) mod padding;

use crate::vector::unroll;
use crate::vector::{Digit, Vector};

/// The state before the first block.
pub(crate) const INITIAL: [u64; 8] = [
    0x6a09e667f3bcc908,
    0xbb67ae8584caa73b,
    0x3c6ef372fe94f82b,
    0xa54ff53a5f1d36f1,
    0x510e527fade682d1,
    0x9b05688c2b3e6c1f,
    0x1f83d9abfb41bd6b,
    0x5be0cd19137e2179,
];

/// The first 64 bits of the fractional parts of the cube roots of the first 80 primes.
#[rustfmt::skip]
const K: [u64; 80] = [
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
];

/// Rotation right: one instruction.
macro_rules! rotate {
    ($x:expr, $bits:literal) => {
        $x.shr::<$bits>().or($x.shl::<{ 64 - $bits }>())
    };
}

/// Takes one block of each message into the state.
#[inline(always)]
pub(crate) fn compress<V: Vector>(state: &mut [Digit; 8], block: &[Digit; 16]) {
    let mut w = [V::zero(); 16];
    let mut s = [V::zero(); 8];
    unroll!(I < 8 => {
        w[I] = V::load(&block[I]);
        w[I + 8] = V::load(&block[I + 8]);
        s[I] = V::load(&state[I]);
    });
    for k in K.as_chunks::<16>().0 {
        unroll!(I < 8 => { round(&mut s, &mut w, k, I); });
        unroll!(I < 8 => { round(&mut s, &mut w, k, I + 8); });
    }
    unroll!(I < 8 => { s[I].add(V::load(&state[I])).store(&mut state[I]); });
}

/// Round `i` of sixteen, with the state's words renamed rather than moved: a is s[-i mod 8].
#[inline(always)]
fn round<V: Vector>(s: &mut [V; 8], w: &mut [V; 16], k: &[u64; 16], i: usize) {
    let [a, b, c] = [s[(16 - i) % 8], s[(17 - i) % 8], s[(18 - i) % 8]];
    let [e, f, g] = [s[(20 - i) % 8], s[(21 - i) % 8], s[(22 - i) % 8]];
    let sum1 = rotate!(e, 14).xor(rotate!(e, 18)).xor(rotate!(e, 41));
    let choice = e.and(f).xor(e.not_and(g));
    let h = s[(23 - i) % 8].add(V::splat(k[i])).add(w[i]);
    let t1 = h.add(choice).add(sum1);
    let sum0 = rotate!(a, 28).xor(rotate!(a, 34)).xor(rotate!(a, 39));
    let majority = a.and(b).xor(a.and(c)).xor(b.and(c));
    s[(19 - i) % 8] = s[(19 - i) % 8].add(t1); // d becomes e
    s[(23 - i) % 8] = t1.add(sum0).add(majority); // h becomes a

    // The word 16 rounds later.
    let (w1, w14) = (w[(i + 1) % 16], w[(i + 14) % 16]);
    let sigma0 = rotate!(w1, 1).xor(rotate!(w1, 8)).xor(w1.shr::<7>());
    let sigma1 = rotate!(w14, 19).xor(rotate!(w14, 61)).xor(w14.shr::<6>());
    w[i] = w[i].add(sigma0).add(w[(i + 9) % 16]).add(sigma1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{self, Kernel};

    struct Hash([Digit; 16]);

    impl Kernel for Hash {
        type Output = [Digit; 8];
        #[inline(always)]
        fn run<V: Vector>(self) -> [Digit; 8] {
            let mut state = INITIAL.map(Digit::splat);
            compress::<V>(&mut state, &self.0);
            state
        }
    }

    /// FIPS 180-4's example "abc", in every lane.
    #[test]
    fn abc() {
        let mut block = [Digit::ZERO; 16];
        block[0] = Digit::splat(0x6162_6380_0000_0000);
        block[15] = Digit::splat(24);
        let digest = [
            0xddaf35a193617aba_u64,
            0xcc417349ae204131,
            0x12e6fa4e89a97ea2,
            0x0a9eeee64b55d39a,
            0x2192992a274fc1a8,
            0x36ba3c23a3feebbd,
            0x454d4423643ce80e,
            0x2a9ac94fa54ca49f,
        ];
        assert_eq!(vector::run(Hash(block)), Ok(digest.map(Digit::splat)));
    }
}
