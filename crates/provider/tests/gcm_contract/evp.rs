//! One side: EVP's cipher calls in one library context, and what each leaves behind.

use std::ffi::{CStr, CString, c_int, c_ulong, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use outboard_libcrypto::sys::{EVP_CIPHER, EVP_CIPHER_CTX, OSSL_PARAM};
use outboard_libcrypto::{Context, Functions};

use crate::calls::{Call, Data, Key, Place, Question, Samples, WHOLE_IV};

macro_rules! more_functions {
    ($(fn $name:ident($($argument:ty),*) -> $result:ty;)*) => {
        /// Entry points that only this test asks for.
        #[allow(non_snake_case)]
        #[derive(Clone, Copy)]
        pub(crate) struct More {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl More {
            fn of(context: &Context) -> Self {
                let path = CString::new(context.library().path().as_os_str().as_bytes()).unwrap();
                // SAFETY: the library is loaded already; the types are those of OpenSSL 3.0's headers.
                unsafe {
                    let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
                    assert!(!library.is_null());
                    Self { $($name: {
                        let name = CString::new(stringify!($name)).unwrap();
                        let address = libc::dlsym(library, name.as_ptr());
                        assert!(!address.is_null(), "{name:?}");
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> $result>(address)
                    },)* }
                }
            }
        }
    };
}

more_functions! {
    fn ERR_get_error() -> c_ulong;
    fn EVP_CIPHER_CTX_reset(*mut EVP_CIPHER_CTX) -> c_int;
    fn EVP_CIPHER_CTX_set_params(*mut EVP_CIPHER_CTX, *const OSSL_PARAM) -> c_int;
    fn EVP_CIPHER_CTX_get_params(*mut EVP_CIPHER_CTX, *mut OSSL_PARAM) -> c_int;
    fn EVP_CIPHER_CTX_get_iv_length(*const EVP_CIPHER_CTX) -> c_int;
    fn EVP_CIPHER_CTX_get_tag_length(*const EVP_CIPHER_CTX) -> c_int;
    fn EVP_CIPHER_CTX_get_updated_iv(*mut EVP_CIPHER_CTX, *mut c_void, usize) -> c_int;
    fn EVP_CIPHER_CTX_get_original_iv(*mut EVP_CIPHER_CTX, *mut c_void, usize) -> c_int;
    fn EVP_CIPHER_CTX_set_key_length(*mut EVP_CIPHER_CTX, c_int) -> c_int;
    fn EVP_CIPHER_get_params(*const EVP_CIPHER, *mut OSSL_PARAM) -> c_int;
    fn EVP_CIPHER_get_flags(*const EVP_CIPHER) -> c_ulong;
    fn EVP_CIPHER_gettable_params(*const EVP_CIPHER) -> *const OSSL_PARAM;
    fn EVP_CIPHER_gettable_ctx_params(*const EVP_CIPHER) -> *const OSSL_PARAM;
    fn EVP_CIPHER_settable_ctx_params(*const EVP_CIPHER) -> *const OSSL_PARAM;
    fn OSSL_PROVIDER_query_operation(*const c_void, c_int, *mut c_int) -> *const Algorithm;
}

/// `OSSL_ALGORITHM`.
#[repr(C)]
pub(crate) struct Algorithm {
    pub(crate) names: *const std::ffi::c_char,
    pub(crate) properties: *const std::ffi::c_char,
    pub(crate) functions: *const Function,
    description: *const std::ffi::c_char,
}

/// `OSSL_DISPATCH`.
#[repr(C)]
pub(crate) struct Function {
    pub(crate) id: c_int,
    function: *const c_void,
}

/// Bytes that one call may read or write.
const WINDOW: usize = 1280;
/// Where input begins in it: output may begin before.
const START: usize = 64;

/// What a call answered and left behind.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) answer: i64,
    pub(crate) length: i64,
    pub(crate) errors: Vec<c_ulong>,
    pub(crate) bytes: Vec<u8>,
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{} (length {}), errors",
            self.answer, self.length
        )?;
        for code in &self.errors {
            write!(
                formatter,
                " {}:{}",
                (code >> 23) & 0xff,
                code & 0x7f_ffff & 0x3_ffff
            )?;
        }
        write!(formatter, ", bytes ")?;
        self.bytes
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// A library context with one cipher of it.
pub(crate) struct Side {
    /// Keeps the provider.
    _context: Context,
    functions: Functions,
    pub(crate) more: More,
    pub(crate) cipher: *mut EVP_CIPHER,
    key_length: usize,
}

impl Side {
    pub(crate) fn new(context: &Context, name: &CStr) -> Self {
        let functions = *context.library().functions();
        // SAFETY: a live context and a terminated name.
        let cipher =
            unsafe { (functions.EVP_CIPHER_fetch)(context.as_ptr(), name.as_ptr(), ptr::null()) };
        assert!(!cipher.is_null());
        Self {
            _context: context.clone(),
            functions,
            more: More::of(context),
            cipher,
            // SAFETY: a live cipher.
            key_length: unsafe { (functions.EVP_CIPHER_get_key_length)(cipher) } as usize,
        }
    }

    /// A program that begins: no context is initialised yet.
    pub(crate) fn program<'a>(&'a self, samples: &'a Samples) -> Program<'a> {
        // SAFETY: makes two contexts.
        let contexts = unsafe {
            [
                (self.functions.EVP_CIPHER_CTX_new)(),
                (self.functions.EVP_CIPHER_CTX_new)(),
            ]
        };
        Program {
            side: self,
            samples,
            contexts,
        }
    }

    /// Which functions its provider offers for the cipher of that name.
    pub(crate) fn functions_offered(&self, name: &CStr) -> Vec<c_int> {
        let mut no_cache = 0;
        // SAFETY: a live cipher, whose provider offers it; the lists end with null and 0.
        unsafe {
            let provider = (self.functions.EVP_CIPHER_get0_provider)(self.cipher);
            let mut algorithm =
                (self.more.OSSL_PROVIDER_query_operation)(provider.cast(), 2, &raw mut no_cache);
            loop {
                assert!(!(*algorithm).names.is_null(), "it offers {name:?}");
                let names = CStr::from_ptr((*algorithm).names).to_bytes();
                if names.split(|&byte| byte == b':').next() == Some(name.to_bytes()) {
                    break;
                }
                algorithm = algorithm.add(1);
            }
            let mut function = (*algorithm).functions;
            let mut found = Vec::new();
            while (*function).id != 0 {
                found.push((*function).id);
                function = function.add(1);
            }
            found.sort_unstable();
            found
        }
    }

    /// The error queue, which is empty afterwards.
    pub(crate) fn errors(&self) -> Vec<c_ulong> {
        // SAFETY: takes nothing.
        std::iter::repeat_with(|| unsafe { (self.more.ERR_get_error)() })
            .take_while(|&code| code != 0)
            .collect()
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // SAFETY: ours.
        unsafe { (self.functions.EVP_CIPHER_free)(self.cipher) };
    }
}

/// What makes calls: a context, and a second one to copy to.
pub(crate) struct Program<'a> {
    side: &'a Side,
    samples: &'a Samples,
    contexts: [*mut EVP_CIPHER_CTX; 2],
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        for context in self.contexts {
            // SAFETY: ours.
            unsafe { (self.side.functions.EVP_CIPHER_CTX_free)(context) };
        }
    }
}

