//! Every length, and every order of calls.

use std::ffi::CStr;

use super::{GET_TAG, Gcm, IV, KEY, SET_IV_LENGTH, SET_TAG};
use crate::params::{Params, hex};
use crate::transcript::{Arg, NULL, Object, Transcript, int, quietly};

/// Lengths of everything.
pub(super) fn lengths(t: &Transcript, cipher: &CStr) {
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
pub(super) fn orders(t: &Transcript, cipher: &CStr) {
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
