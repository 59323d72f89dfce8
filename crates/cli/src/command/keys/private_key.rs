//! Private keys in the forms that files have them in: OpenSSL reads them.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use outboard_administration::Secret;
use outboard_installation as installation;
use outboard_libcrypto::{Context, Key, Structure};
use zeroize::Zeroizing;

use crate::Failure;

/// The most bytes of a key file.
pub(super) const MOST: usize = 1 << 20;

/// The first line of that file.
fn passphrase(file: Option<&Path>) -> Result<Option<Zeroizing<Vec<u8>>>, Failure> {
    let Some(file) = file else { return Ok(None) };
    let text = fs::read(file)
        .map(Zeroizing::new)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    Ok(Some(Zeroizing::new(line.to_vec())))
}

/// The key of a file's content, as PKCS #8. The passphrase is the first line of a file.
pub(super) fn read(
    content: &[u8],
    passphrase_file: Option<&Path>,
    source: &str,
) -> Result<Secret, Failure> {
    let context = Context::new(&installation::library()?)?;
    let passphrase = passphrase(passphrase_file)?;
    let passphrase = passphrase.as_ref().map(|line| &line[..]);
    let is_pem = content.windows(10).any(|window| window == b"-----BEGIN");
    let key = match is_pem {
        true => Key::from_pem(&context, content, passphrase),
        false => Key::from_der(&context, content).or_else(|error| {
            match from_pkcs12(content, passphrase_file) {
                Some(pem) => Key::from_pem(&context, &pem, None),
                None => Err(error),
            }
        }),
    };
    let key = key.map_err(|error| {
        let remedy = match passphrase {
            None => " (if it is encrypted, name a file with --passphrase)",
            Some(_) => "",
        };
        format!("{source} holds no private key that OpenSSL can read: {error}{remedy}")
    })?;
    let der = key.to_der(Structure::Pkcs8)?;
    Ok(Secret(der))
}

/// The first key of a PKCS #12 file, as PEM; none where it is none, or the passphrase is another. (OpenSSL's command reads
/// such a file; a library would have to be linked.)
fn from_pkcs12(content: &[u8], passphrase: Option<&Path>) -> Option<Zeroizing<Vec<u8>>> {
    let mut given = OsString::from(match passphrase {
        Some(_) => "file:",
        None => "pass:",
    });
    given.extend(passphrase.map(Path::as_os_str));
    let mut child = Command::new("openssl")
        .args(["pkcs12", "-nocerts", "-noenc", "-passin"])
        .arg(given)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut pem = Zeroizing::new(Vec::with_capacity(MOST));
    // It reads all before it writes anything.
    let sent = child.stdin.take()?.write_all(content);
    let read = child.stdout.take()?.take(MOST as u64).read_to_end(&mut pem);
    let ended = child.wait();
    (sent.is_ok() && read.is_ok() && ended.is_ok_and(|status| status.success())).then_some(pem)
}

/// A PrivateKeyInfo as PEM.
pub(super) fn pem(key: &Secret) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let context = Context::new(&installation::library()?)?;
    let key = Key::from_der(&context, &key.0)?;
    Ok(key.to_pem(Structure::Pkcs8)?)
}
