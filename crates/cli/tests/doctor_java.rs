//! `outboard doctor --java`, with JDKs and servers that something was done to.

mod common;

use common::java::{PASSWORD, Server, key_store};
use common::service::Service;
use common::{are_installed, findings_of, outboard, public_directory, says, stderr, token, tokens};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// The files of a JDK that doctor reads, with a right configuration.
struct Jdk(TempDir);

const PROVIDERS: &str = "security.provider.1=SUN\nsecurity.provider.2=SunRsaSign\nsecurity.provider.3=SunEC\n\
                         security.overridePropertiesFile=true\n";
const PREFERRED: &str = "jdk.security.provider.preferred=RSASSA-PSS:SunPKCS11-Outboard, SHA256withRSA:SunPKCS11-Outboard, \
                         SHA384withRSA:SunPKCS11-Outboard, SHA512withRSA:SunPKCS11-Outboard, \
                         SHA256withECDSA:SunPKCS11-Outboard, SHA384withECDSA:SunPKCS11-Outboard\n";

impl Jdk {
    fn new() -> Self {
        let jdk = Self(public_directory());
        fs::create_dir_all(jdk.path("conf/security")).expect("it is ours");
        common::copy(&token(), &jdk.path("outboard-pkcs11.so"));
        jdk.write("release", "JAVA_VERSION=\"17.0.15\"\n");
        jdk.configure("KeyStore CKM_RSA_PKCS CKM_RSA_PKCS_PSS CKM_ECDSA");
        jdk.secure(&format!("{PROVIDERS}{}{PREFERRED}", jdk.line(4)));
        jdk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("it is ours");
    }

    fn line(&self, number: u32) -> String {
        format!(
            "security.provider.{number}=SunPKCS11 {}\n",
            self.path("java.cfg").display()
        )
    }

    fn secure(&self, text: &str) {
        self.write("conf/security/java.security", text);
    }

    fn configure(&self, mechanisms: &str) {
        let library = self.path("outboard-pkcs11.so");
        let text = format!(
            "name = Outboard\nlibrary = {}\nslot = 1\nenabledMechanisms = {{ {mechanisms} }}\n",
            library.display()
        );
        self.write("java.cfg", &text);
    }

    /// The problems alone.
    fn problems(&self) -> Vec<String> {
        texts(
            &findings_of(&["--java", &self.path("").display().to_string()]),
            "problem",
        )
    }
}

fn texts(findings: &[Value], state: &str) -> Vec<String> {
    let of_state = findings.iter().filter(|finding| finding["state"] == state);
    of_state.map(ToString::to_string).collect()
}

#[track_caller]
fn one_says(findings: &[String], part: &str) {
    let count = findings
        .iter()
        .filter(|finding| finding.contains(part))
        .count();
    assert_eq!(count, 1, "expected: {part}\ngot: {findings:#?}");
}

