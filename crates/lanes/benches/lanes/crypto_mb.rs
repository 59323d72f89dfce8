//! Intel's crypto_mb (Cryptography Primitives Library, multi-buffer), eight lanes. `make bench-lanes`
//! fetches it for this comparison; nothing of it is shipped or linked.
//!
//! Its interface takes eight pointers for each operand; the empty lanes' are null.

#![allow(
    clippy::missing_transmute_annotations,
    reason = "the fields give the functions' types"
)]

use crate::Run;
use crate::aws_lc::RsaKey;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::{null, null_mut};

/// A word array for each lane, a byte array for each lane.
type Words = [*const u64; 8];
type Bytes = [*const u8; 8];
type BytesOut = [*mut u8; 8];

/// The library, never unloaded.
#[derive(Clone, Copy)]
pub(crate) struct Library(*mut c_void);

impl Library {
    /// The library in the directory that `CRYPTO_MB` names, with Intel's runtime beside it.
    pub(crate) fn open() -> Option<Library> {
        let directory = std::env::var("CRYPTO_MB").ok()?;
        let load = |name: &str| {
            let path = CString::new(format!("{directory}/{name}")).ok()?;
            // SAFETY: loads a library that the caller asked for.
            let library =
                unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
            (!library.is_null()).then_some(library)
        };
        for needed in ["libintlc.so.5", "libirng.so", "libimf.so", "libsvml.so"] {
            load(needed);
        }
        load("libcrypto_mb.so").map(Library)
    }

    fn find(self, name: &CStr) -> *mut c_void {
        // SAFETY: looks up a name.
        let function = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        assert!(!function.is_null(), "crypto_mb lacks {name:?}");
        function
    }

    /// The operation, so many lanes filled.
    pub(crate) fn run(self, operation: &str) -> Option<Run> {
        Some(match operation {
            "RSA-2048 private" => self.rsa(2048, c"mbx_RSA2K_private_crt_Method"),
            "RSA-3072 private" => self.rsa(3072, c"mbx_RSA3K_private_crt_Method"),
            "RSA-4096 private" => self.rsa(4096, c"mbx_RSA4K_private_crt_Method"),
            "ECDSA P-256 sign" => self.ecdsa(c"mbx_nistp256_ecdsa_sign_mb8", 32),
            "ECDSA P-384 sign" => self.ecdsa(c"mbx_nistp384_ecdsa_sign_mb8", 48),
            "ECDH P-256" => self.ecdh(
                c"mbx_nistp256_ecdh_mb8",
                c"mbx_nistp256_ecpublic_key_mb8",
                32,
            ),
            "ECDH P-384" => self.ecdh(
                c"mbx_nistp384_ecdh_mb8",
                c"mbx_nistp384_ecpublic_key_mb8",
                48,
            ),
            "P-256 public key" => self.public_key(c"mbx_nistp256_ecpublic_key_mb8", 32),
            "P-384 public key" => self.public_key(c"mbx_nistp384_ecpublic_key_mb8", 48),
            "X25519" => self.x25519(false),
            "X25519 public key" => self.x25519(true),
            "Ed25519 sign" => self.ed25519(false),
            "Ed25519 verify" => self.ed25519(true),
            _ => return None,
        })
    }

