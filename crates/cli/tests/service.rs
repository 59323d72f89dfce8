//! `outboard service` and `outboard keys` with a real outboardd.

mod common;

use common::service::{Service, daemon, key_file, kill, succeeds, us};
use common::{document, stderr, stdout};
use std::fs;
use std::process::Command;

#[test]
fn a_key_is_made_granted_used_and_destroyed() {
    let service = Service::start();
    service.says(&["keys", "generate", "site", "--type", "p256"]);
    let reference = service.says(&["keys", "reference", "site"]);
    assert!(
        reference.starts_with("-----BEGIN OUTBOARD KEY-----\n"),
        "{reference}"
    );
    let key = service.path("site.key");
    fs::write(&key, &reference).expect("it is ours");
    let key = key.to_str().expect("it is ASCII");
    let request = [
        "req", "-x509", "-new", "-key", key, "-subj", "/CN=site", "-days", "2",
    ];

    // Without a grant not even root uses it.
    let output = service.openssl(&request);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    common::says(&said, "permission denied");
    let us_there = format!(
        "--user {} --directory {}'",
        us(),
        service.directory().display()
    );
    common::says(&said, &format!("outboard keys grant site {us_there}"));

    service.says(&["keys", "grant", "site", "--user", &us()]);
    let output = service.openssl(&request);
    succeeds(&output);
    let certificate = service.path("site.crt");
    fs::write(&certificate, &output.stdout).expect("it is ours");
    let certificate = certificate.to_str().expect("it is ASCII");
    succeeds(&service.openssl(&["verify", "-CAfile", certificate, certificate]));

    // A new name changes no reference.
    service.says(&["keys", "rename", "site", "shop"]);
    succeeds(&service.openssl(&request));
    service.says(&["keys", "policy", "shop", "--digests", "sha384"]);
    assert!(!service.openssl(&request).status.success());
    let allowed = [&request[..], &["-sha384"]].concat();
    succeeds(&service.openssl(&allowed));
    // A value that is named another digest than it is: too short for one.
    let short = service.path("short");
    fs::write(&short, [7; 20]).expect("it is ours");
    let short = short.to_str().expect("it is ASCII");
    let sign = [
        "pkeyutl",
        "-sign",
        "-inkey",
        key,
        "-in",
        short,
        "-pkeyopt",
        "digest:sha384",
    ];
    assert!(!service.openssl(&sign).status.success());
    // Nor may a value without a name be signed.
    let unnamed = ["pkeyutl", "-sign", "-inkey", key, "-in", short];
    assert!(!service.openssl(&unnamed).status.success());
    service.says(&["keys", "revoke", "shop", "--user", &us()]);
    assert!(!service.openssl(&allowed).status.success());

    let said = service.refuses(&["keys", "delete", "shop"]);
    common::says(&said, "--yes");
    service.says(&["keys", "delete", "shop", "--yes"]);
    let said = service.refuses(&["keys", "show", "shop"]);
    common::says(&said, "there is no key or token shop");
    service.says(&["keys", "audit", "--check"]);
}

#[test]
fn a_key_requests_its_certificate() {
    let service = Service::start();
    service.says(&["keys", "generate", "other", "--type", "p256"]);
    let wanted = ["--subject", "/C=DE/O=Käse/CN=example.org"];
    let said = service.refuses(&[&["keys", "csr", "other"][..], &wanted].concat());
    common::says(&said, "permission denied");
    common::says(&said, "outboard keys grant other --user");
    let names = "example.org,192.0.2.1,2001:db8::1,a@example.org";
    for kind in ["rsa-2048", "p256", "p384", "p521", "ed25519"] {
        service.key(kind, kind);
        let mut words = [&["keys", "csr", kind][..], &wanted].concat();
        for san in [&["--san", names][..], &[]] {
            words.extend(san);
            let request = service.path("request.pem");
            fs::write(&request, service.says(&words)).expect("it is ours");
            let request = request.to_str().expect("it is ASCII");
            // OpenSSL 3.0 ends with 0 whatever it finds.
            let stock = |words: &[&str]| {
                let mut command = Command::new("openssl");
                let output = command.args(words).output().expect("openssl is there");
                succeeds(&output);
                let [said, told] = [output.stdout, output.stderr].map(String::from_utf8);
                said.expect("it is text") + &told.expect("it is text")
            };
            let verified = stock(&["req", "-verify", "-noout", "-in", request]);
            common::says(&verified, "verify OK");
            let options = ["-subject", "-nameopt", "sep_comma_plus,utf8"];
            let shown =
                stock(&[&["req", "-noout", "-text", "-in", request], &options[..]].concat());
            common::says(&shown, "subject=C=DE,O=Käse,CN=example.org");
            let alternatives = "DNS:example.org, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1, \
                                email:a@example.org";
            assert_eq!(
                shown.contains(alternatives),
                words.contains(&"--san"),
                "{shown}"
            );
            let public = stock(&["req", "-noout", "-pubkey", "-in", request]);
            assert_eq!(public, service.says(&["keys", "public", kind]));
            words.truncate(5);
        }
    }
    for wrong in [["--subject", "CN=a"], ["--subject", "/CN=a/X=b"]] {
        let said = service.refuses(&[&["keys", "csr", "p256"][..], &wrong].concat());
        common::says(&said, "--subject");
    }
}

