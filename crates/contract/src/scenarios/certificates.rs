//! Certificates, requests and revocation lists: made, signed, verified, printed.

use std::ffi::CStr;

use super::Scenario;
use crate::keys::{self, der};
use crate::operations::Kind;
use crate::params::hex;
use crate::transcript::{NULL, Object, Transcript, int, object, quietly};

const KEYS: [&str; 14] = [
    "rsa1024",
    "rsa2048",
    "rsa3072",
    "pss2048",
    "pss2048-sha256",
    "ec-P-224",
    "ec-P-256",
    "ec-P-384",
    "ec-P-521",
    "ec-secp256k1",
    "ec-P-256-explicit",
    "ed25519",
    "ed448",
    "dsa2048",
];

pub(super) fn scenarios() -> Vec<Scenario> {
    let all = KEYS.into_iter().map(|name| {
        Scenario::new(format!("certificates/{name}"), move |t| {
            all_of(t, name);
            chain(t, name);
        })
    });
    all.collect()
}

/// A certificate that a key has signed itself, and whether it is the same every time.
pub(super) fn certificate(t: &Transcript, name: &str, pair: Object) -> (Object, bool) {
    issue(t, c"contract", pair, c"contract", (name, pair), None)
}

/// One for a key, signed by another.
fn issue(
    t: &Transcript,
    subject: &CStr,
    key: Object,
    issuer: &CStr,
    (name, signer): (&str, Object),
    digest: Option<&CStr>,
) -> (Object, bool) {
    let certificate = Object(quietly!(t, X509_new()) as *mut _);
    quietly!(t, X509_set_version(certificate, 2));
    let serial = Object(quietly!(t, X509_get_serialNumber(certificate)) as *mut _);
    quietly!(t, ASN1_INTEGER_set(serial, 77));
    for (subject, set) in [
        (subject, "X509_set_subject_name"),
        (issuer, "X509_set_issuer_name"),
    ] {
        let title = named(t, subject);
        t.quietly(set, &[certificate.into(), title.into()]);
        quietly!(t, X509_NAME_free(title));
    }
    for (time, place) in [
        (c"20200101000000Z", "X509_getm_notBefore"),
        (c"21200101000000Z", "X509_getm_notAfter"),
    ] {
        let place = Object(t.quietly(place, &[certificate.into()]) as *mut _);
        quietly!(t, ASN1_TIME_set_string(place, time));
    }
    quietly!(t, X509_set_pubkey(certificate, key));
    // NID_basic_constraints
    let extension =
        Object(quietly!(t, X509V3_EXT_conf_nid(NULL, NULL, 87, c"critical,CA:TRUE")) as *mut _);
    quietly!(t, X509_add_ext(certificate, extension, -1));
    quietly!(t, X509_EXTENSION_free(extension));
    sign(t, "X509_sign", certificate, (name, signer), digest);
    (certificate, exact(name))
}

fn exact(name: &str) -> bool {
    matches!(Kind::of(name), Kind::Rsa | Kind::Edwards)
}

fn named(t: &Transcript, name: &CStr) -> Object {
    let title = Object(quietly!(t, X509_NAME_new()) as *mut _);
    // MBSTRING_ASC
    quietly!(
        t,
        X509_NAME_add_entry_by_txt(title, c"CN", 0x1001, name, -1, -1, 0)
    );
    title
}

/// Signs it with the digest, or with the usual one.
fn sign(
    t: &Transcript,
    function: &'static str,
    what: Object,
    (name, key): (&str, Object),
    digest: Option<&CStr>,
) -> bool {
    let usual = (Kind::of(name) != Kind::Edwards).then_some(c"SHA256");
    let md = match digest.or(usual) {
        Some(digest) => Object(quietly!(t, EVP_get_digestbyname(digest)) as *mut _).into(),
        None => NULL,
    };
    let answer = t.quiet_int(function, &[what.into(), key.into(), md]);
    // It is the signature's length, which is random.
    t.say(&format!("{function} -> {}{}", answer > 0, t.errors()));
    answer > 0
}

/// Whether a key verifies it; why not only where that is the same every time.
fn verify(t: &Transcript, function: &'static str, what: Object, key: Object, exact: bool) {
    let answer = t.quiet_int(function, &[what.into(), key.into()]);
    let errors = t.errors();
    t.say(&match exact {
        true => format!("{function} -> {answer}{errors}"),
        false => format!("{function} -> {answer}"),
    });
}

