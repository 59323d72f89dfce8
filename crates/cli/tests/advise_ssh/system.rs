//! A configuration of its own for `outboard advise ssh`, and the costs that it decides by.

use outboard_programs::Sshd;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

use crate::common::{outboard, outboard_process, public_directory};

/// In the shape of Debian's /etc/ssh, with the costs of some algorithms.
pub(crate) struct System {
    pub(crate) directory: TempDir,
}

/// As `--json` prints it, with what the tests need: GCM is fast, ChaCha20 is not.
pub(crate) const COSTS: &str = r#"{
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
    pub(crate) fn new() -> Self {
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

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("it is ours");
    }

    pub(crate) fn include(&self, name: &str) -> String {
        format!("Include {}.d/*.conf", self.path(name).display())
    }

    pub(crate) fn drop_in(&self, name: &str) -> PathBuf {
        self.path(&format!("{name}.d/10-outboard.conf"))
    }

    pub(crate) fn advise(&self, arguments: &[&str]) -> assert_cmd::assert::Assert {
        let mut command = outboard();
        command.args(["advise", "ssh", "--directory"]);
        command.arg(self.directory.path());
        if !arguments.contains(&"--revert") {
            command.arg("--costs").arg(self.path("costs.json"));
        }
        command.args(arguments).assert()
    }

    /// The same under what these words of a shell set.
    pub(crate) fn limited(&self, limits: &str, arguments: &[&str]) -> Output {
        let mut command = shell(&assert_cmd::cargo::cargo_bin("outboard"), limits);
        command.args(["advise", "ssh", "--directory"]);
        command.arg(self.directory.path());
        if !arguments.contains(&"--revert") {
            command.arg("--costs").arg(self.path("costs.json"));
        }
        command.args(arguments).output().expect("it runs")
    }

    /// Every file and what is in it.
    pub(crate) fn state(&self) -> Vec<(PathBuf, Vec<u8>)> {
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
    pub(crate) fn in_force(&self, name: &str, keyword: &str) -> Vec<String> {
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

pub(crate) const HALVES: [&str; 2] = ["sshd_config", "ssh_config"];

pub(crate) fn outboard_process_at(program: &Path) -> Command {
    isolated(Command::new(program))
}

/// The program, started by a shell that first does that.
pub(crate) fn shell(program: &Path, first: &str) -> Command {
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
