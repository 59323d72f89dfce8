//! `outboard token` with a real outboardd.

mod common;

use common::service::{Service, succeeds, us};
use common::tokens::{output, program};
use common::{are_installed, document, stdout, token};
use std::fs;
use std::process::Command;

/// A service, with PINs in files of this user.
struct Tokens(Service);

impl Tokens {
    fn start() -> Self {
        let tokens = Self(Service::start());
        for pin in ["officer", "user", "next", "wrong"] {
            tokens.write(pin, &format!("{pin}-1234\n"));
        }
        tokens
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path(name), text).expect("it is ours");
    }

    /// The words of a command, with each option's file in the service's directory.
    fn words(&self, words: &[&str], files: &[(&str, &str)]) -> Vec<String> {
        let own = ["token"].iter().chain(words).map(|word| (*word).to_owned());
        let files = files.iter().flat_map(|(option, name)| {
            let file = self.0.path(name).display().to_string();
            [(*option).to_owned(), file]
        });
        own.chain(files).collect()
    }

    fn says(&self, words: &[&str], files: &[(&str, &str)]) -> String {
        let words = self.words(words, files);
        self.0
            .says(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn refuses(&self, words: &[&str], files: &[(&str, &str)]) -> String {
        let words = self.words(words, files);
        self.0
            .refuses(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn document(&self, words: &[&str], files: &[(&str, &str)], schema: &str) -> serde_json::Value {
        let words = self.words(&[words, &["--json"]].concat(), files);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        document(&self.0.outboard(&words).assert(), schema)
    }

    fn init(&self) {
        let said = self.says(
            &["init", "web", "--label", "Web server"],
            &[("--pin-file", "user"), ("--officer-pin-file", "officer")],
        );
        common::says(&said, "slot 2, label 'Web server'");
        common::says(&said, "outboard token grant web --user NAME");
        self.says(&["grant", "web", "--user", &us()], &[]);
    }

    /// A key, and its certificate in a file of that name.
    fn certified(&self, name: &str, kind: &[&str]) {
        let (key, certificate) = (self.0.path(name), self.0.path(&format!("{name}.pem")));
        let mut command = Command::new("openssl");
        command.args(["req", "-x509", "-new", "-noenc", "-days", "2", "-newkey"]);
        command.args(kind).arg("-subj").arg(format!("/CN={name}"));
        command.arg("-keyout").arg(key).arg("-out").arg(certificate);
        succeeds(&command.output().expect("openssl is there"));
    }
}

const USER: (&str, &str) = ("--pin-file", "user");
const P256: &[&str] = &["ec", "-pkeyopt", "ec_paramgen_curve:P-256"];

#[test]
fn pins_are_set_tried_locked_and_reset() {
    let tokens = Tokens::start();
    common::says(&tokens.says(&["list"], &[]), "outboard token init NAME");
    let said = tokens.refuses(&["init", "web"], &[]);
    common::says(&said, "--officer-pin-file");
    tokens.init();
    let tokens_now = || tokens.document(&["list"], &[], "outboard-tokens")["tokens"].clone();
    assert_eq!(tokens_now()[0]["label"], "Web server");

    let new = [USER, ("--new-pin-file", "next")];
    common::says(&tokens.says(&["set-pin", "web"], &new), "is changed");
    common::says(&tokens.refuses(&["objects", "web"], &[USER]), "is wrong");
    let next = [("--pin-file", "next")];
    common::says(&tokens.says(&["objects", "web"], &next), "no object");

    for left in (0..10).rev() {
        let said = tokens.refuses(&["objects", "web"], &[("--pin-file", "wrong")]);
        let tries = match left {
            0 => "it is locked now".to_owned(),
            1 => "1 more try until".to_owned(),
            left => format!("{left} more tries until"),
        };
        common::says(&said, &tries);
    }
    assert_eq!(tokens_now()[0]["user"]["locked"], true);
    common::says(&tokens.says(&["list"], &[]), "locked");
    let said = tokens.refuses(&["objects", "web"], &next);
    common::says(&said, "outboard token reset-pin");
    let reset = [
        ("--officer-pin-file", "officer"),
        ("--new-pin-file", "user"),
    ];
    tokens.says(&["reset-pin", "web"], &reset);
    tokens.says(&["objects", "web"], &[USER]);
    tokens.write("short", "123\n");
    let short = [USER, ("--new-pin-file", "short")];
    common::says(
        &tokens.refuses(&["set-pin", "web"], &short),
        "4 to 255 bytes",
    );
    let officer = [("--pin-file", "officer"), ("--new-pin-file", "next")];
    tokens.says(&["set-pin", "web", "--officer"], &officer);
    common::says(&tokens.refuses(&["reset-pin", "web"], &reset), "is wrong");

    // By a descriptor, as a credential may come.
    let mut command = Command::new("bash");
    command
        .args(["-c", "\"$@\" --pin-fd 7 7<\"$PIN\"", "bash"])
        .arg(env!("CARGO_BIN_EXE_outboard"))
        .args(["token", "objects", "web", "--directory"])
        .arg(tokens.0.directory())
        .env("PIN", tokens.0.path("user"));
    succeeds(&command.output().expect("bash is there"));

    let said = tokens.says(&["rename", "web", "net"], &[]);
    common::says(&said, "now called net");
    tokens.says(&["objects", "net"], &[USER]);
    // What the token is called belongs to keys, too.
    tokens.0.says(&["keys", "rename", "net", "web"]);
    let said = tokens.refuses(&["delete", "web"], &[]);
    common::says(&said, "--yes");
    tokens.says(&["delete", "web", "--yes"], &[]);
    common::says(
        &tokens.refuses(&["objects", "web"], &[USER]),
        "there is no token web",
    );
    tokens.0.says(&["keys", "audit", "--check"]);
}

#[test]
fn a_key_is_imported_with_its_certificate_and_seen() {
    let tokens = Tokens::start();
    tokens.init();
    tokens.certified("site", P256);
    tokens.certified("other", &["rsa:2048"]);
    let with = |key, certificate| [("--key", key), ("--certificate", certificate), USER];
    let said = tokens.refuses(&["import", "web", "site"], &with("site", "other.pem"));
    common::says(&said, "another public half");
    common::says(&tokens.says(&["objects", "web"], &[USER]), "no object");
    let said = tokens.says(&["import", "web", "site"], &with("site", "site.pem"));
    common::says(&said, "1 new certificate");
    let said = tokens.refuses(&["import", "web", "site"], &with("other", "other.pem"));
    common::says(&said, "'site' already");
    tokens.says(&["import", "web", "shop"], &with("other", "other.pem"));
    common::says(
        &tokens.says(&["check", "web"], &[USER]),
        "see all 6 objects",
    );
    let objects = tokens.document(&["objects", "web"], &[USER], "outboard-token-objects");
    let objects = objects["objects"].as_array().expect("a list");
    let of = |label: &str| {
        let of = objects.iter().filter(|object| object["label"] == label);
        of.map(|object| (object["class"].clone(), object["inside"].clone()))
            .collect::<Vec<_>>()
    };
    for label in ["site", "shop"] {
        let classes = of(label);
        for class in ["private-key", "public-key", "certificate"] {
            let inside = class == "private-key";
            assert!(
                classes.contains(&(class.into(), inside.into())),
                "{classes:?}"
            );
        }
    }

    tokens.says(&["policy", "web", "--types", "p256"], &[]);
    common::says(&tokens.says(&["policy", "web"], &[]), "types         p256");
    let said = tokens.refuses(&["import", "web", "late"], &with("other", "other.pem"));
    common::says(&said, "has no keys of type rsa-2048");
    // What is refused leaves no other half, and no certificate.
    let said = tokens.refuses(&["remove", "web", "late"], &[USER]);
    common::says(&said, "has no object 'late'");
    tokens.says(&["policy", "web", "--types", "all"], &[]);

    let said = tokens.says(&["remove", "web", "shop"], &[USER]);
    common::says(&said, "destroyed: 3");
    let said = tokens.refuses(&["remove", "web", "shop"], &[USER]);
    common::says(&said, "has no object 'shop'");
}

#[test]
fn programs_see_and_use_what_is_imported() {
    if !are_installed(&["pkcs11-tool", "keytool"]) {
        return;
    }
    let tokens = Tokens::start();
    tokens.init();
    tokens.certified("site", P256);
    tokens.certified("shop", &["rsa:2048"]);
    tokens.certified("edwards", &["ed25519"]);
    for name in ["site", "shop", "edwards"] {
        let certificate = format!("{name}.pem");
        let files = [("--key", name), ("--certificate", &*certificate), USER];
        tokens.says(&["import", "web", name], &files);
    }
    let (message, signature) = (tokens.0.path("message"), tokens.0.path("signature"));
    fs::write(&message, [7; 300]).expect("it is ours");
    for (name, mechanism) in [("site", "ECDSA-SHA256"), ("shop", "SHA256-RSA-PKCS")] {
        let mut sign = program(&tokens.0, "pkcs11-tool");
        sign.arg("--module").arg(token());
        sign.args([
            "--token-label",
            "Web server",
            "--login",
            "--pin",
            "user-1234",
        ]);
        // The label is the id, too.
        let id: String = name.bytes().map(|byte| format!("{byte:02x}")).collect();
        sign.args(["--sign", "--id", &id, "--mechanism", mechanism]);
        sign.args(["--signature-format", "openssl", "--input-file"]);
        sign.arg(&message).arg("--output-file").arg(&signature);
        output(&mut sign);
        let public = tokens.0.path("public");
        let certificate = tokens.0.path(&format!("{name}.pem"));
        let mut half = Command::new("openssl");
        half.args(["x509", "-noout", "-pubkey", "-in"])
            .arg(certificate);
        fs::write(&public, output(&mut half)).expect("it is ours");
        let mut verify = Command::new("openssl");
        verify.args(["dgst", "-sha256", "-verify"]).arg(public);
        verify.arg("-signature").arg(&signature).arg(&message);
        common::says(&output(&mut verify), "Verified OK");
    }
    // As `outboard token check` says: Java uses no Ed25519 key, but the two others.
    let configuration = tokens.0.path("java.cfg");
    let text = format!("name = Web\nlibrary = {}\nslot = 2\n", token().display());
    fs::write(&configuration, text).expect("it is ours");
    let keytool = |what: &[&str]| {
        let mut keytool = program(&tokens.0, "keytool");
        keytool.args(what);
        keytool.args(["-keystore", "NONE", "-storetype", "PKCS11"]);
        keytool.args([
            "-providerName",
            "SunPKCS11-Web",
            "-addprovider",
            "SunPKCS11",
        ]);
        keytool.arg("-providerArg").arg(&configuration);
        keytool.args(["-storepass", "user-1234"]);
        keytool
    };
    let listed = output(&mut keytool(&["-list"]));
    for name in ["site", "shop"] {
        common::says(&listed, &format!("{name}, PrivateKeyEntry"));
        output(&mut keytool(&["-certreq", "-alias", name]));
    }
    let of_edwards = keytool(&["-certreq", "-alias", "edwards"]).output();
    assert!(!of_edwards.expect("it is installed").status.success());
}

#[test]
fn what_programs_do_not_see_is_told() {
    let tokens = Tokens::start();
    tokens.init();
    tokens.says(&["revoke", "web", "--user", &us()], &[]);
    tokens.certified("site", P256);
    tokens.certified("edwards", &["ed25519"]);
    let key = |key| [("--key", key), USER];
    tokens.says(&["import", "web", "bare"], &key("site"));
    tokens.says(
        &["import", "web", "edwards"],
        &[("--key", "edwards"), ("--certificate", "edwards.pem"), USER],
    );
    let check = tokens.document(&["check", "web"], &[USER], "outboard-token-check");
    let findings = check["findings"].as_array().expect("a list");
    let found = |label: Option<&str>, programs: &str, what: &str| {
        let is = |finding: &&serde_json::Value| {
            finding["label"].as_str() == label
                && finding["programs"] == programs
                && finding["what"]
                    .as_str()
                    .is_some_and(|text| text.contains(what))
        };
        assert_eq!(findings.iter().filter(is).count(), 1, "{findings:#?}");
    };
    found(None, "every program", "nobody may use");
    found(Some("bare"), "Java", "no certificate of the same id");
    found(Some("edwards"), "Java, OpenSSH 9.2", "Ed25519");
    assert_eq!(findings.len(), 3);
    let words = tokens.words(&["check", "web"], &[USER]);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let said = stdout(&tokens.0.outboard(&words).assert().code(1));
    common::says(&said, "'bare'");
}

#[test]
fn a_token_without_pins_asks_for_none() {
    let tokens = Tokens::start();
    tokens.says(&["init", "open", "--no-pin"], &[]);
    tokens.certified("site", P256);
    tokens.says(
        &["import", "open", "site"],
        &[("--key", "site"), ("--certificate", "site.pem")],
    );
    let said = tokens.says(&["list"], &[]);
    common::says(&said, "none needed");
    let said = tokens.refuses(&["set-pin", "open"], &[USER]);
    common::says(&said, "has no PINs");
    // A key's command does not take a token for a key.
    let said = tokens.0.refuses(&["keys", "show", "open"]);
    common::says(&said, "is a token, not a key");
}