/// What is signed by the key, with each digest, and verified.
fn all_of(t: &'static Transcript, name: &'static str) {
    let pair = keys::private(t, name);
    let public = keys::public(t, name);
    let other = keys::public(t, "rsa4096");
    for digest in [
        None,
        Some(c"SHA1"),
        Some(c"SHA384"),
        Some(c"SHA512"),
        Some(c"MD5"),
        Some(c"SHA3-256"),
    ] {
        t.scene(format!("certificate {digest:?}"));
        let (certificate, exact) = issue(t, c"one", pair, c"one", (name, pair), digest);
        int!(t, X509_get_signature_nid(certificate));
        for key in [public, pair, other] {
            verify(t, "X509_verify", certificate, key, exact);
            int!(t, X509_check_private_key(certificate, key));
        }
        written(t, "i2d_X509", "X509_print", certificate, exact);
        // One changed after it was signed.
        let serial = Object(quietly!(t, X509_get_serialNumber(certificate)) as *mut _);
        quietly!(t, ASN1_INTEGER_set(serial, 78));
        quietly!(t, i2d_re_X509_tbs(certificate, NULL));
        verify(t, "X509_verify", certificate, public, exact);
        quietly!(t, X509_free(certificate));

        t.scene(format!("request {digest:?}"));
        let request = Object(quietly!(t, X509_REQ_new()) as *mut _);
        let title = named(t, c"one");
        int!(t, X509_REQ_set_subject_name(request, title));
        quietly!(t, X509_NAME_free(title));
        int!(t, X509_REQ_set_pubkey(request, pair));
        sign(t, "X509_REQ_sign", request, (name, pair), digest);
        for key in [public, other] {
            verify(t, "X509_REQ_verify", request, key, exact);
        }
        int!(t, X509_REQ_check_private_key(request, pair));
        written(t, "i2d_X509_REQ", "X509_REQ_print", request, exact);
        quietly!(t, X509_REQ_free(request));

        t.scene(format!("revocation list {digest:?}"));
        let list = Object(quietly!(t, X509_CRL_new()) as *mut _);
        quietly!(t, X509_CRL_set_version(list, 1));
        let title = named(t, c"one");
        quietly!(t, X509_CRL_set_issuer_name(list, title));
        quietly!(t, X509_NAME_free(title));
        let time = Object(quietly!(t, ASN1_TIME_new()) as *mut _);
        quietly!(t, ASN1_TIME_set_string(time, c"20200101000000Z"));
        quietly!(t, X509_CRL_set1_lastUpdate(list, time));
        quietly!(t, X509_CRL_set1_nextUpdate(list, time));
        quietly!(t, ASN1_TIME_free(time));
        sign(t, "X509_CRL_sign", list, (name, pair), digest);
        for key in [public, other] {
            verify(t, "X509_CRL_verify", list, key, exact);
        }
        written(t, "i2d_X509_CRL", "X509_CRL_print", list, exact);
        quietly!(t, X509_CRL_free(list));
    }
    // By a context with settings of its own.
    if matches!(Kind::of(name), Kind::Rsa | Kind::Pss) {
        for (padding, salt) in [(6, -1), (6, -2), (6, 20), (1, -1)] {
            t.scene(format!("padding {padding} {salt}"));
            let (certificate, _) = issue(t, c"one", pair, c"one", (name, pair), None);
            let (md, operation) =
                crate::operations::digest_init(t, "EVP_DigestSignInit_ex", Some(c"SHA256"), pair);
            int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, padding));
            int!(t, EVP_PKEY_CTX_set_rsa_pss_saltlen(operation, salt));
            let answer = t.quiet_int("X509_sign_ctx", &[certificate.into(), md.into()]);
            t.say(&format!("X509_sign_ctx -> {answer}{}", t.errors()));
            verify(t, "X509_verify", certificate, public, false);
            quietly!(t, EVP_MD_CTX_free(md));
            quietly!(t, X509_free(certificate));
        }
    }
}

/// The bytes, and the text, where they are the same every time.
fn written(t: &Transcript, write: &'static str, print: &'static str, object: Object, exact: bool) {
    let bytes = der(t, write, object);
    let errors = t.errors();
    let bio = keys::sink(t);
    let printed = t.quiet_int(print, &[bio.into(), object.into()]);
    let text = keys::written(t, bio);
    quietly!(t, BIO_free(bio));
    match exact {
        true => t.say(&format!("{} {}{errors}", hex(&bytes), hex(&text))),
        false => t.say(&format!("{} {printed}{errors}", bytes.is_empty())),
    }
    t.clear();
}

/// An authority's certificate, one that it has issued, and one that another has.
fn chain(t: &'static Transcript, name: &'static str) {
    let pair = keys::private(t, name);
    let leaf = keys::private(t, "ec-P-256");
    let stranger = keys::private(t, "rsa2048");
    for (title, signer) in [
        ("its own", (name, pair)),
        ("another's", ("rsa2048", stranger)),
    ] {
        t.scene(format!("chain {title}"));
        let (root, _) = issue(t, c"root", pair, c"root", (name, pair), None);
        let (certificate, _) = issue(t, c"leaf", leaf, c"root", signer, None);
        for level in [0, 1, 2] {
            let store = Object(quietly!(t, X509_STORE_new()) as *mut _);
            quietly!(t, X509_STORE_add_cert(store, root));
            let context = Object(quietly!(t, X509_STORE_CTX_new()) as *mut _);
            quietly!(t, X509_STORE_CTX_init(context, store, certificate, NULL));
            let param = object!(t, X509_STORE_CTX_get0_param(context));
            quietly!(t, X509_VERIFY_PARAM_set_auth_level(param, level));
            int!(t, X509_verify_cert(context));
            int!(t, X509_STORE_CTX_get_error(context));
            quietly!(t, X509_STORE_CTX_free(context));
            quietly!(t, X509_STORE_free(store));
        }
        quietly!(t, X509_free(certificate));
        quietly!(t, X509_free(root));
    }
}
