//! Names of ML-DSA's object identifiers, which libcrypto before 3.5 lacks. X.509 finds a key and a signature by them.

use std::ffi::CStr;

use outboard_provider_abi::Core;

/// Number, short and long name, as OpenSSL 3.5 has them.
pub(super) const OBJECTS: [[&CStr; 3]; 3] = [
    [c"2.16.840.1.101.3.4.3.17", c"id-ml-dsa-44", c"ML-DSA-44"],
    [c"2.16.840.1.101.3.4.3.18", c"id-ml-dsa-65", c"ML-DSA-65"],
    [c"2.16.840.1.101.3.4.3.19", c"id-ml-dsa-87", c"ML-DSA-87"],
];

/// Tells libcrypto the names, and that a signature of each kind is by a key of that kind without a digest. The table is the
/// process's: names that are there already stay.
pub(crate) fn name(core: &Core) {
    for [number, short, long] in OBJECTS {
        core.name_object(number, short, long);
        core.name_signature(short, short);
    }
}
