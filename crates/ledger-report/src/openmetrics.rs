//! The counters as OpenMetrics text, for Prometheus and its relatives: `outboard stats --openmetrics`.
//!
//! node_exporter's textfile collector reads it from a file, so a scrape needs no port and no daemon of Outboard's. Names,
//! labels and units follow the OpenMetrics specification, version 1.0.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::fs;
use std::os::unix::fs::MetadataExt;

use outboard_administration::{MasterState, Status};
use outboard_ledger::{Counts, Queueing};

use crate::{Ledgers, parties};
use outboard_accounts::{self as accounts, Account};
use outboard_inspect::card_service::{Answer, Usage};

/// The word for all that is not told apart.
pub const OTHERS: &str = "(others)";

/// What a family of metrics is.
#[derive(Clone, Copy)]
enum Kind {
    Counter,
    Gauge,
}

/// A family: all its samples stand together.
struct Family {
    name: &'static str,
    kind: Kind,
    help: &'static str,
    samples: Vec<(String, String)>,
}

/// The families, in their order.
#[derive(Default)]
struct Metrics(Vec<Family>);

impl Metrics {
    fn add(
        &mut self,
        (name, kind, help): (&'static str, Kind, &'static str),
        labels: &[(&str, &str)],
        value: impl Display,
    ) {
        let sample = (text_of(labels), value.to_string());
        match self.0.iter_mut().find(|family| family.name == name) {
            Some(family) => family.samples.push(sample),
            None => self.0.push(Family {
                name,
                kind,
                help,
                samples: vec![sample],
            }),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for Family {
            name,
            kind,
            help,
            samples,
        } in &self.0
        {
            let (kind, suffix) = match kind {
                Kind::Counter => ("counter", "_total"),
                Kind::Gauge => ("gauge", ""),
            };
            text += &format!("# TYPE {name} {kind}\n# HELP {name} {help}\n");
            for (labels, value) in samples {
                let _ = writeln!(text, "{name}{suffix}{labels} {value}"); // into a string: never fails
            }
        }
        text + "# EOF\n"
    }
}

/// `{user="www-data",program="nginx"}`; nothing for no labels.
fn text_of(labels: &[(&str, &str)]) -> String {
    let label = |(name, value): &(&str, &str)| {
        let value = value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        format!("{name}=\"{value}\"")
    };
    match labels.iter().map(label).collect::<Vec<_>>().join(",") {
        labels if labels.is_empty() => labels,
        labels => format!("{{{labels}}}"),
    }
}

/// All that ledgers and the card service count.
pub fn text(ledgers: &Ledgers, service: &Answer, usage: &Answer<Usage>) -> String {
    use Kind::{Counter, Gauge};
    let mut metrics = Metrics::default();
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    let build = (
        "outboard_build",
        Gauge,
        "The installed version of Outboard.",
    );
    metrics.add(build, &version, 1);
    // One line for each user and program: whatever becomes of processes, it only grows.
    let mut programs: BTreeMap<(String, String), (usize, Counts)> = BTreeMap::new();
    for (path, snapshot) in ledgers {
        let owner = fs::metadata(path).ok().map(|file| file.uid());
        let user = owner.map_or_else(String::new, |uid| accounts::name(Account::User, uid));
        for party in parties(snapshot) {
            let key = (user.clone(), party.program);
            let (running, counts) = programs.entry(key).or_default();
            *running += party.running;
            counts.add(&party.counts);
        }
    }
    for ((user, program), (running, counts)) in &programs {
        let who = [("user", user.as_str()), ("program", program.as_str())];
        let processes = (
            "outboard_processes",
            Gauge,
            "Running processes that counted.",
        );
        metrics.add(processes, &who, running);
        for row in counts.rows() {
            let (operation, path) = (row.operation.name(), row.path.name());
            let labels = [&who[..], &[("operation", operation), ("path", path)]].concat();
            let operations = ("outboard_operations", Counter, "Operations by path.");
            metrics.add(operations, &labels, row.work.operations);
            if row.work.bytes > 0 {
                let bytes = (
                    "outboard_operation_bytes",
                    Counter,
                    "Bytes that operations worked on.",
                );
                metrics.add(bytes, &labels, row.work.bytes);
            }
            if let Some(nanoseconds) = row.work.estimated_nanoseconds() {
                let help = "Clock time of operations, inferred from those that were timed.";
                let seconds = ("outboard_operation_seconds", Counter, help);
                metrics.add(seconds, &labels, in_seconds(nanoseconds));
            }
        }
        for fallback in counts.fallback_rows() {
            let (operation, reason) = (fallback.operation.name(), fallback.reason.name());
            let labels = [&who[..], &[("operation", operation), ("reason", reason)]].concat();
            let help = "Operations that did not take the fastest path, by reason.";
            metrics.add(
                ("outboard_fallbacks", Counter, help),
                &labels,
                fallback.count,
            );
        }
        for (operation, work) in counts.queueing_rows() {
            let labels = [&who[..], &[("operation", operation.name())]].concat();
            queueing(&mut metrics, &labels, work);
        }
    }
    service_metrics(&mut metrics, service);
    if let Some(usage) = usage.told() {
        key_metrics(&mut metrics, usage);
    }
    metrics.text()
}

fn queueing(metrics: &mut Metrics, labels: &[(&str, &str)], work: &Queueing) {
    use Kind::Counter;
    let batches = (
        "outboard_card_batches",
        Counter,
        "Batches that cards ran in the lanes.",
    );
    metrics.add(batches, labels, work.batches);
    let requests = (
        "outboard_card_requests",
        Counter,
        "Requests that cards answered.",
    );
    for (lanes, number) in [("yes", work.in_lanes), ("no", work.one_by_one)] {
        let labels = [labels, &[("lanes", lanes)]].concat();
        metrics.add(requests, &labels, number);
    }
}

/// What the card service says, if this user may ask.
fn service_metrics(metrics: &mut Metrics, service: &Answer) {
    use Kind::{Counter, Gauge};
    let up = (
        "outboard_service_up",
        Gauge,
        "Whether the card service answers.",
    );
    let status: &Status = match service {
        Answer::Up(status) => status,
        // There is none, or it is none of this user's business.
        Answer::NoDirectory | Answer::Refused => return,
        Answer::Down | Answer::Silent | Answer::Strange(_) => return metrics.add(up, &[], 0),
    };
    metrics.add(up, &[], 1);
    let open = u8::from(matches!(status.master.state, MasterState::Open));
    for (family, value) in [
        (
            (
                "outboard_service_open",
                Gauge,
                "Whether it has its master key.",
            ),
            u64::from(open),
        ),
        (
            ("outboard_service_keys", Gauge, "Keys in its store."),
            status.keys,
        ),
        (
            (
                "outboard_service_connections",
                Gauge,
                "Programs that are connected.",
            ),
            status.connections,
        ),
        (
            (
                "outboard_service_refused",
                Counter,
                "Requests that it refused.",
            ),
            status.served.refused,
        ),
    ] {
        metrics.add(family, &[], value);
    }
    let operations = (
        "outboard_service_operations",
        Counter,
        "Operations that it did.",
    );
    let in_lanes = status.served.in_lanes;
    for (lanes, number) in [
        ("yes", in_lanes),
        ("no", status.served.done.saturating_sub(in_lanes)),
    ] {
        metrics.add(operations, &[("lanes", lanes)], number);
    }
}

/// Who used which key, as far as this user may know. By process there would be samples without end.
fn key_metrics(metrics: &mut Metrics, usage: &Usage) {
    use Kind::{Counter, Gauge};
    for key in &usage.keys {
        for row in &key.users {
            let user = row.uid.map(|uid| accounts::name(Account::User, uid));
            let labels = [
                ("key", key.name.as_str()),
                ("operation", row.operation.as_deref().unwrap_or(OTHERS)),
                ("user", user.as_deref().unwrap_or(OTHERS)),
            ];
            let help = "Operations with a key of the card service.";
            let operations = ("outboard_service_key_operations", Counter, help);
            metrics.add(operations, &labels, row.used.count);
            let help = "Requests for a key of the card service that it refused.";
            let refused = ("outboard_service_key_refused", Counter, help);
            metrics.add(refused, &labels, row.used.refused);
            let help = "The last request for a key of the card service, in seconds since 1970.";
            let last = ("outboard_service_key_last_use_seconds", Gauge, help);
            metrics.add(last, &labels, row.used.last);
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "microseconds are enough for years"
)]
fn in_seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        let labels = [("program", "a\"b\\c\nd"), ("user", "me")];
        assert_eq!(text_of(&labels), r#"{program="a\"b\\c\nd",user="me"}"#);
        assert_eq!(text_of(&[]), "");
    }

    #[test]
    fn a_family_stands_together_and_the_end_is_told() {
        let mut metrics = Metrics::default();
        let (first, second) = (("a", Kind::Counter, "A."), ("b", Kind::Gauge, "B."));
        metrics.add(first, &[("x", "1")], 1);
        metrics.add(second, &[], 2.5);
        metrics.add(first, &[("x", "2")], 3);
        let expected = "# TYPE a counter\n# HELP a A.\na_total{x=\"1\"} 1\na_total{x=\"2\"} 3\n\
                        # TYPE b gauge\n# HELP b B.\nb 2.5\n# EOF\n";
        assert_eq!(metrics.text(), expected);
    }
}
