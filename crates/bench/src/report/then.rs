//! Then and now: what a study gained with its hardware, and what we gain in the same experiment.

use super::cases::{Case, cards, cases, is_gain, labelled, setup_name};
use super::summary::span;
use crate::reference::{self, Gain, Topic};
use crate::result::{Better, ResultFile, Row};

/// One experiment, repeated.
pub(super) struct Pairing {
    pub(super) topic: Topic,
    /// What was measured: "scp: user time of the client".
    pub(super) title: &'static str,
    pub(super) published: Vec<&'static Gain>,
    pub(super) ours: Vec<Ours>,
}

impl Pairing {
    /// The span of ours, as far as they are to be believed; or that there are none.
    pub(super) fn ours_in_words(&self) -> String {
        let believed = || self.ours.iter().filter(|ours| !ours.invalid);
        let ratios = || believed().map(|ours| ours.ratio);
        match believed().count() {
            0 if self.ours.is_empty() => "not measured".to_owned(),
            0 => "not proven".to_owned(),
            _ => span(
                ratios().fold(f64::INFINITY, f64::min),
                ratios().fold(0.0, f64::max),
            ),
        }
    }
}

/// One of our ratios.
pub(super) struct Ours {
    pub(super) label: String,
    pub(super) ratio: f64,
    /// Its interval, where it is a ratio of pairs.
    pub(super) interval: Option<(f64, f64)>,
    pub(super) invalid: bool,
}

/// A published experiment and where ours of the same kind are found.
struct Counterpart {
    workload: &'static str,
    topic: Topic,
    title: &'static str,
    /// Part of the published cases' names; empty for all.
    only: &'static str,
    ours: fn(&ResultFile) -> Vec<Ours>,
}

/// What the transfers have in common.
const SCP: Counterpart = Counterpart {
    workload: "ssh",
    topic: Topic::ScpUserTime,
    title: "",
    only: "",
    ours: |_| Vec::new(),
};

/// What the study of WebSphere measured.
const TRADING: Counterpart = Counterpart {
    workload: "trading",
    topic: Topic::TransactionRate,
    title: "",
    only: "",
    ours: |_| Vec::new(),
};

