//! What the engine has answered for, and stock has not heard: told to stock when it is needed after all.

use std::ffi::{CStr, c_uint};

use outboard_engine::scalar::wipe;
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{ParamList, ParamRef, Params};

/// Bytes of room: the settings of a TLS key derivation take some 250. What has none goes to stock at once.
const ROOM: usize = 512;

/// Copies of parameters, in order. They hold secrets: wiped when dropped, and when they are told.
///
/// A list on the heap would cost more than what is saved by not asking stock.
pub(crate) struct Owed {
    /// For each: its type, the lengths of its name (with the NUL) and value, the name, the value.
    bytes: [u8; ROOM],
    used: usize,
}

/// Bytes before each name: a type, and two lengths of two bytes.
const HEAD: usize = 5;

impl Owed {
    pub(crate) const NOTHING: Self = Self {
        bytes: [0; ROOM],
        used: 0,
    };

    pub(crate) fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Notes those parameters; false, and nothing noted, where there is no room for them.
    pub(crate) fn note(&mut self, params: Params<'_>) -> bool {
        let before = self.used;
        for param in params {
            if !self.note_one(&param) {
                wipe(&mut self.bytes[before..self.used]);
                self.used = before;
                return false;
            }
        }
        true
    }

    fn note_one(&mut self, param: &ParamRef<'_>) -> bool {
        let Some((kind, value)) = param.copied() else {
            return false;
        };
        let name = param.name().to_bytes_with_nul();
        let end = self.used + HEAD + name.len() + value.len();
        let (Ok(kind), true) = (u8::try_from(kind), end <= ROOM) else {
            return false;
        };
        let mut rest = &mut self.bytes[self.used..end];
        let mut put = |piece: &[u8]| {
            let (place, behind) = std::mem::take(&mut rest).split_at_mut(piece.len());
            place.copy_from_slice(piece);
            rest = behind;
        };
        put(&[kind]);
        put(&(name.len() as u16).to_ne_bytes());
        put(&(value.len() as u16).to_ne_bytes());
        put(name);
        put(value);
        self.used = end;
        true
    }

    /// Tells them, and forgets them.
    pub(crate) fn tell<R>(&mut self, hear: impl FnOnce(Params<'_>) -> R) -> R {
        let mut list = ParamList::new();
        let mut rest = &self.bytes[..self.used];
        while let [kind, n0, n1, v0, v1, behind @ ..] = rest {
            let lengths =
                [[*n0, *n1], [*v0, *v1]].map(|pair| usize::from(u16::from_ne_bytes(pair)));
            let (name, behind) = behind.split_at(lengths[0]);
            let (value, behind) = behind.split_at(lengths[1]);
            if let Ok(name) = CStr::from_bytes_with_nul(name) {
                list = list.value(name, c_uint::from(*kind), value);
            }
            rest = behind;
        }
        self.forget();
        list.with_array(|array: *const Param| {
            // SAFETY: the list's own array, whole for the call.
            hear(unsafe { Params::new(array) })
        })
    }

    /// Forgets them.
    pub(crate) fn forget(&mut self) {
        wipe(&mut self.bytes[..self.used]);
        self.used = 0;
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_told_in_order_with_all_of_one_name() {
        let list = ParamList::new()
            .text(c"digest", "SHA256")
            .octets(c"seed", b"one")
            .octets(c"seed", b"two")
            .octets(c"key", b"");
        let mut owed = Owed::NOTHING;
        list.with_array(|array| {
            // SAFETY: the list's own array, whole for the call.
            assert!(owed.note(unsafe { Params::new(array) }));
        });
        let told = owed.tell(|params| {
            let each = params.map(|param| {
                let (kind, value) = param.copied().expect("whole");
                (kind, param.name().to_owned(), value.to_vec())
            });
            each.collect::<Vec<_>>()
        });
        let expected = [
            (4, c"digest", &b"SHA256"[..]),
            (5, c"seed", b"one"),
            (5, c"seed", b"two"),
            (5, c"key", b""),
        ];
        let expected = expected.map(|(kind, name, value)| (kind, name.to_owned(), value.to_vec()));
        assert_eq!(told, expected);
        assert!(owed.is_empty());
    }

    #[test]
    fn what_has_no_room_leaves_nothing() {
        let mut owed = Owed::NOTHING;
        let list = ParamList::new()
            .octets(c"key", b"secret")
            .octets(c"seed", &[1; ROOM]);
        list.with_array(|array| {
            // SAFETY: the list's own array, whole for the call.
            assert!(!owed.note(unsafe { Params::new(array) }));
        });
        assert!(owed.is_empty() && owed.bytes == [0; ROOM]);
    }
}
