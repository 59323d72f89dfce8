//! Hashes that go on in a later call: SHA-1 and SHA-2 (FIPS 180-4), whole blocks at a time.

use std::mem::MaybeUninit;

use aws_lc_sys as lc;
use outboard_engine::scalar::wipe;

/// A hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Sha1 = 1,
    Sha224 = 2,
    Sha256 = 3,
    Sha384 = 4,
    Sha512 = 5,
}

/// Bytes of what a later call goes on with.
pub(crate) const STATE: usize = 128;

/// A hash under way. It is wiped when it is dropped: the hash inside an HMAC is a secret.
pub(crate) enum Hash {
    Sha1(lc::SHA_CTX),
    Sha256(Algorithm, lc::SHA256_CTX),
    Sha512(Algorithm, lc::SHA512_CTX),
}

impl Algorithm {
    /// Bytes of a block: all text but the last must be whole blocks.
    pub(crate) fn block(self) -> usize {
        match self {
            Self::Sha384 | Self::Sha512 => 128,
            _ => 64,
        }
    }

    pub(crate) fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }
}

impl Hash {
    pub(crate) fn new(algorithm: Algorithm) -> Self {
        /// Begun by one of AWS-LC's functions, which never fail.
        fn begun<T>(begin: unsafe extern "C" fn(*mut T) -> i32) -> T {
            let mut context = MaybeUninit::uninit();
            // SAFETY: fills all fields of the context but those of its buffer, of which `num` says that none is used.
            unsafe {
                std::ptr::write_bytes(context.as_mut_ptr(), 0, 1);
                begin(context.as_mut_ptr());
                context.assume_init()
            }
        }
        match algorithm {
            Algorithm::Sha1 => Self::Sha1(begun(lc::SHA1_Init)),
            Algorithm::Sha224 => Self::Sha256(algorithm, begun(lc::SHA224_Init)),
            Algorithm::Sha256 => Self::Sha256(algorithm, begun(lc::SHA256_Init)),
            Algorithm::Sha384 => Self::Sha512(algorithm, begun(lc::SHA384_Init)),
            Algorithm::Sha512 => Self::Sha512(algorithm, begun(lc::SHA512_Init)),
        }
    }

