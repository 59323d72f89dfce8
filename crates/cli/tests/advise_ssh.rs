//! `outboard advise ssh` on configurations of its own, with the system's own ssh and sshd.

mod common;

use common::{
    copy, document, module, outboard, outboard_process, public_directory, says, stderr, stdout,
};
use outboard_programs::Sshd;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// In the shape of Debian's /etc/ssh, with the costs of some algorithms.
struct System {
    directory: TempDir,
}

/// As `--json` prints it, with what the tests need: GCM is fast, ChaCha20 is not.
const COSTS: &str = r#"{
  "schema": "outboard-advise-ssh", "version": 1,
  "measured": {
    "openssh": "OpenSSH_9.2p1", "with_outboard": true, "strict_key_exchange": true,
    "mac_of_ciphers": "hmac-sha2-256-etm@openssh.com", "cipher_of_macs": "aes128-ctr",
    "costs": [
      {"kind": "cipher", "name": "aes128-gcm@openssh.com", "client_seconds": 0.5, "server_seconds": 0.5, "pairs": 5},
      {"kind": "cipher", "name": "aes256-gcm@openssh.com", "client_seconds": 0.6, "server_seconds": 0.6, "pairs": 5},
      {"kind": "cipher", "name": "chacha20-poly1305@openssh.com", "client_seconds": 2.0, "server_seconds": 2.0, "pairs": 5},
      {"kind": "cipher", "name": "3des-cbc", "client_seconds": 0.1, "server_seconds": 0.1, "pairs": 1},
      {"kind": "mac", "name": "hmac-sha1", "client_seconds": 0.1, "server_seconds": 0.1, "pairs": 1},
      {"kind": "mac", "name": "umac-64@openssh.com", "client_seconds": 0.2, "server_seconds": 0.2, "pairs": 5},
      {"kind": "key-exchange", "name": "curve25519-sha256", "client_seconds": 0.001, "server_seconds": 0.001, "pairs": 5}
    ]
  }
}"#;

impl System {
    fn new() -> Self {
        Sshd::make_its_directory().expect("it can be made");
        let directory = public_directory();
        let system = Self { directory };
        for name in ["sshd_config", "ssh_config"] {
            fs::create_dir(system.path(&format!("{name}.d"))).expect("it is ours");
            system.write(name, &format!("{}\nPort 2222\n", system.include(name)));
        }
        system.write("costs.json", COSTS);
        system
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("it is ours");
    }

    fn include(&self, name: &str) -> String {
        format!("Include {}.d/*.conf", self.path(name).display())
    }

    fn drop_in(&self, name: &str) -> PathBuf {
        self.path(&format!("{name}.d/10-outboard.conf"))
    }

    fn advise(&self, arguments: &[&str]) -> assert_cmd::assert::Assert {
        let mut command = outboard();
        command.args(["advise", "ssh", "--directory"]);
        command.arg(self.directory.path());
        if !arguments.contains(&"--revert") {
            command.arg("--costs").arg(self.path("costs.json"));
        }
        command.args(arguments).assert()
    }

    /// The same under what these words of a shell set.
    fn limited(&self, limits: &str, arguments: &[&str]) -> Output {
        let mut command = shell(&assert_cmd::cargo::cargo_bin("outboard"), limits);
        command.args(["advise", "ssh", "--directory"]);
        command.arg(self.directory.path());
        if !arguments.contains(&"--revert") {
            command.arg("--costs").arg(self.path("costs.json"));
        }
        command.args(arguments).output().expect("it runs")
    }

    /// Every file and what is in it.
    fn state(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut state = Vec::new();
        for directory in ["", "sshd_config.d", "ssh_config.d"] {
            for entry in fs::read_dir(self.path(directory)).expect("it is ours") {
                let path = entry.expect("it is ours").path();
                if path.is_file() {
                    state.push((path.clone(), fs::read(&path).expect("it is ours")));
                }
            }
        }
        state.sort();
        state
    }

