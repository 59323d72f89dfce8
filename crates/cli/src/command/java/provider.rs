//! `outboard java --provider`: a server's Java uses `outboard.jar`, for what this JDK measures as faster.
//!
//! ```text
//! java … measure ──▶ operations that are faster ──▶ services that Java prefers, and operations that stay with the JDK
//! java … try     ──▶ the provider of each service, and the ledger's proof ──▶ the file
//! ```

use super::plan::{self, File, Own};
use super::report::fold_note;
use super::trial::{LIMIT, OF_THE_SHELL, reason, refuse_others_code};
use super::{Arguments, put, refuse_foreign};
use crate::Failure;
use outboard_accounts::{self as accounts, Account};
use outboard_installation::{self as installation, changeable_by_others, module};
use outboard_jdk::{
    JAR_CLASS, JAR_PROVIDER, Jdk, LEFT_TO_JDK, Provider, Registration, SETTINGS, addition,
};
use outboard_ledger::Snapshot;
use outboard_programs::{Finished, Launch};
use outboard_wire::SYSTEM_DIRECTORY;
use outboard_wording::printable;
use serde::Serialize;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// How long the measurement takes, if nobody says it: some 2 seconds for each operation.
const USUAL_SECONDS: u64 = 40;

/// From this version on, Java warns of native code that no option allows.
const WARNS_SINCE: u32 = 24;
const ALLOW_NATIVE: &str = "--enable-native-access=ALL-UNNAMED";

#[derive(Serialize)]
pub(super) struct Report {
    jdk: PathBuf,
    jdk_version: String,
    jar: PathBuf,
    /// The number of its line.
    number: usize,
    properties: PathBuf,
    /// The lines of Outboard in the security properties.
    lines: String,
    /// What a server is started with.
    options: Vec<String>,
    measured: Vec<Measured>,
    tried: Vec<Tried>,
    changed: bool,
}

/// An operation, with one thread.
#[derive(Debug, PartialEq, Serialize)]
struct Measured {
    operation: String,
    jdk_nanoseconds: u64,
    outboard_nanoseconds: u64,
    /// Whether Outboard does it faster. Else it stays with the JDK.
    faster: bool,
}

/// A service that Java gave to Outboard, and the operation that the ledger then had.
#[derive(Debug, PartialEq, Serialize)]
struct Tried {
    service: String,
    operation: String,
}

