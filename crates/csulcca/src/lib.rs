//! The C library of CCA verbs, `libcsulcca.so`: what programs link that call IBM's Common Cryptographic Architecture.
//!
//! ```text
//! program ──▶ CSNBPTR(…)  ──▶ call ──▶ arguments  pointers in, bytes out; the only unsafe code
//!              verbs.txt                  ├─▶ message    the coprocessor's request, and its answer
//!              (build.rs)                 └─▶ service    the card service, which carries the verb out
//! ```
//!
//! `verbs.txt` has the parameters of each verb, in the published order. From it come the exported functions, the table that
//! [`call`] goes by, and the header `include/csulincl.h` (`tests/table.rs`).

mod arguments;
mod call;
mod header;
mod list;
mod message;
mod service;
mod sizes;

use std::ffi::{c_long, c_void};

use call::{call, unknown};

pub use header::header;

#[global_allocator]
static ALLOCATOR: outboard_guest::memory::Allocator = outboard_guest::memory::Allocator::new();

/// A verb that is exported.
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    /// Those after the exit data.
    pub(crate) parameters: &'static [Parameter],
}

/// A parameter: a pointer.
pub(crate) struct Parameter {
    /// As the request or the reply names it.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
}

/// Whether a parameter goes in, out, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    In,
    Out,
    Both,
}

/// What a parameter leads to. Other parameters are named by their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing that matters.
    Unused,
    /// A `long`.
    Number(Way),
    /// So many bytes.
    Fixed(Way, usize),
    /// As many bytes as a number says; of an output, with room for so many more.
    Sized(Way, usize, usize),
    /// Bytes whose number the rule array says.
    ByRules(Way, &'static str),
    /// As many keywords of eight bytes as a number says.
    Keywords(Way, usize),
    /// Labels of 64 bytes, at most as many as a number says.
    Labels(usize),
    /// The name of a file with labels, at most as long as a number says.
    List(usize),
}

impl Way {
    pub(crate) fn is_in(self) -> bool {
        self != Self::Out
    }

    pub(crate) fn is_out(self) -> bool {
        self != Self::In
    }
}

include!(concat!(env!("OUT_DIR"), "/functions.rs"));
