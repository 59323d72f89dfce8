//! `outboard java --provider`, and what `outboard doctor --java` says of it, with runtime environments of the system's own JDK.

mod common;

use common::java::{PASSWORD, Server, counted, key_store, runtime};
use common::{are_installed, document, findings_of, public_directory, says, stderr, stdout, token};
use std::fs;
use std::path::{Path, PathBuf};

const MODULES: &str = "java.base,java.management,jdk.crypto.ec,jdk.httpserver";

/// `outboard.jar` of this build, where every user can read it. `make check` builds it.
fn jar(directory: &Path) -> Option<PathBuf> {
    let built = token().with_file_name("../outboard.jar");
    let is_there = built.exists() && are_installed(&["java", "javac", "jlink", "openssl"]);
    if !is_there {
        let must = std::env::var_os("OUTBOARD_TEST_ALL").is_some();
        assert!(!must, "make check builds {}", built.display());
        eprintln!("passed over: {} is not there", built.display());
        return None;
    }
    let jar = directory.join("outboard.jar");
    common::copy(&built, &jar);
    Some(jar)
}

/// `outboard java --provider`, with a short measurement.
fn provider(home: &Path, jar: &Path, properties: &Path) -> assert_cmd::Command {
    let mut command = common::outboard();
    command
        .args(["java", "--provider", "--time", "8", "--for"])
        .arg(home)
        .arg("--jar")
        .arg(jar)
        .arg("--server-file")
        .arg(properties)
        .env_remove("JAVA_HOME");
    command
}

/// A server with these options, and a ledger of the test's own. After `count` full handshakes with each version.
fn serve(home: &Path, directory: &Path, options: &[&str], count: usize) -> Server {
    let store = directory.join("site.p12");
    if !store.exists() {
        key_store(&store, &["-keyalg", "RSA", "-keysize", "2048"]);
    }
    let store = format!("-Djavax.net.ssl.keyStore={}", store.display());
    let password = format!("-Djavax.net.ssl.keyStorePassword={PASSWORD}");
    let settings = format!(
        "-Doutboard.settings=ledger={}",
        directory.join("ledger").display()
    );
    let words = [options, &[&store, &password, &settings]].concat();
    let server = Server::start(&home.join("bin/java"), directory, &words);
    for version in ["-tls1_3", "-tls1_2"] {
        for _ in 0..count {
            says(&server.shake_hands(version), "Verification");
        }
    }
    server
}

/// What doctor says of a server.
fn doctor(server: &Server) -> Vec<serde_json::Value> {
    findings_of(&["--java", &server.process.id().to_string()])
}

#[track_caller]
fn finds(findings: &[serde_json::Value], kind: &str, part: &str) {
    let is_it = |finding: &serde_json::Value| {
        let text = finding.to_string();
        text.contains(&format!("\"{kind}\"")) && text.contains(part)
    };
    assert!(findings.iter().any(is_it), "{part}: {findings:#?}");
}

#[test]
fn a_server_signs_and_agrees_by_the_jar() {
    let directory = public_directory();
    let Some(jar) = jar(directory.path()) else {
        return;
    };
    let at = |name: &str| directory.path().join(name);
    let (home, own) = runtime(directory.path(), MODULES);
    let before = fs::read(&own).expect("it is ours");
    let properties = at("site.security");

    let mut print = provider(&home, &jar, &properties);
    let shown = stdout(&print.arg("--print").assert().success());
    says(&shown, "This would be in");
    assert!(!properties.exists());

    let mut write = provider(&home, &jar, &properties);
    let said = document(
        &write.arg("--json").assert().success(),
        "outboard-java-provider",
    );
    // With ML-KEM, where the JDK has it (24 and later).
    let measured = said["measured"].as_array().expect("a list").len();
    assert!(measured == 22 || measured == 31, "{measured}");
    assert_eq!(said["changed"], true);
    let tried: Vec<&str> = said["tried"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["service"].as_str())
        .collect();
    for service in ["Signature.RSASSA-PSS", "KeyAgreement.X25519"] {
        assert!(tried.contains(&service), "{tried:?}");
    }
    assert_eq!(fs::read(&own).expect("it is there"), before);

    let options = said["options"].as_array().expect("a list");
    let options: Vec<&str> = options.iter().filter_map(|one| one.as_str()).collect();
    let server = serve(&home, directory.path(), &options, 5);
    for operation in ["rsa-2048-sign", "x25519-derive"] {
        assert_eq!(counted(directory.path(), operation), 10, "{operation}");
    }
    let findings = doctor(&server);
    finds(&findings, "good", "registers outboard.jar");
    finds(&findings, "good", "has the library of outboard.jar loaded");
    drop(server);

    let mut revert = common::outboard();
    revert.args(["java", "--provider", "--revert", "--server-file"]);
    says(
        &stdout(&revert.arg(&properties).assert().success()),
        "site.security is removed.",
    );
    assert!(!properties.exists());
}