#[test]
fn every_document_fits_its_schema() {
    let service = Service::start();
    service.says(&["keys", "generate", "one", "--type", "ed25519"]);
    service.says(&["keys", "grant", "one", "--group", "0", "--administer"]);
    for (words, schema) in [
        (&["service", "status"][..], "outboard-service"),
        (&["keys", "list"], "outboard-keys"),
        (&["keys", "show", "one"], "outboard-key"),
        (&["keys", "audit"], "outboard-keys-audit"),
    ] {
        let words = [words, &["--json"]].concat();
        document(&service.outboard(&words).assert().success(), schema);
    }
}

/// By key, operation, user and process; a process chooses its own name.
#[test]
fn stats_say_who_used_which_key() {
    let service = Service::start();
    let stats = |words: &[&str]| {
        let mut command = common::outboard();
        command.arg("stats").args(words);
        let command = command.env("OPENSSL_CONF", service.configuration());
        command.assert()
    };
    common::says(
        &stdout(&stats(&["--keys"]).success()),
        "No key was used since",
    );
    let key = service.key("site", "p256");
    let hostile = service.path("e\u{1b}[31m\u{9b}evil");
    common::copy(std::path::Path::new("/usr/bin/openssl"), &hostile);
    let key = key.to_str().expect("it is ASCII");
    let request = ["req", "-x509", "-new", "-key", key, "-subj", "/CN=x"];
    let mut program = Command::new(&hostile);
    let program = program
        .args(request)
        .env("OPENSSL_CONF", service.configuration());
    succeeds(&program.output().expect("it is a copy"));
    let told = document(
        &stats(&["--keys", "--json"]).success(),
        "outboard-stats-keys",
    );
    let key = &told["keys"][0];
    assert_eq!(key["name"], "site");
    assert_eq!(key["users"][0]["operation"], "sign");
    assert_eq!(key["users"][0]["uid"].to_string(), us());
    assert!(key["users"][0]["count"].as_u64() >= Some(1), "{key}");
    let command = key["processes"][0]["command"].as_str().expect("a command");
    assert_eq!(command, r"e\u{1b}[31m\u{9b}evil");
    let text = stdout(&stats(&["--keys"]).success());
    common::says(&text, r"e\u{1b}[31m\u{9b}evil");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{9b}'));
    let metrics = stdout(&stats(&["--all", "--openmetrics"]).success());
    common::says(
        &metrics,
        "outboard_service_key_operations_total{key=\"site\",operation=\"sign\",user=",
    );
    stats(&["--keys", "--reset"]).code(2);
    service.says(&["service", "stop"]);
    common::says(&stderr(&stats(&["--keys"]).code(1)), "does not run");
}

