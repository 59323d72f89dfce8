//! Key derivation and message authentication: parameters right, wrong, missing and repeated, and any order of calls.

use super::Scenario;
use crate::params::{Params, hex};
use crate::transcript::{NULL, Object, Transcript, quietly};

const KDFS: [&std::ffi::CStr; 3] = [c"TLS13-KDF", c"TLS1-PRF", c"HKDF"];

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all: Vec<_> = KDFS
        .into_iter()
        .flat_map(|kdf| {
            let name = kdf.to_string_lossy();
            [
                Scenario::new(format!("kdf/{name}/parameters"), move |t| {
                    parameters(t, kdf)
                }),
                Scenario::new(format!("kdf/{name}/orders"), move |t| kdf_orders(t, kdf)),
            ]
        })
        .collect();
    all.push(Scenario::new("mac/HMAC/messages", messages));
    all.push(Scenario::new("mac/HMAC/orders", mac_orders));
    all.push(Scenario::new("mac/HMAC/keys", keys));
    all.push(Scenario::new("mac/HMAC/records", records));
    all
}

/// Numbers that are the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn bytes(&mut self, lengths: &[usize]) -> Vec<u8> {
        let length = self.of(lengths);
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}

const DIGESTS: [&str; 12] = [
    "SHA256", "SHA384", "SHA2-256", "sha384", "SHA-256", "SHA256", "SHA384", "SHA1", "SHA512",
    "MD5-SHA1", "SHAKE128", "nonsense",
];

/// Parameters as a program might give them: mostly right. With `known` digests and queries alone, where the context lives on:
/// OpenSSL 3.0 frees what it had before it refuses another one, but for its length.
fn drawn(draw: &mut Draw, kdf: &std::ffi::CStr, known: bool) -> (Params, String) {
    let mut params = Params::new();
    let mut told = String::new();
    let lengths = [32, 48, 1, 64, 129, 0, 300];
    let mut names: Vec<&str> = match kdf.to_bytes() {
        b"TLS13-KDF" => vec!["mode", "digest", "key", "prefix", "label", "data", "salt"],
        b"TLS1-PRF" => vec!["digest", "secret", "seed", "seed"],
        _ => vec!["mode", "digest", "key", "salt", "info", "info"],
    };
    match draw.below(8) {
        0 => {
            names.remove(draw.below(names.len()));
        }
        1 => names.push(draw.of(&["digest", "key", "seed", "info", "secret", "salt", "label"])),
        2 => names.push(draw.of(&["properties", "mac", "unknown", "cipher"])),
        3 => names.reverse(),
        _ => {}
    }
    for name in names {
        told.push_str(name);
        params = match name {
            "mode" => match draw.below(12) {
                0 => params.text(
                    "mode",
                    draw.of(&["EXTRACT_ONLY", "expand_only", "EXTRACT_AND_EXPAND", "no"]),
                ),
                1 => params.int("mode", draw.of(&[-1, 3])),
                2 => params.uint("mode", 1),
                _ => params.int("mode", draw.of(&[0, 1, 1, 2, 2, 2])),
            },
            "digest" if known => params.text("digest", draw.of(&DIGESTS[..9])),
            "digest" => params.text("digest", draw.of(&DIGESTS)),
            "prefix" if draw.below(9) > 0 => params.octets("prefix", b"tls13 "),
            "label" if draw.below(9) > 0 => params.octets("label", b"derived"),
            "properties" if known => params.text("properties", ""),
            "properties" => params.text("properties", draw.of(&["", "provider=default", "x=y"])),
            "mac" => params.text("mac", "HMAC"),
            name if !known && draw.below(40) == 0 => params.text(name, "a text"),
            name => params.octets(name, &draw.bytes(&lengths)),
        };
        told.push(' ');
    }
    (params, told)
}

fn fetched(t: &Transcript, kdf: &'static std::ffi::CStr) -> Object {
    let fetched = Object(quietly!(t, EVP_KDF_fetch(NULL, kdf, NULL)) as *mut _);
    let context = Object(quietly!(t, EVP_KDF_CTX_new(fetched)) as *mut _);
    quietly!(t, EVP_KDF_free(fetched));
    context
}

