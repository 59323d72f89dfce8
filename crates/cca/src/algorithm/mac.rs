//! MACs of DES in CBC mode (ISO 9797-1, algorithms 1 and 3; ANSI X9.9, X9.19; EMV).

use zeroize::Zeroizing;

use super::des::{BLOCK, Block, Cipher, xor};

/// How blocks follow each other, and how the last is filled up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// X9.9: a key of one part, zeros.
    X99,
    /// X9.19, optional procedure (retail MAC): two parts, the second only at the end; zeros.
    X919,
    /// EMV: a key of one part, 80 and zeros.
    Emv,
    /// EMV: two parts, the second only at the end; 80 and zeros.
    EmvDouble,
    /// Triple DES at each block; zeros.
    TripleDes,
}

impl Method {
    /// Whether it goes with a key of so many bytes.
    pub(crate) fn takes(self, key: usize) -> bool {
        match self {
            Self::X99 | Self::Emv => key == 8,
            Self::X919 | Self::EmvDouble => key == 16,
            Self::TripleDes => key == 16 || key == 24,
        }
    }

    fn is_padded(self) -> bool {
        matches!(self, Self::Emv | Self::EmvDouble)
    }
}

/// A MAC under way.
pub(crate) struct CbcMac {
    method: Method,
    each: Cipher,
    /// What the last block is decrypted and encrypted by, for algorithm 3.
    last: Option<Cipher>,
    chain: Zeroizing<Block>,
    rest: Zeroizing<Vec<u8>>,
}

impl CbcMac {
    /// None if the method does not go with a key of that length.
    pub(crate) fn new(method: Method, key: &[u8]) -> Option<Self> {
        if !method.takes(key.len()) {
            return None;
        }
        let (each, last) = match method {
            Method::X919 | Method::EmvDouble => {
                (Cipher::new(&key[..8])?, Some(Cipher::new(&key[8..])?))
            }
            _ => (Cipher::new(key)?, None),
        };
        Some(Self {
            method,
            each,
            last,
            chain: Zeroizing::default(),
            rest: Zeroizing::default(),
        })
    }

    /// As [`CbcMac::state`] wrote it.
    pub(crate) fn resume(&mut self, state: &[u8; 16]) -> Option<()> {
        let count = usize::from(state[15]);
        self.chain.copy_from_slice(&state[..8]);
        self.rest = Zeroizing::new(state[8..15].get(..count)?.to_vec());
        Some(())
    }

    /// What a later call goes on with. A secret: the chain before the end lets others forge.
    pub(crate) fn state(&self) -> Zeroizing<[u8; 16]> {
        let mut state = Zeroizing::new([0; 16]);
        state[..8].copy_from_slice(&*self.chain);
        state[8..8 + self.rest.len()].copy_from_slice(&self.rest);
        state[15] = self.rest.len() as u8;
        state
    }

    pub(crate) fn update(&mut self, text: &[u8]) {
        let mut data = std::mem::take(&mut self.rest);
        data.extend_from_slice(text);
        let whole = data.len() / BLOCK * BLOCK;
        for block in data[..whole].as_chunks::<BLOCK>().0 {
            xor(&mut *self.chain, block);
            self.each.encrypt(&mut self.chain);
        }
        self.rest = Zeroizing::new(data[whole..].to_vec());
    }

    pub(crate) fn finish(mut self) -> Zeroizing<Block> {
        let mut rest = std::mem::take(&mut self.rest);
        if self.method.is_padded() {
            rest.push(0x80);
        }
        // Nothing is one block of zeros (ISO 9797-1, 6.3.2): else its code would be zeros with every key.
        if !rest.is_empty() || *self.chain == [0; BLOCK] {
            rest.resize(BLOCK, 0);
            self.update(&rest);
        }
        if let Some(last) = &self.last {
            last.decrypt(&mut self.chain);
            self.each.encrypt(&mut self.chain);
        }
        self.chain.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mac(method: Method, key: &[u8], text: &[u8]) -> u64 {
        let mut mac = CbcMac::new(method, key).unwrap();
        let (one, other) = text.split_at(text.len() / 3);
        mac.update(one);
        let state = mac.state();
        let mut mac = CbcMac::new(method, key).unwrap();
        mac.resume(&state).unwrap();
        mac.update(other);
        u64::from_be_bytes(*mac.finish())
    }

    /// FIPS 113 and ANSI X9.9: "7654321 Now is the time for " has F1D30F68 49312CA4.
    /// ISO 9797-1, annex A: "Now is the time for all " and "Now is the time for it".
    #[test]
    fn codes_are_those_of_the_standards() {
        let one = 0x0123_4567_89ab_cdef_u64.to_be_bytes();
        assert_eq!(
            mac(Method::X99, &one, b"7654321 Now is the time for "),
            0xf1d3_0f68_4931_2ca4
        );
        let two = [0x0123_4567_89ab_cdef_u64, 0xfedc_ba98_7654_3210]
            .map(u64::to_be_bytes)
            .concat();
        assert_eq!(
            mac(Method::X99, &one, b"Now is the time for all "),
            0x70a3_0640_cc76_dd8b
        );
        assert_eq!(
            mac(Method::X919, &two, b"Now is the time for all "),
            0xa1c7_2e74_ea3f_a9b6
        );
        assert_eq!(
            mac(Method::EmvDouble, &two, b"Now is the time for all "),
            0xe908_6230_ca3b_e796
        );
    }
}
