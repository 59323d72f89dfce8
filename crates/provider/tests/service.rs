//! Keys of the card service through OpenSSL's interface: read, asked about, used, refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;
#[path = "common/service.rs"]
mod held;
#[path = "common/stand.rs"]
mod stand;

use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;

use outboard_client::stand_in::{Reply, Service};
use outboard_libcrypto::{
    Context, Deriver, DigestSigner, DigestVerifier, Key, Library, Params, Signer, Structure,
    Verifier, is_searched,
};
use outboard_programs::Workplace;
use outboard_wire::Status;
use stand::{KEYS, Stand, each_stand};

fn digest_of(name: &str) -> Option<&'static str> {
    match name {
        "ed25519" => None,
        "p384" => Some("SHA384"),
        _ => Some("SHA256"),
    }
}

fn assert_verifies(stand: &Stand, name: &str, params: &Params, message: &[u8], signature: &[u8]) {
    for key in [stand.public(name), stand.key(name)] {
        let mut verifier = DigestVerifier::new(&key, digest_of(name), params).unwrap();
        assert!(verifier.verify(signature, message).unwrap(), "{name}");
        let mut verifier = DigestVerifier::new(&key, digest_of(name), params).unwrap();
        let wrong = verifier.verify(signature, b"another message");
        assert!(!wrong.unwrap_or(false), "{name}");
    }
}

#[test]
fn messages_are_signed_by_the_service() {
    each_stand(|stand| {
        let (_service, asked) = stand.serve();
        for (turn, (name, ..)) in KEYS.iter().enumerate() {
            let key = stand.key(name);
            assert_eq!(key.provider_name().as_deref(), Some("outboard"));
            let none = Params::new();
            let mut signer = DigestSigner::new(&key, digest_of(name), &none).unwrap();
            let signature = signer.sign(b"a message").unwrap();
            assert_verifies(stand, name, &none, b"a message", &signature);
            assert_eq!(asked.load(SeqCst), turn + 1, "{name}");
        }
    });
}

#[test]
fn messages_come_in_pieces_and_may_be_empty() {
    each_stand(|stand| {
        let (_service, _) = stand.serve();
        for name in ["rsa2048", "p256"] {
            let none = Params::new();
            let mut signer = DigestSigner::new(&stand.key(name), digest_of(name), &none).unwrap();
            signer.update(b"a ").unwrap();
            signer.update(b"").unwrap();
            signer.update(b"message").unwrap();
            let signature = signer.finish().unwrap();
            assert_verifies(stand, name, &none, b"a message", &signature);
            let mut signer = DigestSigner::new(&stand.key(name), digest_of(name), &none).unwrap();
            let signature = signer.finish().unwrap();
            assert_verifies(stand, name, &none, b"", &signature);
        }
    });
}

#[test]
fn pss_has_the_salt_that_was_asked_for() {
    each_stand(|stand| {
        let (_service, _) = stand.serve();
        for salt in ["digest", "max", "auto", "20", "0"] {
            let params = Params::new()
                .text(c"pad-mode", "pss")
                .text(c"saltlen", salt)
                .text(c"mgf1-digest", "SHA384");
            let key = stand.key("rsa2048");
            let mut signer = DigestSigner::new(&key, Some("SHA256"), &params).unwrap();
            let signature = signer.sign(b"a message").unwrap();
            assert_verifies(stand, "rsa2048", &params, b"a message", &signature);
        }
    });
}

#[test]
fn digests_are_signed_by_the_service() {
    each_stand(|stand| {
        let (_service, _) = stand.serve();
        let rsa = |params: Params| params.text(c"pad-mode", "pkcs1");
        for (name, params, value) in [
            ("rsa2048", rsa(Params::new()), &b"not a digest"[..]),
            (
                "rsa2048",
                rsa(Params::new().text(c"digest", "SHA384")),
                &[7; 48],
            ),
            (
                "rsa3072",
                rsa(Params::new().text(c"digest", "MD5-SHA1")),
                &[7; 36],
            ),
            ("p256", Params::new(), &[7; 32]),
            ("p521", Params::new(), &[7; 64]),
        ] {
            let signature = Signer::new(&stand.key(name), &params).unwrap().sign(value);
            let signature = signature.unwrap();
            let mut verifier = Verifier::new(&stand.public(name), &params).unwrap();
            assert!(verifier.verify(&signature, value).unwrap(), "{name}");
        }
    });
}