    fn rsa(self, bits: c_int, method: &CStr) -> Run {
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
        // SAFETY: the types are those of crypto_mb/rsa.h.
        let (private, method): (Private, unsafe extern "C" fn() -> *const c_void) = unsafe {
            (
                std::mem::transmute::<*mut c_void, Private>(self.find(c"mbx_rsa_private_crt_mb8")),
                std::mem::transmute::<*mut c_void, _>(self.find(method)),
            )
        };
        // Little-endian words of p, q, dp, dq and the coefficient.
        let keys = RsaKey::eight(bits as u32).map(|key| {
            let words = key.with_components(|c| [c.p, c.q, c.dp, c.dq, c.qinv].map(words));
            (key, words)
        });
        let x = vec![0x42; bits as usize / 8];
        let mut out = vec![vec![0; x.len()]; 8];
        let mut checked = false;
        Box::new(move |filled| {
            let part = |part: usize| -> Words {
                let word = |lane: usize| keys[lane].1[part].as_ptr();
                std::array::from_fn(|lane| if lane < filled { word(lane) } else { null() })
            };
            let from = std::array::from_fn(|lane| if lane < filled { x.as_ptr() } else { null() });
            let to = std::array::from_fn(|lane| {
                if lane < filled {
                    out[lane].as_mut_ptr()
                } else {
                    null_mut()
                }
            });
            let [p, q, dp, dq, qinv] = [0, 1, 2, 3, 4].map(part);
            // SAFETY: for each filled lane arrays of the sizes that `bits` demands.
            unsafe {
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
                );
            }
            if !checked {
                assert_eq!(
                    out[0],
                    keys[0].0.private(&x),
                    "crypto_mb is called as it should be"
                );
                checked = true;
            }
        })
    }

    fn ecdsa(self, name: &CStr, bytes: usize) -> Run {
        type Sign = unsafe extern "C" fn(
            *const BytesOut,
            *const BytesOut,
            *const Bytes,
            *const Words,
            *const Words,
            *mut u8,
        ) -> c_int;
        // SAFETY: the type is that of crypto_mb/ec_nistp256.h.
        let sign = unsafe { std::mem::transmute::<*mut c_void, Sign>(self.find(name)) };
        let (nonce, key, message) = (
            words(&vec![3; bytes]),
            words(&vec![5; bytes]),
            vec![7; bytes],
        );
        let mut out = vec![vec![0_u8; bytes]; 16];
        Box::new(move |filled| {
            let lanes = |pointer: *const u64| {
                std::array::from_fn(|lane| if lane < filled { pointer } else { null() })
            };
            let messages = std::array::from_fn(|lane| {
                if lane < filled {
                    message.as_ptr()
                } else {
                    null()
                }
            });
            let r = std::array::from_fn(|lane| {
                if lane < filled {
                    out[lane].as_mut_ptr()
                } else {
                    null_mut()
                }
            });
            let s = std::array::from_fn(|lane| {
                if lane < filled {
                    out[8 + lane].as_mut_ptr()
                } else {
                    null_mut()
                }
            });
            // SAFETY: arrays of the curve's size.
            let status = unsafe {
                sign(
                    &r,
                    &s,
                    &messages,
                    &lanes(nonce.as_ptr()),
                    &lanes(key.as_ptr()),
                    null_mut(),
                )
            };
            succeeded(status, filled);
        })
    }

    fn ecdh(self, name: &CStr, public_name: &CStr, bytes: usize) -> Run {
        type Derive = unsafe extern "C" fn(
            *const BytesOut,
            *const Words,
            *const Words,
            *const Words,
            *const Words,
            *mut u8,
        ) -> c_int;
        // SAFETY: the type is that of crypto_mb/ec_nistp256.h.
        let derive = unsafe { std::mem::transmute::<*mut c_void, Derive>(self.find(name)) };
        let [x, y] = self.point(public_name, bytes);
        let key = words(&vec![5; bytes]);
        let mut out = vec![vec![0_u8; bytes]; 8];
        Box::new(move |filled| {
            let lanes = |pointer: *const u64| {
                std::array::from_fn(|lane| if lane < filled { pointer } else { null() })
            };
            let to = std::array::from_fn(|lane| {
                if lane < filled {
                    out[lane].as_mut_ptr()
                } else {
                    null_mut()
                }
            });
            // SAFETY: arrays of the curve's size; affine points have no z.
            let status = unsafe {
                let (key, x, y) = (lanes(key.as_ptr()), lanes(x.as_ptr()), lanes(y.as_ptr()));
                derive(&to, &key, &x, &y, null(), null_mut())
            };
            succeeded(status, filled);
        })
    }

    /// A public key's coordinates.
    fn point(self, name: &CStr, bytes: usize) -> [Vec<u64>; 2] {
        let mut coordinates = [vec![0_u64; bytes / 8], vec![0_u64; bytes / 8]];
        let [x, y] = coordinates.each_mut().map(|c| c.as_mut_ptr());
        let key = words(&vec![3; bytes]);
        let one = |pointer: *mut u64| {
            std::array::from_fn(|lane| if lane == 0 { pointer } else { null_mut() })
        };
        let keys = std::array::from_fn(|lane| if lane == 0 { key.as_ptr() } else { null() });
        // SAFETY: arrays of the curve's size for one lane.
        unsafe { self.public(name)(&one(x), &one(y), null(), &keys, null_mut()) };
        coordinates
    }

    fn public(self, name: &CStr) -> PublicKey {
        // SAFETY: the type is that of crypto_mb/ec_nistp256.h.
        unsafe { std::mem::transmute::<*mut c_void, PublicKey>(self.find(name)) }
    }

    fn public_key(self, name: &CStr, bytes: usize) -> Run {
        let public = self.public(name);
        let key = words(&vec![5; bytes]);
        let mut out = vec![vec![0_u64; bytes / 8]; 16];
        Box::new(move |filled| {
            let keys =
                std::array::from_fn(|lane| if lane < filled { key.as_ptr() } else { null() });
            let x = std::array::from_fn(|lane| {
                if lane < filled {
                    out[lane].as_mut_ptr()
                } else {
                    null_mut()
                }
            });
            let y = std::array::from_fn(|lane| {
                if lane < filled {
                    out[8 + lane].as_mut_ptr()
                } else {
                    null_mut()
                }
            });
            // SAFETY: arrays of the curve's size.
            succeeded(unsafe { public(&x, &y, null(), &keys, null_mut()) }, filled);
        })
    }

    fn x25519(self, public: bool) -> Run {
        type Public = unsafe extern "C" fn(*const BytesOut, *const Bytes) -> c_int;
        type Derive = unsafe extern "C" fn(*const BytesOut, *const Bytes, *const Bytes) -> c_int;
        // SAFETY: the types are those of crypto_mb/x25519.h.
        let (make, derive) = unsafe {
            (
                std::mem::transmute::<*mut c_void, Public>(self.find(c"mbx_x25519_public_key_mb8")),
                std::mem::transmute::<*mut c_void, Derive>(self.find(c"mbx_x25519_mb8")),
            )
        };
        let (key, mut out) = ([9_u8; 32], [[0_u8; 32]; 8]);
        Box::new(move |filled| {
            let keys =
                std::array::from_fn(|lane| if lane < filled { key.as_ptr() } else { null() });
            let to = std::array::from_fn(|lane| {
                if lane < filled {
                    out[lane].as_mut_ptr()
                } else {
                    null_mut()
                }
            });
            // SAFETY: arrays of 32 bytes. Any 32 bytes are a peer's key.
            let status = unsafe {
                if public {
                    make(&to, &keys)
                } else {
                    derive(&to, &keys, &keys)
                }
            };
            succeeded(status, filled);
        })
    }

    fn ed25519(self, verify: bool) -> Run {
        type Make = unsafe extern "C" fn(*const BytesOut, *const Bytes) -> c_int;
        type Sign = unsafe extern "C" fn(
            *const BytesOut,
            *const BytesOut,
            *const Bytes,
            *const u32,
            *const Bytes,
            *const Bytes,
        ) -> c_int;
        type Verify = unsafe extern "C" fn(
            *const Bytes,
            *const Bytes,
            *const Bytes,
            *const u32,
            *const Bytes,
        ) -> c_int;
        // SAFETY: the types are those of crypto_mb/ed25519.h.
        let (make, sign, check) = unsafe {
            (
                std::mem::transmute::<*mut c_void, Make>(self.find(c"mbx_ed25519_public_key_mb8")),
                std::mem::transmute::<*mut c_void, Sign>(self.find(c"mbx_ed25519_sign_mb8")),
                std::mem::transmute::<*mut c_void, Verify>(self.find(c"mbx_ed25519_verify_mb8")),
            )
        };
        let (key, message) = ([9_u8; 32], [5_u8; 32]);
        let (mut public, mut r, mut s) = ([0_u8; 32], [[0_u8; 32]; 8], [[0_u8; 32]; 8]);
        let public_to = std::array::from_fn(|lane| {
            if lane == 0 {
                public.as_mut_ptr()
            } else {
                null_mut()
            }
        });
        let from = std::array::from_fn(|lane| if lane == 0 { key.as_ptr() } else { null() });
        // SAFETY: arrays of 32 bytes.
        unsafe { make(&public_to, &from) };
        let mut signed = false;
        Box::new(move |filled| {
            let lanes = |pointer: *const u8| -> Bytes {
                std::array::from_fn(|lane| if lane < filled { pointer } else { null() })
            };
            let (keys, publics, messages) = (
                lanes(key.as_ptr()),
                lanes(public.as_ptr()),
                lanes(message.as_ptr()),
            );
            let lengths = [32; 8];
            if !verify || !signed {
                let to_r = std::array::from_fn(|lane| {
                    if lane < filled {
                        r[lane].as_mut_ptr()
                    } else {
                        null_mut()
                    }
                });
                let to_s = std::array::from_fn(|lane| {
                    if lane < filled {
                        s[lane].as_mut_ptr()
                    } else {
                        null_mut()
                    }
                });
                // SAFETY: arrays of 32 bytes.
                let status =
                    unsafe { sign(&to_r, &to_s, &messages, lengths.as_ptr(), &keys, &publics) };
                succeeded(status, filled);
                signed = true;
            }
            if verify {
                let from_r = std::array::from_fn(|lane| {
                    if lane < filled {
                        r[lane].as_ptr()
                    } else {
                        null()
                    }
                });
                let from_s = std::array::from_fn(|lane| {
                    if lane < filled {
                        s[lane].as_ptr()
                    } else {
                        null()
                    }
                });
                // SAFETY: arrays of 32 bytes.
                let status =
                    unsafe { check(&from_r, &from_s, &messages, lengths.as_ptr(), &publics) };
                succeeded(status, filled);
            }
        })
    }
}

type PublicKey = unsafe extern "C" fn(
    *const [*mut u64; 8],
    *const [*mut u64; 8],
    *const c_void,
    *const Words,
    *mut u8,
) -> c_int;

/// Four bits of status for each lane; 0 is success.
fn succeeded(status: c_int, filled: usize) {
    let lanes = (1_u64 << (4 * filled)) - 1;
    assert_eq!(
        u64::from(status.cast_unsigned()) & lanes,
        0,
        "crypto_mb succeeds: {status:#x}"
    );
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
