//! What the tests share: the program, the OpenSSL versions, configurations without and with Outboard.

#![allow(dead_code)] // each test uses a part

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use outboard_openssl_versions::Version;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_contract");
/// What the system's OpenSSL is called, whichever of version 3 it is.
pub(crate) const SYSTEM: &str = "system";
pub(crate) const SYSTEM_LIBCRYPTO: &str = "libcrypto.so.3";

/// A libcrypto to make the calls of.
pub(crate) struct Candidate {
    pub(crate) name: String,
    pub(crate) libcrypto: PathBuf,
}

/// The system's OpenSSL and each that is built for tests; those alone that `OUTBOARD_CONTRACT_VERSION` asks for.
pub(crate) fn candidates() -> Vec<Candidate> {
    let mut candidates = vec![Candidate {
        name: SYSTEM.into(),
        libcrypto: SYSTEM_LIBCRYPTO.into(),
    }];
    let wanted = env::var("OUTBOARD_CONTRACT_VERSION");
    for version in Version::ALL {
        if wanted
            .as_ref()
            .is_ok_and(|wanted| !version.number().starts_with(wanted))
        {
            continue;
        }
        let number = version.number();
        let (major, rest) = number.split_once('.').unwrap();
        let minor = rest.split('.').next().unwrap();
        let libraries = version.installation().expect("OpenSSL builds").libraries;
        candidates.push(Candidate {
            name: format!("{major}.{minor}"),
            libcrypto: libraries.join(format!("libcrypto.so.{major}")),
        });
    }
    if let Ok(wanted) = wanted {
        candidates.retain(|candidate| candidate.name == wanted);
    }
    candidates
}

/// A scenario's name, and what it needs in its environment.
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) environment: Vec<(String, String)>,
}

/// Those whose names begin so.
pub(crate) fn scenarios(filter: &str) -> Vec<Scenario> {
    let output = Command::new(PROGRAM).arg("--list").output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    let scenarios = list.lines().filter(|line| line.starts_with(filter));
    let scenarios: Vec<_> = scenarios
        .map(|line| {
            let mut words = line.split(' ');
            Scenario {
                name: words.next().unwrap().to_owned(),
                environment: words
                    .filter_map(|word| word.split_once('='))
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect(),
            }
        })
        .collect();
    assert!(
        !scenarios.is_empty(),
        "no scenario's name begins with {filter:?}"
    );
    scenarios
}

/// Writes a configuration: of OpenSSL alone, or with Outboard as `outboard enable` writes it, every operation offered and
/// these settings besides.
pub(crate) fn configuration(directory: &Path, name: &str, settings: Option<&str>) -> PathBuf {
    let head = "openssl_conf = openssl_init\n[openssl_init]\nproviders = provider_sections\n";
    let default =
        "[default_section]\nactivate = 1\n[provider_sections]\ndefault = default_section\n";
    let text = match settings {
        None => format!("{head}{default}"),
        Some(settings) => format!(
            "{head}alg_section = evp_properties\n{default}outboard = outboard_section\n\
             [outboard_section]\nmodule = {}\nactivate = 1\noffer = all\nledger = {}\n{settings}\
             [evp_properties]\ndefault_properties = ?provider=outboard,?outboard.preferred=yes\n",
            module().display(),
            directory.join("ledger").display(),
        ),
    };
    let path = directory.join(format!("{name}.cnf"));
    fs::write(&path, text).unwrap();
    path
}

/// The provider: what `OUTBOARD_CONTRACT_MODULE` names, else what cargo builds beside these tests.
fn module() -> PathBuf {
    let beside = || env::current_exe().unwrap().with_file_name("liboutboard.so");
    let module = env::var_os("OUTBOARD_CONTRACT_MODULE").map_or_else(beside, PathBuf::from);
    assert!(
        module.exists(),
        "cargo builds {} before the tests",
        module.display()
    );
    module
}
