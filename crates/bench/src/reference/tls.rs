//! TLS: handshakes on the z990 (2005), WebSphere on z196 (2013), the z/VM TLS server (2017).

use serde::Deserialize;

use super::data::{Prose, Table, published};
use super::{Gain, Topic};

pub(super) fn gains() -> Vec<Gain> {
    let mut gains = Vec::new();
    for (library, table) in [
        (
            "System SSL",
            published!("z990-2005-ssl-systemssl-2084-304-pcica.csv"),
        ),
        (
            "System SSL",
            published!("z990-2005-ssl-systemssl-2084-316.csv"),
        ),
        (
            "OpenSSL on Linux",
            published!("z990-2005-ssl-linux-native.csv"),
        ),
        (
            "System SSL",
            published!("z990-2005-ssl-systemssl-2084-304-pcixcc.csv"),
        ),
        (
            "System SSL",
            published!("z990-2005-ga4-ssl-systemssl-2084-304.csv"),
        ),
        (
            "OpenSSL on Linux, z/VM guests",
            published!("z990-2005-ssl-linux-zvm-guests.csv"),
        ),
    ] {
        gains.extend(handshakes(library, &table));
    }
    gains.extend(websphere());
    gains.extend(websphere_rates());
    gains.extend(websphere_responses());
    gains.extend(kept_connections());
    gains
}

#[derive(Deserialize)]
struct Handshakes {
    cps: u32,
    /// Linux under z/VM: how many systems shared the processors.
    #[serde(default)]
    guests: u32,
    #[serde(default)]
    sid_cached_percent: u32,
    pkd_in: String,
    #[serde(alias = "features")]
    cards: u32,
    cipher: String,
    #[serde(default)]
    client_authentication: String,
    etr_handshakes_s: f64,
}

/// Software against cards; and what resumption and client authentication did to the rate.
fn handshakes(library: &str, table: &Table) -> Vec<Gain> {
    let rows: Vec<Handshakes> = table.rows();
    let gain = |topic, case: String, by: String, ratio| Gain {
        topic,
        case,
        by,
        ratio,
        hedge: "",
        source: table.source(),
    };
    let mut gains = Vec::new();
    for row in &rows {
        let before = rows.iter().find(|other| {
            (other.cps, other.guests, &other.cipher) == (row.cps, row.guests, &row.cipher)
                && other.cards
                    == if row.client_authentication == "yes" {
                        row.cards
                    } else {
                        0
                    }
                && other.sid_cached_percent == 0
                && other.client_authentication != "yes"
        });
        let Some(before) = before else { continue };
        let case = format!("{library}, RSA-1024, {}", row.cipher);
        let machine = format!("z990 with {} processors", row.cps);
        let cards = format!("{} {}s, {machine}", row.cards, row.pkd_in);
        let ratio = row.etr_handshakes_s / before.etr_handshakes_s;
        if row.client_authentication == "yes" {
            gains.push(gain(Topic::ClientAuthentication, case, cards, 1.0 / ratio));
        } else if row.sid_cached_percent == 100 {
            gains.push(gain(Topic::Resumption, case, machine, ratio));
        } else if row.cards > 0 {
            gains.push(gain(Topic::FullHandshakes, case, cards, ratio));
        }
    }
    gains
}

#[derive(Deserialize)]
struct Cost {
    rsa_key_bits: u32,
    qualifier: String,
    value: f64,
    relative_to: String,
}

/// A stock trading application over HTTPS: CPU per transaction. Printed as a share for RSA-2048 ("nearly
/// 0.5") and as a factor for RSA-4096 ("more than 6").
fn websphere() -> Vec<Gain> {
    [
        (
            "application server",
            published!("was-2013-fig11-cpu-cost-rsa2048.csv"),
        ),
        (
            "application server",
            published!("was-2013-fig14-cpu-cost-rsa4096.csv"),
        ),
        (
            "web server",
            published!("was-2013-fig17-cpu-cost-rsa2048-ihs.csv"),
        ),
        (
            "web server",
            published!("was-2013-fig20-cpu-cost-rsa4096-ihs.csv"),
        ),
    ]
    .into_iter()
    .flat_map(|(place, table)| {
        let rows: Vec<Cost> = table.rows();
        rows.into_iter().map(move |row| Gain {
            topic: Topic::TransactionCpu,
            case: format!(
                "RSA-{}, TLS in the {place}, against {}",
                row.rsa_key_bits, row.relative_to
            ),
            by: "Crypto Express3 and CPACF, z196".to_owned(),
            ratio: if row.value < 1.0 {
                1.0 / row.value
            } else {
                row.value
            },
            hedge: if row.qualifier == "more than" {
                "more than"
            } else {
                "nearly"
            },
            source: table.source(),
        })
    })
    .collect()
}

