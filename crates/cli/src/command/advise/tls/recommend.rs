//! From costs and judgements to lists.

use super::super::level::Level;
use super::super::pairs::by_cost;
use super::cost::Costs;
use super::policy::{self, Judgement, Kind};
use serde::Serialize;

/// What to configure, each list in the order of preference.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Advice {
    /// Key exchanges.
    pub(crate) groups: Vec<&'static str>,
    /// Cipher suites of TLS 1.3.
    pub(crate) suites: Vec<&'static str>,
    /// Cipher suites of TLS 1.2.
    pub(crate) ciphers: Vec<String>,
    /// The key for the server's certificate.
    pub(crate) certificate: Option<&'static str>,
    /// The key for a second certificate, for clients without elliptic curves.
    pub(crate) second_certificate: Option<&'static str>,
}

/// Chooses among what was measured.
///
/// # Errors
/// If nothing is left of a list.
pub(crate) fn advise(costs: &Costs, level: Level) -> Result<Advice, String> {
    let groups = order(costs, Kind::Group, level);
    let suites = order(costs, Kind::Suite, level);
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
    let certificates = order(costs, Kind::Certificate, level);
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
    })
}

fn order(costs: &Costs, kind: Kind, level: Level) -> Vec<&'static str> {
    [Judgement::First, Judgement::In, Judgement::Last]
        .into_iter()
        .flat_map(|wanted| {
            let names = policy::all(kind)
                .filter(|known| known.judge(level).0 == wanted)
                .map(|known| known.name)
                .filter(|name| costs.of(kind).any(|cost| cost.name == *name))
                .collect();
            by_cost(names, |name| {
                costs
                    .of(kind)
                    .find(|cost| cost.name == *name)
                    .map(|cost| cost.server_seconds())
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::cost::Cost;
    use super::*;

    fn costs(costs: &[(Kind, &str, f64)]) -> Costs {
        let cost = |&(kind, name, seconds): &(Kind, &str, f64)| Cost {
            kind,
            name: name.into(),
            stock_seconds: 2.0 * seconds,
            outboard_seconds: Some(seconds),
            ratio: Some(2.0),
            client_seconds: seconds,
            pairs: 1,
        };
        Costs {
            openssl: "OpenSSL 3.0.22".into(),
            costs: costs.iter().map(cost).collect(),
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
