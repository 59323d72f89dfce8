//! A file there (scp, rsync) and back (sftp): the tables of 2010, with today's ciphers beside theirs.

use std::time::Duration;

use outboard_programs::{Launch, OpenSsl, find};

use super::cipher::Suite;
use super::{bytes, check, client, copy, file, remote, sshd};
use crate::Failure;
use crate::suite::{Measure, Options, Rounds, Session, Step};
use crate::workloads::sides::{SETUPS, at_client, at_server, prove};

const MEASURES: [Measure; 6] = [
    Measure::lower("real", "s"),
    Measure::lower("user", "s"),
    Measure::lower("sys", "s"),
    Measure::higher("throughput", "B/s"),
    Measure::lower("server CPU", "s"),
    Measure::lower("client and server CPU", "s"),
];

/// What moves the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Scp,
    Sftp,
    Rsync,
}

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let megabytes = bytes(options) as f64 / 1e6;
    let cases = cases(options).into_iter();
    cases
        .map(|(tool, suite)| {
            let throughput = match suite.cipher {
                "3des-cbc" => 25.0,
                cipher if cipher.ends_with("-cbc") => 250.0,
                _ => 400.0,
            };
            let transfers = rounds(options, &suite).measured as usize * SETUPS.len();
            let seconds = transfers as f64 * (0.25 + megabytes / throughput);
            Step::new(step(tool, &suite), seconds)
        })
        .collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    let size = bytes(session.options());
    for tool in [Tool::Scp, Tool::Sftp, Tool::Rsync] {
        let title = format!(
            "{} of {size} bytes through sshd on this machine",
            tool.name()
        );
        session.table(tool.name(), &title, &["cipher", "mac"]);
    }
    session.note(
        "real, user and sys are the client's times, as time(1) prints them, including the login. The kernel \
         estimates by samples how CPU time divides into user and sys. scp and rsync send the file; sftp fetches \
         it. Source and copy are in memory; the published copies went to /dev/null.",
    );
    for (tool, suite) in cases(session.options()) {
        session.step(&step(tool, &suite));
        measure(session, tool, suite)?;
    }
    Ok(())
}

fn measure(session: &mut Session<'_>, tool: Tool, suite: Suite) -> Result<(), Failure> {
    let ledger = |side| format!("{}-{}-{}-{side}", tool.name(), suite.cipher, suite.mac);
    let client = session.outboard(&ledger("client"))?;
    let server = session.outboard(&ledger("server"))?;
    let rounds = rounds(session.options(), &suite);
    let comparison = session.alternate(&SETUPS, rounds, |session, setup| {
        let client = if at_client(setup) {
            &client
        } else {
            &session.stock
        };
        let server = if at_server(setup) {
            &server
        } else {
            &session.stock
        };
        transfer(session, tool, &suite, client, server)
    })?;
    let (at_client, at_server) = match tool {
        Tool::Scp | Tool::Rsync => ("seal", "open"),
        Tool::Sftp => ("open", "seal"),
    };
    // Two of the four setups have Outboard on a given side.
    let bytes = 2 * u64::from(rounds.measured) * bytes(session.options());
    let proofs = prove(
        suite.prove(session, &client, at_client, bytes)?,
        suite.prove(session, &server, at_server, bytes)?,
    );
    let labels = [("cipher", suite.cipher), ("mac", suite.mac)];
    session.record(tool.name(), &labels, &MEASURES, &comparison, &proofs)
}

