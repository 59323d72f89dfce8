//! A real sshd and its clients, Outboard on both sides: confined children, sessions with an
//! environment of their own, rekeying, and what users do.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use outboard_engine::Operation;
use outboard_programs::{Launch, Sshd, SshdOptions};

use crate::stand::{Stand, assert_served, counts, installed, is_stock_alone, served_bytes};

/// The ciphers that run on Outboard, and one that stays with stock.
const CIPHERS: [&str; 3] = [
    "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com",
    "aes128-ctr",
];

struct Ssh {
    stand: Stand,
    sshd: Sshd,
}

impl Ssh {
    /// Nothing if OpenSSH is not installed.
    fn start(settings: &str) -> Option<Self> {
        if !installed(&["sshd", "ssh", "scp", "sftp", "ssh-keygen"]) {
            return None;
        }
        let stand = Stand::new();
        let options = SshdOptions {
            openssl: &stand.outboard,
            core: None,
            settings,
        };
        let sshd = Sshd::start(&stand.workplace, options).unwrap();
        Some(Self { stand, sshd })
    }

    fn client(&self, program: &str) -> Launch {
        self.sshd
            .client(program)
            .unwrap()
            .with(&self.stand.outboard)
    }

    fn ssh(&self, command: &str) -> String {
        let ssh = self.client("ssh").args([Sshd::HOST, command]);
        ssh.succeed().unwrap().output
    }

    fn remote(&self, path: &std::path::Path) -> String {
        format!("{}:{}", Sshd::HOST, path.display())
    }

    fn noise(&self, mebibytes: u64) -> PathBuf {
        let name = format!("{mebibytes}MiB");
        self.stand
            .workplace
            .write_noise(&name, mebibytes << 20)
            .unwrap()
    }

    fn copy(&self) -> PathBuf {
        self.stand.workplace.join("copy")
    }
}

fn assert_same(one: &std::path::Path, other: &std::path::Path) {
    assert!(
        fs::read(one).unwrap() == fs::read(other).unwrap(),
        "the copy differs"
    );
}

#[test]
fn every_kind_of_key_logs_in() {
    let Some(ssh) = Ssh::start("") else { return };
    for kind in ["ed25519", "ecdsa", "rsa"] {
        let key = Sshd::user_key(&ssh.stand.workplace, kind);
        for host_key in ["ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-512"] {
            let said = ssh
                .client("ssh")
                .args(["-o", &format!("HostKeyAlgorithms={host_key}"), "-o"])
                .arg(format!("IdentityFile={}", key.display()))
                .args([Sshd::HOST, "echo", kind])
                .succeed()
                .unwrap();
            assert_eq!(said.output.trim(), kind);
        }
    }
}

#[test]
fn every_key_exchange_agrees() {
    let kinds = [
        "sntrup761x25519-sha512@openssh.com",
        "curve25519-sha256",
        "ecdh-sha2-nistp256",
        "ecdh-sha2-nistp384",
        "ecdh-sha2-nistp521",
        "diffie-hellman-group16-sha512",
        "diffie-hellman-group-exchange-sha256",
    ];
    // From 10.0 on, sshd agrees to the last two only where it is told to.
    let Some(ssh) = Ssh::start(&format!("KexAlgorithms {}\n", kinds.join(","))) else {
        return;
    };
    for kind in kinds {
        let option = format!("KexAlgorithms={kind}");
        let said = ssh
            .client("ssh")
            .args(["-o", &option, Sshd::HOST, "echo agreed"]);
        assert_eq!(said.succeed().unwrap().output, "agreed\n", "{kind}");
    }
}

#[test]
fn scp_and_sftp_carry_files_both_ways() {
    let Some(ssh) = Ssh::start("") else { return };
    let file = ssh.noise(8);
    let copy = ssh.copy();
    for cipher in CIPHERS {
        let option = format!("Ciphers={cipher}");
        for (from, to) in [
            (file.display().to_string(), ssh.remote(&copy)),
            (ssh.remote(&file), copy.display().to_string()),
        ] {
            let scp = ssh.client("scp").args(["-q", "-o", &option, &from, &to]);
            scp.succeed().unwrap();
            assert_same(&file, &copy);
            fs::remove_file(&copy).unwrap();
        }
        let sftp = ssh.client("sftp").args(["-q", "-o", &option]);
        sftp.arg(ssh.remote(&file)).arg(&copy).succeed().unwrap();
        assert_same(&file, &copy);
        fs::remove_file(&copy).unwrap();
    }
    ssh.stand.assert_served(&[
        Operation::Aes128GcmSeal,
        Operation::Aes128GcmOpen,
        Operation::Aes256GcmSeal,
        Operation::Aes256GcmOpen,
    ]);
    if !is_stock_alone() {
        // Client and server, both ways and by sftp: 8 MiB six times, and the protocol around it.
        let bytes = served_bytes(&ssh.stand.counts(), Operation::Aes128GcmSeal);
        assert!(bytes >= 3 * (8 << 20), "{bytes}");
    }
}

#[test]
fn an_empty_file_and_many_small_ones_arrive() {
    let Some(ssh) = Ssh::start("") else { return };
    let directory = ssh.stand.workplace.join("many");
    fs::create_dir(&directory).unwrap();
    for number in 0..50 {
        fs::write(directory.join(number.to_string()), "x".repeat(number)).unwrap();
    }
    let copy = ssh.copy();
    let scp = ssh
        .client("scp")
        .args(["-q", "-r", "-o", "Ciphers=aes256-gcm@openssh.com"]);
    scp.arg(&directory)
        .arg(ssh.remote(&copy))
        .succeed()
        .unwrap();
    for number in 0..50 {
        let name = number.to_string();
        assert_same(&directory.join(&name), &copy.join(&name));
    }
}