/// What the JDK said in its measurement.
#[derive(Debug, Default, PartialEq)]
struct Measurement {
    operations: Vec<Measured>,
    /// The services that Java is to prefer Outboard for.
    services: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Report, Failure> {
    let jdk = plan::jdk(arguments)?;
    let mut file = File {
        path: plan::places(arguments)?.properties,
        text: Vec::new(),
    };
    if !arguments.print {
        refuse_foreign(&file)?;
    }
    let own = Own::of(&jdk)?;
    if let Some(one) = own.security.registered_jars().first() {
        return Err(plan::registered(&jdk, one.number));
    }
    let jar = module::find_jar(arguments.jar.as_deref())?;
    refuse_unfit_jar(
        &jar,
        installation::is_root() && arguments.server_file.is_none(),
    )?;
    let java = jdk.program("java");
    refuse_others_code(&[&java, &jdk.security(), &jdk.home.join("lib/modules"), &jar])?;

    let trial = Trial::new(&jdk, java, &jar, arguments)?;
    let measurement = trial.measure(arguments.time.unwrap_or(USUAL_SECONDS))?;
    let mut report = Report {
        number: own.security.next(),
        options: options(&jdk, &jar, &file.path),
        lines: lines(&jdk, &own, &measurement, &arguments.directory)?,
        jdk_version: jdk.version.clone(),
        jar: jar.clone(),
        properties: file.path.clone(),
        measured: Vec::new(),
        tried: Vec::new(),
        changed: false,
        jdk: jdk.home.clone(),
    };
    report.tried = trial.attempt(&report.lines, &measurement)?;
    report.measured = measurement.operations;
    if !arguments.print {
        file.text = plan::headed(&jdk, " --provider", &report.lines);
        report.changed = put(&file)?;
    }
    Ok(report)
}

/// A server's user must be able to read the jar. Nobody but root may write what all servers load.
fn refuse_unfit_jar(jar: &Path, for_all: bool) -> Result<(), Failure> {
    const ROOT: u32 = 0;
    if !for_all {
        return Ok(());
    }
    let reason = match (module::private(jar), changeable_by_others(jar, ROOT)?) {
        (Some(path), _) => format!(
            "not every user can read it, because of the permissions of {}",
            path.display()
        ),
        (None, Some(path)) => format!(
            "users other than root can change {}, and servers would run their code",
            path.display()
        ),
        (None, None) => return Ok(()),
    };
    Err(format!(
        "cannot use {} for the servers of this system: {reason} (run 'sudo make install', or name a place with \
         --server-file)",
        jar.display()
    )
    .into())
}

fn options(jdk: &Jdk, jar: &Path, properties: &Path) -> Vec<String> {
    let mut options = vec![
        // Of all class paths, the only one that 'java -jar' and each server leave alone.
        format!("-Xbootclasspath/a:{}", jar.display()),
        format!("-Djava.security.properties={}", properties.display()),
    ];
    if warns(jdk) {
        options.push(ALLOW_NATIVE.to_owned());
    }
    options
}

fn warns(jdk: &Jdk) -> bool {
    jdk.feature().is_some_and(|feature| feature >= WARNS_SINCE)
}

/// The lines that register the provider after all others, prefer it for its services, and leave the rest to the JDK.
fn lines(
    jdk: &Jdk,
    own: &Own,
    measurement: &Measurement,
    service: &Path,
) -> Result<String, Failure> {
    let registration = Registration {
        line: Provider {
            name: JAR_CLASS.to_owned(),
            argument: None,
        },
        name: JAR_PROVIDER.to_owned(),
        preferred: measurement.services.clone(),
    };
    let base = (&own.base[..], &own.security);
    let mut lines = addition(base, &registration).map_err(|error| {
        let own = jdk.security();
        format!("cannot add Outboard to {}: {error}", own.display())
    })?;
    let left = measurement.operations.iter().filter(|it| !it.faster);
    let left: Vec<&str> = left.map(|it| it.operation.as_str()).collect();
    lines.push_str(&format!("{LEFT_TO_JDK}={}\n", left.join(", ")));
    if service != Path::new(SYSTEM_DIRECTORY) {
        let service = std::path::absolute(service)?;
        lines.push_str(&format!("{SETTINGS}=service={}\n", service.display()));
    }
    Ok(lines)
}

impl Measurement {
    /// What the jar's main class prints for `measure`, after its first line.
    fn read(text: &str) -> Self {
        let mut found = Self::default();
        for line in text.lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["prefer", service] => found.services.push(service.to_owned()),
                [operation, jdk, outboard, verdict @ ("faster" | "left")] => {
                    if let (Ok(jdk), Ok(outboard)) = (jdk.parse(), outboard.parse()) {
                        found.operations.push(Measured {
                            operation: operation.to_owned(),
                            jdk_nanoseconds: jdk,
                            outboard_nanoseconds: outboard,
                            faster: verdict == "faster",
                        });
                    }
                }
                _ => {}
            }
        }
        found
    }
}

/// A directory in which the JDK tries the jar.
struct Trial<'a> {
    jdk: &'a Jdk,
    java: PathBuf,
    jar: &'a Path,
    directory: TempDir,
    /// Who tries it, if not this user.
    user: Option<(u32, u32)>,
}

