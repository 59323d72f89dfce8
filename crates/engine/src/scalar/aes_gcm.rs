//! AES-GCM (SP 800-38D), fed in pieces as OpenSSL's programs do it.

mod aws_lc;
mod rekeyed;
#[cfg(target_arch = "x86_64")]
mod vectors;

use inout::InOutBuf;
use zeroize::Zeroizing;

use super::wipe::wiped;
use crate::error::{Error, Result};

pub use rekeyed::Counter;

/// The tag's full length, in bytes.
pub const TAG_LENGTH: usize = 16;
/// The longest initialisation vector that OpenSSL's interface allows, in bytes.
pub const MAX_IV_LENGTH: usize = 128;

type Block = [u8; TAG_LENGTH];

/// A cipher with a key.
pub struct AesGcm {
    cipher: Cipher,
    /// What this message's tags differ by from GCM's: of a message whose key was set in its middle.
    mask: Option<Zeroizing<Block>>,
}

/// Who computes.
enum Cipher {
    AwsLc(aws_lc::Cipher),
    #[cfg(target_arch = "x86_64")]
    Vectors(vectors::Cipher),
}

/// The same call of whoever computes.
macro_rules! each {
    ($cipher:expr, $it:ident => $call:expr) => {
        match $cipher {
            Cipher::AwsLc($it) => $call,
            #[cfg(target_arch = "x86_64")]
            Cipher::Vectors($it) => $call,
        }
    };
}

impl AesGcm {
    /// A context with that key of 16, 24 or 32 bytes, to seal or to open.
    pub fn new(key: &[u8], seal: bool) -> Result<Self> {
        #[cfg(target_arch = "x86_64")]
        if outboard_aes_gcm::available() {
            let cipher = Cipher::Vectors(vectors::Cipher::new(key, seal)?);
            return Ok(Self { cipher, mask: None });
        }
        let cipher = Cipher::AwsLc(aws_lc::Cipher::new(key, seal)?);
        Ok(Self { cipher, mask: None })
    }

    /// Takes another key of the same length. It begins no message.
    pub fn set_key(&mut self, key: &[u8], seal: bool) -> Result<()> {
        each!(&mut self.cipher, it => {
            if it.key_length() != key.len() {
                return Err(Error::InvalidKey);
            }
            it.set_key(key, seal)
        })
    }

    /// Begins a message with that initialisation vector of 1 to [`MAX_IV_LENGTH`] bytes.
    #[inline]
    pub fn start(&mut self, iv: &[u8], seal: bool) -> Result<()> {
        if !matches!(iv.len(), 1..=MAX_IV_LENGTH) {
            return Err(Error::InvalidInput);
        }
        self.mask = None;
        each!(&mut self.cipher, it => it.start(iv, seal))
    }

    /// Takes another key in mid-message. What that means GCM does not say; OpenSSL goes on with a state of zeros:
    /// no data yet, nothing that hides the tag, and a counter that begins as `counter` says.
    pub fn set_key_in_message(&mut self, key: &[u8], seal: bool, counter: Counter) -> Result<()> {
        self.set_key(key, seal)?;
        let [mut iv, mut mask] = [(); 2].map(|()| Zeroizing::new([0; TAG_LENGTH]));
        wiped(|| rekeyed::start(key, counter, &mut iv, &mut mask))?;
        self.start(&*iv, seal)?;
        // Copied: what is moved stays.
        let place = self.mask.insert(Zeroizing::new([0; TAG_LENGTH]));
        place.copy_from_slice(&*mask);
        Ok(())
    }

    #[inline]
    fn unmask(&self, tag: &mut Block) {
        if let Some(mask) = &self.mask {
            for (byte, mask) in tag.iter_mut().zip(mask.iter()) {
                *byte ^= mask;
            }
        }
    }

    /// Goes on in the other direction, in mid-message.
    pub fn turn(&mut self, seal: bool) -> Result<()> {
        each!(&mut self.cipher, it => it.turn(seal))
    }

    /// Takes additional authenticated data; [`Error::Failed`] once a message has begun.
    #[inline]
    pub fn associate(&mut self, data: &[u8]) -> Result<()> {
        each!(&mut self.cipher, it => it.associate(data))
    }

    /// Encrypts or decrypts. No data ends a block of associated data that is not full.
    #[inline]
    pub fn update(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<()> {
        each!(&mut self.cipher, it => it.update(data))
    }

    /// Ends a sealed message: writes its tag.
    #[inline]
    pub fn seal(&mut self, tag: &mut [u8; TAG_LENGTH]) -> Result<()> {
        each!(&mut self.cipher, it => it.seal(tag))?;
        self.unmask(tag);
        Ok(())
    }

    /// Ends an opened message: whether the tag, of up to 16 bytes, is its own.
    #[inline]
    pub fn open(&mut self, tag: &[u8]) -> Result<bool> {
        if tag.is_empty() || tag.len() > TAG_LENGTH {
            return Err(Error::InvalidInput);
        }
        if self.mask.is_none() {
            return each!(&mut self.cipher, it => it.open(tag));
        }
        let mut expected = Zeroizing::new([0; TAG_LENGTH]);
        expected[..tag.len()].copy_from_slice(tag);
        self.unmask(&mut expected);
        each!(&mut self.cipher, it => it.open(&expected[..tag.len()]))
    }

    /// A context in the same state.
    pub fn try_clone(&self) -> Result<Self> {
        let cipher = match &self.cipher {
            Cipher::AwsLc(it) => Cipher::AwsLc(it.try_clone()?),
            #[cfg(target_arch = "x86_64")]
            Cipher::Vectors(it) => Cipher::Vectors(it.try_clone()?),
        };
        Ok(Self {
            cipher,
            mask: self.mask.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever computes on this processor, and AWS-LC, which computes on those without VAES.
    fn ciphers(key: &[u8], seal: bool) -> [AesGcm; 2] {
        let aws_lc = Cipher::AwsLc(aws_lc::Cipher::new(key, seal).expect("a cipher"));
        [
            AesGcm::new(key, seal).expect("a cipher"),
            AesGcm {
                cipher: aws_lc,
                mask: None,
            },
        ]
    }

    /// Test case 4 of the GCM specification (McGrew and Viega), with associated data.
    #[test]
    fn seals_and_opens_the_specifications_fourth_case() {
        let key = hex("feffe9928665731c6d6a8f9467308308");
        let iv = hex("cafebabefacedbaddecaf888");
        let associated = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
        let plain = hex(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                         1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        );
        for (mut cipher, mut opened) in ciphers(&key, true).into_iter().zip(ciphers(&key, false)) {
            let mut sealed = vec![0; plain.len()];
            let mut tag = [0; TAG_LENGTH];
            cipher.start(&iv, true).expect("start");
            cipher.associate(&associated).expect("associate");
            cipher
                .update(InOutBuf::new(&plain, &mut sealed).expect("equal lengths"))
                .expect("update");
            cipher.seal(&mut tag).expect("seal");
            assert_eq!(tag[..], hex("5bc94fbc3221a5db94fae95ae7121a47"));

            for (bit, right) in [(0, true), (1, false)] {
                let mut data = sealed.clone();
                tag[15] ^= bit;
                opened.start(&iv, false).expect("start");
                opened.associate(&associated).expect("associate");
                opened
                    .update(InOutBuf::from(&mut data[..]))
                    .expect("update");
                assert_eq!(opened.open(&tag).expect("open"), right);
                assert_eq!(data, plain);
            }
        }
    }

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len() / 2)
            .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("hexadecimal"))
            .collect()
    }
}