    /// What sshd or ssh itself makes of the configuration.
    fn in_force(&self, name: &str, keyword: &str) -> Vec<String> {
        let main = self.path(name);
        let (program, arguments) = match name {
            "sshd_config" => {
                let key = self.path("key");
                if !key.exists() {
                    let made = Command::new("ssh-keygen")
                        .args(["-q", "-N", "", "-t", "ed25519", "-f"])
                        .arg(&key)
                        .status();
                    assert!(made.expect("it is installed").success());
                }
                let key = key.to_string_lossy().into_owned();
                (
                    "/usr/sbin/sshd",
                    vec!["-T".into(), "-h".into(), key, "-f".into()],
                )
            }
            _ => ("ssh", vec!["-G".to_owned(), "-F".to_owned()]),
        };
        let mut command = Command::new(program);
        command.args(arguments).arg(main);
        if program == "ssh" {
            command.arg("host.invalid");
        }
        let output = command.output().expect("it is installed");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(keyword)?.strip_prefix(' '))
            .expect("it tells all");
        line.split(',').map(str::to_owned).collect()
    }
}

const HALVES: [&str; 2] = ["sshd_config", "ssh_config"];

#[test]
fn nothing_changes_unless_it_is_asked_for() {
    let system = System::new();
    let before = system.state();
    let shown = system.advise(&["--stock"]).success();
    says(
        &stdout(&shown),
        "Nothing was changed; --apply writes the drop-ins.",
    );
    says(&stdout(&shown), "sshd_config.d/10-outboard.conf would say:");
    says(
        &stdout(&shown),
        "Ciphers aes128-gcm@openssh.com,aes256-gcm@openssh.com,",
    );
    says(&stdout(&shown), "Dropped: MAC hmac-sha1 ");
    says(
        &stdout(&shown),
        "Locked out: a client that knows no other MAC than ",
    );
    system.advise(&["--stock", "--dry-run"]).success();
    assert_eq!(system.state(), before);
}

#[test]
fn applied_twice_is_applied_once_and_reverted_leaves_nothing() {
    let system = System::new();
    let before = system.state();
    let today = system.in_force("sshd_config", "ciphers");
    let applied = system.advise(&["--stock", "--apply"]).success();
    says(&stdout(&applied), "systemctl reload ssh");
    for name in HALVES {
        let ciphers = system.in_force(name, "ciphers");
        assert_eq!(
            ciphers[..2],
            ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com"],
            "{name}"
        );
        let (mut sorted, mut expected) = (ciphers.clone(), today.clone());
        sorted.sort();
        expected.sort();
        assert_eq!(sorted, expected, "no cipher of today's is lost");
        let everything = ["ciphers", "macs", "kexalgorithms"]
            .map(|keyword| system.in_force(name, keyword).join(","))
            .join(",");
        for broken in ["3des", "cbc", "sha1", "md5"] {
            assert!(!everything.contains(broken), "{broken} in {everything}");
        }
        let first = &system.in_force(name, "kexalgorithms")[0];
        assert!(
            first.starts_with("sntrup761") || first.starts_with("mlkem768"),
            "{first}"
        );
        let mode = fs::metadata(system.drop_in(name))
            .expect("it was written")
            .mode();
        assert_eq!(mode & 0o777, 0o644);
    }
    let once = system.state();
    let again = system.advise(&["--stock", "--apply", "--json"]).success();
    let document = document(&again, "outboard-advise-ssh");
    for half in document["configurations"].as_array().expect("both") {
        assert_eq!(half["changed"], false);
        assert_eq!(half["in_place"], true);
        assert_eq!(half["obstacle"], Value::Null);
    }
    assert_eq!(system.state(), once);
    // The document is itself one that can be read.
    system.write("costs.json", &stdout(&again));
    system.advise(&["--stock", "--apply"]).success();
    system.write("costs.json", COSTS);

    let off = system.advise(&["--revert"]).success();
    says(&stdout(&off), "Removed ");
    let left: Vec<_> = system
        .state()
        .into_iter()
        .filter(|(path, _)| !path.starts_with(system.path("key")))
        .collect();
    let left: Vec<_> = left
        .into_iter()
        .filter(|(path, _)| !path.ends_with("key.pub"))
        .collect();
    assert_eq!(left, before);
    let off = system.advise(&["--revert"]).success();
    says(&stdout(&off), "nothing was changed");
}

