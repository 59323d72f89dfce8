//! 600 connections through a TLS front, opened one after another and kept: what each costs, whether
//! the last costs more than the first, and how much memory each holds.

use std::fs;

use super::gate::{Gate, Opened};
use super::{terminal, versions};
use crate::Failure;
use crate::proof::{Expected, Proof};
use crate::result::Row;
use crate::suite::{Measure, Options, Rounds, Session, Step, Workload};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct RampUp;

/// The number of groups of connections. Each group has its own CPU time per connection.
const GROUPS: usize = 12;

impl Workload for RampUp {
    fn name(&self) -> &'static str {
        "rampup"
    }

    fn summary(&self) -> &'static str {
        "600 connections through a TLS front, opened one after another and kept"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["haproxy", "openssl", "stunnel"]
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        let turn = 0.3 + 2e-3 * connections(options) as f64;
        let step = |gate: Gate| {
            let turns = rounds(options).measured as usize * gate.setups().len();
            Step::new(gate.name(), turns as f64 * turn)
        };
        Gate::ALL.map(step).to_vec()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        versions::record(session, &["haproxy", "openssl", "stunnel"])?;
        super::allow_files(4 * connections(session.options()) as u64 + 200)?;
        session.table(
            "connections",
            "CPU time of the server for a new connection, by the connections held",
            &["front", "held"],
        );
        session.table(
            "memory",
            "Memory of the server for a connection",
            &["front"],
        );
        session.table(
            "flatness",
            "CPU time of the last connections against that of the first",
            &["front"],
        );
        let number = connections(session.options());
        session.note(format!(
            "{number} connections with full TLS 1.3 handshakes, RSA-2048 and AES-128-GCM. The service greets \
             each connection with a screen of 1,920 bytes. Memory is the growth of the server processes' own \
             memory (RssAnon) since the first connection."
        ));
        let service = terminal::serve(session.cores.client)?;
        for gate in Gate::ALL {
            session.step(gate.name());
            measure(session, gate, service)?;
        }
        Ok(())
    }
}

fn measure(session: &mut Session<'_>, gate: Gate, service: u16) -> Result<(), Failure> {
    let setups = gate.setups();
    let mut configurations = vec![session.stock.clone()];
    for setup in &setups[1..] {
        configurations.push(session.outboard(&format!("rampup-{}-{setup}", gate.name()))?);
    }
    let all = connections(session.options());
    let rounds = rounds(session.options());
    let comparison = session.alternate(setups, rounds, |session, setup| {
        let asynchronous = setups[setup] == Gate::ASYNCHRONOUS;
        let gate = gate.open(session, &configurations[setup], asynchronous, service)?;
        let values = ramp_up(&gate, all)?;
        gate.server.stop()?;
        Ok(values)
    })?;
    let handshakes = u64::from(rounds.measured) * all as u64;
    let expected = [Gate::KEY.signature, "x25519-derive"]
        .map(|operation| Expected::operations(operation, handshakes));
    let mut proofs = vec![Proof::not_needed()];
    for configuration in &configurations[1..] {
        proofs.push(session.proof(configuration, &expected)?);
    }

    // One row for each group of connections, then their mean, the memory and the growth.
    let mut measures = vec![Measure::lower("server CPU", "s"); GROUPS + 1];
    measures.push(Measure::lower("memory per connection", "B"));
    measures.push(Measure::neither("last against first", ""));
    let rows = comparison.rows(&[("front", gate.name())], &measures, &proofs);
    let mut rows = rows.chunks(setups.len()).map(<[Row]>::to_vec);
    for group in 0..=GROUPS {
        let mut rows = rows.next().expect("rows for every measure");
        for row in &mut rows {
            row.labels.insert("held".to_owned(), held(group, all));
        }
        session.rows("connections", rows)?;
    }
    for table in ["memory", "flatness"] {
        session.rows(table, rows.next().expect("rows for every measure"))?;
    }
    Ok(())
}

/// By measure: CPU time of a connection in each group, of all of them, memory of one, and how the
/// last group compares with the first.
fn ramp_up(gate: &Opened, all: usize) -> Result<Vec<f64>, Failure> {
    // The first connections make what all share: their cost is not that of a connection.
    drop(gate.connect(10)?);
    let memory = memory(gate);
    let mut kept = Vec::with_capacity(all);
    let mut values = Vec::new();
    let start = gate.server.cpu();
    for group in 0..GROUPS {
        let number = all * (group + 1) / GROUPS - all * group / GROUPS;
        let before = gate.server.cpu();
        kept.extend(gate.connect(number)?);
        let used = gate.server.cpu().saturating_sub(before);
        values.push(used.as_secs_f64() / number as f64);
    }
    let used = gate.server.cpu().saturating_sub(start);
    let growth = values[GROUPS - 1] / values[0];
    values.push(used.as_secs_f64() / all as f64);
    let more = self::memory(gate).saturating_sub(memory);
    values.push(more as f64 / all as f64);
    values.push(growth);
    Ok(values)
}

/// The private memory of the gate's processes, in bytes.
fn memory(gate: &Opened) -> u64 {
    let mut processes = gate.server.workers();
    processes.push(gate.server.id());
    processes.into_iter().filter_map(anonymous_memory).sum()
}

/// `RssAnon` of a process, in bytes; `None` if it has gone.
fn anonymous_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// "0-49": how many connections are held while those of the group are opened.
fn held(group: usize, all: usize) -> String {
    if group == GROUPS {
        return "all".to_owned();
    }
    let (first, next) = (all * group / GROUPS, all * (group + 1) / GROUPS);
    format!("{first}-{}", next - 1)
}

fn connections(options: &Options) -> usize {
    options.pick(600, 240, 24)
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 0,
        measured: options.pick(7, 6, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_named_by_what_is_held() {
        assert_eq!(held(0, 600), "0-49");
        assert_eq!(held(11, 600), "550-599");
        assert_eq!(held(12, 600), "all");
    }

    #[test]
    fn this_process_has_memory() {
        assert!(anonymous_memory(std::process::id()).unwrap() > 10_000);
        assert_eq!(anonymous_memory(u32::MAX), None);
    }
}
