//! Keys, and requests whose answers can be checked.

use std::sync::Arc;

use aws_lc_sys as lc;
use outboard_engine::card::{self, Output, Request};
use outboard_engine::scalar::ec::Curve;
use outboard_engine::scalar::{ec, ed25519, rsa, x25519};
use outboard_engine::{Error, Operation};

/// One of each, made once.
pub(crate) struct Keys {
    rsa: Arc<card::rsa::Key>,
    odd_rsa: Arc<card::rsa::Key>,
    p256: [Arc<ec::Key>; 2],
    p384: [Arc<ec::Key>; 2],
    x25519: [[u8; 32]; 2],
    ed25519: Arc<card::ed25519::Key>,
}

/// A request, and what must hold of its answer.
pub(crate) struct Case {
    pub(crate) request: Request,
    pub(crate) holds: Box<dyn Fn(&Output) -> bool + Send>,
}

/// How many kinds of cases there are.
pub(crate) const CASES: usize = 13;

impl Keys {
    pub(crate) fn new() -> Self {
        let pair = |curve| [(); 2].map(|()| Arc::new(ec::Key::generate(curve).expect("a key")));
        let private = || *x25519::generate().expect("randomness");
        Self {
            rsa: Arc::new(card::rsa::Key::new(rsa_key(2048))),
            odd_rsa: Arc::new(card::rsa::Key::new(rsa_key(1024))),
            p256: pair(Curve::P256),
            p384: pair(Curve::P384),
            x25519: [private(), private()],
            ed25519: Arc::new(card::ed25519::Key::new(ed25519::Private::from_seed(
                &private(),
            ))),
        }
    }

    /// A case; `number` makes its input.
    pub(crate) fn case(&self, which: usize, number: u64) -> Case {
        match which % CASES {
            0..=2 => self.rsa(&self.rsa, number),
            3 => self.rsa(&self.odd_rsa, number),
            4 => Self::ecdsa(&self.p256[0], number),
            5 => Self::ecdsa(&self.p384[0], number),
            6 => Self::ecdh(&self.p256),
            7 => Self::ecdh(&self.p384),
            8 => {
                let [ours, theirs] = self.x25519;
                let mut expected = [0; 32];
                x25519::derive(&theirs, &x25519::public_of(&ours), &mut expected)
                    .expect("a good point");
                Case {
                    request: Request::x25519(&ours, &x25519::public_of(&theirs)),
                    holds: Box::new(move |secret| secret[..] == expected),
                }
            }
            9 => Self::generate(Curve::P384),
            10 => Self::generate(Curve::P256),
            11 => Case {
                request: Request::x25519_generate(),
                holds: Box::new(|halves| {
                    let (private, public) = halves.split_at(32);
                    private
                        .try_into()
                        .is_ok_and(|private| x25519::public_of(private) == public)
                }),
            },
            _ => {
                let key = Arc::clone(&self.ed25519);
                let message = number.to_be_bytes();
                Case {
                    request: Request::ed25519(Arc::clone(&key), &message).expect("memory"),
                    holds: Box::new(move |signature| {
                        ed25519::verify(key.public(), &message, signature)
                    }),
                }
            }
        }
    }

    /// An RSA case.
    pub(crate) fn rsa_case(&self, number: u64) -> Case {
        self.rsa(&self.rsa, number)
    }

    fn rsa(&self, key: &Arc<card::rsa::Key>, number: u64) -> Case {
        let data = number.to_be_bytes();
        let block = key.encode_unnamed(&data).expect("it fits");
        let key = Arc::clone(key);
        Case {
            request: Request::rsa(Operation::Rsa2048Sign, Arc::clone(&key), block),
            holds: Box::new(move |signature| key.verify_unnamed(&data, signature)),
        }
    }

    fn ecdsa(key: &Arc<ec::Key>, number: u64) -> Case {
        let mut digest = [7; 32];
        digest[..8].copy_from_slice(&number.to_be_bytes());
        let key = Arc::clone(key);
        Case {
            request: Request::ecdsa(Arc::clone(&key), &digest).expect("a private key"),
            holds: Box::new(move |signature| key.verify(&digest, signature)),
        }
    }

    fn generate(curve: Curve) -> Case {
        Case {
            request: Request::ec_generate(curve),
            holds: Box::new(move |halves| {
                ec::Key::pair(curve, halves).is_ok_and(|key| key.check())
            }),
        }
    }

    fn ecdh([ours, theirs]: &[Arc<ec::Key>; 2]) -> Case {
        let mut expected = vec![0; ours.curve().field_length()];
        theirs.derive(ours, &mut expected).expect("the same curve");
        Case {
            request: Request::ecdh(Arc::clone(ours), Arc::clone(theirs)).expect("a private key"),
            holds: Box::new(move |secret| secret[..] == expected),
        }
    }
}

/// Requests that must fail, however they run.
pub(crate) fn hopeless(number: usize) -> (Request, Error) {
    let private = *x25519::generate().expect("randomness");
    match number % 2 {
        // A point of small order.
        0 => (Request::x25519(&private, &[0; 32]), Error::InvalidInput),
        _ => (
            Request::x25519(&private, &{
                let mut one = [0; 32];
                one[0] = 1;
                one
            }),
            Error::InvalidInput,
        ),
    }
}

/// A key of AWS-LC's making.
pub(crate) fn rsa_key(bits: usize) -> rsa::Key {
    // SAFETY: new objects, whose numbers are copied out before they are freed.
    unsafe {
        let (key, e) = (lc::RSA_new(), lc::BN_new());
        lc::BN_set_word(e, 65537);
        let made = lc::RSA_generate_key_ex(key, bits as i32, e, std::ptr::null_mut());
        assert_eq!(made, 1);
        let bytes = |number: *const lc::BIGNUM| {
            let mut bytes = vec![0; lc::BN_num_bytes(number) as usize];
            lc::BN_bn2bin(number, bytes.as_mut_ptr());
            bytes
        };
        let numbers = rsa::Numbers {
            n: &bytes(lc::RSA_get0_n(key)),
            e: &bytes(e),
            private: Some(rsa::PrivateNumbers {
                d: &bytes(lc::RSA_get0_d(key)),
                p: &bytes(lc::RSA_get0_p(key)),
                q: &bytes(lc::RSA_get0_q(key)),
                dp: &bytes(lc::RSA_get0_dmp1(key)),
                dq: &bytes(lc::RSA_get0_dmq1(key)),
                qinv: &bytes(lc::RSA_get0_iqmp(key)),
            }),
        };
        let made = rsa::Key::new(&numbers).expect("a good key");
        lc::BN_free(e);
        lc::RSA_free(key);
        made
    }
}
