//! Pointers of C programs, read into bytes of ours and written from them. They are hostile: each may be null, each number is
//! checked before it counts memory.

use std::ffi::{c_long, c_void};
use std::ptr;

use outboard_wire::MOST_MESSAGE;
use zeroize::Zeroizing;

use crate::call::Codes;
use crate::{Kind, Verb, list, sizes};

/// The length of a keyword, and of a label.
const KEYWORD: usize = 8;
pub(crate) const LABEL: usize = 64;
/// The most keywords of a rule array.
const MOST_KEYWORDS: usize = 64;

/// What a part of a text does not make: the program's room and its length stay for the last part. A share that was installed stays, too.
const LEFT_ALONE: &[&str] = &[
    "chaining_vector",
    "hash",
    "mac_text",
    "clone_info",
    "clone_info_encrypting_key",
];

/// A length is wrong, or a pointer is null that must not be.
const SIZE: Codes = Codes(8, 72);
const TOO_LONG: Codes = Codes(8, 153);
const KEYWORD_COUNT: Codes = Codes(8, 35);

/// The pointers of one call.
pub(crate) struct Arguments<'a> {
    pub(crate) verb: &'static Verb,
    pointers: &'a [*mut c_void],
}

impl<'a> Arguments<'a> {
    /// # Safety
    /// There is a pointer for each parameter; each is null, or leads to as much memory as the parameter's kind says, for this call.
    pub(crate) unsafe fn new(verb: &'static Verb, pointers: &'a [*mut c_void]) -> Self {
        Self { verb, pointers }
    }

    /// The place of the parameter of that name that goes that way.
    pub(crate) fn place(&self, name: &str, is_wanted: impl Fn(Kind) -> bool) -> Option<usize> {
        let mut parameters = self.verb.parameters.iter();
        parameters.position(|parameter| {
            let is_named = match parameter.kind {
                // It stands for the labels.
                Kind::List(_) => name == "key_labels",
                _ => parameter.name == name,
            };
            is_named && is_wanted(parameter.kind)
        })
    }

    pub(crate) fn kind(&self, place: usize) -> Kind {
        self.verb.parameters[place].kind
    }

    /// A number; zero where the pointer is null.
    pub(crate) fn number(&self, place: usize) -> c_long {
        let pointer = self.pointers[place].cast::<c_long>();
        match pointer.is_null() {
            true => 0,
            // SAFETY: a number, as the caller of `new` promised. It may lie anywhere.
            false => unsafe { pointer.read_unaligned() },
        }
    }

    /// A number that counts bytes.
    fn length(&self, place: usize) -> Result<usize, Codes> {
        match usize::try_from(self.number(place)) {
            Err(_) => Err(SIZE),
            Ok(length) if length > MOST_MESSAGE => Err(TOO_LONG),
            Ok(length) => Ok(length),
        }
    }

    /// The keywords of the rule array that goes in, eight bytes each.
    pub(crate) fn rules(&self) -> Result<Vec<u8>, Codes> {
        let is_in = |kind| matches!(kind, Kind::Keywords(way, _) if way.is_in());
        match self.place("rule_array", is_in) {
            Some(place) => Ok(self.keywords(place)?.to_vec()),
            None => Ok(Vec::new()),
        }
    }

    fn keywords(&self, place: usize) -> Result<Zeroizing<Vec<u8>>, Codes> {
        let Kind::Keywords(_, count) = self.kind(place) else {
            return Err(KEYWORD_COUNT);
        };
        match usize::try_from(self.number(count)) {
            Ok(count) if count <= MOST_KEYWORDS => self.memory(place, count * KEYWORD),
            _ => Err(KEYWORD_COUNT),
        }
    }

    /// What a parameter brings in, which is not a number.
    pub(crate) fn bytes(&self, place: usize, rules: &[u8]) -> Result<Zeroizing<Vec<u8>>, Codes> {
        match self.kind(place) {
            Kind::Fixed(way, length) if way.is_in() => {
                // What a verb does not need may be null.
                let is_null = self.pointers[place].is_null();
                self.memory(place, if is_null { 0 } else { length })
            }
            Kind::Sized(way, length, _) if way.is_in() => {
                let bytes = self.memory(place, self.length(length)?)?;
                Ok(match way.is_out() {
                    true => trimmed(self.verb.parameters[place].name, bytes),
                    false => bytes,
                })
            }
            Kind::ByRules(way, what) if way.is_in() => {
                let number = match place
                    .checked_sub(1)
                    .map(|before| (before, self.kind(before)))
                {
                    Some((before, Kind::Number(_))) => self.length(before)?,
                    _ => 0,
                };
                self.memory(place, sizes::size(what, rules, number))
            }
            Kind::Keywords(..) => self.keywords(place),
            _ => Ok(Zeroizing::default()),
        }
    }

