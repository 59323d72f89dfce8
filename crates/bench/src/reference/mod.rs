//! What earlier studies gained with hardware cryptography: the yardstick beside each of our results.
//!
//! The tables are data in `crates/bench/reference`, compiled in. Only ratios leave this module: with the
//! hardware against without, in one study on one machine. Absolute speeds of other machines say nothing here. The exception:
//! how many PINs and operations with keys of RSA a card did ([`pin_rates`], [`public_key_rates`]), for programs that call software in the
//! card's place.

mod card;
mod data;
mod shell;
mod tls;

use std::fmt;
use std::sync::LazyLock;

pub use card::{CardRate, PublicKeyRate, pin_rates, public_key_rates};
pub use data::Source;

/// What was measured, so that today's result can stand beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// `openssl speed` of a cipher.
    CipherSpeed,
    /// User time of the client of an `scp`.
    ScpUserTime,
    /// User time of the client of an `sftp`.
    SftpUserTime,
    /// User time of an accelerated `scp` with one MAC against another.
    Mac,
    /// Rate of an `scp` as one side or both are accelerated.
    TransferRate,
    /// CPU of `sshd` while a client downloads.
    DownloadServer,
    /// Full handshakes per second of a saturated server.
    FullHandshakes,
    /// Resumed against full handshakes per second, both without acceleration.
    Resumption,
    /// Handshakes per second without against with client authentication, both accelerated.
    ClientAuthentication,
    /// CPU of a server for one transaction with TLS.
    TransactionCpu,
    /// Transactions per second of a saturated server with TLS.
    TransactionRate,
    /// How long a user of such a server waits for a transaction.
    ResponseTime,
    /// One operation called directly against through a system's interface.
    InterfaceCost,
    /// A card with its queue full against one job at a time.
    FullQueue,
    /// Many cards against one, their queues full.
    CardScaling,
    /// CPU of a TLS server for one new connection, many being held.
    RampUp,
    /// CPU of a TLS server for one transaction on a kept connection.
    Steady,
}

impl Topic {
    /// Whether its ratios are of one task with acceleration against without; the others hold one way of working
    /// against another, whatever does the work.
    pub fn is_acceleration(self) -> bool {
        !matches!(
            self,
            Self::Mac
                | Self::Resumption
                | Self::ClientAuthentication
                | Self::InterfaceCost
                | Self::FullQueue
                | Self::CardScaling
        )
    }
}

/// One published gain.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    /// What was measured.
    pub topic: Topic,
    /// The case, in the study's words: "3des-cbc, MAC MD5".
    pub case: String,
    /// What brought it, and on what: "CPACF, z9 EC".
    pub by: String,
    /// Better against before: above 1 is a gain, below 1 a loss.
    pub ratio: f64,
    /// The author's hedge, where the figure has one: "about", "more than".
    pub hedge: &'static str,
    /// Where it was published.
    pub source: &'static Source,
}

impl fmt::Display for Gain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.hedge.is_empty() {
            write!(formatter, "{} ", self.hedge)?;
        }
        write!(formatter, "{}", times(self.ratio))
    }
}

/// Every gain that we know of, study by study.
pub fn gains() -> &'static [Gain] {
    static GAINS: LazyLock<Vec<Gain>> = LazyLock::new(|| {
        [shell::gains(), tls::gains(), card::gains()]
            .into_iter()
            .flatten()
            .collect()
    });
    &GAINS
}

/// The gains of one topic, in the order of their publication's tables.
pub fn of(topic: Topic) -> impl Iterator<Item = &'static Gain> {
    gains().iter().filter(move |gain| gain.topic == topic)
}

/// A ratio as people read it: `5.2 ×`. The blank does not break.
pub fn times(ratio: f64) -> String {
    format!("{}\u{a0}×", digits(ratio))
}

