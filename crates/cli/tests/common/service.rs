//! A card service of a test's own.

use super::{module, outboard, public_directory, stderr, stdout};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{PidfdFlags, Signal, kill_process};
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A service of a test's own, stopped at the test's end.
pub(crate) struct Service(TempDir);

impl Service {
    /// A service that runs.
    pub(crate) fn start() -> Self {
        let service = Self::in_directory(public_directory());
        service.outboard(&["service", "start"]).assert().success();
        service
    }

    /// One that does not run yet.
    pub(crate) fn in_directory(directory: TempDir) -> Self {
        Self(directory)
    }

    /// Of its sockets, and of the test's other files.
    pub(crate) fn directory(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn outboard(&self, words: &[&str]) -> assert_cmd::Command {
        let mut command = outboard();
        command.args(words).arg("--directory").arg(self.0.path());
        command
    }

    /// What a command says that succeeds.
    pub(crate) fn says(&self, words: &[&str]) -> String {
        stdout(&self.outboard(words).assert().success())
    }

    /// What a command says that fails.
    pub(crate) fn refuses(&self, words: &[&str]) -> String {
        stderr(&self.outboard(words).assert().failure())
    }

    /// A configuration whose programs use the keys of this service.
    pub(crate) fn configuration(&self) -> PathBuf {
        let file = self.path("openssl.cnf");
        fs::write(&file, self.configuration_text()).expect("it is ours");
        file
    }

    /// Its text.
    pub(crate) fn configuration_text(&self) -> String {
        format!(
            "openssl_conf = init\n[init]\nproviders = providers\nalg_section = algorithms\n\
             [providers]\ndefault = stock\noutboard = outboard\n[stock]\nactivate = 1\n\
             [outboard]\nmodule = {}\nservice = {}\nledger = {}\nactivate = 1\n\
             [algorithms]\ndefault_properties = ?provider=outboard\n",
            module().display(),
            self.0.path().display(),
            self.path("ledger").display()
        )
    }

    /// Makes a key that this user may use, and its reference in a file.
    pub(crate) fn key(&self, name: &str, kind: &str) -> PathBuf {
        self.says(&["keys", "generate", name, "--type", kind]);
        self.says(&["keys", "grant", name, "--user", &us()]);
        let file = self.path(&format!("{name}.key"));
        fs::write(&file, self.says(&["keys", "reference", name])).expect("it is ours");
        file
    }

    /// Makes a certificate for such a key, which signs itself.
    pub(crate) fn certificate(&self, key: &Path) -> PathBuf {
        let file = key.with_extension("crt");
        let key = key.to_str().expect("it is ASCII");
        let names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
        let request = [
            "req",
            "-x509",
            "-new",
            "-key",
            key,
            "-subj",
            "/CN=localhost",
        ];
        let output = self.openssl(&[&request[..], &["-addext", names]].concat());
        succeeds(&output);
        fs::write(&file, output.stdout).expect("it is ours");
        file
    }

    /// Its process.
    pub(crate) fn process(&self) -> rustix::process::Pid {
        let status = self.outboard(&["service", "status", "--json"]).assert();
        let status = super::document(&status.success(), "outboard-service");
        let pid = status["pid"].as_i64();
        pid.and_then(|pid| rustix::process::Pid::from_raw(pid as i32))
            .expect("it is a process")
    }

    /// The process of its front for ssh clients.
    pub(crate) fn front(&self) -> rustix::process::Pid {
        let agent = UnixStream::connect(self.path("agent.sock")).expect("it listens");
        let listener = rustix::net::sockopt::socket_peercred(&agent);
        listener.expect("the kernel knows it").pid
    }

    /// Kills it.
    pub(crate) fn kill(&self) {
        kill(self.process());
    }

    /// What that key decrypts of `a message`, which its public half has encrypted with the same options of `pkeyutl`.
    pub(crate) fn decrypted(&self, key: &str, options: &[&str]) -> Option<String> {
        let message = self.path("message");
        fs::write(&message, "a message").expect("it is ours");
        let encrypted = self.path("encrypted");
        let pkeyutl = |way: &str, file: &Path| {
            let file = file.to_str().expect("it is ASCII");
            let words = ["pkeyutl", way, "-inkey", key, "-in", file];
            self.openssl(&[&words[..], options].concat())
        };
        let output = pkeyutl("-encrypt", &message);
        succeeds(&output);
        fs::write(&encrypted, output.stdout).expect("it is ours");
        let output = pkeyutl("-decrypt", &encrypted);
        let is_done = output.status.success();
        is_done.then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub(crate) fn openssl(&self, words: &[&str]) -> Output {
        let mut command = Command::new("openssl");
        command
            .args(words)
            .env("OPENSSL_CONF", self.configuration());
        command.output().expect("openssl is installed")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.outboard(&["service", "stop"]).output();
    }
}

/// Kills a process, and waits for its end: a process that dies may still take a connection, and then lose it.
pub(crate) fn kill(process: rustix::process::Pid) {
    let watched = rustix::process::pidfd_open(process, PidfdFlags::empty());
    let watched = watched.expect("it runs");
    kill_process(process, Signal::KILL).expect("it is ours");
    let mut end = [PollFd::new(&watched, PollFlags::IN)];
    poll(&mut end, None).expect("its end is told");
}

#[track_caller]
pub(crate) fn succeeds(output: &Output) {
    // keytool complains where others print what was asked.
    let said = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{said}");
}

/// The service's program is beside the command.
pub(crate) fn daemon() -> PathBuf {
    assert_cmd::cargo::cargo_bin("outboard").with_file_name("outboardd")
}

pub(crate) fn us() -> String {
    rustix::process::getuid().as_raw().to_string()
}

/// A key file in the form that OpenSSL writes.
pub(crate) fn key_file(path: &Path, words: &[&str]) {
    let mut command = Command::new("openssl");
    let output = command.args(words).arg("-out").arg(path).output();
    succeeds(&output.expect("openssl is installed"));
}
