//! Programs that log in to tokens of the card service, and make, import and use keys there, as they are.

mod common;

use common::service::Service;
use common::tokens::{self, PINS, handshakes, output, program};
use common::{are_installed, says, token};
use outboard_programs::{Launch, free_port};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A service with a token that has PINs, and its slot.
fn service() -> (Service, u64) {
    let service = Service::start();
    let slot = tokens::create(&service, "web", true).slot;
    (service, slot)
}

/// `web` as a URI of PKCS #11.
const URI: &str = "pkcs11:token=web%27s%20label";

fn openssl(words: &[&str]) -> String {
    output(Command::new("openssl").args(words))
}

/// A key and its certificate, which an authority of the same directory has signed: the key, the certificate, the authority's.
fn chain(service: &Service) -> [PathBuf; 3] {
    let files = ["site.key", "site.crt", "ca.crt"].map(|name| service.path(name));
    let [key, certificate, ca] = files.each_ref().map(|file| file.to_str().expect("ASCII"));
    let ca_key = format!("{ca}.key");
    let new = ["req", "-x509", "-new", "-nodes", "-days", "2"];
    let of_ca = ["-newkey", "rsa:2048", "-subj", "/CN=Example CA", "-keyout"];
    openssl(&[&new[..], &of_ca, &[&ca_key, "-out", ca]].concat());
    let of_site = ["-newkey", "rsa:2048", "-subj", "/CN=localhost", "-keyout"];
    let by = ["-CA", ca, "-CAkey", &ca_key, "-out", certificate];
    let request = format!("{certificate}.csr");
    let new = ["req", "-new", "-nodes", "-out", &request];
    openssl(&[&new[..], &of_site, &[key]].concat());
    let sign = [
        "x509",
        "-req",
        "-days",
        "2",
        "-CAcreateserial",
        "-in",
        &request,
    ];
    openssl(&[&sign[..], &by].concat());
    files
}

#[test]
fn keytool_makes_lists_certifies_and_deletes_keys() {
    if !are_installed(&["java", "keytool"]) {
        return;
    }
    let (service, slot) = service();
    let configuration = service.path("web.cfg");
    let text = format!(
        "name = Web\nlibrary = {}\nslot = {slot}\n\
         attributes(generate, CKO_PRIVATE_KEY, *) = {{ CKA_TOKEN = true }}\n",
        token().display()
    );
    fs::write(&configuration, text).expect("it is ours");
    let keytool = |what: &str, words: &[&str]| {
        let mut command = program(&service, "keytool");
        command.args([what, "-keystore", "NONE", "-storetype", "PKCS11"]);
        command.args([
            "-providerName",
            "SunPKCS11-Web",
            "-addprovider",
            "SunPKCS11",
        ]);
        command.arg("-providerArg").arg(&configuration);
        command.args(["-storepass", PINS.1]).args(words);
        command
    };
    let new = |alias: &str, kind: &[&str]| {
        // A subject of its own: Java 25 replaces no certificate while another one names its subject as issuer.
        let subject = format!("CN={alias}");
        let words = ["-alias", alias, "-dname", &subject];
        output(&mut keytool("-genkeypair", &[&words[..], kind].concat()));
    };
    new("rsa", &["-keyalg", "RSA", "-keysize", "2048"]);
    new("ec", &["-keyalg", "EC", "-groupname", "secp256r1"]);
    let listed = output(&mut keytool("-list", &[]));
    says(&listed, "rsa, PrivateKeyEntry");
    says(&listed, "ec, PrivateKeyEntry");
    // Made inside: nobody ever had them.
    let objects = output(
        program(&service, "pkcs11-tool")
            .arg("--module")
            .arg(token())
            .args(["--token-label", "web's label", "--login", "--pin", PINS.1])
            .args(["--list-objects", "--type", "privkey"]),
    );
    assert_eq!(objects.matches("never extractable, local").count(), 2);

    let [_, _, ca] = chain(&service);
    let ca_key = format!("{}.key", ca.display());
    let (request, signed) = (service.path("rsa.csr"), service.path("rsa.crt"));
    let asked = output(&mut keytool("-certreq", &["-alias", "rsa"]));
    fs::write(&request, asked).expect("it is ours");
    let mut sign = Command::new("openssl");
    sign.args(["x509", "-req", "-days", "2", "-CAcreateserial", "-CAkey"]);
    sign.arg(&ca_key).arg("-CA").arg(&ca).arg("-in");
    output(sign.arg(&request).arg("-out").arg(&signed));
    let both = [&signed, &ca].map(|file| fs::read_to_string(file).expect("it is there"));
    let reply = service.path("reply.pem");
    fs::write(&reply, both.concat()).expect("it is ours");
    let reply = reply.to_str().expect("it is ASCII");
    let import = ["-noprompt", "-alias", "rsa", "-file", reply];
    output(&mut keytool("-importcert", &import));
    let listed = output(&mut keytool("-list", &["-v", "-alias", "rsa"]));
    says(&listed, "Certificate chain length: 2");
    says(&listed, "Issuer: CN=Example CA");

    // A server and a client that have the keys of the token.
    let said = handshakes(&service, slot, Path::new("login"), &[]);
    for handshake in [
        "rsa TLSv1.3 5",
        "rsa TLSv1.2 5",
        "ec TLSv1.3 5",
        "ec TLSv1.2 5",
    ] {
        says(&said, handshake);
    }

    output(&mut keytool("-delete", &["-alias", "rsa"]));
    let listed = output(&mut keytool("-list", &[]));
    assert!(
        !listed.contains("rsa,") && listed.contains("ec,"),
        "{listed}"
    );
}

