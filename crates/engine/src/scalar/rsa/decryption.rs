//! What follows the private operation of RSA decryption: the padding is taken off (RFC 8017, 7).
//!
//! ```text
//! ciphertext ──▶ private operation ──▶ block ──┬─ PKCS #1 v1.5, right ──▶ the message
//!                (cards, lanes)                ├─ PKCS #1 v1.5, wrong ──▶ a message that the key and the ciphertext decide
//!                                              ├─ OAEP, right ──────────▶ the message
//!                                              └─ OAEP, wrong ──────────▶ one error, whatever is wrong
//! ```
//!
//! Who learns often enough whether a padding of PKCS #1 v1.5 was right decrypts and signs with the key (Bleichenbacher
//! 1998). So nobody learns it: a wrong padding gives a message, too, and always the same one (*implicit rejection*,
//! draft-irtf-cfrg-rsa-guidance). It is the message of OpenSSL 3.2 and later, byte for byte.
//!
//! Nothing here branches on the block or reads memory at a place that depends on it. Only the last step of OAEP does,
//! when it tells whether there is a message.

use aws_lc_sys as lc;
use subtle::{
    Choice, ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater, ConstantTimeLess,
};
use zeroize::Zeroizing;

use super::{Key, bytes_of_length};
use crate::error::{Error, Result};
use crate::fork;
use crate::scalar::digest::{Digest, Hasher, Value};
use crate::scalar::hmac::{self, Hash};
use crate::scalar::wipe::wiped;

/// The length of the secret that a TLS client encrypts (RFC 5246, 7.4.7.1).
pub const PREMASTER: usize = 48;

/// A message in room as long as the modulus, so that the room tells nothing of its length: zeros, then the message.
pub struct Message {
    /// The room.
    pub room: Zeroizing<Vec<u8>>,
    /// How many of the last bytes are the message.
    pub length: u32,
}

/// The versions that may stand in the secret of a TLS client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The version that the client offered.
    pub offered: u16,
    /// The version that was negotiated, for clients that wrongly send that one.
    pub negotiated: Option<u16>,
}

/// How a ciphertext whose padding is wrong is rejected: what the messages are drawn from that take its place.
pub struct Rejection(Zeroizing<[u8; 32]>);

impl Key {
    /// A ciphertext as the private operation takes it: as long as the modulus, leading zeros added.
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: it is empty, longer than the modulus or not below it.
    pub fn ciphertext(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let zeros = self.length.checked_sub(bytes.len());
        let zeros = zeros.filter(|_| !bytes.is_empty());
        let mut block = vec![0; zeros.ok_or(Error::InvalidInput)?];
        block.extend_from_slice(bytes);
        // SAFETY: a live key, whose modulus never changes.
        let modulus = unsafe { bytes_of_length(lc::RSA_get0_n(self.rsa.as_ptr()), self.length) };
        match modulus.is_some_and(|modulus| block < *modulus) {
            true => Ok(block),
            false => Err(Error::InvalidInput),
        }
    }

    /// The rejection of a ciphertext that [`Key::ciphertext`] made: HMAC-SHA-256 of it, under the hash of the private
    /// exponent (draft-irtf-cfrg-rsa-guidance).
    ///
    /// # Errors
    /// [`Error::NoPrivateKey`].
    pub fn rejection(&self, ciphertext: &[u8]) -> Result<Rejection> {
        fork::ready();
        // SAFETY: null, or a live number of a live key, which never changes.
        let exponent = unsafe { bytes_of_length(lc::RSA_get0_d(self.rsa.as_ptr()), self.length) };
        let exponent = exponent.ok_or(Error::NoPrivateKey)?;
        let mut key = Zeroizing::new([0; 32]);
        wiped(|| {
            let exponent = Hash::SHA256.of(&exponent);
            key.copy_from_slice(&hmac::Key::new(Hash::SHA256, &exponent).code(&[ciphertext]));
        });
        Ok(Rejection(key))
    }
}

