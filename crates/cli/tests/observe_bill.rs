//! Bills of materials that `outboard observe --cbom` writes: valid by CycloneDX's own schema, and true.

mod common;

use common::{are_installed, observe, observing, outboard};
use outboard_programs::{Certificate, OpenSsl, PostgreSqlOptions, Workplace};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
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
    let bill = read(&file);

    assert_valid(&bill);

    let components = bill["components"].as_array().expect("components");
    let find = |name: &str| &find(&bill, name)["algorithmProperties"];
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
    let used = |by: &str| names(&dependency(&bill, by)["dependsOn"]);
    assert!(used("program/openssl").contains("protocol/tls/1.3"));
    let cipher = "crypto/block-cipher/AES-256-CTR".to_owned();
    let by_one = [cipher.clone(), "provider/default".to_owned()];
    assert_eq!(used("program/ssh-keygen"), by_one.into());
    assert!(names(&dependency(&bill, "provider/default")["provides"]).contains(&cipher));
    assert!(used("run").contains("program/ssh-keygen"));
    let library = component(&bill, "OpenSSL's libcrypto, default provider");
    let version = library["version"]
        .as_str()
        .expect("of what was run it is known");
    assert!(version.contains('.'), "{version}");
}

const SIGNATURE: &str = "RSA-2048 with SHA-256 PSS";

/// A server with TLS and SCRAM, which runs as another user, and psql.
#[test]
fn postgresql_s_bill_of_materials_is_valid() {
    if !are_installed(&["initdb", "postgres", "psql"]) {
        return;
    }
    let workplace = Workplace::new().expect("a directory");
    let stock = OpenSsl::stock(&workplace).expect("it is ours");
    let certificate =
        Certificate::generate(&workplace, &stock, "rsa", "rsa:2048").expect("it is made");
    // The server's user makes a record of its own, in a directory that is everybody's.
    let shared = workplace.join("shared");
    fs::create_dir(&shared).expect("it is ours");
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).expect("it is ours");
    let [of_server, of_client] = ["server", "client"].map(|side| shared.join(side));
    let options = PostgreSqlOptions {
        openssl: &observing(&workplace, "observed-server", &of_server),
        certificate: &certificate,
        core: None,
    };
    let server = options.start(&workplace).expect("it starts");
    let client = observing(&workplace, "observed-client", &of_client);
    let answer = server.query(&client, "select 1");
    answer.expect("it is let in");
    server.stop().expect("it ends");

    let bill = |record: &Path, program: &str| {
        let file = record.with_extension("json");
        let mut command = outboard();
        command.arg("observe").arg("--record").arg(record);
        command.arg("--cbom").arg(&file).assert().success();
        let bill = read(&file);
        assert_valid(&bill);
        // PostgreSQL takes one group alone (ssl_ecdh_curve).
        for name in ["ECDH P-256", "AES-256-GCM", "SHA-256", SIGNATURE] {
            find(&bill, name);
        }
        let tls = find(&bill, "TLS 1.3");
        let suites = &tls["protocolProperties"]["cipherSuites"];
        assert_eq!(suites[0]["name"], "TLS_AES_256_GCM_SHA384", "{bill:#}");
        assert_eq!(suites.as_array().map(Vec::len), Some(1));
        let used = &dependency(&bill, &format!("program/{program}"))["dependsOn"];
        for reference in [
            "protocol/tls/1.3",
            "provider/default",
            "crypto/ae/AES-256-GCM",
        ] {
            assert!(names(used).contains(reference), "{bill:#}");
        }
        bill
    };
    let server = bill(&of_server, "postgres");
    let functions = |bill: &Value| {
        let algorithm = &find(bill, SIGNATURE)["algorithmProperties"];
        names(&algorithm["cryptoFunctions"])
    };
    assert_eq!(functions(&server), ["sign".to_owned()].into());
    let client = bill(&of_client, "psql");
    assert_eq!(functions(&client), ["verify".to_owned()].into());
    // A password hashed 4096 times (RFC 7677), by HMAC's old functions.
    let calls = |name: &str| -> u64 {
        let component = component(&client, name);
        let properties = component["properties"].as_array().expect("a list");
        let calls = properties
            .iter()
            .find(|one| one["name"] == "outboard:calls");
        let calls = calls.and_then(|calls| calls["value"].as_str());
        calls.expect("it says").parse().expect("a number")
    };
    assert!(calls("SHA-256") > 2 * 4096);
}

fn read(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).expect("it was written")).expect("it is JSON")
}

#[track_caller]
fn component<'a>(bill: &'a Value, name: &str) -> &'a Value {
    let components = bill["components"].as_array().expect("components");
    components
        .iter()
        .find(|component| component["name"] == name)
        .unwrap_or_else(|| panic!("no {name} in {bill:#}"))
}

/// What is said of the asset of that name.
#[track_caller]
fn find<'a>(bill: &'a Value, name: &str) -> &'a Value {
    &component(bill, name)["cryptoProperties"]
}

#[track_caller]
fn dependency<'a>(bill: &'a Value, reference: &str) -> &'a Value {
    let all = bill["dependencies"].as_array().expect("a list");
    all.iter()
        .find(|one| one["ref"] == reference)
        .unwrap_or_else(|| panic!("nothing depends on {reference} in {bill:#}"))
}

fn names(list: &Value) -> BTreeSet<String> {
    let list = list.as_array().expect("a list");
    let name = |one: &Value| one.as_str().expect("a text").to_owned();
    list.iter().map(name).collect()
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
    assert_references(bill);
    let mut broken = bill.clone();
    let primitive = broken["components"]
        .as_array_mut()
        .into_iter()
        .flatten()
        .find_map(|one| one.pointer_mut("/cryptoProperties/algorithmProperties/primitive"));
    *primitive.expect("there is an algorithm") = "sword".into();
    assert!(
        !validator.is_valid(&broken),
        "a validator that refuses nothing proves nothing"
    );
}

/// Each is made once, and what is referred to exists.
fn assert_references(bill: &Value) {
    let components = bill["components"].as_array().expect("components");
    let mut known = BTreeSet::new();
    for one in components.iter().chain(bill["metadata"].get("component")) {
        let reference = one["bom-ref"].as_str().expect("each has one");
        assert!(known.insert(reference.to_owned()), "{reference} twice");
    }
    let mut named = BTreeSet::new();
    for one in bill["dependencies"].as_array().expect("a list") {
        named.insert(one["ref"].as_str().expect("a text").to_owned());
        for list in ["dependsOn", "provides"] {
            named.extend(one.get(list).map(names).unwrap_or_default());
        }
    }
    for component in components {
        let suites = &component["cryptoProperties"]["protocolProperties"]["cipherSuites"];
        for suite in suites.as_array().into_iter().flatten() {
            named.extend(names(&suite["algorithms"]));
        }
    }
    let unknown: Vec<&String> = named.difference(&known).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
