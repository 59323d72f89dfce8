//! Whole programs under Outboard: the openssl command of three versions, sshd, nginx,
//! HAProxy, Apache, stunnel, curl, PostgreSQL, Python. What works without Outboard works with it, and the ledger tells what Outboard
//! did of it.
//!
//! In the environment: `OUTBOARD_TEST_STOCK=1` makes both sides stock, which tests the tests;
//! `OUTBOARD_MODULE=FILE` tests another build of the provider; `OUTBOARD_TEST_ALL=1` fails where
//! programs are missing.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod apache;
mod async_jobs;
mod clients;
mod decryption;
mod environment;
mod haproxy;
#[path = "../common/service.rs"]
mod held;
mod ml_dsa;
mod nginx;
mod openssl;
mod post_quantum;
mod postgresql;
mod recipes;
mod retries;
mod rustls;
mod service;
mod soak;
mod ssh;
mod stand;
mod stunnel;
mod valgrind;

/// Whether what takes minutes to build takes part: OpenSSL 3.2 and 3.4, and rustls (`make test-peers`).
fn builds_peers() -> bool {
    let builds = std::env::var_os("OUTBOARD_TEST_PEERS").is_some();
    if !builds {
        eprintln!("passed over: 'make test-peers' has OpenSSL 3.2 and 3.4, and rustls");
    }
    builds
}
