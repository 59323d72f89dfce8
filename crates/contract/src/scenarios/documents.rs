//! Signed and encrypted messages and files of keys: CMS, PKCS #7, PKCS #12, stores; HPKE.

use std::ffi::CString;

use super::Scenario;
use super::certificates::certificate;
use crate::keys::{self, der, memory, sink};
use crate::operations::{self, MESSAGE};
use crate::params::hex;
use crate::transcript::{Arg, NULL, Object, Transcript, int, object, quietly};

const KEYS: [&str; 9] = [
    "rsa2048", "rsa1024", "pss2048", "ec-P-256", "ec-P-384", "ec-P-224", "x25519", "ed25519",
    "ed448",
];

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = Vec::new();
    for name in KEYS {
        all.push(Scenario::new(format!("documents/{name}"), move |t| {
            let pair = keys::private(t, name);
            // A key that signs nothing has a certificate that another signed.
            t.scene("certificate");
            let own = name != "x25519";
            let (certificate, exact) = match own {
                true => certificate(t, name, pair),
                false => (Object::NONE, false),
            };
            if own {
                cms(t, certificate, pair, exact);
                pkcs7(t, certificate, pair, exact);
            }
            pkcs12(t, name, certificate, pair);
            store(t, name);
        }));
    }
    all.push(Scenario::new("documents/hpke", hpke));
    all
}

/// Signs, verifies, encrypts and decrypts by CMS.
fn cms(t: &'static Transcript, certificate: Object, pair: Object, exact: bool) {
    // CMS_BINARY, with CMS_NOSMIMECAP, CMS_NOATTR, CMS_DETACHED, CMS_USE_KEYID, CMS_KEY_PARAM
    for flags in [0x80_u32, 0x280, 0x180, 0xc0, 0x10080] {
        t.scene(format!("CMS {flags:#x}"));
        let input = memory(t, MESSAGE);
        let signed = object!(t, CMS_sign(certificate, pair, NULL, input, flags));
        let bytes = match signed.is_null() {
            true => Vec::new(),
            false => der(t, "i2d_CMS_ContentInfo", signed),
        };
        // Attributes have the time.
        if exact && flags & 0x100 != 0 {
            t.say(&hex(&bytes));
        }
        let content = memory(t, MESSAGE);
        let content = if flags & 0x40 != 0 {
            content.into()
        } else {
            NULL
        };
        let out = sink(t);
        // CMS_NO_SIGNER_CERT_VERIFY
        int!(t, CMS_verify(signed, NULL, NULL, content, out, 0x20));
        t.say(&hex(&keys::written(t, out)));
        quietly!(t, CMS_ContentInfo_free(signed));
        quietly!(t, BIO_free(out));
        quietly!(t, BIO_free(input));
    }
    for cipher in [
        "EVP_aes_128_cbc",
        "EVP_aes_256_cbc",
        "EVP_aes_128_gcm",
        "EVP_aes_256_gcm",
    ] {
        t.scene(format!("CMS {cipher}"));
        let certificates = Object(quietly!(t, OPENSSL_sk_new_null()) as *mut _);
        quietly!(t, OPENSSL_sk_push(certificates, certificate));
        let input = memory(t, MESSAGE);
        let cipher = Object(t.quietly(cipher, &[]) as *mut _);
        let sealed = object!(t, CMS_encrypt(certificates, input, cipher, 0x80));
        let out = sink(t);
        int!(t, CMS_decrypt(sealed, pair, certificate, NULL, out, 0));
        t.say(&hex(&keys::written(t, out)));
        quietly!(t, CMS_ContentInfo_free(sealed));
        quietly!(t, OPENSSL_sk_free(certificates));
        quietly!(t, BIO_free(out));
        quietly!(t, BIO_free(input));
    }
}

fn pkcs7(t: &'static Transcript, certificate: Object, pair: Object, exact: bool) {
    // PKCS7_BINARY, with PKCS7_NOATTR, PKCS7_DETACHED
    for flags in [0x80, 0x180, 0xc0] {
        t.scene(format!("PKCS #7 {flags:#x}"));
        let input = memory(t, MESSAGE);
        let signed = object!(t, PKCS7_sign(certificate, pair, NULL, input, flags));
        if exact && flags & 0x100 != 0 && !signed.is_null() {
            t.say(&hex(&der(t, "i2d_PKCS7", signed)));
        }
        let content = memory(t, MESSAGE);
        let content = if flags & 0x40 != 0 {
            content.into()
        } else {
            NULL
        };
        let out = sink(t);
        // PKCS7_NOVERIFY
        int!(t, PKCS7_verify(signed, NULL, NULL, content, out, 0x20));
        t.say(&hex(&keys::written(t, out)));
        quietly!(t, PKCS7_free(signed));
        quietly!(t, BIO_free(out));
        quietly!(t, BIO_free(input));
    }
}

fn pkcs12(t: &'static Transcript, name: &str, certificate: Object, pair: Object) {
    t.scene("PKCS #12");
    let certificate = match certificate.is_null() {
        true => NULL,
        false => certificate.into(),
    };
    let file = t.object(
        "PKCS12_create",
        &[
            c"secret".into(),
            c"friend".into(),
            pair.into(),
            certificate,
            NULL,
            0.into(),
            0.into(),
            1000.into(),
            1000.into(),
            0.into(),
        ],
    );
    for password in [c"secret", c"wrong"] {
        let (mut key, mut found) = (Object::NONE, Object::NONE);
        int!(t, PKCS12_parse(file, password, &mut key, &mut found, NULL));
        t.say(&format!("{} {}", key.is_null(), found.is_null()));
        int!(t, EVP_PKEY_eq(key, pair));
        operations::works(t, name, key);
        quietly!(t, EVP_PKEY_free(key));
        quietly!(t, X509_free(found));
    }
    quietly!(t, PKCS12_free(file));
}

