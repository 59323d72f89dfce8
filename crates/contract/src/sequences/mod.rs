//! Drawn sequences of calls with shared keys and contexts, made once without Outboard and once with it.
//!
//! ```text
//! bytes ──▶ Input ──▶ World: keys, operations, messages, ciphers in slots ──▶ Transcript
//!                        without Outboard │ with Outboard                        │
//!                                         └──────────────────▶ the lines, compared
//! ```
//!
//! Every byte string is a sequence: a fuzzer changes it, `make test` draws it from numbers. The two worlds are library
//! contexts of one process, so that a sequence takes some milliseconds. A call after which OpenSSL alone would crash is not
//! made.

mod ciphers;
mod input;
mod key;
mod messages;
mod operations;
mod settings;
mod world;

use std::ffi::{CString, c_void};
use std::io::Write as _;
use std::ops::Range;

use crate::library::Library;
use crate::transcript::{NULL, Object, Transcript, quietly};
use input::Input;
use world::World;

/// A library context without Outboard and one with it.
pub struct Worlds {
    transcript: Transcript,
    stock: Object,
    ours: Object,
}

impl Worlds {
    /// In that libcrypto, each configured by a file. `builtin` is the provider's `OSSL_provider_init` where the file names
    /// no module.
    ///
    /// # Errors
    /// If the library or a configuration cannot be loaded, or the second one is without Outboard: what to tell the user.
    pub fn open(
        libcrypto: &str,
        stock: &str,
        ours: &str,
        builtin: Option<*const c_void>,
    ) -> Result<Self, String> {
        let transcript = Transcript::keeping(Library::open(libcrypto)?);
        let t = &transcript;
        let open = |file: &str| {
            let context = Object(quietly!(t, OSSL_LIB_CTX_new()) as *mut _);
            if let Some(init) = builtin {
                quietly!(t, OSSL_PROVIDER_add_builtin(context, c"outboard", init));
            }
            let path = CString::new(file).unwrap_or_default();
            match quietly!(t, OSSL_LIB_CTX_load_config(context, path.as_c_str())) as i32 {
                1 => Ok(context),
                _ => Err(format!("cannot load {file}:{}", t.errors())),
            }
        };
        let (stock, ours) = (open(stock)?, open(ours)?);
        // What is compared with itself is always the same.
        for (context, expected) in [(stock, false), (ours, true)] {
            let method = quietly!(t, EVP_SIGNATURE_fetch(context, c"ECDSA", NULL));
            let method = Object(method as *mut _);
            let provider = Object(quietly!(t, EVP_SIGNATURE_get0_provider(method)) as *mut _);
            let name = t.text_quietly("OSSL_PROVIDER_get0_name", &[provider.into()]);
            quietly!(t, EVP_SIGNATURE_free(method));
            if (name.as_deref() == Some("outboard")) != expected {
                return Err(format!("ECDSA is of {name:?}: not what is to be compared"));
            }
        }
        Ok(Self {
            transcript,
            stock,
            ours,
        })
    }

    /// What differs between the two, with the calls that led there; none where they are the same.
    pub fn difference(&self, bytes: &[u8]) -> Option<String> {
        let stock = self.stock(bytes);
        difference(&stock, &self.ours(bytes))
    }

    fn stock(&self, bytes: &[u8]) -> Vec<String> {
        self.lines(self.stock, bytes)
    }

    fn ours(&self, bytes: &[u8]) -> Vec<String> {
        self.lines(self.ours, bytes)
    }

    fn lines(&self, context: Object, bytes: &[u8]) -> Vec<String> {
        World::new(&self.transcript, context).run(Input::new(bytes));
        self.transcript.clear();
        self.transcript.take()
    }

    /// The sequence without what the difference does not need.
    pub fn shorten(&self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let mut length = bytes.len() / 2;
        while length > 0 {
            let mut at = 0;
            while at + length <= bytes.len() {
                let shorter = [&bytes[..at], &bytes[at + length..]].concat();
                match self.difference(&shorter) {
                    Some(_) => bytes = shorter,
                    None => at += length,
                }
            }
            length /= 2;
        }
        bytes
    }

    /// The bytes that the process has allocated more after those sequences than before, with Outboard and without.
    fn growth(&self, numbers: Range<u64>) -> [usize; 2] {
        [self.stock, self.ours].map(|context| {
            let before = allocated();
            for number in numbers.clone() {
                self.lines(context, &drawn(number));
            }
            allocated().saturating_sub(before)
        })
    }
}

