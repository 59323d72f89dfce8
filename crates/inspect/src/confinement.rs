//! SELinux and AppArmor: whether one of them has denied something to Outboard, and the line that ends it.
//! (docs/confinement.md lists what Outboard needs.)

use crate::Finding;
use rustix::fs::getxattr;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};

/// Where denials are written, by whichever service a system has.
const LOGS: &[&str] = &[
    "/var/log/audit/audit.log",
    "/var/log/kern.log",
    "/var/log/syslog",
    "/var/log/messages",
];

/// The part at the end of a log that is searched, in bytes.
const RECENT: u64 = 4 << 20;

/// The same of the journal, in lines.
const RECENT_LINES: &str = "20000";

/// Where packages and `make install` put what these systems need to know of Outboard.
const SHARES: [&str; 2] = ["/usr/share/outboard", "/usr/local/share/outboard"];

/// What confines programs on this system, and the denials that concern `module`.
pub(crate) fn examine(module: Option<&Path>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let selinux = first_byte("/sys/fs/selinux/enforce") == Some(b'1');
    let apparmor = first_byte("/sys/module/apparmor/parameters/enabled") == Some(b'Y');
    if !selinux && !apparmor {
        return findings;
    }
    let name = if selinux { "SELinux" } else { "AppArmor" };
    let mut logs: String = LOGS.iter().map(|log| end_of(Path::new(log))).collect();
    logs.push_str(&journal());
    findings.extend(denied(&logs, &System::here()));
    if findings.is_empty() {
        let what = format!("{name} is on; the logs show no denial for Outboard");
        findings.push(Finding::good("confinement", what));
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

/// What a remedy depends on.
struct System {
    /// Where Outboard's own files are.
    share: &'static str,
    /// SELinux has Outboard's policy module.
    has_policy: bool,
    /// The names of the files in `/etc/apparmor.d`.
    profiles: Vec<String>,
}

impl System {
    fn here() -> Self {
        let has = |share: &&str| Path::new(share).join("apparmor").exists();
        Self {
            share: SHARES.into_iter().find(has).unwrap_or(SHARES[0]),
            has_policy: below("/var/lib/selinux")
                .iter()
                .map(|store| format!("/var/lib/selinux/{store}/active/modules"))
                .flat_map(|modules| {
                    let priorities = below(&modules).into_iter();
                    priorities.map(move |priority| format!("{modules}/{priority}/outboard"))
                })
                .any(|module| Path::new(&module).exists()),
            profiles: below("/etc/apparmor.d"),
        }
    }
}

/// One finding for each program and remedy, with the last line that tells of it.
fn denied(logs: &str, system: &System) -> Vec<Finding> {
    let mut findings = BTreeMap::new();
    for denial in logs.lines().filter_map(Denial::parse) {
        let remedy = denial.remedy(system);
        findings.insert((denial.confined, remedy), denial);
    }
    findings
        .into_iter()
        .map(|((confined, remedy), denial)| {
            let (by, object) = (denial.by(), denial.object);
            let what = format!("{by} denied {confined} access to {object}");
            Finding::problem("confinement", what)
                .because(denial.line)
                .remedy(remedy)
        })
        .collect()
}

/// A line of a log that tells of a denial that concerns Outboard.
struct Denial<'a> {
    line: &'a str,
    /// AppArmor's profile, or SELinux's domain.
    confined: &'a str,
    /// A file or a socket's name. SELinux tells its last part only.
    object: &'a str,
    /// SELinux's type of it.
    label: Option<&'a str>,
}

impl<'a> Denial<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let apparmor = line.contains("apparmor=\"DENIED\"");
        let selinux = line.contains("avc:") && line.contains("denied");
        // user:role:type:level
        let label = |key| field(line, key)?.split(':').nth(2);
        let target = label("tcontext").filter(|_| selinux);
        // Of a file without our name, SELinux tells no directory.
        let is_ours = |name: &&str| {
            let by_label = target.is_some_and(|target| target.starts_with("outboard_"));
            name.contains("outboard") || by_label || (target.is_some() && *name == "profile.json")
        };
        let object = ["name", "path", "peer_addr", "addr"]
            .iter()
            .filter_map(|key| field(line, key))
            .find(is_ours)?;
        let confined = match target {
            Some(_) => label("scontext")?,
            None => field(line, "profile").filter(|_| apparmor)?,
        };
        Some(Self {
            line,
            confined,
            object,
            label: target,
        })
    }

    fn by(&self) -> &'static str {
        match self.label {
            Some(_) => "SELinux",
            None => "AppArmor",
        }
    }

    fn remedy(&self, system: &System) -> String {
        // Every user may write into some logs: no word of theirs goes into a command.
        let is_plain = |text: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._+-".contains(&byte);
            !text.starts_with('-') && text.bytes().all(plain) && !text.contains("..")
        };
        let share = system.share;
        let confined = self.confined;
        match self.label {
            None => {
                // A profile within another is in the same file.
                let profile = confined.split("//").next().unwrap_or_default();
                let file = profile.trim_start_matches('/').replace('/', ".");
                let include = match self.needs_keys() {
                    true => "outboard-keys",
                    false => "outboard",
                };
                let line = format!("include if exists \"{share}/apparmor/{include}\"");
                if is_plain(profile) && system.profiles.contains(&file) {
                    format!(
                        "add '{line}' to /etc/apparmor.d/local/{file}, then run \
                         'apparmor_parser -r /etc/apparmor.d/{file}'"
                    )
                } else {
                    format!(
                        "add '{line}' to that profile in /etc/apparmor.d, then reload the profile \
                         ('apparmor_parser -r FILE')"
                    )
                }
            }
            Some(label) if label.starts_with("outboard_") && is_plain(confined) => format!(
                "allow it: echo '(typeattributeset outboard_program ({confined}))' \
                 >outboard-{confined}.cil && semodule -i outboard-{confined}.cil"
            ),
            Some(_) if system.has_policy => {
                "run 'restorecon -RFv /var/lib/outboard /run/outboard' and 'restorecon -Fv \
                 /dev/shm/outboard*', then restart the program"
                    .to_owned()
            }
            Some(_) => format!("load Outboard's policy module: sh {share}/selinux/load.sh"),
        }
    }

    /// It is about the card service's sockets.
    fn needs_keys(&self) -> bool {
        self.object.contains("run/outboard")
    }
}

