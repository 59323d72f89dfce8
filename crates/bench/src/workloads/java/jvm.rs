//! The contenders: JVMs, each with the provider of its set-up.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use outboard_programs::{Launch, find};

use crate::Failure;
use crate::installation::{find_jar, find_pkcs11};
use crate::suite::{Options, Session};
use crate::workloads::process::{Process, Window};
use crate::workloads::token::module;

/// A name, and the content of that file of the program that each JVM runs.
macro_rules! source {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../java/", $name)))
    };
}

const SOURCES: [(&str, &str); 6] = [
    source!("Caller.java"),
    source!("Handshakes.java"),
    source!("Identity.java"),
    source!("Lone.java"),
    source!("Operations.java"),
    source!("Threads.java"),
];

/// What serves a JVM's cryptography.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Setup {
    /// Its own code.
    Jdk,
    /// The accelerator slot of our PKCS #11 module, as `outboard java` has it.
    Accelerator,
    /// A provider in a jar, before all others.
    Jar {
        name: String,
        jar: PathBuf,
        class: &'static str,
    },
}

/// Ours among the jars.
const OURS: &str = "outboard.jar";

/// Providers of others, by their names among the peers.
const OTHERS: [(&str, &str); 2] = [
    (
        "accp",
        "com.amazon.corretto.crypto.provider.AmazonCorrettoCryptoProvider",
    ),
    ("conscrypt", "org.conscrypt.OpenSSLProvider"),
];

impl Setup {
    /// All that are there, the baseline first.
    pub(super) fn all(command: &Path, options: &Options) -> Vec<Self> {
        let mut all = vec![Self::Jdk, Self::Accelerator];
        all.extend(find_jar(command).map(|jar| Self::Jar {
            name: OURS.to_owned(),
            jar,
            class: "org.outboard.provider.Outboard",
        }));
        for peer in &options.peers {
            let known = OTHERS.iter().find(|(name, _)| *name == peer.name);
            if let (Some(jar), Some((_, class))) = (peer.jar(), known) {
                all.push(Self::Jar {
                    name: peer.name.clone(),
                    jar: jar.to_owned(),
                    class,
                });
            }
        }
        all
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Jdk => "JDK",
            Self::Accelerator => "accelerator",
            Self::Jar { name, .. } => name,
        }
    }

    /// Whether Outboard serves it.
    pub(super) fn is_ours(&self) -> bool {
        match self {
            Self::Jdk => false,
            Self::Accelerator => true,
            Self::Jar { name, .. } => name == OURS,
        }
    }
}

/// What all JVMs share: the compiled program, and the files of `outboard java`.
pub(super) struct Program {
    classes: PathBuf,
    properties: PathBuf,
}

impl Program {
    pub(super) fn make(session: &Session<'_>) -> Result<Self, Failure> {
        let classes = session.workplace.join("java");
        fs::create_dir_all(&classes)?;
        let mut compile = Launch::at(&find("javac")?).args(["--release", "17", "-d"]);
        compile = compile.arg(&classes);
        for (name, text) in SOURCES {
            let file = session.workplace.join(name);
            fs::write(&file, text)?;
            compile = compile.arg(file);
        }
        compile.succeed()?;
        let properties = session.workplace.join("java.security");
        let command = &session.installation.command;
        Launch::at(command)
            .args(["java", "--server-file"])
            .arg(&properties)
            .arg("--module")
            .arg(find_pkcs11(command)?)
            .succeed()?;
        Ok(Self {
            classes,
            properties,
        })
    }

    /// Starts the JVM of a set-up, whose keys are those of the workplace.
    pub(super) fn start(
        &self,
        session: &Session<'_>,
        setup: &Setup,
        ledger: &Path,
    ) -> Result<Jvm, Failure> {
        let mut command = Command::new(find("java")?);
        let settings = module::settings(session, "", ledger);
        let mut classes = vec![self.classes.clone()];
        let mut provider = None;
        match setup {
            Setup::Jdk => {}
            Setup::Accelerator => {
                let properties = self.properties.display();
                command.arg(format!("-Djava.security.properties={properties}"));
                command.env("OUTBOARD_PKCS11", settings);
            }
            Setup::Jar { jar, class, .. } => {
                command.arg(format!("-Doutboard.settings={settings}"));
                classes.push(jar.clone());
                provider = Some(*class);
            }
        }
        command.arg("-cp").arg(std::env::join_paths(classes)?);
        command.arg("Caller").arg(session.workplace.path());
        command.args(provider);
        Process::start(command).map(Jvm)
    }
}

/// A JVM that waits for tasks.
pub(super) struct Jvm(Process);

impl Jvm {
    /// Does a task for so many milliseconds.
    pub(super) fn run(&mut self, task: &str, milliseconds: u64) -> Result<Window, Failure> {
        self.0.run(&format!("{milliseconds} {task}"))
    }
}
