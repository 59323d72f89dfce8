//! Where a contender's module is, and what its process needs.

use std::fs;
use std::path::{Path, PathBuf};

use outboard_programs::{Launch, OpenSsl, find};

use crate::Failure;
use crate::installation::find_pkcs11;
use crate::suite::Session;

/// A contender.
pub(super) struct Module {
    pub(super) file: PathBuf,
    /// The label of its token.
    pub(super) token: &'static str,
    pub(super) pin: Option<&'static str>,
    pub(super) variables: Vec<(&'static str, String)>,
}

/// The PIN of SoftHSM2's token, which has nothing to protect.
const PIN: &str = "outboard";

/// Where Debian and others keep SoftHSM2's module.
const SOFTHSM2: [&str; 3] = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
    "/usr/lib64/softhsm/libsofthsm2.so",
];

impl Module {
    /// SoftHSM2 with a new token, over stock OpenSSL.
    pub(super) fn softhsm2(session: &Session<'_>) -> Result<Self, Failure> {
        let file = SOFTHSM2.iter().map(Path::new).find(|file| file.exists());
        let file = file.ok_or("SoftHSM2's module is not where it should be")?;
        let tokens = session.workplace.join("softhsm2");
        let configuration = session.workplace.join("softhsm2.conf");
        let mut variables = vec![("SOFTHSM2_CONF", configuration.display().to_string())];
        variables.push(with(&session.stock));
        if !tokens.exists() {
            fs::create_dir(&tokens)?;
            let settings = format!("directories.tokendir = {}\n", tokens.display());
            fs::write(&configuration, settings)?;
            let words = ["--init-token", "--free", "--label", "softhsm2", "--so-pin"];
            let init = Launch::at(&find("softhsm2-util")?).args(words);
            let init = init.args([PIN, "--pin", PIN]);
            let init = variables
                .iter()
                .fold(init, |init, (name, value)| init.env(name, value));
            init.succeed()?;
        }
        Ok(Self {
            file: file.to_owned(),
            token: "softhsm2",
            pin: Some(PIN),
            variables,
        })
    }

    /// Ours: the token of that slot, with these settings and a ledger.
    pub(super) fn ours(
        session: &Session<'_>,
        token: &'static str,
        settings: &str,
        ledger: &Path,
    ) -> Result<Self, Failure> {
        let settings = self::settings(session, settings, ledger);
        Ok(Self {
            file: find_pkcs11(&session.installation.command)?,
            token,
            pin: None,
            variables: vec![("OUTBOARD_PKCS11", settings), with(&session.stock)],
        })
    }
}

/// What our module reads: these settings, a ledger, and the profile.
pub(in crate::workloads) fn settings(session: &Session<'_>, more: &str, ledger: &Path) -> String {
    let profile = session.installation.outboard.profile.as_deref();
    let profile = profile.map(|file| format!(", profile={}", file.display()));
    format!(
        "{more}ledger={}{}",
        ledger.display(),
        profile.unwrap_or_default()
    )
}

/// What lets a process have that OpenSSL.
fn with(openssl: &OpenSsl) -> (&'static str, String) {
    let configuration = openssl.configuration().display().to_string();
    ("OPENSSL_CONF", configuration)
}
