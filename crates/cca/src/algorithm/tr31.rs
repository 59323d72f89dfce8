//! TR-31 key blocks (ANSI X9.143): versions A and C (variants), B (derived, Triple DES) and D (derived, AES).
//!
//! ```text
//! header (16 characters) ‖ optional blocks ‖ encrypted (bits of the key ‖ key ‖ padding) ‖ MAC
//! A, C   keys = wrapping key ⊕ 45…, ⊕ 4d…;  CBC from the header's first bytes;  MAC over header and ciphertext: 4 bytes
//! B, D   keys by CMAC of the wrapping key;   CBC from the MAC;                  MAC over header and plaintext: 8, 16 bytes
//! ```

use inout::InOutBuf;
use outboard_engine::scalar::aes::{self, Mode};
use outboard_engine::scalar::mac::{Mac, equal};
use outboard_engine::scalar::randomise;
use zeroize::Zeroizing;

use super::des::Cipher;
use crate::answer::{Outcome, Refusal};

/// The longest block.
const MOST: usize = 9_992;

/// What a block says of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) version: u8,
    pub(crate) usage: [u8; 2],
    pub(crate) algorithm: u8,
    pub(crate) mode: u8,
    pub(crate) key_version: [u8; 2],
    pub(crate) exportability: u8,
    pub(crate) optional_blocks: u8,
    /// The optional blocks, with padding.
    pub(crate) optional: Vec<u8>,
}

impl Header {
    /// Of a whole block, and where it ends.
    pub(crate) fn parse(block: &[u8]) -> Outcome<(Self, usize)> {
        let bad = Refusal::KeyBlockHeader;
        let is_text = block.iter().all(|byte| (b' '..=b'~').contains(byte));
        if !is_text || !(16..=MOST).contains(&block.len()) {
            return Err(bad);
        }
        let number = |range: std::ops::Range<usize>| {
            let digits = block[range]
                .iter()
                .map(|byte| byte.is_ascii_digit().then_some(usize::from(byte - b'0')));
            digits
                .into_iter()
                .try_fold(0, |number, digit| Some(10 * number + digit?))
                .ok_or(bad)
        };
        let length = number(1..5)?;
        if !matches!(block[0], b'A' | b'B' | b'C' | b'D') || length != block.len() {
            return Err(bad);
        }
        let optional_blocks = number(12..14)? as u8;
        let mut end = 16;
        for _ in 0..optional_blocks {
            end += optional_length(&block[end..]).ok_or(bad)?;
        }
        // So that what follows begins with a cipher's block.
        if end % unit(block[0]) != 0 {
            return Err(bad);
        }
        let header = Self {
            version: block[0],
            usage: [block[5], block[6]],
            algorithm: block[7],
            mode: block[8],
            key_version: [block[9], block[10]],
            exportability: block[11],
            optional_blocks,
            optional: block[16..end].to_vec(),
        };
        Ok((header, end))
    }

    /// As it stands in a block of so many characters.
    fn text(&self, length: usize) -> Vec<u8> {
        let mut text = vec![self.version];
        text.extend_from_slice(format!("{length:04}").as_bytes());
        text.extend_from_slice(&self.usage);
        text.extend_from_slice(&[self.algorithm, self.mode]);
        text.extend_from_slice(&self.key_version);
        text.push(self.exportability);
        text.extend_from_slice(format!("{:02}00", self.optional_blocks).as_bytes());
        text.extend_from_slice(&self.optional);
        text
    }
}

/// How many characters an optional block has: two digits after its name, or `00`, how many digits, and these.
fn optional_length(block: &[u8]) -> Option<usize> {
    let hex = |digits: &[u8]| usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let all_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    let short = block.get(2..4).filter(|digits| all_hex(digits))?;
    let (length, least) = match hex(short)? {
        0 => {
            let count = 2 * hex(block.get(4..6).filter(|digits| all_hex(digits))?)?;
            (
                hex(block
                    .get(6..6 + count.min(8))
                    .filter(|digits| all_hex(digits))?)?,
                6 + count,
            )
        }
        length => (length, 4),
    };
    (length >= least && length <= block.len()).then_some(length)
}

/// Characters that a header's length must be a multiple of: a block of the cipher.
fn unit(version: u8) -> usize {
    match version {
        b'D' => 16,
        _ => 8,
    }
}

/// Characters of the MAC.
fn code_length(version: u8) -> usize {
    match version {
        b'D' => 32,
        b'B' => 16,
        _ => 8,
    }
}

/// The keys of a block: to encrypt, and to authenticate.
struct Keys {
    encryption: Zeroizing<Vec<u8>>,
    authentication: Zeroizing<Vec<u8>>,
}

