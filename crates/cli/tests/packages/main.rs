//! Servers as their Debian packages run them: on a machine of the test's own, which systemd boots, by the packages' own units
//! and configurations with the least change, under stock and under Outboard.
//!
//! Only root may have such a machine: for others the tests are passed over. `OUTBOARD_CYCLES=200` (`make packages-stress`)
//! makes the loads longer.

#[path = "../common/mod.rs"]
mod common;

mod card_service;
mod hardening;
mod house;
mod java;
mod servers;
mod under_load;
