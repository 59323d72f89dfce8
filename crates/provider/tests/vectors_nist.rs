//! NIST's vectors (and Bernstein's for Ed25519) through EVP with the provider loaded.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;
#[path = "common/response_file.rs"]
mod response_file;

use common::{Demand, Findings};
use outboard_libcrypto::{
    Cipher, CipherContext, Context, Deriver, DigestSigner, DigestVerifier, Direction, Key, Params,
    Selection,
};
use response_file::{Record, records};

#[test]
fn gcm_seals() {
    for (version, sides) in common::sides_of_every_version() {
        println!("OpenSSL {version}");
        let mut findings = Findings::default();
        for record in records(include_str!("nist/aes_gcm_encrypt.rsp")) {
            let sealed = |context: &Context| {
                let (_, mut sealing) = start(context, &record, Direction::Encrypt);
                let mut data = record.bytes("PT");
                sealing.update_in_place(&mut data).unwrap();
                sealing.finish(&mut []).unwrap();
                let mut tag = vec![0; record.bytes("Tag").len()];
                sealing.tag(&mut tag).unwrap();
                (data, tag)
            };
            let (served_by, _) = start(&sides.outboard, &record, Direction::Encrypt);
            let wanted = (record.bytes("CT"), record.bytes("Tag"));
            let (stock, outboard) = (sealed(&sides.stock), sealed(&sides.outboard));
            findings.vector(
                record.line,
                Some(&wanted),
                &stock,
                &outboard,
                served_by.as_deref(),
            );
        }
        findings.conclude(&Demand {
            vectors: 150,
            served_by_outboard: 150,
            departures: 0,
        });
    }
}

#[test]
fn gcm_opens() {
    for (version, sides) in common::sides_of_every_version() {
        println!("OpenSSL {version}");
        let mut findings = Findings::default();
        for record in records(include_str!("nist/aes_gcm_decrypt.rsp")) {
            let opened = |context: &Context| {
                let (_, mut opening) = start(context, &record, Direction::Decrypt);
                opening.set_tag(&record.bytes("Tag")).unwrap();
                let mut data = record.bytes("CT");
                opening.update_in_place(&mut data).unwrap();
                opening.finish(&mut []).ok().map(|_| data)
            };
            let (served_by, _) = start(&sides.outboard, &record, Direction::Decrypt);
            let wanted = record.find("PT");
            let (stock, outboard) = (opened(&sides.stock), opened(&sides.outboard));
            findings.vector(
                record.line,
                Some(&wanted),
                &stock,
                &outboard,
                served_by.as_deref(),
            );
        }
        findings.conclude(&Demand {
            vectors: 200,
            served_by_outboard: 200,
            departures: 0,
        });
    }
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
    for (version, sides) in common::sides_of_every_version() {
        println!("OpenSSL {version}");
        let mut findings = Findings::default();
        for record in records(include_str!("nist/ecdsa_verify.rsp")) {
            let (curve, digest) = record.section.split_once(',').unwrap();
            let signature = ecdsa_signature(&record.bytes("R"), &record.bytes("S"));
            let mut served_by = None;
            let mut verdict = |context: &Context| {
                let key = public(context, curve, &record.bytes("Qx"), &record.bytes("Qy"));
                let Ok(key) = key else { return false };
                let digest = digest.replace("SHA-", "SHA2-");
                let mut verifier =
                    DigestVerifier::new(&key, Some(&digest), &Params::new()).unwrap();
                served_by = verifier.provider_name();
                verifier.verify(&signature, &record.bytes("Msg")).unwrap()
            };
            let (stock, outboard) = (verdict(&sides.stock), verdict(&sides.outboard));
            let wanted = record.passes();
            findings.vector(
                record.line,
                Some(&wanted),
                &stock,
                &outboard,
                served_by.as_deref(),
            );
        }
        findings.conclude(&Demand {
            vectors: 135,
            served_by_outboard: 130,
            departures: 0,
        });
    }
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
    for (version, sides) in common::sides_of_every_version() {
        println!("OpenSSL {version}");
        let mut findings = Findings::default();
        for record in records(include_str!("nist/ecdh.rsp")) {
            let curve = record.section;
            let mut served_by = None;
            let mut agrees = |context: &Context| {
                let peer = public(
                    context,
                    curve,
                    &record.bytes("QsCAVSx"),
                    &record.bytes("QsCAVSy"),
                );
                let mut params = Params::new()
                    .text(c"group", curve)
                    .big_endian(c"priv", &record.bytes("dsIUT"));
                let ours = Key::from_params(context, "EC", Selection::Pair, &mut params);
                let (Ok(peer), Ok(ours)) = (peer, ours) else {
                    return false;
                };
                let mut deriver = Deriver::new(&ours, &Params::new()).unwrap();
                served_by = deriver.provider_name();
                deriver.set_peer(&peer).is_ok()
                    && deriver
                        .derive()
                        .is_ok_and(|secret| *secret == record.bytes("Z"))
            };
            let (stock, outboard) = (agrees(&sides.stock), agrees(&sides.outboard));
            // What is wrong with our own public half, or with a hash made elsewhere, is not seen here.
            let wanted = match record.text("Result") {
                result if result.starts_with('P') => Some(true),
                result if result.contains("CAVS's Static public key") => Some(false),
                _ => None,
            };
            let name = format!("line {} {}", record.line, record.text("Result"));
            findings.vector(
                name,
                wanted.as_ref(),
                &stock,
                &outboard,
                served_by.as_deref(),
            );
        }
        findings.conclude(&Demand {
            vectors: 90,
            served_by_outboard: 70,
            departures: 0,
        });
    }
}

