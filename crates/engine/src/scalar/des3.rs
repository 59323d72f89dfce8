//! Triple DES (SP 800-67), for what was encrypted long ago: its blocks are too short for much data.

use std::ptr;

use aws_lc_sys as lc;
use zeroize::Zeroizing;

use super::block_cipher::BlockCipher;
use crate::error::{Error, Result};

/// The length of a block, in bytes.
pub const BLOCK: usize = 8;

/// A block.
pub type Block = [u8; BLOCK];

/// A key with all three parts.
pub(super) type Key = Zeroizing<[u8; 3 * BLOCK]>;

/// Begins to encrypt, or to decrypt, with a key of two parts or of three: by CBC from that block on, or by ECB.
///
/// # Errors
/// [`Error::InvalidKey`]: not 16 or 24 bytes.
pub fn begin(key: &[u8], iv: Option<&Block>, seal: bool) -> Result<BlockCipher> {
    let key = whole(key)?;
    // SAFETY: these functions answer static algorithms; the key is as long as they ask, the vector a block.
    unsafe {
        let (cipher, iv) = match iv {
            Some(iv) => (lc::EVP_des_ede3_cbc(), iv.as_ptr()),
            None => (lc::EVP_des_ede3_ecb(), ptr::null()),
        };
        BlockCipher::new(cipher, (key.as_ptr(), iv), seal, BLOCK)
    }
}

/// Of two parts, the first is the third, too.
pub(super) fn whole(key: &[u8]) -> Result<Key> {
    let mut whole = Key::default();
    match key.len() {
        16 | 24 => {}
        _ => return Err(Error::InvalidKey),
    }
    whole[..key.len()].copy_from_slice(key);
    let first = &key[..BLOCK];
    if key.len() == 2 * BLOCK {
        whole[2 * BLOCK..].copy_from_slice(first);
    }
    Ok(whole)
}

/// Whether each byte has an odd number of bits, as those of a key have (SP 800-67, 3.1).
pub fn has_odd_parity(key: &[u8]) -> bool {
    key.iter()
        .fold(true, |odd, byte| odd & (byte.count_ones() % 2 == 1))
}

/// Gives each byte an odd number of bits: the last bit of each is no part of the key.
pub fn set_odd_parity(key: &mut [u8]) {
    for byte in key {
        *byte ^= u8::from(byte.count_ones() % 2 == 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inout::InOutBuf;

    /// SP 800-67 (revision 1), appendix B.1.
    #[test]
    fn blocks_are_those_of_sp_800_67() {
        let key = [
            0x0123_4567_89ab_cdef_u64,
            0x2345_6789_abcd_ef01,
            0x4567_89ab_cdef_0123,
        ];
        let key = key.map(u64::to_be_bytes).concat();
        assert!(has_odd_parity(&key));
        let mut blocks = *b"The qufck brown fox jump";
        let mut cipher = begin(&key, None, true).unwrap();
        cipher.update(InOutBuf::from(&mut blocks[..])).unwrap();
        let expected = [
            0xa826_fd8c_e53b_855f_u64,
            0xcce2_1c81_1225_6fe6,
            0x68d5_c05d_d9b6_b900,
        ];
        assert_eq!(blocks[..], expected.map(u64::to_be_bytes).concat());
        assert!(matches!(
            begin(&key[..8], None, true),
            Err(Error::InvalidKey)
        ));
        assert!(cipher.update(InOutBuf::from(&mut blocks[..9])).is_err());
    }

    #[test]
    fn the_third_part_of_two_is_the_first() {
        let mut key = [7, 9, 11].map(|part| [part; BLOCK]).concat();
        let encrypt = |key: &[u8]| {
            let mut block = *b"a block!";
            let mut cipher = begin(key, Some(&[1; BLOCK]), true).unwrap();
            cipher.update(InOutBuf::from(&mut block[..])).unwrap();
            block
        };
        let of_two = encrypt(&key[..16]);
        assert_ne!(of_two, encrypt(&key));
        key.copy_within(..BLOCK, 2 * BLOCK);
        assert_eq!(of_two, encrypt(&key));
        set_odd_parity(&mut key);
        assert!(has_odd_parity(&key) && key[0] == 7 && key[8] == 8);
    }
}