impl Rejection {
    /// Takes the padding of PKCS #1 v1.5 off (RFC 8017, 7.2.2): 00 02, at least eight bytes that are not zero, 00, the
    /// message. `block` is what the private operation gave, at least as long as the shortest modulus.
    pub fn message(&self, block: &[u8]) -> Message {
        // INVARIANT: at most `MAX_LENGTH` bytes.
        let length = block.len() as u32;
        let mut room = Zeroizing::new(vec![0; block.len()]);
        self.draw(b"message", &mut room);
        let drawn = self.length(length - 10);
        let (mut separator, mut is_found) = (0, Choice::from(0));
        for (place, byte) in (0..).zip(block).skip(2) {
            let is_zero = byte.ct_eq(&0);
            separator.conditional_assign(&place, is_zero & !is_found);
            is_found |= is_zero;
        }
        let good = block[0].ct_eq(&0) & block[1].ct_eq(&2) & !separator.ct_lt(&10);
        for (byte, real) in room.iter_mut().zip(block) {
            byte.conditional_assign(real, good);
        }
        let real = length.wrapping_sub(separator).wrapping_sub(1);
        Message::at_the_end(room, u32::conditional_select(&drawn, &real, good))
    }

    /// Takes the secret of a TLS client out of its message. If that is no such secret, or has another version, the
    /// answer is 48 bytes that nobody can tell from one (RFC 5246, 7.4.7.1). They are always the same for the same
    /// ciphertext and versions: nobody learns more by a second question.
    pub fn premaster(&self, block: &[u8], versions: Versions) -> Zeroizing<[u8; PREMASTER]> {
        let message = self.message(block);
        let secret = &message.room[block.len() - PREMASTER..];
        let has = |version: u16| {
            let [high, low] = version.to_be_bytes();
            secret[0].ct_eq(&high) & secret[1].ct_eq(&low)
        };
        let mut good = has(versions.offered);
        let mut label = b"premaster secret".to_vec();
        label.extend_from_slice(&versions.offered.to_be_bytes());
        if let Some(negotiated) = versions.negotiated {
            good |= has(negotiated);
            label.extend_from_slice(&negotiated.to_be_bytes());
        }
        good &= message.length.ct_eq(&(PREMASTER as u32));
        let mut answer = Zeroizing::new([0; PREMASTER]);
        self.draw(&label, &mut answer[..]);
        for (byte, real) in answer.iter_mut().zip(secret) {
            byte.conditional_assign(real, good);
        }
        answer
    }

    /// Fills `bytes` with what a label names.
    fn draw(&self, label: &[u8], bytes: &mut [u8]) {
        // INVARIANT: at most `MAX_LENGTH` bytes.
        let bits = (8 * bytes.len() as u16).to_be_bytes();
        wiped(|| {
            let key = hmac::Key::new(Hash::SHA256, &self.0[..]);
            for (number, bytes) in (0_u16..).zip(bytes.chunks_mut(32)) {
                let code = key.code(&[&number.to_be_bytes(), label, &bits]);
                bytes.copy_from_slice(&code[..bytes.len()]);
            }
        });
    }

    /// The length of the message that takes a wrong one's place: the last of 128 that is below the most.
    fn length(&self, most: u32) -> u32 {
        let mut candidates = Zeroizing::new([0; 256]);
        self.draw(b"length", &mut candidates[..]);
        let mask = u32::MAX >> most.leading_zeros();
        let mut length = 0;
        for candidate in candidates.chunks_exact(2) {
            let candidate = u32::from(candidate[0]) << 8 | u32::from(candidate[1]);
            let candidate = candidate & mask;
            length.conditional_assign(&candidate, candidate.ct_lt(&most));
        }
        length
    }
}

