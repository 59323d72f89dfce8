//! The libssl of this process, as far as a pair needs it.

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use crate::Failure;

type Pointer = *mut c_void;

/// How a pair is to connect.
pub(super) struct Settings<'a> {
    pub(super) certificate: &'a Path,
    pub(super) key: &'a Path,
    pub(super) tls12: bool,
    pub(super) resumed: bool,
}

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $answer:ty)?;)+) => {
        #[expect(non_snake_case, reason = "OpenSSL's names")]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $answer)?,)+
        }

        impl Functions {
            fn find() -> Result<Self, Failure> {
                Ok(Self {
                    $($name: {
                        let name = concat!(stringify!($name), "\0");
                        // SAFETY: a terminated name.
                        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr().cast()) };
                        if address.is_null() {
                            return Err(format!("the system's libssl has no {}", stringify!($name)).into());
                        }
                        // SAFETY: OpenSSL's function of that name, as its headers declare it.
                        unsafe {
                            std::mem::transmute::<Pointer, unsafe extern "C" fn($($argument),*) $(-> $answer)?>(address)
                        }
                    },)+
                })
            }
        }
    };
}

functions! {
    TLS_server_method() -> Pointer;
    TLS_client_method() -> Pointer;
    SSL_CTX_new(Pointer) -> Pointer;
    SSL_CTX_free(Pointer);
    SSL_CTX_ctrl(Pointer, c_int, c_long, Pointer) -> c_long;
    SSL_CTX_set_ciphersuites(Pointer, *const c_char) -> c_int;
    SSL_CTX_set_cipher_list(Pointer, *const c_char) -> c_int;
    SSL_CTX_use_certificate_chain_file(Pointer, *const c_char) -> c_int;
    SSL_CTX_use_PrivateKey_file(Pointer, *const c_char, c_int) -> c_int;
    SSL_new(Pointer) -> Pointer;
    SSL_free(Pointer);
    SSL_set_bio(Pointer, Pointer, Pointer);
    SSL_set_accept_state(Pointer);
    SSL_set_connect_state(Pointer);
    SSL_do_handshake(Pointer) -> c_int;
    SSL_read(Pointer, Pointer, c_int) -> c_int;
    SSL_write(Pointer, *const c_void, c_int) -> c_int;
    SSL_shutdown(Pointer) -> c_int;
    SSL_get1_session(Pointer) -> Pointer;
    SSL_set_session(Pointer, Pointer) -> c_int;
    SSL_session_reused(Pointer) -> c_int;
    SSL_SESSION_free(Pointer);
    BIO_new_bio_pair(*mut Pointer, usize, *mut Pointer, usize) -> c_int;
}

/// `ssl.h`'s numbers.
const FILETYPE_PEM: c_int = 1;
const CTRL_SET_SESS_CACHE_MODE: c_int = 44;
const SESS_CACHE_OFF: c_long = 0;
const SESS_CACHE_SERVER: c_long = 2;
const CTRL_SET_GROUPS_LIST: c_int = 92;
const CTRL_SET_MIN_PROTO_VERSION: c_int = 123;
const CTRL_SET_MAX_PROTO_VERSION: c_int = 124;
const TLS1_2: c_long = 0x303;
const TLS1_3: c_long = 0x304;

/// Bytes each way, as the servers' clients exchange.
const EXCHANGE: usize = 2048;

/// A server's and a client's context, and the session that the next connection resumes.
pub(super) struct Contexts {
    f: Functions,
    server: Pointer,
    client: Pointer,
    resumed: bool,
    session: Pointer,
}

impl Contexts {
    pub(super) fn new(settings: &Settings<'_>) -> Result<Self, Failure> {
        let f = Functions::find()?;
        // SAFETY: a method lives as long as the library.
        let (server, client) = unsafe {
            (
                (f.SSL_CTX_new)((f.TLS_server_method)()),
                (f.SSL_CTX_new)((f.TLS_client_method)()),
            )
        };
        let contexts = Self {
            f,
            server,
            client,
            resumed: settings.resumed,
            session: ptr::null_mut(),
        };
        if server.is_null() || client.is_null() {
            return Err("libssl makes no context".into());
        }
        contexts.configure(settings)?;
        Ok(contexts)
    }