#[test]
fn rsync_carries_a_tree() {
    if !installed(&["rsync"]) {
        return;
    }
    let Some(ssh) = Ssh::start("") else { return };
    let file = ssh.noise(4);
    let copy = ssh.copy();
    let shell = format!(
        "ssh -F {} -c aes128-gcm@openssh.com",
        ssh.sshd.client_configuration().display()
    );
    for _ in 0..2 {
        Launch::new("rsync")
            .unwrap()
            .with(&ssh.stand.outboard)
            // By default it takes a file of the same size and second for unchanged.
            .args(["-a", "--ignore-times", "-e", &shell])
            .arg(&file)
            .arg(ssh.remote(&copy))
            .succeed()
            .unwrap();
        assert_same(&file, &copy);
        // The second time it sends the difference.
        let mut bytes = fs::read(&file).unwrap();
        bytes[1_000_000] ^= 1;
        fs::write(&file, bytes).unwrap();
    }
    ssh.stand
        .assert_served(&[Operation::Aes128GcmSeal, Operation::Aes128GcmOpen]);
}

#[test]
fn keys_are_renewed_in_mid_transfer() {
    let Some(ssh) = Ssh::start("RekeyLimit 16M") else {
        return;
    };
    let file = ssh.noise(80);
    let copy = ssh.copy();
    for cipher in ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com"] {
        let option = format!("Ciphers={cipher}");
        let scp = ssh
            .client("scp")
            .args(["-q", "-o", "RekeyLimit=16M", "-o", &option]);
        scp.arg(&file).arg(ssh.remote(&copy)).succeed().unwrap();
        assert_same(&file, &copy);
        let scp = ssh
            .client("scp")
            .args(["-q", "-o", "RekeyLimit=16M", "-o", &option]);
        scp.arg(ssh.remote(&file)).arg(&copy).succeed().unwrap();
        assert_same(&file, &copy);
    }
}

#[test]
fn ssh_goes_to_the_background() {
    let Some(ssh) = Ssh::start("") else { return };
    let token = ssh.stand.workplace.join("token");
    // ssh -f forks after the keys are agreed on: parent and child have the same ciphers.
    let command = format!("sleep 0.3; seq 100000; touch {}", token.display());
    ssh.client("ssh")
        .args([
            "-f",
            "-o",
            "Ciphers=aes256-gcm@openssh.com",
            Sshd::HOST,
            &command,
        ])
        .succeed()
        .unwrap();
    let begun = Instant::now();
    while !token.exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "the command in the background did not end"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn connections_are_shared_and_forwarded() {
    let Some(ssh) = Ssh::start("") else { return };
    let socket = ssh.stand.workplace.join("control");
    let shared = |arguments: &[&str]| {
        ssh.client("ssh")
            .arg("-o")
            .arg(format!("ControlPath={}", socket.display()))
            .args(arguments)
            .succeed()
            .unwrap()
            .output
    };
    shared(&["-f", "-N", "-M", Sshd::HOST]);
    for number in 0..5 {
        assert_eq!(
            shared(&[Sshd::HOST, "echo", &number.to_string()]),
            format!("{number}\n")
        );
    }
    shared(&["-O", "exit", Sshd::HOST]);
}

#[test]
fn sessions_have_an_environment_of_their_own() {
    let Some(ssh) = Ssh::start("") else { return };
    // sshd runs under Outboard; what users run in it is theirs.
    assert_eq!(ssh.ssh("echo \"<$OPENSSL_CONF>\""), "<>\n");
    let listed = ssh.ssh("openssl list -providers");
    assert!(listed.contains("default"), "{listed}");
    assert!(!listed.to_lowercase().contains("outboard"), "{listed}");
    assert_eq!(ssh.ssh("head -c 300000 /dev/zero | wc -c"), "300000\n");
}

#[test]
fn sshd_says_nothing_of_it() {
    let Some(mut ssh) = Ssh::start("LogLevel INFO") else {
        return;
    };
    ssh.ssh("true");
    ssh.sshd.process().wait_for_children().unwrap();
    let logs: Vec<PathBuf> = fs::read_dir(ssh.stand.workplace.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    assert_eq!(logs.len(), 1);
    let log = fs::read_to_string(&logs[0]).unwrap();
    assert!(log.contains("Accepted publickey"), "{log}");
    for word in ["outboard", "fatal", "error", "panic", "seccomp"] {
        assert!(!log.to_lowercase().contains(word), "{word}:\n{log}");
    }
}

#[test]
fn one_side_is_enough() {
    let Some(ssh) = Ssh::start("") else { return };
    let file = ssh.noise(2);
    let copy = ssh.copy();
    let before = counts(&ssh.stand.outboard);
    // The client is stock: only the server opens what is sent.
    let scp = ssh.sshd.client("scp").unwrap().with(&ssh.stand.stock);
    scp.args(["-q", "-o", "Ciphers=aes128-gcm@openssh.com"])
        .arg(&file)
        .arg(ssh.remote(&copy))
        .succeed()
        .unwrap();
    assert_same(&file, &copy);
    let mut after = counts(&ssh.stand.outboard);
    after.subtract(&before);
    assert_served(&after, &[Operation::Aes128GcmOpen]);
}