/// A ratio with as many digits as mean something: `0.98`, `1.43`, `5.2`, `32`.
pub fn digits(ratio: f64) -> String {
    match ratio {
        ..1.995 => format!("{ratio:.2}"),
        1.995..9.95 => format!("{ratio:.1}"),
        _ => format!("{ratio:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(topic: Topic, case: &str, by: &str) -> &'static Gain {
        let found: Vec<_> = of(topic)
            .filter(|gain| gain.case.contains(case) && gain.by.contains(by))
            .collect();
        assert_eq!(found.len(), 1, "{topic:?}, {case}, {by}: {found:?}");
        found[0]
    }

    fn near(left: f64, right: f64) -> bool {
        (left / right - 1.0).abs() < 0.005
    }

    /// The factors that the studies themselves put into words.
    #[test]
    fn what_the_studies_say_of_themselves_follows_from_their_tables() {
        let of = |topic, case, by| one(topic, case, by).ratio;
        // "up to 11 ×" and "up to 5 ×" on z9; "up to 9 ×" on z10 with SHA-1.
        assert!(near(
            of(Topic::ScpUserTime, "3des-cbc, MAC MD5", "z9 EC"),
            25.2 / 2.2
        ));
        assert!(near(
            of(Topic::ScpUserTime, "aes128-cbc, MAC MD5", "z9 EC"),
            9.8 / 1.9
        ));
        assert!(near(
            of(Topic::ScpUserTime, "aes128-cbc, MAC SHA-1", "z10 EC"),
            5.8 / 0.6
        ));
        // "MAC influence": 1.9 s to 1.2 s.
        assert!(near(of(Topic::Mac, "aes128-cbc", "z9 EC"), 1.9 / 1.2));
        assert!(near(
            of(Topic::CipherSpeed, "aes-128-cbc, 16 bytes", "z9 EC"),
            36_255.54 / 20_337.78
        ));
        // Cards are held against software with the same cipher and number of guests.
        assert!(near(
            of(Topic::FullHandshakes, "z/VM guests", "8 PCICA"),
            3211.0 / 197.0
        ));
        assert!(near(
            of(Topic::FullHandshakes, "System SSL", "2 CEX2C"),
            4035.0 / 283.0
        ));
        assert!(near(
            of(
                Topic::TransactionRate,
                "RSA-4096, TLS in the application",
                "2-CEX3"
            ),
            5.0
        ));
        // "14.4": software to four cards.
        assert!(near(
            of(
                Topic::FullHandshakes,
                "System SSL",
                "4 PCICA cards, z990 with 4"
            ),
            14.46
        ));
        assert!(near(
            of(
                Topic::TransactionCpu,
                "RSA-4096, TLS in the application",
                "Crypto Express3"
            ),
            6.0
        ));
        // "over 20 ms" to "under 5 ms"; "over 40 percent" less.
        for (case, ratio) in [
            ("RSA-4096, TLS in the application", 4.0),
            ("RSA-2048, TLS in the application", 1.0 / 0.6),
            ("RSA-2048, TLS in the web", 1.0 / 0.6),
        ] {
            assert!(near(of(Topic::ResponseTime, case, ""), ratio), "{case}");
        }
        assert!(near(
            of(Topic::InterfaceCost, "SHA-1 digest, 64 bytes", ""),
            2_053_465.0 / 73_093.0
        ));
        assert!(near(
            of(Topic::FullQueue, "RSA-2048 decrypt", "PCICA"),
            268.0 / 53.0
        ));
        assert!(near(
            of(Topic::CardScaling, "RSA-2048 decrypt", "12 PCICA"),
            3053.0 / 268.0
        ));
        assert!(near(of(Topic::RampUp, "", ""), 1.0 / 0.7));
    }

    #[test]
    fn every_gain_is_a_sound_number_with_a_source() {
        for gain in gains() {
            assert!(gain.ratio.is_finite() && gain.ratio > 0.0, "{gain:?}");
            assert!(!gain.case.is_empty() && !gain.by.is_empty(), "{gain:?}");
            assert!((2003..=2017).contains(&gain.source.year), "{gain:?}");
            assert!(!gain.source.locator.is_empty(), "{gain:?}");
        }
    }

    #[test]
    fn ratios_are_readable() {
        assert_eq!(digits(0.976), "0.98");
        assert_eq!(digits(1.4286), "1.43");
        assert_eq!(digits(5.157), "5.2");
        assert_eq!(digits(9.97), "10");
        assert_eq!(digits(32.2), "32");
    }
}
