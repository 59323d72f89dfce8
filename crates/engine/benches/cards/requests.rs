//! What is asked for, and the work beside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use outboard_engine::Operation;
use outboard_engine::card::{self, Request};
use outboard_engine::scalar::{ec, x25519};

/// Makes a request.
pub(crate) type Make = dyn Fn() -> Request + Sync;

/// Microseconds of other work: about what a TLS handshake needs beside an operation.
pub(crate) const OTHER_WORK: u64 = 150;

/// What is measured.
pub(crate) fn operations() -> Vec<(&'static str, Box<Make>)> {
    let mut all: Vec<(&'static str, Box<Make>)> = Vec::new();
    for (name, operation, bits) in [
        ("rsa-2048-sign", Operation::Rsa2048Sign, 2048),
        ("rsa-4096-sign", Operation::Rsa4096Sign, 4096),
    ] {
        let key = Arc::new(card::rsa::Key::new(rsa_key(bits)));
        let mut block = vec![0x5a; bits / 8];
        block[0] = 0;
        all.push((
            name,
            Box::new(move || Request::rsa(operation, Arc::clone(&key), block.clone())),
        ));
    }
    for (name, curve) in [
        ("p256-sign", ec::Curve::P256),
        ("p384-sign", ec::Curve::P384),
    ] {
        let key = Arc::new(ec::Key::generate(curve).expect("a key is made"));
        all.push((
            name,
            Box::new(move || Request::ecdsa(Arc::clone(&key), &[7; 32]).expect("a private key")),
        ));
    }
    let peer = x25519::public_of(&x25519::generate().expect("randomness"));
    let private = x25519::generate().expect("randomness");
    all.push((
        "x25519-derive",
        Box::new(move || Request::x25519(&private, &peer)),
    ));
    all
}

/// A request without a card.
pub(crate) fn scalar(request: Request) {
    request.run_scalar().expect("it succeeds");
}

/// Keeps the processor busy for so many microseconds of this thread's time.
pub(crate) fn work(microseconds: u64) {
    static RATE: AtomicU64 = AtomicU64::new(0);
    let spin = |turns: u64| {
        let mut state = 1_u64;
        for _ in 0..turns {
            state = std::hint::black_box(state.wrapping_mul(3).wrapping_add(1));
        }
    };
    if RATE.load(Relaxed) == 0 {
        let best = (0..20)
            .map(|_| {
                let started = Instant::now();
                spin(100_000);
                started.elapsed()
            })
            .min();
        let best = best.map_or(1.0, |best| best.as_secs_f64() * 1e6);
        RATE.store((100_000.0 / best) as u64, Relaxed);
    }
    spin(RATE.load(Relaxed) * microseconds);
}

/// A key of AWS-LC's making.
fn rsa_key(bits: usize) -> outboard_engine::scalar::rsa::Key {
    use aws_lc_sys as lc;
    use outboard_engine::scalar::rsa::{Key, Numbers, PrivateNumbers};
    // SAFETY: a new key, whose numbers are copied out before it is freed.
    unsafe {
        let (key, e) = (lc::RSA_new(), lc::BN_new());
        lc::BN_set_word(e, 65537);
        assert_eq!(
            lc::RSA_generate_key_ex(key, bits as i32, e, std::ptr::null_mut()),
            1
        );
        let bytes = |number: *const lc::BIGNUM| {
            let mut bytes = vec![0; lc::BN_num_bytes(number) as usize];
            lc::BN_bn2bin(number, bytes.as_mut_ptr());
            bytes
        };
        let made = Key::new(&Numbers {
            n: &bytes(lc::RSA_get0_n(key)),
            e: &bytes(e),
            private: Some(PrivateNumbers {
                d: &bytes(lc::RSA_get0_d(key)),
                p: &bytes(lc::RSA_get0_p(key)),
                q: &bytes(lc::RSA_get0_q(key)),
                dp: &bytes(lc::RSA_get0_dmp1(key)),
                dq: &bytes(lc::RSA_get0_dmq1(key)),
                qinv: &bytes(lc::RSA_get0_iqmp(key)),
            }),
        });
        lc::BN_free(e);
        lc::RSA_free(key);
        made.expect("a good key")
    }
}
