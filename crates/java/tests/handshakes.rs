//! Java's own TLS with Outboard as its first provider.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Place, counted_in, program, repository, runtimes, succeed};
use outboard_engine::Operation;
use outboard_programs::{CardService, Certificate, Workplace};

/// A key in a PKCS #12 file, made by OpenSSL.
fn store(place: &Place, name: &str, kind: &[&str]) -> PathBuf {
    let [key, certificate, store] =
        ["key", "crt", "p12"].map(|end| place.path(&format!("{name}.{end}")));
    let openssl = || {
        let mut command = Command::new("openssl");
        command.env("OPENSSL_CONF", "/dev/null");
        command
    };
    let mut make = openssl();
    make.args(["genpkey", "-out"]).arg(&key).args(kind);
    succeed(&mut make);
    let configuration = place.path("req.cnf");
    fs::write(&configuration, "[req]\ndistinguished_name=name\n[name]\n").expect("it is ours");
    let mut certify = openssl();
    certify.args([
        "req",
        "-x509",
        "-new",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-config",
    ]);
    certify
        .arg(&configuration)
        .arg("-key")
        .arg(&key)
        .arg("-out")
        .arg(&certificate);
    succeed(&mut certify);
    let mut pack = openssl();
    pack.args([
        "pkcs12",
        "-export",
        "-passout",
        "pass:changeit",
        "-name",
        name,
    ]);
    pack.arg("-inkey")
        .arg(&key)
        .arg("-in")
        .arg(&certificate)
        .arg("-out")
        .arg(&store);
    succeed(&mut pack);
    store
}

const RSA_2048: [&str; 4] = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"];

/// What docs/java-provider.md tells a user to write into a file, and the option that names the file.
fn registration(place: &Place) -> String {
    let page = repository().join("docs/java-provider.md");
    let page = fs::read_to_string(page).expect("it is there");
    let lines = page
        .split("```properties\n")
        .nth(1)
        .expect("it has the lines");
    let lines = lines.split("```").next().expect("they end");
    let file = place.path("outboard.security");
    fs::write(&file, lines).expect("it is ours");
    format!("-Djava.security.properties={}", file.display())
}

fn handshakes(store: &Path, options: &[&str], java: &common::Java, place: &Place) -> String {
    let mut program = place.java(java, options, "Handshakes");
    succeed(program.arg(store).args(["changeit", "3"]))
}

#[test]
fn keys_of_a_pkcs12_file_shake_hands_and_outboard_serves() {
    use Operation::*;
    let rsa = |bits: &'static str| ["-algorithm", "RSA", "-pkeyopt", bits];
    let ec = |curve: &'static str| ["-algorithm", "EC", "-pkeyopt", curve];
    let kinds = [
        (
            "rsa-2048",
            rsa("rsa_keygen_bits:2048"),
            Rsa2048Sign,
            Rsa2048Verify,
        ),
        (
            "rsa-4096",
            rsa("rsa_keygen_bits:4096"),
            Rsa4096Sign,
            Rsa4096Verify,
        ),
        ("p256", ec("ec_paramgen_curve:P-256"), P256Sign, P256Verify),
        ("p384", ec("ec_paramgen_curve:P-384"), P384Sign, P384Verify),
    ];
    for java in runtimes() {
        for (name, kind, sign, verify) in kinds {
            let place = Place::new();
            let store = store(&place, name, &kind);
            let options = [&registration(&place)[..]];
            let said = handshakes(&store, &options, &java, &place);
            assert_eq!(said, format!("{name} TLSv1.3 3\n{name} TLSv1.2 3\n"));
            // In memory and over sockets, three times with each version; the server and the client sign, and each verifies the other.
            assert_eq!(place.counted(sign), 24, "{java:?} {name}");
            assert!(place.counted(verify) >= 24, "{java:?} {name}");
            assert_eq!(place.counted(X25519Derive), 24, "{java:?} {name}");
            assert!(place.counted(X25519Keygen) >= 24, "{java:?} {name}");
        }
    }
}

#[test]
fn the_nist_curves_agree_too() {
    for java in runtimes() {
        let place = Place::new();
        let store = store(&place, "rsa", &RSA_2048);
        let registration = registration(&place);
        let options = [&registration[..], "-Djdk.tls.namedGroups=secp384r1"];
        handshakes(&store, &options, &java, &place);
        assert_eq!(place.counted(Operation::P384Derive), 24, "{java:?}");
        assert!(place.counted(Operation::P384Keygen) >= 24, "{java:?}");
    }
}

/// Outboard is the first one of a few providers, as administrators have them who allow no others.
#[test]
fn a_short_list_of_providers_is_enough() {
    for java in runtimes() {
        let place = Place::new();
        let store = store(&place, "rsa", &RSA_2048);
        let short = place.path("short.security");
        let names = [
            "org.outboard.provider.Outboard",
            "SUN",
            "SunRsaSign",
            "SunEC",
            "SunJSSE",
            "SunJCE",
        ];
        let lines = (1..)
            .zip(names)
            .map(|(number, name)| format!("security.provider.{number}={name}\n"));
        let more = "keystore.type=pkcs12\nssl.KeyManagerFactory.algorithm=SunX509\nssl.TrustManagerFactory.algorithm=PKIX\n\
                    jdk.tls.alpnCharset=ISO_8859_1\nsecurerandom.source=file:/dev/random\nsecurerandom.strongAlgorithms=NativePRNG:SUN\n";
        fs::write(&short, lines.collect::<String>() + more).expect("it is ours");
        // All of Java's own properties are replaced.
        let option = format!("-Djava.security.properties=={}", short.display());
        let said = handshakes(&store, &[&option], &java, &place);
        assert_eq!(said, "rsa TLSv1.3 3\nrsa TLSv1.2 3\n", "{java:?}");
        assert_eq!(place.counted(Operation::Rsa2048Sign), 24, "{java:?}");
        assert_eq!(place.counted(Operation::X25519Derive), 24, "{java:?}");
    }
}

