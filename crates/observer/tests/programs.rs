//! Whole programs observed: what was counted is what they are known to have done, and they work as
//! they do without.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use outboard_libcrypto::{Context, Digest, Library};
use outboard_observation::{Operation, Record, Work};
use outboard_openssl_versions::Version;
use outboard_programs::{
    Certificate, HaProxyMode, HaProxyOptions, Launch, Nginx, NginxOptions, OpenSsl,
    PostgreSqlOptions, Sshd, SshdOptions, Workplace, missing,
};

const MIB: u64 = 1 << 20;
/// More than the bytes that protocols add to a file, and less than another file.
const OVERHEAD: u64 = MIB;

/// A directory of one's own, a configuration that observes, and its record.
struct Stand {
    workplace: Workplace,
    stock: OpenSsl,
    observed: OpenSsl,
    record: PathBuf,
}

/// How the stand-in of the default provider stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In its place: for one program.
    Instead,
    /// Beside it, and preferred: for a whole system.
    Beside,
}

impl Stand {
    /// Nothing where programs are missing.
    fn for_programs(programs: &[&str], place: Place) -> Option<Self> {
        let missing = missing(programs);
        for program in &missing {
            eprintln!("passed over: {} is not installed", program.name);
        }
        missing.is_empty().then(|| Self::new(place))
    }

    fn new(place: Place) -> Self {
        let workplace = Workplace::new().unwrap();
        let record = workplace.join("record");
        let observed = configuration(&workplace, &record, place);
        Self {
            stock: OpenSsl::stock(&workplace).unwrap(),
            observed: OpenSsl::configured(&workplace, "observed", &observed).unwrap(),
            record,
            workplace,
        }
    }

    fn work(&self, program: &str) -> Vec<Work> {
        let record = Record::read(&self.record).unwrap();
        assert_eq!(record.lost, 0);
        let of_program = record
            .processes
            .into_iter()
            .filter(|p| p.program == program);
        let mut total: Vec<Work> = Vec::new();
        for work in of_program.flat_map(|process| process.work) {
            match total.iter_mut().find(|known| known.is_like(&work)) {
                Some(known) => known.add(&work),
                None => total.push(work),
            }
        }
        total
    }
}

fn configuration(workplace: &Workplace, record: &Path, place: Place) -> String {
    let test = std::env::current_exe().unwrap();
    let module = test.with_file_name("liboutboard_observe.so");
    assert!(module.is_file(), "cargo builds {}", module.display());
    // Where every user can read it.
    let copy = workplace.join("outboard-observe.so");
    fs::copy(&module, &copy).unwrap();
    let (default, beside, properties) = match place {
        Place::Instead => ("", "", ""),
        Place::Beside => (
            "default = default_section\n",
            "beside = yes\n",
            "alg_section = evp_properties\n",
        ),
    };
    format!(
        "config_diagnostics = 1\nopenssl_conf = openssl_init\n\
         [openssl_init]\nproviders = provider_sections\n{properties}\
         [provider_sections]\n{default}observed_default = observed_section\n\
         [default_section]\nactivate = 1\n\
         [observed_section]\nmodule = {}\nrecord = {}\n{beside}activate = 1\n\
         [evp_properties]\ndefault_properties = ?outboard.observed=yes\n\
         [req]\ndistinguished_name = name\n[name]\n",
        copy.display(),
        record.display(),
    )
}

/// The calls and bytes of a kind of work; none of it is zero.
fn counted(work: &[Work], algorithm: &str, operation: Operation) -> (u64, u64) {
    work.iter()
        .filter(|work| work.algorithm == algorithm && work.operation == operation)
        .fold((0, 0), |sum, work| (sum.0 + work.calls, sum.1 + work.bytes))
}

#[track_caller]
fn assert_about(bytes: u64, expected: u64) {
    assert!(
        (expected..expected + OVERHEAD).contains(&bytes),
        "{bytes} bytes, expected {expected} and little more"
    );
}