const COUNTERPARTS: &[Counterpart] = &[
    Counterpart {
        workload: "tls",
        topic: Topic::FullHandshakes,
        title: "Full handshakes per second",
        only: "",
        ours: |file| {
            gains(file, "handshakes", |row| {
                row.measure == "handshakes"
                    && is_full(row)
                    && row.label("client_authentication") != "yes"
            })
        },
    },
    Counterpart {
        workload: "tls",
        topic: Topic::TransactionCpu,
        title: "CPU of the server for one transaction",
        only: "",
        ours: |file| {
            gains(file, "handshakes", |row| {
                row.measure == "server CPU" && is_full(row)
            })
        },
    },
    Counterpart {
        workload: "tls",
        topic: Topic::TransactionRate,
        title: "Transactions per second",
        only: "",
        ours: |file| {
            gains(file, "handshakes", |row| {
                row.measure == "handshakes" && is_full(row) && row.label("key").starts_with("RSA")
            })
        },
    },
    Counterpart {
        workload: "tls",
        topic: Topic::Resumption,
        title: "Handshakes per second, resumed against full, stock",
        only: "",
        ours: |file| {
            contrasts(
                file,
                "handshakes",
                "sid_cached_percent",
                ("0", "100"),
                |row| row.measure == "handshakes" && row.setup == "stock",
            )
        },
    },
    Counterpart {
        workload: "tls",
        topic: Topic::ClientAuthentication,
        title: "Handshakes per second, without against with client authentication",
        only: "",
        ours: |file| {
            contrasts(
                file,
                "handshakes",
                "client_authentication",
                ("yes", "no"),
                |row| row.measure == "handshakes" && row.setup == "outboard" && is_full(row),
            )
        },
    },
    Counterpart {
        title: "scp: user time of the client, AES",
        only: "aes",
        ours: |file| user_times(file, "scp", |row| is_cipher(row, "aes")),
        ..SCP
    },
    Counterpart {
        title: "scp: user time of the client, triple DES",
        only: "3des",
        ours: |file| user_times(file, "scp", |row| is_cipher(row, "3des")),
        ..SCP
    },
    Counterpart {
        topic: Topic::SftpUserTime,
        title: "sftp: user time of the client, AES",
        only: "aes",
        ours: |file| user_times(file, "sftp", |row| is_cipher(row, "aes")),
        ..SCP
    },
    Counterpart {
        workload: "ssh",
        topic: Topic::Mac,
        title: "scp: user time of the client, MD5 against SHA-1",
        only: "",
        ours: |file| {
            contrasts(file, "scp", "mac", ("hmac-sha1", "hmac-md5"), |row| {
                row.measure == "user" && row.setup == "both"
            })
        },
    },
    Counterpart {
        workload: "ssh",
        topic: Topic::DownloadServer,
        title: "CPU of sshd while a client downloads",
        only: "",
        ours: |file| gains(file, "download", |_| true),
    },
    Counterpart {
        workload: "ssh",
        topic: Topic::TransferRate,
        title: "Rate of a transfer, accelerated at one end or both",
        only: "",
        ours: |file| {
            gains(file, "scp", |row| {
                row.measure == "throughput" && is_cipher(row, "aes")
            })
        },
    },
    Counterpart {
        title: "Transactions per second, TLS in the application server",
        only: "application server",
        ours: |file| trading(file, "-", "transactions"),
        ..TRADING
    },
    Counterpart {
        title: "Transactions per second, TLS in a web server in front",
        only: "web server",
        ours: |file| trading(file, "Apache", "transactions"),
        ..TRADING
    },
    Counterpart {
        topic: Topic::TransactionCpu,
        title: "CPU for one transaction, TLS in the application server",
        only: "application server",
        ours: |file| trading(file, "-", "server CPU"),
        ..TRADING
    },
    Counterpart {
        topic: Topic::TransactionCpu,
        title: "CPU for one transaction, TLS in a web server in front",
        only: "web server",
        ours: |file| trading(file, "Apache", "server CPU"),
        ..TRADING
    },
    Counterpart {
        topic: Topic::ResponseTime,
        title: "Response time, TLS in the application server",
        only: "application server",
        ours: |file| trading(file, "-", "response"),
        ..TRADING
    },
    Counterpart {
        topic: Topic::ResponseTime,
        title: "Response time, TLS in a web server in front",
        only: "web server",
        ours: |file| trading(file, "Apache", "response"),
        ..TRADING
    },
    Counterpart {
        workload: "steady",
        topic: Topic::Steady,
        title: "CPU for one transaction on a kept connection",
        only: "",
        ours: |file| gains(file, "", |row| row.measure == "server CPU"),
    },
    Counterpart {
        workload: "rampup",
        topic: Topic::RampUp,
        title: "CPU for one new connection, hundreds being held",
        only: "",
        ours: |file| {
            gains(file, "", |row| {
                row.measure == "server CPU" && row.label("held") == "all"
            })
        },
    },
    Counterpart {
        workload: "cards",
        topic: Topic::FullQueue,
        title: "RSA-2048: a card with its queue full against one job",
        only: "RSA-2048",
        ours: |file| {
            contrasts(file, "private", "jobs", ("1", "8"), |row| {
                row.measure == "rate" && row.setup == "1 card" && is_rsa_2048(row)
            })
        },
    },
    Counterpart {
        workload: "cards",
        topic: Topic::CardScaling,
        title: "RSA-2048: all cards against one, their queues full",
        only: "RSA-2048",
        ours: card_scaling,
    },
    Counterpart {
        workload: "speed",
        topic: Topic::CipherSpeed,
        title: "Ciphers, 8 or 16 KiB at a time",
        only: ", 8192 bytes",
        ours: |file| {
            gains(file, "bulk", |row| {
                matches!(row.label("bytes"), "8192" | "16384") && !is_digest(row.label("operation"))
            })
        },
    },
    Counterpart {
        workload: "speed",
        topic: Topic::CipherSpeed,
        title: "Ciphers, 16 bytes at a time",
        only: ", 16 bytes",
        ours: |file| {
            gains(file, "bulk", |row| {
                row.label("bytes") == "16" && !is_digest(row.label("operation"))
            })
        },
    },
    Counterpart {
        workload: "layers",
        topic: Topic::InterfaceCost,
        title: "Called directly against through the interface, 64 bytes",
        only: ", 64 bytes",
        ours: |file| interface_cost(file, "64"),
    },
    Counterpart {
        workload: "layers",
        topic: Topic::InterfaceCost,
        title: "Called directly against through the interface, 1 MiB",
        only: ", 1048576 bytes",
        ours: |file| interface_cost(file, "1048576"),
    },
];

