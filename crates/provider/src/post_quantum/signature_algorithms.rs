//! The capability `TLS-SIGALG`: what libssl from 3.2 on learns of ML-DSA's signatures, for certificates of servers and
//! clients. A program gets it only where the setting `post-quantum = certificates` asks for it: once there is such an
//! algorithm, libssl of 3.2.1, 3.3.2 and 3.4.1 reads past the end of its list where it meets a certificate whose key has no
//! place in it (X25519's), and the program ends (`ssl_cert_lookup_by_pkey`). OpenSSL 3.5 has that mended.

use std::ffi::{CStr, c_int};

use outboard_engine::dsa::Set;
use outboard_provider_abi::ParamList;
use outboard_provider_abi::raw::{PARAM_INTEGER, PARAM_UNSIGNED_INTEGER, Param};

use super::groups::{ANY, NEVER, TLS_1_3};
use super::lattice::Content;
use super::ml_dsa::Form;
use super::objects::OBJECTS;

/// A set's name in TLS and its number (IANA's registry of signature schemes).
const fn in_tls(set: Set) -> (&'static str, u32) {
    match set {
        Set::MlDsa44 => ("mldsa44", 0x0904),
        Set::MlDsa65 => ("mldsa65", 0x0905),
        Set::MlDsa87 => ("mldsa87", 0x0906),
    }
}

/// Gives each algorithm until the receiver answers false. Names and numbers are those of OpenSSL 3.5.
pub(crate) fn give(give: &mut dyn FnMut(*const Param) -> bool) {
    for (set, [object, ..]) in Set::ALL.into_iter().zip(OBJECTS) {
        if !params(set, object).with_array(&mut *give) {
            return;
        }
    }
}

fn params(set: Set, object: &CStr) -> ParamList {
    let (iana, number) = in_tls(set);
    let bits = u32::try_from(Form::numbers(set).security_bits).unwrap_or(u32::MAX);
    let [name, _] = Form::names(set);
    let unsigned = |list: ParamList, key, value: u32| {
        list.value(key, PARAM_UNSIGNED_INTEGER, &value.to_ne_bytes())
    };
    let version =
        |list: ParamList, key, value: c_int| list.value(key, PARAM_INTEGER, &value.to_ne_bytes());
    let list = ParamList::new()
        .text(c"tls-sigalg-iana-name", iana)
        .text(c"tls-sigalg-name", name)
        .text(c"tls-sigalg-oid", &object.to_string_lossy());
    let list = unsigned(list, c"tls-sigalg-code-point", number);
    let list = unsigned(list, c"tls-sigalg-sec-bits", bits);
    let list = version(list, c"tls-min-tls", TLS_1_3);
    let list = version(list, c"tls-max-tls", ANY);
    let list = version(list, c"tls-min-dtls", NEVER);
    version(list, c"tls-max-dtls", NEVER)
}