fn download_is_counted(place: Place) {
    let Some(stand) = Stand::for_programs(&["nginx", "curl"], place) else {
        return;
    };
    let certificate = Certificate::generate(
        &stand.workplace,
        &stand.stock,
        "p256",
        "ec -pkeyopt ec_paramgen_curve:P-256",
    )
    .unwrap();
    let files = stand.workplace.join("files");
    fs::create_dir(&files).unwrap();
    let large = stand
        .workplace
        .write_noise("files/large", 64 * MIB)
        .unwrap();
    let certificates = [&certificate];
    let nginx = Nginx::start(
        &stand.workplace,
        NginxOptions {
            openssl: &stand.observed,
            certificates: &certificates,
            files: Some(&files),
            core: None,
            settings: "",
        },
    )
    .unwrap();
    let copy = stand.workplace.join("copy");
    Launch::new("curl")
        .unwrap()
        .with(&stand.observed)
        .args([
            "-sSf",
            "--tls13-ciphers",
            "TLS_AES_256_GCM_SHA384",
            "--cacert",
        ])
        .arg(&certificate.certificate)
        .arg("--output")
        .arg(&copy)
        .arg(nginx.url("large"))
        .succeed()
        .unwrap();
    assert!(fs::read(&copy).unwrap() == fs::read(&large).unwrap());
    assert!(nginx.stop().unwrap().status.success());

    let curl = stand.work("curl");
    let (records, bytes) = counted(&curl, "AES-256-GCM", Operation::Open);
    assert_about(bytes, 64 * MIB);
    // A record holds up to 16 KiB.
    assert!(records >= 64 * MIB / 16384, "{records} records");
    assert_eq!(counted(&curl, "X25519", Operation::Derive).0, 1);
    assert!(
        counted(&curl, "ECDSA", Operation::Verify).0 >= 1,
        "{curl:?}"
    );

    let nginx = stand.work("nginx");
    assert_about(counted(&nginx, "AES-256-GCM", Operation::Seal).1, 64 * MIB);
    assert_eq!(counted(&nginx, "ECDSA", Operation::Sign).0, 1);
    assert_eq!(counted(&nginx, "X25519", Operation::Derive).0, 1);
    let sign = nginx
        .iter()
        .find(|work| work.operation == Operation::Sign)
        .unwrap();
    assert_eq!(sign.key, "prime256v1");
    assert!(sign.digest.ends_with("256"), "{}", sign.digest);
}

#[test]
fn a_download_is_counted_to_the_byte() {
    download_is_counted(Place::Instead);
}

#[test]
fn so_is_one_beside_the_default_provider() {
    download_is_counted(Place::Beside);
}

#[test]
fn confined_children_of_sshd_are_observed() {
    let programs = ["sshd", "ssh", "scp", "ssh-keygen"];
    let Some(stand) = Stand::for_programs(&programs, Place::Instead) else {
        return;
    };
    let options = SshdOptions {
        openssl: &stand.observed,
        core: None,
        settings: "",
    };
    let sshd = Sshd::start(&stand.workplace, options).unwrap();
    let file = stand.workplace.write_noise("file", 16 * MIB).unwrap();
    let copy = stand.workplace.join("copy");
    sshd.client("scp")
        .unwrap()
        .with(&stand.observed)
        .args(["-q", "-o", "Ciphers=aes128-gcm@openssh.com"])
        .arg(&file)
        .arg(format!("{}:{}", Sshd::HOST, copy.display()))
        .succeed()
        .unwrap();
    assert!(fs::read(&copy).unwrap() == fs::read(&file).unwrap());
    let sealed = counted(&stand.work("ssh"), "AES-128-GCM", Operation::Seal);
    assert_about(sealed.1, 16 * MIB);
    let record = Record::read(&stand.record).unwrap();
    let opened: u64 = record
        .processes
        .iter()
        .filter(|process| process.program.starts_with("sshd"))
        .map(|process| counted(&process.work, "AES-128-GCM", Operation::Open).1)
        .sum();
    assert_about(opened, 16 * MIB);
}

#[test]
fn each_handshake_of_haproxy_s_threads_is_counted() {
    let Some(stand) = Stand::for_programs(&["haproxy", "h2load"], Place::Instead) else {
        return;
    };
    let certificate =
        Certificate::generate(&stand.workplace, &stand.stock, "rsa", "rsa:2048").unwrap();
    let certificates = [&certificate];
    let options = HaProxyOptions {
        openssl: &stand.observed,
        certificates: &certificates,
        mode: HaProxyMode::Http,
        asynchronous: false,
        threads: 2,
        resumption: false,
        core: None,
        settings: "",
        bind: "",
    };
    let haproxy = options.start(&stand.workplace).unwrap();
    let before = counted(&stand.work("haproxy"), "RSA", Operation::Sign).0;
    let load = Launch::new("h2load")
        .unwrap()
        .with(&stand.stock)
        .args([
            "--h1",
            "--clients=8",
            "--requests=200",
            "--header=Connection: close",
        ])
        .arg(haproxy.url(""))
        .succeed()
        .unwrap();
    assert!(
        load.output.contains("200 succeeded, 0 failed"),
        "{}",
        load.output
    );
    let work = stand.work("haproxy");
    assert_eq!(counted(&work, "RSA", Operation::Sign).0 - before, 200);
    let sign = work
        .iter()
        .find(|work| work.operation == Operation::Sign)
        .unwrap();
    assert_eq!((sign.key.as_str(), sign.mode.as_str()), ("2048", "pss"));
    haproxy.stop().unwrap();
}