/// What Outboard does not serve, Java's own providers do: JSSE finds them, or Outboard asks them.
#[test]
fn keys_that_outboard_does_not_serve_shake_hands_too() {
    for java in runtimes() {
        let place = Place::new();
        let store = store(
            &place,
            "small",
            &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"],
        );
        let registration = registration(&place);
        let options = [&registration[..], "-Djdk.tls.namedGroups=x448"];
        let said = handshakes(&store, &options, &java, &place);
        assert_eq!(said, "small TLSv1.3 3\nsmall TLSv1.2 3\n");
        assert_eq!(place.counted(Operation::X25519Derive), 0, "{java:?}");
    }
}

/// The key store "Outboard": only the card service has the private keys.
#[test]
fn keys_of_the_card_service_shake_hands() {
    let runtimes = runtimes();
    if runtimes.is_empty() {
        return;
    }
    let workplace = Workplace::new().expect("a directory");
    let (daemon, command) = (program("outboardd"), program("outboard"));
    let service = CardService::start(&workplace, &daemon, &command, None).expect("it starts");
    let files = Place::new();
    for (name, kind) in [
        ("rsa", RSA_2048),
        (
            "curve",
            ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        ),
    ] {
        store(&files, name, &kind);
        let certificate = Certificate {
            certificate: files.path(&format!("{name}.crt")),
            key: files.path(&format!("{name}.key")),
        };
        let adopted = service.adopt(&certificate, name, &["root"]);
        adopted.expect("the service takes it");
        let certified = service.certify(name, &certificate);
        certified.expect("it is its certificate");
    }
    for java in &runtimes {
        let place = Place::with_service(service.directory());
        let registration = registration(&place);
        let [rsa, curve] = [Operation::Rsa2048Sign, Operation::P256Sign];
        let before = [rsa, curve].map(|sign| counted_in(service.ledger(), sign));
        let said = handshakes("Outboard".as_ref(), &[&registration], java, &place);
        let each = |name: &str| format!("{name} TLSv1.3 3\n{name} TLSv1.2 3\n");
        assert_eq!(said, each("curve") + &each("rsa"), "{java:?}");
        let after = [rsa, curve].map(|sign| counted_in(service.ledger(), sign));
        assert_eq!([after[0] - before[0], after[1] - before[1]], [24, 24]);
        assert_eq!([rsa, curve].map(|sign| place.counted(sign)), [0, 0]);
    }
    service.stop().expect("it ends");
}

/// A day's handshakes, by outboard.jar and by the accelerator slot (`make java-soak`).
#[test]
fn a_million_handshakes_leave_nothing_behind() {
    let Some(count) = std::env::var_os("OUTBOARD_JAVA_HANDSHAKES") else {
        eprintln!("passed over: 'make java-soak' runs it");
        return;
    };
    let java = runtimes().into_iter().next().expect("a JDK is installed");
    let place = Place::new();
    let store = store(
        &place,
        "site",
        &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
    );
    let accelerator = place.path("accelerator.security");
    let configuration = place.path("accelerator.cfg");
    let module = program("liboutboard_pkcs11.so");
    let text = format!(
        "name = Outboard\nlibrary = {}\nslot = 1\nenabledMechanisms = {{ KeyStore CKM_RSA_PKCS CKM_RSA_PKCS_PSS CKM_ECDSA }}\n",
        module.display()
    );
    fs::write(&configuration, text).expect("it is ours");
    let lines = format!(
        "security.provider.13=SunPKCS11 {}\njdk.security.provider.preferred=SHA256withECDSA:SunPKCS11-Outboard\n",
        configuration.display()
    );
    fs::write(&accelerator, lines).expect("it is ours");
    let accelerator = format!("-Djava.security.properties={}", accelerator.display());
    for option in [registration(&place), accelerator] {
        let options = [&option[..], "-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch"];
        let mut program = place.java(&java, &options, "Handshakes");
        let ledger = format!("ledger={}", place.path("ledger").display());
        program.env("OUTBOARD_PKCS11", ledger);
        let before = place.counted(Operation::P256Sign);
        let said = succeed(
            program
                .arg(&store)
                .args(["changeit"])
                .arg(&count)
                .arg("grow"),
        );
        let grew = said.trim().strip_prefix("grew ").expect("it says so");
        let grew: Vec<i64> = grew
            .split(' ')
            .map(|number| number.parse().expect("a number"))
            .collect();
        let expected: u64 = count
            .to_str()
            .and_then(|text| text.parse().ok())
            .expect("a number");
        // The server and the client prove themselves.
        assert_eq!(place.counted(Operation::P256Sign) - before, 2 * expected);
        let [memory, threads, descriptors] = grew[..] else {
            panic!("{said}");
        };
        let found = format!(
            "{option}: {memory} KiB, {threads} threads and {descriptors} descriptors more after {expected} handshakes"
        );
        eprintln!("{found}");
        // Java's own threads that compile come and go.
        assert!(
            memory < 16 * 1024 && threads < 8 && descriptors < 8,
            "{found}"
        );
    }
}
