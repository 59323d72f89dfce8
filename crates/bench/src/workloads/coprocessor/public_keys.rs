//! Verbs of public keys, with keys of RSA under the coprocessor's master key.

use super::caller::{Task, good};
use super::library::Library;
use super::library::Parameter::{In, Length, Null, Number, Out};
use crate::Failure;

/// Room for a token: a key of 4,096 bits has more than the 3,500 bytes that are published.
const ROOM: usize = 8192;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Generate,
    Encrypt,
    Decrypt,
    Sign,
    Verify,
    /// CSNDSYI: a DATA key of 16 bytes comes in under the public key.
    Import,
}

/// The one of that name.
pub(super) fn of_kind(name: &str) -> Option<Kind> {
    Some(match name {
        "rsa-generate" => Kind::Generate,
        "pke" => Kind::Encrypt,
        "pkd" => Kind::Decrypt,
        "dsg" => Kind::Sign,
        "dsv" => Kind::Verify,
        "syi" => Kind::Import,
        _ => return None,
    })
}

/// The task, with a key of so many bits.
pub(super) fn task(library: &Library, kind: Kind, bits: usize) -> Result<Task, Failure> {
    let skeleton = skeleton(library, bits)?;
    let library = *library;
    if kind == Kind::Generate {
        return Ok(Box::new(move || generate(&library, &skeleton).map(drop)));
    }
    let key = generate(&library, &skeleton)?;
    Ok(match kind {
        Kind::Generate | Kind::Sign => Box::new(move || sign(&library, &key).map(drop)),
        Kind::Encrypt => Box::new(move || encrypt(&library, &key, b"PKCS-1.2").map(drop)),
        Kind::Decrypt => {
            let encrypted = encrypt(&library, &key, b"PKCS-1.2")?;
            Box::new(move || decrypt(&library, &key, &encrypted))
        }
        Kind::Verify => {
            let signed = sign(&library, &key)?;
            Box::new(move || verify(&library, &key, &signed))
        }
        Kind::Import => {
            let encrypted = encrypt(&library, &key, b"PKCSOAEP")?;
            Box::new(move || import(&library, &key, &encrypted))
        }
    })
}

fn skeleton(library: &Library, bits: usize) -> Result<Vec<u8>, Failure> {
    // The size, no modulus yet, the exponent 65,537.
    let bits = u16::try_from(bits)?.to_be_bytes();
    let structure = [&bits[..], &[0, 0, 0, 3], &[0; 12], &[1, 0, 1]].concat();
    let (mut skeleton, mut length) = (vec![0; ROOM], ROOM as i64);
    let codes = library.verb("CSNDPKB")?.call([
        Number(2),
        In(b"RSA-CRT KEY-MGMT"),
        Number(structure.len() as i64),
        In(&structure),
        Number(0),
        Null,
        Null,
        Null,
        Null,
        Null,
        Null,
        Null,
        Null,
        Null,
        Null,
        Null,
        Length(&mut length),
        Out(&mut skeleton),
    ]);
    good("CSNDPKB", codes)?;
    skeleton.truncate(length as usize);
    Ok(skeleton)
}

fn generate(library: &Library, skeleton: &[u8]) -> Result<Vec<u8>, Failure> {
    let (mut key, mut length) = (vec![0; ROOM], ROOM as i64);
    let codes = library.verb("CSNDPKG")?.call([
        Number(1),
        In(b"MASTER  "),
        Number(0),
        Null,
        Number(skeleton.len() as i64),
        In(skeleton),
        Null,
        Length(&mut length),
        Out(&mut key),
    ]);
    key.truncate(length as usize);
    good("CSNDPKG", codes).map(|()| key)
}

fn sign(library: &Library, key: &[u8]) -> Result<Vec<u8>, Failure> {
    let (mut signature, mut length, mut bits) = (vec![0; 512], 512, 0);
    let codes = library.verb("CSNDDSG")?.call([
        Number(2),
        In(b"PKCS-1.1SHA-256 "),
        Number(key.len() as i64),
        In(key),
        Number(32),
        In(&[7; 32]),
        Length(&mut length),
        Length(&mut bits),
        Out(&mut signature),
    ]);
    signature.truncate(length as usize);
    good("CSNDDSG", codes).map(|()| signature)
}

fn verify(library: &Library, key: &[u8], signed: &[u8]) -> Result<(), Failure> {
    let codes = library.verb("CSNDDSV")?.call([
        Number(2),
        In(b"PKCS-1.1SHA-256 "),
        Number(key.len() as i64),
        In(key),
        Number(32),
        In(&[7; 32]),
        Number(signed.len() as i64),
        In(signed),
    ]);
    good("CSNDDSV", codes)
}

/// Encrypts the 16 bytes of a key.
fn encrypt(library: &Library, key: &[u8], padding: &[u8; 8]) -> Result<Vec<u8>, Failure> {
    let (mut encrypted, mut length) = (vec![0; 512], 512);
    let clear: Vec<u8> = (1..=16).map(|byte: u8| byte.wrapping_mul(37)).collect();
    let codes = library.verb("CSNDPKE")?.call([
        Number(1),
        In(padding),
        Number(16),
        In(&clear),
        Number(0),
        Null,
        Number(key.len() as i64),
        In(key),
        Length(&mut length),
        Out(&mut encrypted),
    ]);
    encrypted.truncate(length as usize);
    good("CSNDPKE", codes).map(|()| encrypted)
}

fn decrypt(library: &Library, key: &[u8], encrypted: &[u8]) -> Result<(), Failure> {
    let (mut clear, mut length) = (vec![0; 512], 512);
    let codes = library.verb("CSNDPKD")?.call([
        Number(1),
        In(b"PKCS-1.2"),
        Number(encrypted.len() as i64),
        In(encrypted),
        Number(0),
        Null,
        Number(key.len() as i64),
        In(key),
        Length(&mut length),
        Out(&mut clear),
    ]);
    good("CSNDPKD", codes)
}

fn import(library: &Library, key: &[u8], encrypted: &[u8]) -> Result<(), Failure> {
    let (mut token, mut length) = (vec![0; 64], 64);
    let codes = library.verb("CSNDSYI")?.call([
        Number(1),
        In(b"PKCSOAEP"),
        Number(encrypted.len() as i64),
        In(encrypted),
        Number(key.len() as i64),
        In(key),
        Length(&mut length),
        Out(&mut token),
    ]);
    good("CSNDSYI", codes)
}