/// What was measured as no gain, the JDK does; what is wrong with a registration, doctor says.
#[test]
fn what_is_left_to_the_jdk_stays_there_and_doctor_explains() {
    let directory = public_directory();
    let Some(jar) = jar(directory.path()) else {
        return;
    };
    let (home, _) = runtime(directory.path(), MODULES);
    let file = directory.path().join("site.security");
    let option = format!("-Djava.security.properties={}", file.display());
    let boot = format!("-Xbootclasspath/a:{}", jar.display());
    let write = |number: u32, more: &str| {
        let text = format!("security.provider.{number}=org.outboard.provider.Outboard\n{more}");
        fs::write(&file, text).expect("it is ours");
    };
    let first = fs::read_to_string(home.join("conf/security/java.security")).expect("it is there");
    let next = (1..)
        .find(|at| !first.contains(&format!("\nsecurity.provider.{at}=")))
        .expect("there is one");

    write(
        next,
        "jdk.security.provider.preferred=Signature.RSASSA-PSS:Outboard, Signature.SHA256withRSA:Outboard, KeyAgreement.XDH:Outboard, KeyPairGenerator.XDH:Outboard\n\
         outboard.left-to-jdk=x25519-derive, x25519-keygen\n",
    );
    let server = serve(&home, directory.path(), &[&boot, &option], 2);
    assert_eq!(counted(directory.path(), "rsa-2048-sign"), 4);
    assert_eq!(counted(directory.path(), "x25519-derive"), 0);
    finds(
        &doctor(&server),
        "good",
        "x25519-derive, x25519-keygen stay with the JDK",
    );
    drop(server);

    // Nothing prefers it, so nothing is signed by it.
    write(next, "");
    let server = serve(&home, directory.path(), &[&boot, &option], 1);
    finds(
        &doctor(&server),
        "problem",
        "Java does not prefer outboard.jar",
    );
    drop(server);
    write(next + 1, "");
    let server = serve(&home, directory.path(), &[&boot, &option], 1);
    finds(&doctor(&server), "problem", "which registers outboard.jar");
    drop(server);
    write(
        next,
        "jdk.security.provider.preferred=Signature.RSASSA-PSS:Outboard, KeyAgreement.X25519:Outboard, \
         KeyPairGenerator.X25519:Outboard\n",
    );
    // Java goes on without it.
    let server = serve(&home, directory.path(), &[&option], 1);
    finds(&doctor(&server), "problem", "names outboard.jar");
    drop(server);
    let missing = "-Xbootclasspath/a:/nowhere/outboard.jar";
    let server = serve(&home, directory.path(), &[missing, &option], 1);
    finds(
        &doctor(&server),
        "problem",
        "cannot read /nowhere/outboard.jar",
    );
    drop(server);
    assert_eq!(counted(directory.path(), "rsa-2048-sign"), 4);
}

#[test]
fn what_cannot_serve_changes_nothing() {
    let directory = public_directory();
    let Some(jar) = jar(directory.path()) else {
        return;
    };
    let (home, own) = runtime(directory.path(), MODULES);
    let file = directory.path().join("site.security");
    let refused = |jar: &Path| {
        let said = stderr(&provider(&home, jar, &file).assert().failure());
        assert!(!file.exists(), "{said}");
        said
    };
    says(
        &refused(Path::new("/nowhere/outboard.jar")),
        "cannot find /nowhere/outboard.jar",
    );
    let broken = directory.path().join("broken.jar");
    fs::write(&broken, "not a jar").expect("it is ours");
    says(&refused(&broken), "nothing was changed: in Java 17");
    let before = fs::read(&own).expect("it is ours");
    for (line, reason) in [
        ("security.provider.20=Other", "no line security.provider."),
        (
            "jdk.security.provider.preferred=KeyAgreement.X25519:Other",
            "has KeyAgreement.X25519:Other (remove",
        ),
        (
            "security.provider.13=org.outboard.provider.Outboard",
            "registers Outboard already",
        ),
    ] {
        let text = [&before[..], line.as_bytes(), b"\n"].concat();
        fs::write(&own, text).expect("it is ours");
        says(&refused(&jar), reason);
    }
    fs::write(&own, before).expect("it is ours");
    fs::write(&file, "theirs").expect("it is ours");
    let said = stderr(&provider(&home, &jar, &file).assert().failure());
    says(&said, "was not written by 'outboard java'");
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "theirs");
}