/// Every transfer gets its own server. When the server has ended, its CPU time and that of its sessions are known to the
/// microsecond.
fn transfer(
    session: &Session<'_>,
    tool: Tool,
    suite: &Suite,
    at_client: &OpenSsl,
    at_server: &OpenSsl,
) -> Result<Vec<f64>, Failure> {
    let sshd = sshd(session, &session.workplace, at_server, "")?;
    let (file, copy) = (file(session), copy(session));
    let launch = match tool {
        Tool::Scp => client(session, &sshd, "scp", suite, at_client)?
            .arg(&file)
            .arg(remote(&copy)),
        Tool::Sftp => client(session, &sshd, "sftp", suite, at_client)?
            .arg(remote(&file))
            .arg(&copy),
        Tool::Rsync => {
            let ssh = format!(
                "{} -F {} {}",
                find("ssh")?.display(),
                sshd.client_configuration().display(),
                suite.options().join(" ")
            );
            Launch::new("rsync")?
                .with(at_client)
                .on(session.cores.client)
                .args(["--whole-file", "--rsh", &ssh])
                .arg(&file)
                .arg(remote(&copy))
        }
    };
    let client = launch.limit(Duration::from_secs(300)).succeed()?;
    check(session)?;
    let server = sshd.stop()?.cpu;
    let seconds = |time: Duration| time.as_secs_f64();
    Ok(vec![
        seconds(client.wall),
        seconds(client.user),
        seconds(client.system),
        bytes(session.options()) as f64 / seconds(client.wall),
        seconds(server),
        seconds(client.cpu + server),
    ])
}

/// The published ciphers with their MACs, then today's.
fn cases(options: &Options) -> Vec<(Tool, Suite)> {
    if options.all {
        return every();
    }
    options.pick::<fn() -> Vec<(Tool, Suite)>>(full, quick, tiny)()
}

/// Every tool with every cipher and MAC.
fn every() -> Vec<(Tool, Suite)> {
    let mut suites = vec![Suite::DEFAULT, Suite::AES_128_GCM, Suite::AES_256_GCM];
    for cipher in ["3des-cbc", "aes128-cbc", "aes192-cbc", "aes128-ctr"] {
        let macs = ["hmac-md5", "hmac-sha1", "hmac-sha2-256-etm", "umac-64-etm"];
        suites.extend(macs.map(|mac| Suite::new(cipher, mac)));
    }
    let tools = [Tool::Scp, Tool::Sftp, Tool::Rsync];
    let of = |tool| suites.iter().map(move |&suite| (tool, suite));
    tools.into_iter().flat_map(of).collect()
}

fn full() -> Vec<(Tool, Suite)> {
    let mut cases = Vec::new();
    for cipher in ["3des-cbc", "aes128-cbc", "aes192-cbc"] {
        for mac in ["hmac-md5", "hmac-sha1"] {
            cases.push((Tool::Scp, Suite::new(cipher, mac)));
            cases.push((Tool::Sftp, Suite::new(cipher, mac)));
        }
    }
    for mac in ["umac-64-etm", "hmac-sha2-256-etm"] {
        cases.push((Tool::Scp, Suite::new("aes128-ctr", mac)));
    }
    for tool in [Tool::Scp, Tool::Sftp, Tool::Rsync] {
        for suite in [Suite::DEFAULT, Suite::AES_128_GCM, Suite::AES_256_GCM] {
            cases.push((tool, suite));
        }
    }
    cases
}

fn quick() -> Vec<(Tool, Suite)> {
    vec![
        (Tool::Scp, Suite::DEFAULT),
        (Tool::Scp, Suite::new("aes128-cbc", "hmac-sha1")),
        (Tool::Scp, Suite::AES_128_GCM),
        (Tool::Sftp, Suite::AES_128_GCM),
        (Tool::Rsync, Suite::AES_128_GCM),
    ]
}

fn tiny() -> Vec<(Tool, Suite)> {
    vec![
        (Tool::Scp, Suite::new("3des-cbc", "hmac-md5")),
        (Tool::Sftp, Suite::AES_128_GCM),
        (Tool::Rsync, Suite::AES_256_GCM),
    ]
}

fn step(tool: Tool, suite: &Suite) -> String {
    format!("{}, {}", tool.name(), suite.name())
}

fn rounds(options: &Options, suite: &Suite) -> Rounds {
    // Triple DES takes ten times as long as the others.
    let full = if suite.cipher == "3des-cbc" { 3 } else { 6 };
    Rounds {
        warm_up: 0,
        measured: options.pick(full, 3, 1),
    }
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::Scp => "scp",
            Self::Sftp => "sftp",
            Self::Rsync => "rsync",
        }
    }
}
