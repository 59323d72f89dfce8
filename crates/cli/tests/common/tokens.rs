//! The PKCS #11 module with a test's own service, and that service's tokens.

use super::service::{Service, succeeds};
use super::token;
use outboard_administration::{
    Connection, Grant, Pins, Reply, Request, Right, Secret, Subject, TokenInfo, TokenRequest,
};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The PIN of a token's security officer, and that of its user.
pub(crate) const PINS: (&str, &str) = ("officer's", "user's");

/// Makes a token that this user may use: with [`PINS`], or without PINs.
pub(crate) fn create(service: &Service, name: &str, has_pins: bool) -> TokenInfo {
    let pins = Pins {
        officer: Secret::new(PINS.0.as_bytes()),
        user: Some(Secret::new(PINS.1.as_bytes())),
    };
    let create = TokenRequest::Create {
        label: format!("{name}'s label"),
        pins: has_pins.then_some(pins),
    };
    ask(service, name, create);
    let grant = Request::Grant {
        name: name.to_owned(),
        grant: Grant {
            to: Subject::User(rustix::process::getuid().as_raw()),
            right: Right::Use,
        },
        given: true,
    };
    match connect(service).ask(&grant) {
        Ok(Reply::Tokens { tokens }) => tokens.into_iter().next().expect("it was made"),
        other => panic!("{other:?}"),
    }
}

/// Asks something of a token, as an administrator.
pub(crate) fn ask(service: &Service, name: &str, what: TokenRequest) -> Reply {
    let request = Request::Token {
        token: name.to_owned(),
        ticket: None,
        what,
    };
    connect(service).ask(&request).expect("it is done")
}

fn connect(service: &Service) -> Connection {
    Connection::open(service.directory()).expect("it listens")
}

/// A program that finds the service of a test's own.
pub(crate) fn program(service: &Service, name: &str) -> Command {
    let mut command = Command::new(name);
    command.env("OUTBOARD_PKCS11", settings(service));
    command
}

/// What the module is told in a test.
pub(crate) fn settings(service: &Service) -> String {
    let directory = service.directory().display();
    format!("service={directory}, ledger={directory}/ledger")
}

/// All that a program says that succeeds.
#[track_caller]
pub(crate) fn output(command: &mut Command) -> String {
    let output = command.output().expect("it is installed");
    succeeds(&output);
    let both = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// Runs `Handshakes.java`, whose server and client both have each key of a key store: a file, `token`, or `login` for a token
/// that wants its user's PIN.
pub(crate) fn handshakes(service: &Service, slot: u64, store: &Path, more: &[&str]) -> String {
    let configuration = service.path("p11.cfg");
    let module = token();
    let text = format!(
        "name = Outboard\nlibrary = {}\nslot = {slot}\n\
         enabledMechanisms = {{ KeyStore CKM_RSA_PKCS CKM_RSA_PKCS_PSS CKM_ECDSA }}\n",
        module.display()
    );
    fs::write(&configuration, text).expect("it is ours");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/token/Handshakes.java");
    let mut java = program(service, "java");
    java.args(more).arg(source).arg(&configuration).arg(store);
    let password = match store.to_str() {
        Some("login") => PINS.1,
        _ => "changeit",
    };
    output(java.args([password, "5"]))
}
