//! What a stand-in must not change, nor count, within a program: the generators, keys and library contexts of
//! its processes and threads.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{Place, Stand, configuration, counted, python};
use outboard_libcrypto::{Context, Digest, Library};
use outboard_observation::{Operation, Record};
use outboard_programs::Launch;

fn what_is_used_within_is_not_counted(place: Place) {
    let Some(stand) = Stand::for_programs(&["python3"], place) else {
        return;
    };
    let script = "import hashlib, hmac, os, ssl\n\
                  for _ in range(100): ssl.RAND_bytes(1000)\n\
                  for _ in range(30): hashlib.pbkdf2_hmac('sha256', b'word', b'salt', 2)\n\
                  for _ in range(30): hmac.digest(b'key', b'message', 'sha512')\n\
                  if os.fork() == 0:\n\
                  \x20   ssl.RAND_bytes(1000)\n\
                  \x20   hashlib.pbkdf2_hmac('sha256', b'word', b'salt', 2)\n\
                  \x20   os._exit(0)\n\
                  os.wait()";
    Launch::new("python3")
        .unwrap()
        .with(&stand.observed)
        .args(["-c", script])
        .succeed()
        .unwrap();
    let work = Record::read(&stand.record).unwrap().total();
    assert_eq!(counted(&work, "PBKDF2", Operation::Kdf).0, 31);
    assert_eq!(counted(&work, "HMAC", Operation::Mac).0, 30, "{work:?}");
    assert!(
        work.iter()
            .all(|work| ["PBKDF2", "HMAC"].contains(&work.algorithm.as_str())),
        "{work:?}"
    );
}

#[test]
fn what_an_algorithm_or_generator_uses_within_is_not_counted() {
    what_is_used_within_is_not_counted(Place::Instead);
}

#[test]
fn nor_is_it_beside_the_default_provider() {
    what_is_used_within_is_not_counted(Place::Beside);
}

fn keys_differ(place: Place) {
    let Some(stand) = Stand::for_programs(&["python3"], place) else {
        return;
    };
    // The key shares of ClientHellos (RFC 8446, 4.2.8): one before the forks, two of each child, one of each thread.
    let script = "
import os, ssl, threading
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
def share():
    hello = ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), hello).do_handshake()
    except ssl.SSLWantReadError:
        hello = hello.read()
    number = lambda at: int.from_bytes(hello[at:at + 2], 'big')
    at = 43 + 1 + hello[43]
    at += 2 + number(at)
    at += 1 + hello[at] + 2
    while number(at) != 51:
        at += 4 + number(at + 2)
    return hello[at:at + 4 + number(at + 2)]