#[test]
fn connections_to_postgresql_are_counted_on_both_sides() {
    let programs = ["initdb", "postgres", "psql"];
    let Some(stand) = Stand::for_programs(&programs, Place::Instead) else {
        return;
    };
    let certificate =
        Certificate::generate(&stand.workplace, &stand.stock, "rsa", "rsa:2048").unwrap();
    // The server's user makes a record of its own, in a directory that is everybody's.
    let shared = stand.workplace.join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let record = shared.join("record");
    let text = configuration(&stand.workplace, &record, Place::Instead);
    let observed = OpenSsl::configured(&stand.workplace, "server", &text).unwrap();
    let options = PostgreSqlOptions {
        openssl: &observed,
        certificate: &certificate,
    };
    let server = options.start(&stand.workplace).unwrap();
    let question = "select ssl, version, repeat('x', 4000000) from pg_stat_ssl \
                    where pid = pg_backend_pid()";
    for _ in 0..3 {
        let answer = server.query(&stand.observed, question).unwrap().output;
        let expected = format!("t|TLSv1.3|{}\n", "x".repeat(4_000_000));
        assert!(answer == expected, "{}", &answer[..100.min(answer.len())]);
    }
    assert!(server.stop().unwrap().status.success());

    let psql = stand.work("psql");
    let (_, bytes) = counted(&psql, "AES-256-GCM", Operation::Open);
    assert_about(bytes, 3 * 4_000_000);
    // The server takes one group alone (ssl_ecdh_curve).
    assert_eq!(counted(&psql, "ECDH", Operation::Derive).0, 3);
    assert!(counted(&psql, "RSA", Operation::Verify).0 >= 3, "{psql:?}");
    // SCRAM hashes a password 4096 times (RFC 7677), with a key: more than one digest each time.
    let digests = counted(&psql, "SHA2-256", Operation::Digest).0;
    assert!(digests > 3 * 4096, "{digests} digests");

    let postgres: Vec<Work> = Record::read(&record)
        .unwrap()
        .processes
        .into_iter()
        .filter(|process| process.program == "postgres")
        .flat_map(|process| process.work)
        .collect();
    let (_, bytes) = counted(&postgres, "AES-256-GCM", Operation::Seal);
    assert_about(bytes, 3 * 4_000_000);
    assert_eq!(counted(&postgres, "ECDH", Operation::Derive).0, 3);
    assert_eq!(counted(&postgres, "RSA", Operation::Sign).0, 3);
}

#[test]
fn python_s_digests_and_keys_are_counted() {
    let Some(stand) = Stand::for_programs(&["python3"], Place::Instead) else {
        return;
    };
    let script = "import hashlib, os, ssl\n\
                  for _ in range(100): hashlib.sha512(bytes(100000)).digest()\n\
                  if os.fork() == 0:\n    hashlib.sha512(bytes(1)).digest()\n    os._exit(0)\n\
                  os.wait()\n\
                  hashlib.pbkdf2_hmac('sha256', b'word', b'salt', 1000)";
    Launch::new("python3")
        .unwrap()
        .with(&stand.observed)
        .args(["-c", script])
        .succeed()
        .unwrap();
    let record = Record::read(&stand.record).unwrap();
    let digests: Vec<(u64, u64)> = record
        .processes
        .iter()
        .map(|process| counted(&process.work, "SHA2-512", Operation::Digest))
        .collect();
    assert_eq!(digests, [(100, 10_000_000), (1, 1)]);
    let derived = counted(&record.total(), "PBKDF2", Operation::Kdf);
    assert_eq!(derived, (1, 32));
}

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

