//! Cards and the interfaces before them: the z990's tables (2005).

use serde::Deserialize;

use super::data::{Table, published};
use super::{Gain, Topic};

pub(super) fn gains() -> Vec<Gain> {
    let mut gains = Vec::new();
    gains.extend(cards(&published!("z990-2005-pcica-pka.csv")));
    gains.extend(cards(&published!("z990-2005-pcixcc-pka.csv")));
    for (native, interface) in [
        (
            published!("z990-2005-cpacf-native-sha1.csv"),
            published!("z990-2005-cpacf-icsf-sha1.csv"),
        ),
        (
            published!("z990-2005-cpacf-native-des-cbc-encipher.csv"),
            published!("z990-2005-cpacf-icsf-des-cbc-encipher.csv"),
        ),
        (
            published!("z990-2005-cpacf-native-tdes-cbc-encipher.csv"),
            published!("z990-2005-cpacf-icsf-tdes-cbc-encipher.csv"),
        ),
    ] {
        gains.extend(interfaces(&native, &interface));
    }
    gains
}

/// How often a card did an operation with keys and PINs.
#[derive(Clone, Debug, Deserialize)]
pub struct CardRate {
    /// The card.
    pub device: String,
    /// How many jobs called it.
    pub jobs: u32,
    /// The operation, as the study names it.
    pub operation: String,
    /// In each second.
    pub ops_s: f64,
}

/// The study's tables of keys and PINs, PCIXCC and CEX2C.
pub fn pin_rates() -> Vec<CardRate> {
    let mut rates: Vec<CardRate> = published!("z990-2005-pcixcc-symmetric-divers.csv").rows();
    rates.extend(published!("z990-2005-ga4-cex2c-symmetric-divers.csv").rows::<CardRate>());
    rates
}

/// How often a card did an operation with a key of RSA.
#[derive(Clone, Debug, Deserialize)]
pub struct PublicKeyRate {
    /// The card.
    pub device: String,
    /// How many jobs called it.
    pub jobs: u32,
    /// The operation, as the study names it: PKD, PKE, DSG, DSV, SYI.
    pub operation: String,
    /// Whether a private key had the numbers of the Chinese remainder theorem: CRT or ME.
    pub key_format: String,
    /// The size of the key.
    pub key_bits: u32,
    /// In each second.
    pub ops_s: f64,
}

/// The study's table of public keys, PCIXCC beside CEX2C.
pub fn public_key_rates() -> Vec<PublicKeyRate> {
    published!("z990-2005-ga4-pka.csv").rows()
}

#[derive(Deserialize)]
struct Rate {
    device: String,
    cards: u32,
    jobs: u32,
    operation: String,
    key_format: String,
    key_bits: u32,
    ops_s: f64,
}

impl Rate {
    /// Today's word for the operation; of the private ones only those with CRT, as keys are today.
    fn name(&self) -> Option<&'static str> {
        match (self.operation.as_str(), self.key_format.as_str()) {
            ("PKD", "CRT") => Some("decrypt"),
            ("DSG", "CRT") => Some("sign"),
            ("PKE", _) => Some("encrypt"),
            ("DSV", _) => Some("verify"),
            _ => None,
        }
    }
}

/// One job against a full queue on one card; one card against the most.
fn cards(table: &Table) -> Vec<Gain> {
    let rows: Vec<Rate> = table.rows();
    let mut gains = Vec::new();
    for full in rows.iter().filter(|row| row.cards == 1 && row.jobs > 1) {
        let Some(name) = full.name() else { continue };
        let same = |row: &&Rate| {
            (&row.operation, &row.key_format, row.key_bits)
                == (&full.operation, &full.key_format, full.key_bits)
        };
        let gain = |topic, by, ratio| Gain {
            topic,
            case: format!("RSA-{} {name}", full.key_bits),
            by,
            ratio,
            hedge: "",
            source: table.source(),
        };
        if let Some(one) = rows.iter().filter(same).find(|row| row.jobs == 1) {
            let by = format!("{} jobs on one {}, z990", full.jobs, full.device);
            gains.push(gain(Topic::FullQueue, by, full.ops_s / one.ops_s));
        }
        if let Some(most) = rows.iter().filter(same).max_by_key(|row| row.cards) {
            let by = format!("{} {}s, z990", most.cards, full.device);
            gains.push(gain(Topic::CardScaling, by, most.ops_s / full.ops_s));
        }
    }
    gains
}

#[derive(Deserialize)]
struct Called {
    operation: String,
    data_length_bytes: u32,
    ops_s: f64,
}

/// How many times more operations the instruction did than the interface, at each length.
fn interfaces(native: &Table, interface: &Table) -> Vec<Gain> {
    let native: Vec<Called> = native.rows();
    let called: Vec<Called> = interface.rows();
    native
        .iter()
        .filter_map(|native| {
            let called = called
                .iter()
                .find(|called| called.data_length_bytes == native.data_length_bytes)?;
            Some(Gain {
                topic: Topic::InterfaceCost,
                case: format!("{}, {} bytes", native.operation, native.data_length_bytes),
                by: "CPACF directly against ICSF, z990".to_owned(),
                ratio: native.ops_s / called.ops_s,
                hedge: "",
                source: interface.source(),
            })
        })
        .collect()
}
