//! The JDK tries what 'outboard java' is about to write: with copies in a directory of their own, and the ledger's proof.
//!
//! Each JDK and each runtime environment without a compiler has `keytool`. When `keytool` makes a key in a file, it signs a
//! certificate with that key as a server signs a handshake: with a software key, by the provider that Java prefers.

use super::Arguments;
use super::plan::{Keys, Plan, Way};
use crate::Failure;
use outboard_accounts::{self as accounts, Account};
use outboard_administration::Login;
use outboard_inspect::card_service::option;
use outboard_installation as installation;
use outboard_installation::changeable_by_others;
use outboard_ledger::Snapshot;
use outboard_programs::{Finished, Launch};
use outboard_wire::SYSTEM_DIRECTORY;
use serde::Serialize;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// What Java did by Outboard.
#[derive(Debug, Serialize)]
pub(super) struct Tried {
    /// A signature algorithm, or the key store.
    what: &'static str,
    /// The operation in the ledger; none for a key store.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<&'static str>,
}

impl Tried {
    pub(super) fn what(&self) -> &'static str {
        self.what
    }
}

/// Signatures: what `keytool` is asked for, and what the ledger then has.
const SIGNATURES: [(&str, &[&str], &str); 3] = [
    (
        "SHA256withRSA",
        &["-keyalg", "RSA", "-keysize", "2048"],
        "rsa-2048-sign",
    ),
    (
        "RSASSA-PSS",
        &["-keyalg", "RSA", "-keysize", "2048"],
        "rsa-2048-sign",
    ),
    (
        "SHA256withECDSA",
        &["-keyalg", "EC", "-groupname", "secp256r1"],
        "p256-sign",
    ),
];

/// A first start of a JDK from a slow disk takes seconds.
const LIMIT: Duration = Duration::from_secs(120);

/// Lets the JDK try the plan.
///
/// # Errors
/// If it does not work, with Java's own reason.
pub(super) fn run(plan: &Plan, arguments: &Arguments) -> Result<Vec<Tried>, Failure> {
    let keytool = plan.jdk.program("keytool");
    refuse_others_code(&[
        &keytool,
        &plan.jdk.security(),
        &plan.jdk.home.join("lib/modules"),
    ])?;
    let trial = Trial::new(plan, arguments, keytool)?;
    match &plan.keys {
        Keys::Accelerator => SIGNATURES
            .into_iter()
            .map(|signature| trial.sign(signature))
            .collect(),
        Keys::Coprocessor => trial.opens(vec!["-storepass".into(), "".into()], None),
        Keys::Token(token) => {
            let mut password = vec!["-storepass".into(), "".into()];
            let mut expected = None;
            match (&token.user, &arguments.pin_file) {
                (Login::Grant, _) => {}
                (_, Some(file)) => {
                    password = vec!["-storepass:file".into(), std::path::absolute(file)?.into()]
                }
                // Without a PIN, Java does not even try to log in: no try is counted.
                (_, None) => {
                    password.clear();
                    expected = Some(NO_PASSWORD);
                }
            }
            trial.opens(password, expected)
        }
    }
}

/// What keytool says of a token with a PIN, if it has none to try.
const NO_PASSWORD: &str = "load failed";

/// Root runs no program that another user could have written.
fn refuse_others_code(files: &[&Path]) -> Result<(), Failure> {
    const ROOT: u32 = 0;
    if !installation::is_root() {
        return Ok(());
    }
    for file in files {
        let unreadable = |error| format!("cannot read {}: {error}", file.display());
        if let Some(path) = changeable_by_others(file, ROOT).map_err(unreadable)? {
            let path = path.display();
            return Err(format!(
                "users other than root can change {path}, and root would run their code (give it to root, or run \
                 this as its owner with --server-file)"
            )
            .into());
        }
    }
    Ok(())
}

/// A directory with copies of both files.
struct Trial<'a> {
    plan: &'a Plan,
    arguments: &'a Arguments,
    keytool: PathBuf,
    directory: TempDir,
    /// Who tries it, if not this user.
    user: Option<(u32, u32)>,
    properties: OsString,
}

