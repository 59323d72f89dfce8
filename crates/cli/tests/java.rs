//! `outboard java`, with runtime environments of the system's own JDK.

mod common;

use assert_cmd::Command;
use common::java::{PASSWORD, Server, counted, key_store, runtime, settings};
use common::service::Service;
use common::tokens::{PINS, output};
use common::{are_installed, document, public_directory, says, stderr, stdout, token, tokens};
use std::fs;
use std::path::{Path, PathBuf};

const MODULES: &str = "java.base,jdk.crypto.cryptoki,jdk.crypto.ec,jdk.httpserver";

/// `outboard java OPTIONS`, with this build's module where every user can read it.
fn java(directory: &Path, home: &Path, options: &[&str]) -> Command {
    let module = directory.join("outboard-pkcs11.so");
    if !module.exists() {
        common::copy(&token(), &module);
    }
    let mut command = common::outboard();
    command.arg("java").args(options).arg("--for").arg(home);
    command.arg("--module").arg(module).env_remove("JAVA_HOME");
    command
}

/// Lets the JDK make a key in a file, and sign a certificate with it.
fn sign(home: &Path, directory: &Path, algorithm: &str) {
    let mut keytool = std::process::Command::new(home.join("bin/keytool"));
    keytool
        .args([
            "-genkeypair",
            "-alias",
            "x",
            "-dname",
            "CN=x",
            "-keyalg",
            "RSA",
            "-sigalg",
            algorithm,
        ])
        .args(["-storepass", PASSWORD, "-keystore"])
        .arg(directory.join(format!("{algorithm}.p12")))
        .env("OUTBOARD_PKCS11", settings(directory));
    output(&mut keytool);
}

#[test]
fn a_jdk_is_changed_and_restored_byte_for_byte() {
    if !are_installed(&["java", "jlink", "keytool"]) {
        return;
    }
    let directory = public_directory();
    let at = |name: &str| directory.path().join(name);
    let (home, file) = runtime(directory.path(), MODULES);
    // Without an end of its last line, and with what an administrator prefers.
    let mut before = fs::read(&file).expect("it is ours");
    before.extend_from_slice(b"jdk.security.provider.preferred=AES/GCM/NoPadding:SunJCE");
    fs::write(&file, &before).expect("it is ours");

    let printed = java(
        directory.path(),
        &home,
        &["--whole-jdk", "--print", "--json"],
    )
    .assert();
    let printed = document(&printed.success(), "outboard-java");
    assert_eq!(printed["changed"], false);
    assert_eq!(fs::read(&file).expect("it is there"), before);

    let done = java(directory.path(), &home, &["--whole-jdk", "--json"])
        .assert()
        .success();
    let done = document(&done, "outboard-java");
    assert_eq!(done["changed"], true);
    assert_eq!(
        done["properties"]["file"],
        file.to_str().expect("it is ASCII")
    );
    let lines = done["properties"]["lines"].as_str().expect("a text");
    says(
        lines,
        "preferred=AES/GCM/NoPadding:SunJCE, \\\n    Signature.RSASSA-PSS:SunPKCS11-Outboard",
    );
    let tried = done["tried"].as_array().expect("a list");
    assert_eq!(tried.len(), 3, "{done}");
    assert!(home.join("conf/security/java.security").is_symlink());
    let again = java(directory.path(), &home, &["--whole-jdk"])
        .assert()
        .success();
    says(&stdout(&again), "nothing was changed");

    for algorithm in ["SHA384withRSA", "RSASSA-PSS"] {
        let signed = counted_or_none(directory.path());
        sign(&home, directory.path(), algorithm);
        assert_eq!(counted_or_none(directory.path()), signed + 1, "{algorithm}");
    }

    let mut revert = common::outboard();
    revert
        .args(["java", "--whole-jdk", "--revert", "--json", "--for"])
        .arg(&home);
    let reverted = document(&revert.assert().success(), "outboard-java-revert");
    assert_eq!(reverted["is_as_before"], true);
    assert_eq!(fs::read(&file).expect("it is there"), before);
    let left = fs::read_dir(at("etc")).expect("it is ours");
    assert_eq!(left.count(), 1, "nothing else is left");
    let signed = counted_or_none(directory.path());
    sign(&home, directory.path(), "SHA512withRSA");
    assert_eq!(counted_or_none(directory.path()), signed);
}

