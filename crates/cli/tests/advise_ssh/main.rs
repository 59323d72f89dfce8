//! `outboard advise ssh` on configurations of its own, with the system's own ssh and sshd.

#[path = "../common/mod.rs"]
mod common;
mod measured;
mod refused;
mod system;
mod upgraded;
mod written;