#[test]
fn each_mistake_in_a_jdk_s_files_is_named() {
    let jdk = Jdk::new();
    assert_eq!(jdk.problems(), [""; 0]);
    let right = format!("{PROVIDERS}{}{PREFERRED}", jdk.line(4));

    for (text, expected) in [
        (PROVIDERS.to_owned(), "does not register Outboard"),
        (
            format!("{PROVIDERS}{}{PREFERRED}", jdk.line(6)),
            "write security.provider.4=SunPKCS11 ",
        ),
        (
            format!(
                "{}security.provider.2=SUN\nsecurity.provider.3=SunEC\n{PREFERRED}",
                jdk.line(1)
            ),
            "SunPKCS11-Outboard comes before SUN\"",
        ),
        (
            format!("{PROVIDERS}{}", jdk.line(4)),
            "the first provider of a signature",
        ),
        (
            right.replace("RSASSA-PSS:SunPKCS11-Outboard, ", ""),
            "write RSASSA-PSS:SunPKCS11-Outboard into",
        ),
        (
            right.replace(
                "SHA256withECDSA:SunPKCS11-Outboard",
                "SHA256withECDSA:SunEC",
            ),
            "for SHA256withECDSA",
        ),
    ] {
        jdk.secure(&text);
        one_says(&jdk.problems(), expected);
    }
    jdk.secure(&right);
    for (mechanisms, expected) in [
        ("CKM_RSA_PKCS CKM_RSA_PKCS_PSS CKM_ECDSA", "lacks KeyStore"),
        (
            "KeyStore CKM_RSA_PKCS CKM_ECDSA",
            "RSASSA-PSS stays with the JDK",
        ),
        (
            "KeyStore CKM_RSA_PKCS_PSS CKM_ECDSA",
            "lacks CKM_RSA_PKCS\"",
        ),
        ("KeyStore CKM_RSA_PKCS CKM_RSA_PKCS_PSS", "lacks CKM_ECDSA"),
        (
            "KeyStore CKM_RSA_PKCS CKM_RSA_PKCS_PSS CKM_ECDSA CKM_SHA256",
            "more than servers need: CKM_SHA256",
        ),
    ] {
        jdk.configure(mechanisms);
        one_says(&jdk.problems(), expected);
    }
    let library = jdk.path("outboard-pkcs11.so");
    jdk.write(
        "java.cfg",
        &format!(
            "name = Outboard\nlibrary = {}\nslot = 1\n",
            library.display()
        ),
    );
    one_says(&jdk.problems(), "has no enabledMechanisms");

    jdk.configure("KeyStore CKM_RSA_PKCS CKM_RSA_PKCS_PSS CKM_ECDSA");
    fs::write(&library, "text").expect("it is ours");
    one_says(&jdk.problems(), "is no library of this machine");
    fs::remove_file(&library).expect("it is ours");
    one_says(&jdk.problems(), "Java cannot load");
    common::copy(&token(), &library);
    let named = jdk.path("outboard.cfg");
    jdk.secure(&right.replace("java.cfg", "outboard.cfg"));
    one_says(
        &jdk.problems(),
        &format!("cannot read {}, which security.provider.4", named.display()),
    );
    jdk.secure(&right);
    jdk.write("release", "JAVA_VERSION=\"11.0.2\"\n");
    one_says(&jdk.problems(), "is Java 11.0.2");
}

#[test]
fn what_is_no_jdk_is_refused() {
    let directory = public_directory();
    let doctor = |named: &str| {
        let mut command = outboard();
        command.args(["doctor", "--java", named]);
        stderr(&command.assert().failure())
    };
    says(
        &doctor(&directory.path().display().to_string()),
        "is not a JDK",
    );
    let own = std::process::id().to_string();
    says(&doctor(&own), "is not a Java virtual machine");
    says(&doctor("999999999"), "there is no process");
}

/// The option of Java that names a file.
fn option(equals: &str, file: &Path) -> String {
    format!("-Djava.security.properties{equals}{}", file.display())
}

/// `outboard java`, for the system's JDK.
fn prepare(directory: &Path, more: &[&str]) -> PathBuf {
    let module = directory.join("outboard-pkcs11.so");
    common::copy(&token(), &module);
    let file = directory.join("site.security");
    let java = outboard_programs::find("java").expect("it is installed");
    let mut command = outboard();
    command
        .args(["java", "--for"])
        .arg(java)
        .arg("--module")
        .arg(module);
    command
        .arg("--server-file")
        .arg(&file)
        .args(more)
        .env_remove("JAVA_HOME");
    command.assert().success();
    file
}

