//! What `outboard observe` calls weak: what real programs did that is, by the names that OpenSSL has for it.

mod common;

use common::{are_installed, module, number, observe, row, says, script, stderr};
use serde_json::Value;

/// The severity of each finding, by its name and operation.
#[track_caller]
fn severity<'a>(report: &'a Value, name: &str, operation: &str) -> &'a Value {
    let findings = report["findings"].as_array().expect("findings");
    findings
        .iter()
        .find(|finding| finding["name"] == name && finding["operation"] == operation)
        .map(|finding| &finding["severity"])
        .unwrap_or_else(|| panic!("no {name} {operation} in {findings:#?}"))
}

#[test]
fn small_curves_and_groups_are_weak() {
    let report = script(
        &[],
        "for curve in secp112r1 brainpoolP160r1 sect163k1 sect283k1; do
           openssl ecparam -name $curve -genkey -noout -out ec.pem
           openssl dgst -sha256 -sign ec.pem -out s ec.pem
         done
         openssl genpkey -algorithm DH -pkeyopt group:modp_1536 -out dh.pem
         openssl pkey -in dh.pem -pubout -out dh.pub
         openssl pkeyutl -derive -inkey dh.pem -peerkey dh.pub -out secret",
    );
    for curve in ["secp112r1", "brainpoolP160r1", "sect163k1"] {
        let name = format!("ECDSA {curve} with SHA-256");
        assert_eq!(severity(&report, &name, "sign"), "weak");
    }
    let binary = severity(&report, "ECDSA sect283k1 with SHA-256", "sign");
    assert_eq!(binary, "legacy");
    assert_eq!(severity(&report, "DH modp_1536", "agree"), "weak");
}

#[test]
fn pkcs1_encryption_is_seen_where_nobody_named_it() {
    let report = script(
        &[],
        "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.pem 2>/dev/null
         openssl pkey -in rsa.pem -pubout -out rsa.pub
         echo secret >text
         openssl pkeyutl -encrypt -pubin -inkey rsa.pub -in text -out sealed
         openssl pkeyutl -decrypt -inkey rsa.pem -in sealed -out opened
         openssl pkeyutl -decrypt -inkey rsa.pem -in sealed -out opened -pkeyopt rsa_padding_mode:pkcs1",
    );
    let opened = row(&report, "RSA-2048", "unwrap");
    assert_eq!(
        (number(&opened["calls"]), &opened["with"]),
        (2, &"PKCS1".into())
    );
    assert_eq!(severity(&report, "RSA-2048 with PKCS1", "unwrap"), "weak");
    assert_eq!(severity(&report, "RSA-2048 with PKCS1", "wrap"), "legacy");
}

/// What RSA does for CMS is encryption; what elliptic curves do for it is agreement.
#[test]
fn cms_encrypts_or_agrees() {
    let quantum = |key: &str| {
        let certificate = "openssl req -x509 -newkey KEY -nodes -keyout key.pem -out cert.pem -subj /CN=a 2>/dev/null
             echo secret >text
             openssl cms -encrypt -in text -out sealed -outform DER cert.pem
             openssl cms -decrypt -in sealed -inform DER -inkey key.pem -recip cert.pem";
        let report = script(&[], &certificate.replace("KEY", key));
        let quantum = &report["quantum"];
        let numbers = ["key_agreements", "public_key_encryptions"].map(|name| {
            let ready = number(&quantum[format!("{name}_post_quantum")]);
            (ready, number(&quantum[name]))
        });
        assert_eq!(numbers.map(|(ready, _)| ready), [0, 0]);
        numbers.map(|(_, all)| all)
    };
    assert_eq!(quantum("rsa:2048"), [0, 2]);
    assert_eq!(quantum("ec -pkeyopt ec_paramgen_curve:P-256"), [2, 0]);
}

