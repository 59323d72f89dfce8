//! The system's libcrypto.so.3 through EVP, as programs use it. Loaded with dlopen: AWS-LC has functions
//! of the same names in this process.

#![allow(
    clippy::missing_transmute_annotations,
    reason = "the fields give the functions' types"
)]

use crate::Run;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

/// An opaque object of OpenSSL.
type Object = *mut c_void;
type Sign = unsafe extern "C" fn(Object, *mut u8, *mut usize, *const u8, usize) -> c_int;
type Verify = unsafe extern "C" fn(Object, *const u8, usize, *const u8, usize) -> c_int;

/// The functions used. They live as long as the process: the library is never unloaded.
#[derive(Clone, Copy)]
pub(crate) struct Library {
    generate: unsafe extern "C" fn(Object, *const c_char, *const c_char, ...) -> Object,
    context: unsafe extern "C" fn(Object, Object) -> Object,
    sign_init: unsafe extern "C" fn(Object) -> c_int,
    sign: Sign,
    encrypt_init: unsafe extern "C" fn(Object) -> c_int,
    encrypt: Sign,
    padding: unsafe extern "C" fn(Object, c_int) -> c_int,
    derive_init: unsafe extern "C" fn(Object) -> c_int,
    set_peer: unsafe extern "C" fn(Object, Object) -> c_int,
    derive: unsafe extern "C" fn(Object, *mut u8, *mut usize) -> c_int,
    keygen_init: unsafe extern "C" fn(Object) -> c_int,
    keygen: unsafe extern "C" fn(Object, *mut Object) -> c_int,
    free_key: unsafe extern "C" fn(Object),
    new_digest: unsafe extern "C" fn() -> Object,
    digest_sign_init: unsafe extern "C" fn(Object, Object, *const c_void, Object, Object) -> c_int,
    digest_sign: Sign,
    digest_verify_init:
        unsafe extern "C" fn(Object, Object, *const c_void, Object, Object) -> c_int,
    digest_verify: Verify,
}

/// `RSA_NO_PADDING`: the bare operation.
const NO_PADDING: c_int = 3;

impl Library {
    pub(crate) fn open() -> Option<Library> {
        // SAFETY: loads the system's library and looks up its functions, each with the type that
        // OpenSSL 3's manual gives it.
        unsafe {
            let library = libc::dlopen(
                c"libcrypto.so.3".as_ptr(),
                libc::RTLD_NOW | libc::RTLD_LOCAL,
            );
            if library.is_null() {
                return None;
            }
            let find = |name: &CStr| {
                let function = libc::dlsym(library, name.as_ptr());
                assert!(!function.is_null(), "libcrypto.so.3 lacks {name:?}");
                function
            };
            use std::mem::transmute as as_function;
            Some(Library {
                generate: as_function::<Object, _>(find(c"EVP_PKEY_Q_keygen")),
                context: as_function::<Object, _>(find(c"EVP_PKEY_CTX_new")),
                sign_init: as_function::<Object, _>(find(c"EVP_PKEY_sign_init")),
                sign: as_function::<Object, _>(find(c"EVP_PKEY_sign")),
                encrypt_init: as_function::<Object, _>(find(c"EVP_PKEY_encrypt_init")),
                encrypt: as_function::<Object, _>(find(c"EVP_PKEY_encrypt")),
                padding: as_function::<Object, _>(find(c"EVP_PKEY_CTX_set_rsa_padding")),
                derive_init: as_function::<Object, _>(find(c"EVP_PKEY_derive_init")),
                set_peer: as_function::<Object, _>(find(c"EVP_PKEY_derive_set_peer")),
                derive: as_function::<Object, _>(find(c"EVP_PKEY_derive")),
                keygen_init: as_function::<Object, _>(find(c"EVP_PKEY_keygen_init")),
                keygen: as_function::<Object, _>(find(c"EVP_PKEY_keygen")),
                free_key: as_function::<Object, _>(find(c"EVP_PKEY_free")),
                new_digest: as_function::<Object, _>(find(c"EVP_MD_CTX_new")),
                digest_sign_init: as_function::<Object, _>(find(c"EVP_DigestSignInit")),
                digest_sign: as_function::<Object, _>(find(c"EVP_DigestSign")),
                digest_verify_init: as_function::<Object, _>(find(c"EVP_DigestVerifyInit")),
                digest_verify: as_function::<Object, _>(find(c"EVP_DigestVerify")),
            })
        }
    }

    /// The operation, one by one. Keys and contexts are kept for the life of the process.
    pub(crate) fn run(&self, operation: &str) -> Option<Run> {
        // The operation is the same.
        let operation = operation.strip_suffix(" wide").unwrap_or(operation);
        Some(match operation {
            "RSA-2048 private" => self.signing(self.rsa(2048), true, 256),
            "RSA-3072 private" => self.signing(self.rsa(3072), true, 384),
            "RSA-4096 private" => self.signing(self.rsa(4096), true, 512),
            "RSA-2048 public" => self.encrypting(self.rsa(2048), 256),
            "ECDSA P-256 sign" => self.signing(self.curve(c"P-256"), false, 32),
            "ECDSA P-384 sign" => self.signing(self.curve(c"P-384"), false, 48),
            "ECDH P-256" => self.deriving(self.curve(c"P-256"), self.curve(c"P-256")),
            "ECDH P-384" => self.deriving(self.curve(c"P-384"), self.curve(c"P-384")),
            "X25519" => self.deriving(self.key(c"X25519"), self.key(c"X25519")),
            "P-256 public key" => self.generating(self.curve(c"P-256")),
            "P-384 public key" => self.generating(self.curve(c"P-384")),
            "X25519 public key" => self.generating(self.key(c"X25519")),
            "Ed25519 sign" => self.ed25519(false),
            "Ed25519 verify" => self.ed25519(true),
            _ => return None,
        })
    }

