//! References to keys, as they stand in key files: `make service-fuzz`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outboard_wire::Reference;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(reference) = Reference::from_der(bytes) {
        assert_eq!(reference.to_der().ok().as_deref(), Some(bytes));
        // A long one has no PEM block.
        if let Ok(pem) = reference.to_pem() {
            assert_eq!(Reference::from_pem(pem.as_bytes()), Ok(reference));
        }
    }
    if let Ok(reference) = Reference::from_pem(bytes) {
        assert_eq!(
            Reference::from_der(&reference.to_der().expect("it was read")),
            Ok(reference)
        );
    }
});