impl<'a> Trial<'a> {
    fn new(
        jdk: &'a Jdk,
        java: PathBuf,
        jar: &'a Path,
        arguments: &Arguments,
    ) -> Result<Self, Failure> {
        let directory = tempfile::Builder::new()
            .prefix("outboard-java-")
            .tempdir()?;
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
        Ok(Self {
            jdk,
            java,
            jar,
            directory,
            user,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Starts the jar's main class.
    fn java(
        &self,
        option: Option<OsString>,
        words: &[&str],
        limit: Duration,
    ) -> Result<Finished, Failure> {
        let mut boot = OsString::from("-Xbootclasspath/a:");
        boot.push(self.jar);
        let ledger = self.path("ledger");
        let mut launch = Launch::at(&self.java)
            .arg(boot)
            // On this thread alone: its CPU time is what is measured.
            .arg(format!(
                "-Doutboard.settings=ledger={},cards=0",
                ledger.display()
            ))
            .args(option)
            .args(warns(self.jdk).then_some(ALLOW_NATIVE))
            .arg(JAR_CLASS)
            .args(words)
            .directory(self.directory.path())
            .limit(limit);
        for variable in OF_THE_SHELL {
            launch = launch.env(variable, "");
        }
        if let Some((user, group)) = self.user {
            launch = launch.owned_by(user, group);
        }
        let finished = launch.finish()?;
        if !finished.status.success() {
            let said = reason(&finished);
            return Err(format!("nothing was changed: in {}: {said}", self.name()).into());
        }
        Ok(finished)
    }

    fn name(&self) -> String {
        format!("Java {} in {}", self.jdk.version, self.jdk.home.display())
    }

    fn measure(&self, seconds: u64) -> Result<Measurement, Failure> {
        let limit = LIMIT + 3 * Duration::from_secs(seconds);
        let finished = self.java(None, &["measure", &seconds.to_string()], limit)?;
        let measurement = Measurement::read(&finished.output);
        if measurement.services.is_empty() {
            return Err(format!(
                "nothing was changed: {} does each operation as fast as outboard.jar",
                self.name()
            )
            .into());
        }
        Ok(measurement)
    }

    /// Java takes Outboard for each service that it is to prefer Outboard for, and the ledger shows it.
    fn attempt(&self, lines: &str, measurement: &Measurement) -> Result<Vec<Tried>, Failure> {
        let properties = self.path("provider.security");
        fs::write(&properties, lines)?;
        fs::set_permissions(&properties, PermissionsExt::from_mode(0o644))?;
        let mut option = OsString::from("-Djava.security.properties=");
        option.push(&properties);
        let before = self.counts();
        let finished = self.java(Some(option), &["try"], LIMIT)?;
        let after = self.counts();
        let counted = |operation: &str| {
            let of = |counts: &[(String, u64)]| {
                let row = counts.iter().find(|(name, _)| name == operation);
                row.map_or(0, |(_, count)| *count)
            };
            of(&after) > of(&before)
        };
        let said: Vec<Vec<&str>> = finished
            .output
            .lines()
            .map(|line| line.split(' ').collect())
            .collect();
        let mut tried = Vec::new();
        for service in &measurement.services {
            let line = said.iter().find(|line| line[0] == service);
            match line.map(Vec::as_slice) {
                Some([_, JAR_PROVIDER, operation]) if counted(operation) => tried.push(Tried {
                    service: service.clone(),
                    operation: (*operation).to_owned(),
                }),
                Some([_, provider, operation]) => {
                    return Err(format!(
                        "nothing was changed: {} takes {} for {service}, and the ledger shows no {operation} by Outboard",
                        self.name(),
                        printable(provider)
                    )
                    .into());
                }
                _ => {
                    return Err(format!(
                        "nothing was changed: {} did not try {service}",
                        self.name()
                    )
                    .into());
                }
            }
        }
        Ok(tried)
    }

    fn counts(&self) -> Vec<(String, u64)> {
        let ledger = Snapshot::read(&self.path("ledger"));
        let counts = ledger.map(|ledger| ledger.total()).unwrap_or_default();
        let mut sums: Vec<(String, u64)> = Vec::new();
        for row in counts.rows() {
            let (name, count) = (row.operation.name(), row.work.operations);
            match sums.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum += count,
                None => sums.push((name.to_owned(), count)),
            }
        }
        sums
    }
}

impl Report {
    pub(super) fn text(&self, is_print: bool) -> String {
        let file = self.properties.display();
        let mut text = String::new();
        if is_print {
            for one in &self.measured {
                let Measured {
                    operation,
                    jdk_nanoseconds,
                    outboard_nanoseconds,
                    faster,
                } = one;
                text.push_str(&format!(
                    "{operation:<16} JDK {:>8.1} µs   Outboard {:>8.1} µs   {}\n",
                    *jdk_nanoseconds as f64 * 1e-3,
                    *outboard_nanoseconds as f64 * 1e-3,
                    if *faster {
                        "faster"
                    } else {
                        "stays with the JDK"
                    },
                ));
            }
            text.push_str(&format!("\nThis would be in {file}:\n\n{}\n", self.lines));
        } else if self.changed {
            text.push_str(&format!("{file} registers outboard.jar.\n"));
        } else {
            text.push_str(&format!(
                "{file} already registers outboard.jar; nothing was changed.\n"
            ));
        }
        let left = self.measured.iter().filter(|it| !it.faster);
        let left: Vec<&str> = left.map(|it| it.operation.as_str()).collect();
        let rest = match left.is_empty() {
            true => String::new(),
            false => format!(" {} stay with the JDK.", left.join(", ")),
        };
        text.push_str(&fold_note(&format!(
            "Java {} in {} measured it: {} of {} operations are faster by Outboard.{rest}\n",
            printable(&self.jdk_version),
            self.jdk.display(),
            self.measured.len() - left.len(),
            self.measured.len(),
        )));
        let names: Vec<&str> = self.tried.iter().map(|it| it.service.as_str()).collect();
        text.push_str(&fold_note(&format!(
            "Java tried it: {} by Outboard.\n",
            names.join(", ")
        )));
        text.push_str("Start the server with these options of Java:\n");
        for option in &self.options {
            text.push_str(&format!("  {option}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_java_measured_is_read() {
        let said = "Outboard 0.1.0 serves this Java\np256-sign 350000 12000 faster\np256-verify 90 100 left\n\
                    prefer Signature.SHA256withECDSA\nnonsense\na b c d\nx y z faster\n";
        let found = Measurement::read(said);
        assert_eq!(found.services, ["Signature.SHA256withECDSA"]);
        let verdicts = found.operations.iter();
        let verdicts: Vec<_> = verdicts
            .map(|it| (it.operation.as_str(), it.faster))
            .collect();
        assert_eq!(verdicts, [("p256-sign", true), ("p256-verify", false)]);
    }
}