#[test]
fn opensc_initialises_imports_and_tests() {
    if !are_installed(&["pkcs11-tool"]) {
        return;
    }
    let (service, _) = service();
    let tool = |words: &[&str]| {
        let mut command = program(&service, "pkcs11-tool");
        command.arg("--module").arg(token());
        command.args(["--token-label", "web's label"]).args(words);
        command
    };
    let [officer, user] = [PINS.0, PINS.1];
    let as_user =
        |words: &[&str]| output(&mut tool(&[&["--login", "--pin", user], words].concat()));
    let label = ["--init-token", "--label", "web's label"];
    output(&mut tool(&[&label[..], &["--so-pin", officer]].concat()));
    let as_officer = ["--login", "--login-type", "so", "--so-pin", officer];
    let init = ["--init-pin", "--new-pin", "first"];
    output(&mut tool(&[&as_officer[..], &init].concat()));
    let change = ["--pin", "first", "--change-pin", "--new-pin", user];
    output(&mut tool(&[&["--login"], &change[..]].concat()));

    for (kind, label, id) in [
        ("rsa:2048", "rsa", "01"),
        ("EC:secp256r1", "ec", "02"),
        ("EC:edwards25519", "ed", "03"),
    ] {
        as_user(&[
            "--keypairgen",
            "--key-type",
            kind,
            "--label",
            label,
            "--id",
            id,
        ]);
    }
    let [key, certificate, _] = chain(&service);
    let files = [("rsa", &key, "privkey"), ("x509", &certificate, "cert")];
    for (kind, file, class) in files {
        let file = file.to_str().expect("it is ASCII");
        let der = format!("{file}.der");
        openssl(&[kind, "-in", file, "-outform", "DER", "-out", &der]);
        as_user(&[
            "--write-object",
            &der,
            "--type",
            class,
            "--label",
            "site",
            "--id",
            "04",
        ]);
    }
    let listed = as_user(&["--list-objects"]);
    assert_eq!(listed.matches("label:      site").count(), 2, "{listed}");
    // Nobody who is not logged in sees a private key.
    let listed = output(&mut tool(&["--list-objects"]));
    assert!(!listed.contains("Private Key Object"), "{listed}");
    says(&as_user(&["--test"]), "No errors");

    let (message, signature) = (service.path("message"), service.path("signature"));
    fs::write(&message, "a message").expect("it is ours");
    let [input, signed] = [&message, &signature].map(|file| file.to_str().expect("ASCII"));
    let sign = ["--sign", "--mechanism", "SHA256-RSA-PKCS", "--id", "04"];
    as_user(&[&sign[..], &["-i", input, "-o", signed]].concat());
    let public = service.path("public");
    let certificate = certificate.to_str().expect("it is ASCII");
    fs::write(
        &public,
        openssl(&["x509", "-noout", "-pubkey", "-in", certificate]),
    )
    .expect("ours");
    let public = public.to_str().expect("it is ASCII");
    let verify = [
        "dgst",
        "-sha256",
        "-verify",
        public,
        "-signature",
        signed,
        input,
    ];
    says(&openssl(&verify), "Verified OK");
    as_user(&["--delete-object", "--type", "privkey", "--id", "04"]);
    let listed = as_user(&["--list-objects", "--type", "privkey"]);
    assert!(!listed.contains("site"), "{listed}");
}

