//! HMAC (RFC 2104) for the key schedules of TLS: many short messages, each with a key of its own.
//!
//! ```text
//! key ──▶ inner = state after key ⊕ 0x36…     outer = state after key ⊕ 0x5c…
//! HMAC(message) = outer, inner, message:  hash(outer ‖ hash(inner ‖ message))
//! ```
//!
//! AWS-LC's own HMAC asks for memory and fetches its digest for each key. Here a keyed state is some hundred bytes on the
//! caller's stack, copied for each message and wiped at the end.

use std::ffi::{c_int, c_void};

use aws_lc_sys as lc;
use zeroize::Zeroize;

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

    /// How many bytes a block has.
    pub const fn block(&self) -> usize {
        self.block
    }

    /// The hash of some bytes.
    pub fn of(self, data: &[u8]) -> Code {
        let mut state = State::new(self);
        state.update(data);
        state.finish()
    }
}

/// A hash or code, wiped when dropped.
#[derive(Clone)]
pub struct Code {
    bytes: [u8; MAX_LENGTH],
    length: usize,
}

impl std::ops::Deref for Code {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

/// As many words as the larger state has.
const WORDS: usize = size_of::<lc::SHA512_CTX>() / 8;
const _: () = assert!(size_of::<lc::SHA256_CTX>() <= 8 * WORDS);

/// A hash under way, wiped when dropped.
#[derive(Clone)]
struct State {
    words: [u64; WORDS],
    hash: Hash,
}

impl State {
    fn new(hash: Hash) -> Self {
        let mut state = Self {
            words: [0; WORDS],
            hash,
        };
        // SAFETY: room for the state of either hash, aligned for it. (It answers 1, always.)
        unsafe { (hash.functions.init)(state.words.as_mut_ptr().cast()) };
        state
    }

    fn update(&mut self, data: &[u8]) {
        // SAFETY: begun by `new`; reads as many bytes as there are.
        unsafe {
            (self.hash.functions.update)(
                self.words.as_mut_ptr().cast(),
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
            (self.hash.functions.finish)(code.bytes.as_mut_ptr(), self.words.as_mut_ptr().cast());
        }
        code
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.words.zeroize();
    }
}

/// A key, made ready for many messages. Wiped when dropped.
#[derive(Clone)]
pub struct Key {
    inner: State,
    outer: State,
}

impl Key {
    /// Of any length.
    pub fn new(hash: Hash, key: &[u8]) -> Self {
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
        block.zeroize();
        Self { inner, outer }
    }

    /// Begins a message.
    pub fn begin(&self) -> Message {
        Message(self.inner.clone())
    }

    /// The code of a message.
    pub fn finish(&self, message: Message) -> Code {
        let inner = message.0.finish();
        let mut outer = self.outer.clone();
        outer.update(&inner);
        outer.finish()
    }

    /// The code of a message in parts.
    pub fn code(&self, parts: &[&[u8]]) -> Code {
        let mut message = self.begin();
        parts.iter().for_each(|part| message.update(part));
        self.finish(message)
    }

    /// Its hash.
    pub fn hash(&self) -> Hash {
        self.inner.hash
    }
}

/// A message under way. Wiped when dropped.
#[derive(Clone)]
pub struct Message(State);

impl Message {
    /// Takes more of it.
    pub fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
