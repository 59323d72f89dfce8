//! Key derivation: parameters right, wrong, missing and repeated, and any order of calls.

use super::Scenario;
use crate::params::{Params, hex};
use crate::transcript::{NULL, Object, Transcript, quietly};

const KDFS: [&std::ffi::CStr; 3] = [c"TLS13-KDF", c"TLS1-PRF", c"HKDF"];

pub(super) fn scenarios() -> Vec<Scenario> {
    KDFS.into_iter()
        .flat_map(|kdf| {
            let name = kdf.to_string_lossy();
            [
                Scenario::new(format!("kdf/{name}/parameters"), move |t| {
                    parameters(t, kdf)
                }),
                Scenario::new(format!("kdf/{name}/orders"), move |t| kdf_orders(t, kdf)),
            ]
        })
        .collect()
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