#[test]
fn each_level_has_its_rules() {
    let system = System::new();
    let today = system.in_force("sshd_config", "macs");
    system
        .advise(&["--stock", "--apply", "--level", "compatible"])
        .success();
    let mut expected: Vec<_> = today.iter().filter(|name| !name.contains("sha1")).collect();
    let macs = system.in_force("sshd_config", "macs");
    assert_eq!(
        macs[0], "umac-64@openssh.com",
        "the only one that was measured"
    );
    let mut macs: Vec<_> = macs.iter().collect();
    macs.sort();
    expected.sort();
    assert_eq!(macs, expected);

    system.advise(&["--stock", "--apply", "--strict"]).success();
    assert!(
        system
            .in_force("sshd_config", "macs")
            .iter()
            .all(|mac| mac.contains("-etm@"))
    );

    let applied = system
        .advise(&["--stock", "--apply", "--level", "fips", "--for", "server"])
        .success();
    says(&stdout(&applied), "level fips");
    for (keyword, parts) in [
        ("ciphers", &["aes"][..]),
        ("macs", &["hmac-sha2"]),
        (
            "kexalgorithms",
            &["ecdh-sha2-nistp", "diffie-hellman-group1", "mlkem"],
        ),
    ] {
        for name in system.in_force("sshd_config", keyword) {
            assert!(parts.iter().any(|part| name.starts_with(part)), "{name}");
        }
    }
}

#[test]
fn what_the_administrator_left_out_stays_out() {
    let system = System::new();
    let include = system.include("sshd_config");
    system.write(
        "sshd_config",
        &format!("{include}\nCiphers aes256-gcm@openssh.com,aes256-ctr\n"),
    );
    system
        .advise(&["--stock", "--apply", "--for", "server"])
        .success();
    assert_eq!(
        system.in_force("sshd_config", "ciphers"),
        ["aes256-gcm@openssh.com", "aes256-ctr"]
    );
    // And still does when the drop-in itself is what is in force.
    let again = system
        .advise(&["--stock", "--apply", "--for", "server"])
        .success();
    says(&stdout(&again), "says so already");
}

/// Relative names are relative to the configuration's directory, in files that are included, too; ssh asked about
/// a file would seek them in ~/.ssh.
#[test]
fn a_drop_in_may_be_taken_in_by_a_file_that_is_included() {
    let system = System::new();
    fs::create_dir(system.path("nested")).expect("it is ours");
    for name in HALVES {
        system.write(name, &format!("Include nested/{name}\n"));
        // By itself this is what is advised, but for its order.
        system.write(
            &format!("{name}.d/20-local.conf"),
            "Ciphers chacha20-poly1305@openssh.com,aes256-gcm@openssh.com,aes128-gcm@openssh.com\n",
        );
        system.write(
            &format!("nested/{name}"),
            &format!("Include {name}.d/*.conf\n"),
        );
    }
    let applied = system.advise(&["--stock", "--apply", "--json"]).success();
    let document = document(&applied, "outboard-advise-ssh");
    for half in document["configurations"].as_array().expect("both") {
        assert_eq!(half["obstacle"], Value::Null);
        assert_eq!(half["changed"], true);
        assert_eq!(
            half["lists"]["cipher"],
            serde_json::json!([
                "aes128-gcm@openssh.com",
                "aes256-gcm@openssh.com",
                "chacha20-poly1305@openssh.com"
            ])
        );
    }

    system.advise(&["--revert"]).success();
    system.write("nested/sshd_config", "Nonsense yes\nInclude *.conf\n");
    let refusal = system.advise(&["--stock"]).code(1);
    says(
        &stderr(&refusal),
        "nested/sshd_config: line 1: Bad configuration option: Nonsense",
    );
}

