//! The PKCS #11 module with the programs that know such modules, as they are.

mod common;

use common::service::{Service, key_file, us};
use common::tokens::{handshakes, output, program, settings};
use common::{are_installed, says, token};
use outboard_programs::{OpenSsl, Sshd, SshdOptions, Workplace};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A service with a key of each of those types, each with a certificate.
fn service_with(kinds: &[&str]) -> Service {
    let service = Service::start();
    for kind in kinds {
        let key = service.key(kind, kind);
        let certificate = service.certificate(&key);
        let certificate = fs::read(certificate).expect("it was just made");
        let mut certify = service.outboard(&["keys", "certify", kind]);
        certify.write_stdin(certificate).assert().success();
    }
    service
}

#[test]
fn opensc_and_gnutls_use_keys_of_the_service() {
    if !are_installed(&["pkcs11-tool", "p11tool"]) {
        return;
    }
    let service = service_with(&["rsa-2048", "p256", "p384", "ed25519"]);
    let module = token();
    let tool = |words: &[&str]| {
        let mut command = program(&service, "pkcs11-tool");
        command.arg("--module").arg(&module).args(words);
        command
    };
    let tested = output(&mut tool(&["--test"]));
    says(&tested, "No errors");
    let listed = output(&mut tool(&["--list-objects"]));
    for name in ["rsa-2048", "p256", "p384", "ed25519"] {
        let label = format!("label:      {name}\n");
        // Both halves and the certificate.
        assert_eq!(listed.matches(&label).count(), 3, "{listed}");
    }
    let message = service.path("message");
    fs::write(&message, b"a message").expect("it is ours");
    let id = |name: &str| {
        let shown = service.says(&["keys", "show", name, "--json"]);
        let shown: serde_json::Value = serde_json::from_str(&shown).expect("it is JSON");
        shown["id"].as_str().expect("it has one").to_owned()
    };
    for (name, mechanism, digest) in [
        ("rsa-2048", "SHA256-RSA-PKCS", "-sha256"),
        ("p256", "ECDSA-SHA256", "-sha256"),
        ("p384", "ECDSA-SHA384", "-sha384"),
    ] {
        let signature = service.path("signature");
        let paths = [&message, &signature].map(|path| path.to_str().expect("it is ASCII"));
        let sign = ["--sign", "--mechanism", mechanism, "--id", &id(name)];
        let files = [
            "--signature-format",
            "openssl",
            "-i",
            paths[0],
            "-o",
            paths[1],
        ];
        output(&mut tool(&[&sign[..], &files].concat()));
        let public = service.path("public");
        let certificate = service.path(&format!("{name}.crt"));
        let mut extract = Command::new("openssl");
        extract
            .args(["x509", "-noout", "-pubkey", "-in"])
            .arg(certificate);
        fs::write(&public, output(&mut extract)).expect("it is ours");
        let mut verify = Command::new("openssl");
        verify.args(["dgst", digest, "-verify"]).arg(&public);
        verify.arg("-signature").arg(&signature).arg(&message);
        says(&output(&mut verify), "Verified OK");
    }
    let ciphertext = encrypted(&service, "rsa-2048", &message);
    let [ciphertext, opened] = [ciphertext, service.path("opened")];
    let paths = [&ciphertext, &opened].map(|path| path.to_str().expect("it is ASCII"));
    let decrypt = ["--decrypt", "--mechanism", "RSA-PKCS-OAEP", "--id"];
    let digests = ["--hash-algorithm", "SHA256", "--mgf", "MGF1-SHA256"];
    let files = ["-i", paths[0], "-o", paths[1]];
    let rsa = id("rsa-2048");
    let words = [&decrypt[..], &[&rsa], &digests, &files].concat();
    output(&mut tool(&words));
    assert_eq!(fs::read(&opened).expect("it was written"), b"a message");
    let url = "pkcs11:token=coprocessor";
    let mut list = program(&service, "p11tool");
    list.arg("--provider")
        .arg(&module)
        .args(["--list-all", url]);
    says(&output(&mut list), "Label: p256");
    let mut sign = program(&service, "p11tool");
    sign.arg("--provider").arg(&module);
    sign.args(["--test-sign", "pkcs11:token=coprocessor;object=p256"]);
    says(&output(&mut sign), "ok");
    // Who has no grant sees nothing.
    service.says(&["keys", "revoke", "p256", "--user", &us()]);
    let listed = output(&mut tool(&["--list-objects"]));
    assert!(
        !listed.contains("p256") && listed.contains("p384"),
        "{listed}"
    );
}

/// A message that is encrypted for a key's certificate: by OAEP, with SHA-256.
fn encrypted(service: &Service, key: &str, message: &Path) -> PathBuf {
    let ciphertext = service.path("ciphertext");
    let mut encrypt = Command::new("openssl");
    encrypt.args(["pkeyutl", "-encrypt", "-certin", "-inkey"]);
    encrypt.arg(service.path(&format!("{key}.crt")));
    for option in ["rsa_padding_mode:oaep", "rsa_oaep_md:sha256"] {
        encrypt.args(["-pkeyopt", option]);
    }
    encrypt.arg("-in").arg(message).arg("-out").arg(&ciphertext);
    output(&mut encrypt);
    ciphertext
}

