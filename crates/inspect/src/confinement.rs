//! SELinux and AppArmor: whether one of them has denied something to Outboard.

use crate::Finding;
use rustix::fs::getxattr;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Where denials are written, by whichever service a system has.
const LOGS: &[&str] = &[
    "/var/log/audit/audit.log",
    "/var/log/kern.log",
    "/var/log/syslog",
    "/var/log/messages",
];

/// The part at the end of a log that is searched, in bytes.
const RECENT: u64 = 4 << 20;

/// What confines programs on this system, and the denials that concern `module`.
pub(crate) fn examine(module: Option<&Path>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let selinux = first_byte("/sys/fs/selinux/enforce") == Some(b'1');
    let apparmor = first_byte("/sys/module/apparmor/parameters/enabled") == Some(b'Y');
    if !selinux && !apparmor {
        return findings;
    }
    let name = if selinux { "SELinux" } else { "AppArmor" };
    let denials: Vec<String> = LOGS
        .iter()
        .flat_map(|log| denials(&end_of(Path::new(log))))
        .collect();
    match denials.last() {
        Some(last) => findings.push(
            Finding::problem(
                "confinement",
                format!("{name} denied a program access to Outboard"),
            )
            .because(last)
            .remedy(match selinux {
                true => {
                    "run 'restorecon -v' on the module, and allow remaining denials by a policy \
                             (audit2allow)"
                }
                false => {
                    "allow it in the program's profile in /etc/apparmor.d, then reload the profile"
                }
            }),
        ),
        None => findings.push(Finding::good(
            "confinement",
            format!(
                "{name} is on; the logs show no denial for \
                                                                    Outboard"
            ),
        )),
    }
    if let Some(label) = module.filter(|_| selinux).and_then(label)
        && !label.contains("lib_t")
    {
        findings.push(
            Finding::problem(
                "confinement",
                format!("the module has the label {label}, so confined programs may not load it"),
            )
            .remedy("run 'restorecon -v' on it, or 'make install'"),
        );
    }
    findings
}

/// The lines of a log with a denial that concerns Outboard.
fn denials(log: &str) -> Vec<String> {
    let concerns = |line: &&str| {
        let denied = line.contains("apparmor=\"DENIED\"")
            || (line.contains("avc:") && line.contains("denied"));
        denied && line.contains("outboard")
    };
    log.lines().filter(concerns).map(str::to_owned).collect()
}

fn end_of(file: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(file)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(RECENT)))?;
        let mut text = Vec::new();
        file.take(RECENT).read_to_end(&mut text)?;
        Ok(text)
    };
    // An unreadable log shows no denial, and the finding says so.
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

fn label(file: &Path) -> Option<String> {
    let mut label = [0; 1024];
    let length = getxattr(file, c"security.selinux", &mut label[..]).ok()?;
    let label = String::from_utf8_lossy(&label[..length]);
    Some(label.trim_end_matches('\0').to_owned())
}

fn first_byte(file: &str) -> Option<u8> {
    std::fs::read(file).ok()?.first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denials_that_concern_outboard_are_found() {
        let log = "\
type=AVC msg=audit(1.1:1): avc:  denied  { read write } for pid=7 comm=\"sshd\" name=\"outboard.0\" dev=\"tmpfs\"
type=AVC msg=audit(1.2:2): avc:  denied  { read } for pid=7 comm=\"sshd\" name=\"other\"
audit: type=1400 apparmor=\"DENIED\" operation=\"file_mmap\" name=\"/usr/lib/ossl-modules/outboard.so\" comm=\"nginx\"
audit: type=1400 apparmor=\"ALLOWED\" name=\"/usr/lib/ossl-modules/outboard.so\"
";
        let found = denials(log);
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("outboard.0") && found[1].contains("nginx"));
    }
}
