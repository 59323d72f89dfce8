//! The ledger as processes and readers use it: many processes, forks, sandboxes, hostile files.

mod hostile;
mod processes;
mod readers;
mod sandbox;
mod support;
mod tallies;
