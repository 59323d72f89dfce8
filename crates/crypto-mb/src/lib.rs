//! Intel's crypto_mb (Cryptography Primitives Library, multi-buffer), found at run time: nothing is linked or
//! shipped. For measurements alone, which set it beside our own lanes.
//!
//! Its functions take eight pointers for each operand, one for each lane; the empty lanes' are null. Each
//! method of [`Library`] gets one operation ready; what it returns runs it with so many lanes filled.

#![allow(
    clippy::missing_transmute_annotations,
    reason = "the fields give the functions' types"
)]

use std::ffi::{CStr, CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{null, null_mut};

/// Why it cannot be called, or what it refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The dynamic loader could not load the file.
    #[error("cannot load {path}: {reason}")]
    Load {
        /// What was to be loaded.
        path: String,
        /// The loader's own words.
        reason: String,
    },
    /// It is another library, or another version.
    #[error("crypto_mb has no function {0:?}: another version is needed")]
    Missing(&'static CStr),
    /// An operation failed in a lane.
    #[error("crypto_mb refused: status {0:#x}")]
    Refused(u64),
    /// It computed something else than expected.
    #[error("crypto_mb computes RSA otherwise: it is not called as this version wants to be")]
    Wrong,
}

/// What everything here returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Runs one operation with so many of the eight lanes filled.
pub type Batch = Box<dyn FnMut(usize) -> Result<()>>;

/// The library, never unloaded.
#[derive(Clone, Copy, Debug)]
pub struct Library(*mut c_void);

/// A curve of NIST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// P-256.
    P256,
    /// P-384.
    P384,
}

/// The numbers of a private RSA key that CRT needs, big-endian.
#[derive(Clone, Copy)]
pub struct RsaKey<'a> {
    /// The first prime.
    pub p: &'a [u8],
    /// The second prime.
    pub q: &'a [u8],
    /// d mod (p − 1).
    pub dp: &'a [u8],
    /// d mod (q − 1).
    pub dq: &'a [u8],
    /// 1/q mod p.
    pub qinv: &'a [u8],
}

/// An array of words for each lane, an array of bytes for each lane.
type Words = [*const u64; 8];
type WordsOut = [*mut u64; 8];
type Bytes = [*const u8; 8];
type BytesOut = [*mut u8; 8];

type PublicKey = unsafe extern "C" fn(
    *const WordsOut,
    *const WordsOut,
    *const c_void,
    *const Words,
    *mut u8,
) -> c_int;

impl Library {
    /// The library's file. Intel's runtime is taken from beside it, where it is there.
    ///
    /// # Errors
    /// [`Error::Load`].
    pub fn open(file: &Path) -> Result<Self> {
        for needed in ["libintlc.so.5", "libirng.so", "libimf.so", "libsvml.so"] {
            // Where one is not needed, or missing, the library itself says so.
            let _ = load(&file.with_file_name(needed));
        }
        load(file).map(Self)
    }

    /// Its version: "1.0.0".
    ///
    /// # Errors
    /// [`Error::Missing`].
    pub fn version(self) -> Result<String> {
        type Version = unsafe extern "C" fn() -> *const [c_int; 3];
        let version = self.find(c"mbx_getversion")?;
        // SAFETY: the structure of crypto_mb/version.h begins with three numbers, and is the library's.
        let [major, minor, revision] = unsafe {
            let version = std::mem::transmute::<*mut c_void, Version>(version);
            *version()
        };
        Ok(format!("{major}.{minor}.{revision}"))
    }

    fn find(self, name: &'static CStr) -> Result<*mut c_void> {
        // SAFETY: looks up a name.
        let function = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        if function.is_null() {
            return Err(Error::Missing(name));
        }
        Ok(function)
    }

