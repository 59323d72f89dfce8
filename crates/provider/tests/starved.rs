//! Where the system has no memory left, Outboard answers an error or stock answers, as OpenSSL does: no program is
//! ended, and all is well again when there is memory.
//!
//! `starved/starve.c` is preloaded, and lets the allocations of `liboutboard.so` fail: the first after so many, and all
//! that follow.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::ffi::{CStr, c_char, c_int, c_long};
use std::process::Command;

use outboard_libcrypto::{
    Cipher, CipherContext, Context, Deriver, DigestSigner, DigestVerifier, Direction, Key, Params,
};

/// Set where the shim is preloaded.
const STARVED: &str = "OUTBOARD_TEST_STARVED";
/// More allocations than any of the steps makes.
const MOST: c_long = 200;

#[test]
fn no_program_is_ended_for_want_of_memory() {
    if std::env::var_os(STARVED).is_none() {
        return in_a_process_that_can_starve();
    }
    let sides = common::sides();
    let shim = Shim::of(c"liboutboard.so");
    let [own, peer] = [keys(&sides.outboard), keys(&sides.outboard)];
    for (name, step) in steps() {
        assert!(step(&sides.outboard, &own, &peer), "{name}, with memory");
        let (mut least, mut answered) = (None, 0);
        for count in 0..MOST {
            shim.starve_after(count);
            let answer = step(&sides.outboard, &own, &peer);
            let failed = shim.feed();
            answered += i64::from(answer);
            if failed == 0 {
                assert!(answer, "{name}, with {count} allocations");
                least = Some(count);
                break;
            }
        }
        assert!(
            least.is_some(),
            "{name}: it makes more than {MOST} allocations"
        );
        println!("{name}: {least:?} allocations; {answered} answers");
        assert!(
            step(&sides.outboard, &own, &peer),
            "{name}, with memory again"
        );
    }
}

/// A thread that draws its first randomness: AWS-LC makes a generator for it, and would abort where it cannot.
#[test]
fn no_new_thread_ends_a_program_for_want_of_memory() {
    if std::env::var_os(STARVED).is_none() {
        return in_a_process_that_can_starve();
    }
    let sides = common::sides();
    let shim = Shim::of(c"liboutboard.so");
    let own = keys(&sides.outboard);
    let signs = |count| {
        shim.starve_after(count);
        let signed = signs(&own.p256, Some("SHA256"));
        (shim.feed(), signed)
    };
    let in_a_thread = |count| {
        let ended = std::thread::scope(|scope| scope.spawn(|| signs(count)).join());
        ended.unwrap()
    };
    let enough = (0..MOST).find(|&count| in_a_thread(count).0 == 0).unwrap();
    assert!(enough > 3, "{enough} allocations");
    assert!(in_a_thread(enough).1);
}

/// What is kept for later must come from somewhere: with none given back, calls fail before the reserve is used up.
#[test]
fn keys_without_end_end_in_an_error() {
    if std::env::var_os(STARVED).is_none() {
        return in_a_process_that_can_starve();
    }
    let sides = common::sides();
    let shim = Shim::of(c"liboutboard.so");
    let one = || Key::generate(&sides.outboard, "X25519", &Params::new());
    let kept = one().unwrap();
    shim.starve_after(0);
    let keys: Vec<_> = (0..100_000).map_while(|_| one().ok()).collect();
    let error = one().err();
    assert!(shim.feed() > 0);
    assert!(keys.len() > 100, "{} keys", keys.len());
    assert!(error.unwrap().to_string().contains("malloc failure"));
    drop(keys);
    assert!(derives(&one().unwrap(), &kept));
}

/// The same of ciphers, whose calls are so brief that few of them look first: neither a key nor an error ends the program.
#[test]
fn ciphers_without_end_end_in_errors() {
    if std::env::var_os(STARVED).is_none() {
        return in_a_process_that_can_starve();
    }
    let sides = common::sides();
    let shim = Shim::of(c"liboutboard.so");
    let cipher = Cipher::fetch(&sides.outboard, "AES-128-GCM", None).unwrap();
    let one = || CipherContext::new(&cipher, Direction::Encrypt).unwrap();
    let mut all: Vec<_> = (0..3000).map(|_| one()).collect();
    let keyed = |all: &mut [CipherContext]| {
        let start = |it: &mut CipherContext| it.start(Some(&[1; 16]), Some(&[2; 12])).is_ok();
        let keyed = all.iter_mut().map(start).filter(|done| *done).count();
        // Who seals sets no tag.
        assert!(all.iter_mut().all(|it| it.set_tag(&[0; 16]).is_err()));
        keyed
    };
    shim.starve_after(0);
    let without = keyed(&mut all);
    assert!(shim.feed() > 0);
    assert!((50..2900).contains(&without), "{without} keys");
    all.truncate(20);
    assert_eq!(keyed(&mut all), 20);
}

