//! What is written, and taken back.

use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use crate::common::{copy, document, says, stderr, stdout};
use crate::system::{COSTS, HALVES, System};

#[test]
fn nothing_changes_unless_it_is_asked_for() {
    let system = System::new();
    let before = system.state();
    let shown = system.advise(&["--stock"]).success();
    says(
        &stdout(&shown),
        "Nothing was changed; --apply writes the drop-ins.",
    );
    says(
        &stdout(&shown),
        "sshd_config.d/10-outboard.conf would have this text:",
    );
    says(
        &stdout(&shown),
        "Ciphers aes128-gcm@openssh.com,aes256-gcm@openssh.com,",
    );
    says(
        &stdout(&shown),
        "Too close to tell apart, so in today's order: ciphers aes128-gcm@openssh.com, aes256-gcm@openssh.com.",
    );
    says(&stdout(&shown), "Dropped: MAC hmac-sha1 ");
    says(
        &stdout(&shown),
        "Locked out: a client that has no other MAC than ",
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
    for options in [&["--stock", "--apply"][..], &["--stock"]] {
        let again = system.advise(options).success();
        says(
            &stdout(&again),
            "Nothing was changed: the advice is already in force.",
        );
    }
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
    says(&stdout(&again), "already has this text");
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
                "aes256-gcm@openssh.com",
                "aes128-gcm@openssh.com",
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
        "ssh_config line 2 sets Ciphers first, so for the hosts of that line it stays in force",
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
    says(&stderr(&refusal), "inside the Host block of line 1");
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
            "cannot read /dev/zero: it is not a plain file",
        ),
        ("Include \u{1b}[2J**\n", r"\u{1b}[2J**' matches"),
        (
            "Ciphers aes128-ctr\n",
            "/.ssh/config line 1 sets Ciphers; for its user",
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
        "/.ssh/config: it is not a plain file",
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
    says(&said, "everything is as it was: sshd reads Ciphers in ");
    assert_eq!(system.state(), before);
}
