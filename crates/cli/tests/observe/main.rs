//! `outboard observe`, as a session at a shell: what was counted is what was done.

#[path = "../common/mod.rs"]
mod common;
mod counted;
mod records;
mod whole_system;
mod written;
