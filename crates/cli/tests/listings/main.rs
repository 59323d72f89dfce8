//! `info`, `stats`, `doctor`, help and the generated files.

#[path = "../common/mod.rs"]
mod common;
mod completion;
mod doctor;
mod help;
mod info;
mod stats;
