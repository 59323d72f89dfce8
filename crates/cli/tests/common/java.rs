//! A JDK of a test's own, and servers on it.

use super::tokens::output;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The password of a test's key stores.
pub(crate) const PASSWORD: &str = "changeit";

/// A runtime environment without a compiler, of the system's JDK. As in Debian's, its `java.security` is a link to a file in
/// another directory, which is returned, too.
pub(crate) fn runtime(directory: &Path, modules: &str) -> (PathBuf, PathBuf) {
    let home = directory.join("runtime");
    let mut jlink = Command::new("jlink");
    jlink
        .args(["--add-modules", modules, "--output"])
        .arg(&home);
    output(&mut jlink);
    let own = home.join("conf/security/java.security");
    let elsewhere = directory.join("etc");
    fs::create_dir(&elsewhere).expect("it is ours");
    let file = elsewhere.join("java.security");
    fs::rename(&own, &file).expect("it is ours");
    std::os::unix::fs::symlink(&file, &own).expect("it is ours");
    (home, file)
}

/// A key with a certificate for `localhost` in a PKCS #12 file.
pub(crate) fn key_store(file: &Path, words: &[&str]) {
    let mut keytool = Command::new("keytool");
    keytool
        .args([
            "-genkeypair",
            "-alias",
            "site",
            "-dname",
            "CN=localhost",
            "-ext",
            "san=dns:localhost",
        ])
        .args(["-storetype", "PKCS12", "-storepass", PASSWORD, "-keystore"])
        .arg(file)
        .args(words);
    output(&mut keytool);
}

/// `Server.java`, running.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) port: u16,
}

impl Server {
    /// On that JDK, with these options of Java. The ledger is a test's own.
    pub(crate) fn start(java: &Path, directory: &Path, options: &[&str]) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/Server.java");
        output(Command::new("javac").arg("-d").arg(directory).arg(source));
        let mut process = Command::new(java)
            .args(options)
            .arg("-cp")
            .arg(directory)
            .arg("Server")
            .env("OUTBOARD_PKCS11", settings(directory))
            .stdout(Stdio::piped())
            .spawn()
            .expect("it can be started");
        let output = process.stdout.take().expect("it is a pipe");
        let mut line = String::new();
        BufReader::new(output)
            .read_line(&mut line)
            .expect("it prints its port");
        let port = line.trim().parse().expect("it listens");
        Self { process, port }
    }

    /// A full handshake, after which it answers. What the client says of the connection.
    pub(crate) fn shake_hands(&self, version: &str) -> String {
        let connect = format!("localhost:{}", self.port);
        let mut client = Command::new("openssl");
        client
            .args(["s_client", "-connect", &connect, version])
            .stdin(Stdio::null());
        output(&mut client)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the module is told: the ledger of a test's own, and no service.
pub(crate) fn settings(directory: &Path) -> String {
    let directory = directory.display();
    format!("ledger={directory}/ledger, service={directory}/none")
}

/// How many of these operations the ledger of a test's own has.
pub(crate) fn counted(directory: &Path, operation: &str) -> u64 {
    let mut command = super::outboard();
    command
        .args(["stats", "--json", "--ledger"])
        .arg(directory.join("ledger"));
    let said = super::document(&command.assert().success(), "outboard-stats");
    let rows = said["ledgers"][0]["total"]["work"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let rows = rows.iter().filter(|row| row["operation"] == operation);
    rows.filter_map(|row| row["operations"].as_u64()).sum()
}