    fn configure(&self, settings: &Settings<'_>) -> Result<(), Failure> {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes());
        let (certificate, key) = (text(settings.certificate)?, text(settings.key)?);
        let version = if settings.tls12 { TLS1_2 } else { TLS1_3 };
        let cache = if settings.resumed {
            SESS_CACHE_SERVER
        } else {
            SESS_CACHE_OFF
        };
        let suites = c"ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384";
        // TLS 1.2 wants the curve of the certificate, too.
        let groups: &CStr = c"X25519:P-256:P-384";
        let f = &self.f;
        // SAFETY: contexts that live; terminated texts; controls with the arguments that ssl.h gives them.
        let all_set = unsafe {
            [
                (f.SSL_CTX_use_certificate_chain_file)(self.server, certificate.as_ptr()) == 1,
                (f.SSL_CTX_use_PrivateKey_file)(self.server, key.as_ptr(), FILETYPE_PEM) == 1,
                (f.SSL_CTX_set_ciphersuites)(self.client, c"TLS_AES_256_GCM_SHA384".as_ptr()) == 1,
                (f.SSL_CTX_set_cipher_list)(self.client, suites.as_ptr()) == 1,
                self.control(self.client, CTRL_SET_MIN_PROTO_VERSION, version) == 1,
                self.control(self.client, CTRL_SET_MAX_PROTO_VERSION, version) == 1,
                (f.SSL_CTX_ctrl)(
                    self.client,
                    CTRL_SET_GROUPS_LIST,
                    0,
                    groups.as_ptr().cast_mut().cast(),
                ) == 1,
            ]
        };
        self.control(self.server, CTRL_SET_SESS_CACHE_MODE, cache);
        match all_set.contains(&false) {
            true => Err("libssl refuses a setting of the pair in memory".into()),
            false => Ok(()),
        }
    }

    fn control(&self, context: Pointer, control: c_int, number: c_long) -> c_long {
        // SAFETY: a context that lives, and a control that takes a number.
        unsafe { (self.f.SSL_CTX_ctrl)(context, control, number, ptr::null_mut()) }
    }

    /// One connection: a handshake, bytes each way, its end.
    pub(super) fn connect(&mut self) -> Result<(), Failure> {
        let f = &self.f;
        let (mut at_server, mut at_client) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: both connections and the BIOs, which they own, live until they are freed at the end.
        unsafe {
            let (server, client) = ((f.SSL_new)(self.server), (f.SSL_new)(self.client));
            (f.BIO_new_bio_pair)(&raw mut at_server, 0, &raw mut at_client, 0);
            (f.SSL_set_bio)(server, at_server, at_server);
            (f.SSL_set_bio)(client, at_client, at_client);
            (f.SSL_set_accept_state)(server);
            (f.SSL_set_connect_state)(client);
            if !self.session.is_null() {
                (f.SSL_set_session)(client, self.session);
            }
            let outcome = self.talk(server, client);
            if self.resumed {
                (f.SSL_SESSION_free)(self.session);
                self.session = (f.SSL_get1_session)(client);
            }
            (f.SSL_free)(server);
            (f.SSL_free)(client);
            outcome
        }
    }

    /// # Safety
    /// Two connections that are joined.
    unsafe fn talk(&self, server: Pointer, client: Pointer) -> Result<(), Failure> {
        let f = &self.f;
        // SAFETY: by the caller's word; buffers of the lengths that are told.
        unsafe {
            let mut done = false;
            for _ in 0..10 {
                let at_client = (f.SSL_do_handshake)(client);
                done = (f.SSL_do_handshake)(server) == 1 && at_client == 1;
                if done {
                    break;
                }
            }
            if !done {
                return Err("a handshake of the pair in memory failed".into());
            }
            if !self.session.is_null() && (f.SSL_session_reused)(server) != 1 {
                return Err("a session was not resumed".into());
            }
            let mut bytes = [0; EXCHANGE];
            for (from, to) in [(client, server), (server, client)] {
                let length = EXCHANGE as c_int;
                let wrote = (f.SSL_write)(from, bytes.as_ptr().cast(), length);
                let read = (f.SSL_read)(to, bytes.as_mut_ptr().cast(), length);
                if (wrote, read) != (length, length) {
                    return Err("the pair in memory lost bytes".into());
                }
            }
            (f.SSL_shutdown)(server);
            (f.SSL_shutdown)(client);
        }
        Ok(())
    }
}

impl Drop for Contexts {
    fn drop(&mut self) {
        // SAFETY: ours, and not used any more; null is nothing to free.
        unsafe {
            (self.f.SSL_SESSION_free)(self.session);
            (self.f.SSL_CTX_free)(self.server);
            (self.f.SSL_CTX_free)(self.client);
        }
    }
}
