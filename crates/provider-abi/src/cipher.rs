//! Ciphers: what an implementation says, and the C functions made of it.

use std::ffi::{c_int, c_uchar, c_void};
use std::slice;

use inout::InOutBuf;
use outboard_guest::memory;
use zeroize::Zeroizing;

use crate::boundary::tell;
use crate::context::{Context, bytes};
use crate::error::{Error, Reason, Result};
use crate::params::{Params, ParamsMut};
use crate::provider::{Provider, State};
use crate::raw::{Dispatch, Param, cipher};

/// No message is longer, nor data with it: what asks for more gave a wrong length.
const LONGEST: usize = 1 << 61;

/// Which way a cipher context runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Plaintext in, ciphertext out.
    Encrypt,
    /// Ciphertext in, plaintext out.
    Decrypt,
}

/// What a call hands to a cipher.
pub enum Piece<'a> {
    /// Data to authenticate: no output was given.
    Associated(&'a [u8]),
    /// Data to encrypt or decrypt.
    Text(InOutBuf<'a, 'a, u8>),
    /// Nothing: the message ends.
    End,
}

/// A cipher context with authenticated data (OpenSSL's provider-cipher(7)).
pub trait Cipher: Sized + Send + 'static {
    /// The provider it belongs to.
    type Provider: Provider;

    /// A fresh context.
    fn new(provider: &Self::Provider) -> Result<Self>;
    /// A context in the same state.
    fn duplicate(&self) -> Result<Self>;
    /// Sets direction, key and initialisation vector; what is none stays.
    fn init(&mut self, direction: Direction, key: Option<&[u8]>, iv: Option<&[u8]>) -> Result<()>;
    /// Takes associated data, encrypts, decrypts or ends the message; how many bytes were taken or written.
    fn process(&mut self, input: Piece<'_>) -> Result<usize>;
    /// Sets context parameters.
    fn set(&mut self, params: Params<'_>) -> Result<()>;
    /// Answers context parameters.
    fn get(&mut self, params: ParamsMut<'_>) -> Result<()>;
    /// Parameters that can be read from a context.
    fn gettable(provider: &Self::Provider) -> &'static [Param];
    /// Parameters that can be set on a context.
    fn settable(provider: &Self::Provider) -> &'static [Param];
    /// Parameters of the algorithm itself.
    fn describable(provider: &Self::Provider) -> &'static [Param];
    /// Answers those: mode, key length, flags. No context tells which libcrypto asks, so the table does.
    fn describe(params: ParamsMut<'_>, since_4_0: bool) -> Result<()>;
}

/// The dispatch table of a cipher, for a libcrypto of 4.0 or later or for an earlier one.
pub const fn table<C: Cipher, const SINCE_4_0: bool>() -> &'static [Dispatch] {
    const {
        &[
            entry!(cipher::NEWCTX, new::<C> as unsafe extern "C" fn(_) -> _),
            entry!(cipher::FREECTX, free::<C> as unsafe extern "C" fn(_)),
            entry!(
                cipher::DUPCTX,
                duplicate::<C> as unsafe extern "C" fn(_) -> _
            ),
            entry!(cipher::ENCRYPT_INIT, encrypt_init::<C> as Init),
            entry!(cipher::DECRYPT_INIT, decrypt_init::<C> as Init),
            entry!(cipher::UPDATE, update::<C> as Update),
            entry!(cipher::FINAL, finish::<C> as Final),
            entry!(cipher::CIPHER, once::<C> as Update),
            entry!(
                cipher::GET_PARAMS,
                describe::<C, SINCE_4_0> as unsafe extern "C" fn(_) -> _
            ),
            entry!(
                cipher::GET_CTX_PARAMS,
                get::<C> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                cipher::SET_CTX_PARAMS,
                set::<C> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                cipher::GETTABLE_PARAMS,
                describable::<C> as unsafe extern "C" fn(_) -> _
            ),
            entry!(
                cipher::GETTABLE_CTX_PARAMS,
                gettable::<C> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                cipher::SETTABLE_CTX_PARAMS,
                settable::<C> as unsafe extern "C" fn(_, _) -> _
            ),
            Dispatch::END,
        ]
    }
}

type Init = unsafe extern "C" fn(
    *mut c_void,
    *const c_uchar,
    usize,
    *const c_uchar,
    usize,
    *const Param,
) -> c_int;
type Update = unsafe extern "C" fn(
    *mut c_void,
    *mut c_uchar,
    *mut usize,
    usize,
    *const c_uchar,
    usize,
) -> c_int;
type Final = unsafe extern "C" fn(*mut c_void, *mut c_uchar, *mut usize, usize) -> c_int;

// SAFETY of every function below: libcrypto calls with the types and lifetimes of provider-cipher(7):
// a context made by `new` or `duplicate` and not yet freed, by one thread at a time; buffers of the
// lengths it tells; arrays of parameters that end with a null key.

unsafe extern "C" fn new<C: Cipher>(provider: *mut c_void) -> *mut c_void {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<C::Provider>::of(provider) };
    Context::make(state.core, || C::new(&state.provider).map(Some))
}

unsafe extern "C" fn free<C: Cipher>(context: *mut c_void) {
    // SAFETY: see above.
    unsafe { Context::<C>::free(context) };
}

unsafe extern "C" fn duplicate<C: Cipher>(context: *mut c_void) -> *mut c_void {
    // SAFETY: see above.
    unsafe { Context::<C>::duplicate(context, |cipher| cipher.duplicate().map(Some)) }
}

unsafe extern "C" fn encrypt_init<C: Cipher>(
    context: *mut c_void,
    key: *const c_uchar,
    key_length: usize,
    iv: *const c_uchar,
    iv_length: usize,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        let (key, iv) = (bytes(key, key_length), bytes(iv, iv_length));
        init::<C>(context, Direction::Encrypt, key, iv, Params::new(params))
    }
}

