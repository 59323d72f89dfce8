//! CMAC (SP 800-38B) that goes on in a later call, with AES or Triple DES.

use inout::InOutBuf;
use outboard_engine::scalar::aes::{self, Mode};
use zeroize::Zeroizing;

use super::des::{Cipher, xor};
use crate::answer::{Outcome, Refusal};

/// Bytes of what a later call goes on with.
pub(crate) const STATE: usize = 33;

/// The block cipher, with its key.
pub(crate) enum Blocks {
    Aes(Zeroizing<Vec<u8>>),
    TripleDes(Box<Cipher>),
}

impl Blocks {
    /// Bytes of a block.
    pub(crate) fn length(&self) -> usize {
        match self {
            Self::Aes(_) => aes::BLOCK,
            Self::TripleDes(_) => super::des::BLOCK,
        }
    }

    /// Goes on by CBC through whole blocks. The chain becomes the last ciphertext.
    fn chain(&self, chain: &mut [u8; 16], text: &[u8]) -> Outcome<()> {
        match self {
            Self::Aes(key) => {
                for piece in text.chunks(4096) {
                    let mut piece = Zeroizing::new(piece.to_vec());
                    aes::begin(key, Mode::Cbc(chain), true)?
                        .update(InOutBuf::from(&mut piece[..]))?;
                    chain.copy_from_slice(&piece[piece.len() - aes::BLOCK..]);
                }
            }
            Self::TripleDes(cipher) => {
                let mut last = Zeroizing::new([0; 8]);
                last.copy_from_slice(&chain[..8]);
                for block in text.as_chunks::<8>().0 {
                    xor(&mut *last, block);
                    cipher.encrypt(&mut last);
                }
                chain[..8].copy_from_slice(&*last);
            }
        }
        Ok(())
    }
}

/// A code under way.
pub(crate) struct Cmac {
    blocks: Blocks,
    chain: Zeroizing<[u8; 16]>,
    /// At least a byte of the text, once there was one: the last block is another than those before it.
    rest: Zeroizing<Vec<u8>>,
}

impl Cmac {
    pub(crate) fn new(blocks: Blocks) -> Self {
        Self {
            blocks,
            chain: Zeroizing::default(),
            rest: Zeroizing::default(),
        }
    }

    /// As [`Cmac::state`] wrote it.
    pub(crate) fn resume(&mut self, state: &[u8]) -> Option<()> {
        let state: &[u8; STATE] = state.try_into().ok()?;
        let count = usize::from(state[32]);
        if count > self.blocks.length() {
            return None;
        }
        self.chain.copy_from_slice(&state[..16]);
        self.rest = Zeroizing::new(state[16..32].get(..count)?.to_vec());
        Some(())
    }

    /// What a later call goes on with. A secret: the chain before the end lets others forge.
    pub(crate) fn state(&self) -> Zeroizing<Vec<u8>> {
        let mut state = Zeroizing::new(vec![0; STATE]);
        state[..16].copy_from_slice(&*self.chain);
        state[16..16 + self.rest.len()].copy_from_slice(&self.rest);
        state[32] = self.rest.len() as u8;
        state
    }

    pub(crate) fn update(&mut self, text: &[u8]) -> Outcome<()> {
        let length = self.blocks.length();
        let mut data = Zeroizing::new(Vec::with_capacity(self.rest.len() + text.len()));
        data.extend_from_slice(&self.rest);
        data.extend_from_slice(text);
        let whole = data.len().saturating_sub(1) / length * length;
        self.blocks.chain(&mut self.chain, &data[..whole])?;
        self.rest = Zeroizing::new(data[whole..].to_vec());
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Outcome<Vec<u8>> {
        let length = self.blocks.length();
        let mut subkey = Zeroizing::new([0; 16]);
        self.blocks.chain(&mut subkey, &[0; 16][..length])?;
        double(&mut subkey[..length]);
        let mut last = Zeroizing::new([0; 16]);
        let last = last.get_mut(..length).ok_or(Refusal::Resource)?;
        last[..self.rest.len()].copy_from_slice(&self.rest);
        if self.rest.len() < length {
            last[self.rest.len()] = 0x80;
            double(&mut subkey[..length]);
        }
        xor(last, &*subkey);
        self.blocks.chain(&mut self.chain, last)?;
        Ok(self.chain[..length].to_vec())
    }
}

/// Twice the number in the field of SP 800-38B, 5.3, without a branch on it.
fn double(number: &mut [u8]) {
    let modulus = if number.len() == 16 { 0x87 } else { 0x1b };
    let carry = number[0] >> 7;
    for at in 0..number.len() {
        let next = number.get(at + 1).map_or(0, |next| next >> 7);
        number[at] = number[at] << 1 | next;
    }
    if let Some(last) = number.last_mut() {
        *last ^= carry.wrapping_neg() & modulus;
    }
}

#[cfg(test)]
mod tests {
    use outboard_engine::scalar::mac::Mac;

    use super::*;

    /// AWS-LC makes the codes of whole texts: SP 800-38B's examples are its tests.
    #[test]
    fn parts_make_the_code_of_the_whole() {
        let text: Vec<u8> = (0..9000_u32).map(|number| (number * 7) as u8).collect();
        let key: Vec<u8> = (1..=24).collect();
        for length in [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 4096, 4097, 9000] {
            let text = &text[..length];
            for key in [&key[..16], &key[..]] {
                for is_aes in [true, false] {
                    let blocks = || match is_aes {
                        true => Blocks::Aes(Zeroizing::new(key.to_vec())),
                        false => Blocks::TripleDes(Box::new(Cipher::new(key).unwrap())),
                    };
                    let mut whole = match is_aes {
                        true => Mac::cmac(key).unwrap(),
                        false => Mac::cmac_des3(key).unwrap(),
                    };
                    whole.update(text).unwrap();
                    let wanted = whole.finish().unwrap().to_vec();
                    for cut in [0, length / 3, length] {
                        let mut one = Cmac::new(blocks());
                        one.update(&text[..cut]).unwrap();
                        let mut other = Cmac::new(blocks());
                        other.resume(&one.state()).unwrap();
                        other.update(&text[cut..]).unwrap();
                        let made = other.finish().unwrap();
                        assert_eq!(made, wanted, "{is_aes} {length} {cut}");
                    }
                }
            }
        }
        let mut code = Cmac::new(Blocks::TripleDes(Box::new(Cipher::new(&key).unwrap())));
        assert!(code.resume(&[16; STATE]).is_none(), "more than a block");
        assert!(code.resume(&[0; 3]).is_none());
    }
}
