//! Corners of OpenSSL's interface: with Outboard a program gets there what it gets without.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;

use outboard_libcrypto::{Context, DigestSigner, DigestVerifier, Key, Params, Selection, sys};

/// "The result is truncated": EVP_PKEY_derive of ECDH takes any buffer but an empty one.
#[test]
fn a_short_buffer_takes_the_beginning_of_a_shared_secret() {
    let sides = common::sides();
    for group in ["P-256", "P-384", "P-521"] {
        let generate =
            || Key::generate(&sides.stock, "EC", &Params::new().text(c"group", group)).unwrap();
        let (ours, theirs) = (generate(), generate());
        for room in [0, 1, 32] {
            let [stock, outboard] = [&sides.stock, &sides.outboard].map(|context| {
                let (ours, theirs) = (ours.in_context(context), theirs.in_context(context));
                derive_into(&ours.unwrap(), &theirs.unwrap(), room)
            });
            assert_eq!(stock, outboard, "{group}, {room} bytes");
            assert_eq!(stock.is_some(), room > 0);
        }
    }
}

fn derive_into(ours: &Key, theirs: &Key, room: usize) -> Option<Vec<u8>> {
    let f = ours.context().library().functions();
    let mut secret = vec![0; 64];
    let mut length = room;
    // SAFETY: live objects; the buffer has more room than is told.
    unsafe {
        let operation =
            (f.EVP_PKEY_CTX_new_from_pkey)(ours.context().as_ptr(), ours.as_ptr(), ptr::null());
        assert_eq!((f.EVP_PKEY_derive_init_ex)(operation, ptr::null()), 1);
        assert_eq!((f.EVP_PKEY_derive_set_peer)(operation, theirs.as_ptr()), 1);
        let answer = (f.EVP_PKEY_derive)(operation, secret.as_mut_ptr(), &raw mut length);
        (f.EVP_PKEY_CTX_free)(operation);
        (answer == 1).then_some(())?;
    }
    secret.truncate(length);
    Some(secret)
}

/// Else the signature would name one digest and hold another.
#[test]
fn a_digest_that_has_begun_is_not_exchanged() {
    let sides = common::sides();
    for context in [&sides.stock, &sides.outboard] {
        let rsa = Params::new().unsigned(c"bits", 2048);
        let key = Key::generate(context, "RSA", &rsa).unwrap();
        let f = context.library().functions();
        // SAFETY: live objects, which are freed at the end.
        unsafe {
            let digest = (f.EVP_MD_CTX_new)();
            let mut operation = ptr::null_mut();
            let begun = (f.EVP_DigestSignInit_ex)(
                digest,
                &raw mut operation,
                c"SHA256".as_ptr(),
                context.as_ptr(),
                ptr::null(),
                key.as_ptr(),
                ptr::null(),
            );
            assert_eq!(begun, 1);
            for (name, right) in [("SHA256", true), ("SHA3-256", false), ("SHA512-256", false)] {
                let params = Params::new().text(c"digest", name);
                let answer = (f.EVP_PKEY_CTX_set_params)(operation, params.as_ptr());
                assert_eq!(answer == 1, right, "{name}");
            }
            (f.EVP_MD_CTX_free)(digest);
        }
    }
}

/// From 3.4 on there is an interface for signing messages, beside that of digests.
#[test]
fn ed25519_signs_messages_where_there_is_an_interface_for_it() {
    type New = unsafe extern "C" fn(*mut sys::OSSL_LIB_CTX, *const i8, *const i8) -> *mut c_void;
    type Init = unsafe extern "C" fn(*mut sys::EVP_PKEY_CTX, *mut c_void, *const c_void) -> c_int;
    type Sign = unsafe extern "C" fn(
        *mut sys::EVP_PKEY_CTX,
        *mut u8,
        *mut usize,
        *const u8,
        usize,
    ) -> c_int;
    let message = b"a message";
    let mut versions = 0;
    for (version, sides) in common::sides_of_every_version() {
        let sign = |context: &Context, key: &Key| -> Option<Vec<u8>> {
            let f = context.library().functions();
            // SAFETY: OpenSSL's functions by their declared types; live objects and terminated names.
            unsafe {
                let fetch: New = std::mem::transmute(symbol(context, "EVP_SIGNATURE_fetch")?);
                let begin: Init =
                    std::mem::transmute(symbol(context, "EVP_PKEY_sign_message_init")?);
                let sign: Sign = std::mem::transmute(symbol(context, "EVP_PKEY_sign")?);
                let algorithm = fetch(context.as_ptr(), c"ED25519".as_ptr(), ptr::null());
                let operation =
                    (f.EVP_PKEY_CTX_new_from_pkey)(context.as_ptr(), key.as_ptr(), ptr::null());
                assert_eq!(begin(operation, algorithm, ptr::null()), 1, "{version}");
                let (mut signature, mut length) = (vec![0; 64], 64);
                let (data, size) = (message.as_ptr(), message.len());
                let to = signature.as_mut_ptr();
                assert_eq!(sign(operation, to, &raw mut length, data, size), 1);
                (f.EVP_PKEY_CTX_free)(operation);
                signature.truncate(length);
                Some(signature)
            }
        };
        let key = Key::generate(&sides.stock, "ED25519", &Params::new()).unwrap();
        let ours = key.in_context(&sides.outboard).unwrap();
        let plain = DigestSigner::new(&key, None, &Params::new())
            .unwrap()
            .sign(message);
        if let Some(signature) = sign(&sides.outboard, &ours) {
            assert_eq!(signature, plain.unwrap(), "{version}");
            assert_eq!(sign(&sides.stock, &key), Some(signature));
            versions += 1;
        }
    }
    assert!(versions >= 2, "3.5 and 4.0 have it");
}