/// Derives, and says what came of it.
fn derive(t: &Transcript, context: Object, length: usize, params: Option<&Params>) {
    let mut output = vec![0xa5_u8; length + 1];
    let params = params.map_or(NULL, Params::arg);
    let answer = t.quiet_int(
        "EVP_KDF_derive",
        &[context.into(), (&mut output).into(), length.into(), params],
    );
    let wrote = if answer > 0 {
        hex(&output)
    } else {
        String::new()
    };
    t.say(&format!(
        "derive {length} -> {answer} {wrote}{}",
        t.errors()
    ));
}

fn parameters(t: &Transcript, kdf: &'static std::ffi::CStr) {
    let mut draw = Draw(7);
    for number in 0..600 {
        let (params, told) = drawn(&mut draw, kdf, false);
        t.scene(format!("{number}: {told}"));
        let context = fetched(t, kdf);
        let length = draw.of(&[32, 48, 32, 48, 12, 0, 1, 100, 256, 257, 8160, 8161]);
        derive(t, context, length, Some(&params));
        quietly!(t, EVP_KDF_CTX_free(context));
    }
}

/// Runs one sequence in a child of its own: OpenSSL 3.0 itself does not survive some (a context whose setting failed has
/// lengths of what it has freed).
fn apart(t: &Transcript, sequence: impl FnOnce()) {
    // SAFETY: this process has one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        sequence();
        // SAFETY: ends the child, without what is done at a program's exit.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: a child of ours.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    if status != 0 {
        t.say("did not survive");
    }
}

fn kdf_orders(t: &Transcript, kdf: &'static std::ffi::CStr) {
    for number in 0..400 {
        t.scene(format!("sequence {number}"));
        let mut draw = Draw(number);
        let draw = &mut draw;
        apart(t, || kdf_sequence(t, kdf, draw));
    }
}

fn kdf_sequence(t: &Transcript, kdf: &'static std::ffi::CStr, draw: &mut Draw) {
    let mut context = fetched(t, kdf);
    for _ in 0..6 {
        let (params, _) = drawn(draw, kdf, true);
        match draw.below(8) {
            0 | 1 => derive(t, context, draw.of(&[32, 48]), Some(&params)),
            2 => derive(t, context, draw.of(&[32, 48]), None),
            3 => {
                let answer = t.quiet_int("EVP_KDF_CTX_set_params", &[context.into(), params.arg()]);
                t.say(&format!("set -> {answer}{}", t.errors()));
            }
            4 => {
                let asked = Params::new().size("size", 7);
                let answer = t.quiet_int("EVP_KDF_CTX_get_params", &[context.into(), asked.arg()]);
                t.say(&format!(
                    "get -> {answer} {}{}",
                    asked.answer(0),
                    t.errors()
                ));
            }
            5 => {
                let size = quietly!(t, EVP_KDF_CTX_get_kdf_size(context));
                t.say(&format!("size {size}{}", t.errors()));
            }
            6 => {
                quietly!(t, EVP_KDF_CTX_reset(context));
            }
            _ => {
                let copy = Object(quietly!(t, EVP_KDF_CTX_dup(context)) as *mut _);
                t.say(&format!("copy {}{}", !copy.is_null(), t.errors()));
                if !copy.is_null() {
                    quietly!(t, EVP_KDF_CTX_free(context));
                    context = copy;
                }
            }
        }
    }
    quietly!(t, EVP_KDF_CTX_free(context));
}

fn hmac(t: &Transcript) -> Object {
    let fetched = Object(quietly!(t, EVP_MAC_fetch(NULL, c"HMAC", NULL)) as *mut _);
    let context = Object(quietly!(t, EVP_MAC_CTX_new(fetched)) as *mut _);
    quietly!(t, EVP_MAC_free(fetched));
    context
}

/// Ends a message, and says what came of it; not the code itself where no message was begun, which is left over.
fn finish(t: &Transcript, context: Object, room: Option<usize>, begun: bool) {
    let mut output = vec![0xa5_u8; room.unwrap_or(0) + 1];
    let mut length = 0_usize;
    let place = if room.is_some() {
        (&mut output).into()
    } else {
        NULL
    };
    let arguments = [
        context.into(),
        place,
        (&mut length).into(),
        room.unwrap_or(0).into(),
    ];
    let answer = t.quiet_int("EVP_MAC_final", &arguments);
    let wrote = if answer > 0 && begun {
        hex(&output)
    } else {
        String::new()
    };
    t.say(&format!(
        "final {room:?} -> {answer} {length} {wrote}{}",
        t.errors()
    ));
}