#[test]
fn a_key_is_imported_and_exported() {
    let service = Service::start();
    let file = service.path("key.pem");
    let words = [
        "genpkey",
        "-algorithm",
        "EC",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
    ];
    key_file(
        &file,
        &[&words[..], &["-aes256", "-pass", "pass:open sesame"]].concat(),
    );
    let given = fs::read(&file).expect("it is ours");
    let import = ["keys", "import", "one", "--exportable"];
    let refused = service
        .outboard(&import)
        .write_stdin(&given[..])
        .assert()
        .failure();
    let said = stderr(&refused);
    common::says(&said, "standard input is encrypted (name a file");
    assert_eq!(said.lines().count(), 1, "{said}");
    let wrong = service.path("wrong");
    fs::write(&wrong, "close sesame\n").expect("it is ours");
    let wrong = wrong.to_str().expect("it is ASCII");
    let refused = service
        .outboard(&[&import[..], &["--passphrase", wrong]].concat())
        .write_stdin(&given[..])
        .assert()
        .failure();
    common::says(&stderr(&refused), "is another passphrase");
    let nothing = service.outboard(&import).write_stdin("").assert();
    common::says(&stderr(&nothing.failure()), "standard input is empty");
    let passphrase = service.path("passphrase");
    fs::write(&passphrase, "open sesame\n").expect("it is ours");
    let passphrase = passphrase.to_str().expect("it is ASCII");
    let import = [&import[..], &["--passphrase", passphrase]].concat();
    service
        .outboard(&import)
        .write_stdin(&given[..])
        .assert()
        .success();
    let certificate = service.path("key.crt");
    let pfx = service.path("key.pfx");
    let at = |path: &std::path::Path| path.to_str().expect("it is ASCII").to_owned();
    let (key, crt) = (at(&file), at(&certificate));
    let open = ["-passin", "pass:open sesame"];
    let request = [
        "req", "-x509", "-new", "-key", &key, "-subj", "/CN=x", "-out", &crt,
    ];
    succeeds(&service.openssl(&[&request[..], &open].concat()));
    let bundle = [
        "pkcs12",
        "-export",
        "-inkey",
        &key,
        "-in",
        &crt,
        "-out",
        &at(&pfx),
    ];
    succeeds(&service.openssl(&[&bundle[..], &open, &["-passout", "pass:open sesame"]].concat()));
    let bundle = fs::read(&pfx).expect("it is there");
    let import_bundle = ["keys", "import", "bundle", "--passphrase", passphrase];
    service
        .outboard(&import_bundle)
        .write_stdin(bundle)
        .assert()
        .success();
    let again = service
        .outboard(&import)
        .write_stdin(given)
        .assert()
        .failure();
    common::says(&stderr(&again), "exists already");
    let exported = service.says(&["keys", "export", "one"]);
    assert!(
        exported.starts_with("-----BEGIN PRIVATE KEY-----"),
        "no key"
    );
    let refused = service
        .outboard(&["keys", "import", "two"])
        .write_stdin("rubbish")
        .assert()
        .failure();
    common::says(&stderr(&refused), "no private key that OpenSSL can read");
}

#[test]
fn two_administrators_agree_to_an_export() {
    let service = Service::start();
    let us = us();
    service.says(&[
        "keys",
        "generate",
        "guarded",
        "--type",
        "p256",
        "--exportable",
    ]);
    let policy = [
        "keys",
        "policy",
        "guarded",
        "--approvals",
        "2",
        "--administrators",
    ];
    let administrators = format!("{us},4711");
    let shown = service.says(&[&policy[..], &[&administrators]].concat());
    common::says(&shown, "2 of ");
    common::says(&service.refuses(&["keys", "export", "guarded"]), "agree");
    let said = service.says(&["keys", "approve", "guarded", "export"]);
    common::says(&said, "1 of 2");
    // The same administrator counts once.
    let said = service.says(&["keys", "approve", "guarded", "export"]);
    common::says(&said, "1 of 2");
    service.refuses(&["keys", "export", "guarded"]);
    service.refuses(&["keys", "delete", "guarded", "--yes"]);
    // Nor does one of them change who must agree.
    let fewer = ["--approvals", "1", "--administrators", &us];
    let change = [&["keys", "policy", "guarded"], &fewer[..]].concat();
    common::says(&service.refuses(&change), "set-policy needs 2");
    service.refuses(&["keys", "policy", "guarded", "--approvals", "0"]);
    let agree = [&["keys", "approve", "guarded", "policy"], &fewer[..]].concat();
    common::says(
        &service.says(&agree),
        "1 of 2 administrators agree to this policy",
    );
    service.refuses(&change);
    for wrong in [
        &["keys", "approve", "guarded", "policy"][..],
        &["keys", "approve", "guarded", "export", "--rate", "7"],
        &["keys", "policy", "guarded", "--approvals", "2"],
    ] {
        service.outboard(wrong).assert().code(2);
    }
    service.says(&["keys", "show", "guarded", "--json"]);
}

