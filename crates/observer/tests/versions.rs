//! Other versions of OpenSSL load the stand-in, and are observed.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::path::Path;

use common::{Place, Stand, counted};
use outboard_observation::{Operation, Record};
use outboard_openssl_versions::Version;
use outboard_programs::{Launch, OpenSsl};

/// Signs what is a hash already. (ED25519ph has two functions of one number in OpenSSL 3.5.)
const PREHASHED: &str = "
import ctypes, glob, os
crypto = ctypes.CDLL(glob.glob(os.environ['LD_LIBRARY_PATH'] + '/libcrypto.so.*')[0])
Pointer, size_t = ctypes.c_void_p, ctypes.c_size_t
for name in ['EVP_PKEY_new_raw_private_key_ex', 'EVP_SIGNATURE_fetch', 'EVP_PKEY_CTX_new_from_pkey']:
    getattr(crypto, name).restype = Pointer
for kind, bits, size in [(b'ED25519', 32, 64), (b'ED448', 57, 114)]:
    key = Pointer(crypto.EVP_PKEY_new_raw_private_key_ex(None, kind, None, b'7' * bits, size_t(bits)))
    algorithm = Pointer(crypto.EVP_SIGNATURE_fetch(None, kind + b'ph', None))
    context = Pointer(crypto.EVP_PKEY_CTX_new_from_pkey(None, key, None))
    assert crypto.EVP_PKEY_sign_init_ex2(context, algorithm, None) == 1
    signature, length = ctypes.create_string_buffer(size), size_t(size)
    hashed = (b'x' * 64, size_t(64))
    assert crypto.EVP_PKEY_sign(context, signature, ctypes.byref(length), *hashed) == 1
    print(signature.raw.hex())
    assert crypto.EVP_PKEY_verify_init_ex2(context, algorithm, None) == 1
    assert crypto.EVP_PKEY_verify(context, signature, length, *hashed) == 1
";

/// What each version offers and does is the same with a stand-in, and it is counted.
fn another_openssl(version: Version) {
    let stand = Stand::new(Place::Instead);
    let installation = version.installation().unwrap();
    let program = installation.programs.join("openssl");
    let run = |openssl: &OpenSsl, script: &str| {
        Launch::at(Path::new("/bin/sh"))
            .with(openssl)
            .env("LD_LIBRARY_PATH", &installation.libraries)
            .env("OPENSSL", &program)
            .directory(stand.workplace.path())
            .args(["-ec", script])
            .succeed()
            .unwrap()
            .output
    };
    let list = "\"$OPENSSL\" list -all-algorithms";
    let (with, without) = (run(&stand.observed, list), run(&stand.stock, list));
    let named = with.replace("observed_default", "default");
    assert_eq!(named.lines().count(), without.lines().count(), "{with}");
    run(
        &stand.observed,
        "\"$OPENSSL\" genpkey -algorithm ML-DSA-65 -out key
         \"$OPENSSL\" pkey -in key -pubout -out public
         \"$OPENSSL\" pkeyutl -sign -inkey key -rawin -in public -out signature
         \"$OPENSSL\" pkeyutl -verify -pubin -inkey public -rawin -in public -sigfile signature
         \"$OPENSSL\" genpkey -algorithm ML-KEM-768 -out kem
         \"$OPENSSL\" pkey -in kem -pubout -out kem.public
         \"$OPENSSL\" pkeyutl -encap -pubin -inkey kem.public -out sealed -secret one
         \"$OPENSSL\" pkeyutl -decap -inkey kem -in sealed -secret other
         cmp one other
         \"$OPENSSL\" dgst -sha3-256 public",
    );
    let prehashed = [&stand.stock, &stand.observed].map(|openssl| {
        Launch::new("python3")
            .unwrap()
            .with(openssl)
            .env("LD_LIBRARY_PATH", &installation.libraries)
            .args(["-c", PREHASHED])
            .succeed()
            .unwrap()
            .output
    });
    assert_eq!(prehashed[0], prehashed[1]);
    let work = Record::read(&stand.record).unwrap().total();
    for (algorithm, operation) in [
        ("ML-DSA-65", Operation::Generate),
        ("ML-DSA-65", Operation::Sign),
        ("ML-DSA-65", Operation::Verify),
        ("ML-KEM-768", Operation::Encapsulate),
        ("ML-KEM-768", Operation::Decapsulate),
        ("SHA3-256", Operation::Digest),
    ] {
        assert_eq!(
            counted(&work, algorithm, operation).0,
            1,
            "{algorithm}: {work:#?}"
        );
    }
}

#[test]
fn openssl_3_5_is_observed() {
    another_openssl(Version::V3_5);
}

#[test]
fn openssl_4_0_is_observed() {
    another_openssl(Version::V4_0);
}