/// Signatures so far. There is no ledger before the first one.
fn counted_or_none(directory: &Path) -> u64 {
    match directory.join("ledger").exists() {
        true => counted(directory, "rsa-2048-sign"),
        false => 0,
    }
}

#[test]
fn a_server_signs_its_handshakes_by_outboard() {
    if !are_installed(&["java", "javac", "jlink", "keytool", "openssl"]) {
        return;
    }
    let directory = public_directory();
    let at = |name: &str| directory.path().join(name);
    let (home, file) = runtime(directory.path(), MODULES);
    let before = fs::read(&file).expect("it is ours");
    let properties = at("site.security");
    let properties = properties.to_str().expect("it is ASCII");
    let said = java(directory.path(), &home, &["--server-file", properties])
        .assert()
        .success();
    let option = format!("-Djava.security.properties={properties}");
    says(&stdout(&said), &format!("  {option}\n"));
    let password = format!("-Djavax.net.ssl.keyStorePassword={PASSWORD}");
    for (operation, words) in [
        ("rsa-2048-sign", &["-keyalg", "RSA", "-keysize", "2048"][..]),
        ("p256-sign", &["-keyalg", "EC", "-groupname", "secp256r1"]),
    ] {
        let store = at(operation);
        key_store(&store, words);
        let store = format!("-Djavax.net.ssl.keyStore={}", store.display());
        let server = Server::start(
            &home.join("bin/java"),
            directory.path(),
            &[&option, &store, &password],
        );
        for version in ["-tls1_3", "-tls1_2"] {
            for _ in 0..5 {
                says(&server.shake_hands(version), "Verification");
            }
        }
        drop(server);
        assert_eq!(counted(directory.path(), operation), 10, "{operation}");
    }
    // The JDK's own file is as it was.
    assert_eq!(fs::read(&file).expect("it is there"), before);
    let mut revert = common::outboard();
    let revert = revert.args(["java", "--revert", "--server-file", properties]);
    says(&stdout(&revert.assert().success()), "site.cfg is removed.");
    assert!(!at("site.security").exists() && !at("site.cfg").exists());
}

#[test]
fn what_does_not_count_changes_nothing() {
    if !are_installed(&["java", "jlink", "keytool"]) {
        return;
    }
    let directory = public_directory();
    let at = |name: &str| directory.path().join(name);
    // No SunPKCS11 in it.
    let (home, file) = runtime(directory.path(), "java.base,jdk.crypto.ec");
    let before = fs::read(&file).expect("it is ours");
    let properties = at("site.security");
    let properties = properties.to_str().expect("it is ASCII");
    let refused = |options: &[&str]| {
        let said = stderr(&java(directory.path(), &home, options).assert().failure());
        assert!(
            !at("site.security").exists() && !at("site.cfg").exists(),
            "{said}"
        );
        said
    };
    let server = ["--server-file", properties];
    says(&refused(&server), "signs by SHA256withRSA without Outboard");
    says(&refused(&["--whole-jdk"]), "nothing was changed");
    assert_eq!(fs::read(&file).expect("it is there"), before);
    assert_eq!(fs::read_dir(at("etc")).expect("it is ours").count(), 1);

    for (line, reason) in [
        ("security.provider.20=Other", "no line security.provider.13"),
        (
            "jdk.security.provider.preferred=SHA256withRSA:SunRsaSign",
            "has SHA256withRSA:SunRsaSign (remove",
        ),
        (
            "security.overridePropertiesFile=false",
            "set security.overridePropertiesFile=true",
        ),
        (
            "security.provider.13=SunPKCS11 /etc/outboard.cfg",
            "by security.provider.13 (remove",
        ),
        ("# >>> outboard", "is damaged"),
        ("last = 1\\", "ends with a backslash"),
    ] {
        let text = [&before[..], line.as_bytes(), b"\n"].concat();
        fs::write(&file, text).expect("it is ours");
        says(&refused(&server), reason);
    }
    fs::write(&file, before).expect("it is ours");
    fs::write(at("other.security"), "theirs").expect("it is ours");

    let old = at("8");
    fs::create_dir_all(old.join("jre/lib/security")).expect("it is ours");
    fs::write(old.join("jre/lib/security/java.security"), "").expect("it is ours");
    let of = |home: &Path| stderr(&java(directory.path(), home, &server).assert().failure());
    says(
        &of(&old),
        "is Java 8 or older: Outboard needs Java 17 or later",
    );
    says(&of(&at("etc")), "is not a JDK");
    let mut several = common::outboard();
    several.args(["java", "--print"]).env("JAVA_HOME", &home);
    says(&stderr(&several.assert().failure()), "name several JDKs");
}