    fn rsa(&self, bits: usize) -> Object {
        // SAFETY: as the manual has it: for RSA a size_t of bits follows.
        unsafe { (self.generate)(null_mut(), null(), c"RSA".as_ptr(), bits) }
    }

    fn curve(&self, name: &CStr) -> Object {
        // SAFETY: for EC the curve's name follows.
        unsafe { (self.generate)(null_mut(), null(), c"EC".as_ptr(), name.as_ptr()) }
    }

    fn key(&self, name: &CStr) -> Object {
        // SAFETY: nothing follows.
        unsafe { (self.generate)(null_mut(), null(), name.as_ptr()) }
    }

    fn signing(self, key: Object, is_rsa: bool, input: usize) -> Run {
        let (input, mut out) = (vec![0x42; input], [0; 512]);
        // SAFETY: a live key; the context is kept.
        let context = unsafe {
            let context = (self.context)(key, null_mut());
            assert_eq!((self.sign_init)(context), 1);
            assert!(!is_rsa || (self.padding)(context, NO_PADDING) == 1);
            context
        };
        Box::new(move |times| {
            for _ in 0..times {
                let mut written = out.len();
                // SAFETY: `out` has the length that is passed.
                let ok = unsafe {
                    (self.sign)(
                        context,
                        out.as_mut_ptr(),
                        &mut written,
                        input.as_ptr(),
                        input.len(),
                    )
                };
                assert_eq!(ok, 1, "stock signs");
            }
        })
    }

    fn encrypting(self, key: Object, input: usize) -> Run {
        let (input, mut out) = (vec![0x42; input], [0; 512]);
        // SAFETY: as in `signing`.
        let context = unsafe {
            let context = (self.context)(key, null_mut());
            assert_eq!((self.encrypt_init)(context), 1);
            assert_eq!((self.padding)(context, NO_PADDING), 1);
            context
        };
        Box::new(move |times| {
            for _ in 0..times {
                let mut written = out.len();
                // SAFETY: `out` has the length that is passed.
                let ok = unsafe {
                    (self.encrypt)(
                        context,
                        out.as_mut_ptr(),
                        &mut written,
                        input.as_ptr(),
                        input.len(),
                    )
                };
                assert_eq!(ok, 1, "stock encrypts");
            }
        })
    }

    fn deriving(self, key: Object, peer: Object) -> Run {
        let mut out = [0; 64];
        // SAFETY: live keys; the context is kept.
        let context = unsafe {
            let context = (self.context)(key, null_mut());
            assert_eq!((self.derive_init)(context), 1);
            assert_eq!((self.set_peer)(context, peer), 1);
            context
        };
        Box::new(move |times| {
            for _ in 0..times {
                let mut written = out.len();
                // SAFETY: `out` has the length that is passed.
                let status = unsafe { (self.derive)(context, out.as_mut_ptr(), &mut written) };
                assert_eq!(status, 1);
            }
        })
    }

    /// Stock computes public keys only when it generates a pair.
    fn generating(self, like: Object) -> Run {
        // SAFETY: a live key; the context is kept.
        let context = unsafe {
            let context = (self.context)(like, null_mut());
            assert_eq!((self.keygen_init)(context), 1);
            context
        };
        Box::new(move |times| {
            for _ in 0..times {
                let mut key = null_mut();
                // SAFETY: makes a key, which is freed.
                unsafe {
                    assert_eq!((self.keygen)(context, &mut key), 1);
                    (self.free_key)(key);
                }
            }
        })
    }

    fn ed25519(self, verify: bool) -> Run {
        let key = self.key(c"ED25519");
        let (message, mut signature) = ([5; 32], [0; 64]);
        // SAFETY: a live key; the contexts are kept; `signature` has the length that is passed.
        let context = unsafe {
            let signing = (self.new_digest)();
            assert_eq!(
                (self.digest_sign_init)(signing, null_mut(), null(), null_mut(), key),
                1
            );
            let mut written = 64;
            let made = (self.digest_sign)(
                signing,
                signature.as_mut_ptr(),
                &mut written,
                message.as_ptr(),
                message.len(),
            );
            assert_eq!(made, 1);
            let verifying = (self.new_digest)();
            let ready = (self.digest_verify_init)(verifying, null_mut(), null(), null_mut(), key);
            assert_eq!(ready, 1);
            if verify { verifying } else { signing }
        };
        Box::new(move |times| {
            for _ in 0..times {
                let mut written = 64;
                let (input, len) = (message.as_ptr(), message.len());
                // SAFETY: as above.
                let ok = unsafe {
                    if verify {
                        (self.digest_verify)(context, signature.as_ptr(), 64, input, len)
                    } else {
                        (self.digest_sign)(
                            context,
                            signature.as_mut_ptr(),
                            &mut written,
                            input,
                            len,
                        )
                    }
                };
                assert_eq!(ok, 1);
            }
        })
    }
}