impl Message {
    /// That many bytes at the end of the room, and nothing before them.
    fn at_the_end(mut room: Zeroizing<Vec<u8>>, length: u32) -> Self {
        let before = room.len() as u32 - length;
        for (place, byte) in (0..).zip(room.iter_mut()) {
            byte.conditional_assign(&0, before.ct_gt(&place));
        }
        Self { room, length }
    }
}

/// Takes the padding OAEP off (RFC 8017, 7.1.2). `block` is what the private operation gave.
///
/// # Errors
/// [`Error::InvalidInput`]: the key is too short for the digest. [`Error::Failed`]: all else that is wrong.
pub fn oaep(block: &[u8], digest: Digest, mgf1: Digest, label: &[u8]) -> Result<Message> {
    let (is_good, message) = unmasked(block, digest, mgf1, label)?;
    match bool::from(is_good) {
        true => Ok(message),
        false => Err(Error::Failed),
    }
}

/// Whether the padding OAEP is right, and the message if so.
fn unmasked(block: &[u8], digest: Digest, mgf1: Digest, label: &[u8]) -> Result<(Choice, Message)> {
    let seed_length = digest.length();
    if block.len() < 2 * seed_length + 2 {
        return Err(Error::InvalidInput);
    }
    let mut room = Zeroizing::new(block.to_vec());
    let (is_good, length) = wiped(|| {
        let (seed, data) = room[1..].split_at_mut(seed_length);
        mask(seed, data, mgf1)?;
        mask(data, seed, mgf1)?;
        let mut is_good = block[0].ct_eq(&0);
        let (hash, rest) = data.split_at(seed_length);
        is_good &= hash.ct_eq(&hashed(digest, &[label])?[..]);
        // Zeros, 01, the message.
        let (mut separator, mut is_found) = (0_u32, Choice::from(0));
        for (place, byte) in (0..).zip(rest) {
            let is_one = byte.ct_eq(&1);
            separator.conditional_assign(&place, is_one & !is_found);
            is_found |= is_one;
            is_good &= byte.ct_eq(&0) | is_found;
        }
        is_good &= is_found;
        Ok((is_good, rest.len() as u32 - 1 - separator))
    })?;
    Ok((is_good, Message::at_the_end(room, length)))
}

/// Adds the mask that MGF1 makes of a seed (RFC 8017, B.2.1).
fn mask(bytes: &mut [u8], seed: &[u8], digest: Digest) -> Result<()> {
    for (number, bytes) in (0_u32..).zip(bytes.chunks_mut(digest.length())) {
        let mask = hashed(digest, &[seed, &number.to_be_bytes()])?;
        bytes
            .iter_mut()
            .zip(&mask[..])
            .for_each(|(byte, mask)| *byte ^= mask);
    }
    Ok(())
}

