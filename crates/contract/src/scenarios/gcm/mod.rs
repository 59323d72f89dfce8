//! AES-GCM: every length, control and parameter, every order of calls.

mod controls;
mod orders;

use std::ffi::CStr;

use super::Scenario;
use crate::params::{ask, hex};
use crate::transcript::{Arg, NULL, Object, Transcript, int, quietly};
use controls::{controls, places, records, sequences};
use orders::{lengths, orders};

const CIPHERS: [(&str, &CStr); 3] = [
    ("128", c"AES-128-GCM"),
    ("192", c"AES-192-GCM"),
    ("256", c"AES-256-GCM"),
];

const KEY: [u8; 32] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
    27, 28, 29, 30, 31, 32,
];
const IV: [u8; 12] = [7; 12];
/// In bytes: what GCM's implementations have room for.
const LONGEST_IV: usize = 128;
const GET_TAG: i32 = 0x10;
const SET_TAG: i32 = 0x11;
const SET_IV_LENGTH: i32 = 0x9;
const SET_IV_FIXED: i32 = 0x12;
const IV_GEN: i32 = 0x13;
const TLS_AAD: i32 = 0x16;
const SET_IV_INV: i32 = 0x18;

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (size, cipher) in CIPHERS {
        all.push(Scenario::new(format!("gcm/{size}/lengths"), move |t| {
            lengths(t, cipher)
        }));
        all.push(Scenario::new(format!("gcm/{size}/orders"), move |t| {
            orders(t, cipher)
        }));
        all.push(Scenario::new(format!("gcm/{size}/controls"), move |t| {
            controls(t, cipher)
        }));
        all.push(Scenario::new(format!("gcm/{size}/places"), move |t| {
            places(t, cipher)
        }));
        all.push(Scenario::new(format!("gcm/{size}/records"), move |t| {
            records(t, cipher)
        }));
        all.push(Scenario::new(format!("gcm/{size}/sequences"), move |t| {
            sequences(t, cipher)
        }));
    }
    all
}

/// A cipher context, and what can be done with it: each is written down with its output.
struct Gcm<'a> {
    t: &'a Transcript,
    context: Object,
    cipher: Object,
}

impl<'a> Gcm<'a> {
    fn new(t: &'a Transcript, cipher: &CStr) -> Self {
        Self {
            t,
            context: Object(quietly!(t, EVP_CIPHER_CTX_new()) as *mut _),
            cipher: Object(quietly!(t, EVP_CIPHER_fetch(NULL, cipher, NULL)) as *mut _),
        }
    }

    /// `EVP_CipherInit_ex2` with or without cipher, key and IV. Zeros follow the IV: libcrypto reads as many bytes as the
    /// context's IV has.
    fn init(&self, cipher: bool, key: Option<&[u8]>, iv: Option<&[u8]>, encrypt: i32) -> i32 {
        let cipher = if cipher { self.cipher.into() } else { NULL };
        let iv = iv.map(|iv| [iv, &[0; LONGEST_IV]].concat());
        let place = |bytes: Option<&[u8]>| bytes.map_or(NULL, Arg::from);
        self.t.int(
            "EVP_CipherInit_ex2",
            &[
                self.context.into(),
                cipher,
                place(key),
                place(iv.as_deref()),
                Arg::Int(encrypt.into()),
                NULL,
            ],
        )
    }

    fn start(t: &'a Transcript, cipher: &CStr, encrypt: i32) -> Self {
        let gcm = Self::new(t, cipher);
        gcm.init(true, Some(&KEY), Some(&IV), encrypt);
        gcm
    }

    fn aad(&self, data: &[u8]) -> i32 {
        let mut written = -7_i32;
        let answer = self.t.int(
            "EVP_CipherUpdate",
            &[
                self.context.into(),
                NULL,
                (&mut written).into(),
                data.into(),
                Arg::Int(data.len() as i64),
            ],
        );
        self.t.say(&format!("aad {written}"));
        answer
    }