/// A key's file, read through `OSSL_STORE` with each expectation.
fn store(t: &'static Transcript, name: &str) {
    let path = std::env::temp_dir().join(format!("contract-{}.pem", std::process::id()));
    if std::fs::write(&path, keys::pem(name)).is_err() {
        return t.say("no file");
    }
    let uri = CString::new(format!("file:{}", path.display())).unwrap_or_default();
    // OSSL_STORE_INFO_PARAMS, PUBKEY, PKEY, CERT
    for expected in [0, 2, 3, 4, 5] {
        t.scene(format!("store {expected}"));
        let store = Object(quietly!(
            t,
            OSSL_STORE_open_ex(uri.as_c_str(), NULL, NULL, NULL, NULL, NULL, NULL, NULL)
        ) as *mut _);
        if expected > 0 {
            int!(t, OSSL_STORE_expect(store, expected));
        }
        for _ in 0..4 {
            let info = Object(quietly!(t, OSSL_STORE_load(store)) as *mut _);
            t.say(&format!("{}", info.is_null()));
            t.clear();
            if info.is_null() {
                break;
            }
            int!(t, OSSL_STORE_INFO_get_type(info));
            let key = Object(quietly!(t, OSSL_STORE_INFO_get1_PKEY(info)) as *mut _);
            t.say(&format!("{}", key.is_null()));
            t.clear();
            operations::works(t, name, key);
            quietly!(t, EVP_PKEY_free(key));
            quietly!(t, OSSL_STORE_INFO_free(info));
        }
        int!(t, OSSL_STORE_eof(store));
        int!(t, OSSL_STORE_error(store));
        quietly!(t, OSSL_STORE_close(store));
    }
    // A file that is left behind hurts nobody.
    _ = std::fs::remove_file(path);
}

/// HPKE (3.2 and later): every curve and cipher, in every mode that needs no other key.
fn hpke(t: &'static Transcript) {
    // P-256, P-384, P-521, X25519, X448
    for kem in [0x10_u64, 0x11, 0x12, 0x20, 0x21] {
        // HKDF-SHA256 and 512; AES-128-GCM, AES-256-GCM, ChaCha20-Poly1305
        for (kdf, aead) in [(1_u64, 1_u64), (1, 2), (3, 2), (1, 3)] {
            t.scene(format!("{kem:#x} {kdf} {aead}"));
            // A structure of three 16-bit numbers is passed in one register.
            let suite = Arg::Int((kem | kdf << 16 | aead << 32) as i64);
            t.int("OSSL_HPKE_suite_check", &[suite]);
            let (mut public, mut length) = (vec![0_u8; 200], 200_usize);
            let mut private = Object::NONE;
            let material = [7_u8; 80];
            let made = t.int(
                "OSSL_HPKE_keygen",
                &[
                    suite,
                    (&mut public).into(),
                    (&mut length).into(),
                    (&mut private).into(),
                    (&material).into(),
                    80_usize.into(),
                    NULL,
                    NULL,
                ],
            );
            if made != 1 {
                continue;
            }
            t.say(&hex(&public[..length]));
            let context = |role: i32| {
                Object(t.quietly(
                    "OSSL_HPKE_CTX_new",
                    &[0.into(), suite, role.into(), NULL, NULL],
                ) as *mut _)
            };
            let (sender, receiver) = (context(0), context(1));
            let (mut enc, mut enc_length) = (vec![0_u8; 200], 200_usize);
            int!(
                t,
                OSSL_HPKE_CTX_set1_ikme(sender, &material, material.len())
            );
            int!(
                t,
                OSSL_HPKE_encap(
                    sender,
                    &mut enc,
                    &mut enc_length,
                    &public,
                    length,
                    MESSAGE,
                    MESSAGE.len()
                )
            );
            t.say(&hex(&enc[..enc_length.min(200)]));
            int!(
                t,
                OSSL_HPKE_decap(receiver, &enc, enc_length, private, MESSAGE, MESSAGE.len())
            );
            for _ in 0..2 {
                let (mut sealed, mut sealed_length) = (vec![0_u8; 200], 200_usize);
                int!(
                    t,
                    OSSL_HPKE_seal(
                        sender,
                        &mut sealed,
                        &mut sealed_length,
                        NULL,
                        0_usize,
                        MESSAGE,
                        MESSAGE.len()
                    )
                );
                t.say(&hex(&sealed[..sealed_length.min(200)]));
                let (mut opened, mut opened_length) = (vec![0_u8; 200], 200_usize);
                int!(
                    t,
                    OSSL_HPKE_open(
                        receiver,
                        &mut opened,
                        &mut opened_length,
                        NULL,
                        0_usize,
                        &sealed,
                        sealed_length
                    )
                );
                t.say(&hex(&opened[..opened_length.min(200)]));
            }
            quietly!(t, OSSL_HPKE_CTX_free(sender));
            quietly!(t, OSSL_HPKE_CTX_free(receiver));
            quietly!(t, EVP_PKEY_free(private));
        }
    }
}
