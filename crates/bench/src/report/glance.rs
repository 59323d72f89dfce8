//! What one handshake, one transfer, one query costs with stock and with Outboard: the picture that answers
//! before anyone asks. Which costs are shown is decided here, not by how well they turned out.

use super::cases::{Case, cases};
use super::chart::{Pair, Shares, SharesGroup};
use super::quantity::readable;
use super::summary::{Verdict, verdict};
use crate::reference::times;
use crate::result::ResultFile;

/// Costs of one kind.
struct Group {
    heading: &'static str,
    costs: &'static [Cost],
}

/// Where a cost is found.
struct Cost {
    workload: &'static str,
    table: &'static str,
    measure: &'static str,
    /// Outboard's setup.
    setup: &'static str,
    /// Labels that distinguish the row from the table's others, by column.
    labels: &'static [(&'static str, &'static str)],
    /// What it is called.
    name: &'static str,
}

/// A full handshake of TLS 1.3 without a client's certificate.
macro_rules! handshake {
    ($server:literal, $key:literal, $setup:literal, $name:literal) => {
        Cost {
            workload: "tls",
            table: "handshakes",
            measure: "server CPU",
            setup: $setup,
            labels: &[
                ("server", $server),
                ("key", $key),
                ("protocol", "TLS 1.3"),
                ("cipher", "aes-128-gcm"),
                ("sid_cached_percent", "0"),
                ("client_authentication", "no"),
            ],
            name: $name,
        }
    };
}

/// A transfer with Outboard at both ends.
macro_rules! transfer {
    ($tool:literal, $cipher:literal, $mac:literal, $name:literal) => {
        Cost {
            workload: "ssh",
            table: $tool,
            measure: "client and server CPU",
            setup: "both",
            labels: &[("cipher", $cipher), ("mac", $mac)],
            name: $name,
        }
    };
}

/// A connection through a TLS front.
macro_rules! front {
    ($workload:literal, $table:literal, $front:literal, $labels:expr, $name:literal) => {
        Cost {
            workload: $workload,
            table: $table,
            measure: "server CPU",
            setup: "outboard",
            labels: $labels,
            name: $name,
        }
    };
}

const GROUPS: [Group; 3] = [
    Group {
        heading: "A TLS 1.3 handshake, at the server",
        costs: &[
            handshake!("nginx", "RSA-2048", "outboard", "nginx, RSA-2048"),
            handshake!("nginx", "RSA-4096", "outboard", "nginx, RSA-4096"),
            handshake!("nginx", "P-256", "outboard", "nginx, P-256"),
            handshake!("nginx", "P-384", "outboard", "nginx, P-384"),
            handshake!(
                "HAProxy",
                "RSA-2048",
                "outboard-async",
                "HAProxy (asynchronous), RSA-2048"
            ),
            handshake!("Apache", "RSA-2048", "outboard", "Apache, RSA-2048"),
        ],
    },
    Group {
        heading: "A file over SSH, at both ends",
        costs: &[
            transfer!("scp", "aes128-gcm", "-", "scp, aes128-gcm"),
            transfer!("sftp", "aes128-gcm", "-", "sftp, aes128-gcm"),
            transfer!("rsync", "aes128-gcm", "-", "rsync, aes128-gcm"),
            transfer!(
                "scp",
                "aes128-cbc",
                "hmac-sha1",
                "scp, aes128-cbc, hmac-sha1"
            ),
            transfer!("scp", "chacha20-poly1305", "-", "scp, chacha20-poly1305"),
        ],
    },
    Group {
        heading: "A kept connection, at the TLS front",
        costs: &[
            front!(
                "rampup",
                "connections",
                "HAProxy",
                &[("front", "HAProxy"), ("held", "all")],
                "HAProxy, opening it (RSA-2048)"
            ),
            front!(
                "rampup",
                "connections",
                "stunnel",
                &[("front", "stunnel"), ("held", "all")],
                "stunnel, opening it (RSA-2048)"
            ),
            front!(
                "steady",
                "transactions",
                "HAProxy",
                &[("front", "HAProxy")],
                "HAProxy, a query"
            ),
            front!(
                "steady",
                "transactions",
                "stunnel",
                &[("front", "stunnel")],
                "stunnel, a query"
            ),
        ],
    },
];

/// The picture, of the measured rows; without groups if there are none.
pub(super) fn glance(files: &[ResultFile]) -> Shares {
    let group = |group: &Group| SharesGroup {
        heading: group.heading.to_owned(),
        pairs: group
            .costs
            .iter()
            .filter_map(|cost| pair(files, cost))
            .collect(),
    };
    let groups = GROUPS.iter().map(group);
    Shares {
        title: "CPU time with stock OpenSSL and with Outboard".to_owned(),
        groups: groups.filter(|group| !group.pairs.is_empty()).collect(),
    }
}

fn pair(files: &[ResultFile], cost: &Cost) -> Option<Pair> {
    let file = files.iter().find(|file| file.workload == cost.workload)?;
    let is_it = |case: &Case<'_>| {
        let row = case.rows[0];
        let mut labels = cost.labels.iter();
        case.measure() == cost.measure && labels.all(|(name, value)| row.label(name) == *value)
    };
    let case = cases(file.table(cost.table)?).into_iter().find(is_it)?;
    let (stock, ours) = (case.row("stock")?, case.row(cost.setup)?);
    let ratio = ours.ratio.as_ref().filter(|ratio| ratio.low > 0.0)?;
    Some(Pair {
        label: cost.name.to_owned(),
        share: 1.0 / ratio.median,
        interval: (1.0 / ratio.high, 1.0 / ratio.low),
        text: format!(
            "{} → {}",
            readable(stock.median, &stock.unit),
            readable(ours.median, &ours.unit)
        ),
        ratio: times(ratio.median),
        same: verdict(ours) == Verdict::Same,
        invalid: ours.invalid.is_some(),
    })
}
