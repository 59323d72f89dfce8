//! How a process begins and ends: objects that are freed after OpenSSL has cleaned up, threads, forks, and what is in the
//! environment.

use std::sync::OnceLock;

use super::Scenario;
use super::key::generate;
use crate::keys;
use crate::operations::{self, MESSAGE};
use crate::transcript::{NULL, Object, Transcript, int, quietly};

/// What is left to be freed: the function that frees it, and the object.
type Left = Vec<(&'static str, Object)>;
/// Makes it.
type Make = fn(&Transcript) -> Left;

/// What the handler at the end frees.
static LEFT: OnceLock<Kept> = OnceLock::new();

struct Kept(&'static Transcript, Left);

// SAFETY: used by the one thread that ends the process, after it was set.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

extern "C" fn free_what_is_left() {
    if let Some(Kept(t, left)) = LEFT.get() {
        for (free, object) in left {
            t.quietly(free, &[(*object).into()]);
            t.say(&format!("{free} at the end"));
        }
    }
}

const OBJECTS: &[(&str, Make)] = &[
    ("keys", |t| {
        let names = [
            "rsa2048", "rsa1024", "pss2048", "ec-P-256", "x25519", "ed25519",
        ];
        names
            .iter()
            .map(|name| ("EVP_PKEY_free", keys::private(t, name)))
            .collect()
    }),
    ("used-keys", |t| {
        let names = [
            "rsa2048", "rsa1024", "pss2048", "ec-P-256", "x25519", "ed25519",
        ];
        let all = names.iter().map(|name| {
            let key = keys::private(t, name);
            operations::works(t, name, key);
            ("EVP_PKEY_free", key)
        });
        all.collect()
    }),
    ("generated-keys", |t| {
        vec![
            ("EVP_PKEY_free", generate(t, c"EC", Some("P-256"))),
            ("EVP_PKEY_free", generate(t, c"X25519", None)),
            ("EVP_PKEY_free", generate(t, c"ED25519", None)),
        ]
    }),
    ("operations", |t| {
        let mut left = Left::new();
        for name in ["rsa2048", "rsa1024", "pss2048", "ec-P-256", "ed25519"] {
            let operation = operations::context(t, keys::private(t, name));
            int!(t, EVP_PKEY_sign_init(operation));
            left.push(("EVP_PKEY_CTX_free", operation));
        }
        for name in ["ec-P-256", "x25519"] {
            let operation = operations::context(t, keys::private(t, name));
            int!(t, EVP_PKEY_derive_init(operation));
            left.push(("EVP_PKEY_CTX_free", operation));
        }
        for name in [c"EC", c"RSA", c"X25519"] {
            let operation =
                Object(quietly!(t, EVP_PKEY_CTX_new_from_name(NULL, name, NULL)) as *mut _);
            int!(t, EVP_PKEY_keygen_init(operation));
            left.push(("EVP_PKEY_CTX_free", operation));
        }
        left
    }),
    ("messages", |t| {
        let mut left = Left::new();
        for (name, digest) in [
            ("rsa2048", Some(c"SHA256")),
            ("ec-P-256", Some(c"SHA256")),
            ("rsa2048", Some(c"MD5")),
            ("ed25519", None),
        ] {
            let (md, _) =
                operations::digest_init(t, "EVP_DigestSignInit_ex", digest, keys::private(t, name));
            if digest.is_some() {
                int!(t, EVP_DigestSignUpdate(md, MESSAGE, MESSAGE.len()));
            }
            left.push(("EVP_MD_CTX_free", md));
        }
        left
    }),
    ("ciphers", |t| {
        let mut left = Left::new();
        for name in [c"AES-128-GCM", c"AES-256-GCM", c"AES-128-CBC"] {
            let cipher = Object(quietly!(t, EVP_CIPHER_fetch(NULL, name, NULL)) as *mut _);
            let context = Object(quietly!(t, EVP_CIPHER_CTX_new()) as *mut _);
            int!(
                t,
                EVP_CipherInit_ex2(context, cipher, &[1; 32], &[2; 16], 1, NULL)
            );
            left.push(("EVP_CIPHER_CTX_free", context));
            left.push(("EVP_CIPHER_free", cipher));
        }
        left
    }),
    ("algorithms", |t| {
        vec![
            (
                "EVP_KEYMGMT_free",
                Object(quietly!(t, EVP_KEYMGMT_fetch(NULL, c"EC", NULL)) as *mut _),
            ),
            (
                "EVP_KEYMGMT_free",
                Object(quietly!(t, EVP_KEYMGMT_fetch(NULL, c"RSA", NULL)) as *mut _),
            ),
            (
                "EVP_SIGNATURE_free",
                Object(quietly!(t, EVP_SIGNATURE_fetch(NULL, c"RSA", NULL)) as *mut _),
            ),
            (
                "EVP_KEYEXCH_free",
                Object(quietly!(t, EVP_KEYEXCH_fetch(NULL, c"ECDH", NULL)) as *mut _),
            ),
        ]
    }),
    ("library-contexts", |t| {
        let mut left = Left::new();
        for _ in 0..2 {
            let context = Object(quietly!(t, OSSL_LIB_CTX_new()) as *mut _);
            let file = std::env::var("OPENSSL_CONF").unwrap_or_default();
            let file = std::ffi::CString::new(file).unwrap_or_default();
            int!(t, OSSL_LIB_CTX_load_config(context, file.as_ptr()));
            operations::works(
                t,
                "ec-P-256",
                keys::private_in(t, context.into(), "ec-P-256"),
            );
            left.push(("OSSL_LIB_CTX_free", context));
        }
        left
    }),
    ("tls", |t| {
        let method = quietly!(t, TLS_method());
        let context = Object(quietly!(t, SSL_CTX_new(method)) as *mut _);
        let connection = Object(quietly!(t, SSL_new(context)) as *mut _);
        t.say(&format!("{} {}", context.is_null(), connection.is_null()));
        vec![("SSL_free", connection), ("SSL_CTX_free", context)]
    }),
    ("errors", |t| {
        // An error of each kind of operation was raised and told.
        for name in ["rsa2048", "ec-P-256"] {
            let operation = operations::context(t, keys::public(t, name));
            int!(t, EVP_PKEY_sign_init(operation));
            operations::produce(
                t,
                "EVP_PKEY_sign",
                operation,
                Some(1024),
                &operations::hashed(32),
                true,
            );
            operations::free(t, operation);
        }
        vec![("EVP_PKEY_free", keys::private(t, "rsa2048"))]
    }),
];

/// Values of OpenSSL's variable for the processor's features. The last four say of features that it may lack that they
/// are there, but none that OpenSSL uses.
const FEATURES: [&str; 9] = [
    "~0x200000200000000",
    ":~0x20000000",
    "~0x1000000000000000",
    "",
    "nonsense",
    ":0x4000",
    ":0x4",
    ":|0x4000",
    "|0x400",
];

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = Vec::new();
    for &(name, make) in OBJECTS {
        // After OPENSSL_cleanup: our handler is registered before OpenSSL's.
        all.push(Scenario::new(
            format!("end/after-cleanup/{name}"),
            move |t| {
                // SAFETY: a function without arguments.
                unsafe { libc::atexit(free_what_is_left) };
                t.scene("before");
                let left = make(t);
                t.scene("after");
                let _ = LEFT.set(Kept(t, left));
            },
        ));
        // And before it.
        all.push(Scenario::new(
            format!("end/before-cleanup/{name}"),
            move |t| {
                t.scene("before");
                let left = make(t);
                // SAFETY: a function without arguments.
                unsafe { libc::atexit(free_what_is_left) };
                t.scene("after");
                let _ = LEFT.set(Kept(t, left));
            },
        ));
        all.push(Scenario::new(
            format!("end/cleanup-by-hand/{name}"),
            move |t| {
                t.scene("before");
                let left = make(t);
                t.scene("after");
                quietly!(t, OPENSSL_cleanup());
                for (free, object) in left {
                    t.quietly(free, &[object.into()]);
                    t.say(free);
                }
            },
        ));
        all.push(Scenario::new(format!("end/in-a-thread/{name}"), move |t| {
            t.scene("in a thread");
            let shared = Kept(t, Left::new());
            let thread = std::thread::spawn(move || {
                let shared = shared;
                let left = make(shared.0);
                for (free, object) in left {
                    shared.0.quietly(free, &[object.into()]);
                }
            });
            t.say(&format!("{}", thread.join().is_ok()));
        }));
        all.push(Scenario::new(
            format!("end/exit-in-a-thread/{name}"),
            move |t| {
                t.scene("in a thread");
                let shared = Kept(t, Left::new());
                let thread = std::thread::spawn(move || {
                    let shared = shared;
                    make(shared.0);
                    std::process::exit(7);
                });
                let _ = thread.join();
            },
        ));
        all.push(Scenario::new(format!("end/fork/{name}"), move |t| {
            t.scene("before");
            make(t);
            fork(t, "after", |t| _ = make(t));
            t.scene("again in the parent");
            make(t);
        }));
    }
    all.push(Scenario::new("end/fork/first-use", |t| {
        fork(t, "in the child", |t| {
            operations::works(t, "rsa2048", keys::private(t, "rsa2048"));
        });
        t.scene("in the parent");
        operations::works(t, "rsa2048", keys::private(t, "rsa2048"));
    }));
    for (index, value) in FEATURES.into_iter().enumerate() {
        let scenario = Scenario::new(format!("features/{index}"), |t| {
            t.scene("works");
            for name in ["rsa2048", "ec-P-256", "ec-P-384", "x25519", "ed25519"] {
                operations::works(t, name, keys::private(t, name));
            }
            generate(t, c"EC", Some("P-256"));
        });
        all.push(scenario.with("OPENSSL_ia32cap", value));
    }
    all
}

/// Runs that in a child, and tells how the child ends.
fn fork(t: &'static Transcript, scene: &str, body: impl Fn(&'static Transcript)) {
    t.scene(scene);
    // SAFETY: this process has one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        body(t);
        std::process::exit(3);
    }
    let mut status = 0;
    // SAFETY: our own child.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    t.say(&format!("the child ends with {status:#x}"));
}
