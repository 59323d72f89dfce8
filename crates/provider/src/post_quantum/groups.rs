//! The capability `TLS-GROUP`: what libssl learns of the groups.

use std::ffi::c_int;

use outboard_provider_abi::ParamList;
use outboard_provider_abi::raw::{PARAM_INTEGER, PARAM_UNSIGNED_INTEGER, Param};

use super::hybrid::Group;
use super::lattice::Content;
use super::ml_kem;

/// TLS 1.3.
pub(super) const TLS_1_3: c_int = 0x0304;
/// No highest version.
pub(super) const ANY: c_int = 0;
/// Not in DTLS.
pub(super) const NEVER: c_int = -1;

/// Gives each group until the receiver answers false. Names and numbers are those of OpenSSL 3.5.
pub(crate) fn give(give: &mut dyn FnMut(*const Param) -> bool) {
    for group in Group::ALL {
        if !params(group).with_array(&mut *give) {
            return;
        }
    }
}

fn params(group: Group) -> ParamList {
    let name = group.name().to_string_lossy();
    let number = |list: ParamList, key, value: u32| {
        list.value(key, PARAM_UNSIGNED_INTEGER, &value.to_ne_bytes())
    };
    let version =
        |list: ParamList, key, value: c_int| list.value(key, PARAM_INTEGER, &value.to_ne_bytes());
    let bits = u32::try_from(ml_kem::Form::numbers(group.set()).security_bits).unwrap_or(u32::MAX);
    let list = ParamList::new()
        .text(c"tls-group-name", &name)
        // libssl 3.0 asks a key generation for the group of this name.
        .text(c"tls-group-name-internal", &name)
        .text(c"tls-group-alg", &name);
    let list = number(list, c"tls-group-id", group.id());
    let list = number(list, c"tls-group-sec-bits", bits);
    let list = number(list, c"tls-group-is-kem", 1);
    let list = version(list, c"tls-min-tls", TLS_1_3);
    let list = version(list, c"tls-max-tls", ANY);
    let list = version(list, c"tls-min-dtls", NEVER);
    version(list, c"tls-max-dtls", NEVER)
}