#[test]
fn secrets_are_derived_by_the_service() {
    each_stand(|stand| {
        let (_service, asked) = stand.serve();
        for (name, group) in [("p256", "P-256"), ("p384", "P-384"), ("p521", "P-521")] {
            let params = Params::new().text(c"group", group);
            let peer = Key::generate(&stand.stock, "EC", &params).unwrap();
            let public = peer.to_der(Structure::PublicKeyInfo).unwrap();
            let public = Key::public_from_der(&stand.context, &public).unwrap();
            let mut ours = Deriver::new(&stand.key(name), &Params::new()).unwrap();
            ours.set_peer(&public).unwrap();
            let mut theirs = Deriver::new(&peer, &Params::new()).unwrap();
            theirs.set_peer(&stand.public(name)).unwrap();
            assert_eq!(ours.derive().unwrap(), theirs.derive().unwrap(), "{name}");
        }
        assert_eq!(asked.load(SeqCst), 3);
    });
}

#[test]
fn a_key_tells_of_its_public_half_alone() {
    each_stand(|stand| {
        for (name, kind, ..) in KEYS {
            let (key, held) = (stand.key(name), stand.held(name));
            let kind = std::ffi::CString::new(kind).unwrap();
            assert!(key.is_a(&kind));
            assert_eq!(
                (key.bits(), key.size(), key.security_bits()),
                (held.key.bits(), held.key.size(), held.key.security_bits()),
                "{name}"
            );
            let public = Structure::PublicKeyInfo;
            assert_eq!(
                key.to_der(public).unwrap(),
                held.key.to_der(public).unwrap()
            );
            for structure in [Structure::Pkcs8, Structure::TypeSpecific] {
                assert!(key.to_der(structure).is_err(), "{name}");
                assert!(key.to_pem(structure).is_err(), "{name}");
            }
            assert!(key.equals(&stand.key(name)), "{name}");
            let certificates = stand.held(name).key.to_der(public).unwrap();
            let certificates = Key::public_from_der(&stand.context, &certificates).unwrap();
            assert!(
                key.equals(&certificates) && certificates.equals(&key),
                "{name}"
            );
            key.public_check().unwrap();
            key.check().unwrap();
            for number in [c"d", c"rsa-factor1", c"priv"] {
                assert!(key.number(number).is_err(), "{name}");
            }
        }
        assert!(!stand.key("rsa2048").equals(&stand.key("rsa3072")));
    });
}

#[test]
fn a_copy_is_the_service_s_too() {
    each_stand(|stand| {
        let (_service, asked) = stand.serve();
        for (turn, (name, ..)) in KEYS.iter().enumerate() {
            let copy = stand.key(name).duplicate().unwrap();
            let none = Params::new();
            let mut signer = DigestSigner::new(&copy, digest_of(name), &none).unwrap();
            let signature = signer.sign(b"a message").unwrap();
            assert_verifies(stand, name, &none, b"a message", &signature);
            assert_eq!(asked.load(SeqCst), turn + 1, "{name}");
        }
    });
}

#[test]
fn a_file_may_hold_other_blocks_before_and_behind() {
    each_stand(|stand| {
        let reference = stand.held("p256").reference();
        let other = "-----BEGIN SOMETHING ELSE-----\nAAAA\n-----END SOMETHING ELSE-----\n";
        let certificate = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
        for text in [
            format!("{other}{reference}"),
            format!("{certificate}{reference}{certificate}"),
            format!("text before\n{certificate}{other}{reference}{other}"),
            reference.replace('\n', "\r\n"),
            format!("{reference}{}", stand.held("p384").reference()),
        ] {
            let key = Key::from_pem(&stand.context, text.as_bytes(), None).unwrap();
            assert!(key.equals(&stand.key("p256")), "{text}");
        }
        // A key of its own behind blocks that nobody knows.
        let own = Key::generate(&stand.stock, "EC", &Params::new().text(c"group", "P-256"));
        let own = own.unwrap().to_pem(Structure::Pkcs8).unwrap();
        let text = [other.as_bytes(), &own].concat();
        assert!(Key::from_pem(&stand.context, &text, None).is_ok());
    });
}

