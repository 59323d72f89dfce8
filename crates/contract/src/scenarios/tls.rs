//! TLS in memory: handshakes of each version, key and group, resumption, clients' certificates, and what goes wrong.

use std::ffi::{CStr, CString};

use super::Scenario;
use super::certificates::certificate;
use crate::keys;
use crate::transcript::{NULL, Object, Transcript, int, quietly};

const TLS_1_2: i64 = 0x303;
const TLS_1_3: i64 = 0x304;
const GROUPS: [&CStr; 6] = [
    c"X25519",
    c"P-256",
    c"P-384",
    c"P-521",
    c"X448",
    c"ffdhe2048",
];
const SERVERS: [&str; 8] = [
    "rsa2048", "rsa4096", "pss2048", "ec-P-256", "ec-P-384", "ec-P-521", "ed25519", "ed448",
];

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = Vec::new();
    for server in SERVERS {
        all.push(Scenario::new(format!("tls/{server}"), move |t| {
            for version in [TLS_1_2, TLS_1_3] {
                for group in GROUPS {
                    t.scene(format!("{version:#x} {}", group.to_string_lossy()));
                    let ends = Ends::new(t, version, server);
                    ends.prefer(group);
                    let connection = ends.connect(None);
                    connection.talk();
                }
            }
        }));
    }
    all.push(Scenario::new("tls/resumption", resumption));
    all.push(Scenario::new("tls/clients", clients));
    all.push(Scenario::new("tls/refused", refused));
    all.push(Scenario::new("tls/tampered", tampered));
    all
}

/// The contexts of a client and a server that trusts itself.
struct Ends<'a> {
    t: &'a Transcript,
    client: Object,
    server: Object,
}

/// A client and a server in one process.
struct Connection<'a> {
    t: &'a Transcript,
    client: Object,
    server: Object,
}

impl<'a> Ends<'a> {
    fn new(t: &'a Transcript, version: i64, key: &str) -> Self {
        let context = || {
            let method = quietly!(t, TLS_method());
            let context = Object(quietly!(t, SSL_CTX_new(method)) as *mut _);
            // SSL_CTRL_SET_MIN_PROTO_VERSION and MAX
            quietly!(t, SSL_CTX_ctrl(context, 123, version, NULL));
            quietly!(t, SSL_CTX_ctrl(context, 124, version, NULL));
            context
        };
        let (client, server) = (context(), context());
        let pair = keys::private(t, key);
        let (certificate, _) = certificate(t, key, pair);
        int!(t, SSL_CTX_use_certificate(server, certificate));
        int!(t, SSL_CTX_use_PrivateKey(server, pair));
        int!(t, SSL_CTX_check_private_key(server));
        let store = Object(quietly!(t, SSL_CTX_get_cert_store(client)) as *mut _);
        quietly!(t, X509_STORE_add_cert(store, certificate));
        // SSL_VERIFY_PEER
        quietly!(t, SSL_CTX_set_verify(client, 1, NULL));
        quietly!(t, SSL_CTX_set_session_id_context(server, c"contract", 8));
        quietly!(t, X509_free(certificate));
        quietly!(t, EVP_PKEY_free(pair));
        Self { t, client, server }
    }

    /// That group first, and the curves that certificates have.
    fn prefer(&self, group: &CStr) {
        let list = format!("{}:P-256:P-384:P-521", group.to_string_lossy());
        let list = CString::new(list).unwrap_or_default();
        self.groups(&list, &list);
    }

    fn groups(&self, client: &CStr, server: &CStr) {
        // SSL_CTRL_SET_GROUPS_LIST
        int!(self.t, SSL_CTX_ctrl(self.client, 92, 0, client));
        int!(self.t, SSL_CTX_ctrl(self.server, 92, 0, server));
    }

    /// A handshake, with a session of before.
    fn connect(&self, session: Option<Object>) -> Connection<'a> {
        let connection = self.begin(session);
        connection.shake_hands(|_, _| ());
        connection
    }

    fn begin(&self, session: Option<Object>) -> Connection<'a> {
        let t = self.t;
        let end = |context: Object| {
            let ssl = Object(quietly!(t, SSL_new(context)) as *mut _);
            quietly!(t, SSL_set_bio(ssl, keys::sink(t), keys::sink(t)));
            ssl
        };
        let (client, server) = (end(self.client), end(self.server));
        quietly!(t, SSL_set_connect_state(client));
        quietly!(t, SSL_set_accept_state(server));
        if let Some(session) = session {
            int!(t, SSL_set_session(client, session));
        }
        Connection { t, client, server }
    }
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        quietly!(self.t, SSL_CTX_free(self.client));
        quietly!(self.t, SSL_CTX_free(self.server));
    }
}

