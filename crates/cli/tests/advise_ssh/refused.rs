//! What is refused, and that nothing changes then.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;

use crate::common::{copy, outboard, says, stderr, stdout};
use crate::system::{COSTS, System, outboard_process_at};

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
            "does not include drop-ins (add this line at its top: Include ",
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
            "line 1 sets Ciphers before line 2 includes the drop-in",
        ),
        (
            "an earlier drop-in",
            |system, _| {
                system.write(
                    "sshd_config.d/01-local.conf",
                    "# ours\nMACs hmac-sha2-256,umac-64@openssh.com\n",
                )
            },
            "01-local.conf line 2 sets MACs, and sshd reads that line before the drop-in",
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
            "line 3 sets Ciphers only for the block of line 2, but the drop-in would come first",
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
            "line 3 sets MACs only for the block of line 2, but the drop-in would come first",
        ),
        (
            "a later drop-in for some hosts",
            |system, _| {
                system.write(
                    "ssh_config.d/20-old.conf",
                    "Host old\nCiphers +aes128-cbc\n",
                );
            },
            "20-old.conf line 2 sets Ciphers only for the block of line 1",
        ),
        (
            "one that is not all UTF-8",
            |system, _| {
                let text = b"# Pr\xfcfung\nHost old\nCiphers aes256-ctr\n";
                fs::write(system.path("ssh_config.d/50-old.conf"), text).expect("it is ours");
            },
            "50-old.conf line 3 sets Ciphers only for the block of line 2",
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
            "more.conf line 2 sets Ciphers only for the block of line 1",
        ),
        (
            "one that is too long to be read",
            |system, _| system.write("ssh_config.d/50-long.conf", &"#\n".repeat(1 << 20)),
            "50-long.conf: it is too long for a configuration, so it is not known what this file sets for some hosts",
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
            "(write the pattern without **)",
        ),
        (
            "a pattern of classes",
            |system, _| {
                let directory = system.path("sshd_config.d");
                let pattern = format!("{}/[[:digit:]]*.conf", directory.display());
                system.write("sshd_config", &format!("Include {pattern}\n"));
            },
            "(write the pattern without [:)",
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
            "first.conf line 1 sets Ciphers, and sshd reads that line before the drop-in",
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
            "more.conf, but the drop-in would come first",
        ),
        (
            "a file of that name that is not ours",
            |system, _| system.write("sshd_config.d/10-outboard.conf", "MACs hmac-sha2-256\n"),
            "was not written by 'outboard advise ssh'",
        ),
        (
            "nothing safe is configured",
            |system, include| system.write("sshd_config", &format!("{include}\nMACs hmac-sha1\n")),
            "no algorithm that MACs allows today (hmac-sha1) is safe at level modern",
        ),
        (
            "no configuration",
            |system, _| fs::remove_file(system.path("sshd_config")).expect("it is ours"),
            "sshd_config (name its directory with --directory)",
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
    says(&said, "no algorithm nosuch to measure (it has ");
    says(&said, "aes128-ctr, ");
    assert_eq!(stdout(&refusal), "");
}

#[test]
fn a_document_that_is_none_is_refused() {
    let system = System::new();
    for (text, reason) in [
        (
            "{}",
            "(the file must be the output of 'outboard advise ssh --json')",
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
    says(&stderr(&refusal), "leave out --for");
    outboard()
        .args(["advise", "ssh", "--apply", "--revert"])
        .assert()
        .code(2);
    let nowhere = outboard()
        .args([
            "advise",
            "ssh",
            "--revert",
            "--directory",
            "/nonexistent/ssh",
        ])
        .assert()
        .code(1);
    says(
        &stderr(&nowhere),
        "there is no directory /nonexistent/ssh (name it with --directory)",
    );
    let file = system.path("costs.json");
    let no_directory = outboard()
        .args(["advise", "ssh", "--revert", "--directory"])
        .arg(&file)
        .assert()
        .code(1);
    let reason = format!("{} is not a directory", file.display());
    says(&stderr(&no_directory), &reason);
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