#[test]
fn gnutls_makes_and_imports_keys_and_serves_with_them() {
    if !are_installed(&["p11tool", "gnutls-serv"]) {
        return;
    }
    let (service, _) = service();
    let gnutls = |name: &str, words: &[&str]| {
        let mut command = program(&service, name);
        command
            .env("GNUTLS_PIN", PINS.1)
            .env("GNUTLS_SO_PIN", PINS.0);
        command.arg("--provider").arg(token()).args(words);
        command
    };
    let tool = |words: &[&str]| {
        output(&mut gnutls(
            "p11tool",
            &[&["--batch", "--login"], words].concat(),
        ))
    };
    // Forgets what is there, and gives the user his PIN again.
    let label = ["--initialize", "--label", "web's label", URI];
    output(&mut gnutls("p11tool", &[&["--batch"], &label[..]].concat()));
    output(&mut gnutls(
        "p11tool",
        &["--batch", "--initialize-pin", URI],
    ));
    tool(&[
        "--generate-privkey=ecdsa",
        "--curve=secp256r1",
        "--label=ec",
        URI,
    ]);
    tool(&["--generate-privkey=rsa", "--bits=2048", "--label=rsa", URI]);
    let [key, certificate, ca] = chain(&service);
    let files = [key, certificate].map(|file| file.to_str().expect("ASCII").to_owned());
    for (option, file) in ["--load-privkey", "--load-certificate"].iter().zip(&files) {
        tool(&["--write", option, file, "--label=site", "--id=0a0b", URI]);
    }
    for key in ["ec", "rsa", "site"] {
        tool(&["--test-sign", &format!("{URI};object={key}")]);
    }
    let port = free_port().expect("there is one");
    let mut server = Launch::new("gnutls-serv")
        .expect("it is installed")
        .env("OUTBOARD_PKCS11", tokens::settings(&service))
        .env("GNUTLS_PIN", PINS.1)
        .arg("--provider")
        .arg(token())
        .args(["--x509keyfile", &format!("{URI};object=site;type=private")])
        .args(["--x509certfile", &format!("{URI};object=site;type=cert")])
        .args(["--quiet", "--port", &port.to_string()])
        .start(&service.path("gnutls.log"))
        .expect("it starts");
    server.wait_for_port(port).expect("it listens");
    let ca = ca.to_str().expect("it is ASCII");
    let connect = ["s_client", "-connect", &format!("127.0.0.1:{port}")];
    let verify = ["-verify_return_error", "-CAfile", ca];
    let mut client = Command::new("openssl");
    client.args(connect).args(verify).stdin(Stdio::null());
    says(&output(&mut client), "Verify return code: 0 (ok)");
}

#[test]
fn nss_makes_keys_and_certificates() {
    if !are_installed(&["certutil", "modutil"]) {
        return;
    }
    let (service, _) = service();
    let database = service.path("nss");
    fs::create_dir(&database).expect("it is ours");
    let database = format!("sql:{}", database.display());
    let nss = |name: &str, words: &[&str]| output(program(&service, name).args(words));
    nss("certutil", &["-N", "-d", &database, "--empty-password"]);
    let module = token();
    let module = module.to_str().expect("it is ASCII");
    let add = ["-add", "outboard", "-libfile", module, "-force"];
    nss("modutil", &[&["-dbdir", &database], &add[..]].concat());
    let (pins, noise) = (service.path("pins"), service.path("noise"));
    fs::write(&pins, PINS.1).expect("it is ours");
    fs::write(&noise, [7; 64]).expect("it is ours");
    let [pins, noise] = [&pins, &noise].map(|file| file.to_str().expect("it is ASCII"));
    let of_token = ["-d", &database, "-h", "web's label", "-f", pins];
    for (name, kind) in [
        ("rsa", ["-k", "rsa", "-g", "2048"]),
        ("ec", ["-k", "ec", "-q", "nistp256"]),
    ] {
        let new = [
            "-S",
            "-n",
            name,
            "-s",
            "CN=localhost",
            "-x",
            "-t",
            ",,",
            "-z",
            noise,
        ];
        nss("certutil", &[&of_token[..], &new, &kind].concat());
    }
    let keys = nss("certutil", &[&["-K"], &of_token[..]].concat());
    says(&keys, "web's label:rsa");
    says(&keys, "web's label:ec");
    let certificates = nss("certutil", &[&["-L"], &of_token[..]].concat());
    says(&certificates, "u,u,u");
}

/// The command writes objects, and the module reads them.
#[test]
fn programs_use_keys_that_an_administrator_imports() {
    if !are_installed(&["java", "p11tool"]) {
        return;
    }
    let (service, slot) = service();
    let [key, certificate, ca] = chain(&service);
    let both = [&certificate, &ca].map(|file| fs::read_to_string(file).expect("it is there"));
    let (whole, pin) = (service.path("chain.pem"), service.path("pin"));
    fs::write(&whole, both.concat()).expect("it is ours");
    fs::write(&pin, PINS.1).expect("it is ours");
    let [key, whole, pin] = [&key, &whole, &pin].map(|file| file.to_str().expect("ASCII"));
    let import = ["token", "import", "web", "site", "--pin-file", pin];
    service.says(&[&import[..], &["--key", key, "--certificate", whole]].concat());
    let said = handshakes(&service, slot, Path::new("login"), &[]);
    says(&said, "site TLSv1.3 5");
    says(&said, "site TLSv1.2 5");
    let mut sign = program(&service, "p11tool");
    sign.env("GNUTLS_PIN", PINS.1)
        .arg("--provider")
        .arg(token());
    sign.args(["--login", "--test-sign", &format!("{URI};object=site")]);
    says(
        &output(&mut sign),
        "Verifying against public key in the token... ok",
    );
    service.says(&["token", "check", "web", "--pin-file", pin]);
}