#[test]
fn a_server_that_runs_is_examined() {
    if !are_installed(&["java", "javac", "keytool", "openssl"]) {
        return;
    }
    let directory = public_directory();
    let at = |name: &str| directory.path().join(name);
    let file = prepare(directory.path(), &[]);
    key_store(&at("store"), &["-keyalg", "RSA", "-keysize", "2048"]);
    let store = format!("-Djavax.net.ssl.keyStore={}", at("store").display());
    let password = format!("-Djavax.net.ssl.keyStorePassword={PASSWORD}");
    let java = outboard_programs::find("java").expect("it is installed");
    let start = |option: &str| Server::start(&java, directory.path(), &[option, &store, &password]);
    let findings = |server: &Server| findings_of(&["--java", &server.process.id().to_string()]);

    let server = start(&option("=", &file));
    server.shake_hands("-tls1_3");
    let found = findings(&server);
    assert_eq!(texts(&found, "problem"), [""; 0]);
    let good = texts(&found, "good");
    one_says(
        &good,
        "registers SunPKCS11-Outboard (slot 1), and Java prefers it for signatures",
    );
    one_says(&good, "outboard-pkcs11.so loaded");
    // The module's file is another one now.
    let module = at("outboard-pkcs11.so");
    fs::remove_file(&module).expect("it is ours");
    common::copy(&token(), &module);
    one_says(
        &texts(&findings(&server), "note"),
        "the file was replaced after",
    );
    drop(server);

    let none = start(&option("=", &at("none")));
    none.shake_hands("-tls1_3");
    let problems = texts(&findings(&none), "problem");
    one_says(&problems, "ignores such an option without a message");
    one_says(&problems, "does not register Outboard");
    drop(none);

    // A copy of the JDK's own, in its place.
    let jdk = java.canonicalize().expect("it is there");
    let jdk = jdk.ancestors().nth(2).expect("it is in a JDK");
    let copy = at("copy.security");
    fs::copy(jdk.join("conf/security/java.security"), &copy).expect("it can be read");
    let replaced = start(&option("==", &copy));
    let found = findings(&replaced);
    one_says(&texts(&found, "note"), "replaces all of");
    one_says(
        &texts(&found, "problem"),
        "copy.security does not register Outboard",
    );
    // With all lines, but written later than the start.
    let text = [
        fs::read(&copy).expect("ours"),
        fs::read(&file).expect("ours"),
    ]
    .concat();
    fs::write(&copy, text).expect("it is ours");
    let later = SystemTime::now() + Duration::from_secs(60);
    let written = fs::File::options()
        .write(true)
        .open(&copy)
        .expect("it is ours");
    written.set_modified(later).expect("it is ours");
    one_says(
        &texts(&findings(&replaced), "problem"),
        "it started before the files were written",
    );
}

/// A virtual machine of another user, which waits.
struct Waiting(Child);

impl Waiting {
    fn start(directory: &Path, option: &str, settings: &str) -> Self {
        let source = "public class Wait { public static void main(String[] a) throws Exception { \
                      System.out.println(\"up\"); System.in.read(); } }";
        fs::write(directory.join("Wait.java"), source).expect("it is ours");
        let javac = Command::new("javac")
            .arg("-d")
            .arg(directory)
            .arg(directory.join("Wait.java"))
            .status();
        assert!(javac.expect("it is installed").success());
        let mut process = Command::new("setpriv")
            .args([
                "--reuid=nobody",
                "--regid=nogroup",
                "--clear-groups",
                "java",
                option,
                "-cp",
            ])
            .arg(directory)
            .arg("Wait")
            .env("OUTBOARD_PKCS11", settings)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("setpriv is installed");
        let mut up = [0; 3];
        let output = process.stdout.as_mut().expect("it is a pipe");
        std::io::Read::read_exact(output, &mut up).expect("it says so");
        Self(process)
    }

    fn problems(&self) -> Vec<String> {
        texts(
            &findings_of(&["--java", &self.0.id().to_string()]),
            "problem",
        )
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_the_server_s_user_may_not_do_is_named() {
    if !are_installed(&["java", "javac", "keytool"]) || !rustix::process::geteuid().is_root() {
        return;
    }
    let service = Service::start();
    let directory = service.directory();
    tokens::create(&service, "web", true);
    let place = directory.display().to_string();
    let file = prepare(directory, &["--token", "web", "--directory", &place]);
    let server = Waiting::start(directory, &option("=", &file), &tokens::settings(&service));
    one_says(&server.problems(), "outboard token grant web --user nobody");
    service.says(&["token", "grant", "web", "--user", "nobody"]);
    assert_eq!(server.problems(), [""; 0]);
    let configuration = directory.join("site.cfg");
    let mode = |mode| {
        fs::set_permissions(&configuration, PermissionsExt::from_mode(mode)).expect("it is ours");
    };
    mode(0o600);
    one_says(&server.problems(), "nobody cannot read");
    mode(0o644);
    service.says(&["token", "delete", "web", "--yes"]);
    one_says(&server.problems(), "has no token in slot 2");
    service.says(&["service", "stop"]);
    one_says(&server.problems(), "does not run");
    drop(server);

    // The keys of 'outboard keys'.
    let service = Service::start();
    let place = service.directory().display().to_string();
    let file = prepare(
        service.directory(),
        &["--coprocessor", "--directory", &place],
    );
    let server = Waiting::start(
        service.directory(),
        &option("=", &file),
        &tokens::settings(&service),
    );
    one_says(
        &server.problems(),
        "nobody may use no key of the card service",
    );
    service.key("site", "p256");
    service.says(&["keys", "grant", "site", "--user", "nobody"]);
    one_says(
        &server.problems(),
        "has a certificate, and Java sees no others",
    );
}