    fn update(&self, data: &[u8]) -> Vec<u8> {
        let mut out = vec![0; data.len() + 32];
        let mut written = -7_i32;
        let answer = self.t.int(
            "EVP_CipherUpdate",
            &[
                self.context.into(),
                (&mut out).into(),
                (&mut written).into(),
                data.into(),
                Arg::Int(data.len() as i64),
            ],
        );
        let length = usize::try_from(written).unwrap_or(0);
        self.t.say(&format!(
            "update {written} {}",
            if answer == 1 {
                hex(&out[..length])
            } else {
                String::new()
            }
        ));
        out.truncate(length);
        out
    }

    fn last(&self) -> i32 {
        let mut out = vec![0; 32];
        let mut written = -7_i32;
        let answer = self.t.int(
            "EVP_CipherFinal_ex",
            &[
                self.context.into(),
                (&mut out).into(),
                (&mut written).into(),
            ],
        );
        self.t.say(&format!("final {written} {}", hex(&out)));
        answer
    }

    fn control(&self, control: i32, number: i32, data: Option<&mut [u8]>) -> i32 {
        match data {
            None => self.t.int(
                "EVP_CIPHER_CTX_ctrl",
                &[self.context.into(), control.into(), number.into(), NULL],
            ),
            Some(data) => {
                // A whole IV is as long as the context says.
                let mut place = [&*data, &[0; LONGEST_IV]].concat();
                let answer = self.t.int(
                    "EVP_CIPHER_CTX_ctrl",
                    &[
                        self.context.into(),
                        control.into(),
                        number.into(),
                        place.as_mut_ptr().into(),
                    ],
                );
                data.copy_from_slice(&place[..data.len()]);
                self.t.say(&format!("control {}", hex(data)));
                answer
            }
        }
    }

    fn tag(&self) -> Vec<u8> {
        let mut tag = vec![0; 16];
        self.control(GET_TAG, 16, Some(&mut tag));
        tag
    }

    fn read(&self) {
        for function in [
            "EVP_CIPHER_CTX_get_iv_length",
            "EVP_CIPHER_CTX_get_key_length",
            "EVP_CIPHER_CTX_get_tag_length",
            "EVP_CIPHER_CTX_get_block_size",
            "EVP_CIPHER_CTX_get_num",
            "EVP_CIPHER_CTX_is_encrypting",
            "EVP_CIPHER_CTX_get_nid",
        ] {
            self.t.int(function, &[self.context.into()]);
        }
        for (name, kind) in [
            (c"iv", 5),
            (c"updated-iv", 5),
            (c"ivlen", 2),
            (c"keylen", 2),
            (c"tag", 5),
            (c"taglen", 2),
            (c"tlsaadpad", 2),
            (c"num", 2),
            (c"padding", 2),
            (c"no such", 2),
            (c"algorithm-id-params", 5),
            (c"generated-iv", 5),
            (c"iv-generated", 2),
        ] {
            ask(
                self.t,
                "EVP_CIPHER_CTX_get_params",
                self.context.into(),
                name,
                kind,
                false,
            );
        }
        for length in [0, 8, 12, 16, 20] {
            let mut iv = vec![0; 20];
            for function in [
                "EVP_CIPHER_CTX_get_original_iv",
                "EVP_CIPHER_CTX_get_updated_iv",
            ] {
                self.t.int(
                    function,
                    &[self.context.into(), (&mut iv).into(), Arg::Size(length)],
                );
                self.t.say(&format!("iv of {length} {}", hex(&iv)));
            }
        }
    }

    /// A copy; none where it is refused: OpenSSL crashes with what is left then.
    fn copy(&self) -> Option<Self> {
        let context = Object(quietly!(self.t, EVP_CIPHER_CTX_new()) as *mut _);
        let copied = int!(self.t, EVP_CIPHER_CTX_copy(context, self.context));
        (copied == 1).then_some(Self {
            t: self.t,
            context,
            cipher: self.cipher,
        })
    }
}

impl Drop for Gcm<'_> {
    fn drop(&mut self) {
        quietly!(self.t, EVP_CIPHER_CTX_free(self.context));
    }
}
