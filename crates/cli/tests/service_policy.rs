//! What policies restrict, and what they cannot say: by the command, with a service and programs of the test's own.

mod common;

use common::service::Service;
use outboard_programs::{Certificate, OpenSsl, SServerOptions, Workplace};

/// Whether a key decrypts with those options of `openssl pkeyutl`.
fn decrypts(service: &Service, key: &str, options: &[&str]) -> bool {
    service.decrypted(key, options).as_deref() == Some("a message")
}

const OAEP: [&str; 2] = ["-pkeyopt", "rsa_padding_mode:oaep"];
const OAEP_256: [&str; 4] = [OAEP[0], OAEP[1], "-pkeyopt", "rsa_oaep_md:sha256"];

#[test]
fn a_policy_restricts_decryption() {
    let service = Service::start();
    let key = service.key("site", "rsa-2048");
    let key = key.to_str().expect("it is ASCII");
    let policy = |words: &[&str]| service.says(&[&["keys", "policy", "site"], words].concat());
    let allows = || {
        [
            decrypts(&service, key, &[]),
            decrypts(&service, key, &OAEP),
            decrypts(&service, key, &OAEP_256),
        ]
    };
    assert_eq!(allows(), [true, true, true]);
    policy(&["--paddings", "oaep"]);
    assert_eq!(allows(), [false, true, true]);
    policy(&["--digests", "sha256"]);
    // Of the label, and of the masks.
    assert_eq!(allows(), [false, false, true]);
    let label = ["-pkeyopt", "rsa_mgf1_md:sha1"];
    assert!(!decrypts(&service, key, &[&OAEP_256[..], &label].concat()));
    policy(&["--paddings", "pkcs1,pss"]);
    assert_eq!(allows(), [true, false, false]);
    policy(&["--operations", "sign"]);
    assert_eq!(allows(), [false, false, false]);
    let said = service.openssl(&["pkeyutl", "-decrypt", "-inkey", key, "-in", key]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    common::says(
        &said,
        "key 'site': the key's policy does not allow operation decrypt",
    );
    common::says(&said, "outboard keys show site");
}

/// As docs/service.md says: clients with forward secrecy lose nothing.
#[test]
fn a_key_that_only_signs_serves_clients_with_forward_secrecy() {
    let service = Service::start();
    let key = service.key("site", "rsa-2048");
    let certificate = Certificate {
        certificate: service.certificate(&key),
        key,
    };
    let workplace = Workplace::new().expect("it can be written");
    let stock = OpenSsl::stock(&workplace).expect("it can be written");
    let text = service.configuration_text();
    let ours = OpenSsl::configured(&workplace, "service", &text).expect("it can be written");
    let options = SServerOptions {
        openssl: &ours,
        certificate: &certificate,
        asynchronous: false,
        settings: &[],
    };
    let server = options.start(&workplace).expect("it starts");
    let serves = |cipher: &str| {
        let client = stock.command().expect("openssl is installed");
        let client = client.args(["s_client", "-tls1_2", "-cipher", cipher, "-connect"]);
        let client = client.arg(format!("127.0.0.1:{}", server.port));
        let finished = client.finish().expect("it runs");
        finished.status.success() && finished.output.contains(&format!("Cipher is {cipher}"))
    };
    let ciphers = ["AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256"];
    assert_eq!(ciphers.map(serves), [true, true]);
    service.says(&["keys", "policy", "site", "--operations", "sign"]);
    assert_eq!(ciphers.map(serves), [false, true]);
}

#[test]
fn a_key_shows_only_what_its_type_can_do() {
    let service = Service::start();
    let digests = "unnamed, md5-sha1, sha1, sha224, sha256, sha384, sha512";
    for (kind, operations, paddings, digests) in [
        (
            "rsa-2048",
            "sign, decrypt",
            Some("pkcs1, pss, oaep"),
            Some(digests),
        ),
        ("p256", "sign, derive", None, Some(digests)),
        ("ed25519", "sign", None, None),
    ] {
        service.key(kind, kind);
        let shown = service.says(&["keys", "show", kind]);
        let line = |title: &str| {
            let mut lines = shown.lines().filter_map(|line| line.strip_prefix(title));
            lines.next().map(str::trim)
        };
        assert_eq!(line("operations"), Some(operations), "{shown}");
        assert_eq!(line("paddings"), paddings, "{shown}");
        assert_eq!(line("digests"), digests, "{shown}");
    }
    // A padding that is not left takes its operation with it.
    let shown = service.says(&["keys", "policy", "rsa-2048", "--paddings", "pss"]);
    common::says(&shown, "operations    sign\n");
}

#[test]
fn a_policy_that_the_key_s_type_cannot_have_is_refused() {
    let service = Service::start();
    for kind in ["rsa-2048", "p256", "ed25519"] {
        service.key(kind, kind);
    }
    for (key, words, refusal) in [
        (
            "p256",
            ["--operations", "sign,decrypt"],
            "a key of type p256 has no operation 'decrypt' (it has sign, derive)",
        ),
        (
            "rsa-2048",
            ["--operations", "derive"],
            "a key of type rsa-2048 has no operation 'derive' (it has sign, decrypt)",
        ),
        (
            "rsa-2048",
            ["--digests", "sha256,foo"],
            "a key of type rsa-2048 has no digest 'foo' (it has unnamed, md5-sha1, sha1, sha224, sha256, sha384, sha512)",
        ),
        (
            "p256",
            ["--paddings", "pss"],
            "a key of type p256 has no padding 'pss' (it has none)",
        ),
        (
            "ed25519",
            ["--digests", "sha512"],
            "a key of type ed25519 has no digest 'sha512' (it has none)",
        ),
    ] {
        let before = service.says(&["keys", "show", key, "--json"]);
        let said = service.refuses(&["keys", "policy", key, words[0], words[1]]);
        common::says(&said, refusal);
        assert_eq!(service.says(&["keys", "show", key, "--json"]), before);
    }
    let nothing = ["--operations", "decrypt", "--paddings", "pss"];
    let said = service.refuses(&[&["keys", "policy", "rsa-2048"], &nothing[..]].concat());
    common::says(&said, "the policy would allow nothing");
}