/// A function of that libcrypto, if its version has it.
fn symbol(context: &Context, name: &str) -> Option<*mut c_void> {
    let path = context.library().path().to_str().unwrap();
    let (path, name) = (CString::new(path).unwrap(), CString::new(name).unwrap());
    // SAFETY: terminated names; the library is loaded already, and stays.
    let found = unsafe {
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
        assert!(!library.is_null(), "{path:?} is loaded");
        libc::dlsym(library, name.as_ptr())
    };
    (!found.is_null()).then_some(found)
}

/// In place, as some programs sign.
#[test]
fn a_signature_may_take_the_place_of_its_message() {
    let sides = common::sides();
    let key = Key::generate(&sides.outboard, "ED25519", &Params::new()).unwrap();
    let f = sides.outboard.library().functions();
    let mut buffer = [7_u8; 64];
    let message = buffer[..32].to_vec();
    // SAFETY: live objects, freed at the end; the buffer is read before it is written.
    unsafe {
        let digest = (f.EVP_MD_CTX_new)();
        let begun = (f.EVP_DigestSignInit_ex)(
            digest,
            ptr::null_mut(),
            ptr::null(),
            sides.outboard.as_ptr(),
            ptr::null(),
            key.as_ptr(),
            ptr::null(),
        );
        assert_eq!(begun, 1);
        let (place, mut length) = (buffer.as_mut_ptr(), buffer.len());
        assert_eq!(
            (f.EVP_DigestSign)(digest, place, &raw mut length, place, 32),
            1
        );
        (f.EVP_MD_CTX_free)(digest);
    }
    let apart = DigestSigner::new(&key, None, &Params::new())
        .unwrap()
        .sign(&message);
    assert_eq!(buffer.to_vec(), apart.unwrap());
}

/// OpenSSL signs with what is right of a key, and with one of which too little is right not at all.
#[test]
fn a_key_of_numbers_that_do_not_belong_together_signs_as_with_openssl_alone() {
    const NUMBERS: [&CStr; 8] = [
        c"n",
        c"e",
        c"d",
        c"rsa-factor1",
        c"rsa-factor2",
        c"rsa-exponent1",
        c"rsa-exponent2",
        c"rsa-coefficient1",
    ];
    let sides = common::sides();
    let bits = Params::new().unsigned(c"bits", 3072);
    let key = Key::generate(&sides.stock, "RSA", &bits).unwrap();
    for wrong in NUMBERS[2..].iter().copied().map(Some).chain([None]) {
        let [stock, outboard] = [&sides.stock, &sides.outboard].map(|context| {
            let mut params = NUMBERS.iter().fold(Params::new(), |params, &name| {
                let mut number = key.number(name).unwrap();
                if wrong == Some(name) {
                    // Still odd, as a factor must be.
                    *number.last_mut().unwrap() ^= 2;
                }
                params.big_endian(name, &number)
            });
            let made = Key::from_params(context, "RSA", Selection::Pair, &mut params).unwrap();
            // From the second time on lanes have a form of the key.
            [(); 3].map(|()| {
                let mut signer = DigestSigner::new(&made, Some("SHA256"), &Params::new()).unwrap();
                let signature = signer.sign(b"message").ok()?;
                let mut verifier =
                    DigestVerifier::new(&key, Some("SHA256"), &Params::new()).unwrap();
                Some(verifier.verify(&signature, b"message").unwrap())
            })
        });
        assert_eq!(stock, outboard, "{wrong:?}");
        assert!(wrong.is_some() || stock == [Some(true); 3]);
    }
}

/// OpenSSL signs with a key that has no public half, and does nothing else with it.
#[test]
fn a_key_without_a_public_half_only_signs() {
    let sides = common::sides();
    let group = || Params::new().text(c"group", "P-256");
    let whole = Key::generate(&sides.stock, "EC", &group()).unwrap();
    let number = whole.number(c"priv").unwrap();
    let [stock, outboard] = [&sides.stock, &sides.outboard].map(|context| {
        let mut params = group().big_endian(c"priv", &number);
        let half = Key::from_params(context, "EC", Selection::Pair, &mut params).unwrap();
        let mut signer = DigestSigner::new(&half, Some("SHA256"), &Params::new()).unwrap();
        let signature = signer.sign(b"message").unwrap();
        let verify = |key: &Key| {
            let mut verifier = DigestVerifier::new(key, Some("SHA256"), &Params::new()).unwrap();
            verifier.verify(&signature, b"message").ok()
        };
        (verify(&whole), verify(&half), half.check().is_ok())
    });
    assert_eq!((stock, outboard.0), (outboard, Some(true)));
}
