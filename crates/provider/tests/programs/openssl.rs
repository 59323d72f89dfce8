//! The openssl command, of the system and of the versions that we build, in sessions: scripts that
//! use it as people do, with and without Outboard. See `sessions/prelude.sh`.

use std::path::PathBuf;
use std::time::Duration;

use outboard_engine::Operation;
use outboard_openssl_versions::Version;
use outboard_programs::{Launch, find};

use crate::stand::{Stand, source};

/// The openssl command to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenSslOf {
    System,
    Built(Version),
}

macro_rules! sessions {
    ($($session:ident: $operations:expr;)*) => {
        mod system {
            use super::*;
            $(#[test] fn $session() { run(OpenSslOf::System, stringify!($session), $operations); })*
        }
        mod version_3_5 {
            use super::*;
            $(#[test] fn $session() {
                run(OpenSslOf::Built(Version::V3_5), stringify!($session), $operations);
            })*
        }
        mod version_4_0 {
            use super::*;
            $(#[test] fn $session() {
                run(OpenSslOf::Built(Version::V4_0), stringify!($session), $operations);
            })*
        }
    };
}

// What Outboard must have done in each, so that no session passes without it.
sessions! {
    list: &[];
    keys: &[P256Keygen, P384Keygen, P521Keygen, X25519Keygen, Ed25519Keygen];
    signatures: SIGNATURES;
    agreement: &[P256Derive, P384Derive, P521Derive, X25519Derive];
    encryption: &[]; // RSA decryption is left to the default provider.
    odd_keys: &[Rsa2048Sign, Rsa3072Sign];
    certificates: SIGNATURES;
    cms: &[Aes128GcmSeal, Aes192GcmSeal, Aes256GcmSeal, Aes128GcmOpen, Aes192GcmOpen, Aes256GcmOpen];
    tls: &[
        Rsa2048Sign, Rsa3072Sign, Rsa4096Sign, P256Sign, P384Sign, P521Sign, Ed25519Sign,
        P256Derive, P384Derive, P521Derive, X25519Derive,
        Aes128GcmSeal, Aes128GcmOpen, Aes256GcmSeal, Aes256GcmOpen,
    ];
}

use Operation::*;

const SIGNATURES: &[Operation] = &[
    Rsa2048Sign,
    Rsa2048Verify,
    Rsa3072Sign,
    Rsa3072Verify,
    Rsa4096Sign,
    Rsa4096Verify,
    P256Sign,
    P256Verify,
    P384Sign,
    P384Verify,
    P521Sign,
    P521Verify,
    Ed25519Sign,
    Ed25519Verify,
];

fn run(openssl: OpenSslOf, session: &str, operations: &[Operation]) {
    let (program, libraries) = match openssl {
        OpenSslOf::System => (find("openssl").unwrap(), PathBuf::new()),
        OpenSslOf::Built(version) => {
            let built = version.installation().unwrap();
            (built.programs.join("openssl"), built.libraries)
        }
    };
    let stand = Stand::new();
    let home = stand.workplace.join("session");
    std::fs::create_dir(&home).unwrap();
    let sessions = source("sessions");
    let script = format!(
        "source {}\nsource {}",
        sessions.join("prelude.sh").display(),
        sessions.join(format!("{session}.sh")).display(),
    );
    let finished = Launch::new("bash")
        .unwrap()
        .args(["-c", &script])
        .directory(&home)
        .env("OPENSSL", program)
        .env("LIBRARIES", libraries)
        .env("STOCK", stand.stock.configuration())
        .env("OUTBOARD", stand.outboard.configuration())
        .limit(Duration::from_secs(600))
        .finish()
        .unwrap();
    assert!(
        finished.status.success(),
        "session {session} with {openssl:?}: {}\n{}\n{}",
        finished.status,
        finished.output,
        finished.errors,
    );
    stand.assert_served(operations);
}
