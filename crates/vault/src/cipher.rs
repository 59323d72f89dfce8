//! What the vault asks of AWS-LC: AES-256-GCM-SIV (RFC 8452), SHA-256, HMAC (RFC 2104), scrypt (RFC 7914), random bytes.

use std::ptr::{self, NonNull};

use aws_lc_sys as lc;
use outboard_engine::{fork, scalar};
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// Bytes of a nonce.
pub(crate) const NONCE: usize = 12;
/// Bytes that a sealed message has more than the message.
const TAG: usize = 16;
/// The most bytes that scrypt may take.
const MOST_MEMORY: usize = 64 << 20;

/// SHA-256 of some bytes.
pub(crate) fn sha256(data: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    // SAFETY: reads as many bytes as there are; the digest has 32. (It never fails.)
    unsafe { lc::SHA256(data.as_ptr(), data.len(), digest.as_mut_ptr()) };
    digest
}

/// HMAC with SHA-256.
pub(crate) fn hmac(key: &[u8], data: &[u8]) -> Result<Zeroizing<[u8; 32]>> {
    let _whole = fork::whole();
    let mut code = Zeroizing::new([0; 32]);
    // SAFETY: reads as many bytes as there are; the code has 32.
    let made = unsafe {
        lc::HMAC(
            lc::EVP_sha256(),
            key.as_ptr().cast(),
            key.len(),
            data.as_ptr(),
            data.len(),
            code.as_mut_ptr(),
            ptr::null_mut(),
        )
    };
    match made.is_null() {
        false => Ok(code),
        true => Err(failed("compute a code of authentication")),
    }
}

/// scrypt with r = 8 and p = 1. With N = 2^15 it takes 32 MiB, and about 100 ms.
pub(crate) fn scrypt(password: &[u8], salt: &[u8], n: u64) -> Result<Zeroizing<[u8; 32]>> {
    let _whole = fork::whole();
    let mut key = Zeroizing::new([0; 32]);
    // SAFETY: reads as many bytes as there are; the key has 32.
    let answer = unsafe {
        lc::EVP_PBE_scrypt(
            password.as_ptr().cast(),
            password.len(),
            salt.as_ptr(),
            salt.len(),
            n,
            8,
            1,
            MOST_MEMORY,
            key.as_mut_ptr(),
            key.len(),
        )
    };
    match answer {
        1 => Ok(key),
        _ => Err(failed("compute a PIN's verifier")),
    }
}

/// Whether two codes are equal, in a time that does not tell where they differ.
pub(crate) fn equal(one: &[u8], other: &[u8]) -> bool {
    // SAFETY: both have that many bytes.
    one.len() == other.len()
        && unsafe { lc::CRYPTO_memcmp(one.as_ptr().cast(), other.as_ptr().cast(), one.len()) } == 0
}

/// Random bytes that are fit for keys.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    scalar::randomise(&mut bytes).map_err(|_| Error::Resource {
        action: "draw random bytes",
    })?;
    Ok(bytes)
}

/// Seals a message.
pub(crate) fn seal(
    key: &[u8],
    nonce: &[u8; NONCE],
    message: &[u8],
    authenticated: &[u8],
) -> Result<Vec<u8>> {
    let cipher = Cipher::new(key)?;
    let mut sealed = vec![0; message.len() + TAG];
    let mut length = 0;
    // SAFETY: a live context; reads as many bytes as there are, and writes as many as there is room for at most.
    let answer = unsafe {
        lc::EVP_AEAD_CTX_seal(
            cipher.0.as_ptr(),
            sealed.as_mut_ptr(),
            &raw mut length,
            sealed.len(),
            nonce.as_ptr(),
            nonce.len(),
            message.as_ptr(),
            message.len(),
            authenticated.as_ptr(),
            authenticated.len(),
        )
    };
    match answer == 1 && length == sealed.len() {
        true => Ok(sealed),
        false => Err(failed("wrap a key")),
    }
}

