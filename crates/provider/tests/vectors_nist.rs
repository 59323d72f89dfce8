//! NIST's vectors (and Bernstein's for Ed25519) through EVP with the provider loaded.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;
#[path = "common/response_file.rs"]
mod response_file;

use std::fmt::Debug;

use common::{Demand, Findings};
use outboard_libcrypto::{
    Cipher, CipherContext, Context, Deriver, DigestSigner, DigestVerifier, Direction, Key, Params,
    Selection,
};
use response_file::{Record, records};

/// What came of a record, and the provider that it came from, where it got so far.
type Outcome<T> = (T, Option<String>);

/// Runs each record of a file on both sides in every libcrypto; `wanted` is what it asks for, if anything definite.
fn check<T: PartialEq + Debug>(
    file: &str,
    demand: &Demand,
    wanted: impl Fn(&Record) -> Option<T>,
    run: impl Fn(&Context, &Record) -> Outcome<T>,
) {
    for (version, sides) in common::sides_of_every_version() {
        println!("OpenSSL {version}");
        let mut findings = Findings::default();
        for record in &records(file) {
            let (stock, _) = run(&sides.stock, record);
            let (outboard, served_by) = run(&sides.outboard, record);
            let name = format!("line {}", record.line);
            let wanted = wanted(record);
            findings.vector(
                name,
                wanted.as_ref(),
                &stock,
                &outboard,
                served_by.as_deref(),
            );
        }
        findings.conclude(demand);
    }
}

/// So many vectors, so many of them served by Outboard, and each as NIST has it.
fn all(vectors: usize, served_by_outboard: usize) -> Demand {
    Demand {
        vectors,
        served_by_outboard,
        departures: 0,
    }
}

#[test]
fn gcm_seals() {
    let wanted = |record: &Record| Some((record.bytes("CT"), record.bytes("Tag")));
    let file = include_str!("nist/aes_gcm_encrypt.rsp");
    check(file, &all(150, 150), wanted, |context, record| {
        let (served_by, mut sealing) = start(context, record, Direction::Encrypt);
        let mut data = record.bytes("PT");
        sealing.update_in_place(&mut data).unwrap();
        sealing.finish(&mut []).unwrap();
        let mut tag = vec![0; record.bytes("Tag").len()];
        sealing.tag(&mut tag).unwrap();
        ((data, tag), served_by)
    });
}

#[test]
fn gcm_opens() {
    let wanted = |record: &Record| Some(record.find("PT"));
    let file = include_str!("nist/aes_gcm_decrypt.rsp");
    check(file, &all(200, 200), wanted, |context, record| {
        let (served_by, mut opening) = start(context, record, Direction::Decrypt);
        opening.set_tag(&record.bytes("Tag")).unwrap();
        let mut data = record.bytes("CT");
        opening.update_in_place(&mut data).unwrap();
        (opening.finish(&mut []).ok().map(|_| data), served_by)
    });
}

fn start(
    context: &Context,
    record: &Record,
    direction: Direction,
) -> (Option<String>, CipherContext) {
    let key = record.bytes("Key");
    let cipher = Cipher::fetch(context, &format!("AES-{}-GCM", key.len() * 8), None).unwrap();
    let mut state = CipherContext::new(&cipher, direction).unwrap();
    let iv = record.bytes("IV");
    state.set_iv_length(iv.len()).unwrap();
    state.start(Some(&key), Some(&iv)).unwrap();
    state.associate(&record.bytes("AAD")).unwrap();
    (cipher.provider_name(), state)
}

#[test]
fn ecdsa_verifies() {
    let wanted = |record: &Record| Some(record.passes());
    let file = include_str!("nist/ecdsa_verify.rsp");
    check(file, &all(135, 130), wanted, |context, record| {
        let (curve, digest) = record.section.split_once(',').unwrap();
        let key = public(context, curve, &record.bytes("Qx"), &record.bytes("Qy"));
        let Ok(key) = key else { return (false, None) };
        let digest = digest.replace("SHA-", "SHA2-");
        let mut verifier = DigestVerifier::new(&key, Some(&digest), &Params::new()).unwrap();
        let signature = ecdsa_signature(&record.bytes("R"), &record.bytes("S"));
        let verdict = verifier.verify(&signature, &record.bytes("Msg")).unwrap();
        (verdict, verifier.provider_name())
    });
}

/// `Ecdsa-Sig-Value` (RFC 3279) of two positive integers.
fn ecdsa_signature(r: &[u8], s: &[u8]) -> Vec<u8> {
    let integer = |value: &[u8]| {
        let zeros = value.iter().take_while(|byte| **byte == 0).count();
        let mut digits = value[zeros.min(value.len() - 1)..].to_vec();
        if digits[0] & 0x80 != 0 {
            digits.insert(0, 0);
        }
        [&[2, digits.len() as u8], &digits[..]].concat()
    };
    let content = [integer(r), integer(s)].concat();
    let length = match content.len() {
        short @ 0..0x80 => vec![short as u8],
        long => vec![0x81, long as u8],
    };
    [&[0x30], &length[..], &content].concat()
}

