//! What a module in another's process owes that process, whatever interface it serves.
//!
//! ```text
//! cancellation.rs   no thread is cancelled inside
//! memory.rs         a reserve for when the system has no memory
//! ```
//!
//! [`silence`] keeps a panic from printing; that none passes the boundary is each interface's own code.

pub mod cancellation;
pub mod memory;

/// A panic prints nothing from now on: a guest is silent. This is our own copy of the standard library; the program's, if it
/// is Rust, keeps its own hook.
pub fn silence() {
    static SILENCE: std::sync::Once = std::sync::Once::new();
    SILENCE.call_once(|| std::panic::set_hook(Box::new(|_| {})));
}