/// A line without what chance decides. A PSS signature, which is random, taken for one of PKCS #1 begins with a byte that is zero in one of
/// 128: then RSA names the next byte in its error, else this one.
fn without_chance(line: &str) -> String {
    line.replace(
        "[rsa routines; block type is not 01]",
        "[rsa routines; invalid padding]",
    )
}

/// Where the lines begin to differ, and how it came to that.
fn difference(stock: &[String], ours: &[String]) -> Option<String> {
    let at = (0..stock.len().max(ours.len())).find(|&at| {
        let [stock, ours] =
            [stock, ours].map(|lines| lines.get(at).map(|line| without_chance(line)));
        stock != ours
    })?;
    let nothing = "nothing".to_owned();
    Some(format!(
        "{}\n  stock {}\n  ours  {}",
        stock[..at.min(stock.len())].join("\n"),
        stock.get(at).unwrap_or(&nothing),
        ours.get(at).unwrap_or(&nothing)
    ))
}

/// Makes the sequences of those numbers, and writes what each is about to do, and what differs: a line `stock 5` before
/// OpenSSL alone makes the calls of number 5, `ours 5` before Outboard does.
///
/// # Errors
/// As [`Worlds::open`]; and if memory is lost with Outboard that is not without.
pub fn run(libcrypto: &str, stock: &str, ours: &str, numbers: Range<u64>) -> Result<(), String> {
    let worlds = Worlds::open(libcrypto, stock, ours, None)?;
    let say = |what: String| {
        let mut out = std::io::stdout().lock();
        // Whoever reads this may have gone.
        let _ = writeln!(out, "{what}").and_then(|()| out.flush());
    };
    for number in numbers.clone() {
        let bytes = drawn(number);
        say(format!("stock {number}"));
        let stock = worlds.stock(&bytes);
        say(format!("ours {number}"));
        if let Some(first) = difference(&stock, &worlds.ours(&bytes)) {
            let shorter = worlds.shorten(&bytes);
            // One that comes by chance may not come again.
            let difference = worlds.difference(&shorter).unwrap_or(first);
            say(format!(
                "sequence {number} {}",
                difference.replace('\n', "\n| ")
            ));
        }
    }
    say("leaks".to_owned());
    let some = numbers.start..numbers.end.min(numbers.start + 12);
    // What is made once, is made now.
    worlds.growth(some.clone());
    // A leak grows in every round. What the C library keeps of freed blocks, and OpenSSL of its queries, comes and goes.
    let rounds: Vec<_> = (0..25).map(|_| worlds.growth(some.clone())).collect();
    let least = |world: usize| rounds.iter().map(|round| round[world]).min().unwrap_or(0);
    if least(1) > least(0) + 256 {
        return Err(format!(
            "twelve sequences lose memory, without Outboard and with it, in bytes: {rounds:?}"
        ));
    }
    say("done".to_owned());
    Ok(())
}

/// The calls of a sequence as OpenSSL alone answers them, to be looked at.
///
/// # Errors
/// As [`Worlds::open`].
pub fn show(libcrypto: &str, stock: &str, ours: &str, number: u64) -> Result<String, String> {
    let worlds = Worlds::open(libcrypto, stock, ours, None)?;
    Ok(worlds.stock(&drawn(number)).join("\n"))
}

/// The sequence of a number.
pub fn drawn(number: u64) -> Vec<u8> {
    // SplitMix64 (Steele, Lea, Flood 2014).
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut draw = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let words = 4 + draw() % 24;
    (0..words).flat_map(|_| draw().to_le_bytes()).collect()
}

/// How many bytes the process has allocated.
fn allocated() -> usize {
    // SAFETY: takes nothing.
    unsafe { libc::mallinfo2() }.uordblks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_chance_decides_is_no_difference() {
        let line = |of: &str| {
            vec![format!(
                "EVP_DigestVerifyFinal(*, &, #) -> 0 [rsa routines; {of}]"
            )]
        };
        let (first, next) = (line("invalid padding"), line("block type is not 01"));
        assert_eq!(difference(&first, &next), None);
        assert_eq!(difference(&next, &first), None);
        assert!(difference(&first, &line("padding check failed")).is_some());
        assert!(difference(&first, &[]).is_some());
    }
}