/// A value of a line: `key=value` or `key="value"`.
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let mut rest = line;
    loop {
        let at = rest.find(key)?;
        let begins = rest[..at].ends_with([' ', '\t']) || at == 0;
        rest = &rest[at + key.len()..];
        let Some(value) = rest.strip_prefix('=').filter(|_| begins) else {
            continue;
        };
        return match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => value.split_whitespace().next(),
        };
    }
}

/// What the kernel told systemd's journal, where it is kept.
fn journal() -> String {
    let lines = Command::new("journalctl")
        .args([
            "--quiet",
            "--no-pager",
            "--output=cat",
            "--lines",
            RECENT_LINES,
        ])
        .args(["_TRANSPORT=kernel", "+", "_TRANSPORT=audit"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    // A system without a journal has log files.
    let lines = lines.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&lines).into_owned()
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

/// The names in a directory; none if it cannot be read.
fn below(directory: &str) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

fn label(file: &Path) -> Option<String> {
    let mut label = [0; 1024];
    let length = getxattr(file, c"security.selinux", &mut label[..]).ok()?;
    let label = String::from_utf8_lossy(&label[..length]);
    Some(label.trim_end_matches('\0').to_owned())
}

fn first_byte(file: &str) -> Option<u8> {
    fs::read(file).ok()?.first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const APPARMOR: &str =
        "audit: type=1400 audit(1.1:1): apparmor=\"DENIED\" operation=\"open\" class=\"file\" ";
    const SELINUX: &str =
        "type=AVC msg=audit(1.1:1): avc:  denied  { read write } for  pid=7 comm=\"x\" ";

    fn remedies(line: &str, has_policy: bool) -> Vec<String> {
        let system = System {
            share: SHARES[0],
            has_policy,
            profiles: vec!["usr.sbin.nginx".into(), "sshd".into()],
        };
        let findings = denied(line, &system);
        let remedies = findings.into_iter().filter_map(|finding| finding.remedy);
        remedies.collect()
    }

    fn apparmor(profile: &str, object: &str) -> String {
        let line = format!(
            "{APPARMOR}profile=\"{profile}\" {object} pid=7 comm=\"x\" requested_mask=\"wrc\""
        );
        remedies(&line, false).concat()
    }

    fn selinux(domain: &str, name: &str, label: &str, has_policy: bool) -> String {
        let line = format!(
            "{SELINUX}name=\"{name}\" dev=\"tmpfs\" ino=9 scontext=system_u:system_r:{domain}:s0 \
             tcontext=system_u:object_r:{label}:s0 tclass=file permissive=0"
        );
        remedies(&line, has_policy).concat()
    }

    #[test]
    fn apparmors_denials_are_ended_by_a_line_in_a_named_file() {
        assert_eq!(
            apparmor("/usr/sbin/nginx", "name=\"/dev/shm/outboard.33\""),
            "add 'include if exists \"/usr/share/outboard/apparmor/outboard\"' to \
             /etc/apparmor.d/local/usr.sbin.nginx, then run 'apparmor_parser -r \
             /etc/apparmor.d/usr.sbin.nginx'"
        );
        let keys = apparmor("sshd//child", "name=\"/run/outboard/agent.sock\"");
        assert!(
            keys.contains("outboard-keys\"' to /etc/apparmor.d/local/sshd,"),
            "{keys}"
        );
        let abstract_name = apparmor("sshd", "addr=none peer_addr=\"@outboard/run/outboard\"");
        assert!(abstract_name.contains("outboard-keys"), "{abstract_name}");
        // What has no file of its name, and what a user has written into a log.
        for profile in ["docker-default", "x; reboot", "../../etc/x"] {
            let elsewhere = apparmor(profile, "name=\"/usr/lib/ossl-modules/outboard.so\"");
            assert!(elsewhere.contains("to that profile in"), "{elsewhere}");
        }
    }

    #[test]
    fn selinuxs_denials_are_ended_by_the_policy_a_label_or_a_further_domain() {
        let without = selinux("httpd_t", "profile.json", "var_lib_t", false);
        assert!(
            without.contains("sh /usr/share/outboard/selinux/load.sh"),
            "{without}"
        );
        let label = selinux("httpd_t", "outboard.0", "sshd_tmpfs_t", true);
        assert!(label.contains("restorecon"), "{label}");
        let domain = selinux("mysqld_t", "outboard.27", "outboard_ledger_t", true);
        assert!(domain.contains("outboard_program (mysqld_t)"), "{domain}");
    }

    #[test]
    fn each_program_is_named_once_with_the_last_line() {
        let line = |profile: &str, pid: u32| {
            format!("{APPARMOR}profile=\"{profile}\" name=\"/dev/shm/outboard.0\" pid={pid}\n")
        };
        let log = [
            line("nginx", 1),
            line("nginx", 2),
            line("sshd", 3),
            // Others' business, and what was allowed.
            format!("{APPARMOR}profile=\"nginx\" name=\"/srv/x\" pid=4 comm=\"outboard\"\n"),
            line("haproxy", 5).replace("DENIED", "ALLOWED"),
            format!("{SELINUX}name=\"other\" scontext=a:b:c:s0 tcontext=a:b:d:s0\n"),
        ];
        let system = System {
            share: SHARES[1],
            has_policy: false,
            profiles: Vec::new(),
        };
        let found = denied(&log.concat(), &system);
        let told: Vec<_> = found
            .iter()
            .map(|finding| (finding.what.as_str(), finding.why.as_deref().unwrap_or("")))
            .collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(
            told[0].0,
            "AppArmor denied nginx access to /dev/shm/outboard.0"
        );
        assert!(told[0].1.ends_with("pid=2") && told[1].1.ends_with("pid=3"));
    }
}
