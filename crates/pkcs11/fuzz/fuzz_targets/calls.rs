//! Calls of all functions of the PKCS #11 module, one after the other: `make token-fuzz`.
//!
//! Each is answered, none with `CKR_GENERAL_ERROR`, and none writes beyond the room that it is given.
#![no_main]

#[path = "../../tests/attacker/mod.rs"]
mod attacker;

/// What the attacker knows of the tests.
mod common {
    pub(crate) mod calls {
        /// The functions of the newest version.
        pub(crate) type Functions = cryptoki_sys::CK_FUNCTION_LIST_3_2;
    }
}

use std::ptr::null_mut;
use std::sync::LazyLock;

use attacker::Attacker;
use common::calls::Functions;
use cryptoki_sys::*;
use libfuzzer_sys::fuzz_target;

static FUNCTIONS: LazyLock<&'static Functions> = LazyLock::new(|| {
    // SAFETY: this process has one thread yet. No service, and nobody's ledger.
    unsafe {
        std::env::set_var(
            "OUTBOARD_PKCS11",
            "service=/nonexistent, ledger=/nonexistent/ledger",
        )
    };
    let mut found = null_mut();
    // SAFETY: a place for the interface, whose table is there as long as the module.
    unsafe {
        let code = outboard_pkcs11::C_GetInterface(null_mut(), null_mut(), &raw mut found, 0);
        assert_eq!(code, CKR_OK);
        &*(*found).pFunctionList.cast()
    }
});

fuzz_target!(|bytes: &[u8]| {
    let functions = *FUNCTIONS;
    let (begin, end) = (functions.C_Initialize, functions.C_Finalize);
    // SAFETY: both may be called at any time.
    let code = unsafe { begin.expect("it has all functions")(null_mut()) };
    assert_eq!(code, CKR_OK);
    let mut attacker = Attacker::led_by(functions, bytes);
    while !attacker.is_done() {
        attacker.call();
    }
    // Before what its calls may still write to is freed; a call may have ended it already.
    // SAFETY: as above.
    let code = unsafe { end.expect("it has all functions")(null_mut()) };
    assert!([CKR_OK, CKR_CRYPTOKI_NOT_INITIALIZED].contains(&code));
});