#[test]
fn a_damaged_reference_is_told() {
    each_stand(|stand| {
        let reference = stand.held("p256").reference();
        let line = reference.lines().nth(1).unwrap();
        let damaged = [
            reference.replace(line, ""),
            reference.replace(line, &line.to_lowercase()),
            reference.replace(line, &format!("{line}*")),
            "-----BEGIN OUTBOARD KEY-----\nAAAA\n-----END OUTBOARD KEY-----\n".to_owned(),
        ];
        for text in damaged {
            let error = Key::from_pem(&stand.context, text.as_bytes(), None).unwrap_err();
            assert!(
                error.to_string().contains("OUTBOARD KEY"),
                "{error}\n{text}"
            );
        }
    });
}

#[test]
fn what_the_service_does_not_do_is_told() {
    each_stand(|stand| {
        let (_service, asked) = stand.serve();
        let key = stand.key("rsa2048");
        let refusals = [
            Signer::new(&key, &Params::new().text(c"pad-mode", "none"))
                .and_then(|mut signer| signer.sign(&[1; 256])),
            Signer::new(&key, &Params::new().text(c"digest", "SHA3-256"))
                .and_then(|mut signer| signer.sign(&[1; 32])),
            DigestSigner::new(&key, Some("SHA3-256"), &Params::new())
                .and_then(|mut signer| signer.sign(b"a message")),
        ];
        for refused in refusals {
            let text = refused.unwrap_err().to_string();
            assert!(
                text.contains("key 'rsa2048': the card service does not"),
                "{text}"
            );
        }
        let x931 = Params::new().text(c"pad-mode", "x931");
        let signed = Signer::new(&key, &x931).and_then(|mut signer| signer.sign(&[1; 20]));
        assert!(signed.is_err());
        assert_eq!(asked.load(SeqCst), 0);
    });
}

#[test]
fn refusals_reach_the_error_queue() {
    let library = Library::open(Library::SYSTEM).unwrap();
    let stand = Stand::new(&library, "none");
    let sign = |name: &str| {
        let mut signer =
            DigestSigner::new(&stand.key(name), digest_of(name), &Params::new()).unwrap();
        signer.sign(b"a message")
    };
    let gone = sign("p256").unwrap_err().to_string();
    let socket = stand.directory.join("service.sock");
    let expected = format!(
        "key 'p256': the card service does not answer at {}: no such file or directory (run 'outboard service start --directory {}')",
        socket.display(),
        stand.directory.display()
    );
    assert!(gone.contains(&expected), "{gone}");
    let sentence = "permission denied for user www-data (uid 33) (run 'outboard keys grant p256 --user www-data')";
    let service = Service::start(&stand.directory, move |_, _| {
        Reply::Say(Status::Denied, sentence.into())
    });
    let denied = sign("p256").unwrap_err().to_string();
    assert!(
        denied.contains(&format!("key 'p256': {sentence}")),
        "{denied}"
    );
    drop(service);
    let (_service, _) = stand.serve();
    assert!(sign("p256").is_ok());
}

#[test]
fn keys_are_opened_by_name() {
    each_stand(|stand| {
        let (_service, asked) = stand.serve();
        for (name, ..) in KEYS {
            let uri = format!("outboard:{name}");
            let key = Key::from_uri(&stand.context, &uri).unwrap();
            assert_eq!(key.provider_name().as_deref(), Some("outboard"));
            assert!(key.equals(&stand.key(name)));
            let before = asked.load(SeqCst);
            let none = Params::new();
            let mut signer = DigestSigner::new(&key, digest_of(name), &none).unwrap();
            let signature = signer.sign(b"a message").unwrap();
            assert_verifies(stand, name, &none, b"a message", &signature);
            assert_eq!(asked.load(SeqCst), before + 1, "{name}");
            let public = Key::public_from_uri(&stand.context, &uri).unwrap();
            assert!(public.equals(&key), "{name}");
            let mut verifier = DigestVerifier::new(&public, digest_of(name), &none).unwrap();
            assert!(verifier.verify(&signature, b"a message").unwrap(), "{name}");
            let alone = DigestSigner::new(&public, digest_of(name), &none)
                .and_then(|mut signer| signer.sign(b"a message"));
            assert!(alone.is_err(), "{name}: a public half signs nothing");
            assert!(!is_searched(&stand.context, &uri).unwrap(), "{name}");
        }
    });
}