fn sizes(t: &Transcript, context: Object) {
    let size = quietly!(t, EVP_MAC_CTX_get_mac_size(context));
    let block = quietly!(t, EVP_MAC_CTX_get_block_size(context));
    let asked = Params::new()
        .size("size", 7)
        .int("block-size", 9)
        .int("unknown", 1);
    let answer = t.quiet_int("EVP_MAC_CTX_get_params", &[context.into(), asked.arg()]);
    let told = format!(
        "{} {} {}",
        asked.answer(0),
        asked.answer(1),
        asked.answer(2)
    );
    t.say(&format!(
        "sizes {size} {block}, {answer} {told}{}",
        t.errors()
    ));
}

/// Each length of key and message around a block's, in pieces.
fn messages(t: &Transcript) {
    let mut draw = Draw(13);
    for digest in DIGESTS {
        for key_length in [0, 1, 32, 63, 64, 65, 127, 128, 129, 400] {
            t.scene(format!("{digest}, a key of {key_length} bytes"));
            let key = draw.bytes(&[key_length]);
            let params = Params::new().text("digest", digest);
            for pieces in [
                &[][..],
                &[0],
                &[3],
                &[55, 9],
                &[64],
                &[63, 65, 128],
                &[1000],
            ] {
                let context = hmac(t);
                let answer = t.quiet_int(
                    "EVP_MAC_init",
                    &[
                        context.into(),
                        (&key).into(),
                        key.len().into(),
                        params.arg(),
                    ],
                );
                t.say(&format!("init -> {answer}{}", t.errors()));
                for piece in pieces {
                    let data = draw.bytes(&[*piece]);
                    let arguments = [context.into(), (&data).into(), data.len().into()];
                    let answer = t.quiet_int("EVP_MAC_update", &arguments);
                    t.say(&format!("update -> {answer}{}", t.errors()));
                }
                finish(t, context, None, true);
                finish(t, context, Some(64), answer > 0);
                quietly!(t, EVP_MAC_CTX_free(context));
            }
        }
    }
}

/// What `mac_sequence` sets.
const SETTINGS: [&str; 7] = [
    "key",
    "tls-data-size",
    "digest-noinit",
    "digest-oneshot",
    "unknown",
    "nothing",
    "digest",
];

fn mac_orders(t: &Transcript) {
    for number in 0..2000 {
        t.scene(format!("sequence {number}"));
        let mut draw = Draw(number);
        let draw = &mut draw;
        apart(t, || mac_sequence(t, draw));
    }
}

fn mac_sequence(t: &Transcript, draw: &mut Draw) {
    let mut context = hmac(t);
    let (mut begun, mut fresh) = (false, true);
    for _ in 0..10 {
        match draw.below(16) {
            0..=2 => {
                let key = draw.bytes(&[0, 16, 32, 64, 65, 300]);
                let params = match draw.below(3) {
                    0 => Params::new(),
                    _ => Params::new().text("digest", draw.of(&DIGESTS[..9])),
                };
                let arguments = [
                    context.into(),
                    (&key).into(),
                    key.len().into(),
                    params.arg(),
                ];
                let answer = t.quiet_int("EVP_MAC_init", &arguments);
                (begun, fresh) = (answer > 0, false);
                t.say(&format!("init -> {answer}{}", t.errors()));
            }
            3 => {
                let answer = t.quiet_int(
                    "EVP_MAC_init",
                    &[context.into(), NULL, 0_usize.into(), NULL],
                );
                begun = answer > 0;
                t.say(&format!("init again -> {answer}{}", t.errors()));
            }
            4..=7 => {
                let data = draw.bytes(&[0, 1, 13, 64, 200]);
                let arguments = [context.into(), (&data).into(), data.len().into()];
                let answer = t.quiet_int("EVP_MAC_update", &arguments);
                t.say(&format!("update -> {answer}{}", t.errors()));
            }
            8 | 9 => {
                finish(
                    t,
                    context,
                    draw.of(&[None, Some(64), Some(64), Some(31), Some(0)]),
                    begun,
                );
                begun = false;
            }
            10 | 11 => {
                // OpenSSL frees the digest that a message under way uses.
                let what = draw.below(if fresh { 7 } else { 6 });
                let params = match what {
                    0 => Params::new().octets("key", &draw.bytes(&[0, 20, 100])),
                    // Others have OpenSSL read beyond the data, and end the process of 3.0: see `records`.
                    1 => Params::new().size("tls-data-size", 0),
                    2 => Params::new().int("digest-noinit", 0),
                    3 => Params::new().int("digest-oneshot", draw.of(&[0, 1])),
                    4 => Params::new().text("unknown", "x"),
                    5 => Params::new(),
                    _ => Params::new().text("digest", draw.of(&DIGESTS[..9])),
                };
                let answer = t.quiet_int("EVP_MAC_CTX_set_params", &[context.into(), params.arg()]);
                t.say(&format!("set {} -> {answer}{}", SETTINGS[what], t.errors()));
            }
            12 | 13 => sizes(t, context),
            _ => {
                let copy = Object(quietly!(t, EVP_MAC_CTX_dup(context)) as *mut _);
                t.say(&format!("copy {}{}", !copy.is_null(), t.errors()));
                if !copy.is_null() {
                    quietly!(t, EVP_MAC_CTX_free(context));
                    context = copy;
                }
            }
        }
    }
    quietly!(t, EVP_MAC_CTX_free(context));
}