#[test]
fn rsa_verifies_and_signs_without_the_primes() {
    for (version, sides) in common::sides_of_every_version() {
        println!("OpenSSL {version}");
        let mut findings = Findings::default();
        let files = [
            ("pkcs1", include_str!("nist/rsa_pkcs1_verify.rsp")),
            ("pss", include_str!("nist/rsa_pss_verify.rsp")),
        ];
        for (padding, file) in files {
            for record in records(file) {
                let digest = record.text("SHAAlg").replace("SHA", "SHA2-");
                let params = || {
                    let params = Params::new().text(c"pad-mode", padding);
                    match padding {
                        "pss" => params.int(c"saltlen", record.bytes("SaltVal").len() as i32),
                        _ => params,
                    }
                };
                let numbers = |private: bool| {
                    let numbers = Params::new()
                        .big_endian(c"n", &record.bytes("n"))
                        .big_endian(c"e", &record.bytes("e"));
                    if private {
                        numbers.big_endian(c"d", &record.bytes("d"))
                    } else {
                        numbers
                    }
                };
                let mut served_by = None;
                let mut verdict = |context: &Context| {
                    let key =
                        Key::from_params(context, "RSA", Selection::Public, &mut numbers(false));
                    let mut verifier =
                        DigestVerifier::new(&key.unwrap(), Some(&digest), &params()).unwrap();
                    served_by = verifier.provider_name();
                    verifier
                        .verify(&record.bytes("S"), &record.bytes("Msg"))
                        .unwrap()
                };
                let (stock, outboard) = (verdict(&sides.stock), verdict(&sides.outboard));
                let wanted = record.passes();
                let name = format!("{padding} line {}", record.line);
                findings.vector(name, Some(&wanted), &stock, &outboard, served_by.as_deref());

                // A key of modulus and exponents alone signs, and PKCS #1 v1.5 always the same.
                if wanted && padding == "pkcs1" {
                    let key = Key::from_params(
                        &sides.outboard,
                        "RSA",
                        Selection::Pair,
                        &mut numbers(true),
                    );
                    let mut signer =
                        DigestSigner::new(&key.unwrap(), Some(&digest), &params()).unwrap();
                    assert_eq!(
                        signer.sign(&record.bytes("Msg")).unwrap(),
                        record.bytes("S")
                    );
                }
            }
        }
        findings.conclude(&Demand {
            vectors: 72,
            served_by_outboard: 72,
            departures: 0,
        });
    }
}

#[test]
fn ed25519_signs_and_verifies() {
    for (version, sides) in common::sides_of_every_version() {
        println!("OpenSSL {version}");
        let mut findings = Findings::default();
        for record in records(include_str!("nist/ed25519.rsp")) {
            let mut served_by = None;
            let mut signed = |context: &Context| {
                let mut private = Params::new().bytes(c"priv", &record.bytes("secret"));
                let key =
                    Key::from_params(context, "ED25519", Selection::Pair, &mut private).unwrap();
                assert_eq!(*key.bytes(c"pub").unwrap(), record.bytes("public"));
                let mut signer = DigestSigner::new(&key, None, &Params::new()).unwrap();
                served_by = signer.provider_name();
                let signature = signer.sign(&record.bytes("Msg")).unwrap();

                let mut public = Params::new().bytes(c"pub", &record.bytes("public"));
                let key =
                    Key::from_params(context, "ED25519", Selection::Public, &mut public).unwrap();
                let mut verifier = DigestVerifier::new(&key, None, &Params::new()).unwrap();
                assert!(verifier.verify(&signature, &record.bytes("Msg")).unwrap());
                signature
            };
            let (stock, outboard) = (signed(&sides.stock), signed(&sides.outboard));
            let wanted = record.bytes("S");
            findings.vector(
                record.line,
                Some(&wanted),
                &stock,
                &outboard,
                served_by.as_deref(),
            );
        }
        findings.conclude(&Demand {
            vectors: 32,
            served_by_outboard: 32,
            departures: 0,
        });
    }
}