#[test]
fn what_cannot_work_is_refused_and_nothing_changes() {
    let include = |system: &System| system.include("sshd_config");
    type Damage = fn(&System, String);
    let cases: [(&str, Damage, &str); 19] = [
        (
            "a line that sshd does not know",
            |system, include| system.write("sshd_config", &format!("{include}\nNonsense yes\n")),
            "as it is: ",
        ),
        (
            "no Include",
            |system, _| system.write("sshd_config", "Port 2222\n"),
            "takes no drop-ins in (add this line at its top: Include ",
        ),
        (
            "an earlier directive",
            |system, include| {
                system.write(
                    "sshd_config",
                    &format!(
                        "ciphers chacha20-poly1305@openssh.com,aes128-gcm@openssh.com\n{include}\n"
                    ),
                )
            },
            "line 1 sets Ciphers before line 2 takes the drop-in in",
        ),
        (
            "an earlier drop-in",
            |system, _| {
                system.write(
                    "sshd_config.d/01-local.conf",
                    "# ours\nMACs hmac-sha2-256,umac-64@openssh.com\n",
                )
            },
            "01-local.conf line 2 sets MACs and is read before the drop-in",
        ),
        (
            "an Include within Match",
            |system, include| system.write("sshd_config", &format!("Match User git\n{include}\n")),
            "sshd would not accept the result: ",
        ),
        (
            "a Match that sets MACs further down, which sshd itself refuses",
            |system, include| {
                system.write(
                    "sshd_config",
                    &format!("{include}\nMatch User git\n  MACs hmac-sha2-256\n"),
                );
            },
            "line 3: Directive 'MACs' is not allowed within a Match block (repair it first)",
        ),
        (
            "a Host that sets Ciphers further down",
            |system, _| {
                let include = system.include("ssh_config");
                system.write(
                    "ssh_config",
                    &format!("{include}\nHost old\n  Ciphers aes128-cbc\n"),
                );
            },
            "line 3 sets Ciphers for the block of line 2 alone, but the drop-in would come first",
        ),
        (
            "a Match that sets MACs further down, for a client",
            |system, _| {
                let include = system.include("ssh_config");
                system.write(
                    "ssh_config",
                    &format!("{include}\nMatch host old\n  MACs +hmac-sha1\n"),
                );
            },
            "line 3 sets MACs for the block of line 2 alone, but the drop-in would come first",
        ),
        (
            "a later drop-in for some hosts",
            |system, _| {
                system.write(
                    "ssh_config.d/20-old.conf",
                    "Host old\nCiphers +aes128-cbc\n",
                );
            },
            "20-old.conf line 2 sets Ciphers for the block of line 1 alone",
        ),
        (
            "one that is not all UTF-8",
            |system, _| {
                let text = b"# Pr\xfcfung\nHost old\nCiphers aes256-ctr\n";
                fs::write(system.path("ssh_config.d/50-old.conf"), text).expect("it is ours");
            },
            "50-old.conf line 3 sets Ciphers for the block of line 2 alone",
        ),
        (
            "one with quoted keywords",
            |system, _| {
                let include = system.include("ssh_config");
                let more = system.path("more.conf");
                system.write("more.conf", "\"Host\" old\n\"Ciphers\" aes256-ctr\n");
                system.write(
                    "ssh_config",
                    &format!("{include}\n\"Include\" {}\n", more.display()),
                );
            },
            "more.conf line 2 sets Ciphers for the block of line 1 alone",
        ),
        (
            "one that is too long to be read",
            |system, _| system.write("ssh_config.d/50-long.conf", &"#\n".repeat(1 << 20)),
            "50-long.conf: it is longer than any configuration: what it sets for some hosts",
        ),
        (
            "a pattern that only glob(3) understands",
            |system, _| {
                let directory = system.path("ssh_config.d");
                system.write(
                    "ssh_config",
                    &format!("Include {}/**\n", directory.display()),
                );
            },
            "is for OpenSSH alone to say (write it without **)",
        ),
        (
            "a pattern of classes",
            |system, _| {
                let directory = system.path("sshd_config.d");
                let pattern = format!("{}/[[:digit:]]*.conf", directory.display());
                system.write("sshd_config", &format!("Include {pattern}\n"));
            },
            "is for OpenSSH alone to say (write it without [:)",
        ),
        (
            "a directive in a file that is included earlier",
            |system, include| {
                let first = system.path("first.conf");
                system.write(
                    "first.conf",
                    "Ciphers chacha20-poly1305@openssh.com,aes128-gcm@openssh.com\n",
                );
                system.write(
                    "sshd_config",
                    &format!("Include {}\n{include}\n", first.display()),
                );
            },
            "first.conf line 1 sets Ciphers and is read before the drop-in",
        ),
        (
            "a Host that sets Ciphers in a file that a file includes",
            |system, _| {
                let include = system.include("ssh_config");
                let [more, deep] = ["more.conf", "deep.conf"].map(|name| system.path(name));
                system.write("deep.conf", "Ciphers +aes128-cbc\n");
                system.write(
                    "more.conf",
                    &format!("\nHost old\n  Include {}\n", deep.display()),
                );
                system.write(
                    "ssh_config",
                    &format!("{include}\nInclude {}\n", more.display()),
                );
            },
            "more.conf alone, but the drop-in would come first",
        ),
        (
            "a file of that name that is not ours",
            |system, _| system.write("sshd_config.d/10-outboard.conf", "MACs hmac-sha2-256\n"),
            "was not written by 'outboard advise ssh'",
        ),
        (
            "nothing safe is configured",
            |system, include| system.write("sshd_config", &format!("{include}\nMACs hmac-sha1\n")),
            "nothing that MACs allows today (hmac-sha1) is safe at level modern",
        ),
        (
            "no configuration",
            |system, _| fs::remove_file(system.path("sshd_config")).expect("it is ours"),
            "sshd_config (name where it lies with --directory)",
        ),
    ];
    for (case, damage, reason) in cases {
        let system = System::new();
        damage(&system, include(&system));
        let before = system.state();
        let refusal = system.advise(&["--stock", "--apply"]).code(1);
        assert!(
            stderr(&refusal).starts_with("outboard: "),
            "{case}: {}",
            stderr(&refusal)
        );
        assert!(
            stderr(&refusal).contains(reason),
            "{case}: {}",
            stderr(&refusal)
        );
        assert_eq!(system.state(), before, "{case}");
        // Neither half, although the client's could be written.
        assert!(!system.drop_in("ssh_config").exists(), "{case}");
    }
}