    fn memory(&self, place: usize, length: usize) -> Result<Zeroizing<Vec<u8>>, Codes> {
        let pointer = self.pointers[place].cast::<u8>();
        let mut bytes = Zeroizing::new(Vec::new());
        if length == 0 {
            return Ok(bytes);
        }
        if pointer.is_null() {
            return Err(SIZE);
        }
        if bytes.try_reserve_exact(length).is_err() {
            return Err(Codes(12, 338));
        }
        // SAFETY: the memory has so many bytes, as the caller of `new` promised; so has the room.
        unsafe {
            ptr::copy(pointer, bytes.as_mut_ptr(), length);
            bytes.set_len(length);
        }
        Ok(bytes)
    }

    /// Writes a number.
    pub(crate) fn put_number(&self, place: usize, number: u64) {
        let pointer = self.pointers[place].cast::<c_long>();
        if !pointer.is_null() {
            // SAFETY: a number, as the caller of `new` promised.
            unsafe { pointer.write_unaligned(c_long::try_from(number).unwrap_or(c_long::MAX)) };
        }
    }

    /// Writes what a verb made.
    pub(crate) fn put_bytes(&self, place: usize, mut bytes: &[u8]) -> Result<(), Codes> {
        let room = match self.kind(place) {
            Kind::Fixed(_, length) => length,
            Kind::Sized(_, length, more) => {
                let name = self.verb.parameters[place].name;
                if bytes.is_empty() && LEFT_ALONE.contains(&name) {
                    return Ok(());
                }
                let room = self.length(length)? + more;
                // A program that has less room for a code asks for a shorter one.
                if name == "mac_text" {
                    bytes = &bytes[..bytes.len().min(room)];
                }
                self.put_number(length, bytes.len() as u64);
                room
            }
            // The number of bytes follows from the rule array, as the program knows.
            Kind::ByRules(..) => bytes.len(),
            Kind::Keywords(way, count) => {
                // The program says how many there is room for, unless the number is of the keywords that it brings.
                if !way.is_in() {
                    let room = usize::try_from(self.number(count)).map_err(|_| SIZE)?;
                    if bytes.len() / KEYWORD > room {
                        return Err(SIZE);
                    }
                }
                self.put_number(count, (bytes.len() / KEYWORD) as u64);
                bytes.len()
            }
            _ => 0,
        };
        if bytes.len() > room {
            return Err(SIZE);
        }
        self.put(place, bytes)
    }

    /// Writes labels, as many as there is room for; or into a file, of which the program gets the name.
    pub(crate) fn put_labels(&self, place: usize, labels: &[&[u8]]) -> Result<(), Codes> {
        let count = match self.kind(place) {
            Kind::Labels(count) => count,
            Kind::List(length) => {
                let room = self.length(length)?;
                let name = list::written(labels, room)?;
                self.put_number(length, name.len() as u64);
                return self.put(place, &name);
            }
            _ => return Err(SIZE),
        };
        let room = usize::try_from(self.number(count)).map_err(|_| SIZE)?;
        let labels = &labels[..labels.len().min(room)];
        let mut padded = vec![b' '; labels.len() * LABEL];
        for (place, label) in padded.chunks_mut(LABEL).zip(labels) {
            let length = label.len().min(LABEL);
            place[..length].copy_from_slice(&label[..length]);
        }
        self.put_number(count, labels.len() as u64);
        self.put(place, &padded)
    }

    fn put(&self, place: usize, bytes: &[u8]) -> Result<(), Codes> {
        let pointer = self.pointers[place].cast::<u8>();
        match (bytes.is_empty(), pointer.is_null()) {
            (true, _) => Ok(()),
            (false, true) => Err(SIZE),
            (false, false) => {
                // SAFETY: there is room, as the caller of `new` promised; ours and the program's memory do not overlap.
                unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), pointer, bytes.len()) };
                Ok(())
            }
        }
    }
}

/// A token that goes in and out stands in a buffer for the longest one: its own header says where it ends.
fn trimmed(name: &str, mut bytes: Zeroizing<Vec<u8>>) -> Zeroizing<Vec<u8>> {
    let is_key =
        name.contains("key") && !name.contains("parms") && name != "clone_info_encrypting_key";
    let length = match bytes[..] {
        [0x01 | 0x02, _, high, low, 0x05, ..] => usize::from(high) << 8 | usize::from(low),
        [0x1e | 0x1f, _, high, low, ..] => usize::from(high) << 8 | usize::from(low),
        [first, ..] if first > b' ' => LABEL,
        _ => bytes.len(),
    };
    if is_key {
        bytes.truncate(length);
    }
    bytes
}
