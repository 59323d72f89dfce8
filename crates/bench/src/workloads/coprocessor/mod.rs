//! The coprocessor: CCA verbs through the C library, from a process of its own, with one job and with seven, as the z990's study
//! (2005) measured cards.
//!
//! ```text
//! mod          what is measured, and the published figures beside it
//!   └─ caller       a process that calls verbs with one thread or seven, steered by a line for each window
//!        ├─ public_keys verbs of public keys
//!        └─ library     libcsulcca.so, loaded; its verbs
//! ```

mod caller;
mod library;
mod public_keys;

pub use caller::{CallerArguments, serve};

use crate::Failure;
use crate::installation::{find_cca, find_daemon};
use crate::proof::Proof;
use crate::reference::{pin_rates, public_key_rates};
use crate::suite::{Measure, Options, Rounds, Session, Step, Workload};
use crate::workloads::process::Process;
use outboard_programs::CardService;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coprocessor;

const SETUPS: [&str; 2] = ["1 job", "7 jobs"];
const JOBS: [usize; 2] = [1, 7];
const MEASURES: [Measure; 1] = [Measure::higher("rate", "1/s")];

/// What is measured: the task of the caller, the table, and the operation as the study names it.
const CASES: [(&str, &str, &str); 30] = [
    ("key-generate", "pins", "key generate (operational DES key)"),
    ("alternate", "pins", "clear PIN generate alternate"),
    ("clear-pin", "pins", "clear PIN generate (16 digits)"),
    (
        "translate",
        "pins",
        "encrypted PIN translation (IPINENC to OPINENC key)",
    ),
    (
        "translate-ukpt",
        "pins",
        "encrypted PIN translation (2 UKPT enabled KEYGENKY keys)",
    ),
    (
        "verify-ukpt",
        "pins",
        "encrypted PIN verification (UKPT enabled KEYGENKY and PINVER keys)",
    ),
    ("des-64", "data", "DES CBC, 64 bytes"),
    ("des-32768", "data", "DES CBC, 32 KiB"),
    ("tdes-64", "data", "Triple DES CBC, 64 bytes"),
    ("tdes-32768", "data", "Triple DES CBC, 32 KiB"),
    ("aes-64", "data", "AES-256 CBC, 64 bytes"),
    ("aes-32768", "data", "AES-256 CBC, 32 KiB"),
    ("mac-64", "data", "MAC with DES, 64 bytes"),
    ("mac-32768", "data", "MAC with DES, 32 KiB"),
    ("pkd-2048", "public-keys", "PKD, RSA-2048"),
    ("pkd-3072", "public-keys", "PKD, RSA-3072"),
    ("pkd-4096", "public-keys", "PKD, RSA-4096"),
    ("pke-2048", "public-keys", "PKE, RSA-2048"),
    ("pke-3072", "public-keys", "PKE, RSA-3072"),
    ("pke-4096", "public-keys", "PKE, RSA-4096"),
    ("dsg-2048", "public-keys", "DSG, RSA-2048"),
    ("dsg-3072", "public-keys", "DSG, RSA-3072"),
    ("dsg-4096", "public-keys", "DSG, RSA-4096"),
    ("dsv-2048", "public-keys", "DSV, RSA-2048"),
    ("dsv-3072", "public-keys", "DSV, RSA-3072"),
    ("dsv-4096", "public-keys", "DSV, RSA-4096"),
    ("syi-2048", "public-keys", "SYI, RSA-2048"),
    ("syi-3072", "public-keys", "SYI, RSA-3072"),
    ("syi-4096", "public-keys", "SYI, RSA-4096"),
    (
        "rsa-generate-2048",
        "public-keys",
        "RSA-2048 key generation",
    ),
];

/// Beside the figures of public keys.
const PUBLIC_KEYS: [&str; 3] = ["operation", "PCIXCC, 1 job", "CEX2C, 1 job"];

