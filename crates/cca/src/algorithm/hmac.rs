//! HMAC (RFC 2104, FIPS 198-1) that goes on in a later call, after whole blocks of its hash.

use zeroize::Zeroizing;

use super::hash::{self, Algorithm, Hash};

/// Bytes of what a later call goes on with: those of [`Hash::state`] that say something.
pub(crate) const STATE: usize = 73;

/// A code under way.
pub(crate) struct Hmac {
    algorithm: Algorithm,
    inner: Hash,
    /// The key, filled up to a block.
    key: Zeroizing<Vec<u8>>,
}

impl Hmac {
    pub(crate) fn new(algorithm: Algorithm, key: &[u8]) -> Self {
        let mut block = Zeroizing::new(vec![0; algorithm.block()]);
        match key.len() <= block.len() {
            true => block[..key.len()].copy_from_slice(key),
            false => {
                let mut hash = Hash::new(algorithm);
                hash.update(key);
                block[..algorithm.length()].copy_from_slice(&Zeroizing::new(hash.finish()));
            }
        }
        let mut inner = Hash::new(algorithm);
        inner.update(&added(&block, 0x36));
        Self {
            algorithm,
            inner,
            key: block,
        }
    }

    /// As [`Hmac::state`] wrote it.
    pub(crate) fn resume(&mut self, state: &[u8]) -> Option<()> {
        let mut padded = Zeroizing::new([0; hash::STATE]);
        padded.get_mut(..state.len())?.copy_from_slice(state);
        self.inner = Hash::resume(self.algorithm, &*padded)?;
        Some(())
    }

    /// What a later call goes on with, after whole blocks. A secret.
    pub(crate) fn state(&self) -> Zeroizing<Vec<u8>> {
        let state = Zeroizing::new(self.inner.state());
        Zeroizing::new(state[..STATE].to_vec())
    }

    pub(crate) fn update(&mut self, text: &[u8]) {
        self.inner.update(text);
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        let inner = Zeroizing::new(self.inner.finish());
        let mut outer = Hash::new(self.algorithm);
        outer.update(&added(&self.key, 0x5c));
        outer.update(&inner);
        outer.finish()
    }
}

fn added(key: &[u8], pad: u8) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(key.iter().map(|byte| byte ^ pad).collect())
}

#[cfg(test)]
mod tests {
    use outboard_engine::scalar::digest::Digest;
    use outboard_engine::scalar::mac::Mac;

    use super::*;

    /// AWS-LC makes the codes of whole texts.
    #[test]
    fn parts_make_the_code_of_the_whole() {
        let text: Vec<u8> = (0..1000_u32).map(|number| (number * 7) as u8).collect();
        for (algorithm, digest) in [
            (Algorithm::Sha1, Digest::Sha1),
            (Algorithm::Sha224, Digest::Sha224),
            (Algorithm::Sha256, Digest::Sha256),
            (Algorithm::Sha384, Digest::Sha384),
            (Algorithm::Sha512, Digest::Sha512),
        ] {
            for key in [10, 64, 128, 200] {
                let key = &text[..key];
                let mut whole = Mac::hmac(digest, key).unwrap();
                whole.update(&text).unwrap();
                let mut code = Hmac::new(algorithm, key);
                let (one, rest) = text.split_at(3 * algorithm.block());
                code.update(one);
                let mut later = Hmac::new(algorithm, key);
                later.resume(&code.state()).unwrap();
                later.update(rest);
                let wanted = whole.finish().unwrap().to_vec();
                assert_eq!(later.finish(), wanted, "{algorithm:?}");
            }
        }
        let state = Hmac::new(Algorithm::Sha256, b"key").state();
        assert!(
            Hmac::new(Algorithm::Sha1, b"key").resume(&state).is_none(),
            "that of another hash"
        );
    }
}