/// Calls libcrypto by python's ctypes.
fn python(openssl: &OpenSsl, script: &str, arguments: &[&Path]) -> String {
    Launch::new("python3")
        .unwrap()
        .with(openssl)
        .args(["-c", script])
        .args(arguments)
        .succeed()
        .unwrap()
        .output
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

/// Signs what is a hash already. (ED25519ph has two functions of one number in OpenSSL 3.5.)
const PREHASHED: &str = "
import ctypes, glob, os
crypto = ctypes.CDLL(glob.glob(os.environ['LD_LIBRARY_PATH'] + '/libcrypto.so.*')[0])
Pointer, size_t = ctypes.c_void_p, ctypes.c_size_t
for name in ['EVP_PKEY_new_raw_private_key_ex', 'EVP_SIGNATURE_fetch', 'EVP_PKEY_CTX_new_from_pkey']:
    getattr(crypto, name).restype = Pointer
for kind, bits, size in [(b'ED25519', 32, 64), (b'ED448', 57, 114)]:
    key = Pointer(crypto.EVP_PKEY_new_raw_private_key_ex(None, kind, None, b'7' * bits, size_t(bits)))
    algorithm = Pointer(crypto.EVP_SIGNATURE_fetch(None, kind + b'ph', None))
    context = Pointer(crypto.EVP_PKEY_CTX_new_from_pkey(None, key, None))
    assert crypto.EVP_PKEY_sign_init_ex2(context, algorithm, None) == 1
    signature, length = ctypes.create_string_buffer(size), size_t(size)
    hashed = (b'x' * 64, size_t(64))
    assert crypto.EVP_PKEY_sign(context, signature, ctypes.byref(length), *hashed) == 1
    print(signature.raw.hex())
    assert crypto.EVP_PKEY_verify_init_ex2(context, algorithm, None) == 1
    assert crypto.EVP_PKEY_verify(context, signature, length, *hashed) == 1
";

/// What each version offers and does is the same with a stand-in, and it is counted.
fn another_openssl(version: Version) {
    let stand = Stand::new(Place::Instead);
    let installation = version.installation().unwrap();
    let program = installation.programs.join("openssl");
    let run = |openssl: &OpenSsl, script: &str| {
        Launch::at(Path::new("/bin/sh"))
            .with(openssl)
            .env("LD_LIBRARY_PATH", &installation.libraries)
            .env("OPENSSL", &program)
            .directory(stand.workplace.path())
            .args(["-ec", script])
            .succeed()
            .unwrap()
            .output
    };
    let list = "\"$OPENSSL\" list -all-algorithms";
    let (with, without) = (run(&stand.observed, list), run(&stand.stock, list));
    let named = with.replace("observed_default", "default");
    assert_eq!(named.lines().count(), without.lines().count(), "{with}");
    run(
        &stand.observed,
        "\"$OPENSSL\" genpkey -algorithm ML-DSA-65 -out key
         \"$OPENSSL\" pkey -in key -pubout -out public
         \"$OPENSSL\" pkeyutl -sign -inkey key -rawin -in public -out signature
         \"$OPENSSL\" pkeyutl -verify -pubin -inkey public -rawin -in public -sigfile signature
         \"$OPENSSL\" genpkey -algorithm ML-KEM-768 -out kem
         \"$OPENSSL\" pkey -in kem -pubout -out kem.public
         \"$OPENSSL\" pkeyutl -encap -pubin -inkey kem.public -out sealed -secret one
         \"$OPENSSL\" pkeyutl -decap -inkey kem -in sealed -secret other
         cmp one other
         \"$OPENSSL\" dgst -sha3-256 public",
    );
    let prehashed = [&stand.stock, &stand.observed].map(|openssl| {
        Launch::new("python3")
            .unwrap()
            .with(openssl)
            .env("LD_LIBRARY_PATH", &installation.libraries)
            .args(["-c", PREHASHED])
            .succeed()
            .unwrap()
            .output
    });
    assert_eq!(prehashed[0], prehashed[1]);
    let work = Record::read(&stand.record).unwrap().total();
    for (algorithm, operation) in [
        ("ML-DSA-65", Operation::Generate),
        ("ML-DSA-65", Operation::Sign),
        ("ML-DSA-65", Operation::Verify),
        ("ML-KEM-768", Operation::Encapsulate),
        ("ML-KEM-768", Operation::Decapsulate),
        ("SHA3-256", Operation::Digest),
    ] {
        assert_eq!(
            counted(&work, algorithm, operation).0,
            1,
            "{algorithm}: {work:#?}"
        );
    }
}

#[test]
fn openssl_3_5_is_observed() {
    another_openssl(Version::V3_5);
}

#[test]
fn openssl_4_0_is_observed() {
    another_openssl(Version::V4_0);
}
