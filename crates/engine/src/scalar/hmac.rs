//! HMAC (RFC 2104) for the key schedules of TLS and for RSA: many short messages, each with a key of its own.
//!
//! ```text
//! key ──▶ inner = state after key ⊕ 0x36…     outer = state after key ⊕ 0x5c…
//! HMAC(message) = outer, inner, message:  hash(outer ‖ hash(inner ‖ message))
//! ```
//!
//! AWS-LC's own HMAC asks for memory and fetches its digest for each key. Here a keyed state is some hundred bytes on the
//! stack, copied for each message. Nothing is wiped here: `key_schedule` and `rsa` clear the stack below each derivation,
//! with all that the compiler has copied there.

use std::ffi::{c_int, c_void};

use aws_lc_sys as lc;

/// The most bytes that a code of any hash here has.
pub const MAX_LENGTH: usize = 48;
/// The most bytes of a block.
const MAX_BLOCK: usize = 128;

/// A hash: SHA-256, or SHA-384 by AWS-LC or by functions of the program's own.
#[derive(Clone, Copy)]
pub struct Hash {
    functions: Functions,
    length: usize,
    block: usize,
    of_nothing: &'static [u8],
}

/// What begins, goes on with and ends a hash. The states of OpenSSL (`SHA256_CTX`, `SHA512_CTX`) and of AWS-LC have one
/// layout, and hold no pointers.
#[derive(Clone, Copy)]
pub struct Functions {
    /// As `SHA384_Init`.
    pub init: unsafe extern "C" fn(*mut c_void) -> c_int,
    /// As `SHA384_Update`.
    pub update: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_int,
    /// As `SHA384_Final`.
    pub finish: unsafe extern "C" fn(*mut u8, *mut c_void) -> c_int,
}

unsafe extern "C" fn sha256_init(state: *mut c_void) -> c_int {
    // SAFETY: a state, by the word of whoever calls through `Functions`.
    unsafe { lc::SHA256_Init(state.cast()) }
}

unsafe extern "C" fn sha256_update(
    state: *mut c_void,
    data: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: as above.
    unsafe { lc::SHA256_Update(state.cast(), data, length) }
}

unsafe extern "C" fn sha256_finish(output: *mut u8, state: *mut c_void) -> c_int {
    // SAFETY: as above.
    unsafe { lc::SHA256_Final(output, state.cast()) }
}

unsafe extern "C" fn sha384_init(state: *mut c_void) -> c_int {
    // SAFETY: as above.
    unsafe { lc::SHA384_Init(state.cast()) }
}

unsafe extern "C" fn sha384_update(
    state: *mut c_void,
    data: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: as above.
    unsafe { lc::SHA384_Update(state.cast(), data, length) }
}

unsafe extern "C" fn sha384_finish(output: *mut u8, state: *mut c_void) -> c_int {
    // SAFETY: as above.
    unsafe { lc::SHA384_Final(output, state.cast()) }
}

impl Hash {
    /// SHA-256.
    pub const SHA256: Self = Self {
        functions: Functions {
            init: sha256_init,
            update: sha256_update,
            finish: sha256_finish,
        },
        length: 32,
        block: 64,
        of_nothing: &[
            0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f,
            0xb9, 0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b,
            0x78, 0x52, 0xb8, 0x55,
        ],
    };

    /// SHA-384.
    pub const SHA384: Self = Self {
        functions: Functions {
            init: sha384_init,
            update: sha384_update,
            finish: sha384_finish,
        },
        length: 48,
        block: 128,
        of_nothing: &[
            0x38, 0xb0, 0x60, 0xa7, 0x51, 0xac, 0x96, 0x38, 0x4c, 0xd9, 0x32, 0x7e, 0xb1, 0xb1,
            0xe3, 0x6a, 0x21, 0xfd, 0xb7, 0x11, 0x14, 0xbe, 0x07, 0x43, 0x4c, 0x0c, 0xc7, 0xbf,
            0x63, 0xf6, 0xe1, 0xda, 0x27, 0x4e, 0xde, 0xbf, 0xe7, 0x6f, 0x65, 0xfb, 0xd5, 0x1a,
            0xd2, 0xf1, 0x48, 0x98, 0xb9, 0x5b,
        ],
    };

    /// The same hash by other functions: a program's own OpenSSL's.
    ///
    /// # Safety
    /// They are that hash on states of OpenSSL's layout, and stay callable for as long as anything made with them.
    pub const unsafe fn by(self, functions: Functions) -> Self {
        Self { functions, ..self }
    }

