//! The contract's calls under Valgrind's memcheck, with Outboard and without: no read or write outside what is allocated,
//! no decision by what nobody wrote, nothing freed twice, no block lost that is not lost without Outboard.
//!
//! A few scenarios; `make contract-valgrind` (`OUTBOARD_CONTRACT_VALGRIND=all`) runs more, and
//! `OUTBOARD_CONTRACT_VALGRIND=gcm/128` those whose names begin so. What Valgrind emulates has no AVX-512: the lanes
//! have their own tests.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use common::{PROGRAM, SYSTEM_LIBCRYPTO, Scenario, configuration, scenarios};

/// What part of `make test` runs.
const FEW: [&str; 5] = [
    "end/before-cleanup/used-keys",
    "end/cleanup-by-hand/operations",
    "derive/low-order",
    "contexts/two",
    "post-quantum/X25519MLKEM768",
];

/// One of each theme, and each algorithm of ours.
const MORE: [&str; 37] = [
    "lists/names",
    "key/ec-P-256",
    "key/x25519",
    "key/ed25519",
    "key/rsa2048",
    "key/generated/ec-P-256",
    "key/generated/x25519",
    "key/generated/ed25519",
    "sign/orders/rsa2048",
    "sign/orders/ec-P-256",
    "sign/orders/ed25519",
    "sign/malformed/ec-P-256",
    "sign/malformed/ed25519",
    "sign/settings/rsa2048",
    "sign/settings/ec-P-256",
    "sign/pss/pss2048",
    "derive/peers/ec-P-256",
    "derive/settings/ec-P-256",
    "derive/settings/x25519",
    "post-quantum/ML-KEM-512",
    "post-quantum/ML-KEM-768",
    "post-quantum/ML-KEM-1024",
    "post-quantum/SecP256r1MLKEM768",
    "post-quantum/SecP384r1MLKEM1024",
    "post-quantum/ML-DSA-44",
    "post-quantum/ML-DSA-65",
    "post-quantum/ML-DSA-87",
    "gcm/128/orders",
    "gcm/256/controls",
    "gcm/256/records",
    "gcm/256/sequences",
    "contexts/child",
    "contexts/loaded-and-unloaded",
    "contexts/mixed",
    "end/after-cleanup/messages",
    "end/exit-in-a-thread/used-keys",
    "end/fork/used-keys",
];

#[test]
fn no_error_and_no_leak_that_stock_has_not() {
    let wanted = env::var("OUTBOARD_CONTRACT_VALGRIND").unwrap_or_default();
    let all = scenarios("");
    let named = |name: &&str| {
        let found = all.iter().find(|scenario| scenario.name == *name);
        found.unwrap_or_else(|| panic!("there is no scenario {name}"))
    };
    let chosen: Vec<&Scenario> = match wanted.as_str() {
        "" => FEW.iter().map(named).collect(),
        "all" => MORE.iter().chain(&FEW).map(named).collect(),
        beginning => {
            let begins = |scenario: &&Scenario| scenario.name.starts_with(beginning);
            all.iter().filter(begins).collect()
        }
    };
    assert!(!chosen.is_empty(), "no scenario begins with {wanted}");
    let workplace = tempfile::tempdir().unwrap();
    let stock = configuration(workplace.path(), "stock", None);
    let ours = configuration(
        workplace.path(),
        "ours",
        Some("cards = 0\npost-quantum = yes\n"),
    );

    let next = AtomicUsize::new(0);
    let complaints = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(scenario) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let [stock, ours] = [&stock, &ours]
                        .map(|configuration| run(scenario, configuration, workplace.path()));
                    complaints.lock().unwrap().extend(
                        new(&stock, &ours)
                            .iter()
                            .map(|text| format!("{}:\n{text}", scenario.name)),
                    );
                }
            });
        }
    });
    let complaints = complaints.into_inner().unwrap();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// What Valgrind says of a scenario.
