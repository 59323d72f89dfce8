//! A process that calls verbs as fast as it can.
//!
//! The process is this program again. A line of its input names a task, the number of threads and how many milliseconds it lasts;
//! the answer is how often it was done, and in how many nanoseconds.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::library::Parameter::{In, Length, Null, Number, Out};
use super::library::{Library, Verb};
use super::public_keys;
use crate::Failure;

/// What the process is told.
#[derive(Clone, Debug, clap::Args)]
pub struct CallerArguments {
    library: PathBuf,
}

type Token = [u8; 64];
/// Done once.
pub(super) type Task = Box<dyn Fn() -> Result<(), Failure> + Sync>;

const ACCOUNT: &[u8] = b"401234567890";
const PROFILE: &[u8] = b"ISO-0   NONE            ";
/// A PIN profile, and a key serial number after it.
const PROFILE_UKPT: &[u8] = b"ISO-0   NONE            FFFF9876543210E00001    ";
/// A decimalization table, validation data, and an offset.
const DATA: &[u8] = b"0123456789012345401234567890000012345           ";

/// The process.
///
/// # Errors
/// If a verb fails.
pub fn serve(arguments: &CallerArguments) -> Result<ExitCode, Failure> {
    let library = Library::open(&arguments.library)?;
    let mut line = String::new();
    while std::io::stdin().read_line(&mut line)? > 0 {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [task, jobs, milliseconds] = words[..] else {
            return Err("a line names a task, threads and milliseconds".into());
        };
        let window = Duration::from_millis(milliseconds.parse()?);
        let (count, elapsed) = run(&*self::task(&library, task)?, jobs.parse()?, window)?;
        println!("{count} {}", elapsed.as_nanos());
        line.clear();
    }
    Ok(ExitCode::SUCCESS)
}

/// Does a task with so many threads until the window is over.
fn run(
    task: &(dyn Fn() -> Result<(), Failure> + Sync),
    jobs: usize,
    window: Duration,
) -> Result<(u64, Duration), Failure> {
    // Connections are made before the time runs.
    task()?;
    let (count, since) = (AtomicU64::new(0), Instant::now());
    let done = || -> Result<(), String> {
        while since.elapsed() < window {
            task().map_err(|failure| failure.to_string())?;
            count.fetch_add(1, Relaxed);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..jobs).map(|_| scope.spawn(done)).collect();
        jobs.into_iter().try_for_each(|job| {
            job.join()
                .map_err(|_| "a thread of the measurement panicked".to_owned())?
        })
    })?;
    Ok((count.into_inner(), since.elapsed()))
}

pub(super) fn good(verb: &str, codes: (i64, i64)) -> Result<(), Failure> {
    match codes {
        (0, 0) => Ok(()),
        (code, reason) => Err(format!("{verb}: {code}/{reason}").into()),
    }
}

/// A key of 16 bytes from two parts: both ends of a key, which no verb would make.
fn key(library: &Library, key_type: &[u8; 8], usage: &[u8], number: u8) -> Result<Token, Failure> {
    let mut token = [0; 64];
    let rules = [b"INTERNALKEYLN16 KEY-PART", usage].concat();
    let build = library.verb("CSNBKTB")?.call([
        Out(&mut token),
        In(key_type),
        Number(rules.len() as i64 / 8),
        In(&rules),
        Null,
        Null,
        Null,
        Null,
        Null,
        Null,
        Null,
        Null,
        Null,
    ]);
    good("CSNBKTB", build)?;
    let import = library.verb("CSNBKPI")?;
    for (rule, factor) in [(b"FIRST   ", 3), (b"LAST    ", 11)] {
        let part: Vec<u8> = (0..16)
            .map(|at: u8| (number + at).wrapping_mul(factor) ^ number)
            .collect();
        good(
            "CSNBKPI",
            import.call([Number(1), In(rule), In(&part), Out(&mut token)]),
        )?;
    }
    Ok(token)
}

/// A DATA or MAC key that the coprocessor makes.
fn generated(library: &Library, key_type: &[u8; 8], length: &[u8; 8]) -> Result<Token, Failure> {
    let mut token = [0; 64];
    let made = generate(library.verb("CSNBKGN")?, key_type, length, &mut token);
    good("CSNBKGN", made).map(|()| token)
}

fn generate(verb: Verb, key_type: &[u8; 8], length: &[u8; 8], token: &mut Token) -> (i64, i64) {
    verb.call([
        In(b"OP      "),
        In(length),
        In(key_type),
        In(b"        "),
        Null,
        Null,
        Out(token),
        Null,
    ])
}

fn translate(
    verb: Verb,
    keys: [&Token; 2],
    profiles: [&[u8]; 2],
    block: &[u8; 8],
    rules: &[u8],
) -> Result<[u8; 8], Failure> {
    let mut translated = [0; 8];
    let codes = verb.call([
        In(keys[0]),
        In(keys[1]),
        In(profiles[0]),
        In(ACCOUNT),
        In(block),
        Number(rules.len() as i64 / 8),
        In(rules),
        In(profiles[1]),
        In(ACCOUNT),
        Number(99_999),
        Out(&mut translated),
    ]);
    good("CSNBPTR", codes).map(|()| translated)
}

/// A PIN that the coprocessor makes, encrypted.
fn encrypted(library: &Library, making: &Token, out: &Token) -> Result<[u8; 8], Failure> {
    let mut block = [0; 8];
    let codes = library.verb("CSNBEPG")?.call([
        In(making),
        In(out),
        Number(1),
        In(b"IBM-PIN "),
        Number(4),
        In(DATA),
        In(PROFILE),
        In(ACCOUNT),
        Number(99_999),
        Out(&mut block),
    ]);
    good("CSNBEPG", codes).map(|()| block)
}

