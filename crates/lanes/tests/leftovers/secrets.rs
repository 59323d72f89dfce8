//! What a secret looks like in memory, whatever form it has.

use std::collections::HashMap;

/// The low bits of a word that hold a digit: those of a plain word, of radix 2^52 and of radix 2^51.
const DIGITS: [u32; 3] = [64, 52, 51];

/// Secrets, in every form that the lanes use.
///
/// A trace of one is any eight bytes of it in a row, in either order, wherever they lie; or any of its digits, in
/// an aligned word, whatever carry is above it. So a number beside seven others in the lanes is found as well.
#[derive(Default)]
pub(crate) struct Secrets {
    bytes: HashMap<u64, String>,
    digits: [HashMap<u64, String>; 3],
}

impl Secrets {
    /// Adds a number, big-endian: its bytes and its digits.
    pub(crate) fn number(&mut self, name: &str, number: &[u8]) {
        let mut little: Vec<u8> = number.iter().rev().copied().collect();
        self.bytes(name, number);
        self.bytes(name, &little);
        little.extend([0; 16]);
        for (bits, digits) in DIGITS.into_iter().zip(&mut self.digits) {
            for at in (0..8 * number.len()).step_by(bits as usize) {
                let window = u128::from_le_bytes(little[at / 8..][..16].try_into().expect("16"));
                let digit = (window >> (at % 8)) as u64 & low(bits);
                if is_telling(digit) {
                    digits.insert(digit, name.into());
                }
            }
        }
    }

    /// Adds bytes that are no number.
    pub(crate) fn bytes(&mut self, name: &str, bytes: &[u8]) {
        for window in bytes.windows(8) {
            let word = u64::from_le_bytes(window.try_into().expect("8 bytes"));
            if is_telling(word) {
                self.bytes.insert(word, name.into());
            }
        }
    }

    /// The names of the secrets of which there is a trace in `memory`, and how many bytes from its end.
    pub(crate) fn traces(&self, memory: &[u8]) -> Vec<String> {
        let mut found: HashMap<&str, (usize, usize)> = HashMap::new();
        for (at, window) in memory.windows(8).enumerate() {
            let word = u64::from_le_bytes(window.try_into().expect("8 bytes"));
            let as_bytes = self.bytes.get(&word);
            let aligned = (memory.as_ptr() as usize + at).is_multiple_of(8);
            let as_digit = DIGITS
                .into_iter()
                .zip(&self.digits)
                .filter(|_| aligned)
                .find_map(|(bits, digits)| digits.get(&(word & low(bits))));
            if let Some(name) = as_bytes.or(as_digit) {
                found.entry(name).or_insert((0, memory.len() - at)).0 += 1;
            }
        }
        let mut traces: Vec<String> = found
            .into_iter()
            .map(|(name, (count, at))| {
                format!("{name}: {count} words, the deepest {at} bytes down")
            })
            .collect();
        traces.sort();
        traces
    }
}

/// The low `bits` of a word.
fn low(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// Whether a word cannot be there by chance: neither a small number nor a repeated byte.
fn is_telling(word: u64) -> bool {
    let bytes = word.to_le_bytes();
    let different = |i: usize| !bytes[..i].contains(&bytes[i]);
    (0..8).filter(|&i| different(i)).count() >= 5
}