fn run(scenario: &Scenario, configuration: &Path, workplace: &Path) -> Vec<Complaint> {
    let name = format!(
        "{}.{}",
        configuration.file_stem().unwrap().display(),
        scenario.name.replace('/', "-")
    );
    // A forked child has a log of its own.
    let logs = workplace.join(&name);
    fs::create_dir_all(&logs).unwrap();
    let output = Command::new("valgrind")
        .args(["--leak-check=full", "--num-callers=40", "--error-limit=no"])
        .arg(format!("--log-file={}/%p", logs.display()))
        .args([PROGRAM, SYSTEM_LIBCRYPTO, &scenario.name])
        .env("OPENSSL_CONF", configuration)
        .envs(
            scenario
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .stdin(Stdio::null())
        .output()
        .expect("valgrind is installed");
    assert!(
        !output.stdout.is_empty(),
        "{name} wrote nothing: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut complaints = Vec::new();
    let mut finished = false;
    for log in fs::read_dir(&logs).unwrap() {
        let log = fs::read_to_string(log.unwrap().path()).unwrap();
        finished |= log.contains("ERROR SUMMARY");
        complaints.extend(Complaint::all(&log));
    }
    assert!(finished, "Valgrind came to no end of {name}");
    complaints
}

/// One of Valgrind's: an error, or a block that is definitely lost.
struct Complaint {
    /// `==1234==` taken away.
    text: String,
}

impl Complaint {
    fn all(log: &str) -> Vec<Self> {
        let lines = log
            .lines()
            .map(|line| line.splitn(3, "==").nth(2).unwrap_or(line).trim());
        let mut paragraphs = vec![String::new()];
        for line in lines {
            match line {
                "" => paragraphs.push(String::new()),
                line => {
                    let last = paragraphs.last_mut().unwrap();
                    last.push_str(line);
                    last.push('\n');
                }
            }
        }
        // A block that is only reached through a pointer into its midst is "possibly" lost: what an Arc handed to C is.
        let complaints = paragraphs.into_iter().filter(|text| {
            text.contains(" at 0x") || text.contains("\nat 0x") && !text.contains("possibly lost")
        });
        complaints.map(|text| Self { text }).collect()
    }

    /// What it is, and where, but for what is Outboard's: the same without it.
    fn kind(&self) -> String {
        let first = self.text.lines().next().unwrap_or_default();
        let what: String = match first.contains("definitely lost") {
            true => "lost".into(),
            false => first
                .chars()
                .filter(|letter| !letter.is_ascii_digit())
                .collect(),
        };
        let frames = self.text.lines().skip(1).filter_map(|line| {
            let (_, place) = line.split_once(": ")?;
            (!place.contains("liboutboard") && !place.contains("vgpreload")).then_some(place)
        });
        let innermost: Vec<_> = frames.take(3).collect();
        format!("{what} {}", innermost.join(" < "))
    }
}

/// The complaints that are there with Outboard alone, or more often.
fn new(stock: &[Complaint], ours: &[Complaint]) -> Vec<String> {
    let mut known = BTreeMap::<String, usize>::new();
    for complaint in stock {
        *known.entry(complaint.kind()).or_default() += 1;
    }
    let mut new = Vec::new();
    for complaint in ours {
        match known.get_mut(&complaint.kind()) {
            Some(left) if *left > 0 => *left -= 1,
            _ => new.push(complaint.text.clone()),
        }
    }
    new
}

const LOG: &str = "\
==7== Memcheck, a memory error detector
==7== 
==7== Invalid read of size 4
==7==    at 0x1: inner (in /lib/libcrypto.so.3)
==7==    by 0x2: <Context as Signature>::sign (mod.rs:1) (in /x/liboutboard.so)
==7== 
==7== 40 bytes in 1 blocks are definitely lost in loss record 5 of 9
==7==    at 0x1: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
==7==    by 0x2: CRYPTO_malloc (in /lib/libcrypto.so.3)
==7== 
==7== 40 bytes in 1 blocks are possibly lost in loss record 6 of 9
==7==    at 0x1: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
==7== 
==7== ERROR SUMMARY: 2 errors from 2 contexts (suppressed: 0 from 0)
";

#[test]
fn complaints_are_found() {
    let complaints = Complaint::all(LOG);
    let kinds: Vec<_> = complaints.iter().map(Complaint::kind).collect();
    assert_eq!(
        kinds,
        [
            "Invalid read of size  inner (in /lib/libcrypto.so.3)",
            "lost CRYPTO_malloc (in /lib/libcrypto.so.3)"
        ]
    );
    assert_eq!(new(&[], &complaints).len(), 2);
    assert!(new(&complaints, &complaints).is_empty());
}