impl Connection<'_> {
    /// Until neither end has anything to say. `change` sees each flight: of which end, and its bytes.
    fn shake_hands(&self, mut change: impl FnMut(bool, &mut Vec<u8>)) {
        let t = self.t;
        for _ in 0..4 {
            for (end, other, of_client) in [
                (self.client, self.server, true),
                (self.server, self.client, false),
            ] {
                let answer = int!(t, SSL_do_handshake(end));
                let error = quietly!(t, SSL_get_error(end, answer)) as i32;
                t.say(&format!("error {error}"));
                let mut flight = self.sent(end);
                change(of_client, &mut flight);
                self.give(other, &flight);
            }
        }
        t.text("SSL_get_version", &[self.client.into()]);
        let cipher = Object(quietly!(t, SSL_get_current_cipher(self.client)) as *mut _);
        t.say(&format!(
            "{:?}",
            t.text_quietly("SSL_CIPHER_get_name", &[cipher.into()])
        ));
        for end in [self.client, self.server] {
            // SSL_CTRL_GET_NEGOTIATED_GROUP
            int!(t, SSL_ctrl(end, 134, 0, NULL));
            int!(t, SSL_session_reused(end));
            int!(t, SSL_get_verify_result(end));
            for function in [
                "SSL_get_peer_signature_type_nid",
                "SSL_get_signature_type_nid",
            ] {
                let mut kind = -7_i32;
                t.int(function, &[end.into(), (&mut kind).into()]);
                t.say(&format!("signature type {kind}"));
            }
        }
        let secrets = [self.client, self.server].map(|end| {
            let mut secret = vec![0_u8; 32];
            int!(
                t,
                SSL_export_keying_material(
                    end,
                    &mut secret,
                    32_usize,
                    c"EXPORTER-x",
                    10_usize,
                    NULL,
                    0,
                    0
                )
            );
            secret
        });
        t.say(&format!("the same secret {}", secrets[0] == secrets[1]));
    }

    /// Data both ways, in records of different sizes, and the end.
    fn talk(&self) {
        let t = self.t;
        let data: Vec<u8> = (0..40_000).map(|index| index as u8).collect();
        for (end, other) in [(self.client, self.server), (self.server, self.client)] {
            for length in [1, 100, 16_384, 16_385, 40_000] {
                let written = quietly!(t, SSL_write(end, &data, length as i32)) as i32;
                let flight = self.sent(end);
                self.give(other, &flight);
                let mut got = Vec::new();
                loop {
                    let mut piece = vec![0; 20_000];
                    let read = quietly!(t, SSL_read(other, &mut piece, 20_000)) as i32;
                    if read <= 0 {
                        break;
                    }
                    got.extend_from_slice(&piece[..read as usize]);
                }
                t.say(&format!(
                    "{written} written, {} read, the same {}{}",
                    got.len(),
                    got == data[..length],
                    t.errors()
                ));
            }
        }
        // SSL_key_update and a record under the new key; TLS 1.3 alone.
        int!(t, SSL_key_update(self.client, 1));
        quietly!(t, SSL_write(self.client, &data, 10));
        let flight = self.sent(self.client);
        self.give(self.server, &flight);
        let mut piece = vec![0; 100];
        int!(t, SSL_read(self.server, &mut piece, 100));
        for (end, other) in [(self.client, self.server), (self.server, self.client)] {
            int!(t, SSL_shutdown(end));
            let flight = self.sent(end);
            self.give(other, &flight);
        }
    }

    fn sent(&self, end: Object) -> Vec<u8> {
        let bio = Object(quietly!(self.t, SSL_get_wbio(end)) as *mut _);
        let mut out = Vec::new();
        loop {
            let piece = keys::written(self.t, bio);
            if piece.is_empty() {
                return out;
            }
            out.extend(piece);
        }
    }

    fn give(&self, end: Object, flight: &[u8]) {
        let bio = Object(quietly!(self.t, SSL_get_rbio(end)) as *mut _);
        if !flight.is_empty() {
            quietly!(self.t, BIO_write(bio, flight, flight.len() as i32));
        }
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        quietly!(self.t, SSL_free(self.client));
        quietly!(self.t, SSL_free(self.server));
        self.t.clear();
    }
}