/// Opens a sealed message. `None`: it is not what was sealed with that key, nonce and authenticated bytes.
pub(crate) fn open(
    key: &[u8],
    nonce: &[u8],
    sealed: &[u8],
    authenticated: &[u8],
) -> Result<Option<Zeroizing<Vec<u8>>>> {
    if nonce.len() != NONCE || sealed.len() < TAG {
        return Ok(None);
    }
    let cipher = Cipher::new(key)?;
    let mut message = Zeroizing::new(vec![0; sealed.len() - TAG]);
    // AWS-LC may want room for the tag, too: none is written.
    let mut length = 0;
    // SAFETY: as above.
    let answer = unsafe {
        lc::EVP_AEAD_CTX_open(
            cipher.0.as_ptr(),
            message.as_mut_ptr(),
            &raw mut length,
            message.len(),
            nonce.as_ptr(),
            nonce.len(),
            sealed.as_ptr(),
            sealed.len(),
            authenticated.as_ptr(),
            authenticated.len(),
        )
    };
    if answer != 1 || length != message.len() {
        clear_errors();
        return Ok(None);
    }
    Ok(Some(message))
}

/// AES-256-GCM-SIV with a key. AWS-LC wipes its key schedule when it is freed.
struct Cipher(NonNull<lc::EVP_AEAD_CTX>);

impl Cipher {
    fn new(key: &[u8]) -> Result<Self> {
        let _whole = fork::whole();
        // SAFETY: a static algorithm; reads as many bytes as there are, and refuses another length than its own.
        let context = unsafe {
            let algorithm = lc::EVP_aead_aes_256_gcm_siv();
            lc::EVP_AEAD_CTX_new(algorithm, key.as_ptr(), key.len(), TAG)
        };
        match NonNull::new(context) {
            Some(context) => Ok(Self(context)),
            None => Err(failed("prepare a master key")),
        }
    }
}

impl Drop for Cipher {
    fn drop(&mut self) {
        // SAFETY: live, and dropped once.
        unsafe { lc::EVP_AEAD_CTX_free(self.0.as_ptr()) };
    }
}

fn failed(action: &'static str) -> Error {
    clear_errors();
    Error::Resource { action }
}

/// The details stay out of AWS-LC's own error queue.
fn clear_errors() {
    fork::ready();
    // SAFETY: clears this thread's queue, which belongs to our copy of AWS-LC alone.
    unsafe { lc::ERR_clear_error() };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
        (0..hex.len()).step_by(2).map(digit).collect()
    }

    /// RFC 8452, appendix C.2: AEAD_AES_256_GCM_SIV, 8 bytes of plaintext, 1 byte of additional data.
    #[test]
    fn sealing_is_that_of_rfc_8452() {
        let key = bytes("0100000000000000000000000000000000000000000000000000000000000000");
        let nonce = bytes("030000000000000000000000")
            .try_into()
            .expect("12 bytes");
        let sealed = seal(&key, &nonce, &bytes("0200000000000000"), &[1]).expect("memory");
        assert_eq!(
            sealed,
            bytes("1de22967237a813291213f267e3b452f02d01ae33e4ec854")
        );
        let opened = open(&key, &nonce, &sealed, &[1])
            .expect("memory")
            .expect("ours");
        assert_eq!(opened[..], bytes("0200000000000000"));
        assert!(open(&key, &nonce, &sealed, &[2]).expect("memory").is_none());
        assert!(
            open(&key, &nonce, &sealed[..15], &[1])
                .expect("memory")
                .is_none()
        );
        assert!(
            open(&key, &nonce[..11], &sealed, &[1])
                .expect("memory")
                .is_none()
        );
    }

    /// RFC 7914, chapter 12; the first 32 of 64 bytes.
    #[test]
    fn verifiers_are_those_of_rfc_7914() {
        let key = scrypt(b"pleaseletmein", b"SodiumChloride", 16_384).expect("memory");
        let wanted = "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2";
        assert_eq!(key[..], bytes(wanted));
    }

    /// RFC 4231, test case 2; FIPS 180-4's "abc".
    #[test]
    fn codes_and_digests_are_the_standards() {
        let code = hmac(b"Jefe", b"what do ya want for nothing?").expect("memory");
        assert_eq!(code[..4], [0x5b, 0xdc, 0xc1, 0x46]);
        assert_eq!(sha256(b"abc")[..4], [0xba, 0x78, 0x16, 0xbf]);
        assert!(equal(b"abc", b"abc") && !equal(b"abc", b"abd") && !equal(b"abc", b"ab"));
    }
}