#[test]
fn ssh_logs_in_with_a_key_of_the_service() {
    if !are_installed(&["sshd", "ssh", "ssh-keygen"]) {
        return;
    }
    let service = service_with(&["rsa-2048", "p256"]);
    let workplace = Workplace::new().expect("it can be made");
    let stock = OpenSsl::stock(&workplace).expect("it can be written");
    let module = token();
    let mut keygen = program(&service, "ssh-keygen");
    let public = output(keygen.arg("-D").arg(&module));
    let keys = |kind: &str| {
        let found = public.lines().find(|line| line.starts_with(kind));
        found
            .unwrap_or_else(|| panic!("no {kind} in {public}"))
            .to_owned()
    };
    let options = SshdOptions {
        openssl: &stock,
        core: None,
        settings: "",
    };
    let sshd = Sshd::start(&workplace, options).expect("it starts");
    let authorized = [keys("ssh-rsa"), keys("ecdsa-sha2-nistp256")].join("\n");
    fs::write(workplace.join("authorized_keys"), authorized + "\n").expect("it is ours");
    for kind in ["ecdsa-sha2-nistp256", "rsa-sha2-512"] {
        let said = sshd
            .client("ssh")
            .expect("it is installed")
            .env("OUTBOARD_PKCS11", settings(&service))
            .arg("-I")
            .arg(&module)
            .args(["-o", "IdentitiesOnly=no"])
            .args(["-o", &format!("PubkeyAcceptedAlgorithms={kind}")])
            .args([Sshd::HOST, "echo", "in"])
            .succeed()
            .unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!(said.output.trim(), "in");
    }
}

/// What the ledger of a test's own says of Java.
fn counted(service: &Service, operation: &str) -> u64 {
    let words = ["stats", "--json", "--ledger"];
    let mut command = common::outboard();
    command.args(words).arg(service.path("ledger"));
    let said = common::stdout(&command.assert().success());
    let said: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
    let rows = said["ledgers"][0]["total"]["work"].as_array();
    let rows = rows.expect("there are some").iter();
    let rows = rows.filter(|row| row["operation"] == operation);
    rows.filter_map(|row| row["operations"].as_u64()).sum()
}

#[test]
fn java_uses_both_slots() {
    if !are_installed(&["java", "keytool"]) {
        return;
    }
    let kinds = ["rsa-2048", "p256", "p384"];
    let service = service_with(&kinds);
    let said = handshakes(&service, 0, Path::new("token"), &[]);
    for kind in kinds {
        for version in ["TLSv1.3", "TLSv1.2"] {
            says(&said, &format!("{kind} {version} 5 TLS_"));
        }
    }
    // With its certificate's own signature.
    let used = service.says(&["keys", "show", "p256"]);
    says(&used, "21 times since");

    // A key in a file, computed with by the module in the program's process.
    let (key, store): (PathBuf, PathBuf) = (service.path("soft.key"), service.path("soft.p12"));
    key_file(
        &key,
        &[
            "genpkey",
            "-algorithm",
            "RSA",
            "-pkeyopt",
            "rsa_keygen_bits:2048",
        ],
    );
    let mut request = Command::new("openssl");
    request.args([
        "req", "-x509", "-new", "-subj", "/CN=soft", "-days", "2", "-key",
    ]);
    let certificate = key.with_extension("crt");
    output(request.arg(&key).arg("-out").arg(&certificate));
    let mut pack = Command::new("openssl");
    pack.args([
        "pkcs12",
        "-export",
        "-passout",
        "pass:changeit",
        "-name",
        "soft",
        "-inkey",
    ]);
    output(
        pack.arg(&key)
            .arg("-in")
            .arg(&certificate)
            .arg("-out")
            .arg(&store),
    );
    let security = service.path("java.security");
    let preferred = "jdk.security.provider.preferred=RSASSA-PSS:SunPKCS11-Outboard, \
                     SHA256withRSA:SunPKCS11-Outboard, SHA384withRSA:SunPKCS11-Outboard, \
                     SHA512withRSA:SunPKCS11-Outboard\n";
    fs::write(&security, preferred).expect("it is ours");
    let security = format!("-Djava.security.properties={}", security.display());
    let before = counted(&service, "rsa-2048-sign");
    let said = handshakes(&service, 1, &store, &[&security]);
    says(&said, "soft TLSv1.3 5 TLS_");
    says(&said, "soft TLSv1.2 5 TLS_");
    // Server and client signed in the module, five times with each version.
    assert_eq!(counted(&service, "rsa-2048-sign") - before, 20);
}
