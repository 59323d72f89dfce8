//! What observing costs a TLS 1.3 handshake: client and server in one process, in memory, stock and observed
//! taking turns every few milliseconds, which tells a percent apart where whole programs tell five.
//! `cargo bench -p outboard-observer --bench handshakes` (`HANDSHAKE_ROUNDS=n` for another number of turns,
//! `OUTBOARD_OBSERVER=FILE` for another build of the module).

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on ends")]

mod common;

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;
use std::time::Duration;

use common::module;
use outboard_libcrypto::{Context, Library};
use outboard_programs::{Certificate, OpenSsl, Workplace};

/// Handshakes of one side before it is the other's turn.
const TURN: usize = 4;

fn main() {
    let rounds = std::env::var("HANDSHAKE_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(1000);
    let workplace = Workplace::new().unwrap();
    let stock = OpenSsl::stock(&workplace).unwrap();
    let library = Library::open(Library::SYSTEM).unwrap();
    library.ignore_system_configuration().unwrap();
    let functions = Functions::load();
    let configuration = workplace.write("observed.cnf", observed(&workplace));
    let contexts = [
        Context::new(&library).unwrap(),
        Context::from_configuration(&library, &configuration.unwrap()).unwrap(),
    ];
    println!("CPU time observed / stock, median of {rounds} pairs [quartiles]");
    for (name, key) in [
        ("P-256", "ec -pkeyopt ec_paramgen_curve:P-256"),
        ("RSA-2048", "rsa:2048"),
    ] {
        let certificate = Certificate::generate(&workplace, &stock, name, key).unwrap();
        let sides = [0, 1].map(|side| Side::new(&functions, &contexts[side], &certificate));
        compare(name, rounds, &sides);
    }
}

fn compare(name: &str, rounds: usize, sides: &[Side; 2]) {
    let turn = |side: usize| {
        (0..TURN).fold([0.0; 2], |sum, _| {
            let [all, server] = sides[side].handshake();
            [sum[0] + all, sum[1] + server]
        })
    };
    // What is made once is made before.
    for round in 0..20 {
        turn(round % 2);
    }
    let mut ratios = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        let first = round % 2;
        let (one, other) = (turn(first), turn(1 - first));
        let (stock, observed) = if first == 0 {
            (one, other)
        } else {
            (other, one)
        };
        for (part, ratios) in ratios.iter_mut().enumerate() {
            ratios.push(observed[part] / stock[part]);
        }
    }
    for (ratios, who) in ratios.iter_mut().zip(["both sides", "the server"]) {
        ratios.sort_by(f64::total_cmp);
        let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share).round() as usize];
        println!(
            "{:6.3} [{:.3} {:.3}]  a TLS 1.3 handshake with {name}, {who}",
            at(0.5),
            at(0.25),
            at(0.75)
        );
    }
}

/// A client and a server of one library context.
struct Side<'a> {
    functions: &'a Functions,
    server: *mut c_void,
    client: *mut c_void,
}

impl<'a> Side<'a> {
    fn new(functions: &'a Functions, context: &Context, certificate: &Certificate) -> Self {
        const PEM: c_int = 1;
        const SET_SESSION_CACHE_MODE: c_int = 44;
        let path = |path: &Path| CString::new(path.as_os_str().as_bytes()).unwrap();
        let (chain, key) = (path(&certificate.certificate), path(&certificate.key));
        // SAFETY: live objects and terminated names, as SSL_CTX_new(3) and its siblings want them.
        unsafe {
            let new = |method| {
                let made = (functions.ctx_new)(context.as_ptr().cast(), std::ptr::null(), method);
                assert!(!made.is_null());
                made
            };
            let server = new((functions.server_method)());
            let client = new((functions.client_method)());
            assert_eq!((functions.use_certificate)(server, chain.as_ptr(), PEM), 1);
            assert_eq!((functions.use_key)(server, key.as_ptr(), PEM), 1);
            // Only full handshakes.
            (functions.set_tickets)(server, 0);
            (functions.ctx_control)(server, SET_SESSION_CACHE_MODE, 0, null_mut());
            Self {
                functions,
                server,
                client,
            }
        }
    }

