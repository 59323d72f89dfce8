//! The module, as a program has it.

#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod asynchronous;
pub(crate) mod calls;
pub(crate) mod lattices;
pub(crate) mod raw;

use std::path::PathBuf;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::session::Session;
use cryptoki::slot::Slot;

/// The module, which cargo builds beside its tests.
fn token() -> PathBuf {
    let test = std::env::current_exe().expect("a process knows its program");
    let module = test.with_file_name("liboutboard_pkcs11.so");
    assert!(module.exists(), "cargo builds {}", module.display());
    module
}

/// The module of this process, initialised.
pub(crate) fn module() -> Pkcs11 {
    let module = Pkcs11::new(token()).expect("it is a module");
    let arguments = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
    // Another test of this process may have done so.
    let _ = module.initialize(arguments);
    module
}

/// The slot that computes in the program's process.
pub(crate) fn accelerator(module: &Pkcs11) -> Slot {
    let slots = module.get_slots_with_token().expect("it has slots");
    let is_it = |slot: &&Slot| slot.id() == 1;
    *slots.iter().find(is_it).expect("an accelerator")
}

pub(crate) fn session() -> Session {
    let module = module();
    let slot = accelerator(&module);
    module.open_rw_session(slot).expect("a session")
}