unsafe extern "C" fn decrypt_init<C: Cipher>(
    context: *mut c_void,
    key: *const c_uchar,
    key_length: usize,
    iv: *const c_uchar,
    iv_length: usize,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        let (key, iv) = (bytes(key, key_length), bytes(iv, iv_length));
        init::<C>(context, Direction::Decrypt, key, iv, Params::new(params))
    }
}

#[inline]
unsafe fn init<C: Cipher>(
    context: *mut c_void,
    direction: Direction,
    key: Option<&[u8]>,
    iv: Option<&[u8]>,
    params: Params<'_>,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<C>::with_brief(context, 0, |cipher| {
            // A key takes memory.
            if key.is_some() && memory::is_low() {
                return Err(Error::from(Reason::Resource));
            }
            cipher.init(direction, key, iv)?;
            cipher.set(params)?;
            Ok(1)
        })
    }
}

unsafe extern "C" fn update<C: Cipher>(
    context: *mut c_void,
    output: *mut c_uchar,
    output_length: *mut usize,
    room: usize,
    input: *const c_uchar,
    length: usize,
) -> c_int {
    // SAFETY: see above; `feed` checks the room.
    unsafe {
        Context::<C>::with_core(context, 0, |cipher, core| {
            if length == 0 {
                output_length.write(0);
                return Ok(1);
            }
            if room < length {
                return Err(Error::from(Reason::BufferTooSmall));
            }
            match feed(cipher, output, input, length) {
                Ok(written) => {
                    output_length.write(written);
                    Ok(1)
                }
                Err(error) => {
                    output_length.write(0);
                    tell(core, &error);
                    Err(Error::from(Reason::CipherOperationFailed))
                }
            }
        })
    }
}

