//! A message whose key was set in its middle, without a new vector: OpenSSL's state is then all zeros.
//!
//! GCM begins with a block J₀: it encrypts with the counters after J₀, and hides the tag by the encrypted J₀. So a
//! state of zeros is that of a message with the J₀ before the first counter, but for the tag, which nothing hides.
//! A vector of one block makes J₀ = (IV·H ⊕ L)·H (SP 800-38D, 7.1), where H is the encrypted zero and L the
//! vector's length in bits: IV = (J₀·H⁻¹ ⊕ L)·H⁻¹.

use super::Block;
use crate::error::Result;
use crate::scalar::aes::encrypt_block;

/// The first counter after a state of zeros: OpenSSL's kernels differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// The state's own.
    Zero,
    /// The one after it: of kernels that count up before they encrypt.
    One,
}

impl Counter {
    /// J₀, whose last 32 bits are what is counted.
    fn before(self) -> u128 {
        match self {
            Self::Zero => u32::MAX.into(),
            Self::One => 0,
        }
    }
}

/// A block's length in bits.
const LENGTH: u128 = 128;

/// The vector that begins there, and what its tags differ by. Both tell the key's H, and so does what this leaves on the stack.
pub(super) fn start(key: &[u8], counter: Counter, iv: &mut Block, mask: &mut Block) -> Result<()> {
    let before = counter.before();
    let hash_key = u128::from_be_bytes(*encrypt_block(key, &[0; 16])?);
    let inverse = inverse(hash_key);
    *iv = product(product(before, inverse) ^ LENGTH, inverse).to_be_bytes();
    *mask = *encrypt_block(key, &before.to_be_bytes())?;
    Ok(())
}

/// In GF(2¹²⁸) with GCM's order of bits: the first is the highest. No branch on either factor.
fn product(x: u128, y: u128) -> u128 {
    const REDUCTION: u128 = 0xe1 << 120;
    let (mut sum, mut multiple) = (0, y);
    for bit in (0..128).rev() {
        sum ^= multiple & 0u128.wrapping_sub((x >> bit) & 1);
        multiple = (multiple >> 1) ^ (REDUCTION & 0u128.wrapping_sub(multiple & 1));
    }
    sum
}

/// By Fermat: to the power of 2¹²⁸ − 2.
fn inverse(x: u128) -> u128 {
    let (mut result, mut power) = (1 << 127, x);
    for _ in 1..128 {
        power = product(power, power);
        result = product(result, power);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_times_its_number_is_one() {
        for x in [1 << 127, 1, 0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e] {
            assert_eq!(product(x, inverse(x)), 1 << 127);
        }
    }
}