#[test]
fn names_that_nothing_here_has_are_refused() {
    let refusal = outboard()
        .args(["advise", "ssh", "--stock", "--only", "aes128-ctr,nosuch"])
        .assert()
        .code(2);
    let said = stderr(&refusal);
    says(&said, "nothing to measure by the name of nosuch (it has ");
    says(&said, "aes128-ctr, ");
    assert_eq!(stdout(&refusal), "");
}

#[test]
fn a_host_s_own_lines_are_pointed_out() {
    let system = System::new();
    let include = system.include("ssh_config");
    system.write(
        "ssh_config",
        &format!("Host old\n  Ciphers aes128-ctr\nHost *\n{include}\n"),
    );
    let applied = system
        .advise(&["--stock", "--apply", "--for", "client"])
        .success();
    says(
        &stdout(&applied),
        "ssh_config line 2 sets Ciphers first: where that line holds, it stays",
    );
    assert_eq!(
        system.in_force("ssh_config", "ciphers")[0],
        "aes128-gcm@openssh.com"
    );

    system.write("ssh_config", &format!("Host old\n{include}\n"));
    system.advise(&["--revert"]).success();
    let refusal = system
        .advise(&["--stock", "--apply", "--for", "client"])
        .code(1);
    says(&stderr(&refusal), "within the Host block of line 1");
}

/// sshd and ssh are asked by root, who would not notice.
#[test]
fn every_user_may_enter_the_directories_that_are_made() {
    let system = System::new();
    for name in HALVES {
        fs::remove_dir(system.path(&format!("{name}.d"))).expect("it is ours and empty");
    }
    let output = system.limited("umask 077", &["--stock", "--apply"]);
    assert!(output.status.success(), "{output:?}");
    for name in HALVES {
        let directory = fs::metadata(system.path(&format!("{name}.d"))).expect("it was made");
        assert_eq!(directory.mode() & 0o777, 0o755, "{name}");
    }
}

