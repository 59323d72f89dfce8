//! From costs and judgements to lists.

use super::super::level::Level;
use super::super::order::{Order, by_cost};
use super::cost::{Cost, Costs};
use super::policy::{self, Judgement, Kind};
use serde::Serialize;
use std::collections::BTreeMap;

/// What to configure, each list in the order of preference.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// Key exchanges.
    pub groups: Vec<&'static str>,
    /// Cipher suites of TLS 1.3.
    pub suites: Vec<&'static str>,
    /// Cipher suites of TLS 1.2.
    pub ciphers: Vec<String>,
    /// The key for the server's certificate.
    pub certificate: Option<&'static str>,
    /// The key for a second certificate, for clients without elliptic curves.
    pub second_certificate: Option<&'static str>,
    /// Of these and of the other allowed ones: neighbours whose costs count as equal, each to the next. They
    /// stand in the order of the [`policy`]'s table.
    pub ties: BTreeMap<Kind, Vec<Vec<&'static str>>>,
}

/// Chooses among what was measured.
///
/// # Errors
/// If nothing is left of a list.
pub(super) fn advise(costs: &Costs, level: Level) -> Result<Advice, String> {
    let mut ties = BTreeMap::new();
    let mut order = |kind| {
        let order = order(costs, kind, level);
        if !order.ties.is_empty() {
            ties.insert(kind, order.ties);
        }
        order.names
    };
    let groups = order(Kind::Group);
    let suites = order(Kind::Suite);
    if groups.is_empty() || suites.is_empty() {
        return Err(format!(
            "this OpenSSL has no group or no cipher suite that level {level} allows"
        ));
    }
    let ciphers = suites
        .iter()
        .filter_map(|suite| policy::find(Kind::Suite, suite))
        .flat_map(|suite| ["ECDSA", "RSA"].map(|key| format!("ECDHE-{key}-{}", suite.detail)))
        .collect();
    let certificates = order(Kind::Certificate);
    let (rsa, elliptic): (Vec<_>, Vec<_>) = certificates
        .into_iter()
        .filter(|name| *name != "Ed25519")
        .partition(|name| name.starts_with("RSA"));
    Ok(Advice {
        groups,
        suites,
        ciphers,
        certificate: elliptic.first().copied(),
        second_certificate: rsa.first().copied(),
        ties,
    })
}

fn order(costs: &Costs, kind: Kind, level: Level) -> Order<&'static str> {
    let (mut names, mut ties) = (Vec::new(), Vec::new());
    for wanted in [Judgement::First, Judgement::In, Judgement::Last] {
        let group = policy::all(kind)
            .filter(|known| known.judge(level).0 == wanted)
            .map(|known| known.name)
            .filter(|name| costs.of(kind).any(|cost| cost.name == *name))
            .collect();
        let group = by_cost(group, |name| {
            let mut costs = costs.of(kind);
            costs.find(|cost| cost.name == *name).map(Cost::measured)
        });
        names.extend(group.names);
        ties.extend(group.ties);
    }
    Order { names, ties }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(costs: &[(Kind, &str, f64)]) -> Costs {
        let cost = |&(kind, name, seconds): &(Kind, &str, f64)| Cost {
            kind,
            name: name.into(),
            stock_seconds: 2.0 * seconds,
            outboard_seconds: Some(seconds),
            ratio: Some(2.0),
            client_seconds: seconds,
            scatter_seconds: Some([0.95 * seconds, 1.05 * seconds]),
            pairs: 5,
        };
        Costs {
            openssl: "OpenSSL 3.0.22".into(),
            costs: costs.iter().map(cost).collect(),
            post_quantum: Vec::new(),
        }
    }

    fn everything() -> Costs {
        costs(&[
            (Kind::Certificate, "P-256", 2.0),
            (Kind::Certificate, "RSA-2048", 4.0),
            (Kind::Certificate, "RSA-3072", 8.0),
            (Kind::Certificate, "Ed25519", 1.0),
            (Kind::Group, "P-256", 2.0),
            (Kind::Group, "X25519", 1.0),
            (Kind::Group, "X25519MLKEM768", 3.0),
            (Kind::Suite, "TLS_CHACHA20_POLY1305_SHA256", 3.0),
            (Kind::Suite, "TLS_AES_128_GCM_SHA256", 1.0),
        ])
    }

    #[test]
    fn the_cheapest_first_behind_what_resists_quantum_computers() {
        let advice = advise(&everything(), Level::Modern).expect("something is left");
        assert_eq!(advice.groups, ["X25519MLKEM768", "X25519", "P-256"]);
        assert_eq!(
            advice.suites,
            ["TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"]
        );
        assert_eq!(
            advice.ciphers.join(":"),
            "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:\
             ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
        );
        // Not Ed25519, however cheap: browsers don't take it. Not 112 bits, where 128 are to be had.
        assert_eq!(advice.certificate, Some("P-256"));
        assert_eq!(advice.second_certificate, Some("RSA-3072"));
    }

    #[test]
    fn what_cannot_be_told_apart_stands_as_in_the_table() {
        // As two quick runs saw it.
        for (chacha20, aes256) in [(1.03, 1.42), (1.67, 1.10)] {
            let suites = [
                (Kind::Group, "X25519", 1.0),
                (Kind::Suite, "TLS_CHACHA20_POLY1305_SHA256", chacha20),
                (Kind::Suite, "TLS_AES_256_GCM_SHA384", aes256),
                (Kind::Suite, "TLS_AES_128_GCM_SHA256", 1.2),
            ];
            let mut costs = costs(&suites);
            for cost in &mut costs.costs {
                cost.scatter_seconds = None;
            }
            let advice = advise(&costs, Level::Modern).expect("something is left");
            let table = [
                "TLS_AES_128_GCM_SHA256",
                "TLS_AES_256_GCM_SHA384",
                "TLS_CHACHA20_POLY1305_SHA256",
            ];
            assert_eq!(advice.suites, table);
            assert_eq!(
                advice.ties,
                BTreeMap::from([(Kind::Suite, vec![table.to_vec()])])
            );
        }
    }

    #[test]
    fn compatible_takes_the_cheapest_rsa_key() {
        let advice = advise(&everything(), Level::Compatible).expect("something is left");
        assert_eq!(advice.second_certificate, Some("RSA-2048"));
    }

    #[test]
    fn fips_takes_only_what_is_approved() {
        let advice = advise(&everything(), Level::Fips).expect("something is left");
        assert_eq!(advice.groups, ["X25519MLKEM768", "P-256"]);
        assert_eq!(advice.suites, ["TLS_AES_128_GCM_SHA256"]);
        let nothing = costs(&[(Kind::Group, "X25519", 1.0)]);
        advise(&nothing, Level::Fips).expect_err("nothing is left");
    }
}
