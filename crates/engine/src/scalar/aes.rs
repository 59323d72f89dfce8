//! AES (FIPS 197): single blocks, and the modes that only encrypt (SP 800-38A): ECB, CBC and CTR.

use std::ffi::{c_int, c_uint};
use std::mem::MaybeUninit;
use std::ptr;

use aws_lc_sys as lc;
use inout::InOutBuf;
use zeroize::Zeroizing;

use super::block_cipher::BlockCipher;
use super::check;
use crate::error::{Error, Result};

/// The length of a block, in bytes.
pub const BLOCK: usize = 16;

/// A block.
pub type Block = [u8; BLOCK];

/// How blocks follow each other.
#[derive(Clone, Copy, Debug)]
pub enum Mode<'a> {
    /// Each for itself.
    Ecb,
    /// Each is added to the one before it; the first to this one.
    Cbc(&'a Block),
    /// Encrypted numbers are added, from this one on; the data need not be whole blocks.
    Ctr(&'a Block),
}

/// The ciphers of a mode, for keys of 16, 24 and 32 bytes.
pub(super) type Ciphers = [unsafe extern "C" fn() -> *const lc::EVP_CIPHER; 3];

const ECB: Ciphers = [
    lc::EVP_aes_128_ecb,
    lc::EVP_aes_192_ecb,
    lc::EVP_aes_256_ecb,
];
pub(super) const CBC: Ciphers = [
    lc::EVP_aes_128_cbc,
    lc::EVP_aes_192_cbc,
    lc::EVP_aes_256_cbc,
];
const CTR: Ciphers = [
    lc::EVP_aes_128_ctr,
    lc::EVP_aes_192_ctr,
    lc::EVP_aes_256_ctr,
];

/// The cipher for a key.
///
/// # Errors
/// [`Error::InvalidKey`]: AES has no key of that length.
pub(super) fn cipher(ciphers: Ciphers, key: &[u8]) -> Result<*const lc::EVP_CIPHER> {
    let of_length = match key.len() {
        16 => ciphers[0],
        24 => ciphers[1],
        32 => ciphers[2],
        _ => return Err(Error::InvalidKey),
    };
    // SAFETY: these functions answer static algorithms and have no preconditions.
    Ok(unsafe { of_length() })
}

/// Begins to encrypt, or to decrypt, with that key of 16, 24 or 32 bytes.
///
/// # Errors
/// [`Error::InvalidKey`]: AES has no key of that length.
pub fn begin(key: &[u8], mode: Mode<'_>, seal: bool) -> Result<BlockCipher> {
    let (ciphers, iv, unit) = match mode {
        Mode::Ecb => (ECB, ptr::null(), BLOCK),
        Mode::Cbc(iv) => (CBC, iv.as_ptr(), BLOCK),
        Mode::Ctr(iv) => (CTR, iv.as_ptr(), 1),
    };
    // SAFETY: the key is as long as the cipher asks, the vector a block.
    unsafe { BlockCipher::new(cipher(ciphers, key)?, (key.as_ptr(), iv), seal, unit) }
}

/// CTR with a counter of fewer bits than a block has: it comes round within them.
pub struct Counter {
    aes: BlockCipher,
    /// The block in which all that is counted is zero.
    zero: u128,
    /// How many bytes come before that block.
    before_zero: u128,
    /// How many bytes come before any block comes again.
    left: u128,
}

impl Counter {
    /// Begins with a block whose last `bits` are counted.
    ///
    /// # Errors
    /// [`Error::InvalidKey`]: AES has no key of that length. [`Error::InvalidInput`]: not 1 to 128 bits.
    pub fn new(key: &[u8], first: &Block, bits: u32) -> Result<Self> {
        let mask = match bits {
            1..=128 => u128::MAX >> (128 - bits),
            _ => return Err(Error::InvalidInput),
        };
        let number = u128::from_be_bytes(*first);
        let bytes = |blocks: u128| blocks.saturating_add(1).saturating_mul(BLOCK as u128);
        Ok(Self {
            aes: begin(key, Mode::Ctr(first), true)?,
            zero: number & !mask,
            before_zero: bytes(mask - (number & mask)),
            left: bytes(mask),
        })
    }

    /// Encrypts or decrypts, which is the same.
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: a block would come again. Nothing is encrypted.
    pub fn update(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<()> {
        let length = data.len() as u128;
        self.left = self.left.checked_sub(length).ok_or(Error::InvalidInput)?;
        if length <= self.before_zero {
            self.before_zero -= length;
            return self.aes.update(data);
        }
        // INVARIANT: less than the data's length.
        let (before, after) = data.split_at(self.before_zero as usize);
        self.aes.update(before)?;
        let zero = self.zero.to_be_bytes();
        // SAFETY: the vector is a block.
        unsafe { self.aes.init(ptr::null(), ptr::null(), zero.as_ptr())? };
        self.before_zero = u128::MAX;
        self.aes.update(after)
    }
}

/// Encrypts one block.
///
/// # Errors
/// [`Error::InvalidKey`]: AES has no key of that length.
pub fn encrypt_block(key: &[u8], block: &Block) -> Result<Zeroizing<Block>> {
    let schedule = Schedule::new(key, true)?;
    let mut output = Zeroizing::new([0; BLOCK]);
    // SAFETY: both have a block's length.
    unsafe { lc::AES_encrypt(block.as_ptr(), output.as_mut_ptr(), schedule.as_ptr()) };
    Ok(output)
}

/// The round keys of a key: on the heap, where moving them leaves no copy behind. Wiped when dropped.
pub(super) struct Schedule(Box<MaybeUninit<lc::AES_KEY>>);

impl Schedule {
    /// To encrypt, or to decrypt.
    pub(super) fn new(key: &[u8], seal: bool) -> Result<Self> {
        let mut schedule = Self(Box::new(MaybeUninit::zeroed()));
        let bits = (8 * key.len()) as c_uint;
        let set = match seal {
            true => lc::AES_set_encrypt_key,
            false => lc::AES_set_decrypt_key,
        };
        // SAFETY: room for a schedule; reads as many bytes as there are, or none of a key that AES does not have.
        let answer = unsafe { set(key.as_ptr(), bits, schedule.0.as_mut_ptr()) };
        check(c_int::from(answer == 0), Error::InvalidKey)?;
        Ok(schedule)
    }

    pub(super) fn as_ptr(&self) -> *const lc::AES_KEY {
        self.0.as_ptr()
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        // SAFETY: as many bytes as it has.
        unsafe { lc::OPENSSL_cleanse(self.0.as_mut_ptr().cast(), size_of::<lc::AES_KEY>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 16] = *b"sixteen bytes!!!";

    fn counted(first: u128, bits: u32, pieces: &[usize]) -> Result<Vec<u8>> {
        let mut counter = Counter::new(&KEY, &first.to_be_bytes(), bits)?;
        let mut stream = vec![0; pieces.iter().sum()];
        let mut rest = &mut stream[..];
        for &piece in pieces {
            let (now, later) = rest.split_at_mut(piece);
            counter.update(InOutBuf::from(now))?;
            rest = later;
        }
        Ok(stream)
    }

    /// SP 800-38A, 6.5: each block of the stream is an encrypted number.
    #[test]
    fn a_counter_comes_round_within_its_bits() {
        let prefix = 0xfeed << 64;
        for (bits, first) in [
            (128, u128::MAX - 1),
            (128, prefix),
            (8, prefix + 254),
            (2, prefix + 3),
        ] {
            let mask = u128::MAX >> (128 - bits);
            let mut expected = Vec::new();
            for block in 0..4 {
                let number = first & !mask | first.wrapping_add(block) & mask;
                expected.extend_from_slice(&*encrypt_block(&KEY, &number.to_be_bytes()).unwrap());
            }
            for pieces in [&[64][..], &[1, 15, 33, 15], &[17, 47]] {
                assert_eq!(counted(first, bits, pieces).unwrap(), expected, "{bits}");
            }
        }
    }

    #[test]
    fn a_counter_never_comes_to_the_same_block_twice() {
        assert!(counted(5, 2, &[64]).is_ok());
        assert_eq!(counted(5, 2, &[64, 1]), Err(Error::InvalidInput));
        assert_eq!(counted(5, 2, &[65]), Err(Error::InvalidInput));
        for bits in [0, 129] {
            assert_eq!(counted(5, bits, &[]), Err(Error::InvalidInput));
        }
    }

    /// FIPS 197, appendix C.1.
    #[test]
    fn one_block_is_that_of_fips_197() {
        let key: Vec<u8> = (0..16).collect();
        let block = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128.to_be_bytes();
        let encrypted = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128.to_be_bytes();
        assert_eq!(*encrypt_block(&key, &block).unwrap(), encrypted);
        let mut both = [encrypted, encrypted].concat();
        let mut aes = begin(&key, Mode::Ecb, false).unwrap();
        aes.update(InOutBuf::from(&mut both[..])).unwrap();
        assert_eq!(both, [block, block].concat());
        let refused = aes.update(InOutBuf::from(&mut both[..17]));
        assert_eq!(refused, Err(Error::InvalidInput));
    }
}