impl Workload for Coprocessor {
    fn name(&self) -> &'static str {
        "coprocessor"
    }

    fn summary(&self) -> &'static str {
        "CCA verbs of payment programs, through the C library"
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        let rounds = rounds(options);
        let turns = f64::from(rounds.warm_up + rounds.measured) * SETUPS.len() as f64;
        let seconds = |task: &str| 0.2 + turns * 1e-3 * window(task) as f64;
        CASES
            .iter()
            .map(|(task, _, name)| Step::new(*name, seconds(task)))
            .collect()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        let columns = [
            "operation",
            "PCIXCC, 1 job",
            "CEX2C, 1 job",
            "CEX2C, 14 jobs",
        ];
        session.table("pins", "Keys and PINs, operations a second", &columns);
        session.note(
            "a process calls the verbs of libcsulcca.so with one thread and with seven; the card service carries them out. No process \
             is held to a core. The columns with cards are what the z990's study of 2005 published, in operations a second. \
             A clear PIN has 12 digits here: no block has room for more. The study's two and four cards have no row: one service \
             carries out verbs on all processors, so that a second one adds nothing.",
        );
        session.table("data", "Encryption and MACs", &["operation"]);
        session.table(
            "public-keys",
            "Public keys, operations a second",
            &PUBLIC_KEYS,
        );
        session.note(
            "the study's cards had keys of 512 to 2,048 bits, with CRT for the private ones. Keys here begin with 2,048 bits.",
        );
        let command = session.installation.command.clone();
        let library = find_cca(&command)?;
        let daemon = find_daemon(&command)?;
        let service = CardService::start(&session.workplace, &daemon, &command, None)?;
        prepare(&service)?;
        let mut process = std::process::Command::new(std::env::current_exe()?);
        process
            .arg("cca-caller")
            .arg(&library)
            .env("OUTBOARD_CCA", service.directory());
        let mut caller = Process::start(process)?;
        for (task, table, operation) in CASES {
            session.step(operation);
            let rounds = rounds(session.options());
            let comparison = session.alternate(&SETUPS, rounds, |_, setup| {
                let line = format!("{task} {} {}", JOBS[setup], window(task));
                let window = caller.run(&line)?;
                Ok(vec![window.count as f64 / window.elapsed])
            })?;
            let published = [("PCIXCC", 1), ("CEX2C", 1), ("CEX2C", 14)];
            let published = published.map(|(device, jobs)| published_rate(device, jobs, operation));
            let mut labels = vec![("operation", operation)];
            if table == "pins" {
                let figures = columns[1..].iter().zip(&published);
                labels.extend(figures.map(|(column, figure)| (*column, &**figure)));
            }
            let published = ["PCIXCC", "CEX2C"].map(|device| public_key_rate(device, operation));
            if table == "public-keys" {
                let figures = PUBLIC_KEYS[1..].iter().zip(&published);
                labels.extend(figures.map(|(column, figure)| (*column, &**figure)));
            }
            let proofs = [Proof::not_needed(), Proof::not_needed()];
            session.record(table, &labels, &MEASURES, &comparison, &proofs)?;
        }
        drop(caller);
        service.stop()?;
        Ok(())
    }
}

/// Milliseconds.
fn window(task: &str) -> u64 {
    match task {
        "rsa-generate-2048" => 2_000,
        _ => 200,
    }
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 1,
        measured: options.pick(15, 5, 1),
    }
}

/// What the study says, as text; a dash where it says nothing.
fn published_rate(device: &str, jobs: u32, operation: &str) -> String {
    let mut rates = pin_rates().into_iter();
    let rate = rates
        .find(|rate| rate.device == device && rate.jobs == jobs && rate.operation == operation);
    rate.map_or_else(|| "-".into(), |rate| format!("{:.0}", rate.ops_s))
}

/// Likewise, of the operation and the size of its key: "PKD, RSA-2048".
fn public_key_rate(device: &str, operation: &str) -> String {
    let rate = operation.split_once(", RSA-").and_then(|(name, bits)| {
        let mut rates = public_key_rates().into_iter();
        rates.find(|rate| {
            // Private keys with CRT, as keys are today.
            let is_todays = rate.key_format == "CRT" || matches!(name, "PKE" | "DSV");
            let is_one = rate.device == device && rate.jobs == 1 && is_todays;
            is_one && rate.operation == name && rate.key_bits.to_string() == bits
        })
    });
    rate.map_or_else(|| "-".into(), |rate| format!("{:.0}", rate.ops_s))
}

/// Switches the coprocessor on, sets its master keys, and allows what the caller needs.
fn prepare(service: &CardService) -> Result<(), Failure> {
    service.command(&["cca", "enable"])?;
    for kind in ["SYM-MK", "AES-MK", "ASYM-MK", "APKA-MK"] {
        for step in ["RANDOM", "SET"] {
            let rules = format!("rule_array={kind},{step}");
            service.command(&["cca", "call", "CSNBMKP", &rules])?;
        }
    }
    // Key parts, clear keys, PINs in the clear, and CSNDPKD.
    let points = "enable=0x1b,0x1c,0xc3,0xa0,0xa3,0xb0,0x11f";
    service.command(&["cca", "call", "OBAACP", points])?;
    Ok(())
}
