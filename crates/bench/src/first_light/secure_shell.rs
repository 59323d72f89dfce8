//! (a) scp and sftp through a real sshd: Outboard at the client, at the server, at both.
//!
//! scp sends a file, sftp fetches it, so that both sides seal and both open.

use std::time::Duration;

use outboard_programs::{Launch, OpenSsl, Sshd, SshdOptions};

use super::report::Row;
use super::setting::readable_size;
use super::statistics::compare;
use super::{Progress, Setting};
use crate::Failure;
use crate::proof::{Expected, Proof};

/// OpenSSH's names of the ciphers and the engine's of the operations.
const CIPHERS: [(&str, &str); 2] = [
    ("aes128-gcm@openssh.com", "aes-128-gcm"),
    ("aes256-gcm@openssh.com", "aes-256-gcm"),
];

/// Every contender is run so often.
const ROUNDS: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Scp,
    Sftp,
}

/// The side with Outboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contender {
    Stock,
    Client,
    Server,
    Both,
}

/// One transfer.
struct Transfer {
    client: Duration,
    server: Duration,
}

struct Workload {
    program: Program,
    cipher: &'static str,
    operation: &'static str,
    name: String,
}

pub(super) fn steps(setting: &Setting) -> u32 {
    let wanted = workloads(setting).len();
    u32::try_from(wanted * Contender::ALL.len()).unwrap_or(u32::MAX) * setting.rounds(ROUNDS)
}

/// Runs the selected workloads.
pub(super) fn run(setting: &Setting, progress: &mut Progress) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    let workloads = workloads(setting);
    if !workloads.is_empty() {
        setting
            .workplace
            .write_noise("file", setting.transfer_bytes())?;
    }
    for workload in &workloads {
        progress.workload(&workload.name);
        rows.extend(measure(setting, workload, progress)?);
    }
    Ok(rows)
}

fn workloads(setting: &Setting) -> Vec<Workload> {
    let size = readable_size(setting.transfer_bytes());
    let mut workloads = Vec::new();
    for (program, verb) in [
        (Program::Scp, "scp, sending"),
        (Program::Sftp, "sftp, fetching"),
    ] {
        for (cipher, operation) in CIPHERS {
            let short = cipher.trim_end_matches("@openssh.com");
            workloads.push(Workload {
                program,
                cipher,
                operation,
                name: format!("{verb} {size}, {short}"),
            });
        }
    }
    workloads.retain(|workload| setting.wants(&workload.name));
    workloads
}

fn measure(
    setting: &Setting,
    workload: &Workload,
    progress: &mut Progress,
) -> Result<Vec<Row>, Failure> {
    let ledger = |side| format!("{:?}-{}-{side}", workload.program, workload.operation);
    let client = setting.outboard(&ledger("client"))?;
    let server = setting.outboard(&ledger("server"))?;
    let mut rounds = Vec::new();
    for round in 0..setting.rounds(ROUNDS) {
        // Forwards and backwards, so that a slow drift of the machine favours no contender.
        let mut order = Contender::ALL;
        if round % 2 == 1 {
            order.reverse();
        }
        let mut transfers = Vec::new();
        for contender in order {
            let client = if contender.at_client() {
                &client
            } else {
                &setting.stock
            };
            let server = if contender.at_server() {
                &server
            } else {
                &setting.stock
            };
            transfers.push((contender, transfer(setting, workload, client, server)?));
            progress.step();
        }
        rounds.push(transfers);
    }

    let bytes = u64::from(2 * setting.rounds(ROUNDS)) * setting.transfer_bytes();
    let (at_client, at_server) = match workload.program {
        Program::Scp => ("seal", "open"),
        Program::Sftp => ("open", "seal"),
    };
    let prove = |openssl: &OpenSsl, direction: &str| {
        let operation = format!("{}-{direction}", workload.operation);
        setting.proof(openssl, &[Expected::bytes(&operation, bytes)])
    };
    let (client_proof, server_proof) = (prove(&client, at_client)?, prove(&server, at_server)?);
    let row = |contender: Contender, cost: fn(&Transfer) -> Duration, proof: Proof| {
        let of = |transfers: &[(Contender, Transfer)], wanted| {
            let found = transfers.iter().find(|(contender, _)| *contender == wanted);
            cost(&found.expect("every round runs every contender").1)
        };
        let pairs: Vec<(Duration, Duration)> = rounds
            .iter()
            .map(|round| (of(round, Contender::Stock), of(round, contender)))
            .collect();
        Row {
            workload: workload.name.clone(),
            subject: contender.subject(),
            unit: "transfer",
            compared: compare(&pairs),
            proof,
        }
    };
    Ok(vec![
        row(
            Contender::Client,
            |transfer| transfer.client,
            client_proof.clone(),
        ),
        row(
            Contender::Server,
            |transfer| transfer.server,
            server_proof.clone(),
        ),
        row(
            Contender::Both,
            |transfer| transfer.client + transfer.server,
            client_proof.and(server_proof),
        ),
    ])
}

/// Every transfer gets its own server. When the server has ended, its CPU time and that of its sessions are known to the
/// microsecond.
fn transfer(
    setting: &Setting,
    workload: &Workload,
    client: &OpenSsl,
    server: &OpenSsl,
) -> Result<Transfer, Failure> {
    let options = SshdOptions {
        openssl: server,
        core: setting.cores.server,
        settings: "",
    };
    let sshd = Sshd::start(&setting.workplace, options)?;
    let file = setting.workplace.join("file");
    let copy = setting.workplace.join("copy");
    let remote = |path: &std::path::Path| format!("{}:{}", Sshd::HOST, path.display());
    let launch = |program: &str| -> Result<Launch, Failure> {
        let cipher = format!("Ciphers={}", workload.cipher);
        Ok(sshd
            .client(program)?
            .with(client)
            .on(setting.cores.client)
            .args(["-q", "-o", &cipher]))
    };
    let client = match workload.program {
        Program::Scp => launch("scp")?.arg(&file).arg(remote(&copy)).succeed()?,
        Program::Sftp => launch("sftp")?.arg(remote(&file)).arg(&copy).succeed()?,
    };
    if std::fs::metadata(&copy)?.len() != setting.transfer_bytes() {
        return Err(format!("{}: the copy has another length", workload.name).into());
    }
    std::fs::remove_file(&copy)?;
    Ok(Transfer {
        client: client.cpu,
        server: sshd.stop()?.cpu,
    })
}

impl Contender {
    const ALL: [Self; 4] = [Self::Stock, Self::Client, Self::Server, Self::Both];

    fn at_client(self) -> bool {
        matches!(self, Self::Client | Self::Both)
    }

    fn at_server(self) -> bool {
        matches!(self, Self::Server | Self::Both)
    }

    /// The side of the compared CPU time.
    fn subject(self) -> &'static str {
        match self {
            Self::Stock => "none",
            Self::Client => "client",
            Self::Server => "server",
            Self::Both => "client + server",
        }
    }
}