/// The published experiments that this result repeats, with both sides' ratios. One whose cipher nobody
/// uses today, or whose counterpart was not run, has none of ours.
pub(super) fn pairings(file: &ResultFile) -> Vec<Pairing> {
    COUNTERPARTS
        .iter()
        .filter(|counterpart| counterpart.workload == file.workload)
        .map(|counterpart| Pairing {
            topic: counterpart.topic,
            title: counterpart.title,
            published: reference::of(counterpart.topic)
                .filter(|gain| gain.case.contains(counterpart.only))
                .collect(),
            ours: (counterpart.ours)(file),
        })
        .collect()
}

/// The rows that say what Outboard gains, of tables whose name begins so.
fn gains(file: &ResultFile, table: &str, wanted: impl Fn(&Row) -> bool) -> Vec<Ours> {
    let tables = file.tables.iter().filter(|one| one.name.starts_with(table));
    let mut ours = Vec::new();
    for case in tables.flat_map(cases) {
        for row in case.rows.iter().filter(|row| is_gain(row) && wanted(row)) {
            let Some(ratio) = &row.ratio else { continue };
            ours.push(Ours {
                label: match row.setup.as_str() {
                    "outboard" => case.label(),
                    setup => format!("{}, {}", case.label(), setup_name(setup)),
                },
                ratio: ratio.median,
                interval: Some((ratio.low, ratio.high)),
                invalid: row.invalid.is_some(),
            });
        }
    }
    ours
}

/// What the study of WebSphere compared: everything with the application server that does TLS with its own code, with a handshake for
/// each request. The results hold no ratio of Apache to the application server, so there is no interval.
fn trading(file: &ResultFile, front: &str, measure: &str) -> Vec<Ours> {
    let Some(table) = file.table("transactions") else {
        return Vec::new();
    };
    let alike = |one: &Row, other: &Row| {
        let mut columns = table.columns.iter().filter(|name| *name != "front");
        one.measure == other.measure && columns.all(|name| one.label(name) == other.label(name))
    };
    let is_ours = |row: &&Row| {
        row.measure == measure
            && row.label("front") == front
            && row.label("handshakes") == "handshake per request"
            && matches!(row.setup.as_str(), "outboard" | "outboard.jar" | "service")
    };
    let ours = |row: &Row| {
        let is_software = |other: &&Row| {
            other.setup == "stock" && other.label("front") == "-" && alike(row, other)
        };
        let software = table.rows.iter().find(is_software)?;
        let paired = row.ratio.as_ref().filter(|_| front == "-");
        let words = ["server", "key", "protocol"].map(|name| row.label(name));
        Some(Ours {
            label: format!("{}, {}", words.join(", "), setup_name(&row.setup)),
            ratio: match (paired, row.better) {
                (Some(ratio), _) => ratio.median,
                (None, Better::Lower) => software.median / row.median,
                (None, _) => row.median / software.median,
            },
            interval: paired.map(|ratio| (ratio.low, ratio.high)),
            invalid: row.invalid.is_some() || software.invalid.is_some(),
        })
    };
    table.rows.iter().filter(is_ours).filter_map(ours).collect()
}

