//! RSA decryption: nobody learns from an answer whether a padding was right, or what was wrong with it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{Service, answer, connect, packet_of};
use outboard_administration::{KeyInfo, Reply, Request, Secret};
use outboard_libcrypto::{Context, Encryptor, Key, Library, Params, Structure};
use outboard_wire::{Answer, Digest, Encryption, Operation, Status, message};
use std::num::NonZeroU16;

/// The length of the key's modulus.
const LENGTH: usize = 256;

/// A service with an RSA key that this user may use, and the key itself.
struct Stand {
    service: Service,
    held: KeyInfo,
    key: Key,
}

impl Stand {
    fn new() -> Self {
        let context = Context::new(&Library::open(Library::SYSTEM).unwrap()).unwrap();
        let bits = Params::new().unsigned(c"bits", 8 * LENGTH);
        let key = Key::generate(&context, "RSA", &bits).unwrap();
        let service = Service::start();
        let import = Request::Import {
            name: "site".into(),
            key: Secret::new(&key.to_der(Structure::Pkcs8).unwrap()),
            exportable: false,
        };
        service.ask(import).unwrap();
        let held = service.grant("site", rustix::process::getuid().as_raw());
        Self { service, held, key }
    }

    fn encrypt(&self, params: &Params, message: &[u8]) -> Vec<u8> {
        let mut encryptor = Encryptor::new(&self.key, params).unwrap();
        encryptor.encrypt(message).unwrap()
    }

    /// What the private operation makes that block of.
    fn of_block(&self, block: &[u8]) -> Vec<u8> {
        self.encrypt(&Params::new().text(c"pad-mode", "none"), block)
    }

    fn oaep(&self, label: &[u8]) -> Vec<u8> {
        let params = Params::new()
            .text(c"pad-mode", "oaep")
            .text(c"digest", "SHA256")
            .text(c"mgf1-digest", "SHA256")
            .bytes(c"oaep-label", label);
        self.encrypt(&params, b"hello")
    }

    /// The whole packet that answers.
    fn decrypt(&self, encryption: Encryption<'_>, ciphertext: &[u8]) -> Vec<u8> {
        let operation = Operation::Decrypt {
            encryption,
            ciphertext,
        };
        let packet = packet_of(&self.held, operation);
        answer(connect(self.service.path()), &packet).unwrap()
    }

    fn status(&self, encryption: Encryption<'_>, ciphertext: &[u8]) -> Status {
        let packet = self.decrypt(encryption, ciphertext);
        Answer::decode(&packet).unwrap().status
    }

    /// Ciphertexts that are at the edges of what is one.
    fn edges(&self) -> Vec<Vec<u8>> {
        let mut below = self.key.number(c"n").unwrap().to_vec();
        // A modulus is odd.
        below[LENGTH - 1] -= 1;
        let mut one = vec![0; LENGTH];
        one[LENGTH - 1] = 1;
        vec![vec![0; LENGTH], one, below]
    }
}

fn oaep(label: &[u8], digest: Digest, mgf1: Digest) -> Encryption<'_> {
    Encryption::Oaep {
        digest,
        mgf1,
        label,
    }
}

#[test]
fn what_is_wrong_with_oaep_is_not_told() {
    let stand = Stand::new();
    let good = stand.oaep(b"label");
    let right = oaep(b"label", Digest::Sha256, Digest::Sha256);
    let answered = stand.decrypt(right, &good);
    let answered = Answer::decode(&answered).unwrap();
    assert_eq!(answered.status, Status::Done);
    assert_eq!(message::decode(answered.bytes), Ok(&b"hello"[..]));

    let refused = stand.decrypt(oaep(b"other", Digest::Sha256, Digest::Sha256), &good);
    let told = Answer::decode(&refused).unwrap();
    assert_eq!(told.status, Status::Failed);
    // What a person can check.
    let sentence = String::from_utf8(told.bytes.to_vec()).unwrap();
    assert!(sentence.contains("this label"), "{sentence}");
    let long = vec![7; 2_000];
    for encryption in [
        oaep(b"", Digest::Sha256, Digest::Sha256),
        oaep(&long, Digest::Sha256, Digest::Sha256),
        oaep(b"label", Digest::Sha1, Digest::Sha256),
        oaep(b"label", Digest::Sha512, Digest::Sha512),
        oaep(b"label", Digest::Sha256, Digest::Sha1),
    ] {
        assert_eq!(stand.decrypt(encryption, &good), refused, "{encryption:?}");
    }
    // A first byte that is not zero (Manger 2001), one that is, PKCS #1 v1.5, and numbers at the edges.
    let (mut high, mut low) = ([0x5a; LENGTH], [0x5a; LENGTH]);
    (high[0], low[0]) = (1, 0);
    let of_pkcs1 = stand.encrypt(&Params::new().text(c"pad-mode", "pkcs1"), b"hello");
    let mut wrong = vec![stand.of_block(&high), stand.of_block(&low), of_pkcs1];
    wrong.extend(stand.edges());
    for ciphertext in &wrong {
        assert_eq!(stand.decrypt(right, ciphertext), refused);
    }
}

