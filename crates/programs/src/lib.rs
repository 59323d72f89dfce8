//! Real programs on loopback: each with its own temporary configuration, killed and removed on
//! every way out.
//!
//! ```text
//! Workplace   a temporary directory: keys, configurations, files
//! OpenSsl     what a program's libcrypto reads: stock, or with Outboard and its own ledger
//! Launch      a program to start: arguments, OpenSsl, the core it is held to
//!   ├─ finish → Finished   ran to its end: status, output, CPU time of its whole tree
//!   └─ start  → Process    a server: killed with its tree when dropped
//! Sshd, Nginx              servers made of the above
//! HaProxyOptions, ApacheOptions, StunnelOptions, SServerOptions
//!   └─ start  → Server     servers that are driven alike
//! Machine     this system booted in namespaces of its own: the packages' own units and configurations
//! child       a fork of the test itself; sandbox: what it may ask of the system
//! ```
//!
//! Knows nothing of the engine: everything is observed from outside.

mod apache;
mod card_service;
pub mod child;
mod cleanup;
mod cpu;
mod error;
mod haproxy;
mod launch;
mod machine;
mod nginx;
mod openssl;
mod postgresql;
mod process;
mod s_server;
pub mod sandbox;
mod search;
mod server;
mod sshd;
mod stunnel;
mod trading;
mod tree;
mod workplace;

use std::time::Duration;

/// How long a program is waited for that is expected to do what it is asked at once: only a program
/// that never will may be given up, on the busiest machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub use apache::{ApacheOptions, ApacheWorkers, front_of};
pub use card_service::CardService;
pub use cleanup::{clean_up_on_signals, clean_up_on_signals_then, without_interruption};
pub use cpu::{Cores, cpu_time_of, cpu_time_of_ended_children, hold_to};
pub use error::Error;
pub use haproxy::{HaProxyMode, HaProxyOptions};
pub use launch::Launch;
pub use machine::Machine;
pub use nginx::{Certificate, Nginx, NginxOptions};
pub use openssl::{Offer, OpenSsl, Outboard};
pub use postgresql::{PostgreSql, PostgreSqlOptions};
pub use process::{Finished, Process};
pub use s_server::SServerOptions;
pub use search::{Program, all_installed, find, missing};
pub use server::Server;
pub use sshd::{Sshd, SshdOptions};
pub use stunnel::StunnelOptions;
pub use trading::{Trading, TradingKey, TradingOptions};
pub use tree::{descendants, kill_tree};
pub use workplace::{Workplace, free_port};