fn task(library: &Library, name: &str) -> Result<Task, Failure> {
    if let Some((kind, length)) = name.rsplit_once('-')
        && let Ok(length) = length.parse()
    {
        return match public_keys::of_kind(kind) {
            Some(kind) => public_keys::task(library, kind, length),
            None => data(library, kind, length),
        };
    }
    let making = key(library, b"PINGEN  ", b"", 1)?;
    let verifying = key(library, b"PINVER  ", b"", 1)?;
    let (out, into) = (
        key(library, b"OPINENC ", b"", 2)?,
        key(library, b"IPINENC ", b"", 2)?,
    );
    let other = key(library, b"OPINENC ", b"", 3)?;
    let base = key(library, b"KEYGENKY", b"UKPT    ", 4)?;
    let block = encrypted(library, &making, &out)?;
    let ptr = library.verb("CSNBPTR")?;
    Ok(match name {
        "key-generate" => {
            let verb = library.verb("CSNBKGN")?;
            Box::new(move || {
                let mut token = [0; 64];
                let codes = generate(verb, b"DATA    ", b"SINGLE  ", &mut token);
                good("CSNBKGN", codes)
            })
        }
        "alternate" => {
            let verb = library.verb("CSNBCPA")?;
            Box::new(move || {
                let mut result = [0; 16];
                let codes = verb.call([
                    In(&into),
                    In(&making),
                    In(PROFILE),
                    In(ACCOUNT),
                    In(&block),
                    Number(1),
                    In(b"IBM-PINO"),
                    Number(4),
                    In(DATA),
                    Out(&mut result),
                ]);
                good("CSNBCPA", codes)
            })
        }
        "clear-pin" => {
            let verb = library.verb("CSNBPGN")?;
            Box::new(move || {
                let mut result = [0; 16];
                let codes = verb.call([
                    In(&making),
                    Number(1),
                    In(b"IBM-PIN "),
                    Number(12),
                    Number(12),
                    In(DATA),
                    Out(&mut result),
                ]);
                good("CSNBPGN", codes)
            })
        }
        "translate" => Box::new(move || {
            translate(ptr, [&into, &other], [PROFILE; 2], &block, b"REFORMAT").map(drop)
        }),
        "translate-ukpt" | "verify-ukpt" => {
            let profiles = [PROFILE, PROFILE_UKPT];
            let block = translate(ptr, [&into, &base], profiles, &block, b"REFORMATUKPTOPIN")?;
            let verb = library.verb("CSNBPVR")?;
            match name {
                "translate-ukpt" => Box::new(move || {
                    let profiles = [PROFILE_UKPT; 2];
                    translate(ptr, [&base, &base], profiles, &block, b"REFORMATUKPTBOTH").map(drop)
                }),
                _ => Box::new(move || {
                    let codes = verb.call([
                        In(&base),
                        In(&verifying),
                        In(PROFILE_UKPT),
                        In(ACCOUNT),
                        In(&block),
                        Number(2),
                        In(b"IBM-PIN UKPTIPIN"),
                        Number(4),
                        In(DATA),
                    ]);
                    good("CSNBPVR", codes)
                }),
            }
        }
        _ => return Err(format!("there is no task {name}").into()),
    })
}

/// Texts of so many bytes.
fn data(library: &Library, kind: &str, length: usize) -> Result<Task, Failure> {
    let text = vec![0x5a; length];
    if kind == "mac" {
        let key = generated(library, b"MAC     ", b"SINGLE  ")?;
        let verb = library.verb("CSNBMGN")?;
        return Ok(Box::new(move || {
            let (mut chain, mut mac) = ([0; 18], [0; 8]);
            let codes = verb.call([
                In(&key),
                Number(text.len() as i64),
                In(&text),
                Number(1),
                In(b"X9.9-1  "),
                Out(&mut chain),
                Out(&mut mac),
            ]);
            good("CSNBMGN", codes)
        }));
    }
    if kind == "aes" {
        let mut key = [0; 64];
        let clear: Vec<u8> = (1..=32).collect();
        let codes = library.verb("CSNBCKM")?.call([
            Number(1),
            In(b"AES     "),
            Number(32),
            In(&clear),
            Out(&mut key),
        ]);
        good("CSNBCKM", codes)?;
        let verb = library.verb("CSNBSAE")?;
        return Ok(Box::new(move || {
            let (mut chain, mut cipher) = ([0; 32], vec![0; text.len()]);
            let (mut chain_length, mut cipher_length) = (32, cipher.len() as i64);
            let codes = verb.call([
                Number(2),
                In(b"AES     CBC     "),
                Number(64),
                In(&key),
                Number(0),
                Null,
                Number(16),
                Number(16),
                In(&[0; 16]),
                Length(&mut chain_length),
                Out(&mut chain),
                Number(text.len() as i64),
                In(&text),
                Length(&mut cipher_length),
                Out(&mut cipher),
                Number(0),
                Null,
            ]);
            good("CSNBSAE", codes)
        }));
    }
    let key_length = if kind == "des" {
        b"SINGLE  "
    } else {
        b"TRIPLE  "
    };
    let key = generated(library, b"DATA    ", key_length)?;
    let verb = library.verb("CSNBENC")?;
    Ok(Box::new(move || {
        let (mut chain, mut cipher) = ([0; 18], vec![0; text.len() + 8]);
        let mut length = text.len() as i64;
        let codes = verb.call([
            In(&key),
            Length(&mut length),
            In(&text),
            In(&[0; 8]),
            Number(1),
            In(b"CBC     "),
            Number(0),
            Out(&mut chain),
            Out(&mut cipher),
        ]);
        good("CSNBENC", codes)
    }))
}