#[test]
fn a_uri_that_leads_nowhere_is_told() {
    each_stand(|stand| {
        let open = |uri: &str| {
            let opened = Key::from_uri(&stand.context, uri);
            opened.unwrap_err().to_string()
        };
        let gone = open("outboard:p256");
        let expected = format!(
            "key 'p256': the card service does not answer at {}",
            stand.directory.join("service.sock").display()
        );
        assert!(gone.contains(&expected), "{gone}");
        let (service, asked) = stand.serve();
        let none = open("outboard:none");
        assert!(none.contains("key 'none': there is no such key"), "{none}");
        assert_eq!(asked.load(SeqCst), 1);
        for uri in [
            "outboard:",
            "outboard://p256",
            "outboard:P256",
            "outboard:p%32%35%36",
            "outboard:../p256",
            "outboard:id=00",
            &format!("outboard:{}", "p".repeat(100_000)),
        ] {
            let told = open(uri);
            assert!(
                told.contains("names no key of the card service")
                    && told.contains("(run 'outboard keys list')"),
                "{told:.2000}"
            );
        }
        assert_eq!(asked.load(SeqCst), 1, "what is no name is not asked for");
        // As C reads it: up to the zero.
        assert!(Key::from_uri(&stand.context, "outboard:p256\0none").is_ok());
        drop(service);
        let sentence = "there is no key of that name, or uid 33 may not use it";
        let _service = Service::start(&stand.directory, move |_, _| {
            Reply::Say(Status::NoKey, sentence.into())
        });
        let denied = open("outboard:p256");
        assert!(
            denied.contains(&format!("key 'p256': {sentence}")),
            "{denied}"
        );
    });
}

#[test]
fn files_are_opened_as_before() {
    each_stand(|stand| {
        let (_service, asked) = stand.serve();
        let workplace = Workplace::new().unwrap();
        let own = Key::generate(&stand.stock, "EC", &Params::new().text(c"group", "P-256"));
        let own = own.unwrap();
        let pem = own.to_pem(Structure::Pkcs8).unwrap();
        let file = workplace.write("own.pem", &*pem).unwrap();
        let reference = stand.held("p256").reference();
        let reference = workplace.write("p256.pem", reference).unwrap();
        for prefix in ["", "file:"] {
            let open = |file: &Path| {
                Key::from_uri(&stand.context, &format!("{prefix}{}", file.display())).unwrap()
            };
            assert!(open(&file).equals(&own));
            assert!(open(&reference).equals(&stand.key("p256")));
        }
        for context in [&stand.context, &stand.stock] {
            assert!(Key::from_uri(context, "/nonexistent/key.pem").is_err());
        }
        assert!(Key::from_uri(&stand.stock, "outboard:p256").is_err());
        assert_eq!(asked.load(SeqCst), 0);
    });
}

#[test]
fn without_a_service_nothing_is_read() {
    let library = Library::open(Library::SYSTEM).unwrap();
    let stand = Stand::new(&library, "all");
    let workplace = Workplace::new().unwrap();
    let text = std::fs::read_to_string(stand.directory.join("all.cnf")).unwrap();
    let service = format!("service = {}\n", stand.directory.display());
    let text = text.replace(&service, "service = /nonexistent/outboard\n");
    let file = workplace.write("without.cnf", text).unwrap();
    let without = Context::from_configuration(&library, Path::new(&file)).unwrap();
    let reference = stand.held("p256").reference();
    assert!(Key::from_pem(&without, reference.as_bytes(), None).is_err());
    let errors = |context: &Context| Key::from_uri(context, "outboard:p256").unwrap_err();
    assert_eq!(
        errors(&without).to_string(),
        errors(&stand.stock).to_string()
    );
    assert!(Key::from_pem(&stand.stock, reference.as_bytes(), None).is_err());
}

#[test]
fn many_threads_use_one_key() {
    let library = Library::open(Library::SYSTEM).unwrap();
    let stand = Stand::new(&library, "none");
    let (_service, asked) = stand.serve();
    let key = stand.key("p256");
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let none = Params::new();
                    let mut signer = DigestSigner::new(&key, Some("SHA256"), &none).unwrap();
                    signer.sign(b"a message").unwrap();
                }
            });
        }
    });
    assert_eq!(asked.load(SeqCst), 320);
}
