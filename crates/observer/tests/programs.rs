//! Whole programs observed: what was counted is what they are known to have done, and they work as
//! they do without.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{Place, Stand, configuration, counted};
use outboard_observation::{Operation, Record, Work};
use outboard_programs::{
    Certificate, HaProxyMode, HaProxyOptions, Launch, Nginx, NginxOptions, OpenSsl,
    PostgreSqlOptions, Sshd, SshdOptions,
};

const MIB: u64 = 1 << 20;
/// More than the bytes that protocols add to a file, and less than another file.
const OVERHEAD: u64 = MIB;

#[track_caller]
fn assert_about(bytes: u64, expected: u64) {
    assert!(
        (expected..expected + OVERHEAD).contains(&bytes),
        "{bytes} bytes, expected {expected} and little more"
    );
}

fn download_is_counted(place: Place) {
    let Some(stand) = Stand::for_programs(&["nginx", "curl"], place) else {
        return;
    };
    let certificate = Certificate::generate(
        &stand.workplace,
        &stand.stock,
        "p256",
        "ec -pkeyopt ec_paramgen_curve:P-256",
    )
    .unwrap();
    let files = stand.workplace.join("files");
    fs::create_dir(&files).unwrap();
    let large = stand
        .workplace
        .write_noise("files/large", 64 * MIB)
        .unwrap();
    let certificates = [&certificate];
    let nginx = Nginx::start(
        &stand.workplace,
        NginxOptions {
            openssl: &stand.observed,
            certificates: &certificates,
            files: Some(&files),
            core: None,
            settings: "",
        },
    )
    .unwrap();
    let copy = stand.workplace.join("copy");
    Launch::new("curl")
        .unwrap()
        .with(&stand.observed)
        .args([
            "-sSf",
            "--tls13-ciphers",
            "TLS_AES_256_GCM_SHA384",
            "--cacert",
        ])
        .arg(&certificate.certificate)
        .arg("--output")
        .arg(&copy)
        .arg(nginx.url("large"))
        .succeed()
        .unwrap();
    assert!(fs::read(&copy).unwrap() == fs::read(&large).unwrap());
    assert!(nginx.stop().unwrap().status.success());

    let curl = stand.work("curl");
    let (records, bytes) = counted(&curl, "AES-256-GCM", Operation::Open);
    assert_about(bytes, 64 * MIB);
    // A record holds up to 16 KiB.
    assert!(records >= 64 * MIB / 16384, "{records} records");
    assert_eq!(counted(&curl, "X25519", Operation::Derive).0, 1);
    assert_eq!(counted(&curl, "X25519", Operation::Generate).0, 1);
    assert!(
        counted(&curl, "ECDSA", Operation::Verify).0 >= 1,
        "{curl:?}"
    );

    let nginx = stand.work("nginx");
    assert_about(counted(&nginx, "AES-256-GCM", Operation::Seal).1, 64 * MIB);
    assert_eq!(counted(&nginx, "ECDSA", Operation::Sign).0, 1);
    assert_eq!(counted(&nginx, "X25519", Operation::Derive).0, 1);
    // What it puts the client's key in is no key that it generates.
    assert_eq!(counted(&nginx, "X25519", Operation::Generate).0, 1);
    let sign = nginx
        .iter()
        .find(|work| work.operation == Operation::Sign)
        .unwrap();
    assert_eq!(sign.key, "prime256v1");
    assert!(sign.digest.ends_with("256"), "{}", sign.digest);
}

#[test]
fn a_download_is_counted_to_the_byte() {
    download_is_counted(Place::Instead);
}

#[test]
fn so_is_one_beside_the_default_provider() {
    download_is_counted(Place::Beside);
}

#[test]
fn confined_children_of_sshd_are_observed() {
    let programs = ["sshd", "ssh", "scp", "ssh-keygen"];
    let Some(stand) = Stand::for_programs(&programs, Place::Instead) else {
        return;
    };
    let options = SshdOptions {
        openssl: &stand.observed,
        core: None,
        settings: "",
    };
    let sshd = Sshd::start(&stand.workplace, options).unwrap();
    let file = stand.workplace.write_noise("file", 16 * MIB).unwrap();
    let copy = stand.workplace.join("copy");
    sshd.client("scp")
        .unwrap()
        .with(&stand.observed)
        .args(["-q", "-o", "Ciphers=aes128-gcm@openssh.com"])
        .arg(&file)
        .arg(format!("{}:{}", Sshd::HOST, copy.display()))
        .succeed()
        .unwrap();
    assert!(fs::read(&copy).unwrap() == fs::read(&file).unwrap());
    let sealed = counted(&stand.work("ssh"), "AES-128-GCM", Operation::Seal);
    assert_about(sealed.1, 16 * MIB);
    let record = Record::read(&stand.record).unwrap();
    let opened: u64 = record
        .processes
        .iter()
        .filter(|process| process.program.starts_with("sshd"))
        .map(|process| counted(&process.work, "AES-128-GCM", Operation::Open).1)
        .sum();
    assert_about(opened, 16 * MIB);
}

