//! DES, single and triple, on blocks (FIPS 46-3, SP 800-67): what PINs and MACs of cards are made with.
//!
//! AWS-LC's DES looks its S-boxes up in tables. Who shares the processor's first-level cache with this process may learn of
//! the key by what is evicted: `docs/coprocessor.md` says so.

use std::mem::MaybeUninit;

use aws_lc_sys as lc;
use outboard_engine::scalar::wipe;
use zeroize::Zeroizing;

/// Bytes of a block.
pub(crate) const BLOCK: usize = 8;

/// A block.
pub(crate) type Block = [u8; BLOCK];

/// A key of one, two or three parts, ready to compute with.
pub(crate) struct Cipher {
    first: Schedule,
    /// None of a key of one part.
    others: Option<(Schedule, Schedule)>,
}

struct Schedule(lc::DES_key_schedule);

impl Schedule {
    fn new(part: &[u8]) -> Self {
        let mut key = lc::DES_cblock { bytes: [0; BLOCK] };
        key.bytes.copy_from_slice(part);
        let mut schedule = MaybeUninit::uninit();
        // SAFETY: reads a key's eight bytes, and fills the schedule. The parity is not asked.
        let schedule = unsafe {
            lc::DES_set_key_unchecked(&raw const key, schedule.as_mut_ptr());
            schedule.assume_init()
        };
        wipe(&mut key.bytes);
        Self(schedule)
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        let start = (&raw mut self.0).cast::<u8>();
        // SAFETY: the schedule's own bytes; any bytes are valid in it.
        wipe(unsafe { std::slice::from_raw_parts_mut(start, size_of::<lc::DES_key_schedule>()) });
    }
}

impl Cipher {
    /// Of 8, 16 or 24 bytes; None of another length. Of two parts, the first is the third, too.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        let part = |number: usize| Schedule::new(&key[number * BLOCK..][..BLOCK]);
        let others = match key.len() {
            8 => None,
            16 => Some((part(1), part(0))),
            24 => Some((part(1), part(2))),
            _ => return None,
        };
        Some(Self {
            first: part(0),
            others,
        })
    }

    pub(crate) fn encrypt(&self, block: &mut Block) {
        self.run(block, true);
    }

    pub(crate) fn decrypt(&self, block: &mut Block) {
        self.run(block, false);
    }

    fn run(&self, block: &mut Block, is_encrypt: bool) {
        let mut input = lc::DES_cblock { bytes: *block };
        let mut output = lc::DES_cblock { bytes: [0; BLOCK] };
        let mode = i32::from(is_encrypt);
        // SAFETY: live schedules; reads and writes a block each.
        unsafe {
            match &self.others {
                None => lc::DES_ecb_encrypt(
                    &raw const input,
                    &raw mut output,
                    &raw const self.first.0,
                    mode,
                ),
                Some((second, third)) => lc::DES_ecb3_encrypt(
                    &raw const input,
                    &raw mut output,
                    &raw const self.first.0,
                    &raw const second.0,
                    &raw const third.0,
                    mode,
                ),
            }
        }
        *block = output.bytes;
        wipe(&mut input.bytes);
        wipe(&mut output.bytes);
    }

    /// Encrypts whole blocks in place by CBC; the vector becomes the last ciphertext.
    pub(crate) fn encrypt_cbc(&self, vector: &mut Block, data: &mut [u8]) {
        for block in data.as_chunks_mut::<BLOCK>().0 {
            xor(block, vector);
            self.encrypt(block);
            *vector = *block;
        }
    }

    /// Decrypts whole blocks in place by CBC; the vector becomes the last ciphertext.
    pub(crate) fn decrypt_cbc(&self, vector: &mut Block, data: &mut [u8]) {
        for block in data.as_chunks_mut::<BLOCK>().0 {
            let ciphertext = *block;
            self.decrypt(block);
            xor(block, vector);
            *vector = ciphertext;
        }
    }
}

/// One block encrypted by a key of 8, 16 or 24 bytes. None of another length.
pub(crate) fn encrypted(key: &[u8], block: &Block) -> Option<Zeroizing<Block>> {
    let mut output = Zeroizing::new(*block);
    Cipher::new(key)?.encrypt(&mut output);
    Some(output)
}

/// Adds (XOR) the other bytes, as far as there are.
pub(crate) fn xor(bytes: &mut [u8], other: &[u8]) {
    bytes
        .iter_mut()
        .zip(other)
        .for_each(|(byte, other)| *byte ^= other);
}

/// FIPS 81's example.
pub(crate) fn known_answer() -> bool {
    let key = 0x0123_4567_89ab_cdef_u64.to_be_bytes();
    encrypted(&key, b"Now is t")
        .is_some_and(|block| *block == 0x3fa4_0e8a_984d_4815_u64.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn des_is_that_of_the_standard() {
        assert!(known_answer());
        let key = [
            0x0123_4567_89ab_cdef_u64,
            0x2345_6789_abcd_ef01,
            0x4567_89ab_cdef_0123,
        ];
        let key = key.map(u64::to_be_bytes).concat();
        let mut block = *b"The qufc";
        let cipher = Cipher::new(&key).unwrap();
        cipher.encrypt(&mut block);
        assert_eq!(
            block,
            0xa826_fd8c_e53b_855f_u64.to_be_bytes(),
            "SP 800-67, B.1"
        );
        cipher.decrypt(&mut block);
        assert_eq!(block, *b"The qufc");
        assert!(Cipher::new(&key[..15]).is_none());
    }

    #[test]
    fn cbc_goes_both_ways() {
        let cipher = Cipher::new(&[3; 16]).unwrap();
        let (mut data, mut vector) = ([9; 24], [1; 8]);
        cipher.encrypt_cbc(&mut vector, &mut data);
        assert_eq!(vector, data[16..]);
        assert_ne!(data[..8], data[8..16]);
        cipher.decrypt_cbc(&mut [1; 8], &mut data);
        assert_eq!(data, [9; 24]);
    }
}