    /// As [`Hash::state`] wrote it. None if it is that of another hash.
    pub(crate) fn resume(algorithm: Algorithm, state: &[u8]) -> Option<Self> {
        let state: &[u8; STATE] = state.get(..STATE)?.try_into().ok()?;
        let count = u64::from_be_bytes(state[64..72].try_into().ok()?);
        if state[72] != algorithm as u8
            || count % algorithm.block() as u64 != 0
            || count > u64::MAX / 8
        {
            return None;
        }
        let bits = count * 8;
        let words = state[..64]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| u32::from_be_bytes(*word));
        let long = state[..64]
            .as_chunks::<8>()
            .0
            .iter()
            .map(|word| u64::from_be_bytes(*word));
        let mut hash = Self::new(algorithm);
        match &mut hash {
            Self::Sha1(context) => {
                context
                    .h
                    .iter_mut()
                    .zip(words)
                    .for_each(|(to, word)| *to = word);
                (context.Nl, context.Nh) = (bits as u32, (bits >> 32) as u32);
            }
            Self::Sha256(_, context) => {
                context
                    .h
                    .iter_mut()
                    .zip(words)
                    .for_each(|(to, word)| *to = word);
                (context.Nl, context.Nh) = (bits as u32, (bits >> 32) as u32);
            }
            Self::Sha512(_, context) => {
                context
                    .h
                    .iter_mut()
                    .zip(long)
                    .for_each(|(to, word)| *to = word);
                (context.Nl, context.Nh) = (bits, 0);
            }
        }
        Some(hash)
    }

    /// What a later call goes on with, after whole blocks.
    pub(crate) fn state(&self) -> [u8; STATE] {
        let mut state = [0; STATE];
        let (words, bits, algorithm): (Vec<u8>, u64, Algorithm) = match self {
            Self::Sha1(context) => (
                context
                    .h
                    .iter()
                    .flat_map(|word| word.to_be_bytes())
                    .collect(),
                u64::from(context.Nh) << 32 | u64::from(context.Nl),
                Algorithm::Sha1,
            ),
            Self::Sha256(algorithm, context) => (
                context
                    .h
                    .iter()
                    .flat_map(|word| word.to_be_bytes())
                    .collect(),
                u64::from(context.Nh) << 32 | u64::from(context.Nl),
                *algorithm,
            ),
            Self::Sha512(algorithm, context) => (
                context
                    .h
                    .iter()
                    .flat_map(|word| word.to_be_bytes())
                    .collect(),
                context.Nl,
                *algorithm,
            ),
        };
        state[..words.len()].copy_from_slice(&words);
        state[64..72].copy_from_slice(&(bits / 8).to_be_bytes());
        state[72] = algorithm as u8;
        state
    }

    pub(crate) fn update(&mut self, text: &[u8]) {
        let (start, length) = (text.as_ptr().cast(), text.len());
        // SAFETY: live contexts; read as many bytes as there are.
        unsafe {
            match self {
                Self::Sha1(context) => lc::SHA1_Update(context, start, length),
                Self::Sha256(_, context) => lc::SHA256_Update(context, start, length),
                Self::Sha512(_, context) => lc::SHA512_Update(context, start, length),
            };
        }
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        let mut hash = [0; 64];
        // SAFETY: live contexts; the longest hash has 64 bytes. Each is ended by the function of its length.
        let length = unsafe {
            match &mut self {
                Self::Sha1(context) => {
                    lc::SHA1_Final(hash.as_mut_ptr(), context);
                    Algorithm::Sha1.length()
                }
                Self::Sha256(algorithm, context) => {
                    match algorithm {
                        Algorithm::Sha224 => lc::SHA224_Final(hash.as_mut_ptr(), context),
                        _ => lc::SHA256_Final(hash.as_mut_ptr(), context),
                    };
                    algorithm.length()
                }
                Self::Sha512(algorithm, context) => {
                    match algorithm {
                        Algorithm::Sha384 => lc::SHA384_Final(hash.as_mut_ptr(), context),
                        _ => lc::SHA512_Final(hash.as_mut_ptr(), context),
                    };
                    algorithm.length()
                }
            }
        };
        hash[..length].to_vec()
    }
}

impl Drop for Hash {
    fn drop(&mut self) {
        fn wiped<T>(context: &mut T) {
            let start = (&raw mut *context).cast::<u8>();
            // SAFETY: the context's own bytes; it has numbers alone, and any bytes are valid in it.
            wipe(unsafe { std::slice::from_raw_parts_mut(start, size_of::<T>()) });
        }
        match self {
            Self::Sha1(context) => wiped(context),
            Self::Sha256(_, context) => wiped(context),
            Self::Sha512(_, context) => wiped(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use outboard_engine::scalar::digest::{Digest, Hasher};

    use super::*;

    #[test]
    fn parts_make_the_hash_of_the_whole() {
        let text: Vec<u8> = (0..700_u32).map(|number| (number * 7) as u8).collect();
        for (algorithm, digest) in [
            (Algorithm::Sha1, Digest::Sha1),
            (Algorithm::Sha224, Digest::Sha224),
            (Algorithm::Sha256, Digest::Sha256),
            (Algorithm::Sha384, Digest::Sha384),
            (Algorithm::Sha512, Digest::Sha512),
        ] {
            let mut whole = Hasher::new(digest).unwrap();
            whole.update(&text).unwrap();
            let wanted = whole.end().unwrap().to_vec();
            let mut hash = Hash::new(algorithm);
            let (one, rest) = text.split_at(2 * algorithm.block());
            let (two, three) = rest.split_at(algorithm.block());
            hash.update(one);
            let mut hash = Hash::resume(algorithm, &hash.state()).unwrap();
            hash.update(two);
            let state = hash.state();
            let mut hash = Hash::resume(algorithm, &state).unwrap();
            hash.update(three);
            assert_eq!(hash.finish(), wanted, "{algorithm:?}");
            let other = if algorithm == Algorithm::Sha1 {
                Algorithm::Sha256
            } else {
                Algorithm::Sha1
            };
            assert!(Hash::resume(other, &state).is_none());
            assert!(Hash::resume(algorithm, &state[..100]).is_none());
        }
    }
}
