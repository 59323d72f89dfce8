//! Keys of chip cards and the message that changes a card's PIN (EMV 2000, book 2, annex A1.3; VIS): what CSNBPCU is made of.

use outboard_engine::scalar::des3::set_odd_parity;
use zeroize::Zeroizing;

use super::des::{Block, Cipher, xor};
use super::pin::Pin;
use crate::answer::{Outcome, Refusal};

/// A key of two parts.
pub(crate) type Double = Zeroizing<[u8; 16]>;

/// What the issuer's key makes of a card's data, 8 or 16 bytes: the card's own key before its parity is set. Of eight bytes, the
/// second half is made of their complement.
pub(crate) fn diversified(issuer: &Cipher, data: &[u8]) -> Outcome<Double> {
    let mut blocks = Zeroizing::new([0; 16]);
    match data.len() {
        8 => {
            blocks[..8].copy_from_slice(data);
            let second = blocks[8..].iter_mut().zip(data);
            second.for_each(|(to, byte)| *to = !byte);
        }
        16 => blocks.copy_from_slice(data),
        _ => return Err(Refusal::Size),
    }
    let halves = blocks.as_chunks_mut::<8>().0;
    halves.iter_mut().for_each(|half| issuer.encrypt(half));
    Ok(blocks)
}

/// How a card's key becomes the key of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Session {
    /// The counter is added to the last two bytes of the first half, its complement to those of the second.
    Xor,
    /// EMV 2000's tree, with so many branches at each knot: two, or four.
    Tree(u16),
}

/// The key of the session that the card's transaction counter names. `first` is the tree's initial value.
pub(crate) fn session_key(
    how: Session,
    card: &Double,
    counter: [u8; 2],
    first: &[u8; 16],
) -> Outcome<Double> {
    match how {
        Session::Xor => {
            let mut key = card.clone();
            xor(&mut key[6..8], &counter);
            xor(&mut key[14..], &counter.map(|byte| !byte));
            Ok(key)
        }
        Session::Tree(branches) => {
            // The card has its key with odd parities, and the tree encrypts keys, too.
            let mut root = card.clone();
            set_odd_parity(&mut *root);
            let height = if branches == 2 { 16 } else { 8 };
            tree(&root, u16::from_be_bytes(counter), branches, height, first)
        }
    }
}

/// Each key of the tree is the key above it, applied to the key above that one.
fn tree(
    root: &Double,
    counter: u16,
    branches: u16,
    height: u32,
    first: &[u8; 16],
) -> Outcome<Double> {
    let (mut parent, mut grandparent) = (root.clone(), Zeroizing::new(*first));
    let mut key = root.clone();
    for level in 1..=height {
        let branch = counter / branches.pow(height - level) % branches;
        key = child(&parent, &grandparent, branch as u8)?;
        if level == height {
            xor(&mut *key, &*grandparent);
        }
        grandparent = std::mem::replace(&mut parent, key.clone());
    }
    Ok(key)
}

fn child(parent: &Double, grandparent: &Double, branch: u8) -> Outcome<Double> {
    let cipher = Cipher::new(&**parent).ok_or(Refusal::KeyLength)?;
    let mut key = grandparent.clone();
    key[7] ^= branch;
    key[15] ^= branch ^ 0xf0;
    let halves = key.as_chunks_mut::<8>().0;
    halves.iter_mut().for_each(|half| cipher.encrypt(half));
    Ok(key)
}

/// The block that tells a card its new PIN: the PIN with its length, the card's code, and the PIN that it has, if any.
pub(crate) fn change_block(code: [u8; 4], new: &Pin, current: Option<&Pin>) -> Zeroizing<Block> {
    let mut nibbles = Zeroizing::new([0xf_u8; 16]);
    let digits = new.digits();
    (nibbles[0], nibbles[1]) = (0, digits.len() as u8);
    nibbles[2..2 + digits.len()].copy_from_slice(digits);
    if let Some(current) = current {
        xor(&mut *nibbles, current.digits());
    }
    let mut block = Zeroizing::new(std::array::from_fn(|at| {
        nibbles[2 * at] << 4 | nibbles[2 * at + 1]
    }));
    xor(&mut block[4..], &code);
    block
}

/// The block with its length before it, filled up (ISO 9797-1, method 2), encrypted block by block.
pub(crate) fn sealed(key: &Double, block: &Block) -> Outcome<[u8; 16]> {
    let mut message = Zeroizing::new([0; 16]);
    message[0] = block.len() as u8;
    message[1..9].copy_from_slice(block);
    message[9] = 0x80;
    let cipher = Cipher::new(&**key).ok_or(Refusal::KeyLength)?;
    let halves = message.as_chunks_mut::<8>().0;
    halves.iter_mut().for_each(|half| cipher.encrypt(half));
    Ok(*message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02X}")).collect()
    }

    fn master() -> Double {
        let halves = [0x0123_4567_89ab_cdef_u64, 0xfedc_ba98_7654_3210];
        Zeroizing::new(halves.map(u64::to_be_bytes).concat().try_into().unwrap())
    }

    /// The examples in the documentation of PyPI's pyemv 1.5.0, whose keys have odd parities.
    #[test]
    fn keys_and_blocks_are_those_of_another_implementation() {
        let issuer = Cipher::new(&*master()).unwrap();
        let data = 0x2345_6789_0123_4567_u64.to_be_bytes();
        // derive_icc_mk_a(pan="12345678901234567", psn="01"): the last 16 digits of both.
        let mut card = diversified(&issuer, &0x4567_8901_2345_6701_u64.to_be_bytes()).unwrap();
        set_odd_parity(&mut *card);
        assert_eq!(hex(&*card), "73AD54688CEF2934B0979857E3C719F1");
        assert_eq!(diversified(&issuer, &data).unwrap()[..8], {
            let mut block = data;
            issuer.encrypt(&mut block);
            block
        });
        let odd = |how| {
            let mut key = session_key(how, &master(), [0, 0x1c], &[0; 16]).unwrap();
            set_odd_parity(&mut *key);
            hex(&*key)
        };
        assert_eq!(odd(Session::Xor), "0123456789ABCDF2FEDCBA987654CDF2");
        assert_eq!(odd(Session::Tree(4)), "E5BF6D1067F194B0A89B7F5D83BC64A2");
        let code = master()[4..8].try_into().unwrap();
        let pin = Pin::of_text(b"1234").unwrap();
        assert_eq!(hex(&*change_block(code, &pin, None)), "041234FF76543210");
    }
}
