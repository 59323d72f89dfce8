//! Ciphers: what an implementation says, and the C functions made of it.

use std::ffi::{c_int, c_uchar, c_void};
use std::slice;

use inout::InOutBuf;

use crate::context::{Context, bytes};
use crate::error::{Error, Reason, Result};
use crate::params::{Params, ParamsMut};
use crate::provider::{Provider, State};
use crate::raw::{Dispatch, Param, cipher};

/// Which way a cipher context runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Plaintext in, ciphertext out.
    Encrypt,
    /// Ciphertext in, plaintext out.
    Decrypt,
}

/// A cipher context with authenticated data (OpenSSL's provider-cipher(7)).
pub trait Cipher: Sized + Send + 'static {
    /// The provider it belongs to.
    type Provider: Provider;
    /// Parameters that can be read from a context.
    const GETTABLE: &'static [Param];
    /// Parameters that can be set on a context.
    const SETTABLE: &'static [Param];

    /// A fresh context.
    fn new(provider: &Self::Provider) -> Result<Self>;
    /// A context in the same state.
    fn duplicate(&self) -> Result<Self>;
    /// Sets direction, key and initialisation vector; what is none stays.
    fn init(&mut self, direction: Direction, key: Option<&[u8]>, iv: Option<&[u8]>) -> Result<()>;
    /// Takes additional authenticated data.
    fn associate(&mut self, data: &[u8]) -> Result<()>;
    /// Encrypts or decrypts; how many bytes were written.
    fn update(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<usize>;
    /// Ends the message: makes the tag, or checks it; false where it does not match.
    fn finish(&mut self) -> Result<bool>;
    /// Sets context parameters.
    fn set(&mut self, params: Params<'_>) -> Result<()>;
    /// Answers context parameters.
    fn get(&mut self, params: ParamsMut<'_>) -> Result<()>;
    /// Answers parameters of the algorithm itself: mode, key length, flags.
    fn describe(params: ParamsMut<'_>) -> Result<()>;
}

/// The dispatch table of a cipher.
pub const fn table<C: Cipher>() -> &'static [Dispatch] {
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
                describe::<C> as unsafe extern "C" fn(_) -> _
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
                describable as unsafe extern "C" fn(_) -> _
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
    input_length: usize,
) -> c_int {
    // SAFETY: see above; `feed` checks the room.
    unsafe {
        Context::<C>::with_brief(context, 0, |cipher| {
            output_length.write(feed(cipher, output, room, input, input_length)?);
            Ok(1)
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
            Ok(c_int::from(cipher.finish()?))
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
    input_length: usize,
) -> c_int {
    // SAFETY: passed on as they came.
    unsafe {
        if input.is_null() {
            finish::<C>(context, output, output_length, room)
        } else {
            let answer = update::<C>(context, output, output_length, room, input, input_length);
            if answer == 1 {
                output_length.write(input_length);
            }
            answer
        }
    }
}

/// # Safety
/// `input` leads to `length` bytes; `output` is null or leads to `room` bytes, the same as or apart
/// from the input's.
unsafe fn feed<C: Cipher>(
    cipher: &mut C,
    output: *mut c_uchar,
    room: usize,
    input: *const c_uchar,
    length: usize,
) -> Result<usize> {
    if length == 0 {
        return Ok(0);
    }
    if output.is_null() {
        // SAFETY: `length` bytes by the caller's word.
        cipher.associate(unsafe { slice::from_raw_parts(input, length) })?;
        return Ok(length);
    }
    if room < length {
        return Err(Error::from(Reason::BufferTooSmall));
    }
    let (from, to) = (input as usize, output as usize);
    if from != to && from < to + length && to < from + length {
        return Err(Error::new(
            Reason::InvalidParameter,
            "input and output overlap partly",
        ));
    }
    // SAFETY: both lead to at least `length` bytes and are the same or apart, as just checked.
    cipher.update(unsafe { InOutBuf::from_raw(input, output, length) })
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

unsafe extern "C" fn describe<C: Cipher>(params: *mut Param) -> c_int {
    // SAFETY: see above. No core is at hand; an error here is not worth more than its answer.
    std::panic::catch_unwind(|| C::describe(unsafe { ParamsMut::new(params) }))
        .is_ok_and(|answered| answered.is_ok())
        .into()
}

unsafe extern "C" fn describable(_provider: *mut c_void) -> *const Param {
    use crate::params::{END, integer, unsigned};
    static DESCRIBABLE: &[Param] = &[
        unsigned(c"mode"),
        unsigned(c"keylen"),
        unsigned(c"ivlen"),
        unsigned(c"blocksize"),
        integer(c"aead"),
        integer(c"custom-iv"),
        integer(c"cts"),
        integer(c"tls-multi"),
        integer(c"has-randkey"),
        END,
    ];
    DESCRIBABLE.as_ptr()
}

unsafe extern "C" fn gettable<C: Cipher>(
    _context: *mut c_void,
    _provider: *mut c_void,
) -> *const Param {
    C::GETTABLE.as_ptr()
}

unsafe extern "C" fn settable<C: Cipher>(
    _context: *mut c_void,
    _provider: *mut c_void,
) -> *const Param {
    C::SETTABLE.as_ptr()
}
