//! Why a JDK's servers, or a process, do not use `outboard.jar`.

use super::options::Options;
use super::process::Java;
use super::registration::Seen;
use super::{Finding, SUBJECT};
use outboard_jdk::{JAR_CLASS, JAR_PROVIDER, RegisteredJar};
use outboard_wording::printable;
use std::fs;
use std::path::{Path, PathBuf};

/// The services that full handshakes ask for: one of them is what Java must prefer Outboard for.
const OF_HANDSHAKES: [&str; 8] = [
    "Signature.RSASSA-PSS",
    "Signature.SHA256withRSA",
    "Signature.SHA256withECDSA",
    "Signature.SHA384withECDSA",
    "KeyAgreement.XDH",
    "KeyAgreement.ECDH",
    "KeyPairGenerator.XDH",
    "KeyPairGenerator.EC",
];

const WRITE: &str =
    "run 'outboard java --provider', and start the server with the options that the command prints";

/// The library in a process, which its file's removal does not end.
pub(super) fn is_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("liboutboard_java.so")
}

/// What is to be said of a line that registers the jar's provider.
pub(super) fn of_one(seen: &Seen, one: RegisteredJar) -> Vec<Finding> {
    let RegisteredJar { number, counts } = one;
    if !counts {
        let next = seen.security.next();
        return vec![
            Finding::problem(
                SUBJECT,
                format!("Java ignores security.provider.{number}, which registers outboard.jar"),
            )
            .because(format!(
                "{} has no line security.provider.{next}: Java stops at the first missing number",
                seen.source
            ))
            .remedy("run 'outboard java --provider' again, which counts the providers of this JDK"),
        ];
    }
    let mut findings = Vec::new();
    let is_preferred = |service: &&str| seen.security.prefers(JAR_PROVIDER, service);
    if number > 1 && !OF_HANDSHAKES.iter().any(is_preferred) {
        findings.push(
            Finding::problem(SUBJECT, "Java does not prefer outboard.jar for anything in a handshake")
                .because(format!(
                    "jdk.security.provider.preferred in {} does not name it, and other providers come first",
                    seen.source
                ))
                .remedy(WRITE),
        );
    }
    if let Some(process) = seen.process {
        findings.extend(process.jar(seen));
    }
    if findings.iter().any(Finding::is_problem) {
        return findings;
    }
    let left = &seen.security.left_to_jdk;
    let mut what = format!("security.provider.{number} registers outboard.jar");
    if !left.is_empty() {
        let left: Vec<String> = left.iter().map(|name| printable(name)).collect();
        what.push_str(&format!(
            "; {} stay with the JDK, which does them as fast",
            left.join(", ")
        ));
    }
    findings.push(Finding::good(SUBJECT, what));
    findings
}

impl Java {
    /// Whether this process finds the jar, and can load its library.
    fn jar(&self, seen: &Seen) -> Vec<Finding> {
        if seen.is_loaded {
            return Vec::new();
        }
        let options = seen.options;
        let Some(jar) = options.jar() else {
            // A program may find it elsewhere: on a module path, or in a class path of its own.
            let what = format!("no option of {} names outboard.jar", self.name());
            return vec![
                Finding::problem(SUBJECT, what)
                    .because(format!(
                        "Java passes over a provider whose class it does not find ({JAR_CLASS}), without a message"
                    ))
                    .remedy(format!("{WRITE} (-Xbootclasspath/a:…/outboard.jar)")),
            ];
        };
        let mut findings: Vec<Finding> = self.unreadable(&jar).into_iter().collect();
        if (seen.read)(&jar).is_err() && findings.is_empty() {
            let what = format!("cannot read {}", printable(&jar.display().to_string()));
            findings.push(
                Finding::problem(SUBJECT, what)
                    .because("an option of the server names it, and there is no such file that can be read")
                    .remedy("run 'make install' where a JDK is installed, then restart the server"),
            );
        }
        findings.extend(self.cannot_load(options));
        findings
    }

    /// Whether the directory of temporary files lets nobody load a library.
    fn cannot_load(&self, options: &Options) -> Option<Finding> {
        if options.has_library {
            return None;
        }
        let directory = options.temporary.clone().unwrap_or(PathBuf::from("/tmp"));
        // Not by the process's own root: it could have put something there that never answers.
        let mounts = fs::read_to_string(format!("/proc/{}/mountinfo", self.pid())).ok()?;
        let is_noexec = is_noexec(&mounts, &directory);
        let directory = printable(&directory.display().to_string());
        is_noexec.then(|| {
            Finding::problem(SUBJECT, format!("Java cannot load a library from {directory}"))
                .because(
                    "it is mounted noexec, and the library of outboard.jar is loaded from the directory of temporary files",
                )
                .remedy("start the server with -Djava.io.tmpdir=DIRECTORY, or with -Doutboard.library=FILE")
        })
    }
}

/// Whether the mount of a directory has the option noexec (`/proc/PID/mountinfo`, proc(5)).
fn is_noexec(mounts: &str, directory: &Path) -> bool {
    let mount = |line: &str| {
        let mut columns = line.split(' ').skip(4).map(str::to_owned);
        Some((PathBuf::from(columns.next()?), columns.next()?))
    };
    let on_its_way = mounts
        .lines()
        .filter_map(mount)
        .filter(|(point, _)| directory.starts_with(point));
    // Of two mounts on one point, the later one is on top.
    let nearest = on_its_way.max_by_key(|(point, _)| point.components().count());
    nearest.is_some_and(|(_, options)| options.split(',').any(|option| option == "noexec"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_decides() {
        let mounts = "21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n\
                      30 21 0:25 / /tmp rw,nosuid,noexec - tmpfs tmpfs rw\n\
                      31 30 0:26 / /tmp/java rw - tmpfs tmpfs rw\nnonsense\n";
        for (directory, expected) in [
            ("/tmp", true),
            ("/tmp/x", true),
            ("/tmp/java", false),
            ("/tmpx", false),
            ("relative", false),
        ] {
            let found = is_noexec(mounts, Path::new(directory));
            assert_eq!(found, expected, "{directory}");
        }
    }
}
