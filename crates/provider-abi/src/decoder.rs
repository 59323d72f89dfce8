//! Decoders: what an implementation says, and the C functions made of it.
//!
//! libcrypto makes chains of decoders by their names and by the property `input`: one reads PEM and gives DER, the next
//! reads that and gives a key. A decoder that finds nothing of its own in its input gives nothing: libcrypto goes back
//! to where the input began, and asks the next one. A decoder keeps nothing from call to call, so its context is the
//! provider's.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

use crate::boundary::boundary;
use crate::core::Core;
use crate::encoder::Passphrase;
use crate::error::Result;
use crate::keymgmt::{self, KeyManagement, Selection};
use crate::object::{Data, IS_A_KEY};
use crate::params::END;
use crate::provider::State;
use crate::raw::{self, Callback, Dispatch, Param, decoder};

/// What a decoder found in its input.
pub enum Decoded<K> {
    /// Nothing of its own.
    Nothing,
    /// What another decoder reads further.
    Data(Data),
    /// A key.
    Key(K),
}

/// A decoder (OpenSSL's provider-decoder(7)). An error ends the reading, for the other decoders too.
pub trait Decoder: 'static {
    /// The keys that it makes.
    type Key: KeyManagement;
    /// The name of their type.
    const TYPE: &'static CStr;

    /// Whether it reads those parts of a key; no part at all stands for whatever there is.
    fn does(selection: Selection) -> bool;
    /// Reads. What follows what was read stays in the input.
    fn decode(
        provider: &<Self::Key as KeyManagement>::Provider,
        input: &mut Source<'_>,
    ) -> Result<Decoded<Self::Key>>;
}

/// What a decoder reads from: a BIO of the program's.
pub struct Source<'a> {
    core: Core,
    bio: *mut c_void,
    lives: PhantomData<&'a mut [u8]>,
}

/// The longest part of a line that is read in one.
pub const LINE: usize = 255;

impl Source<'_> {
    /// Reads a line with its end, or a part of one that is longer than [`LINE`] - 1; an empty slice at the end of the
    /// input.
    pub fn line<'b>(&mut self, room: &'b mut [u8; LINE]) -> &'b [u8] {
        let length = self.core.bio_gets(self.bio, &mut room[..]);
        &room[..length.min(LINE)]
    }

    /// Reads as many bytes as there is room for; fewer at the end of the input.
    pub fn bytes(&mut self, room: &mut [u8]) -> usize {
        let mut total = 0;
        while total < room.len() {
            match self.core.bio_read(self.bio, &mut room[total..]) {
                0 => break,
                length => total = room.len().min(total + length),
            }
        }
        total
    }
}

/// The functions of a decoder.
pub const fn table<D: Decoder>() -> &'static [Dispatch] {
    const {
        &[
            entry!(decoder::NEWCTX, new as unsafe extern "C" fn(_) -> _),
            entry!(decoder::FREECTX, free as unsafe extern "C" fn(_)),
            entry!(
                decoder::DOES_SELECTION,
                does::<D> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                decoder::DECODE,
                decode::<D> as unsafe extern "C" fn(_, _, _, _, _, _, _) -> _
            ),
            Dispatch::END,
        ]
    }
}

// SAFETY of every function below: libcrypto calls with the types and lifetimes of provider-decoder(7).

unsafe extern "C" fn new(provider: *mut c_void) -> *mut c_void {
    provider
}

unsafe extern "C" fn free(_context: *mut c_void) {}

unsafe extern "C" fn does<D: Decoder>(_provider: *mut c_void, selection: c_int) -> c_int {
    D::does(Selection(selection)).into()
}

unsafe extern "C" fn decode<D: Decoder>(
    provider: *mut c_void,
    bio: *mut c_void,
    _selection: c_int,
    callback: Option<Callback>,
    argument: *mut c_void,
    _passphrase: Option<Passphrase>,
    _passphrase_argument: *mut c_void,
) -> c_int {
    // SAFETY: the context that `new` answered: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<<D::Key as KeyManagement>::Provider>::of(provider) };
    let Some(callback) = callback else {
        return 0;
    };
    boundary(&state.core, 0, || {
        let mut source = Source {
            core: state.core,
            bio,
            lives: PhantomData,
        };
        // SAFETY: the callback takes an array of parameters, whole for the call.
        let give = |params: *const Param| unsafe { callback(params, argument) };
        Ok(match D::decode(&state.provider, &mut source)? {
            Decoded::Nothing => 1,
            Decoded::Data(data) => data.give(give),
            Decoded::Key(key) => give_key::<D>(state, key, give),
        })
    })
}

/// Gives a key by reference. A key management of ours takes it out of the reference; otherwise it is freed.
fn give_key<D: Decoder>(
    state: &State<<D::Key as KeyManagement>::Provider>,
    key: D::Key,
    give: impl Fn(*const Param) -> c_int,
) -> c_int {
    let mut slot = keymgmt::slot(state, key);
    let mut kind = IS_A_KEY;
    let text = D::TYPE.to_bytes();
    let param = |key: &'static CStr, data_type, data: *mut c_void, data_size| Param {
        key: key.as_ptr(),
        data_type,
        data,
        data_size,
        return_size: raw::PARAM_UNMODIFIED,
    };
    let params = [
        param(
            c"type",
            raw::PARAM_INTEGER,
            (&raw mut kind).cast(),
            size_of::<c_int>(),
        ),
        param(
            c"data-type",
            raw::PARAM_UTF8_STRING,
            text.as_ptr().cast_mut().cast(),
            text.len(),
        ),
        param(
            c"reference",
            raw::PARAM_OCTET_STRING,
            (&raw mut slot).cast(),
            size_of::<*mut c_void>(),
        ),
        END,
    ];
    let answer = give(params.as_ptr());
    // SAFETY: the slot of above, unless a key management has taken it, and left null.
    unsafe { keymgmt::free::<D::Key>(slot) };
    answer
}

impl Core {
    /// Reads a line and answers its length; 0 at the end.
    fn bio_gets(&self, bio: *mut c_void, room: &mut [u8]) -> usize {
        let Some(gets) = self.bio_gets else {
            return 0;
        };
        let size = c_int::try_from(room.len()).unwrap_or(c_int::MAX);
        // SAFETY: libcrypto's own function and BIO, and room of that size.
        let length = unsafe { gets(bio, room.as_mut_ptr().cast::<c_char>(), size) };
        usize::try_from(length).unwrap_or(0)
    }

    /// Reads and answers how much; 0 at the end.
    fn bio_read(&self, bio: *mut c_void, room: &mut [u8]) -> usize {
        let Some(read) = self.bio_read else {
            return 0;
        };
        let mut length = 0;
        // SAFETY: libcrypto's own function and BIO, and room of that size.
        let read = unsafe {
            read(
                bio,
                room.as_mut_ptr().cast(),
                room.len(),
                ptr::from_mut(&mut length),
            )
        };
        if read == 1 { length } else { 0 }
    }
}