#[derive(Deserialize)]
struct Throughput {
    rsa_key_bits: u32,
    crypto_setup: String,
    metric: String,
    qualifier: String,
    value: f64,
    unit: String,
    relative_to: String,
}

/// The same application: transactions per second of the whole machine, where they are printed as a factor.
fn websphere_rates() -> Vec<Gain> {
    [
        (
            "application server",
            published!("was-2013-fig10-throughput-rsa2048.csv"),
        ),
        (
            "application server",
            published!("was-2013-fig13-throughput-rsa4096.csv"),
        ),
        (
            "web server",
            published!("was-2013-fig16-throughput-rsa2048-ihs.csv"),
        ),
        (
            "web server",
            published!("was-2013-fig19-throughput-rsa4096-ihs.csv"),
        ),
    ]
    .into_iter()
    .flat_map(|(place, table)| {
        let rows: Vec<Throughput> = table.rows();
        let factors = rows.into_iter().filter(|row| {
            row.metric == "throughput" && row.unit == "x" && row.relative_to.ends_with("Software")
        });
        factors.map(move |row| Gain {
            topic: Topic::TransactionRate,
            case: format!("RSA-{}, TLS in the {place}", row.rsa_key_bits),
            by: format!("{}, z196", row.crypto_setup),
            ratio: row.value,
            hedge: match row.qualifier.as_str() {
                "more than" => "more than",
                "about" => "about",
                _ => "nearly",
            },
            source: table.source(),
        })
    })
    .collect()
}

#[derive(Deserialize)]
struct Response {
    rsa_key_bits: u32,
    crypto_setup: String,
    value: f64,
    unit: String,
}

/// The same application: how long its users wait. Printed as a reduction ("more than 40 percent") for RSA-2048, and as a time without
/// and one with the hardware ("above 20 ms", "below 5 ms") for RSA-4096.
fn websphere_responses() -> Vec<Gain> {
    let of = |place: &str, table: Table| {
        let rows: Vec<Response> = table.rows();
        let is_time = |row: &&Response| row.unit == "ms";
        let (software, hardware): (Vec<_>, Vec<_>) = rows
            .iter()
            .filter(is_time)
            .partition(|row| row.crypto_setup.ends_with("Software"));
        let ratio = match (software.as_slice(), hardware.as_slice()) {
            ([software], [hardware]) => software.value / hardware.value,
            _ => 1.0 / (1.0 - rows[0].value / 100.0),
        };
        Gain {
            topic: Topic::ResponseTime,
            case: format!("RSA-{}, TLS in the {place}", rows[0].rsa_key_bits),
            by: "Crypto Express3 and CPACF, z196".to_owned(),
            ratio,
            hedge: "more than",
            source: table.source(),
        }
    };
    vec![
        of(
            "application server",
            published!("was-2013-fig12-response-time-rsa2048.csv"),
        ),
        of(
            "application server",
            published!("was-2013-fig15-response-time-rsa4096.csv"),
        ),
        of(
            "web server",
            published!("was-2013-fig18-response-time-rsa2048-ihs.csv"),
        ),
        of(
            "web server",
            published!("was-2013-fig21-response-time-rsa4096-ihs.csv"),
        ),
    ]
}

fn kept_connections() -> Vec<Gain> {
    let table = published!("zvm-2017-prose-figures.csv");
    let rows: Vec<Prose> = table.rows();
    rows.iter()
        .filter_map(|row| {
            let change = row.value / 100.0;
            let (topic, ratio, by) = if row.metric.contains("per new connection") {
                (Topic::RampUp, 1.0 / (1.0 - change), "Crypto Express5S, z13")
            } else if row.metric.starts_with("SSL server CPU") {
                (Topic::Steady, 1.0 / (1.0 + change), "CPACF, zEC12")
            } else {
                return None;
            };
            Some(Gain {
                topic,
                case: format!("{}, {}", row.subject, row.condition),
                by: by.to_owned(),
                ratio,
                hedge: "",
                source: table.source(),
            })
        })
        .collect()
}
