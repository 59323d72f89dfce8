//! Private keys in the forms that files have them in: OpenSSL reads them.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use outboard_administration::Secret;
use outboard_installation as installation;
use outboard_libcrypto::{Context, Key, Structure};
use zeroize::Zeroizing;

use ssh_key::PrivateKey;
use ssh_key::private::KeypairData;

use crate::Failure;

/// The most bytes of a key file.
pub(in crate::command) const MOST: usize = 1 << 20;

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
pub(in crate::command) fn read(
    content: &[u8],
    passphrase_file: Option<&Path>,
    source: &str,
) -> Result<Secret, Failure> {
    if content.trim_ascii().is_empty() {
        return Err(format!("{source} is empty: it holds no private key").into());
    }
    let context = Context::new(&installation::library()?)?;
    let passphrase = passphrase(passphrase_file)?;
    let passphrase = passphrase.as_ref().map(|line| &line[..]);
    let is_pem = content.windows(10).any(|window| window == b"-----BEGIN");
    if content
        .windows(OPENSSH.len())
        .any(|window| window == OPENSSH)
    {
        return from_openssh(content, source);
    }
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
        match passphrase_file {
            None if is_encrypted(content) => {
                return format!(
                    "the key in {source} is encrypted (name a file whose first line is its passphrase: --passphrase FILE)"
                );
            }
            Some(file) if is_encrypted(content) => {
                return format!(
                    "the key in {source} cannot be decrypted: the first line of {} is another passphrase",
                    file.display()
                );
            }
            _ => {}
        }
        let remedy = match passphrase {
            None => " (if it is encrypted, name a file with --passphrase)",
            Some(_) => "",
        };
        format!("{source} holds no private key that OpenSSL can read: {error}{remedy}")
    })?;
    let der = key.to_der(Structure::Pkcs8)?;
    Ok(Secret(der))
}

/// Whether that is a PEM block of an encrypted key: PKCS #8's, or the old form.
fn is_encrypted(content: &[u8]) -> bool {
    let has = |what: &[u8]| content.windows(what.len()).any(|window| window == what);
    has(b"-----BEGIN ENCRYPTED PRIVATE KEY-----") || has(b"Proc-Type: 4,ENCRYPTED")
}

/// How OpenSSH's own format begins.
const OPENSSH: &[u8] = b"-----BEGIN OPENSSH PRIVATE KEY-----";

/// A key in OpenSSH's own format. ssh-keygen writes all but Ed25519's as PKCS #8.
fn from_openssh(content: &[u8], source: &str) -> Result<Secret, Failure> {
    /// PrivateKeyInfo of an Ed25519 key, up to its seed (RFC 8410, 7).
    const ED25519: [u8; 16] = [
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04,
        0x20,
    ];
    // Other types are ssh-keygen's affair, and so is what is damaged.
    if let Ok(key) = PrivateKey::from_openssh(content)
        && let KeypairData::Ed25519(pair) = key.key_data()
    {
        let seed = Zeroizing::new(pair.private.to_bytes());
        let mut info = Zeroizing::new(Vec::with_capacity(48));
        info.extend_from_slice(&ED25519);
        info.extend_from_slice(&*seed);
        return Ok(Secret(info));
    }
    // Only this user can enter the directory, and it is gone at the end.
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("key");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(&file)?.write_all(content)?;
    let converted = Command::new("ssh-keygen")
        .args(["-q", "-p", "-m", "PKCS8", "-N", "", "-P", "", "-f"])
        .arg(&file)
        .stdout(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run ssh-keygen: {error} (install openssh-client)"))?;
    if !converted.status.success() {
        let said = String::from_utf8_lossy(&converted.stderr).into_owned();
        return Err(format!(
            "ssh-keygen cannot convert the key in {source}: {} (if it has a passphrase, first remove it: 'ssh-keygen \
             -p -N \"\" -f FILE')",
            said.trim_end()
        )
        .into());
    }
    let pem = Zeroizing::new(fs::read(&file)?);
    let context = Context::new(&installation::library()?)?;
    Ok(Secret(
        Key::from_pem(&context, &pem, None)?.to_der(Structure::Pkcs8)?,
    ))
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

/// The public half of a PrivateKeyInfo, as PEM.
pub(super) fn public_pem(key: &Secret) -> Result<String, Failure> {
    let context = Context::new(&installation::library()?)?;
    let key = Key::from_der(&context, &key.0)?;
    let pem = key.public()?.to_pem(Structure::PublicKeyInfo)?;
    Ok(String::from_utf8_lossy(&pem).into_owned())
}

/// A PrivateKeyInfo as PEM.
pub(super) fn pem(key: &Secret) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let context = Context::new(&installation::library()?)?;
    let key = Key::from_der(&context, &key.0)?;
    Ok(key.to_pem(Structure::Pkcs8)?)
}
