//! (c) curl downloads a large file from nginx over TLS 1.3.

use std::time::Duration;

use outboard_programs::{Certificate, Launch, Nginx, NginxOptions, OpenSsl};

use super::report::Row;
use super::setting::readable_size;
use super::statistics::compare;
use super::{Progress, Setting};
use crate::Failure;
use crate::proof::Expected;

/// TLS's name of the cipher suite and the engine's of the cipher.
const SUITES: [(&str, &str); 2] = [
    ("TLS_AES_128_GCM_SHA256", "aes-128-gcm"),
    ("TLS_AES_256_GCM_SHA384", "aes-256-gcm"),
];

/// Downloads of each contender.
const PAIRS: u32 = 4;

/// What one download cost.
struct Cost {
    client: Duration,
    server: Duration,
}

pub(super) fn steps(setting: &Setting) -> u32 {
    let wanted = SUITES
        .iter()
        .filter(|(_, cipher)| setting.wants(&workload(setting, cipher)));
    u32::try_from(wanted.count()).unwrap_or(u32::MAX) * setting.rounds(PAIRS)
}

/// Runs the selected workloads.
pub(super) fn run(setting: &Setting, progress: &mut Progress) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for (suite, cipher) in SUITES {
        if setting.wants(&workload(setting, cipher)) {
            progress.workload(&workload(setting, cipher));
            rows.extend(measure(setting, suite, cipher, progress)?);
        }
    }
    Ok(rows)
}

fn workload(setting: &Setting, cipher: &str) -> String {
    format!(
        "curl, TLS 1.3, {}, {cipher}",
        readable_size(setting.download_bytes())
    )
}

fn measure(
    setting: &Setting,
    suite: &str,
    cipher: &str,
    progress: &mut Progress,
) -> Result<Vec<Row>, Failure> {
    let new_key = "ec -pkeyopt ec_paramgen_curve:P-256";
    let certificate = Certificate::generate(&setting.workplace, &setting.stock, cipher, new_key)?;
    let files = setting.workplace.join("files");
    if !files.exists() {
        std::fs::create_dir(&files)?;
        setting
            .workplace
            .write_noise("files/large", setting.download_bytes())?;
    }
    let client = setting.outboard(&format!("curl-{cipher}"))?;
    let server = setting.outboard(&format!("nginx-{cipher}"))?;
    let start = |openssl: &OpenSsl| {
        let options = NginxOptions {
            openssl,
            certificates: &[&certificate],
            files: Some(&files),
            core: setting.cores.server,
            settings: "",
        };
        Nginx::start(&setting.workplace, options)
    };
    let (stock_server, server_with) = (start(&setting.stock)?, start(&server)?);

    let mut costs = Vec::new();
    for round in 0..setting.rounds(PAIRS) {
        let stock = || download(setting, suite, &certificate, &setting.stock, &stock_server);
        let outboard = || download(setting, suite, &certificate, &client, &server_with);
        costs.push(if round % 2 == 0 {
            let first = stock()?;
            (first, outboard()?)
        } else {
            let first = outboard()?;
            (stock()?, first)
        });
        progress.step();
    }

    let bytes = u64::from(setting.rounds(PAIRS)) * setting.download_bytes();
    let opened = [Expected::bytes(&format!("{cipher}-open"), bytes)];
    let sealed = [Expected::bytes(&format!("{cipher}-seal"), bytes)];
    let client_proof = setting.proof(&client, &opened)?;
    let server_proof = setting.proof(&server, &sealed)?;
    stock_server.stop()?;
    server_with.stop()?;

    let row = |subject, cost: fn(&Cost) -> Duration, proof| Row {
        workload: workload(setting, cipher),
        subject,
        unit: "download",
        compared: compare(
            &costs
                .iter()
                .map(|(stock, outboard)| (cost(stock), cost(outboard)))
                .collect::<Vec<_>>(),
        ),
        proof,
    };
    Ok(vec![
        row("client", |cost| cost.client, client_proof),
        row("server", |cost| cost.server, server_proof),
    ])
}

fn download(
    setting: &Setting,
    suite: &str,
    certificate: &Certificate,
    client: &OpenSsl,
    server: &Nginx,
) -> Result<Cost, Failure> {
    let before = server.worker_cpu()?;
    let curl = Launch::new("curl")?
        .args([
            "-sSf",
            "--tlsv1.3",
            "--tls13-ciphers",
            suite,
            "--output",
            "/dev/null",
        ])
        .args(["--write-out", "%{size_download}", "--cacert"])
        .arg(&certificate.certificate)
        .arg(server.url("large"))
        .with(client)
        .on(setting.cores.client)
        .succeed()?;
    let server = server.worker_cpu()? - before;
    if curl.output != setting.download_bytes().to_string() {
        return Err(format!("curl got {} bytes", curl.output).into());
    }
    Ok(Cost {
        client: curl.cpu,
        server,
    })
}