/// A key's certificate is kept with the key, and only a certificate of this key.
#[test]
fn a_key_has_its_certificates() {
    let service = Service::start();
    let site = service.key("site", "p256");
    let other = service.key("other", "p256");
    let [site, other] = [site, other].map(|key| fs::read(service.certificate(&key)).expect("it"));
    let certify = |words: &[&str], given: &[u8]| {
        let words = [&["keys", "certify", "site"], words].concat();
        service.outboard(&words).write_stdin(given).assert()
    };
    let said = stderr(&certify(&[], &other).failure());
    common::says(&said, "another public half");
    common::says(&stderr(&certify(&[], b"no PEM").failure()), "PEM");
    common::says(&stderr(&certify(&[], b"").failure()), "--remove");
    common::says(&stderr(&certify(&[], b"\x30\x82\xff").failure()), "DER");
    common::says(&stderr(&certify(&[], &[b' '; 50_000]).failure()), "48 KiB");
    let mut foreign = Command::new("openssl");
    let foreign = foreign.args([
        "req",
        "-x509",
        "-newkey",
        "ed25519",
        "-nodes",
        "-keyout",
        "/dev/null",
        "-subj",
        "/CN=another",
    ]);
    let foreign = foreign.output().expect("openssl is installed").stdout;
    let said = stderr(&certify(&[], &[&site[..], &foreign].concat()).failure());
    common::says(&said, "certificate 2 is not of the issuer of certificate 1");
    let chain = [&site[..], &other].concat();
    let said = stdout(&certify(&[], &chain).success());
    common::says(&said, "CN=localhost, and 1 of its issuers");
    common::says(
        &service.says(&["keys", "show", "site"]),
        "certificate   CN=localhost (until 20",
    );
    service.says(&["keys", "rename", "site", "shop"]);
    let shown = service.says(&["keys", "show", "shop", "--json"]);
    common::says(&shown, "\"certificates\"");
    common::says(&shown, "\"certificate_ends\": 1");
    service.says(&["keys", "certify", "shop", "--remove"]);
    let shown = service.says(&["keys", "show", "shop"]);
    assert!(!shown.contains("certificate "), "{shown}");
}

/// The service is killed and restarted: the keys, the grants and the master key are there.
#[test]
fn what_was_acknowledged_outlives_a_kill() {
    let service = Service::start();
    service.says(&["keys", "generate", "kept", "--type", "ed25519"]);
    service.says(&["keys", "grant", "kept", "--user", "4711"]);
    let before = service.says(&["keys", "show", "kept", "--json"]);
    service.kill();
    // Its socket is still in the file system, and nobody listens.
    common::says(
        &service.refuses(&["keys", "list"]),
        "outboard service start",
    );
    service.says(&["service", "start"]);
    assert_eq!(service.says(&["keys", "show", "kept", "--json"]), before);
    service.says(&["keys", "audit", "--check"]);
}

/// The master key is exchanged while keys are used, with restarts between the steps.
#[test]
fn the_master_key_is_rolled() {
    let service = Service::start();
    service.says(&["keys", "generate", "site", "--type", "ed25519"]);
    service.says(&["keys", "grant", "site", "--user", &us()]);
    let key = service.path("site.key");
    fs::write(&key, service.says(&["keys", "reference", "site"])).expect("it is ours");
    let key = key.to_str().expect("it is ASCII");
    let signs = || {
        let request = ["req", "-x509", "-new", "-key", key, "-subj", "/CN=x"];
        succeeds(&service.openssl(&request));
    };
    let restart = || {
        service.says(&["service", "stop"]);
        service.says(&["service", "start"]);
        signs();
    };
    let pattern = |index: usize| {
        let status = service.outboard(&["service", "status", "--json"]).assert();
        let status = document(&status.success(), "outboard-service");
        status["master"]["patterns"][index].clone()
    };
    signs();
    let first = pattern(1);
    common::says(
        &service.refuses(&["service", "roll", "activate"]),
        "prepare",
    );
    let entered = service
        .outboard(&["service", "enter"])
        .write_stdin("5a".repeat(32))
        .assert()
        .success();
    common::says(&stdout(&entered), "verification pattern");
    common::says(&stdout(&entered), "in register 'new'");
    common::says(
        &stdout(&entered),
        "outboard service roll cancel --directory",
    );
    // The key in use again changes nothing.
    let digits = fs::read_to_string(service.path("store/master.key")).expect("it is ours");
    let digits = digits.lines().next().expect("it has one").to_owned();
    let mut again = service.outboard(&["service", "enter"]);
    let again = again.write_stdin(digits).assert().success();
    common::says(&stdout(&again), "is entered already, as 'current'");
    restart();
    service.says(&["service", "roll", "prepare"]);
    restart();
    // A key that is new between the steps is there after them, too.
    service.says(&["keys", "generate", "late", "--type", "p256"]);
    service.says(&["service", "roll", "activate"]);
    restart();
    assert_eq!(pattern(2), first);
    service.says(&["service", "roll", "finalise"]);
    restart();
    assert!(pattern(2).is_null() && pattern(0).is_null() && pattern(1) != first);
    service.says(&["keys", "show", "late"]);
    service.says(&["keys", "backup", "copy.db"]);
    let copy = service.path("store/copy.db");
    assert!(copy.exists());
    service.says(&["keys", "audit", "--check"]);

    // The copy brings a destroyed key back.
    service.says(&["keys", "delete", "late", "--yes"]);
    let aside = service.path("copy.db");
    fs::rename(copy, &aside).expect("it is ours");
    let restore = || {
        let mut command = Command::new(daemon());
        command.arg("--directory").arg(service.directory());
        let output = command.arg("--restore").arg(&aside).output();
        output.expect("it is built")
    };
    let output = restore();
    assert!(!output.status.success(), "the service runs");
    service.says(&["service", "stop"]);
    succeeds(&restore());
    service.says(&["service", "start"]);
    service.says(&["keys", "show", "late"]);
}