/// The codes of TLS 1.2's CBC records, in constant time: the length may be set before the message, or in its midst.
fn records(t: &Transcript) {
    let mut draw = Draw(23);
    for digest in ["SHA256", "SHA384", "SHA1"] {
        for before in [false, true] {
            for padding in [0, 1, 15, 200] {
                t.scene(format!("{digest}, {padding} bytes of padding, {before}"));
                let (key, header) = (draw.bytes(&[32]), draw.bytes(&[13]));
                let data = draw.bytes(&[600]);
                let params = Params::new().text("digest", digest);
                let context = hmac(t);
                let arguments = [
                    context.into(),
                    (&key).into(),
                    key.len().into(),
                    params.arg(),
                ];
                let mut answers = vec![t.quiet_int("EVP_MAC_init", &arguments)];
                let mut update = |data: &[u8], length: usize| {
                    let arguments = [context.into(), data.into(), length.into()];
                    answers.push(t.quiet_int("EVP_MAC_update", &arguments));
                };
                if before {
                    update(&data, 40);
                }
                let size = Params::new().size("tls-data-size", 256 + padding);
                quietly!(t, EVP_MAC_CTX_set_params(context, size.arg()));
                update(&header, 13);
                update(&data, 256);
                t.say(&format!("{answers:?}{}", t.errors()));
                finish(t, context, Some(64), true);
                sizes(t, context);
                quietly!(t, EVP_MAC_CTX_free(context));
            }
        }
    }
}

/// HMAC by the ways of signatures: EVP_DigestSign with a key of bytes, and EVP_Q_mac.
fn keys(t: &Transcript) {
    let mut draw = Draw(19);
    for number in 0..60 {
        t.scene(format!("key {number}"));
        let bytes = draw.bytes(&[1, 16, 32, 64, 100, 200]);
        let arguments = [
            NULL,
            c"HMAC".into(),
            NULL,
            (&bytes).into(),
            bytes.len().into(),
        ];
        let key = Object(t.quietly("EVP_PKEY_new_raw_private_key_ex", &arguments) as *mut _);
        for digest in [c"SHA256", c"SHA384", c"SHA512", c"nonsense"] {
            let context = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
            let begun = t.quiet_int(
                "EVP_DigestSignInit_ex",
                &[
                    context.into(),
                    NULL,
                    digest.into(),
                    NULL,
                    NULL,
                    key.into(),
                    NULL,
                ],
            );
            let mut wrote = String::new();
            if begun > 0 {
                let data = draw.bytes(&[0, 13, 64, 300]);
                let (mut code, mut length) = (vec![0_u8; 64], 64_usize);
                quietly!(t, EVP_DigestSignUpdate(context, &data, data.len()));
                let copy = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
                quietly!(t, EVP_MD_CTX_copy_ex(copy, context));
                for each in [context, copy] {
                    let answer = t.quiet_int(
                        "EVP_DigestSignFinal",
                        &[each.into(), (&mut code).into(), (&mut length).into()],
                    );
                    wrote.push_str(&format!(" {answer} {}", hex(&code[..length.min(64)])));
                }
                quietly!(t, EVP_MD_CTX_free(copy));
            }
            t.say(&format!("{digest:?} -> {begun}{wrote}{}", t.errors()));
            quietly!(t, EVP_MD_CTX_free(context));
        }
        quietly!(t, EVP_PKEY_free(key));
    }
}