impl Keys {
    fn new(version: u8, wrapping: &[u8]) -> Outcome<Self> {
        let variant =
            |byte: u8| Zeroizing::new(wrapping.iter().map(|of| of ^ byte).collect::<Vec<_>>());
        let fits = match version {
            b'D' => matches!(wrapping.len(), 16 | 24 | 32),
            _ => matches!(wrapping.len(), 16 | 24),
        };
        if !fits {
            return Err(Refusal::KeyLength);
        }
        Ok(match version {
            b'A' | b'C' => Self {
                encryption: variant(0x45),
                authentication: variant(0x4d),
            },
            _ => Self {
                encryption: derived(version, wrapping, 0)?,
                authentication: derived(version, wrapping, 1)?,
            },
        })
    }

    fn cbc(&self, version: u8, vector: &[u8], data: &mut [u8], seals: bool) -> Outcome<()> {
        match version {
            b'D' => {
                let vector = vector.try_into().map_err(|_| Refusal::KeyBlock)?;
                aes::begin(&self.encryption, Mode::Cbc(vector), seals)?
                    .update(InOutBuf::from(data))?;
            }
            _ => {
                let cipher = Cipher::new(&self.encryption).ok_or(Refusal::KeyLength)?;
                let mut vector = vector.try_into().map_err(|_| Refusal::KeyBlock)?;
                match seals {
                    true => cipher.encrypt_cbc(&mut vector, data),
                    false => cipher.decrypt_cbc(&mut vector, data),
                }
            }
        }
        Ok(())
    }

    /// The MAC of header and data.
    fn code(&self, version: u8, header: &[u8], data: &[u8]) -> Outcome<Zeroizing<Vec<u8>>> {
        if matches!(version, b'A' | b'C') {
            let cipher = Cipher::new(&self.authentication).ok_or(Refusal::KeyLength)?;
            let mut text = Zeroizing::new([header, data].concat());
            let mut code = [0; 8];
            cipher.encrypt_cbc(&mut code, &mut text);
            return Ok(Zeroizing::new(code[..4].to_vec()));
        }
        let mut mac = cmac(version, &self.authentication)?;
        mac.update(header)?;
        mac.update(data)?;
        Ok(Zeroizing::new(mac.finish()?.to_vec()))
    }
}

fn cmac(version: u8, key: &[u8]) -> Outcome<Mac> {
    Ok(match version {
        b'D' => Mac::cmac(key)?,
        _ => Mac::cmac_des3(key)?,
    })
}

/// A key derived by CMAC (X9.143, 7.2): counter, usage, 00, algorithm, bits.
fn derived(version: u8, wrapping: &[u8], usage: u8) -> Outcome<Zeroizing<Vec<u8>>> {
    let algorithm = match (version, wrapping.len()) {
        (b'D', length) => length as u8 / 8,
        (_, 16) => 0,
        _ => 1,
    };
    let bits = (8 * wrapping.len() as u16).to_be_bytes();
    let mut key = Zeroizing::new(Vec::with_capacity(48));
    let mut counter = 1;
    while key.len() < wrapping.len() {
        let mut mac = cmac(version, wrapping)?;
        mac.update(&[counter, 0, usage, 0, 0, algorithm, bits[0], bits[1]])?;
        key.extend_from_slice(&mac.finish()?);
        counter += 1;
    }
    key.truncate(wrapping.len());
    Ok(key)
}

/// Writes a key into a block. The padding hides its length among keys of its algorithm.
pub(crate) fn wrap(wrapping: &[u8], header: &Header, key: &[u8]) -> Outcome<Vec<u8>> {
    let (version, unit) = (header.version, unit(header.version));
    let keys = Keys::new(version, wrapping)?;
    let longest = match header.algorithm {
        b'T' => 24,
        b'A' => 32,
        _ => 0,
    };
    let mut data = Zeroizing::new(Vec::with_capacity(320));
    data.extend_from_slice(&(8 * key.len() as u16).to_be_bytes());
    data.extend_from_slice(key);
    let length = (2 + key.len().max(longest)).next_multiple_of(unit);
    let mut padding = vec![0; length - data.len()];
    randomise(&mut padding)?;
    data.extend_from_slice(&padding);
    let total = 16 + header.optional.len() + 2 * data.len() + code_length(version);
    let text = header.text(total);
    let code = match version {
        b'A' | b'C' => {
            keys.cbc(version, &text[..8], &mut data, true)?;
            keys.code(version, &text, &data)?
        }
        _ => {
            let code = keys.code(version, &text, &data)?;
            keys.cbc(version, &code, &mut data, true)?;
            code
        }
    };
    let mut block = text;
    for byte in data.iter().chain(code.iter()) {
        block.extend_from_slice(format!("{byte:02X}").as_bytes());
    }
    Ok(block)
}

