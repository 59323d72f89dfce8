//! AES-GCM: every length, control and parameter, every order of calls.

use std::ffi::CStr;

use super::Scenario;
use crate::params::{Params, ask, hex};
use crate::transcript::{Arg, NULL, Object, PASSED_OVER, Transcript, int, quietly};

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

    /// `EVP_CipherInit_ex2` with or without cipher, key and IV.
    fn init(&self, cipher: bool, key: Option<&[u8]>, iv: Option<&[u8]>, encrypt: i32) -> i32 {
        let cipher = if cipher { self.cipher.into() } else { NULL };
        let place = |bytes: Option<&[u8]>| bytes.map_or(NULL, Arg::from);
        self.t.int(
            "EVP_CipherInit_ex2",
            &[
                self.context.into(),
                cipher,
                place(key),
                place(iv),
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
                let answer = self.t.int(
                    "EVP_CIPHER_CTX_ctrl",
                    &[
                        self.context.into(),
                        control.into(),
                        number.into(),
                        data.as_mut_ptr().into(),
                    ],
                );
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

/// Lengths of everything.
fn lengths(t: &Transcript, cipher: &CStr) {
    let data: Vec<u8> = (0..5000).map(|index| index as u8).collect();
    for length in [
        0, 1, 15, 16, 17, 31, 32, 33, 64, 100, 127, 128, 129, 255, 256, 257, 1000, 4096, 5000,
    ] {
        for aad in [0, 1, 13, 16, 20, 100] {
            t.scene(format!("{length} bytes, {aad} of AAD"));
            let gcm = Gcm::start(t, cipher, 1);
            gcm.aad(&data[..aad]);
            let sealed = gcm.update(&data[..length]);
            gcm.last();
            let mut tag = gcm.tag();
            let open = Gcm::start(t, cipher, 0);
            open.aad(&data[..aad]);
            open.update(&sealed);
            open.control(SET_TAG, 16, Some(&mut tag));
            open.last();
        }
    }
    for iv in [
        0_i32, 1, 7, 8, 11, 12, 13, 16, 20, 64, 100, 128, 129, 1000, -1,
    ] {
        t.scene(format!("an IV of {iv}"));
        let gcm = Gcm::new(t, cipher);
        gcm.init(true, None, None, 1);
        gcm.control(SET_IV_LENGTH, iv, None);
        gcm.read();
        gcm.init(false, Some(&KEY), Some(&data[..1024]), 1);
        gcm.update(&data[..20]);
        gcm.last();
        gcm.tag();
        gcm.read();
        t.scene(format!("an IV of {iv}, by parameter"));
        let gcm = Gcm::new(t, cipher);
        let params = Params::new().size("ivlen", iv as usize);
        let cipher = gcm.cipher;
        t.int(
            "EVP_CipherInit_ex2",
            &[
                gcm.context.into(),
                cipher.into(),
                (&KEY).into(),
                data.as_slice().into(),
                1.into(),
                params.arg(),
            ],
        );
        gcm.update(&data[..20]);
        gcm.last();
        gcm.tag();
    }
    for tag in [0_usize, 1, 4, 8, 12, 15, 16] {
        t.scene(format!("a tag of {tag}"));
        let gcm = Gcm::start(t, cipher, 1);
        let sealed = gcm.update(&data[..20]);
        gcm.last();
        let mut bytes = vec![0; tag];
        gcm.control(GET_TAG, tag as i32, Some(&mut bytes));
        let params = Params::new().octets("tag", &bytes);
        int!(t, EVP_CIPHER_CTX_get_params(gcm.context, params.arg()));
        for early in [true, false] {
            let open = Gcm::start(t, cipher, 0);
            if early {
                open.control(SET_TAG, tag as i32, Some(&mut bytes));
            }
            open.update(&sealed);
            if !early {
                open.control(SET_TAG, tag as i32, Some(&mut bytes));
            }
            open.last();
            open.read();
            if let Some(first) = bytes.first_mut() {
                *first ^= 1;
            }
            let open = Gcm::start(t, cipher, 0);
            open.update(&sealed);
            open.control(SET_TAG, tag as i32, Some(&mut bytes));
            open.last();
            open.last();
            if let Some(first) = bytes.first_mut() {
                *first ^= 1;
            }
        }
    }
    t.scene("tags of wrong lengths");
    let gcm = Gcm::start(t, cipher, 1);
    for length in [-1, 0, 17, 32] {
        let mut bytes = vec![0; 32];
        gcm.control(GET_TAG, length, Some(&mut bytes));
        gcm.control(SET_TAG, length, Some(&mut bytes));
    }
    let gcm = Gcm::start(t, cipher, 0);
    for length in [-1, 0, 17, 32, 4] {
        let mut bytes = vec![0; 32];
        gcm.control(GET_TAG, length, Some(&mut bytes));
        gcm.control(SET_TAG, length, Some(&mut bytes));
    }
}

/// Orders of calls, legal and not.
fn orders(t: &Transcript, cipher: &CStr) {
    let data: Vec<u8> = (0..100).collect();
    for encrypt in [1, 0] {
        let title = |what: &str| {
            t.scene(format!(
                "{what}, {}",
                if encrypt == 1 { "sealing" } else { "opening" }
            ))
        };
        let end = |gcm: &Gcm<'_>| {
            gcm.last();
            gcm.tag();
            gcm.read();
        };
        title("nothing at all");
        let gcm = Gcm::new(t, cipher);
        gcm.update(&data);
        gcm.last();
        title("no key");
        let gcm = Gcm::new(t, cipher);
        gcm.init(true, None, Some(&IV), encrypt);
        gcm.aad(&data);
        gcm.update(&data);
        end(&gcm);
        title("no IV");
        let gcm = Gcm::new(t, cipher);
        gcm.init(true, Some(&KEY), None, encrypt);
        gcm.aad(&data);
        gcm.update(&data);
        end(&gcm);
        title("key, then IV");
        let gcm = Gcm::new(t, cipher);
        gcm.init(true, Some(&KEY), None, encrypt);
        gcm.init(false, None, Some(&IV), encrypt);
        gcm.update(&data);
        end(&gcm);
        title("IV, then key");
        let gcm = Gcm::new(t, cipher);
        gcm.init(true, None, Some(&IV), encrypt);
        gcm.init(false, Some(&KEY), None, encrypt);
        gcm.update(&data);
        end(&gcm);
        title("late AAD");
        let gcm = Gcm::start(t, cipher, encrypt);
        gcm.aad(&data[..5]);
        gcm.update(&data[..20]);
        gcm.aad(&data[..5]);
        gcm.update(&data[..20]);
        end(&gcm);
        title("parts");
        let gcm = Gcm::start(t, cipher, encrypt);
        for length in [1, 2, 13, 16, 0, 31, 5] {
            gcm.aad(&data[..length]);
        }
        for length in [1, 2, 13, 16, 0, 31, 5] {
            gcm.update(&data[..length]);
        }
        end(&gcm);
        title("a key in the middle");
        let gcm = Gcm::start(t, cipher, encrypt);
        gcm.update(&data[..20]);
        gcm.init(false, Some(&[9; 32]), None, encrypt);
        gcm.update(&data[..20]);
        end(&gcm);
        title("a key after AAD");
        let gcm = Gcm::start(t, cipher, encrypt);
        gcm.aad(&data[..20]);
        gcm.init(false, Some(&[9; 32]), None, encrypt);
        gcm.update(&data[..20]);
        end(&gcm);
        title("an IV in the middle");
        let gcm = Gcm::start(t, cipher, encrypt);
        gcm.update(&data[..20]);
        gcm.init(false, None, Some(&[9; 12]), encrypt);
        gcm.update(&data[..20]);
        end(&gcm);
        title("another IV length in the middle");
        let gcm = Gcm::start(t, cipher, encrypt);
        gcm.update(&data[..20]);
        gcm.control(SET_IV_LENGTH, 16, None);
        gcm.read();
        gcm.update(&data[..20]);
        end(&gcm);
        title("another direction in the middle");
        let gcm = Gcm::start(t, cipher, encrypt);
        gcm.update(&data[..20]);
        gcm.init(false, None, None, 1 - encrypt);
        gcm.update(&data[..20]);
        end(&gcm);
        title("the same again");
        let gcm = Gcm::start(t, cipher, encrypt);
        gcm.update(&data[..20]);
        gcm.init(false, None, None, -1);
        gcm.update(&data[..20]);
        end(&gcm);
        title("the IV is used again");
        let gcm = Gcm::start(t, cipher, encrypt);
        gcm.update(&data[..20]);
        gcm.last();
        gcm.update(&data[..20]);
        gcm.aad(&data);
        gcm.last();
        gcm.read();
        gcm.init(false, Some(&KEY), None, encrypt);
        gcm.update(&data[..20]);
        end(&gcm);
        title("another message");
        let gcm = Gcm::start(t, cipher, encrypt);
        gcm.update(&data[..20]);
        gcm.last();
        gcm.init(false, None, Some(&[8; 12]), encrypt);
        gcm.update(&data[..20]);
        end(&gcm);
        gcm.init(false, None, Some(&[8; 12]), -1);
        end(&gcm);
        title("a copy in the middle");
        let gcm = Gcm::start(t, cipher, encrypt);
        gcm.aad(&data[..20]);
        gcm.update(&data[..20]);
        if let Some(copy) = gcm.copy() {
            drop(gcm);
            copy.update(&data[..20]);
            end(&copy);
            if let Some(again) = copy.copy() {
                again.update(&data[..20]);
                end(&again);
            }
        }
        title("reset");
        let gcm = Gcm::start(t, cipher, encrypt);
        gcm.update(&data[..20]);
        int!(t, EVP_CIPHER_CTX_reset(gcm.context));
        gcm.update(&data[..20]);
        title("EVP_Cipher");
        let gcm = Gcm::start(t, cipher, encrypt);
        evp_cipher(&gcm, false, &data[..13]);
        evp_cipher(&gcm, true, &data[..40]);
        evp_cipher(&gcm, true, &data[..3]);
        let answer = int!(t, EVP_Cipher(gcm.context, NULL, NULL, 0));
        t.say(&format!("{answer}"));
        gcm.tag();
        title("a tag before and after");
        let gcm = Gcm::start(t, cipher, encrypt);
        gcm.tag();
        let mut tag = [3; 16];
        gcm.control(SET_TAG, 16, Some(&mut tag));
        gcm.tag();
        gcm.update(&data[..20]);
        gcm.tag();
        gcm.last();
        gcm.last();
        gcm.control(SET_TAG, 16, Some(&mut tag));
        gcm.tag();
        title("no lengths");
        let gcm = Gcm::start(t, cipher, encrypt);
        let mut written = 0_i32;
        let mut out = [0_u8; 32];
        int!(
            t,
            EVP_CipherUpdate(gcm.context, &mut out, &mut written, &data, 0)
        );
        int!(
            t,
            EVP_CipherUpdate(gcm.context, &mut out, &mut written, NULL, 0)
        );
        int!(
            t,
            EVP_CipherUpdate(gcm.context, NULL, &mut written, NULL, 0)
        );
        end(&gcm);
        title("keys of other lengths");
        let gcm = Gcm::new(t, cipher);
        gcm.init(true, None, None, encrypt);
        for length in [0, 8, 16, 24, 32, 40] {
            int!(t, EVP_CIPHER_CTX_set_key_length(gcm.context, length));
        }
        title("padding");
        let gcm = Gcm::start(t, cipher, encrypt);
        int!(t, EVP_CIPHER_CTX_set_padding(gcm.context, 0));
        int!(t, EVP_CIPHER_CTX_set_padding(gcm.context, 1));
        gcm.update(&data[..20]);
        end(&gcm);
        title("a random key");
        let gcm = Gcm::start(t, cipher, encrypt);
        let mut key = [0_u8; 32];
        int!(t, EVP_CIPHER_CTX_rand_key(gcm.context, &mut key));
        title("with the older functions");
        let gcm = Gcm::new(t, cipher);
        let old = Object(quietly!(t, EVP_aes_128_gcm()) as *mut _);
        int!(t, EVP_CipherInit(gcm.context, old, &KEY, &IV, encrypt));
        gcm.update(&data[..20]);
        end(&gcm);
        int!(
            t,
            EVP_CipherInit_ex(gcm.context, NULL, NULL, NULL, &IV, encrypt)
        );
        gcm.update(&data[..20]);
        end(&gcm);
    }
}

fn evp_cipher(gcm: &Gcm<'_>, out: bool, data: &[u8]) {
    let mut buffer = vec![0; 100];
    let place = if out { (&mut buffer).into() } else { NULL };
    gcm.t.int(
        "EVP_Cipher",
        &[
            gcm.context.into(),
            place,
            data.into(),
            Arg::Int(data.len() as i64),
        ],
    );
    gcm.t.say(&hex(&buffer));
}

/// Controls and parameters, of a context with a key and of one without.
fn controls(t: &Transcript, cipher: &CStr) {
    for (title, begun) in [("begun", true), ("without a key", false)] {
        for control in -1..=0x2b {
            // EVP_CTRL_COPY, EVP_CTRL_INIT and the like are OpenSSL's own, with objects for data.
            if matches!(control, 0 | 8 | 0xe) {
                continue;
            }
            for number in [-1, 0, 4, 8, 12, 13, 16] {
                t.scene(format!("control {control:#x}, {number}, {title}"));
                let gcm = if begun {
                    Gcm::start(t, cipher, 1)
                } else {
                    let gcm = Gcm::new(t, cipher);
                    gcm.init(true, None, None, 1);
                    gcm
                };
                // Random bytes fill the rest of a fixed IV.
                if control == SET_IV_FIXED && number != -1 {
                    continue;
                }
                let mut data = vec![0x17; 64];
                if gcm.control(control, number, Some(&mut data)) == PASSED_OVER {
                    continue;
                }
                gcm.update(b"abc");
                gcm.last();
                gcm.tag();
            }
        }
        for (name, params) in [
            ("ivlen 12", Params::new().size("ivlen", 12)),
            ("ivlen 0", Params::new().size("ivlen", 0)),
            ("ivlen 200", Params::new().size("ivlen", 200)),
            ("ivlen text", Params::new().text("ivlen", "12")),
            ("keylen 16", Params::new().size("keylen", 16)),
            ("keylen 5", Params::new().size("keylen", 5)),
            ("tag", Params::new().octets("tag", &[1; 16])),
            ("tag 20", Params::new().octets("tag", &[1; 20])),
            ("tag 0", Params::new().octets("tag", &[])),
            ("taglen", Params::new().size("taglen", 12)),
            ("tlsaad", Params::new().octets("tlsaad", &[1; 13])),
            ("tlsaad 12", Params::new().octets("tlsaad", &[1; 12])),
            ("tlsivfixed", Params::new().octets("tlsivfixed", &[1; 4])),
            ("tlsivinv", Params::new().octets("tlsivinv", &[1; 8])),
            ("iv", Params::new().octets("iv", &[1; 12])),
            ("padding", Params::new().uint("padding", 0)),
            ("no such", Params::new().uint("no such", 0)),
            ("nothing", Params::new()),
            (
                "two",
                Params::new().size("ivlen", 16).octets("tag", &[1; 16]),
            ),
        ] {
            t.scene(format!("{name}, {title}"));
            for encrypt in [1, 0] {
                let gcm = Gcm::new(t, cipher);
                gcm.init(
                    true,
                    begun.then_some(&KEY[..]),
                    begun.then_some(&IV[..]),
                    encrypt,
                );
                int!(t, EVP_CIPHER_CTX_set_params(gcm.context, params.arg()));
                gcm.read();
                gcm.update(b"abc");
                gcm.last();
                gcm.tag();
            }
        }
    }
    t.scene("of the algorithm");
    let gcm = Gcm::new(t, cipher);
    for (name, kind) in [
        (c"mode", 2),
        (c"keylen", 2),
        (c"ivlen", 2),
        (c"blocksize", 2),
        (c"aead", 1),
        (c"custom-iv", 1),
        (c"cts", 1),
        (c"tls-multi", 1),
        (c"has-randkey", 1),
        (c"no such", 1),
        (c"encrypt-then-mac", 1),
    ] {
        ask(
            t,
            "EVP_CIPHER_get_params",
            gcm.cipher.into(),
            name,
            kind,
            false,
        );
    }
    for function in [
        "EVP_CIPHER_get_nid",
        "EVP_CIPHER_get_type",
        "EVP_CIPHER_get_mode",
        "EVP_CIPHER_get_flags",
        "EVP_CIPHER_get_key_length",
        "EVP_CIPHER_get_iv_length",
        "EVP_CIPHER_get_block_size",
    ] {
        t.int(function, &[gcm.cipher.into()]);
    }
    t.text("EVP_CIPHER_get0_name", &[gcm.cipher.into()]);
}

/// In place, and where input and output overlap otherwise.
fn places(t: &Transcript, cipher: &CStr) {
    for encrypt in [1, 0] {
        for length in [1_usize, 16, 20, 100, 1000] {
            for shift in [-100_isize, -17, -16, -1, 0, 1, 15, 16, 17, 100] {
                t.scene(format!(
                    "{length} bytes, output {shift} from the input, {encrypt}"
                ));
                let mut buffer: Vec<u8> = (0..1300).map(|index| index as u8).collect();
                let gcm = Gcm::start(t, cipher, encrypt);
                let input = buffer.as_mut_ptr().wrapping_add(120);
                let output = input.wrapping_offset(shift);
                let mut written = -7_i32;
                for _ in 0..2 {
                    int!(
                        t,
                        EVP_CipherUpdate(gcm.context, output, &mut written, input, length as i64)
                    );
                    t.say(&format!("{written} {}", hex(&buffer)));
                }
                gcm.last();
                gcm.tag();
            }
        }
    }
}

/// TLS 1.2's records, as libssl and Java's Conscrypt make them.
fn records(t: &Transcript, cipher: &CStr) {
    for length in [0_usize, 1, 16, 100, 1000] {
        for room in [24_usize, 23, 8, 0] {
            t.scene(format!("{length} bytes and {room}"));
            let gcm = Gcm::new(t, cipher);
            gcm.init(true, Some(&KEY), None, 1);
            gcm.control(SET_IV_FIXED, -1, Some(&mut [7; 12]));
            let open = Gcm::new(t, cipher);
            open.init(true, Some(&KEY), None, 0);
            open.control(SET_IV_FIXED, -1, Some(&mut [7; 12]));
            for sequence in 0..3_u8 {
                let total = length + room;
                let mut aad = [sequence; 13];
                // The length of what is sealed, as libssl says it: the explicit IV and the data.
                let said = (length + 8) as u16;
                aad[11..].copy_from_slice(&said.to_be_bytes());
                gcm.control(TLS_AAD, 13, Some(&mut aad));
                let mut record: Vec<u8> = (0..total).map(|index| index as u8).collect();
                record.resize(total + 64, 0);
                int!(
                    t,
                    EVP_Cipher(gcm.context, &mut record, record.as_slice(), total as i64)
                );
                t.say(&hex(&record));
                let said = total as u16;
                aad[11..].copy_from_slice(&said.to_be_bytes());
                open.control(TLS_AAD, 13, Some(&mut aad));
                if sequence == 2 {
                    record[total / 2] ^= 1;
                }
                int!(
                    t,
                    EVP_Cipher(open.context, &mut record, record.as_slice(), total as i64)
                );
                t.say(&hex(&record));
            }
            gcm.read();
        }
    }
    t.scene("AADs of other lengths");
    let gcm = Gcm::start(t, cipher, 1);
    for length in [-1, 0, 12, 13, 14] {
        let mut aad = [9_u8; 16];
        gcm.control(TLS_AAD, length, Some(&mut aad));
    }
    t.scene("IVs by the cipher");
    let gcm = Gcm::new(t, cipher);
    gcm.init(true, Some(&KEY), None, 1);
    gcm.control(SET_IV_FIXED, -1, Some(&mut [0xff; 12]));
    for _ in 0..3 {
        let mut iv = [0; 8];
        gcm.control(IV_GEN, 8, Some(&mut iv));
        gcm.update(b"abc");
        gcm.last();
        gcm.tag();
    }
    gcm.control(SET_IV_INV, 8, Some(&mut [1; 8]));
    let gcm = Gcm::new(t, cipher);
    gcm.init(true, Some(&KEY), None, 0);
    gcm.control(SET_IV_FIXED, -1, Some(&mut [0xff; 12]));
    gcm.control(SET_IV_INV, 8, Some(&mut [1; 8]));
    gcm.update(b"abc");
    gcm.read();
    t.scene("an AAD in the middle");
    let gcm = Gcm::start(t, cipher, 1);
    gcm.update(b"abc");
    let mut aad = [0; 13];
    aad[12] = 30;
    gcm.control(TLS_AAD, 13, Some(&mut aad));
    let mut record = vec![0; 100];
    int!(
        t,
        EVP_Cipher(gcm.context, &mut record, record.as_slice(), 40)
    );
    t.say(&hex(&record));
}

/// Sequences of calls drawn from a fixed seed.
fn sequences(t: &Transcript, cipher: &CStr) {
    let data: Vec<u8> = (0..200).collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    for round in 0..150 {
        t.scene(format!("sequence {round}"));
        let mut gcm = Gcm::new(t, cipher);
        gcm.init(
            true,
            (draw(4) > 0).then_some(&KEY[..]),
            (draw(4) > 0).then_some(&IV[..]),
            draw(2) as i32,
        );
        for _ in 0..draw(14) + 3 {
            match draw(16) {
                0 | 1 => _ = gcm.aad(&data[..draw(40)]),
                2..=5 => _ = gcm.update(&data[..draw(100)]),
                6 => _ = gcm.last(),
                7 => _ = gcm.init(false, Some(&KEY), None, draw(3) as i32 - 1),
                8 => _ = gcm.init(false, None, Some(&[9; 12]), draw(3) as i32 - 1),
                9 => _ = gcm.init(false, Some(&KEY), Some(&IV), draw(3) as i32 - 1),
                10 => _ = gcm.control(SET_IV_LENGTH, [12, 12, 16, 1, 0][draw(5)], None),
                11 => {
                    _ = gcm.control(
                        SET_TAG,
                        [16, 12, 4][draw(3)],
                        Some(&mut [draw(3) as u8; 16]),
                    )
                }
                12 => _ = gcm.tag(),
                13 => {
                    if let Some(copy) = gcm.copy() {
                        gcm = copy;
                    }
                }
                14 => _ = gcm.init(true, None, None, draw(2) as i32),
                _ => _ = gcm.control(SET_IV_FIXED, -1, Some(&mut [draw(200) as u8; 12])),
            }
        }
        gcm.read();
    }
}
