//! What an ssh client says from its first byte to its last: `make service-fuzz`.
//!
//! Each answer has the form of the protocol (RFC 9987).
#![no_main]

use libfuzzer_sys::fuzz_target;
use outboard_service::dry::Dry;
use std::sync::LazyLock;
use tempfile::TempDir;

static SERVICE: LazyLock<(Dry, TempDir)> = LazyLock::new(|| {
    let place = tempfile::tempdir().expect("a directory");
    (Dry::new(&place.path().join("store")), place)
});

fuzz_target!(|said: &[u8]| {
    for answer in SERVICE.0.conversation(said) {
        let (length, rest) = answer.split_first_chunk().expect("a length");
        assert_eq!(u32::from_be_bytes(*length) as usize, rest.len());
        // FAILURE, SUCCESS, IDENTITIES_ANSWER, SIGN_RESPONSE, EXTENSION_RESPONSE
        assert!(matches!(rest[0], 5 | 6 | 12 | 14 | 29));
    }
});