fn system_java() -> PathBuf {
    outboard_programs::find("java").expect("it is installed")
}

#[test]
fn files_of_others_stay() {
    if !are_installed(&["java", "keytool"]) {
        return;
    }
    let directory = public_directory();
    let file = directory.path().join("site.security");
    fs::write(&file, "theirs").expect("it is ours");
    let name = file.to_str().expect("it is ASCII");
    let said = java(directory.path(), &system_java(), &["--server-file", name])
        .assert()
        .failure();
    says(&stderr(&said), "was not written by 'outboard java'");
    let mut revert = common::outboard();
    let reverted = revert
        .args(["java", "--revert", "--server-file", name])
        .assert();
    says(&stdout(&reverted.success()), "There is nothing to remove.");
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "theirs");
}

#[test]
fn keys_of_a_token_are_tried_with_its_pin() {
    if !are_installed(&["java", "keytool"]) {
        return;
    }
    let service = Service::start();
    let slot = tokens::create(&service, "web", true).slot;
    let file = |name: &str, text: &str| {
        let file = service.path(name);
        fs::write(&file, text).expect("it is ours");
        file.to_str().expect("it is ASCII").to_owned()
    };
    let (pin, wrong) = (file("pin", PINS.1), file("wrong", "wrong"));
    let properties = service.path("web.security");
    let properties = properties.to_str().expect("it is ASCII");
    let home = system_java();
    let tried = |options: &[&str]| {
        let mut command = java(service.directory(), &home, options);
        command
            .args(["--server-file", properties, "--json", "--directory"])
            .arg(service.directory());
        command.assert()
    };
    let with_pin = document(
        &tried(&["--token", "web", "--pin-file", &pin]).success(),
        "outboard-java",
    );
    assert_eq!(
        (&with_pin["slot"], &with_pin["tried"][0]["what"]),
        (&slot.into(), &"the key store".into())
    );
    assert_eq!(with_pin["provider"], "SunPKCS11-Outboard-web");
    let text = fs::read_to_string(properties).expect("it was written");
    assert!(!text.contains("preferred"), "{text}");
    // Without a PIN, no try is counted.
    let without = document(&tried(&["--token", "web"]).success(), "outboard-java");
    assert_eq!(without["tried"][0]["what"], "the slot");
    let listed = service.says(&["token", "list"]);
    assert!(!listed.contains("wrong"), "{listed}");
    let coprocessor = document(&tried(&["--coprocessor"]).success(), "outboard-java");
    assert_eq!(coprocessor["slot"], 0);

    let refused = |options: &[&str]| stderr(&tried(options).failure());
    says(
        &refused(&["--token", "web", "--pin-file", &wrong]),
        "is the PIN right?",
    );
    says(&refused(&["--token", "none"]), "there is no token 'none'");
    if rustix::process::geteuid().is_root() {
        let said = refused(&["--token", "web", "--user", "nobody"]);
        says(
            &said,
            "nobody needs a grant: 'outboard token grant web --user nobody",
        );
        service.says(&["token", "grant", "web", "--user", "nobody"]);
        tried(&["--token", "web", "--user", "nobody"]).success();
    }
}
