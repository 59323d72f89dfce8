//! What a program is made of beside OpenSSL: allocators with functions that AWS-LC would call, thread keys that are used
//! up, destructors and threads that sign while the process ends. All goes on as without Outboard.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::ffi::{CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use common::jobs::{DIGEST, is_right, rsa, sha256};
use outboard_libcrypto::{Context, DigestSigner, Key, Library, Params, Result, Signer};
use outboard_measure::Sides;
use outboard_programs::{Workplace, child};

/// Where a test that runs in a process of its own finds what was built for it.
const BUILT: &str = "OUTBOARD_TEST_BUILT";

#[test]
fn the_programs_allocators_are_not_asked() {
    let place = Workplace::new().unwrap();
    let preloaded = build("functions.c", &place);
    let mut again = again("it_signs");
    assert!(
        again
            .env("LD_PRELOAD", preloaded)
            .status()
            .unwrap()
            .success()
    );
}

#[test]
#[ignore = "for the test above, which starts it"]
fn it_signs() {
    let sides = common::sides();
    let key = Rc::new(rsa(&sides.outboard));
    let signature = Signer::new(&key, &sha256()).unwrap().sign(DIGEST).unwrap();
    assert!(is_right(&key, &signature));
}

/// As OpenSSL: what needs a key of the C library's for threads fails, and the program goes on.
#[test]
fn a_program_without_thread_keys_is_not_ended() {
    assert!(child::ends_well(|| {
        let sides = common::sides();
        let mut number = 0;
        // SAFETY: makes keys without destructors, until there are no more.
        while unsafe { libc::pthread_key_create(&raw mut number, None) } == 0 {}
        let made = common::both(&sides)
            .map(|(_, context)| ["EC", "X25519"].map(|kind| generate(context, kind).is_ok()));
        made[0] == made[1]
    }));
}

/// A program that keeps a context for each of its customers.
#[test]
fn contexts_without_the_default_provider_leave_nothing_behind() {
    let place = Workplace::new().unwrap();
    let configuration = place.join("openssl.cnf");
    let text = format!(
        "openssl_conf = init\n[init]\nproviders = providers\n[providers]\noutboard = outboard\n[outboard]\n\
         activate = 1\noffer = all\nmodule = {}\nledger = {}\n",
        common::module().display(),
        place.join("ledger").display()
    );
    std::fs::write(&configuration, text).unwrap();
    assert!(child::ends_well(|| {
        let library = Library::open(Path::new(Library::SYSTEM)).unwrap();
        library.ignore_system_configuration().unwrap();
        let some = || {
            for _ in 0..100 {
                let context = Context::from_configuration(&library, &configuration).unwrap();
                assert!(generate(&context, "EC").is_ok());
            }
            most_memory()
        };
        // What is kept for the next ones is there after some: the lanes' table after 256 keys.
        let [_, _, _, before, after] = [(); 5].map(|()| some());
        after - before < 1 << 20
    }));
}

/// OpenSSL reads it where it lies; what Outboard copied would be twice the program's size.
#[test]
fn a_large_message_is_not_copied() {
    const LENGTH: usize = 64 << 20;
    assert!(child::ends_well(|| {
        let sides = common::sides();
        let key = generate(&sides.outboard, "ED25519").unwrap();
        let sign = |message: &[u8]| {
            let mut signer = DigestSigner::new(&key, None, &Params::new()).unwrap();
            signer.sign(message).unwrap()
        };
        sign(b"a message");
        let message = vec![7; LENGTH];
        let before = most_memory();
        sign(&message);
        most_memory() - before < LENGTH / 2
    }));
}

#[test]
fn a_program_may_sign_until_it_is_gone() {
    let place = Workplace::new().unwrap();
    let late = build("late.c", &place);
    let mut process = again("it_signs_while_it_ends")
        .env(BUILT, late)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    loop {
        if let Some(status) = process.try_wait().unwrap() {
            assert_eq!(status.code(), Some(SIGNED));
            return;
        }
        if begun.elapsed() > Duration::from_secs(60) {
            process.kill().unwrap();
            panic!("it never ends");
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// What the process below returns if it signed to the end.
const SIGNED: i32 = 77;

/// What threads and a destructor use while the process ends.
struct Ending {
    key: Key,
    is_over: AtomicBool,
    threads: AtomicU32,
    _sides: Sides,
}

#[test]
#[ignore = "for the test above, which starts it"]
fn it_signs_while_it_ends() {
    let Some(late) = std::env::var_os(BUILT) else {
        return;
    };
    let library = Library::open(Path::new(Library::SYSTEM)).unwrap();
    // As OpenSSL 4.0 is by default: it leaves its objects alone when the process ends.
    const NO_CLEANUP: u64 = 0x0008_0000;
    // SAFETY: null settings are allowed.
    unsafe { (library.functions().OPENSSL_init_crypto)(NO_CLEANUP, std::ptr::null()) };
    let sides = common::sides();
    let ending: &Ending = Box::leak(Box::new(Ending {
        key: generate(&sides.outboard, "EC").unwrap(),
        is_over: AtomicBool::new(false),
        threads: AtomicU32::new(0),
        _sides: sides,
    }));
    for _ in 0..2 {
        ending.threads.fetch_add(1, SeqCst);
        thread::spawn(|| {
            while !ending.is_over.load(SeqCst) {
                assert!(signs(&ending.key));
            }
            ending.threads.fetch_sub(1, SeqCst);
        });
    }
    // SAFETY: loads the module that was built for this, and calls its function by its type.
    unsafe {
        let name = CString::new(late.as_bytes()).unwrap();
        let handle = libc::dlopen(name.as_ptr(), libc::RTLD_NOW);
        assert!(!handle.is_null());
        let late = libc::dlsym(handle, c"late".as_ptr());
        assert!(!late.is_null());
        let late: unsafe extern "C" fn(extern "C" fn(*const Ending), *const Ending) =
            std::mem::transmute::<*mut c_void, _>(late);
        late(at_end, ending);
    }
    thread::sleep(Duration::from_millis(50));
    std::process::exit(0);
}

/// The destructor's: signs, and waits for the threads.
extern "C" fn at_end(ending: *const Ending) {
    // SAFETY: what was leaked for this.
    let ending = unsafe { &*ending };
    let signed = (0..10).all(|_| signs(&ending.key));
    ending.is_over.store(true, SeqCst);
    while ending.threads.load(SeqCst) > 0 {
        thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: ends the process.
    unsafe { libc::_exit(if signed { SIGNED } else { 1 }) };
}

fn generate(context: &Context, kind: &str) -> Result<Key> {
    let params = match kind {
        "EC" => Params::new().text(c"group", "P-256"),
        _ => Params::new(),
    };
    Key::generate(context, kind, &params)
}

/// The most memory that this process has had, in bytes.
fn most_memory() -> usize {
    // SAFETY: zero is a valid value, which the call overwrites.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    usage.ru_maxrss as usize * 1024
}

fn signs(key: &Key) -> bool {
    let signer = DigestSigner::new(key, Some("SHA256"), &Params::new());
    signer.is_ok_and(|mut signer| signer.sign(b"a message").is_ok())
}

/// This very test program, for one test.
fn again(test: &str) -> Command {
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", test, "--ignored"]);
    again
}

/// A shared object of one of the sources beside this file.
fn build(source: &str, place: &Workplace) -> PathBuf {
    let object = place.join(source).with_extension("so");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&object)
        .arg(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/host")).join(source))
        .status();
    assert!(built.unwrap().success());
    object
}
