//! Encoded public keys, OpenSSL's older types, and raw keys.

use std::ffi::CString;

use super::write::shown;
use super::{check, describe};
use crate::keys::der;
use crate::operations::{self, Kind};
use crate::transcript::{Arg, NULL, Object, Transcript, int, object, quietly};

pub(super) fn encoded_public_key(t: &'static Transcript, name: &str, key: Object, random: bool) {
    let (point, length) = encoded(t, key);
    t.say(&format!(
        "EVP_PKEY_get1_encoded_public_key -> {length} {}{}",
        shown(&point, random),
        t.errors()
    ));
    // Into the key itself, which is a pair (the private half stays), into a copy of parameters, into an empty key.
    let copy = Object(quietly!(t, EVP_PKEY_dup(key)) as *mut _);
    let parameters = Object(quietly!(t, EVP_PKEY_new()) as *mut _);
    quietly!(t, EVP_PKEY_copy_parameters(parameters, key));
    let other = match Kind::of(name) {
        Kind::Ec => [4; 65].to_vec(),
        _ => [9; 32].to_vec(),
    };
    // OpenSSL crashes with an RSA key of nothing.
    let targets = if matches!(Kind::of(name), Kind::Rsa | Kind::Pss) {
        vec![copy]
    } else {
        vec![copy, parameters]
    };
    for target in targets {
        t.clear();
        for bytes in [&point[..], &other, &[], &point[..point.len() / 2], &[0]] {
            int!(
                t,
                EVP_PKEY_set1_encoded_public_key(target, bytes, bytes.len())
            );
            int!(t, EVP_PKEY_eq(target, key));
            let private = der(t, "i2d_PrivateKey", target);
            t.say(&format!(
                "private half {}{}",
                shown(&private, random),
                t.errors()
            ));
            let again = encoded(t, target);
            t.say(&format!(
                "public half {} {}{}",
                again.1,
                shown(&again.0, random),
                t.errors()
            ));
            if !random {
                operations::works(t, name, target);
            }
        }
    }
}

fn encoded(t: &Transcript, key: Object) -> (Vec<u8>, usize) {
    let mut at = std::ptr::null::<u8>();
    let length = quietly!(t, EVP_PKEY_get1_encoded_public_key(key, &raw mut at));
    if at.is_null() {
        return (Vec::new(), length);
    }
    // SAFETY: so many bytes were answered.
    (
        unsafe { std::slice::from_raw_parts(at, length) }.to_vec(),
        length,
    )
}

/// Through OpenSSL's older types of keys and back.
pub(super) fn legacy(t: &'static Transcript, name: &str, key: Object, random: bool) {
    let (get1, set1, get0, id): (_, _, _, i32) = match Kind::of(name) {
        Kind::Rsa | Kind::Pss => (
            "EVP_PKEY_get1_RSA",
            "EVP_PKEY_set1_RSA",
            "EVP_PKEY_get0_RSA",
            6,
        ),
        Kind::Ec => (
            "EVP_PKEY_get1_EC_KEY",
            "EVP_PKEY_set1_EC_KEY",
            "EVP_PKEY_get0_EC_KEY",
            408,
        ),
        Kind::Dsa => (
            "EVP_PKEY_get1_DSA",
            "EVP_PKEY_set1_DSA",
            "EVP_PKEY_get0_DSA",
            116,
        ),
        Kind::Dh => (
            "EVP_PKEY_get1_DH",
            "EVP_PKEY_set1_DH",
            "EVP_PKEY_get0_DH",
            28,
        ),
        // With an SM2 key OpenSSL crashes.
        Kind::Sm2 => return,
        _ => return raw(t, name, key, random),
    };
    t.object(get0, &[key.into()]);
    let old = t.object(get1, &[key.into()]);
    let fresh = Object(quietly!(t, EVP_PKEY_new()) as *mut _);
    t.int(set1, &[fresh.into(), old.into()]);
    describe(t, fresh, random);
    int!(t, EVP_PKEY_eq(fresh, key));
    if !random {
        operations::works(t, name, fresh);
    }
    let copy = object!(t, EVP_PKEY_dup(fresh));
    int!(t, EVP_PKEY_eq(copy, key));
    let bytes = der(t, "i2d_PrivateKey", copy);
    t.say(&format!("copy {}{}", shown(&bytes, random), t.errors()));
    // EVP_PKEY_assign takes the older key over.
    let assigned = Object(quietly!(t, EVP_PKEY_new()) as *mut _);
    int!(t, EVP_PKEY_assign(assigned, id, old));
    if !random {
        operations::works(t, name, assigned);
    }
    t.object(get0, &[assigned.into()]);
    if matches!(name, "rsa1024" | "rsa2048" | "ec-P-256") {
        check(t, assigned);
    }
}

/// Keys that are bytes, as bytes.
fn raw(t: &'static Transcript, name: &str, key: Object, random: bool) {
    let kind = CString::new(name.to_uppercase()).unwrap_or_default();
    for (get, make) in [
        (
            "EVP_PKEY_get_raw_private_key",
            "EVP_PKEY_new_raw_private_key_ex",
        ),
        (
            "EVP_PKEY_get_raw_public_key",
            "EVP_PKEY_new_raw_public_key_ex",
        ),
    ] {
        for room in [None, Some(0), Some(31), Some(100)] {
            let mut bytes = vec![0; 100];
            let mut length = room.unwrap_or(7);
            let place = if room.is_some() {
                Arg::from(&mut bytes)
            } else {
                NULL
            };
            let answer = t.quiet_int(get, &[key.into(), place, (&mut length).into()]);
            let errors = t.errors();
            t.say(&format!("{get} {room:?} -> {answer} {length}{errors}"));
            if room == Some(100) && answer == 1 {
                bytes.truncate(length);
                t.say(&shown(&bytes, random));
                for cut in [0, 1] {
                    let again = t.object(
                        make,
                        &[
                            NULL,
                            kind.as_c_str().into(),
                            NULL,
                            (&bytes).into(),
                            (length - cut).into(),
                        ],
                    );
                    int!(t, EVP_PKEY_eq(again, key));
                    if !random {
                        operations::works(t, name, again);
                    }
                }
            }
        }
    }
}