    /// The bare private operation of RSA on `input`, each lane with a key of its own. All keys are of
    /// 2048, 3072 or 4096 bits, as long as the input; `expected` is what the first makes of it.
    ///
    /// # Errors
    /// [`Error::Missing`]; later [`Error::Wrong`].
    ///
    /// # Panics
    /// Where the length is another.
    pub fn rsa(self, keys: [RsaKey<'_>; 8], input: &[u8], expected: &[u8]) -> Result<Batch> {
        type Private = unsafe extern "C" fn(
            *const Bytes,
            *const BytesOut,
            *const Words,
            *const Words,
            *const Words,
            *const Words,
            *const Words,
            c_int,
            *const c_void,
            *mut u8,
        ) -> c_int;
        type Method = unsafe extern "C" fn() -> *const c_void;
        let (bits, method) = match input.len() {
            256 => (2048, c"mbx_RSA2K_private_crt_Method"),
            384 => (3072, c"mbx_RSA3K_private_crt_Method"),
            512 => (4096, c"mbx_RSA4K_private_crt_Method"),
            other => panic!("no RSA of {other} bytes"),
        };
        // SAFETY: the types are those of crypto_mb/rsa.h.
        let (private, method): (Private, Method) = unsafe {
            (
                std::mem::transmute(self.find(c"mbx_rsa_private_crt_mb8")?),
                std::mem::transmute(self.find(method)?),
            )
        };
        // Each as long as a prime: that much is read.
        let keys = keys.map(|key| {
            [key.p, key.q, key.dp, key.dq, key.qinv].map(|number| padded(number, input.len() / 16))
        });
        let (input, expected) = (input.to_vec(), expected.to_vec());
        let mut out = vec![vec![0; input.len()]; 8];
        let mut checked = false;
        Ok(Box::new(move |filled| {
            let part = |part: usize| lanes(filled, |lane| keys[lane][part].as_ptr());
            let [p, q, dp, dq, qinv] = [0, 1, 2, 3, 4].map(part);
            let from = lanes(filled, |_| input.as_ptr());
            let to = lanes_mut(filled, |lane| out[lane].as_mut_ptr());
            // SAFETY: for each filled lane arrays of the sizes that `bits` demands.
            let status = unsafe {
                private(
                    &from,
                    &to,
                    &p,
                    &q,
                    &dp,
                    &dq,
                    &qinv,
                    bits,
                    method(),
                    null_mut(),
                )
            };
            if !checked && out[0] != expected {
                return Err(Error::Wrong);
            }
            checked = true;
            succeeded(status, filled)
        }))
    }

    /// ECDSA's signature of a digest, with a given nonce: (r, s).
    ///
    /// # Errors
    /// [`Error::Missing`]; later [`Error::Refused`].
    pub fn ecdsa(self, curve: Curve) -> Result<Batch> {
        type Sign = unsafe extern "C" fn(
            *const BytesOut,
            *const BytesOut,
            *const Bytes,
            *const Words,
            *const Words,
            *mut u8,
        ) -> c_int;
        let name = match curve {
            Curve::P256 => c"mbx_nistp256_ecdsa_sign_mb8",
            Curve::P384 => c"mbx_nistp384_ecdsa_sign_mb8",
        };
        // SAFETY: the type is that of crypto_mb/ec_nistp256.h.
        let sign = unsafe { std::mem::transmute::<*mut c_void, Sign>(self.find(name)?) };
        let bytes = curve.bytes();
        let (nonce, key, digest) = (number(3, bytes), number(5, bytes), vec![7; bytes]);
        let mut out = vec![vec![0_u8; bytes]; 16];
        Ok(Box::new(move |filled| {
            let (nonces, keys) = (
                lanes(filled, |_| nonce.as_ptr()),
                lanes(filled, |_| key.as_ptr()),
            );
            let digests = lanes(filled, |_| digest.as_ptr());
            let r = lanes_mut(filled, |lane| out[lane].as_mut_ptr());
            let s = lanes_mut(filled, |lane| out[8 + lane].as_mut_ptr());
            // SAFETY: arrays of the curve's size.
            let status = unsafe { sign(&r, &s, &digests, &nonces, &keys, null_mut()) };
            succeeded(status, filled)
        }))
    }

    /// The secret that two keys share.
    ///
    /// # Errors
    /// [`Error::Missing`]; later [`Error::Refused`].
    pub fn ecdh(self, curve: Curve) -> Result<Batch> {
        type Derive = unsafe extern "C" fn(
            *const BytesOut,
            *const Words,
            *const Words,
            *const Words,
            *const Words,
            *mut u8,
        ) -> c_int;
        let name = match curve {
            Curve::P256 => c"mbx_nistp256_ecdh_mb8",
            Curve::P384 => c"mbx_nistp384_ecdh_mb8",
        };
        // SAFETY: the type is that of crypto_mb/ec_nistp256.h.
        let derive = unsafe { std::mem::transmute::<*mut c_void, Derive>(self.find(name)?) };
        let bytes = curve.bytes();
        let (key, peer) = (number(5, bytes), number(3, bytes));
        let (mut x, mut y) = (vec![0_u64; bytes / 8], vec![0_u64; bytes / 8]);
        let make = self.public(curve)?;
        let first = |_| peer.as_ptr();
        // SAFETY: arrays of the curve's size for one lane.
        let status = unsafe {
            let (x, y) = (
                lanes_mut(1, |_| x.as_mut_ptr()),
                lanes_mut(1, |_| y.as_mut_ptr()),
            );
            make(&x, &y, null(), &lanes(1, first), null_mut())
        };
        succeeded(status, 1)?;
        let mut out = vec![vec![0_u8; bytes]; 8];
        Ok(Box::new(move |filled| {
            let all = |words: &[u64]| lanes(filled, |_| words.as_ptr());
            let to = lanes_mut(filled, |lane| out[lane].as_mut_ptr());
            // SAFETY: arrays of the curve's size; affine points have no z.
            let status = unsafe { derive(&to, &all(&key), &all(&x), &all(&y), null(), null_mut()) };
            succeeded(status, filled)
        }))
    }

    /// The public half of a key: what making a pair costs.
    ///
    /// # Errors
    /// [`Error::Missing`]; later [`Error::Refused`].
    pub fn public_key(self, curve: Curve) -> Result<Batch> {
        let make = self.public(curve)?;
        let bytes = curve.bytes();
        let key = number(5, bytes);
        let mut out = vec![vec![0_u64; bytes / 8]; 16];
        Ok(Box::new(move |filled| {
            let keys = lanes(filled, |_| key.as_ptr());
            let x = lanes_mut(filled, |lane| out[lane].as_mut_ptr());
            let y = lanes_mut(filled, |lane| out[8 + lane].as_mut_ptr());
            // SAFETY: arrays of the curve's size.
            let status = unsafe { make(&x, &y, null(), &keys, null_mut()) };
            succeeded(status, filled)
        }))
    }

    fn public(self, curve: Curve) -> Result<PublicKey> {
        let name = match curve {
            Curve::P256 => c"mbx_nistp256_ecpublic_key_mb8",
            Curve::P384 => c"mbx_nistp384_ecpublic_key_mb8",
        };
        // SAFETY: the type is that of crypto_mb/ec_nistp256.h.
        Ok(unsafe { std::mem::transmute::<*mut c_void, PublicKey>(self.find(name)?) })
    }

    /// The secret that two X25519 keys share.
    ///
    /// # Errors
    /// [`Error::Missing`]; later [`Error::Refused`].
    pub fn x25519(self) -> Result<Batch> {
        type Derive = unsafe extern "C" fn(*const BytesOut, *const Bytes, *const Bytes) -> c_int;
        let derive = self.find(c"mbx_x25519_mb8")?;
        // SAFETY: the type is that of crypto_mb/x25519.h.
        let derive = unsafe { std::mem::transmute::<*mut c_void, Derive>(derive) };
        let (key, mut out) = ([9_u8; 32], [[0_u8; 32]; 8]);
        Ok(Box::new(move |filled| {
            let keys = lanes(filled, |_| key.as_ptr());
            let to = lanes_mut(filled, |lane| out[lane].as_mut_ptr());
            // SAFETY: arrays of 32 bytes. Any 32 bytes are a peer's key.
            succeeded(unsafe { derive(&to, &keys, &keys) }, filled)
        }))
    }

    /// The public half of an X25519 key.
    ///
    /// # Errors
    /// [`Error::Missing`]; later [`Error::Refused`].
    pub fn x25519_public_key(self) -> Result<Batch> {
        type Make = unsafe extern "C" fn(*const BytesOut, *const Bytes) -> c_int;
        let make = self.find(c"mbx_x25519_public_key_mb8")?;
        // SAFETY: the type is that of crypto_mb/x25519.h.
        let make = unsafe { std::mem::transmute::<*mut c_void, Make>(make) };
        let (key, mut out) = ([9_u8; 32], [[0_u8; 32]; 8]);
        Ok(Box::new(move |filled| {
            let keys = lanes(filled, |_| key.as_ptr());
            let to = lanes_mut(filled, |lane| out[lane].as_mut_ptr());
            // SAFETY: arrays of 32 bytes.
            succeeded(unsafe { make(&to, &keys) }, filled)
        }))
    }

    /// Ed25519's signature of a message of so many bytes.
    ///
    /// # Errors
    /// [`Error::Missing`]; later [`Error::Refused`].
    pub fn ed25519_sign(self, bytes: usize) -> Result<Batch> {
        let mut signing = self.ed25519(bytes)?;
        Ok(Box::new(move |filled| signing.sign(filled)))
    }

    /// The verification of such a signature.
    ///
    /// # Errors
    /// As above.
    pub fn ed25519_verify(self, bytes: usize) -> Result<Batch> {
        type Verify = unsafe extern "C" fn(
            *const Bytes,
            *const Bytes,
            *const Bytes,
            *const u32,
            *const Bytes,
        ) -> c_int;
        let verify = self.find(c"mbx_ed25519_verify_mb8")?;
        // SAFETY: the type is that of crypto_mb/ed25519.h.
        let verify = unsafe { std::mem::transmute::<*mut c_void, Verify>(verify) };
        let mut signed = self.ed25519(bytes)?;
        signed.sign(8)?;
        Ok(Box::new(move |filled| {
            let r = lanes(filled, |lane| signed.r[lane].as_ptr());
            let s = lanes(filled, |lane| signed.s[lane].as_ptr());
            let publics = lanes(filled, |_| signed.public.as_ptr());
            let messages = lanes(filled, |_| signed.message.as_ptr());
            let lengths = [signed.message.len() as u32; 8];
            // SAFETY: arrays of 32 bytes, and messages of the lengths given.
            let status = unsafe { verify(&r, &s, &messages, lengths.as_ptr(), &publics) };
            succeeded(status, filled)
        }))
    }

    fn ed25519(self, bytes: usize) -> Result<Ed25519> {
        type Make = unsafe extern "C" fn(*const BytesOut, *const Bytes) -> c_int;
        // SAFETY: the types are those of crypto_mb/ed25519.h.
        let (make, sign) = unsafe {
            (
                std::mem::transmute::<*mut c_void, Make>(self.find(c"mbx_ed25519_public_key_mb8")?),
                std::mem::transmute::<*mut c_void, Ed25519Sign>(
                    self.find(c"mbx_ed25519_sign_mb8")?,
                ),
            )
        };
        let mut this = Ed25519 {
            sign,
            key: [9; 32],
            public: [0; 32],
            message: vec![5; bytes],
            r: [[0; 32]; 8],
            s: [[0; 32]; 8],
        };
        let to = lanes_mut(1, |_| this.public.as_mut_ptr());
        let from = lanes(1, |_| this.key.as_ptr());
        // SAFETY: arrays of 32 bytes.
        succeeded(unsafe { make(&to, &from) }, 1)?;
        Ok(this)
    }
}

type Ed25519Sign = unsafe extern "C" fn(
    *const BytesOut,
    *const BytesOut,
    *const Bytes,
    *const u32,
    *const Bytes,
    *const Bytes,
) -> c_int;

/// A key, a message, and eight signatures of it.
struct Ed25519 {
    sign: Ed25519Sign,
    key: [u8; 32],
    public: [u8; 32],
    message: Vec<u8>,
    r: [[u8; 32]; 8],
    s: [[u8; 32]; 8],
}

impl Ed25519 {
    fn sign(&mut self, filled: usize) -> Result<()> {
        let r = lanes_mut(filled, |lane| self.r[lane].as_mut_ptr());
        let s = lanes_mut(filled, |lane| self.s[lane].as_mut_ptr());
        let keys = lanes(filled, |_| self.key.as_ptr());
        let publics = lanes(filled, |_| self.public.as_ptr());
        let messages = lanes(filled, |_| self.message.as_ptr());
        let lengths = [self.message.len() as u32; 8];
        // SAFETY: arrays of 32 bytes, and messages of the lengths given.
        let status = unsafe { (self.sign)(&r, &s, &messages, lengths.as_ptr(), &keys, &publics) };
        succeeded(status, filled)
    }
}

impl Curve {
    /// The length of a number.
    fn bytes(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
        }
    }
}