fn public(context: &Context, curve: &str, x: &[u8], y: &[u8]) -> outboard_libcrypto::Result<Key> {
    let length = match curve {
        "P-256" => 32,
        "P-384" => 48,
        _ => 66,
    };
    let padded = |coordinate: &[u8]| {
        let zeros = coordinate.iter().take_while(|byte| **byte == 0).count();
        let digits = &coordinate[zeros..];
        [vec![0; length - digits.len()], digits.to_vec()].concat()
    };
    let point = [vec![4], padded(x), padded(y)].concat();
    let mut params = Params::new().text(c"group", curve).bytes(c"pub", &point);
    Key::from_params(context, "EC", Selection::Public, &mut params)
}

#[test]
fn ecdh_derives() {
    // What is wrong with our own public half, or with a hash made elsewhere, is not seen here.
    let wanted = |record: &Record| match record.text("Result") {
        result if result.starts_with('P') => Some(true),
        result if result.contains("CAVS's Static public key") => Some(false),
        _ => None,
    };
    let file = include_str!("nist/ecdh.rsp");
    check(file, &all(90, 70), wanted, |context, record| {
        let curve = record.section;
        let (x, y) = (record.bytes("QsCAVSx"), record.bytes("QsCAVSy"));
        let peer = public(context, curve, &x, &y);
        let mut params = Params::new()
            .text(c"group", curve)
            .big_endian(c"priv", &record.bytes("dsIUT"));
        let ours = Key::from_params(context, "EC", Selection::Pair, &mut params);
        let (Ok(peer), Ok(ours)) = (peer, ours) else {
            return (false, None);
        };
        let mut deriver = Deriver::new(&ours, &Params::new()).unwrap();
        let agrees = deriver.set_peer(&peer).is_ok()
            && deriver
                .derive()
                .is_ok_and(|secret| *secret == record.bytes("Z"));
        (agrees, deriver.provider_name())
    });
}

#[test]
fn rsa_verifies_and_signs_without_the_primes() {
    check_rsa("pkcs1", include_str!("nist/rsa_pkcs1_verify.rsp"));
    check_rsa("pss", include_str!("nist/rsa_pss_verify.rsp"));
}

fn check_rsa(padding: &str, file: &str) {
    let wanted = |record: &Record| Some(record.passes());
    check(file, &all(36, 36), wanted, |context, record| {
        let digest = record.text("SHAAlg").replace("SHA", "SHA2-");
        let params = Params::new().text(c"pad-mode", padding);
        let params = match padding {
            "pss" => params.int(c"saltlen", record.bytes("SaltVal").len() as i32),
            _ => params,
        };
        let numbers = || {
            Params::new()
                .big_endian(c"n", &record.bytes("n"))
                .big_endian(c"e", &record.bytes("e"))
        };
        let key = Key::from_params(context, "RSA", Selection::Public, &mut numbers()).unwrap();
        let mut verifier = DigestVerifier::new(&key, Some(&digest), &params).unwrap();
        let (signature, message) = (record.bytes("S"), record.bytes("Msg"));
        let verdict = verifier.verify(&signature, &message).unwrap();

        // A key of modulus and exponents alone signs, and PKCS #1 v1.5 always the same.
        if record.passes() && padding == "pkcs1" {
            let mut numbers = numbers().big_endian(c"d", &record.bytes("d"));
            let key = Key::from_params(context, "RSA", Selection::Pair, &mut numbers).unwrap();
            let mut signer = DigestSigner::new(&key, Some(&digest), &params).unwrap();
            assert_eq!(signer.sign(&message).unwrap(), signature);
        }
        (verdict, verifier.provider_name())
    });
}

#[test]
fn ed25519_signs_and_verifies() {
    let wanted = |record: &Record| Some(record.bytes("S"));
    let file = include_str!("nist/ed25519.rsp");
    check(file, &all(32, 32), wanted, |context, record| {
        let half = |name, field| Params::new().bytes(name, &record.bytes(field));
        let message = record.bytes("Msg");
        let mut private = half(c"priv", "secret");
        let key = Key::from_params(context, "ED25519", Selection::Pair, &mut private).unwrap();
        assert_eq!(*key.bytes(c"pub").unwrap(), record.bytes("public"));
        let mut signer = DigestSigner::new(&key, None, &Params::new()).unwrap();
        let signature = signer.sign(&message).unwrap();

        let mut public = half(c"pub", "public");
        let key = Key::from_params(context, "ED25519", Selection::Public, &mut public).unwrap();
        let mut verifier = DigestVerifier::new(&key, None, &Params::new()).unwrap();
        assert!(verifier.verify(&signature, &message).unwrap());
        (signature, signer.provider_name())
    });
}