fn resumption(t: &'static Transcript) {
    for version in [TLS_1_2, TLS_1_3] {
        for server in ["rsa2048", "ec-P-256", "ed25519"] {
            for group in [c"X25519", c"P-256", c"P-384"] {
                t.scene(format!("{version:#x} {server} {}", group.to_string_lossy()));
                let ends = Ends::new(t, version, server);
                ends.prefer(group);
                let first = ends.connect(None);
                first.talk();
                let session = Object(quietly!(t, SSL_get1_session(first.client)) as *mut _);
                drop(first);
                let again = ends.connect(Some(session));
                again.talk();
                quietly!(t, SSL_SESSION_free(session));
            }
        }
    }
}

/// The client has a certificate, or should have one; the server trusts it, or does not.
fn clients(t: &'static Transcript) {
    for version in [TLS_1_2, TLS_1_3] {
        for client in [
            "", "rsa2048", "pss2048", "ec-P-256", "ec-P-384", "ed25519", "rsa1024", "ec-P-224",
        ] {
            for trusted in [true, false] {
                t.scene(format!("{version:#x} {client} {trusted}"));
                let ends = Ends::new(t, version, "ec-P-256");
                // SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
                quietly!(t, SSL_CTX_set_verify(ends.server, 3, NULL));
                if !client.is_empty() {
                    let pair = keys::private(t, client);
                    let (certificate, _) = certificate(t, client, pair);
                    int!(t, SSL_CTX_use_certificate(ends.client, certificate));
                    int!(t, SSL_CTX_use_PrivateKey(ends.client, pair));
                    if trusted {
                        let store =
                            Object(quietly!(t, SSL_CTX_get_cert_store(ends.server)) as *mut _);
                        quietly!(t, X509_STORE_add_cert(store, certificate));
                    }
                    quietly!(t, X509_free(certificate));
                    quietly!(t, EVP_PKEY_free(pair));
                }
                ends.connect(None);
            }
        }
    }
}

/// Handshakes that find nothing in common.
fn refused(t: &'static Transcript) {
    for version in [TLS_1_2, TLS_1_3] {
        for server in [
            "rsa2048",
            "rsa1024",
            "ec-P-224",
            "ec-secp256k1",
            "ec-P-256-explicit",
            "ed25519",
        ] {
            t.scene(format!("{version:#x} {server}"));
            Ends::new(t, version, server).connect(None);
            t.scene(format!("{version:#x} {server}, no group in common"));
            let ends = Ends::new(t, version, server);
            ends.groups(c"X25519", c"P-384");
            ends.connect(None);
            t.scene(format!(
                "{version:#x} {server}, another group at the second attempt"
            ));
            let ends = Ends::new(t, version, server);
            ends.groups(c"X25519:P-384", c"P-384");
            ends.connect(None);
            for algorithms in [
                c"ECDSA+SHA384",
                c"RSA+SHA256",
                c"rsa_pss_rsae_sha512",
                c"ed25519",
            ] {
                t.scene(format!("{version:#x} {server}, {algorithms:?}"));
                let ends = Ends::new(t, version, server);
                // SSL_CTRL_SET_SIGALGS_LIST
                int!(t, SSL_CTX_ctrl(ends.client, 98, 0, algorithms));
                ends.connect(None);
            }
        }
        for group in [c"nonsense", c"X25519:nonsense", c"", c"?nonsense:X25519"] {
            t.scene(format!("{version:#x} {group:?}"));
            let ends = Ends::new(t, version, "ec-P-256");
            ends.groups(group, group);
            ends.connect(None);
        }
    }
}

/// A byte of a flight is changed on its way.
fn tampered(t: &'static Transcript) {
    for version in [TLS_1_2, TLS_1_3] {
        for group in [c"X25519", c"P-256"] {
            // Key shares, signatures, the end of Finished: places whose bytes are checked, not parsed.
            for (of_client, number, from_end) in [
                (true, 0, 1),
                (false, 0, 1),
                (false, 0, 40),
                (true, 1, 1),
                (true, 1, 60),
            ] {
                t.scene(format!(
                    "{version:#x} {group:?} {of_client} {number} {from_end}"
                ));
                // What a changed signature of RSA decrypts to is another thing in every run, and so is the reason to refuse it.
                let ends = Ends::new(t, version, "ed25519");
                ends.groups(group, group);
                let connection = ends.begin(None);
                let mut flights = 0;
                connection.shake_hands(|client, flight| {
                    if client != of_client || flight.is_empty() {
                        return;
                    }
                    let length = flight.len();
                    if flights == number && length > from_end {
                        flight[length - from_end] ^= 1;
                    }
                    flights += 1;
                });
            }
        }
    }
}