/// Runs this very test in a process of its own, with the shim.
fn in_a_process_that_can_starve() {
    let directory = outboard_programs::Workplace::new().unwrap();
    let shim = directory.join("starve.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/starved/starve.c");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&shim)
        .arg(source)
        .status();
    assert!(built.unwrap().success());
    let test = std::thread::current().name().unwrap().to_owned();
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", &test])
        .env(STARVED, "1")
        .env("LD_PRELOAD", &shim)
        .status();
    assert!(ended.unwrap().success());
}

/// What `starve.c` offers.
struct Shim {
    after: unsafe extern "C" fn(c_long) -> c_long,
}

impl Shim {
    fn of(module: &CStr) -> Self {
        // SAFETY: the preloaded object has both, of these types.
        unsafe {
            let find = |name: &CStr| {
                let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
                assert!(!found.is_null(), "{name:?}");
                found
            };
            let select: unsafe extern "C" fn(*const c_char) -> c_int =
                std::mem::transmute(find(c"starve_module"));
            assert_eq!(select(module.as_ptr()), 1);
            Self {
                after: std::mem::transmute::<
                    *mut libc::c_void,
                    unsafe extern "C" fn(c_long) -> c_long,
                >(find(c"starve_after")),
            }
        }
    }

    fn starve_after(&self, count: c_long) {
        // SAFETY: changes two variables of this thread.
        unsafe { (self.after)(count) };
    }

    /// How many allocations have failed.
    fn feed(&self) -> c_long {
        // SAFETY: as above.
        unsafe { (self.after)(-1) }
    }
}

/// A key of each kind.
struct Keys {
    rsa: Key,
    p256: Key,
    x25519: Key,
    ed25519: Key,
}

fn keys(context: &Context) -> Keys {
    let make = |kind, params: Params| Key::generate(context, kind, &params).unwrap();
    Keys {
        rsa: make("RSA", Params::new().unsigned(c"bits", 2048)),
        p256: make("EC", Params::new().text(c"group", "P-256")),
        x25519: make("X25519", Params::new()),
        ed25519: make("ED25519", Params::new()),
    }
}

type Step = fn(&Context, &Keys, &Keys) -> bool;

/// Each is true if its answer is there and right; a wrong shared secret or plaintext is a panic.
fn steps() -> [(&'static str, Step); 9] {
    [
        ("sign with RSA", |_, own, _| signs(&own.rsa, Some("SHA256"))),
        ("sign with P-256", |_, own, _| {
            signs(&own.p256, Some("SHA256"))
        }),
        ("sign with Ed25519", |_, own, _| signs(&own.ed25519, None)),
        ("derive by P-256", |_, own, peer| {
            derives(&own.p256, &peer.p256)
        }),
        ("derive by X25519", |_, own, peer| {
            derives(&own.x25519, &peer.x25519)
        }),
        ("a new P-256 key", |context, _, _| {
            Key::generate(context, "EC", &Params::new().text(c"group", "P-256")).is_ok()
        }),
        ("a new X25519 key", |context, _, _| {
            Key::generate(context, "X25519", &Params::new()).is_ok()
        }),
        ("a key to DER and back", |context, own, _| {
            let Ok(der) = own.p256.to_der(outboard_libcrypto::Structure::Pkcs8) else {
                return false;
            };
            Key::from_der(context, &der).is_ok_and(|key| signs(&key, Some("SHA384")))
        }),
        ("a record", |context, _, _| seals(context).is_some()),
    ]
}

fn signs(key: &Key, digest: Option<&str>) -> bool {
    let Ok(mut signer) = DigestSigner::new(key, digest, &Params::new()) else {
        return false;
    };
    let Ok(signature) = signer.sign(b"message") else {
        return false;
    };
    let Ok(mut verifier) = DigestVerifier::new(key, digest, &Params::new()) else {
        return false;
    };
    // OpenSSL says no in both cases: the signature is wrong, or there is no memory to find out.
    verifier.verify(&signature, b"message").unwrap_or(false)
}

fn derives(own: &Key, peer: &Key) -> bool {
    let derive = |own, peer| {
        let mut deriver = Deriver::new(own, &Params::new()).ok()?;
        deriver.set_peer(peer).ok()?;
        deriver.derive().ok()
    };
    match (derive(own, peer), derive(peer, own)) {
        (Some(one), Some(other)) => {
            assert_eq!(one, other);
            true
        }
        _ => false,
    }
}

fn seals(context: &Context) -> Option<()> {
    let cipher = Cipher::fetch(context, "AES-128-GCM", None).ok()?;
    let mut data = [7; 100];
    let mut tag = [0; 16];
    let mut sealing = CipherContext::new(&cipher, Direction::Encrypt).ok()?;
    sealing.start(Some(&[1; 16]), Some(&[2; 12])).ok()?;
    sealing.update_in_place(&mut data).ok()?;
    sealing.finish(&mut []).ok()?;
    sealing.tag(&mut tag).ok()?;
    let mut opening = CipherContext::new(&cipher, Direction::Decrypt).ok()?;
    opening.start(Some(&[1; 16]), Some(&[2; 12])).ok()?;
    opening.update_in_place(&mut data).ok()?;
    opening.set_tag(&tag).ok()?;
    opening.finish(&mut []).ok()?;
    assert_eq!(data, [7; 100]);
    Some(())
}
