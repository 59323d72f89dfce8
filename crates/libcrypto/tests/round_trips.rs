//! Every wrapper against the system's own libcrypto.

#![allow(clippy::unwrap_used)] // in a helper too, not only in the tests themselves

use outboard_libcrypto::{
    Cipher, CipherContext, Context, Decryptor, Deriver, Digest, DigestSigner, DigestVerifier,
    Direction, Encryptor, Error, Key, Library, Params, Selection, Signer, Structure, Verifier,
};

fn context() -> Context {
    let library = Library::open(Library::SYSTEM).expect("the system has OpenSSL 3");
    let context = Context::new(&library).unwrap();
    context.load_provider("default").unwrap();
    context
}

#[test]
fn the_library_says_what_it_is() {
    let context = context();
    let library = context.library();
    assert!(library.version().starts_with("3."), "{}", library.version());
    assert_eq!(library.version_numbers().0, 3);
    assert!(library.configuration_directory().unwrap().is_absolute());
    assert!(library.modules_directory().unwrap().is_absolute());
    assert!(context.has_provider("default"));
    assert!(!context.has_provider("no-such-provider"));
}

#[test]
fn a_provider_that_is_not_there_is_an_error_with_reasons() {
    let error = context().load_provider("no-such-provider").unwrap_err();
    let Error::OpenSsl { reasons, .. } = &error else {
        panic!("{error}")
    };
    assert!(!reasons.is_empty());
    assert!(error.to_string().contains("no-such-provider"), "{error}");
}

#[test]
fn a_provider_says_what_it_is() {
    let provider = context().load_provider("default").unwrap();
    assert_eq!(provider.name(), "default");
    assert_eq!(
        provider.information(c"name").unwrap(),
        "OpenSSL Default Provider"
    );
    assert!(provider.information(c"version").unwrap().starts_with("3."));
    assert!(provider.is_running());
}

#[test]
fn signatures_verify_and_changed_ones_do_not() {
    let context = context();
    let rsa = Key::generate(&context, "RSA", &Params::new().unsigned(c"bits", 2048)).unwrap();
    let p384 = Key::generate(&context, "EC", &Params::new().text(c"group", "P-384")).unwrap();
    let ed25519 = Key::generate(&context, "ED25519", &Params::new()).unwrap();
    let pss = || {
        Params::new()
            .text(c"pad-mode", "pss")
            .text(c"saltlen", "digest")
    };
    for (key, digest, params) in [
        (&rsa, Some("SHA256"), Params::new()),
        (&rsa, Some("SHA256"), pss()),
        (&p384, Some("SHA384"), Params::new()),
        (&ed25519, None, Params::new()),
    ] {
        let mut signer = DigestSigner::new(key, digest, &params).unwrap();
        assert_eq!(signer.provider_name().as_deref(), Some("default"));
        let mut signature = signer.sign(b"message").unwrap();
        let public = key.public().unwrap();
        let verify = |signature: &[u8], message: &[u8]| {
            let mut verifier = DigestVerifier::new(&public, digest, &params).unwrap();
            verifier.verify(signature, message).unwrap()
        };
        assert!(verify(&signature, b"message"));
        assert!(!verify(&signature, b"massage"));
        *signature.last_mut().unwrap() ^= 1;
        assert!(!verify(&signature, b"message"));
    }
}

#[test]
fn digests_given_in_parts_or_ready_made_give_the_same_signature() {
    let context = context();
    let key = Key::generate(&context, "RSA", &Params::new().unsigned(c"bits", 2048)).unwrap();
    let mut signer = DigestSigner::new(&key, Some("SHA256"), &Params::new()).unwrap();
    signer.update(b"mess").unwrap();
    signer.update(b"age").unwrap();
    let signature = signer.finish().unwrap();

    let digest = Digest::fetch(&context, "SHA256", None)
        .unwrap()
        .digest(b"message")
        .unwrap();
    let params = || {
        Params::new()
            .text(c"digest", "SHA256")
            .text(c"pad-mode", "pkcs1")
    };
    assert_eq!(
        Signer::new(&key, &params()).unwrap().sign(&digest).unwrap(),
        signature
    );
    let mut verifier = Verifier::new(&key, &params()).unwrap();
    assert!(verifier.verify(&signature, &digest).unwrap());
    assert!(!verifier.verify(&signature, &[0; 32]).unwrap());

    let mut verifier = DigestVerifier::new(&key, Some("SHA256"), &Params::new()).unwrap();
    verifier.update(b"message").unwrap();
    assert!(verifier.finish(&signature).unwrap());
}

#[test]
fn both_sides_derive_the_same_secret() {
    let context = context();
    for (kind, params) in [
        ("X25519", Params::new()),
        ("EC", Params::new().text(c"group", "P-256")),
    ] {
        let (a, b) = (
            Key::generate(&context, kind, &params).unwrap(),
            Key::generate(&context, kind, &params).unwrap(),
        );
        let secret = |ours: &Key, theirs: &Key| {
            let mut deriver = Deriver::new(ours, &Params::new()).unwrap();
            deriver.set_peer(&theirs.public().unwrap()).unwrap();
            deriver.derive().unwrap()
        };
        assert_eq!(*secret(&a, &b), *secret(&b, &a));
        assert_eq!(secret(&a, &b).len(), 32);
    }
}

