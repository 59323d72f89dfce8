//! `outboard keys adopt`: a file's key moves into the service, and a reference takes its place.

mod common;

use common::service::{Service, key_file, succeeds, us};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

#[test]
fn a_key_file_is_adopted() {
    let service = Service::start();
    // As HAProxy has them: the key between certificates; each of OpenSSL's forms.
    let forms: [(&str, &[&str]); 4] = [
        (
            "rsa",
            &[
                "genpkey",
                "-quiet",
                "-algorithm",
                "RSA",
                "-pkeyopt",
                "rsa_keygen_bits:2048",
            ],
        ),
        ("ec", &["ecparam", "-genkey", "-name", "secp384r1"]),
        ("ed", &["genpkey", "-algorithm", "ED25519"]),
        ("traditional", &["genrsa", "-traditional"]),
    ];
    for (name, words) in forms {
        let file = service.path(&format!("{name}.pem"));
        key_file(&file, words);
        let text = fs::read_to_string(&file).expect("it is ours");
        let certificate = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
        let both = format!("{certificate}{text}{certificate}");
        fs::write(&file, &both).expect("it is ours");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("it is ours");
        let path = file.to_str().expect("it is ASCII");
        let said = service.says(&["keys", "adopt", path, "--user", &us()]);
        common::says(&said, "now holds a reference");
        let adopted = fs::read_to_string(&file).expect("it is there");
        assert!(!adopted.contains("PRIVATE KEY"), "{adopted}");
        assert_eq!(adopted.matches(certificate).count(), 2, "{adopted}");
        let mode = fs::metadata(&file)
            .expect("it is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o640);
        let backup = service.path(&format!("{name}.pem.outboard-backup"));
        assert_eq!(fs::read_to_string(&backup).expect("it is there"), both);
        let message = service.path("message");
        fs::write(&message, "a message").expect("it is ours");
        let message = message.to_str().expect("it is ASCII");
        let signed = service.path("signed");
        let signed = signed.to_str().expect("it is ASCII");
        let sign = [
            "pkeyutl", "-sign", "-rawin", "-inkey", path, "-in", message, "-out", signed,
        ];
        succeeds(&service.openssl(&sign));
        let verify = [
            "pkeyutl", "-verify", "-rawin", "-inkey", path, "-in", message, "-sigfile", signed,
        ];
        succeeds(&service.openssl(&verify));
        if ["rsa", "traditional"].contains(&name) {
            assert_eq!(service.decrypted(path, &[]), Some("a message".into()));
        }
        // No copy is there any more: 'adopt --revert' says so.
        let copy = format!("{path}.outboard-backup");
        fs::rename(&copy, service.path("elsewhere")).expect("it was kept");
        for given in [path, &copy] {
            let said = service.refuses(&["keys", "adopt", "--revert", given]);
            common::says(&said, &format!("there is no copy {copy} (if you moved it"));
        }
        // It cannot leave, and is not adopted twice.
        common::says(&service.refuses(&["keys", "export", name]), "export");
        common::says(
            &service.refuses(&["keys", "adopt", path]),
            "no PEM block of a private key",
        );
    }
}

const P256: [&str; 5] = [
    "genpkey",
    "-algorithm",
    "EC",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
];

/// The path of a file, as a word.
fn word(file: &Path) -> &str {
    file.to_str().expect("it is ASCII")
}

#[test]
fn a_key_that_the_service_has_is_used() {
    let service = Service::start();
    let (file, other) = (service.path("site.key"), service.path("other.key"));
    key_file(&file, &P256);
    key_file(&other, &P256);
    service.says(&["keys", "adopt", word(&file)]);
    let said = service.says(&["keys", "adopt", "--revert", word(&file)]);
    common::says(&said, "until then they use the service's key 'site'");
    let delete = format!(
        "'outboard keys delete site --yes --directory {}'",
        service.directory().display()
    );
    common::says(&said, &delete);

    let said = service.says(&["keys", "adopt", word(&file)]);
    common::says(&said, "The service had the key 'site' already");
    service.says(&["keys", "adopt", "--revert", word(&file)]);
    service.says(&["keys", "rename", "site", "shop"]);
    let said = service.says(&["keys", "adopt", word(&file), "--name", "new"]);
    common::says(&said, "The service had the key 'shop' already");

    let adopt = ["keys", "adopt", word(&other), "--name", "shop"];
    let said = service.refuses(&adopt);
    common::says(&said, "another key named 'shop'");
    common::says(&said, "--name takes another name");
    common::says(&said, "outboard keys delete shop --yes");
    let text = fs::read_to_string(&other).expect("it is ours");
    assert!(text.contains("PRIVATE KEY"), "it was touched");
}

#[test]
fn a_service_of_a_user_s_own_gets_a_note() {
    let service = Service::start();
    let file = service.path("site.key");
    key_file(&file, &P256);
    let said = service.says(&["keys", "adopt", word(&file)]);
    let needed = format!("has 'service = {}'", service.directory().display());
    common::says(&said, &needed);
    let file = service.path("other.key");
    key_file(&file, &P256);
    let mut adopt = service.outboard(&["keys", "adopt", word(&file)]);
    let adopt = adopt.env("OPENSSL_CONF", service.configuration());
    let said = common::stdout(&adopt.assert().success());
    assert!(!said.contains("Note:"), "{said}");
}

/// A server that the settings leave out would not start without its key.
#[test]
fn a_program_that_is_left_out_uses_its_key() {
    let service = Service::start();
    let key = service.key("site", "rsa-2048");
    for setting in ["except = openssl", "programs = nginx", "offer = none"] {
        let text = service.configuration_text();
        let text = text.replace("[outboard]\n", &format!("[outboard]\n{setting}\n"));
        let configuration = service.path("settings.cnf");
        fs::write(&configuration, text).expect("it is ours");
        let request = ["req", "-x509", "-new", "-key", word(&key), "-subj", "/CN=x"];
        let mut command = std::process::Command::new("openssl");
        let command = command.args(request).env("OPENSSL_CONF", &configuration);
        succeeds(&command.output().expect("openssl is installed"));
    }
}
