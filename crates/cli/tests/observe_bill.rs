//! Bills of materials that `outboard observe --cbom` writes: valid by CycloneDX's own schema, and true.

mod common;

use common::observe;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

#[test]
fn the_bill_of_materials_is_valid() {
    let directory = TempDir::new().expect("a temporary directory");
    let file = directory.path().join("cbom.json");
    let named = file.display().to_string();
    observe(
        &["--cbom", &named],
        &[
            "sh",
            "-ec",
            "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.pem 2>/dev/null
             openssl dgst -sha256 -sign rsa.pem -sigopt rsa_padding_mode:pss -out s1 rsa.pem
             for a in X25519 ED25519 X448; do openssl genpkey -algorithm $a -out $a.pem; done
             openssl pkey -in X25519.pem -pubout -out X25519.pub
             openssl pkeyutl -derive -inkey X25519.pem -peerkey X25519.pub -out secret
             openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec.pem
             openssl dgst -sha256 -sign ec.pem -out s2 rsa.pem
             openssl kdf -keylen 16 -kdfopt digest:SHA2-256 -kdfopt key:k -kdfopt salt:s HKDF
             openssl kdf -keylen 32 -kdfopt digest:SHA2-256 -kdfopt mode:EXTRACT_ONLY -kdfopt key:k \
                -kdfopt salt:s -kdfopt prefix:tls13 -kdfopt label:derived TLS13-KDF
             openssl dgst -sha256 rsa.pem
             for c in aes-256-ctr des-ede3-cbc chacha20; do
               openssl enc -$c -K 01 -iv 01 -in rsa.pem -out sealed 2>/dev/null
             done
             openssl dgst -shake256 -xoflen 32 rsa.pem
             # By its name this is OpenSSH's, by its traces one with an algorithm of its own.
             cp \"$(command -v openssl)\" ssh
             head -c 1159 /dev/zero >public-key
             head -c 1072 /dev/zero >session-key
             head -c 64 /dev/zero >short
             head -c 197 /dev/zero >long
             ./ssh dgst -sha512 public-key session-key short short long long long long long long long long
             # And this only keeps keys.
             cp ssh ssh-keygen
             ./ssh-keygen enc -aes-256-ctr -K 01 -iv 01 -in rsa.pem -out sealed
             ./ssh enc -chacha20 -K 01 -iv 01 -in rsa.pem -out sealed
             openssl mac -macopt digest:SHA1 -macopt hexkey:01 -in rsa.pem HMAC",
        ],
    )
    .current_dir(&directory)
    .assert()
    .success();
    let bill: Value =
        serde_json::from_slice(&fs::read(&file).expect("it was written")).expect("it is JSON");

    assert_valid(&bill);

    let components = bill["components"].as_array().expect("components");
    let find = |name: &str| {
        components
            .iter()
            .find(|component| component["name"] == name)
            .map(|component| &component["cryptoProperties"]["algorithmProperties"])
            .unwrap_or_else(|| panic!("no {name} in {bill:#}"))
    };
    let rsa = find("RSA-2048 with SHA-256 PSS");
    assert_eq!(rsa["primitive"], "signature");
    assert_eq!(rsa["parameterSetIdentifier"], "2048");
    assert_eq!(rsa["nistQuantumSecurityLevel"], 0);
    assert_eq!(find("ECDSA P-256 with SHA-256")["curve"], "P-256");
    assert_eq!(find("X25519")["classicalSecurityLevel"], 128);
    assert_eq!(find("AES-256-CTR")["nistQuantumSecurityLevel"], 5);
    assert_eq!(find("SHA-256")["nistQuantumSecurityLevel"], 2);
    assert_eq!(bill["metadata"]["component"]["name"], "sh");
    let protocols: Vec<&Value> = components
        .iter()
        .filter(|component| component["cryptoProperties"]["assetType"] == "protocol")
        .map(|component| &component["name"])
        .collect();
    assert_eq!(protocols, ["SSH 2.0", "TLS 1.3"]);
    assert_eq!(find("sntrup761")["primitive"], "kem");
    assert_eq!(find("Poly1305")["primitive"], "mac");
    let program = bill["dependencies"]
        .as_array()
        .and_then(|all| all.iter().find(|one| one["ref"] == "program/openssl"))
        .expect("openssl used all of it");
    let used = program["dependsOn"].as_array().expect("a list");
    assert!(used.contains(&"protocol/tls/1.3".into()), "{used:?}");
    let program = bill["dependencies"]
        .as_array()
        .and_then(|all| all.iter().find(|one| one["ref"] == "program/ssh-keygen"))
        .expect("it encrypted");
    let used = program["dependsOn"].as_array().expect("a list");
    assert_eq!(used, &["crypto/block-cipher/AES-256-CTR"]);
}

/// By CycloneDX's own schema, which refuses it with a word that is no primitive.
fn assert_valid(bill: &Value) {
    let schema = |name: &str| -> Value {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cyclonedx");
        serde_json::from_slice(&fs::read(fixtures.join(name)).expect("it is in the repository"))
            .expect("it is JSON")
    };
    let registry = jsonschema::Registry::new()
        .add(
            "http://cyclonedx.org/schema/spdx.schema.json",
            schema("spdx.schema.json"),
        )
        .and_then(|registry| {
            let name = "jsf-0.82.schema.json";
            registry.add(format!("http://cyclonedx.org/schema/{name}"), schema(name))
        })
        .and_then(|registry| registry.prepare())
        .expect("CycloneDX's schemas are schemas");
    let validator = jsonschema::options()
        .with_registry(&registry)
        .build(&schema("bom-1.6.schema.json"))
        .expect("CycloneDX's schema is one");
    let errors: Vec<String> = validator
        .iter_errors(bill)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{bill:#}");
    let mut broken = bill.clone();
    broken["components"][1]["cryptoProperties"]["algorithmProperties"]["primitive"] =
        "sword".into();
    assert!(
        !validator.is_valid(&broken),
        "a validator that refuses nothing proves nothing"
    );
}