impl<'a> Trial<'a> {
    fn new(plan: &'a Plan, arguments: &'a Arguments, keytool: PathBuf) -> Result<Self, Failure> {
        let directory = tempfile::Builder::new()
            .prefix("outboard-java-")
            .tempdir()?;
        let configuration = directory.path().join("java.cfg");
        let properties = directory.path().join("java.security");
        let lines = plan.lines_naming(&configuration)?;
        for (file, text) in [
            (&configuration, plan.configuration.text.clone()),
            (&properties, plan.properties_with(&lines)),
        ] {
            fs::write(file, text)?;
            fs::set_permissions(file, PermissionsExt::from_mode(0o644))?;
        }
        let user = match &arguments.user {
            None => None,
            Some(name) => {
                let uid = accounts::find(Account::User, name)?;
                let gid =
                    accounts::group_of(uid).ok_or_else(|| format!("user {name} has no group"))?;
                chown(directory.path(), Some(uid), Some(gid)).map_err(|error| {
                    format!("cannot act as {name}: {error}{}", installation::remedy())
                })?;
                Some((uid, gid))
            }
        };
        // The JDK's own properties come first. A whole file stands in the place of the JDK's own.
        let equals = match plan.way {
            Way::Server => "=",
            Way::Jdk => "==",
        };
        let mut option = OsString::from(format!("-J-Djava.security.properties{equals}"));
        option.push(&properties);
        Ok(Self {
            plan,
            arguments,
            keytool,
            user,
            properties: option,
            directory,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn keytool(&self, words: &[OsString]) -> Result<Finished, Failure> {
        let mut settings = format!("ledger={}", self.path("ledger").display());
        let service = &self.arguments.directory;
        if service != Path::new(SYSTEM_DIRECTORY) {
            settings.push_str(&format!(
                ", service={}",
                std::path::absolute(service)?.display()
            ));
        }
        let mut launch = Launch::at(&self.keytool)
            .arg(&self.properties)
            .args(words)
            .directory(self.directory.path())
            .env("OUTBOARD_PKCS11", settings)
            .limit(LIMIT);
        // Of the administrator's own shell.
        for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"] {
            launch = launch.env(variable, "");
        }
        if let Some((user, group)) = self.user {
            launch = launch.owned_by(user, group);
        }
        Ok(launch.finish()?)
    }

    /// Makes a key in a file and signs with it.
    fn sign(
        &self,
        (algorithm, key, operation): (&'static str, &[&str], &'static str),
    ) -> Result<Tried, Failure> {
        let before = self.counted(operation);
        let store = self.path(algorithm);
        let mut words: Vec<OsString> = [
            "-genkeypair",
            "-alias",
            "trial",
            "-dname",
            "CN=trial",
            "-sigalg",
            algorithm,
        ]
        .iter()
        .chain(key)
        // The key is thrown away. Only this user may enter the directory.
        .chain(&[
            "-storetype",
            "PKCS12",
            "-storepass",
            "changeit",
            "-keystore",
        ])
        .map(OsString::from)
        .collect();
        words.push(store.into());
        let finished = self.keytool(&words)?;
        if !finished.status.success() {
            return Err(self.failed(&format!("{algorithm} fails"), &finished));
        }
        if self.counted(operation) == before {
            return Err(format!(
                "nothing was changed: {} signs by {algorithm} without Outboard, as the ledger shows",
                self.java()
            )
            .into());
        }
        Ok(Tried {
            what: algorithm,
            operation: Some(operation),
        })
    }

    /// Opens the key store. `expected`: what keytool says where it may fail.
    fn opens(
        &self,
        password: Vec<OsString>,
        expected: Option<&str>,
    ) -> Result<Vec<Tried>, Failure> {
        let words = [
            "-list",
            "-keystore",
            "NONE",
            "-storetype",
            "PKCS11",
            "-providerName",
        ];
        let mut words: Vec<OsString> = words.iter().map(OsString::from).collect();
        words.push(self.plan.pkcs11.provider().into());
        words.extend(password);
        let finished = self.keytool(&words)?;
        let is_expected = expected.is_some_and(|text| reason(&finished).ends_with(text));
        if finished.status.success() || is_expected {
            let what = if is_expected {
                "the slot"
            } else {
                "the key store"
            };
            return Ok(vec![Tried {
                what,
                operation: None,
            }]);
        }
        Err(self.failed("the key store cannot be opened", &finished))
    }

    fn counted(&self, operation: &str) -> u64 {
        let ledger = Snapshot::read(&self.path("ledger"));
        let counts = ledger.map(|ledger| ledger.total()).unwrap_or_default();
        let rows = counts
            .rows()
            .filter(|row| row.operation.name() == operation);
        rows.map(|row| row.work.operations).sum()
    }

    fn java(&self) -> String {
        let jdk = &self.plan.jdk;
        format!("Java {} in {}", jdk.version, jdk.home.display())
    }

    fn failed(&self, what: &str, finished: &Finished) -> Failure {
        let mut text = format!(
            "nothing was changed: in {}, {what}: {}",
            self.java(),
            reason(finished)
        );
        if let Some(remedy) = self.remedy(&text) {
            text.push_str(&format!(" ({remedy})"));
        }
        text.into()
    }

    /// Where a user without a grant sees no slot, and one with a wrong PIN no objects.
    fn remedy(&self, said: &str) -> Option<String> {
        let option = option(&self.arguments.directory);
        let user = self
            .user
            .map_or(rustix::process::geteuid().as_raw(), |(user, _)| user);
        let user = accounts::name(Account::User, user);
        match &self.plan.keys {
            Keys::Accelerator => None,
            _ if said.ends_with(NO_PASSWORD) => Some(match self.arguments.pin_file {
                Some(_) => "is the PIN right? 'outboard token list' counts wrong ones".to_owned(),
                None => {
                    format!("'outboard service status{option}' says whether the service answers")
                }
            }),
            Keys::Coprocessor => Some(format!("'outboard service status{option}'")),
            Keys::Token(token) => Some(format!(
                "{user} needs a grant: 'outboard token grant {} --user {user}{option}'; or name the server's user \
                 with --user",
                token.name
            )),
        }
    }
}

/// The last line that keytool printed.
fn reason(finished: &Finished) -> String {
    let text = [&finished.errors[..], &finished.output].join("\n");
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.unwrap_or("it gives no reason")
        .trim_start_matches("keytool error: ")
        .to_owned()
}
