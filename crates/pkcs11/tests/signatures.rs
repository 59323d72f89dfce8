//! Signatures of keys of every type, judged by OpenSSL.

mod common;

use std::fs;
use std::process::Command;

use common::session;
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::MechanismType;
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::object::{Attribute, AttributeType, ObjectHandle};
use cryptoki::session::Session;

const P256: &[u8] = b"\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
const P384: &[u8] = b"\x06\x05\x2b\x81\x04\x00\x22";
const P521: &[u8] = b"\x06\x05\x2b\x81\x04\x00\x23";
const ED25519: &[u8] = b"\x06\x03\x2b\x65\x70";

/// A public half as a SubjectPublicKeyInfo.
fn public_info(session: &Session, key: ObjectHandle) -> Vec<u8> {
    let wanted = [AttributeType::PublicKeyInfo];
    match &session.get_attributes(key, &wanted).expect("it has one")[..] {
        [Attribute::PublicKeyInfo(info)] => info.clone(),
        other => panic!("{other:?}"),
    }
}

/// Keys of a curve.
fn curve(
    session: &Session,
    mechanism: &Mechanism,
    parameters: &[u8],
) -> (ObjectHandle, ObjectHandle) {
    let public = [Attribute::EcParams(parameters.to_vec())];
    let made = session.generate_key_pair(mechanism, &public, &[]);
    made.expect("a key pair")
}

fn rsa(session: &Session, bits: u64) -> (ObjectHandle, ObjectHandle) {
    let public = [Attribute::ModulusBits(bits.into())];
    let made = session.generate_key_pair(&Mechanism::RsaPkcsKeyPairGen, &public, &[]);
    made.expect("a key pair")
}

/// Whether OpenSSL finds that signature good, with those options of `dgst` or `pkeyutl`.
fn openssl_agrees(public: &[u8], message: &[u8], signature: &[u8], words: &[&str]) -> bool {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str, content: &[u8]| {
        let file = directory.path().join(name);
        fs::write(&file, content).expect("it is ours");
        file
    };
    let key = file("key", public);
    let (message, signature) = (file("message", message), file("signature", signature));
    let mut command = Command::new("openssl");
    command.args(words);
    match words[0] {
        "dgst" => command
            .args(["-keyform", "DER", "-verify"])
            .arg(&key)
            .arg("-signature"),
        _ => command
            .args(["-verify", "-pubin", "-keyform", "DER", "-inkey"])
            .arg(&key)
            .arg("-sigfile"),
    };
    command.arg(&signature);
    match words[0] {
        "dgst" => command.arg(&message),
        _ => command.arg("-in").arg(&message),
    };
    command
        .output()
        .expect("openssl is installed")
        .status
        .success()
}

/// An ECDSA signature as OpenSSL has it.
fn der(signature: &[u8]) -> Vec<u8> {
    let integer = |half: &[u8]| {
        let start = half
            .iter()
            .position(|&byte| byte != 0)
            .unwrap_or(half.len() - 1);
        let half = &half[start..];
        let mut bytes = vec![2, half.len() as u8 + u8::from(half[0] >= 0x80)];
        if half[0] >= 0x80 {
            bytes.push(0);
        }
        bytes.extend_from_slice(half);
        bytes
    };
    let (r, s) = signature.split_at(signature.len() / 2);
    let both = [integer(r), integer(s)].concat();
    match both.len() {
        length @ ..0x80 => [&[0x30, length as u8][..], &both].concat(),
        length => [&[0x30, 0x81, length as u8][..], &both].concat(),
    }
}

/// Signs whole and in parts, and has both judged by OpenSSL and by the module; a changed message is refused.
fn check(
    session: &Session,
    (public, private): (ObjectHandle, ObjectHandle),
    mechanism: &Mechanism,
    words: &[&str],
) {
    let message = b"a message of some length, signed by what the module has";
    let info = public_info(session, public);
    let is_ecdsa = words.contains(&"ecdsa");
    let words: Vec<&str> = words
        .iter()
        .filter(|word| **word != "ecdsa")
        .copied()
        .collect();
    let whole = session
        .sign(mechanism, private, message)
        .expect("a signature");
    session.sign_init(mechanism, private).expect("it begins");
    for part in message.chunks(7) {
        session.sign_update(part).expect("it goes on");
    }
    let parts = session.sign_final().expect("a signature");
    for signature in [whole, parts] {
        session
            .verify(mechanism, public, message, &signature)
            .expect("it is right");
        assert!(
            session
                .verify(mechanism, public, b"another", &signature)
                .is_err()
        );
        let signature = if is_ecdsa { der(&signature) } else { signature };
        assert!(
            openssl_agrees(&info, message, &signature, &words),
            "{mechanism:?}"
        );
        assert!(!openssl_agrees(&info, b"another", &signature, &words));
    }
}

#[test]
fn openssl_finds_rsa_signatures_good() {
    let session = session();
    let pss = |hash_alg, mgf, length: u64| PkcsPssParams {
        hash_alg,
        mgf,
        s_len: length.into(),
    };
    for bits in [2048, 3072, 4096] {
        let key = rsa(&session, bits);
        check(
            &session,
            key,
            &Mechanism::Sha256RsaPkcs,
            &["dgst", "-sha256"],
        );
        check(
            &session,
            key,
            &Mechanism::Sha512RsaPkcs,
            &["dgst", "-sha512"],
        );
        let parameters = pss(MechanismType::SHA384, PkcsMgfType::MGF1_SHA384, 48);
        let words = [
            "dgst",
            "-sha384",
            "-sigopt",
            "rsa_padding_mode:pss",
            "-sigopt",
            "rsa_pss_saltlen:48",
        ];
        check(
            &session,
            key,
            &Mechanism::Sha384RsaPkcsPss(parameters),
            &words,
        );
    }
}

#[test]
fn openssl_finds_ecdsa_signatures_good() {
    let session = session();
    for parameters in [P256, P384, P521] {
        let key = curve(&session, &Mechanism::EccKeyPairGen, parameters);
        check(
            &session,
            key,
            &Mechanism::EcdsaSha256,
            &["dgst", "-sha256", "ecdsa"],
        );
        check(
            &session,
            key,
            &Mechanism::EcdsaSha512,
            &["dgst", "-sha512", "ecdsa"],
        );
    }
}

#[test]
fn openssl_finds_ed25519_signatures_good() {
    let session = session();
    let (public, private) = curve(&session, &Mechanism::EccEdwardsKeyPairGen, ED25519);
    let mechanism = Mechanism::Eddsa(EddsaParams::new(EddsaSignatureScheme::Ed25519));
    let signature = session
        .sign(&mechanism, private, b"a message")
        .expect("a signature");
    session
        .verify(&mechanism, public, b"a message", &signature)
        .expect("it is right");
    assert!(
        session
            .verify(&mechanism, public, b"another", &signature)
            .is_err()
    );
    let info = public_info(&session, public);
    assert!(openssl_agrees(
        &info,
        b"a message",
        &signature,
        &["pkeyutl", "-rawin"]
    ));
}

#[test]
fn an_unpadded_signature_is_verified() {
    let session = session();
    let (public, private) = rsa(&session, 2048);
    let mechanism = Mechanism::RsaX509;
    let short = session
        .sign(&mechanism, private, b"a number")
        .expect("a signature");
    let verify = |value: &[u8]| session.verify(&mechanism, public, value, &short);
    verify(b"a number").expect("it is right");
    verify(b"\0\0a number").expect("it is the same number");
    assert!(verify(b"another!").is_err());
    assert!(verify(&[1; 257]).is_err());
}