#[test]
fn every_ciphertext_of_pkcs1_has_a_message() {
    let stand = Stand::new();
    let mut blocks = vec![[0xa5; LENGTH]; 5];
    for (number, block) in blocks.iter_mut().enumerate() {
        // The first one is right; the others have another first byte or type, a short padding, or no end.
        (block[0], block[1], block[20]) = (0, 2, 0);
        match number {
            1 => block[0] = 1,
            2 => block[1] = 1,
            3 => block[9] = 0,
            4 => block[20] = 1,
            _ => {}
        }
    }
    let mut ciphertexts: Vec<_> = blocks.iter().map(|block| stand.of_block(block)).collect();
    ciphertexts.extend(stand.edges());
    let premaster = Encryption::Premaster {
        offered: 0x0303,
        negotiated: NonZeroU16::new(0x0302),
    };
    for ciphertext in &ciphertexts {
        for (encryption, length) in [(Encryption::Pkcs1, 2 + LENGTH), (premaster, 48)] {
            let packet = stand.decrypt(encryption, ciphertext);
            let answered = Answer::decode(&packet).unwrap();
            assert_eq!(
                (answered.status, answered.bytes.len()),
                (Status::Done, length)
            );
            // It is always the same, and leading zeros are none of the number.
            let zeros = ciphertext.iter().take_while(|&&byte| byte == 0).count();
            for shorter in [0, zeros.min(LENGTH - 1)] {
                assert_eq!(stand.decrypt(encryption, &ciphertext[shorter..]), packet);
            }
        }
    }
    // The account tells no more.
    match stand.service.ask(Request::Show {
        name: "site".into(),
    }) {
        Ok(Reply::Key(key)) => assert_eq!(key.used, 6 * ciphertexts.len() as u64),
        reply => panic!("{:?}", reply.err()),
    }
}

/// In the lanes, too, each client gets the answer to its own request, and the same one.
#[test]
fn many_at_once_are_answered_as_one_alone() {
    let stand = Stand::new();
    let right = oaep(b"label", Digest::Sha256, Digest::Sha256);
    let mut requests = vec![(right, stand.oaep(b"label")), (right, stand.oaep(b"other"))];
    for ciphertext in stand.edges().into_iter().chain([stand.oaep(b"label")]) {
        requests.push((Encryption::Pkcs1, ciphertext));
    }
    let asked: Vec<_> = requests
        .iter()
        .map(|(encryption, ciphertext)| {
            let operation = Operation::Decrypt {
                encryption: *encryption,
                ciphertext,
            };
            let packet = packet_of(&stand.held, operation);
            let alone = answer(connect(stand.service.path()), &packet).unwrap();
            (packet, alone)
        })
        .collect();
    std::thread::scope(|scope| {
        for client in 0..16 {
            let (asked, path) = (&asked, stand.service.path());
            scope.spawn(move || {
                let socket = connect(path);
                for (packet, alone) in asked.iter().cycle().skip(client).take(200) {
                    assert_eq!(answer(&socket, packet).as_ref(), Some(alone));
                }
            });
        }
    });
}

#[test]
fn what_is_no_ciphertext_of_the_key_is_refused() {
    let stand = Stand::new();
    let modulus = stand.key.number(c"n").unwrap();
    let long = [&[0], &stand.edges()[2][..]].concat();
    for ciphertext in [&modulus[..], &[0xff; LENGTH], &long, &[]] {
        for encryption in [Encryption::Pkcs1, oaep(b"", Digest::Sha1, Digest::Sha1)] {
            assert_eq!(stand.status(encryption, ciphertext), Status::Malformed);
        }
    }
    let other = stand.service.key("other");
    let operation = Operation::Decrypt {
        encryption: Encryption::Pkcs1,
        ciphertext: &[1; LENGTH],
    };
    let status = common::ask(connect(stand.service.path()), &packet_of(&other, operation));
    assert_eq!(status, Some(Status::NotAllowed));
}