/// A handshake, both sides in one process, with that version and those ciphers.
fn handshake(version: &str, ciphers: &str) -> String {
    let script = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem \
           -subj /CN=localhost 2>/dev/null
         python3 -W ignore -c '
import ssl
def context(side):
    context = ssl.SSLContext(side)
    context.set_ciphers(\"CIPHERS\")
    context.minimum_version = context.maximum_version = ssl.TLSVersion.VERSION
    return context
server, client = context(ssl.PROTOCOL_TLS_SERVER), context(ssl.PROTOCOL_TLS_CLIENT)
server.load_cert_chain(\"cert.pem\", \"key.pem\")
client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
sides = [server.wrap_bio(up, down, True), client.wrap_bio(down, up)]
for _ in range(4):
    for side in sides:
        try: side.do_handshake()
        except ssl.SSLWantReadError: pass
assert sides[0].version() == \"VERSION\".replace(\"_\", \".\"), sides[0].version()
'";
    script
        .replace("VERSION", version)
        .replace("CIPHERS", ciphers)
}

#[test]
fn rsa_key_exchange_is_weak() {
    if !are_installed(&["python3"]) {
        return;
    }
    let report = script(&[], &handshake("TLSv1_2", "AES128-GCM-SHA256"));
    let opened = row(&report, "RSA-2048", "unwrap");
    assert_eq!(
        (number(&opened["calls"]), &opened["mode"]),
        (1, &"tls".into())
    );
    let name = "RSA-2048 with PKCS1 of TLS";
    assert_eq!(severity(&report, name, "unwrap"), "weak");
    // Of both sides.
    assert_eq!(number(&report["handshakes"]["estimated"]), 2);
    assert_eq!(number(&report["quantum"]["public_key_encryptions"]), 2);
    assert_eq!(number(&report["quantum"]["key_agreements"]), 0);
}

#[test]
fn an_old_tls_is_called_what_it_is() {
    if !are_installed(&["python3"]) {
        return;
    }
    let bill = tempfile::NamedTempFile::new().expect("a temporary file");
    let named = bill.path().display().to_string();
    let old = handshake("TLSv1", "ECDHE-RSA-AES128-SHA:@SECLEVEL=0");
    let report = script(&["--cbom", &named], &old);
    let name = "TLS 1.0 PRF with MD5-SHA1";
    assert_eq!(severity(&report, name, "kdf"), "legacy");
    let bill = std::fs::read_to_string(bill.path()).expect("it was written");
    says(&bill, "\"TLS 1.0 or 1.1\"");
    assert!(!bill.contains("TLS 1.2"), "{bill}");
}

/// `legacy` has what is oldest; programs load it by themselves.
#[test]
fn what_legacy_does_is_seen() {
    let load = "-provider legacy -provider default";
    let key = "-K 0123456789abcdef0123456789abcdef -iv 0123456789abcdef";
    let report = script(
        &[],
        &format!(
            "echo text >text
             openssl enc -rc4 {load} -K 0123456789abcdef0123456789abcdef -in text -out sealed
             openssl enc -d -rc4 {load} -K 0123456789abcdef0123456789abcdef -in sealed -out opened
             cmp text opened
             openssl enc -bf-cbc {load} {key} -in text -out sealed
             openssl enc -seed-cbc {load} {key}0123456789abcdef -in text -out sealed
             openssl dgst -md4 {load} text"
        ),
    );
    let sealed = row(&report, "RC4", "encrypt");
    assert_eq!(sealed["implementation"], "legacy");
    assert_eq!(number(&sealed["bytes"]), 5);
    assert_eq!(severity(&report, "RC4", "decrypt"), "weak");
    assert_eq!(severity(&report, "BF-CBC", "encrypt"), "weak");
    assert_eq!(severity(&report, "SEED-CBC", "encrypt"), "legacy");
    assert_eq!(severity(&report, "MD4", "digest"), "weak");
}

/// A configuration that activates `legacy`, and a provider that nobody knows.
#[test]
fn configured_providers_are_seen_or_said_not_to_be() {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let configuration = directory.path().join("openssl.cnf");
    let text = format!(
        "openssl_conf = init\n[init]\nproviders = list\n\
         [list]\ndefault = plain\nlegacy = old\nstranger = strange\n\
         [plain]\nactivate = 1\n[old]\nactivate = 1\n\
         [strange]\nactivate = 1\nmodule = {}\n",
        module().display()
    );
    std::fs::write(&configuration, text).expect("it is ours");
    let bill = directory.path().join("bill.json");
    let named = bill.display().to_string();
    let run = |options: &[&str]| {
        observe(
            options,
            &["sh", "-c", "echo | openssl dgst -md4 >/dev/null"],
        )
        .env("OPENSSL_CONF", &configuration)
        .assert()
        .success()
    };
    let said = stderr(&run(&["--cbom", &named]));
    says(&said, "MD4");
    says(
        &said,
        "the provider stranger, which the configuration names",
    );
    let bill = std::fs::read_to_string(bill).expect("it was written");
    says(
        &bill,
        "the provider stranger, which the configuration names",
    );
    let report = common::document(&run(&["--json"]), "outboard-observe");
    assert_eq!(row(&report, "MD4", "digest")["implementation"], "legacy");
    says(&report["unseen"].to_string(), "the provider stranger");
}

#[test]
fn what_cannot_be_seen_is_said_where_nothing_was() {
    let said = stderr(&observe(&[], &["true"]).assert().success());
    says(&said, "Not seen");
    says(&said, "a program's own library contexts");
    says(&said, "processes of another user");
}