/// No file may grow beyond 8 MiB: the proof has no room for its own.
#[test]
fn a_proof_that_fails_leaves_nothing_written() {
    let system = System::new();
    let before = system.state();
    let output = system.limited(
        "trap '' XFSZ; ulimit -f 16384",
        &["--stock", "--apply", "--prove", "--quick"],
    );
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    says(&said, "File too large");
    assert_eq!(system.state(), before);
}

#[test]
fn reverting_takes_no_room_and_no_key() {
    let system = System::new();
    system.advise(&["--stock", "--apply"]).success();
    let output = system.limited("export TMPDIR=/nowhere", &["--revert"]);
    assert!(output.status.success(), "{output:?}");
    for name in HALVES {
        assert!(!system.drop_in(name).exists(), "{name}");
    }
}

/// A home may be another user's: with `sudo -E` it is.
#[test]
fn a_user_s_configuration_without_end_ends_in_a_note() {
    let system = System::new();
    fs::create_dir(system.path(".ssh")).expect("it is ours");
    let limits = format!("export HOME={}", system.directory.path().display());
    for (own, note) in [
        (
            "Include /dev/zero\n",
            "cannot read /dev/zero: it is no plain file",
        ),
        (
            "Include \u{1b}[2J**\n",
            r"\u{1b}[2J**' finds is for OpenSSH",
        ),
        (
            "Ciphers aes128-ctr\n",
            "/.ssh/config line 1 sets Ciphers, and for its user",
        ),
    ] {
        system.write(".ssh/config", own);
        let output = system.limited(&limits, &["--stock", "--for", "client"]);
        assert!(output.status.success(), "{output:?}");
        says(&String::from_utf8_lossy(&output.stdout), note);
    }
    fs::remove_file(system.path(".ssh/config")).expect("it is ours");
    let made = Command::new("mkfifo")
        .arg(system.path(".ssh/config"))
        .status();
    assert!(made.expect("it is installed").success());
    let output = system.limited(&limits, &["--stock", "--for", "client"]);
    says(
        &String::from_utf8_lossy(&output.stdout),
        "/.ssh/config: it is no plain file",
    );
}