fn hashed(digest: Digest, parts: &[&[u8]]) -> Result<Value> {
    let mut hasher = Hasher::new(digest)?;
    parts.iter().try_for_each(|part| hasher.update(part))?;
    hasher.finish_in_place()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: usize = 256;

    fn rejection() -> Rejection {
        Rejection(Zeroizing::new([7; 32]))
    }

    fn padded(message: &[u8]) -> Vec<u8> {
        let mut block = vec![0xa5; LENGTH];
        block[..2].copy_from_slice(&[0, 2]);
        let zero = LENGTH - message.len() - 1;
        block[zero] = 0;
        block[zero + 1..].copy_from_slice(message);
        block
    }

    fn bytes(message: &Message) -> &[u8] {
        let (zeros, bytes) = message
            .room
            .split_at(message.room.len() - message.length as usize);
        assert!(zeros.iter().all(|&byte| byte == 0));
        bytes
    }

    #[test]
    fn a_right_padding_gives_the_message() {
        for length in 0..=LENGTH - 11 {
            let message: Vec<u8> = (0..length).map(|place| place as u8).collect();
            let found = rejection().message(&padded(&message));
            assert_eq!(bytes(&found), message);
        }
    }

    #[test]
    fn a_wrong_padding_gives_a_message_that_the_key_decides() {
        let other = rejection().message(&[0xff; LENGTH]);
        let with = |place: usize, value: u8| {
            let mut block = padded(b"hello");
            block[place] = value;
            block
        };
        let mut endless = padded(b"");
        endless[LENGTH - 1] = 1;
        let shorts = (2..10).map(|place| with(place, 0));
        let wrong = [with(0, 1), with(1, 1), with(1, 3), endless];
        for block in shorts.chain(wrong) {
            assert_eq!(bytes(&rejection().message(&block)), bytes(&other));
        }
        assert_eq!(bytes(&rejection().message(&with(10, 0))).len(), LENGTH - 11);
        let drawn = Rejection(Zeroizing::new([8; 32])).message(&[0xff; LENGTH]);
        assert_ne!(bytes(&drawn), bytes(&other));
    }

    #[test]
    fn a_drawn_message_has_every_length() {
        for most in [246, 256, 257, 374, 502] {
            let mut seen = vec![false; most];
            for number in 0..20 {
                for second in 0..=u8::MAX {
                    let mut key = Zeroizing::new([number; 32]);
                    key[1] = second;
                    seen[Rejection(key).length(most as u32) as usize] = true;
                }
            }
            assert!(!seen.contains(&false), "{most}");
        }
    }

    #[test]
    fn a_tls_secret_has_the_right_version_and_length() {
        let ask = |message: &[u8], offered, negotiated| {
            let versions = Versions {
                offered,
                negotiated,
            };
            rejection().premaster(&padded(message), versions)
        };
        let mut secret = [0x5a; PREMASTER];
        secret[..2].copy_from_slice(&[3, 3]);
        assert_eq!(*ask(&secret, 0x0303, None), secret);
        assert_eq!(*ask(&secret, 0x0304, Some(0x0303)), secret);
        let refused = ask(&secret, 0x0302, None);
        assert_ne!(*refused, secret);
        // Whatever is wrong: the same bytes.
        for message in [&secret[..47], &[0; 49], b"", &[0x5a; PREMASTER]] {
            assert_eq!(ask(message, 0x0302, None), refused);
        }
        assert_ne!(ask(&secret, 0x0302, Some(0x0301)), refused);
        let longer = [&[1], &secret[..]].concat();
        assert_ne!(*ask(&longer, 0x0303, None), secret);
        let versions = Versions {
            offered: 0x0302,
            negotiated: None,
        };
        let damaged = rejection().premaster(&[0xff; LENGTH], versions);
        assert_eq!(damaged, refused);
    }

    const DIGESTS: [Digest; 5] = [
        Digest::Sha1,
        Digest::Sha224,
        Digest::Sha256,
        Digest::Sha384,
        Digest::Sha512,
    ];

    fn oaep_padded(message: &[u8], digest: Digest, mgf1: Digest, label: &[u8]) -> Vec<u8> {
        let mut block = vec![0; LENGTH];
        // SAFETY: writes and reads as many bytes as there are, with static digests.
        let answer = unsafe {
            lc::RSA_padding_add_PKCS1_OAEP_mgf1(
                block.as_mut_ptr(),
                block.len(),
                message.as_ptr(),
                message.len(),
                label.as_ptr(),
                label.len(),
                digest.algorithm(),
                mgf1.algorithm(),
            )
        };
        assert_eq!(answer, 1);
        block
    }

    #[test]
    fn oaep_gives_the_message() {
        for digest in DIGESTS {
            for mgf1 in DIGESTS {
                let most = LENGTH - 2 * digest.length() - 2;
                for length in [0, 1, most / 2, most] {
                    let block = oaep_padded(&vec![1; length], digest, mgf1, b"label");
                    let message = oaep(&block, digest, mgf1, b"label").unwrap();
                    assert_eq!(bytes(&message), vec![1; length]);
                    let refused = oaep(&block, digest, mgf1, b"other").err();
                    assert_eq!(refused, Some(Error::Failed));
                }
            }
        }
    }

    /// The hash of the label, then `rest`, as an encryption masks them.
    fn masked(rest: &[u8], digest: Digest) -> Vec<u8> {
        let hash = hashed(digest, &[b""]).unwrap();
        let mut data = [&hash[..], rest].concat();
        let mut seed = vec![7; digest.length()];
        mask(&mut data, &seed, digest).unwrap();
        mask(&mut seed, &data, digest).unwrap();
        [&[0], &seed[..], &data].concat()
    }

    #[test]
    fn oaep_refuses_what_stands_before_the_message() {
        let digest = Digest::Sha256;
        let of = |rest: &[u8]| oaep(&masked(rest, digest), digest, digest, b"");
        let good = of(&[0, 0, 0, 1, 9, 1]).unwrap();
        assert_eq!(bytes(&good), [9, 1]);
        for rest in [&[0, 5, 0, 1, 9][..], &[2, 1, 9], &[0, 0, 0, 2], &[0; 9]] {
            assert_eq!(of(rest).err(), Some(Error::Failed), "{rest:?}");
        }
    }

    #[test]
    fn oaep_refuses_what_was_changed() {
        let (digest, mgf1) = (Digest::Sha256, Digest::Sha1);
        let block = oaep_padded(b"", digest, mgf1, b"");
        for place in 0..LENGTH {
            for bit in 0..8 {
                let mut changed = block.clone();
                changed[place] ^= 1 << bit;
                let refused = oaep(&changed, digest, mgf1, b"").err();
                assert_eq!(refused, Some(Error::Failed), "{place}");
            }
        }
        let short = oaep(&block[..65], digest, mgf1, b"").err();
        assert_eq!(short, Some(Error::InvalidInput));
    }

    /// Valgrind follows what is secret (`make engine-secrets`); without it, this shows nothing.
    mod secrets {
        use super::*;
        use outboard_valgrind::{complaints, hide};

        /// Blocks with a right padding and with wrong ones, secret.
        fn hidden(right: Vec<u8>) -> Vec<Vec<u8>> {
            let mut blocks = vec![right.clone(), vec![0; LENGTH], vec![0xff; LENGTH]];
            for place in [0, 1, 5, LENGTH / 2, LENGTH - 1] {
                let mut wrong = right.clone();
                wrong[place] ^= 1;
                blocks.push(wrong);
            }
            blocks.iter().for_each(|block| hide(&block[..]));
            blocks
        }

        fn hidden_rejection() -> Rejection {
            let rejection = rejection();
            hide(&rejection.0[..]);
            rejection
        }

        #[test]
        fn nothing_depends_on_a_message_of_pkcs1() {
            for message in [&[0x5a; 48][..], &[], &[0; LENGTH - 11]] {
                for block in hidden(padded(message)) {
                    let rejection = hidden_rejection();
                    assert_eq!(complaints(|| rejection.message(&block)), 0);
                }
            }
        }

        #[test]
        fn nothing_depends_on_the_secret_of_a_tls_client() {
            let mut secret = [0x5a; PREMASTER];
            secret[..2].copy_from_slice(&[3, 3]);
            for negotiated in [None, Some(0x0303)] {
                let versions = Versions {
                    offered: 0x0303,
                    negotiated,
                };
                for block in hidden(padded(&secret)) {
                    let rejection = hidden_rejection();
                    assert_eq!(complaints(|| rejection.premaster(&block, versions)), 0);
                }
            }
        }

        #[test]
        fn nothing_depends_on_a_message_of_oaep() {
            for digest in DIGESTS {
                for block in hidden(oaep_padded(b"hello", digest, Digest::Sha1, b"label")) {
                    let unpad = || unmasked(&block, digest, Digest::Sha1, b"label");
                    assert_eq!(complaints(unpad), 0);
                }
            }
        }
    }
}