fn load(path: &Path) -> Result<*mut c_void> {
    let failed = |reason: String| Error::Load {
        path: path.display().to_string(),
        reason,
    };
    let name = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| failed("the name holds a zero byte".into()))?;
    // SAFETY: loads a library that the caller asked for.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    if !library.is_null() {
        return Ok(library);
    }
    // SAFETY: the loader's own text, or null; copied before the next call.
    let reason = unsafe {
        let text = libc::dlerror();
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    };
    Err(failed(
        reason.unwrap_or_else(|| "the loader gives no reason".into()),
    ))
}

/// The pointers of the filled lanes; the others' are null.
fn lanes<T>(filled: usize, pointer: impl Fn(usize) -> *const T) -> [*const T; 8] {
    std::array::from_fn(|lane| if lane < filled { pointer(lane) } else { null() })
}

fn lanes_mut<T>(filled: usize, mut pointer: impl FnMut(usize) -> *mut T) -> [*mut T; 8] {
    std::array::from_fn(|lane| {
        if lane < filled {
            pointer(lane)
        } else {
            null_mut()
        }
    })
}

/// Four bits of status for each lane; 0 is success.
fn succeeded(status: c_int, filled: usize) -> Result<()> {
    let lanes = (1_u64 << (4 * filled)) - 1;
    match u64::from(status.cast_unsigned()) & lanes {
        0 => Ok(()),
        refused => Err(Error::Refused(refused)),
    }
}