/// What the studies of transfers compared: nothing at either end against hardware at both.
fn user_times(file: &ResultFile, tool: &str, wanted: fn(&Row) -> bool) -> Vec<Ours> {
    gains(file, tool, |row| {
        row.measure == "user" && row.setup == "both" && wanted(row)
    })
}

/// Rates of rows that differ in one label alone: the second's as a multiple of the first's. They are not
/// neighbours in time, so there is no interval.
fn contrasts(
    file: &ResultFile,
    table: &str,
    column: &str,
    (first, second): (&str, &str),
    wanted: fn(&Row) -> bool,
) -> Vec<Ours> {
    let Some(table) = file.table(table) else {
        return Vec::new();
    };
    let rows = || table.rows.iter().filter(|row| wanted(row));
    let alike = |one: &Row, other: &Row| {
        table
            .columns
            .iter()
            .all(|name| name == column || one.label(name) == other.label(name))
    };
    let mut ours = Vec::new();
    for one in rows().filter(|row| row.label(column) == first) {
        let other = rows().find(|row| row.label(column) == second && alike(one, row));
        let Some(other) = other else { continue };
        let words = table.columns.iter().filter(|name| *name != column);
        let words = words.map(|name| labelled(name, one.label(name)));
        let label: Vec<String> = words.filter(|word| !word.is_empty()).collect();
        ours.push(Ours {
            label: label.join(", "),
            ratio: other.median / one.median,
            interval: None,
            invalid: one.invalid.is_some() || other.invalid.is_some(),
        });
    }
    ours
}

/// The most cards against one, with the most jobs.
fn card_scaling(file: &ResultFile) -> Vec<Ours> {
    let Some(table) = file.table("private") else {
        return Vec::new();
    };
    let all = cases(table);
    let jobs = |case: &Case<'_>| case.place("jobs").unwrap_or(0.0);
    let fullest = all
        .iter()
        .filter(|case| case.measure() == "rate" && is_rsa_2048(case.rows[0]))
        .max_by(|left, right| jobs(left).total_cmp(&jobs(right)));
    let Some(case) = fullest else {
        return Vec::new();
    };
    let most = case.rows.iter().max_by_key(|row| cards(&row.setup));
    let (Some(one), Some(most)) = (case.row("1 card"), most) else {
        return Vec::new();
    };
    if cards(&most.setup) <= Some(1) {
        return Vec::new();
    }
    vec![Ours {
        label: format!("{}, {}", case.label(), most.setup),
        ratio: most.median / one.median,
        interval: None,
        invalid: one.invalid.is_some() || most.invalid.is_some(),
    }]
}

/// The kernel against EVP, at one length.
fn interface_cost(file: &ResultFile, bytes: &str) -> Vec<Ours> {
    let mut ours = Vec::new();
    for case in file.tables.iter().flat_map(cases) {
        let row = case.row("EVP, Outboard");
        let Some(row) = row.filter(|row| row.label("bytes") == bytes && row.measure == "rate")
        else {
            continue;
        };
        let Some(ratio) = row
            .ratio
            .as_ref()
            .filter(|ratio| ratio.baseline == "kernel")
        else {
            continue;
        };
        ours.push(Ours {
            label: case.label_without(Some("bytes")),
            ratio: 1.0 / ratio.median,
            interval: Some((1.0 / ratio.high, 1.0 / ratio.low)),
            invalid: row.invalid.is_some(),
        });
    }
    ours
}

fn is_cipher(row: &Row, cipher: &str) -> bool {
    row.label("cipher").starts_with(cipher)
}

fn is_full(row: &Row) -> bool {
    row.label("sid_cached_percent") != "100"
}

fn is_rsa_2048(row: &Row) -> bool {
    row.label("operation").starts_with("rsa-2048")
}

fn is_digest(operation: &str) -> bool {
    operation.starts_with("sha") || operation.starts_with("hmac") || operation.starts_with("md5")
}
