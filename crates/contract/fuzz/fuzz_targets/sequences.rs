//! Sequences of calls that the fuzzer chooses, without Outboard and with it: see the contract's `sequences`.
//!
//! `make contract-fuzz-guided`. Outboard is part of this program, so that the fuzzer sees what a sequence reaches in it.
//! `OUTBOARD_FUZZ_CONFIGURATIONS` is the directory of `stock.cnf` and `ours.cnf`.
#![no_main]

use std::ffi::c_void;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use outboard_contract::sequences::Worlds;

/// One for the process, which makes one sequence after the other.
struct Shared(Worlds);

// SAFETY: libFuzzer runs its target on one thread.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

fn worlds() -> &'static Worlds {
    static WORLDS: OnceLock<Shared> = OnceLock::new();
    let open = || {
        let directory = std::env::var("OUTBOARD_FUZZ_CONFIGURATIONS").unwrap_or(".".into());
        let init: *const c_void = outboard::OSSL_provider_init as *const c_void;
        let [stock, ours] = ["stock", "ours"].map(|name| format!("{directory}/{name}.cnf"));
        Shared(Worlds::open("libcrypto.so.3", &stock, &ours, Some(init)).expect("two worlds"))
    };
    &WORLDS.get_or_init(open).0
}

fuzz_target!(|data: &[u8]| {
    if let Some(difference) = worlds().difference(data) {
        // Outboard silences panics.
        eprintln!("{difference}");
        std::process::abort();
    }
});
