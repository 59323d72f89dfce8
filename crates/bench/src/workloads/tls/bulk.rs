//! A large file from nginx or Apache by curl: bytes per second, and the cost of a gigabyte at each side.

use std::time::Duration;

use outboard_programs::{Certificate, Launch, OpenSsl};

use super::client::{Cipher, Version};
use super::front::{Front, FrontOptions, Make};
use super::{Key, files};
use crate::Failure;
use crate::proof::{Expected, Proof};
use crate::suite::{Measure, Options, Rounds, Session, Step};
use crate::workloads::sides::{SETUPS, at_client, at_server, prove};

/// The name of the large file.
const LARGE: &str = "large";

const MEASURES: [Measure; 3] = [
    Measure::higher("throughput", "B/s"),
    Measure::lower("server CPU per GB", "s"),
    Measure::lower("client CPU per GB", "s"),
];

/// Server, version and cipher.
type Case = (Make, Version, Cipher);

/// The size of the file, in bytes.
pub(super) fn bytes(options: &Options) -> u64 {
    options.pick(1_000_000_000, 200_000_000, 4_000_000)
}

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let downloads = f64::from(rounds(options).measured) * SETUPS.len() as f64;
    let seconds = downloads * (0.1 + bytes(options) as f64 / 0.8e9) + 0.5;
    let cases = cases(options).into_iter();
    cases.map(|case| Step::new(step(&case), seconds)).collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    session.table(
        "bulk",
        "Downloads of a large file with curl",
        &["server", "protocol", "cipher"],
    );
    for case in cases(session.options()) {
        session.step(&step(&case));
        measure(session, case)?;
    }
    Ok(())
}

fn measure(session: &mut Session<'_>, case: Case) -> Result<(), Failure> {
    let (make, version, cipher) = case;
    let certificate = Key::P256.certificate(session)?;
    let files = files(&session.workplace, LARGE, bytes(session.options()))?;
    let ledger = |side: &str| {
        format!(
            "bulk_{}_{}_{}_{side}",
            make.name(),
            version.name(),
            cipher.name()
        )
    };
    let client = session.outboard(&ledger("client").replace(' ', "_"))?;
    let server = session.outboard(&ledger("server").replace(' ', "_"))?;
    let start = |openssl: &OpenSsl| {
        let options = FrontOptions {
            openssl,
            certificate: &certificate,
            files: &files,
            resumption: false,
            clients: None,
            asynchronous: false,
            workers: 1,
            core: session.cores.server,
        };
        make.start(&session.workplace, options)
    };
    let servers = [start(&session.stock)?, start(&server)?];

    let rounds = rounds(session.options());
    let comparison = session.alternate(&SETUPS, rounds, |session, setup| {
        let with = if at_client(setup) {
            &client
        } else {
            &session.stock
        };
        let from = &servers[usize::from(at_server(setup))];
        download(session, case, &certificate, with, from)
    })?;

    for server in servers {
        server.stop()?;
    }
    // Two of the four setups have Outboard on a given side.
    let bytes = 2 * u64::from(rounds.measured) * bytes(session.options());
    let side = |openssl, direction: &str| -> Result<Proof, Failure> {
        match cipher {
            Cipher::ChaCha20Poly1305 => Ok(Proof::left_to_stock()),
            _ => {
                let operation = format!("{}-{direction}", cipher.name());
                session.proof(openssl, &[Expected::bytes(&operation, bytes)])
            }
        }
    };
    let proofs = prove(side(&client, "open")?, side(&server, "seal")?);
    let labels = [
        ("server", make.name()),
        ("protocol", version.name()),
        ("cipher", cipher.name()),
    ];
    session.record("bulk", &labels, &MEASURES, &comparison, &proofs)
}

fn download(
    session: &Session<'_>,
    (_, version, cipher): Case,
    certificate: &Certificate,
    client: &OpenSsl,
    server: &Front,
) -> Result<Vec<f64>, Failure> {
    let before = server.cpu();
    let choice = match version {
        Version::Tls13 => ["--tls-max", "1.3", "--tls13-ciphers", suite(cipher)],
        Version::Tls12 => ["--tls-max", "1.2", "--ciphers", suite_of_1_2(cipher)],
    };
    let curl = Launch::new("curl")?
        .args(choice)
        .args(["-sSf", "--output", "/dev/null", "--cacert"])
        .arg(&certificate.certificate)
        .args(["--write-out", "%{size_download} %{time_total}"])
        .arg(server.url(LARGE))
        .with(client)
        .on(session.cores.client)
        .limit(Duration::from_secs(300))
        .succeed()?;
    let server = server.cpu().saturating_sub(before);
    let bytes = bytes(session.options());
    let seconds = curl
        .output
        .split_once(' ')
        .filter(|(size, _)| *size == bytes.to_string())
        .and_then(|(_, seconds)| seconds.parse::<f64>().ok())
        .ok_or_else(|| format!("curl got something else: {}", curl.output))?;
    let bytes = bytes as f64;
    let per_gigabyte = |cpu: Duration| cpu.as_secs_f64() * 1e9 / bytes;
    Ok(vec![
        bytes / seconds,
        per_gigabyte(server),
        per_gigabyte(curl.cpu),
    ])
}

fn suite(cipher: Cipher) -> &'static str {
    match cipher {
        Cipher::Aes128Gcm => "TLS_AES_128_GCM_SHA256",
        Cipher::Aes256Gcm => "TLS_AES_256_GCM_SHA384",
        Cipher::ChaCha20Poly1305 => "TLS_CHACHA20_POLY1305_SHA256",
    }
}

fn suite_of_1_2(cipher: Cipher) -> &'static str {
    match cipher {
        Cipher::Aes128Gcm => "ECDHE-ECDSA-AES128-GCM-SHA256",
        Cipher::Aes256Gcm => "ECDHE-ECDSA-AES256-GCM-SHA384",
        Cipher::ChaCha20Poly1305 => "ECDHE-ECDSA-CHACHA20-POLY1305",
    }
}

fn cases(options: &Options) -> Vec<Case> {
    use Cipher::{Aes128Gcm, Aes256Gcm, ChaCha20Poly1305};
    let all = vec![
        (Make::Nginx, Version::Tls13, Aes128Gcm),
        (Make::Nginx, Version::Tls13, Aes256Gcm),
        (Make::Nginx, Version::Tls13, ChaCha20Poly1305),
        (Make::Nginx, Version::Tls12, Aes128Gcm),
        (Make::Apache, Version::Tls13, Aes128Gcm),
    ];
    let number = options.pick(all.len(), 2, 1);
    all.into_iter().take(number).collect()
}

fn step((make, version, cipher): &Case) -> String {
    format!(
        "download, {}, {}, {}",
        make.name(),
        version.name(),
        cipher.name()
    )
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 0,
        measured: options.pick(7, 2, 1),
    }
}