/// The key in a block, if that key wrapped it and nothing of it was changed.
pub(crate) fn unwrap(wrapping: &[u8], block: &[u8]) -> Outcome<(Header, Zeroizing<Vec<u8>>)> {
    let (header, end) = Header::parse(block)?;
    let version = header.version;
    let body = std::str::from_utf8(&block[end..]).map_err(|_| Refusal::KeyBlock)?;
    let body = crate::value::from_hex(body).ok_or(Refusal::KeyBlock)?;
    let length = body
        .len()
        .checked_sub(code_length(version) / 2)
        .ok_or(Refusal::KeyBlock)?;
    let (ciphertext, code) = body.split_at(length);
    if length == 0 || length % unit(version) != 0 {
        return Err(Refusal::KeyBlock);
    }
    let keys = Keys::new(version, wrapping)?;
    let mut data = Zeroizing::new(ciphertext.to_vec());
    let wanted = match version {
        b'A' | b'C' => {
            let wanted = keys.code(version, &block[..end], ciphertext)?;
            keys.cbc(version, &block[..8], &mut data, false)?;
            wanted
        }
        _ => {
            keys.cbc(version, code, &mut data, false)?;
            keys.code(version, &block[..end], &data)?
        }
    };
    if !equal(&wanted, code) {
        return Err(Refusal::KeyBlock);
    }
    let bits = u16::from_be_bytes([data[0], data[1]]);
    let key = data
        .get(2..2 + usize::from(bits / 8))
        .filter(|_| bits % 8 == 0 && bits > 0);
    let key = key.ok_or(Refusal::KeyBlock)?;
    Ok((header, Zeroizing::new(key.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        crate::value::from_hex(hex).unwrap().to_vec()
    }

    /// TR-31:2018, annex A.7: examples of versions A, B, C and D.
    #[test]
    fn the_examples_of_the_standard_unwrap() {
        for (wrapping, block, key) in [
            (
                "89E88CF7931444F334BD7547FC3F380C",
                "A0072P0TE00E0000F5161ED902807AF26F1D62263644BD24192FDB3193C730301CEE8701",
                "F039121BEC83D26B169BDCD5B22AAF8F",
            ),
            (
                "DD7515F2BFC17F85CE48F3CA25CB21F6",
                "B0080P0TE00E000094B420079CC80BA3461F86FE26EFC4A3B8E4FA4C5F5341176EED7B727B8A248E",
                "3F419E1CB7079442AA37474C2EFBF8B8",
            ),
            (
                "B8ED59E0A279A295E9F5ED7944FD06B9",
                "C0096B0TX12S0100KS1800604B120F9292800000BFB9B689CB567E66FC3FEE5AD5F52161FC6545B9D60989015D02155C",
                "EDB380DD340BC2620247D445F5B8D678",
            ),
            (
                "88E1AB2A2E3DD38C1FA039A536500CC8A87AB9D62DC92C01058FA79F44657DE6",
                "D0112P0AE00E0000B82679114F470F540165EDFBF7E250FCEA43F810D215F8D207E2E417C07156A27E8E31DA05F7425509593D03A457DC34",
                "3F419E1CB7079442AA37474C2EFBF8B8",
            ),
        ] {
            let (header, unwrapped) = unwrap(&bytes(wrapping), block.as_bytes())
                .unwrap_or_else(|error| panic!("{block}: {error:?}"));
            assert_eq!(*unwrapped, bytes(key), "{block}");
            let again = wrap(&bytes(wrapping), &header, &unwrapped).unwrap();
            let (same, unwrapped) = unwrap(&bytes(wrapping), &again).unwrap();
            assert_eq!((same, &**unwrapped), (header, &*bytes(key)));
        }
    }

    #[test]
    fn a_changed_block_is_refused() {
        let wrapping = bytes("88E1AB2A2E3DD38C1FA039A536500CC8A87AB9D62DC92C01058FA79F44657DE6");
        let header = Header {
            version: b'D',
            usage: *b"P0",
            algorithm: b'A',
            mode: b'E',
            key_version: *b"00",
            exportability: b'E',
            optional_blocks: 0,
            optional: Vec::new(),
        };
        let block = wrap(&wrapping, &header, &[7; 16]).unwrap();
        for place in 0..block.len() {
            let mut changed = block.clone();
            changed[place] = if changed[place] == b'1' { b'2' } else { b'1' };
            assert!(unwrap(&wrapping, &changed).is_err(), "{place}");
        }
        assert!(unwrap(&wrapping, &block[..block.len() - 2]).is_err());
    }
}