/// An sshd that reads the real file otherwise than its copy with the drop-in.
#[test]
fn what_is_not_in_force_afterwards_is_taken_back() {
    let system = System::new();
    let before = system.state();
    let programs = system.path("programs");
    fs::create_dir(&programs).expect("it is ours");
    let main = system.path("sshd_config");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n*' {}') echo 'ciphers aes128-ctr';;\n*) exec /usr/sbin/sshd \"$@\";;\nesac\n",
        main.display()
    );
    let written = programs.join("script");
    fs::write(&written, script).expect("it is ours");
    fs::set_permissions(&written, PermissionsExt::from_mode(0o755)).expect("a mode");
    copy(&written, &programs.join("sshd"));
    let path = format!("export PATH={}:$PATH", programs.display());
    let output = system.limited(&path, &["--stock", "--apply"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    says(
        &said,
        "everything is as it was: sshd reads other Ciphers in ",
    );
    assert_eq!(system.state(), before);
}

#[test]
fn a_document_that_is_none_is_refused() {
    let system = System::new();
    for (text, reason) in [
        (
            "{}",
            "(it has to be what 'outboard advise ssh --json' printed)",
        ),
        ("not json", "cannot understand "),
    ] {
        system.write("costs.json", text);
        let refusal = system.advise(&["--stock"]).code(1);
        says(&stderr(&refusal), reason);
    }
    fs::remove_file(system.path("costs.json")).expect("it is ours");
    says(
        &stderr(&system.advise(&["--stock"]).code(1)),
        "cannot read ",
    );
    system.write("costs.json", COSTS);
    let refusal = system.advise(&["--prove", "--for", "server"]).code(1);
    says(&stderr(&refusal), "leave --for out");
    outboard()
        .args(["advise", "ssh", "--apply", "--revert"])
        .assert()
        .code(2);
}

#[test]
fn who_may_not_read_or_write_is_told_before_anything_is_measured() {
    let nobody = 65_534;
    let system = System::new();
    if fs::metadata(system.directory.path())
        .expect("it is ours")
        .uid()
        != 0
    {
        eprintln!("skipped: only root can become somebody else");
        return;
    }
    let program = system.path("outboard");
    copy(&assert_cmd::cargo::cargo_bin("outboard"), &program);
    let refused = |options: &[&str]| {
        let output = outboard_process_at(&program)
            .args(["advise", "ssh", "--stock", "--directory"])
            .arg(system.directory.path())
            .args(options)
            .uid(nobody)
            .gid(nobody)
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(!said.contains("measuring"), "{said}");
        said
    };
    let said = refused(&["--apply"]);
    says(&said, "cannot write to ");
    says(&said, "(run it as root)");

    // As cloud-init makes it: sshd itself cannot read it as somebody else.
    system.write("sshd_config.d/50-cloud-init.conf", "Port 2223\n");
    let private = fs::Permissions::from_mode(0o600);
    let cloud_init = system.path("sshd_config.d/50-cloud-init.conf");
    fs::set_permissions(&cloud_init, private.clone()).expect("it is ours");
    let said = refused(&[]);
    says(
        &said,
        "50-cloud-init.conf: Permission denied (run it as root)",
    );
    fs::set_permissions(system.path("sshd_config"), private).expect("it is ours");
    let said = refused(&[]);
    says(&said, "cannot read ");
    says(&said, "(run it as root)");
}

fn outboard_process_at(program: &Path) -> Command {
    isolated(Command::new(program))
}

/// The program, started by a shell that first does that.
fn shell(program: &Path, first: &str) -> Command {
    let mut command = isolated(Command::new("sh"));
    command.args(["-c", &format!("{first}; exec \"$0\" \"$@\"")]);
    command.arg(program);
    command
}

fn isolated(mut command: Command) -> Command {
    for (name, value) in outboard_process().get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Real transfers and logins. What they say of the order is as clear on a busy machine, in a debug
/// build and without VAES: 3DES takes many times as long as AES-GCM.
#[test]
fn what_is_measured_has_the_right_direction() {
    let system = System::new();
    let only = "aes128-gcm@openssh.com,3des-cbc,curve25519-sha256,ssh-ed25519";
    let measured = outboard()
        .args([
            "advise",
            "ssh",
            "--quick",
            "--json",
            "--only",
            only,
            "--directory",
        ])
        .arg(system.directory.path())
        .arg("--module")
        .arg(module())
        .assert()
        .success();
    let document = document(&measured, "outboard-advise-ssh");
    assert_eq!(document["measured"]["with_outboard"], true);
    let costs = document["measured"]["costs"].as_array().expect("a list");
    assert_eq!(costs.len(), 4);
    let client = |name: &str| {
        let cost = costs.iter().find(|cost| cost["name"] == name);
        cost.and_then(|cost| cost["client_seconds"].as_f64())
            .expect("it was measured")
    };
    assert!(
        client("aes128-gcm@openssh.com") < client("3des-cbc"),
        "{costs:?}"
    );

    let proof = system
        .advise(&[
            "--prove",
            "--quick",
            "--json",
            "--module",
            &module().to_string_lossy(),
        ])
        .success();
    let proof: Value = serde_json::from_str(&stdout(&proof)).expect("it is JSON");
    let proof = &proof["proof"];
    let number = |name: &str| proof[name].as_f64().expect("a number");
    // That it gains is for whoever measures to see; here, that what was compared is what is said. A user's defaults
    // are ChaCha20; Outboard takes AES-GCM by its profile or class, which need not be: then it says so.
    assert_eq!(proof["pairs"], 3);
    assert_eq!(proof["today"]["cipher"], "chacha20-poly1305@openssh.com");
    assert_eq!(proof["advised"]["cipher"], "aes128-gcm@openssh.com");
    assert_eq!(proof["advised"]["mac"], Value::Null);
    assert!(number("low") <= number("ratio") && number("ratio") <= number("high"));
    assert!(number("today_user_seconds") > 0.0 && number("advised_user_seconds") > 0.0);
    assert!((0.0..=1.0).contains(&number("by_outboard")), "{proof}");
}
