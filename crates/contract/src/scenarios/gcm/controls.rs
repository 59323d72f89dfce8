//! Controls and parameters, places of input and output, TLS records, drawn sequences.

use std::ffi::CStr;

use super::{Gcm, IV, IV_GEN, KEY, SET_IV_FIXED, SET_IV_INV, SET_IV_LENGTH, SET_TAG, TLS_AAD};
use crate::params::{Params, ask, hex};
use crate::transcript::{PASSED_OVER, Transcript, int};

/// Controls and parameters, of a context with a key and of one without.
pub(super) fn controls(t: &Transcript, cipher: &CStr) {
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
pub(super) fn places(t: &Transcript, cipher: &CStr) {
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
pub(super) fn records(t: &Transcript, cipher: &CStr) {
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
pub(super) fn sequences(t: &Transcript, cipher: &CStr) {
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
