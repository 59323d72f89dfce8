//! How much of a transfer's CPU time is cryptography: what could be gained at all.
//!
//! perf samples which library the processor is in. libcrypto's and Outboard's samples count; what
//! OpenSSH computes in its own code (Poly1305, UMAC, Curve25519) does not, so that only ciphers and
//! MACs of libcrypto are asked about.

use std::path::Path;
use std::time::{Duration, Instant};

use outboard_programs::{Finished, Launch, OpenSsl, Process, find};

use super::cipher::Suite;
use super::{bytes, check, copy, file, remote, sshd};
use crate::Failure;
use crate::suite::{Measure, Options, Rounds, Session, Step};

const SETUPS: [&str; 2] = ["stock", "both"];

const MEASURES: [Measure; 2] = [Measure::neither("share of CPU", ""); 2];

/// The sides that the two measures belong to.
const SIDES: [&str; 2] = ["client", "server"];

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let transfers = f64::from(rounds(options).measured) * SETUPS.len() as f64;
    let seconds = transfers * (1.0 + bytes(options) as f64 / 300e6);
    suites(options)
        .iter()
        .map(|suite| Step::new(step(suite), seconds))
        .collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    session.table(
        "cryptography",
        "The share of CPU time in libcrypto and Outboard",
        &["tool", "cipher", "mac", "side"],
    );
    if let Err(reason) = sample_nothing(session) {
        session.note(format!("the share of cryptography is missing: {reason}"));
        return Ok(());
    }
    session.note(
        "the share of cryptography is the share of perf's samples (cpu-clock, user and kernel) in libcrypto and \
         in Outboard. It does not include OpenSSH's own code.",
    );
    for suite in suites(session.options()) {
        session.step(&step(&suite));
        measure(session, &suite)?;
    }
    Ok(())
}

fn measure(session: &mut Session<'_>, suite: &Suite) -> Result<(), Failure> {
    let with = session.outboard(&format!("cryptography-{}-{}", suite.cipher, suite.mac))?;
    let rounds = rounds(session.options());
    let comparison = session.alternate(&SETUPS, rounds, |session, setup| {
        let openssl = if setup == 0 { &session.stock } else { &with };
        transfer(session, suite, openssl)
    })?;
    let labels = [
        ("tool", "scp"),
        ("cipher", suite.cipher),
        ("mac", suite.mac),
    ];
    let rows = comparison.rows(&labels, &MEASURES, &[]);
    for (side, rows) in SIDES.iter().zip(rows.chunks(SETUPS.len())) {
        let mut rows = rows.to_vec();
        for row in &mut rows {
            row.labels.insert("side".to_owned(), (*side).to_owned());
        }
        session.rows("cryptography", rows)?;
    }
    Ok(())
}

/// The shares at the client and at the server.
fn transfer(session: &Session<'_>, suite: &Suite, openssl: &OpenSsl) -> Result<Vec<f64>, Failure> {
    let mut sshd = sshd(session, &session.workplace, openssl, "")?;
    let samples = SIDES.map(|side| session.workplace.join(format!("{side}.samples")));
    let mut server = record(&samples[1])?
        .args(["-p", &sshd.process().id().to_string()])
        .start_quietly()?;
    wait_until_attached(&mut server)?;
    record(&samples[0])?
        .with(openssl)
        .on(session.cores.client)
        .arg("--")
        .arg(find("scp")?)
        .arg("-F")
        .arg(sshd.client_configuration())
        .arg("-q")
        .args(suite.options())
        .arg(file(session))
        .arg(remote(&copy(session)))
        .limit(Duration::from_secs(300))
        .succeed()?;
    check(session)?;
    sshd.process().wait_for_children()?;
    server.signal(libc::SIGINT);
    // perf ends as if by the signal that it was sent, with its file complete.
    server.finish(Duration::from_secs(30))?;
    sshd.stop()?;
    let module = &session.installation.outboard.module;
    // A file so small that no sample fell into its transfer is one of a test.
    let without = session.options().pick(None, None, Some(0.0));
    let shares = samples.iter().map(|file| share(file, module, without));
    shares.collect()
}

/// `perf record` into a file.
fn record(samples: &Path) -> Result<Launch, Failure> {
    Ok(Launch::new("perf")?
        .args([
            "record",
            "--quiet",
            "--event",
            "cpu-clock",
            "--freq",
            "1999",
        ])
        .arg("--output")
        .arg(samples))
}

/// Whether perf is installed and may sample at all.
fn sample_nothing(session: &Session<'_>) -> Result<(), Failure> {
    let samples = session.workplace.join("no.samples");
    record(&samples)?.args(["--", "true"]).succeed()?;
    Ok(())
}

/// perf says nothing when it has begun; that it holds its events, one can see.
fn wait_until_attached(perf: &mut Process) -> Result<(), Failure> {
    let limit = Duration::from_secs(20);
    let start = Instant::now();
    let descriptors = format!("/proc/{}/fd", perf.id());
    let attached = || {
        let Ok(entries) = std::fs::read_dir(&descriptors) else {
            return false;
        };
        let targets = entries
            .flatten()
            .map(|entry| std::fs::read_link(entry.path()));
        targets
            .flatten()
            .any(|target| target.to_string_lossy().contains("perf_event"))
    };
    while !attached() {
        if !perf.is_running() || start.elapsed() > limit {
            return Err("perf record -p does not begin to sample sshd".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// The share of samples in libcrypto and in the module; `without` any sample there may be a value too.
fn share(samples: &Path, module: &Path, without: Option<f64>) -> Result<f64, Failure> {
    let told: Finished = Launch::new("perf")?
        .args([
            "report",
            "--stdio",
            "--sort",
            "dso",
            "--field-separator",
            ",",
        ])
        .args(["--percent-limit", "0", "--input"])
        .arg(samples)
        .finish()?;
    let module = module.file_name().unwrap_or_default().to_string_lossy();
    parse(&told.output, &module)
        .or(without)
        .ok_or_else(|| format!("perf report printed something unexpected:\n{}", told.output).into())
}

/// Adds up the lines "  12.34% ,libcrypto.so.3"; `None` if there is none of any library.
fn parse(report: &str, module: &str) -> Option<f64> {
    let mut lines = report
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(','))
        .filter_map(|(share, library)| {
            let share = share.trim().strip_suffix('%')?.parse::<f64>().ok()?;
            Some((share / 100.0, library.trim()))
        })
        .peekable();
    lines.peek()?;
    Some(
        lines
            .filter(|(_, library)| library.starts_with("libcrypto.") || *library == module)
            .map(|(share, _)| share)
            .sum(),
    )
}

fn suites(options: &Options) -> Vec<Suite> {
    let all = [
        Suite::AES_128_GCM,
        Suite::AES_256_GCM,
        Suite::new("aes128-cbc", "hmac-sha1"),
        Suite::new("aes128-ctr", "hmac-sha2-256-etm"),
    ];
    all[..options.pick(4, 1, 1)].to_vec()
}

fn step(suite: &Suite) -> String {
    format!("share of cryptography, {}", suite.name())
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 0,
        measured: options.pick(3, 1, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libcrypto_and_the_module_count() {
        let report = "# Samples: 267\n\n 50.00% ,libcrypto.so.3\n 20.00%,[kernel.kallsyms]\n\
                      25.5% ,liboutboard.so \n 4.5%,libc.so.6\n";
        assert_eq!(parse(report, "liboutboard.so"), Some(0.755));
        assert_eq!(parse(report, "other.so"), Some(0.5));
        assert_eq!(parse("# nothing\n", "liboutboard.so"), None);
    }
}