#[test]
fn rsa_decrypts_what_it_encrypted() {
    let context = context();
    let key = Key::generate(&context, "RSA", &Params::new().unsigned(c"bits", 2048)).unwrap();
    let params = || {
        Params::new()
            .text(c"pad-mode", "oaep")
            .text(c"digest", "SHA256")
    };
    let ciphertext = Encryptor::new(&key, &params())
        .unwrap()
        .encrypt(b"secret")
        .unwrap();
    assert_eq!(
        **Decryptor::new(&key, &params())
            .unwrap()
            .decrypt(&ciphertext)
            .unwrap(),
        *b"secret"
    );
}

#[test]
fn keys_survive_every_form() {
    let context = context();
    let key = Key::generate(&context, "EC", &Params::new().text(c"group", "P-521")).unwrap();
    assert_eq!(
        (key.bits(), key.text(c"group").unwrap().as_str()),
        (521, "secp521r1")
    );
    assert!(key.is_a(c"EC") && !key.is_a(c"RSA"));
    key.check().unwrap();
    let forms = [
        Key::from_pem(&context, &key.to_pem(Structure::Pkcs8).unwrap(), None),
        Key::from_der(&context, &key.to_der(Structure::TypeSpecific).unwrap()),
        key.duplicate(),
        key.in_context(&self::context()),
    ];
    for form in forms {
        let form = form.unwrap();
        assert!(form.equals(&key));
        assert_eq!(form.number(c"priv").unwrap(), key.number(c"priv").unwrap());
    }
    let public =
        Key::public_from_pem(&context, &key.to_pem(Structure::PublicKeyInfo).unwrap()).unwrap();
    assert!(public.equals(&key));
    assert!(public.number(c"priv").is_err());

    let mut numbers = Params::new()
        .text(c"group", "P-521")
        .bytes(c"pub", &key.bytes(c"encoded-pub-key").unwrap())
        .big_endian(c"priv", &key.number(c"priv").unwrap());
    let rebuilt = Key::from_params(&context, "EC", Selection::Pair, &mut numbers).unwrap();
    assert!(rebuilt.equals(&key));
}

#[test]
fn gcm_opens_what_it_sealed_and_nothing_else() {
    let context = context();
    let cipher = Cipher::fetch(&context, "AES-128-GCM", None).unwrap();
    assert_eq!(
        (cipher.key_length(), cipher.iv_length(), cipher.block_size()),
        (16, 12, 1)
    );
    let (key, iv, mut tag) = ([7; 16], [9; 12], [0; 16]);
    let mut text = *b"plaintext";

    let mut sealing = CipherContext::new(&cipher, Direction::Encrypt).unwrap();
    sealing.start(Some(&key), Some(&iv)).unwrap();
    sealing.associate(b"associated").unwrap();
    sealing.update_in_place(&mut text).unwrap();
    sealing.finish(&mut []).unwrap();
    sealing.tag(&mut tag).unwrap();

    let open = |tag: &[u8]| {
        let mut opened = text;
        let mut opening = CipherContext::new(&cipher, Direction::Decrypt).unwrap();
        opening.start(Some(&key), Some(&iv)).unwrap();
        opening.associate(b"associated").unwrap();
        opening.update_in_place(&mut opened).unwrap();
        opening.set_tag(tag).unwrap();
        opening.finish(&mut []).map(|_| opened)
    };
    assert_eq!(open(&tag).unwrap(), *b"plaintext");
    tag[0] ^= 1;
    assert!(open(&tag).is_err());
}

#[test]
fn cbc_pads_and_checks_room() {
    let context = context();
    let cipher = Cipher::fetch(&context, "AES-256-CBC", None).unwrap();
    let mut sealing = CipherContext::new(&cipher, Direction::Encrypt).unwrap();
    sealing.start(Some(&[1; 32]), Some(&[2; 16])).unwrap();
    let mut output = [0; 48];
    let mut length = sealing.update(&[3; 20], &mut output).unwrap();
    length += sealing.finish(&mut output[length..]).unwrap();
    assert_eq!(length, 32);

    let mut opening = CipherContext::new(&cipher, Direction::Decrypt).unwrap();
    opening.start(Some(&[1; 32]), Some(&[2; 16])).unwrap();
    let mut opened = [0; 48];
    let mut opened_length = opening.update(&output[..length], &mut opened).unwrap();
    opened_length += opening.finish(&mut opened[opened_length..]).unwrap();
    assert_eq!(opened[..opened_length], [3; 20]);
}

#[test]
fn an_encrypted_key_never_asks_at_a_terminal() {
    let context = context();
    // openssl genpkey -algorithm ED25519 -aes-128-cbc -pass pass:secret
    let pem = include_bytes!("encrypted-ed25519.pem");
    assert!(Key::from_pem(&context, pem, None).is_err());
    assert!(Key::from_pem(&context, pem, Some(b"wrong")).is_err());
    assert!(
        Key::from_pem(&context, pem, Some(b"secret"))
            .unwrap()
            .is_a(c"ED25519")
    );
}