/// People enter the parts of a master key; none of them knows the whole.
#[test]
fn a_master_key_is_entered_in_parts() {
    let service = Service::in_directory(common::public_directory());
    // As the system's service is: with a store elsewhere, and no file for a master key.
    let store = service.path("elsewhere");
    let start = || {
        let child = Command::new(daemon())
            .arg("--directory")
            .arg(service.directory())
            .arg("--store")
            .arg(&store)
            .spawn()
            .expect("it is built");
        while !service.path("admin.sock").exists() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        child
    };
    let enter = |words: &[&str], digits: &str| {
        let words = [&["service", "enter"], words].concat();
        service.outboard(&words).write_stdin(digits).assert()
    };
    let mut child = start();
    common::says(
        &service.refuses(&["keys", "generate", "k", "--type", "p256"]),
        "master key",
    );
    let empty = service.outboard(&["service", "status"]).assert().code(1);
    common::says(&stdout(&empty), "none yet");
    enter(&["--part"], &"11".repeat(32)).success();
    common::says(&stderr(&enter(&["--complete"], "").failure()), "two");
    enter(&["--part"], &"22".repeat(32)).success();
    common::says(
        &stderr(&enter(&["--part"], "22").code(2)),
        "64 hexadecimal digits",
    );
    enter(&["--complete"], "").success();
    service.says(&["keys", "generate", "k", "--type", "p256"]);
    service.says(&["service", "stop"]);
    child.wait().expect("it was started here");

    let mut child = start();
    let locked = service.outboard(&["service", "status"]).assert().code(1);
    common::says(&stdout(&locked), "not entered");
    // 11 and 22 make 33.
    common::says(
        &stderr(&enter(&[], &"34".repeat(32)).failure()),
        "does not belong",
    );
    enter(&[], &"33".repeat(32)).success();
    service.says(&["keys", "show", "k"]);
    service.says(&["service", "stop"]);
    child.wait().expect("it was started here");
}

/// The front for ssh clients starts and ends with the service, and outlives its death.
#[test]
fn a_service_has_a_front() {
    let service = Service::start();
    let front = service.front();
    let state = || {
        let status = service.outboard(&["service", "status", "--json"]).assert();
        document(&status.success(), "outboard-service")["agent"].clone()
    };
    let text = service.says(&["service", "status"]);
    common::says(&text, "ssh agent    answers at ");
    service.kill();
    service.says(&["service", "start"]);
    assert_eq!((service.front(), state()), (front, "running".into()));

    kill(front);
    assert_eq!(state(), "down");
    common::says(&service.says(&["service", "status"]), "nobody answers at ");
    service.says(&["service", "start"]);
    assert_eq!(state(), "running");
    assert_ne!(service.front(), front);

    service.says(&["service", "stop"]);
    for name in ["agent.sock", "relay.sock", "service.sock"] {
        assert!(!service.path(name).exists(), "{name}");
    }
    // A front alone ends, too.
    service.says(&["service", "start"]);
    service.kill();
    service.refuses(&["service", "stop"]);
    assert!(!service.path("agent.sock").exists());
}