unsafe extern "C" fn finish<C: Cipher>(
    context: *mut c_void,
    _output: *mut c_uchar,
    output_length: *mut usize,
    _room: usize,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<C>::with_brief(context, 0, |cipher| {
            output_length.write(0);
            cipher.process(Piece::End).map(|_| 1)
        })
    }
}

/// `EVP_Cipher`: all in one call; without input it ends the message. It answers how much went in, as OpenSSL's own do:
/// of a TLS record that was opened, that is more than came out.
unsafe extern "C" fn once<C: Cipher>(
    context: *mut c_void,
    output: *mut c_uchar,
    output_length: *mut usize,
    room: usize,
    input: *const c_uchar,
    length: usize,
) -> c_int {
    // SAFETY: see above; `feed` checks the room.
    unsafe {
        Context::<C>::with_brief(context, 0, |cipher| {
            if room < length {
                return Err(Error::from(Reason::BufferTooSmall));
            }
            output_length.write(0);
            feed(cipher, output, input, length)?;
            output_length.write(length);
            Ok(1)
        })
    }
}

/// # Safety
/// `input` is null or leads to `length` bytes; `output` is null or leads to room for them.
#[inline]
unsafe fn feed<C: Cipher>(
    cipher: &mut C,
    output: *mut c_uchar,
    input: *const c_uchar,
    length: usize,
) -> Result<usize> {
    if input.is_null() {
        return cipher.process(Piece::End);
    }
    if length > LONGEST {
        return Err(Error::silent());
    }
    if output.is_null() {
        // SAFETY: `length` bytes by the caller's word.
        return cipher.process(Piece::Associated(unsafe {
            slice::from_raw_parts(input, length)
        }));
    }
    let (from, to) = (input as usize, output as usize);
    if from != to && from < to.wrapping_add(length) && to < from.wrapping_add(length) {
        // What overlaps partly comes out as if it did not.
        // SAFETY: `length` bytes by the caller's word.
        let copy = copied(unsafe { slice::from_raw_parts(input, length) })?;
        // SAFETY: the copy is apart from the output, which has room by the caller's word.
        return cipher.process(Piece::Text(unsafe {
            InOutBuf::from_raw(copy.as_ptr(), output, length)
        }));
    }
    // SAFETY: both lead to at least `length` bytes and are the same or apart, as just checked.
    cipher.process(Piece::Text(unsafe {
        InOutBuf::from_raw(input, output, length)
    }))
}

/// A copy of what may be as large as a program's message; an error where there is no memory for it.
fn copied(bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let mut copy = Zeroizing::new(Vec::new());
    copy.try_reserve_exact(bytes.len())
        .map_err(|_| Reason::Resource)?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

unsafe extern "C" fn set<C: Cipher>(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<C>::with_brief(context, 0, |cipher| {
            cipher.set(Params::new(params)).map(|()| 1)
        })
    }
}

unsafe extern "C" fn get<C: Cipher>(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<C>::with_brief(context, 0, |cipher| {
            cipher.get(ParamsMut::new(params)).map(|()| 1)
        })
    }
}

unsafe extern "C" fn describe<C: Cipher, const SINCE_4_0: bool>(params: *mut Param) -> c_int {
    // SAFETY: see above. No core is at hand; an error here is not worth more than its answer.
    std::panic::catch_unwind(|| C::describe(unsafe { ParamsMut::new(params) }, SINCE_4_0))
        .is_ok_and(|answered| answered.is_ok())
        .into()
}

unsafe extern "C" fn describable<C: Cipher>(provider: *mut c_void) -> *const Param {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<C::Provider>::of(provider) };
    C::describable(&state.provider).as_ptr()
}

unsafe extern "C" fn gettable<C: Cipher>(
    _context: *mut c_void,
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<C::Provider>::of(provider) };
    C::gettable(&state.provider).as_ptr()
}

unsafe extern "C" fn settable<C: Cipher>(
    _context: *mut c_void,
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<C::Provider>::of(provider) };
    C::settable(&state.provider).as_ptr()
}