    /// A handshake, a request and an answer; the CPU seconds of both sides and of the server's alone.
    fn handshake(&self) -> [f64; 2] {
        let f = self.functions;
        let start = cpu();
        let mut of_server = 0.0;
        // SAFETY: objects of this function alone, used as SSL_do_handshake(3) and its siblings want it.
        unsafe {
            let (server, client) = ((f.new)(self.server), (f.new)(self.client));
            let (mut one, mut other) = (null_mut(), null_mut());
            assert_eq!((f.pair)(&mut one, 0, &mut other, 0), 1);
            (f.set_bio)(server, one, one);
            (f.set_bio)(client, other, other);
            (f.accept)(server);
            (f.connect)(client);
            let (mut server_is_done, mut client_is_done) = (false, false);
            for _ in 0..10 {
                client_is_done = client_is_done || (f.shake)(client) == 1;
                let before = cpu();
                server_is_done = server_is_done || (f.shake)(server) == 1;
                of_server += cpu() - before;
                if client_is_done && server_is_done {
                    break;
                }
            }
            assert!(client_is_done && server_is_done);
            let mut message = [0_u8; 64];
            let data = message.as_mut_ptr().cast();
            assert_eq!((f.write)(client, data, 64), 64);
            let before = cpu();
            assert_eq!((f.read)(server, data, 64), 64);
            assert_eq!((f.write)(server, data, 64), 64);
            of_server += cpu() - before;
            assert_eq!((f.read)(client, data, 64), 64);
            (f.free)(client);
            let before = cpu();
            (f.free)(server);
            of_server += cpu() - before;
        }
        [cpu() - start, of_server]
    }
}

impl Drop for Side<'_> {
    fn drop(&mut self) {
        // SAFETY: made by SSL_CTX_new_ex, and no connection of theirs is left.
        unsafe {
            (self.functions.ctx_free)(self.server);
            (self.functions.ctx_free)(self.client);
        }
    }
}

/// CPU time of this thread, in seconds.
fn cpu() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: room for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32).as_secs_f64()
}

macro_rules! functions {
    ($($field:ident = $name:literal: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// What is needed of libssl.
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            fn load() -> Self {
                // SAFETY: the system's own libssl, beside the libcrypto that is measured.
                let handle = unsafe { libc::dlopen(c"libssl.so.3".as_ptr(), libc::RTLD_NOW) };
                assert!(!handle.is_null(), "libssl.so.3 is not installed");
                let symbol = |name: &CStr| {
                    // SAFETY: a valid handle and a terminated name.
                    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
                    assert!(!address.is_null(), "libssl has no {name:?}");
                    address
                };
                Self {
                    // SAFETY: the function of that name has that prototype in OpenSSL's headers.
                    $($field: unsafe {
                        std::mem::transmute::<
                            *mut c_void,
                            unsafe extern "C" fn($($argument),*) $(-> $result)?,
                        >(symbol($name))
                    },)*
                }
            }
        }
    };
}

functions! {
    ctx_new = c"SSL_CTX_new_ex": fn(*mut c_void, *const c_char, *const c_void) -> *mut c_void;
    server_method = c"TLS_server_method": fn() -> *const c_void;
    client_method = c"TLS_client_method": fn() -> *const c_void;
    use_certificate = c"SSL_CTX_use_certificate_file": fn(*mut c_void, *const c_char, c_int) -> c_int;
    use_key = c"SSL_CTX_use_PrivateKey_file": fn(*mut c_void, *const c_char, c_int) -> c_int;
    set_tickets = c"SSL_CTX_set_num_tickets": fn(*mut c_void, usize) -> c_int;
    ctx_control = c"SSL_CTX_ctrl": fn(*mut c_void, c_int, c_long, *mut c_void) -> c_long;
    ctx_free = c"SSL_CTX_free": fn(*mut c_void);
    new = c"SSL_new": fn(*mut c_void) -> *mut c_void;
    free = c"SSL_free": fn(*mut c_void);
    pair = c"BIO_new_bio_pair": fn(*mut *mut c_void, usize, *mut *mut c_void, usize) -> c_int;
    set_bio = c"SSL_set_bio": fn(*mut c_void, *mut c_void, *mut c_void);
    accept = c"SSL_set_accept_state": fn(*mut c_void);
    connect = c"SSL_set_connect_state": fn(*mut c_void);
    shake = c"SSL_do_handshake": fn(*mut c_void) -> c_int;
    read = c"SSL_read": fn(*mut c_void, *mut c_void, c_int) -> c_int;
    write = c"SSL_write": fn(*mut c_void, *const c_void, c_int) -> c_int;
}

/// A configuration that observes.
fn observed(workplace: &Workplace) -> String {
    format!(
        "openssl_conf = openssl_init\n[openssl_init]\nproviders = provider_sections\n\
         [provider_sections]\nobserved_default = observed_section\n\
         [observed_section]\nmodule = {}\nrecord = {}\nactivate = 1\n",
        module().display(),
        workplace.join("record").display()
    )
}