shares = [share()]
for _ in range(4):
    ours, theirs = os.pipe()
    if os.fork() == 0:
        os.write(theirs, share() + share())
        os._exit(0)
    os.wait()
    both = os.read(ours, 10000)
    shares += [both[:len(both) // 2], both[len(both) // 2:]]
threads = [threading.Thread(target=lambda: shares.append(share())) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(shares), len(set(shares)))
";
    let output = Launch::new("python3")
        .unwrap()
        .with(&stand.observed)
        .args(["-c", script])
        .succeed()
        .unwrap()
        .output;
    assert_eq!(output.trim(), "13 13");
    let work = Record::read(&stand.record).unwrap().total();
    assert_eq!(
        counted(&work, "X25519", Operation::Generate).0,
        13,
        "{work:?}"
    );
}

#[test]
fn keys_of_children_and_threads_differ() {
    keys_differ(Place::Instead);
}

#[test]
fn so_they_do_beside_the_default_provider() {
    keys_differ(Place::Beside);
}

#[test]
fn library_contexts_come_and_go() {
    const ROUNDS: u64 = 3;
    let stand = Stand::new(Place::Instead);
    let text = configuration(&stand.workplace, &stand.record, Place::Instead);
    let file = stand.workplace.write("contexts.cnf", &text).unwrap();
    let library = Library::open(Library::SYSTEM).unwrap();
    for _ in 0..ROUNDS {
        // Two at a time: the second cannot have what the first left.
        let contexts = [(); 2].map(|()| Context::from_configuration(&library, &file).unwrap());
        for context in &contexts {
            for (name, size) in [("SHA256", 3), ("SHA512", 5)] {
                let digest = Digest::fetch(context, name, None).unwrap();
                digest.digest(&[0; 8][..size]).unwrap();
            }
        }
    }
    let work = Record::read(&stand.record).unwrap().total();
    for (algorithm, size) in [("SHA2-256", 3), ("SHA2-512", 5)] {
        let digests = counted(&work, algorithm, Operation::Digest);
        assert_eq!(digests, (2 * ROUNDS, 2 * ROUNDS * size), "{work:?}");
    }
}

/// A thread's random generators are in the library context that the stand-in has, too, and end with the
/// thread.
#[test]
fn a_thread_may_end_after_the_contexts_that_it_used() {
    let Some(stand) = Stand::for_programs(&["python3"], Place::Instead) else {
        return;
    };
    let script = "
import ctypes, sys, threading
crypto = ctypes.CDLL('libcrypto.so.3')
Pointer = ctypes.c_void_p
for name in ['OSSL_LIB_CTX_new', 'EVP_PKEY_Q_keygen']:
    getattr(crypto, name).restype = Pointer
def context():
    made = Pointer(crypto.OSSL_LIB_CTX_new())
    assert crypto.OSSL_LIB_CTX_load_config(made, sys.argv[1].encode()) == 1
    return made
contexts = [context(), context()]
used, go = threading.Event(), threading.Event()
def work():
    key = Pointer(crypto.EVP_PKEY_Q_keygen(contexts[0], None, b'X25519'))
    crypto.EVP_PKEY_free(key)
    crypto.OPENSSL_thread_stop_ex(contexts[0])
    used.set()
    go.wait()
thread = threading.Thread(target=work)
thread.start()
used.wait()
for context in contexts: crypto.OSSL_LIB_CTX_free(context)
# What was freed is overwritten.
others = [ctypes.create_string_buffer(b'A' * size, size + 1) for size in range(16, 4000, 8)]
go.set()
thread.join()
print('ended')
";
    let file = stand.observed.configuration();
    assert_eq!(python(&stand.stock, script, &[file]).trim(), "ended");
}

/// A source of randomness that a program brings is asked as often as without us.
#[test]
fn a_program_s_own_randomness_is_asked_no_more() {
    let Some(stand) = Stand::for_programs(&["python3"], Place::Instead) else {
        return;
    };
    let script = "
import ctypes
Pointer = ctypes.c_void_p
crypto, ssl = ctypes.CDLL('libcrypto.so.3'), ctypes.CDLL('libssl.so.3')
asked = []
Bytes = ctypes.CFUNCTYPE(ctypes.c_int, Pointer, ctypes.c_int)
@Bytes
def answer(place, size):
    asked.append(size)
    ctypes.memset(place, 7, size)
    return 1
class Method(ctypes.Structure):
    _fields_ = [('seed', Pointer), ('bytes', Bytes), ('cleanup', Pointer), ('add', Pointer),
                ('pseudorand', Bytes), ('status', Pointer)]
method = Method(None, answer, None, None, answer, None)
crypto.RAND_set_rand_method(ctypes.byref(method))
ssl.TLS_method.restype = Pointer
ssl.SSL_CTX_new.restype = Pointer
assert ssl.SSL_CTX_new(Pointer(ssl.TLS_method()))
print(asked)
";
    let [stock, observed] =
        [&stand.stock, &stand.observed].map(|openssl| python(openssl, script, &[]));
    assert_eq!(stock, observed);
    assert_ne!(stock.trim(), "[]");
}