/// A number of so many bytes, all alike, as words.
fn number(byte: u8, bytes: usize) -> Vec<u64> {
    words(&vec![byte; bytes])
}

/// Big-endian bytes to words, the lowest first.
fn words(bytes: &[u8]) -> Vec<u64> {
    bytes
        .rchunks(8)
        .map(|chunk| {
            chunk
                .iter()
                .fold(0, |word, byte| word << 8 | u64::from(*byte))
        })
        .collect()
}

/// The same, so many of them at least.
fn padded(bytes: &[u8], least: usize) -> Vec<u64> {
    let mut words = words(bytes);
    words.resize(words.len().max(least), 0);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_words_the_lowest_first() {
        assert_eq!(words(&[1, 0, 0, 0, 0, 0, 0, 0, 2]), [2, 1]);
        assert_eq!(padded(&[3], 2), [3, 0]);
        assert_eq!(number(0, 48), [0; 6]);
    }

    #[test]
    fn only_the_filled_lanes_count() {
        assert!(succeeded(0, 8).is_ok());
        assert!(succeeded(0x10, 1).is_ok());
        assert!(matches!(succeeded(0x10, 2), Err(Error::Refused(0x10))));
        assert!(matches!(succeeded(-1, 8), Err(Error::Refused(0xffff_ffff))));
        let one = 1_u8;
        let pointers = lanes(2, |_| &raw const one);
        assert!(!pointers[1].is_null() && pointers[2].is_null());
    }

    #[test]
    fn what_is_no_library_is_told() {
        let error = Library::open(Path::new("/nowhere/libcrypto_mb.so")).unwrap_err();
        assert!(
            error.to_string().starts_with("cannot load /nowhere/"),
            "{error}"
        );
        // A library, but another.
        let other = Library::open(Path::new("libc.so.6")).unwrap();
        assert!(matches!(other.x25519(), Err(Error::Missing(_))));
    }
}