    /// How many bytes a hash has.
    pub const fn length(&self) -> usize {
        self.length
    }

    /// The hash of no bytes.
    pub(super) const fn of_nothing(&self) -> &'static [u8] {
        self.of_nothing
    }

    /// The hash of some bytes.
    pub(super) fn of(self, data: &[u8]) -> Code {
        let mut state = State::new(self);
        state.update(data);
        state.finish()
    }
}

/// A hash or code.
#[derive(Clone)]
pub(super) struct Code {
    bytes: [u8; MAX_LENGTH],
    length: usize,
}

impl std::ops::Deref for Code {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Room for the state of any hash here.
#[derive(Clone)]
#[repr(align(8))]
struct Room([u8; size_of::<lc::SHA512_CTX>()]);

const _: () = assert!(size_of::<lc::SHA256_CTX>() <= size_of::<Room>());
const _: () = assert!(align_of::<lc::SHA512_CTX>() <= align_of::<Room>());

/// A hash under way.
#[derive(Clone)]
struct State {
    room: Room,
    hash: Hash,
}

impl State {
    fn new(hash: Hash) -> Self {
        let mut state = Self {
            room: Room([0; size_of::<Room>()]),
            hash,
        };
        // SAFETY: room for the state of either hash, aligned for it. (It answers 1, always.)
        unsafe { (hash.functions.init)(state.room.0.as_mut_ptr().cast()) };
        state
    }

    fn update(&mut self, data: &[u8]) {
        // SAFETY: begun by `new`; reads as many bytes as there are.
        unsafe {
            (self.hash.functions.update)(
                self.room.0.as_mut_ptr().cast(),
                data.as_ptr().cast(),
                data.len(),
            );
        }
    }

    fn finish(mut self) -> Code {
        let mut code = Code {
            bytes: [0; MAX_LENGTH],
            length: self.hash.length,
        };
        // SAFETY: begun by `new`; there is room for either hash.
        unsafe {
            (self.hash.functions.finish)(code.bytes.as_mut_ptr(), self.room.0.as_mut_ptr().cast());
        }
        code
    }
}

/// A key, made ready for many messages.
pub(super) struct Key {
    inner: State,
    outer: State,
}

impl Key {
    /// Of any length.
    pub(super) fn new(hash: Hash, key: &[u8]) -> Self {
        let hashed;
        let key = match key.len() > hash.block {
            true => {
                hashed = hash.of(key);
                &hashed[..]
            }
            false => key,
        };
        let mut block = [0; MAX_BLOCK];
        let block = &mut block[..hash.block];
        block[..key.len()].copy_from_slice(key);
        let mut keyed = |pad: u8| {
            block.iter_mut().for_each(|byte| *byte ^= pad);
            let mut state = State::new(hash);
            state.update(block);
            state
        };
        let (inner, outer) = (keyed(0x36), keyed(0x36 ^ 0x5c));
        Self { inner, outer }
    }

    /// Begins a message.
    pub(super) fn begin(&self) -> Message {
        Message(self.inner.clone())
    }

    /// The code of a message.
    pub(super) fn finish(&self, message: Message) -> Code {
        let inner = message.0.finish();
        let mut outer = self.outer.clone();
        outer.update(&inner);
        outer.finish()
    }

    /// The code of a message in parts.
    pub(super) fn code(&self, parts: &[&[u8]]) -> Code {
        let mut message = self.begin();
        parts.iter().for_each(|part| message.update(part));
        self.finish(message)
    }
}

/// A message under way.
pub(super) struct Message(State);

impl Message {
    /// Takes more of it.
    pub(super) fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_nothing_is_known() {
        for hash in [Hash::SHA256, Hash::SHA384] {
            assert_eq!(hash.of(&[])[..], *hash.of_nothing());
        }
    }

    /// RFC 4231, test cases 2 and 6 (a key longer than a block).
    #[test]
    fn codes_are_those_of_rfc_4231() {
        let jefe = Key::new(Hash::SHA256, b"Jefe");
        let code = jefe.code(&[b"what do ya want ", b"for nothing?"]);
        assert_eq!(code[..4], [0x5b, 0xdc, 0xc1, 0x46]);
        let long = Key::new(Hash::SHA384, &[0xaa; 131]);
        let code = long.code(&[b"Test Using Larger Than Block-Size Key - Hash Key First"]);
        assert_eq!(code[..4], [0x4e, 0xce, 0x08, 0x44]);
    }
}