impl Program<'_> {
    pub(crate) fn call(&mut self, call: Call) -> Seen {
        let mut window = [0xee; WINDOW];
        let mut length: c_int = -7;
        // SAFETY: every call gets live objects, and pointers with more room than it asks for.
        let (answer, shown) = unsafe { self.make(call, &mut window, &mut length) };
        Seen {
            answer: i64::from(answer),
            length: i64::from(length),
            errors: self.side.errors(),
            bytes: window[..shown].to_vec(),
        }
    }

    /// What the call answered, and how many bytes of the window show what it did.
    unsafe fn make(
        &mut self,
        call: Call,
        window: &mut [u8; WINDOW],
        length: &mut c_int,
    ) -> (c_int, usize) {
        let (f, more) = (&self.side.functions, &self.side.more);
        let context = self.contexts[0];
        // SAFETY: by the caller's word.
        unsafe {
            match call {
                Call::Init {
                    fresh,
                    direction,
                    key,
                    iv,
                    iv_length,
                } => {
                    let cipher = if fresh {
                        self.side.cipher
                    } else {
                        ptr::null_mut()
                    };
                    let key = key.map(|key| self.key(key));
                    let iv = iv.map(|iv| self.samples.iv(iv));
                    let mut number = iv_length.unwrap_or(0);
                    let params = [number_param(c"ivlen", &mut number), OSSL_PARAM::END];
                    let params = if iv_length.is_some() {
                        params.as_ptr()
                    } else {
                        ptr::null()
                    };
                    let pointer = |bytes: Option<&[u8]>| bytes.map_or(ptr::null(), <[u8]>::as_ptr);
                    let (key, iv) = (pointer(key), pointer(iv.as_ref().map(|iv| &iv[..])));
                    (
                        (f.EVP_CipherInit_ex2)(context, cipher, key, iv, direction, params),
                        0,
                    )
                }
                Call::Associate(size) => {
                    let input = self.samples.text(size);
                    (
                        (f.EVP_CipherUpdate)(
                            context,
                            ptr::null_mut(),
                            length,
                            input.as_ptr(),
                            size as c_int,
                        ),
                        0,
                    )
                }
                Call::Update { data, place } => {
                    let (output, input, size) = self.lay(window, data, place);
                    (
                        (f.EVP_CipherUpdate)(context, output, length, input, size as c_int),
                        START + size + 32,
                    )
                }
                Call::UpdateWithoutLength => {
                    let (output, input, size) = self.lay(window, Data::Text(3), Place::Same);
                    (
                        (f.EVP_CipherUpdate)(
                            context,
                            output,
                            ptr::null_mut(),
                            input,
                            size as c_int,
                        ),
                        START + 32,
                    )
                }
                Call::Finish => (
                    (f.EVP_CipherFinal_ex)(context, window.as_mut_ptr(), length),
                    16,
                ),
                Call::Cipher { data, place } => {
                    let (output, input, size) = self.lay(window, data, place);
                    (
                        (f.EVP_Cipher)(context, output, input, size as u32),
                        START + size + 32,
                    )
                }
                Call::Control {
                    control,
                    argument,
                    data,
                } => {
                    let mut room = [0xee; 160];
                    let data = match data {
                        Some(data) => {
                            let bytes = self.data(data);
                            room[..bytes.len().min(160)]
                                .copy_from_slice(&bytes[..bytes.len().min(160)]);
                            room.as_mut_ptr()
                        }
                        None => ptr::null_mut(),
                    };
                    let answer = (f.EVP_CIPHER_CTX_ctrl)(context, control, argument, data.cast());
                    window[..160].copy_from_slice(&room);
                    (answer, 160)
                }
                Call::Get {
                    name,
                    kind,
                    size,
                    null,
                } => {
                    let data = if null {
                        ptr::null_mut()
                    } else {
                        window.as_mut_ptr().cast()
                    };
                    let mut params = [param(name, kind, data, size), OSSL_PARAM::END];
                    let answer = (more.EVP_CIPHER_CTX_get_params)(context, params.as_mut_ptr());
                    *length = params[0].return_size as c_int;
                    let is_pointer = kind == 7;
                    if is_pointer && answer == 1 && !null {
                        let place = window.as_ptr().cast::<*const u8>().read_unaligned();
                        window[..12].copy_from_slice(std::slice::from_raw_parts(place, 12));
                        return (answer, 12);
                    }
                    (answer, if is_pointer { 0 } else { size + 16 })
                }
                Call::Set {
                    name,
                    kind,
                    data,
                    size,
                    null,
                } => {
                    let mut bytes = self.data(data);
                    let data = if null {
                        ptr::null_mut()
                    } else {
                        bytes.as_mut_ptr().cast()
                    };
                    let params = [param(name, kind, data, size), OSSL_PARAM::END];
                    (
                        (more.EVP_CIPHER_CTX_set_params)(context, params.as_ptr()),
                        0,
                    )
                }
                Call::SetTwo { names, values } => {
                    let mut values = values;
                    let [one, two] = &mut values;
                    let params = [
                        number_param(names[0], one),
                        number_param(names[1], two),
                        OSSL_PARAM::END,
                    ];
                    (
                        (more.EVP_CIPHER_CTX_set_params)(context, params.as_ptr()),
                        0,
                    )
                }
                Call::GetTwo { names } => {
                    let mut values = [0usize; 2];
                    let [one, two] = &mut values;
                    let mut params = [
                        number_param(names[0], one),
                        number_param(names[1], two),
                        OSSL_PARAM::END,
                    ];
                    let answer = (more.EVP_CIPHER_CTX_get_params)(context, params.as_mut_ptr());
                    *length =
                        (params[0].return_size as c_int) * 100 + params[1].return_size as c_int;
                    window[..8].copy_from_slice(&values[0].to_le_bytes());
                    window[8..16].copy_from_slice(&values[1].to_le_bytes());
                    (answer, 16)
                }
                Call::Ask(question) => match question {
                    Question::IvLength => ((more.EVP_CIPHER_CTX_get_iv_length)(context), 0),
                    Question::TagLength => ((more.EVP_CIPHER_CTX_get_tag_length)(context), 0),
                    Question::OriginalIv(room) => (
                        (more.EVP_CIPHER_CTX_get_original_iv)(
                            context,
                            window.as_mut_ptr().cast(),
                            room,
                        ),
                        room,
                    ),
                    Question::UpdatedIv(room) => (
                        (more.EVP_CIPHER_CTX_get_updated_iv)(
                            context,
                            window.as_mut_ptr().cast(),
                            room,
                        ),
                        room,
                    ),
                    Question::SetKeyLength(size) => {
                        ((more.EVP_CIPHER_CTX_set_key_length)(context, size), 0)
                    }
                },
                Call::Copy => ((f.EVP_CIPHER_CTX_copy)(self.contexts[1], context), 0),
                Call::Swap => {
                    self.contexts.swap(0, 1);
                    (1, 0)
                }
                Call::Reset => ((more.EVP_CIPHER_CTX_reset)(context), 0),
            }
        }
    }

    /// Input and output for a call with data.
    fn lay(
        &self,
        window: &mut [u8; WINDOW],
        data: Data,
        place: Place,
    ) -> (*mut u8, *const u8, usize) {
        let bytes = self.data(data);
        let size = bytes.len();
        window[START..START + size].copy_from_slice(&bytes);
        let start = window.as_mut_ptr();
        let at = |offset: usize| start.wrapping_add(offset);
        match place {
            Place::Same => (at(START), at(START), size),
            Place::Apart => {
                // The output takes the input's place in the window, which shows it.
                window[START + 40 + size..START + 40 + 2 * size].copy_from_slice(&bytes);
                (at(START), at(START + 40 + size), size)
            }
            Place::Before(distance) => (at(START - distance), at(START), size),
            Place::After(distance) => (at(START + distance), at(START), size),
            Place::NoInput => (at(START), ptr::null(), size),
            Place::NoOutput => (ptr::null_mut(), at(START), size),
            Place::Nowhere => (ptr::null_mut(), ptr::null(), size),
        }
    }

    fn data(&self, data: Data) -> Vec<u8> {
        self.samples.data(data)
    }

    fn key(&self, key: Key) -> &[u8] {
        &self.samples.key(key)[..self.side.key_length]
    }
}

pub(crate) fn param(name: &CStr, kind: u32, data: *mut c_void, size: usize) -> OSSL_PARAM {
    OSSL_PARAM {
        key: name.as_ptr(),
        data_type: kind,
        data,
        data_size: if size == WHOLE_IV { usize::MAX } else { size },
        return_size: usize::MAX,
    }
}

fn number_param(name: &CStr, number: &mut usize) -> OSSL_PARAM {
    param(name, 2, ptr::from_mut(number).cast(), size_of::<usize>())
}