#[test]
fn each_handshake_of_haproxy_s_threads_is_counted() {
    let Some(stand) = Stand::for_programs(&["haproxy", "h2load"], Place::Instead) else {
        return;
    };
    let certificate =
        Certificate::generate(&stand.workplace, &stand.stock, "rsa", "rsa:2048").unwrap();
    let certificates = [&certificate];
    let options = HaProxyOptions {
        openssl: &stand.observed,
        certificates: &certificates,
        mode: HaProxyMode::Http,
        asynchronous: false,
        threads: 2,
        resumption: false,
        core: None,
        settings: "",
        bind: "",
    };
    let haproxy = options.start(&stand.workplace).unwrap();
    let before = counted(&stand.work("haproxy"), "RSA", Operation::Sign).0;
    let load = Launch::new("h2load")
        .unwrap()
        .with(&stand.stock)
        .args([
            "--h1",
            "--clients=8",
            "--requests=200",
            "--header=Connection: close",
        ])
        .arg(haproxy.url(""))
        .succeed()
        .unwrap();
    assert!(
        load.output.contains("200 succeeded, 0 failed"),
        "{}",
        load.output
    );
    let work = stand.work("haproxy");
    assert_eq!(counted(&work, "RSA", Operation::Sign).0 - before, 200);
    let sign = work
        .iter()
        .find(|work| work.operation == Operation::Sign)
        .unwrap();
    assert_eq!((sign.key.as_str(), sign.mode.as_str()), ("2048", "pss"));
    haproxy.stop().unwrap();
}

#[test]
fn connections_to_postgresql_are_counted_on_both_sides() {
    let programs = ["initdb", "postgres", "psql"];
    let Some(stand) = Stand::for_programs(&programs, Place::Instead) else {
        return;
    };
    let certificate =
        Certificate::generate(&stand.workplace, &stand.stock, "rsa", "rsa:2048").unwrap();
    // The server's user makes a record of its own, in a directory that is everybody's.
    let shared = stand.workplace.join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let record = shared.join("record");
    let text = configuration(&stand.workplace, &record, Place::Instead);
    let observed = OpenSsl::configured(&stand.workplace, "server", &text).unwrap();
    let options = PostgreSqlOptions {
        openssl: &observed,
        certificate: &certificate,
        core: None,
    };
    let server = options.start(&stand.workplace).unwrap();
    let question = "select ssl, version, repeat('x', 4000000) from pg_stat_ssl \
                    where pid = pg_backend_pid()";
    for _ in 0..3 {
        let answer = server.query(&stand.observed, question).unwrap().output;
        let expected = format!("t|TLSv1.3|{}\n", "x".repeat(4_000_000));
        assert!(answer == expected, "{}", &answer[..100.min(answer.len())]);
    }
    assert!(server.stop().unwrap().status.success());

    let psql = stand.work("psql");
    let (_, bytes) = counted(&psql, "AES-256-GCM", Operation::Open);
    assert_about(bytes, 3 * 4_000_000);
    // The server takes one group alone (ssl_ecdh_curve).
    assert_eq!(counted(&psql, "ECDH", Operation::Derive).0, 3);
    assert!(counted(&psql, "RSA", Operation::Verify).0 >= 3, "{psql:?}");
    // SCRAM hashes a password 4096 times (RFC 7677), with a key: more than one digest each time.
    let digests = counted(&psql, "SHA2-256", Operation::Digest).0;
    assert!(digests > 3 * 4096, "{digests} digests");

    let postgres: Vec<Work> = Record::read(&record)
        .unwrap()
        .processes
        .into_iter()
        .filter(|process| process.program == "postgres")
        .flat_map(|process| process.work)
        .collect();
    let (_, bytes) = counted(&postgres, "AES-256-GCM", Operation::Seal);
    assert_about(bytes, 3 * 4_000_000);
    assert_eq!(counted(&postgres, "ECDH", Operation::Derive).0, 3);
    assert_eq!(counted(&postgres, "EC", Operation::Generate).0, 3);
    assert_eq!(counted(&postgres, "RSA", Operation::Sign).0, 3);
}

#[test]
fn python_s_digests_and_keys_are_counted() {
    let Some(stand) = Stand::for_programs(&["python3"], Place::Instead) else {
        return;
    };
    let script = "import hashlib, os, ssl\n\
                  for _ in range(100): hashlib.sha512(bytes(100000)).digest()\n\
                  if os.fork() == 0:\n    hashlib.sha512(bytes(1)).digest()\n    os._exit(0)\n\
                  os.wait()\n\
                  hashlib.pbkdf2_hmac('sha256', b'word', b'salt', 1000)";
    Launch::new("python3")
        .unwrap()
        .with(&stand.observed)
        .args(["-c", script])
        .succeed()
        .unwrap();
    let record = Record::read(&stand.record).unwrap();
    let digests: Vec<(u64, u64)> = record
        .processes
        .iter()
        .map(|process| counted(&process.work, "SHA2-512", Operation::Digest))
        .collect();
    assert_eq!(digests, [(100, 10_000_000), (1, 1)]);
    let derived = counted(&record.total(), "PBKDF2", Operation::Kdf);
    assert_eq!(derived, (1, 32));
}
