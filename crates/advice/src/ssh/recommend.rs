//! From costs and judgements to an order.
//!
//! Nothing that the administrator left out comes in, and nothing that clients may use today goes out
//! unless it is broken, the level forbids it, or it was asked for.

use super::super::level::Level;
use super::super::order::by_cost;
use super::algorithm::{Judgement, Kind, Since, judge, measured_as, since};
use super::cost::{Cost, Costs};
use super::installed::{Lists, Side};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How to choose.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// How careful.
    pub level: Level,
    /// Whether to leave out what would only come last.
    pub strict: bool,
}

/// An order, and what it means for peers.
#[derive(Debug, Serialize)]
pub struct Advice {
    /// By kind, in the order of preference.
    pub lists: Lists,
    /// Neighbours in these lists whose costs count as equal, each to the next. They keep today's order.
    pub ties: BTreeMap<Kind, Vec<Vec<String>>>,
    /// Algorithms that are configured today and not in the advice.
    pub dropped: Vec<Dropped>,
    /// The peers that no longer match, in words: clients of this server, servers of this client.
    pub no_longer: Vec<String>,
}

/// An algorithm that is configured today and goes.
#[derive(Debug, Serialize)]
pub struct Dropped {
    /// What it is for.
    pub kind: Kind,
    /// OpenSSH's name.
    pub name: String,
    /// Why.
    pub reason: &'static str,
}

/// Chooses for that side among what it has configured `today`; `default` is what OpenSSH itself would configure, and
/// `installed` all that it has.
///
/// # Errors
/// If nothing would be left of a list.
pub(super) fn advise(
    side: Side,
    today: &Lists,
    default: &Lists,
    installed: &Lists,
    costs: &Costs,
    choice: Choice,
) -> Result<Advice, String> {
    let mut advice = Advice {
        lists: Lists::new(),
        ties: BTreeMap::new(),
        dropped: Vec::new(),
        no_longer: Vec::new(),
    };
    for kind in Kind::ORDERED {
        let of = |lists: &Lists| lists.get(&kind).cloned().unwrap_or_default();
        let (today, installed) = (of(today), of(installed));
        // An administrator who configured a list excluded everything else. Without a configured list, new algorithms may
        // be added.
        let may_add = choice.level == Level::Modern && today == of(default);
        let candidates = today.iter().chain(
            installed
                .iter()
                .filter(|name| may_add && !today.contains(name)),
        );
        let (mut first, mut inside, mut last) = (Vec::new(), Vec::new(), Vec::new());
        for name in candidates {
            let is_configured = today.contains(name);
            match judge(kind, name, choice.level, costs.strict_key_exchange) {
                Judgement::First(_) => first.push(name.clone()),
                Judgement::In(_) if is_configured => inside.push(name.clone()),
                Judgement::Last(_) if is_configured && !choice.strict => last.push(name.clone()),
                Judgement::Last(reason) | Judgement::Out(reason) if is_configured => {
                    advice.dropped.push(Dropped {
                        kind,
                        name: name.clone(),
                        reason,
                    });
                }
                _ => {}
            }
        }
        let (mut order, mut ties) = (Vec::new(), Vec::new());
        for group in [first, inside, last] {
            let group = by_cost(group, |name| costs.of(kind, name).map(Cost::measured));
            order.extend(group.names);
            ties.extend(group.ties.into_iter().filter_map(without_synonyms));
        }
        if order.is_empty() {
            return Err(format!(
                "no algorithm that {} allows today ({}) is safe at level {} (choose another --level, or set {0} \
                 by hand)",
                kind.keyword(),
                today.join(","),
                choice.level,
            ));
        }
        advice
            .no_longer
            .extend(no_longer(side.peer(), kind, &today, &order));
        advice.lists.insert(kind, order);
        if !ties.is_empty() {
            advice.ties.insert(kind, ties);
        }
    }
    Ok(advice)
}

/// A tie between different algorithms, without second names of one algorithm.
fn without_synonyms(mut tie: Vec<String>) -> Option<Vec<String>> {
    let mut seen = BTreeSet::new();
    tie.retain(|name| seen.insert(measured_as(name).to_owned()));
    (tie.len() > 1).then_some(tie)
}

/// The peers that no longer have an algorithm in common, if there are any.
fn no_longer(peer: &str, kind: Kind, today: &[String], order: &[String]) -> Option<String> {
    let gone: Vec<&str> = today
        .iter()
        .filter(|name| !order.contains(name))
        .map(String::as_str)
        .collect();
    if gone.is_empty() {
        return None;
    }
    let oldest = |names: &[String]| -> Option<Since> {
        names.iter().filter_map(|name| since(kind, name)).min()
    };
    let versions = match (oldest(today), oldest(order)) {
        (Some(before), Some(now)) if now > before => {
            format!(" (for example OpenSSH before {now})")
        }
        _ => String::new(),
    };
    let only_without = if kind == Kind::Mac {
        " and no cipher with built-in authentication"
    } else {
        ""
    };
    Some(format!(
        "a {peer} that has no other {kind} than {}{only_without} no longer matches{versions}",
        gone.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(kind: Kind, costs: &[(&str, f64)]) -> Costs {
        Costs {
            openssh: "OpenSSH_9.2p1".into(),
            with_outboard: true,
            strict_key_exchange: true,
            mac_of_ciphers: String::new(),
            cipher_of_macs: String::new(),
            costs: costs
                .iter()
                .map(|(name, seconds)| Cost {
                    kind,
                    name: (*name).into(),
                    client_seconds: seconds / 2.0,
                    server_seconds: seconds / 2.0,
                    scatter_seconds: Some([0.95 * seconds, 1.05 * seconds]),
                    pairs: 5,
                })
                .collect(),
        }
    }

    fn lists(cipher: &[&str], mac: &[&str], exchange: &[&str]) -> Lists {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Lists::from([
            (Kind::Cipher, list(cipher)),
            (Kind::Mac, list(mac)),
            (Kind::KeyExchange, list(exchange)),
        ])
    }

    fn debian() -> Lists {
        lists(
            &[
                "chacha20-poly1305@openssh.com",
                "aes128-ctr",
                "aes128-gcm@openssh.com",
                "aes256-gcm@openssh.com",
            ],
            &[
                "umac-64-etm@openssh.com",
                "hmac-sha2-256-etm@openssh.com",
                "hmac-sha1-etm@openssh.com",
                "hmac-sha2-256",
                "hmac-sha1",
            ],
            &[
                "sntrup761x25519-sha512@openssh.com",
                "curve25519-sha256",
                "curve25519-sha256@libssh.org",
                "ecdh-sha2-nistp256",
                "diffie-hellman-group14-sha256",
            ],
        )
    }

    const MODERN: Choice = Choice {
        level: Level::Modern,
        strict: false,
    };

    fn choose(today: &Lists, costs: &Costs, choice: Choice) -> Advice {
        advise(Side::Server, today, &debian(), &debian(), costs, choice).expect("something is left")
    }

    #[test]
    fn the_fastest_safe_one_comes_first() {
        let costs = costs(
            Kind::Cipher,
            &[
                ("chacha20-poly1305@openssh.com", 3.0),
                ("aes128-ctr", 2.0),
                ("aes128-gcm@openssh.com", 1.0),
                ("aes256-gcm@openssh.com", 1.2),
            ],
        );
        let advice = choose(&debian(), &costs, MODERN);
        let ciphers = advice.lists[&Kind::Cipher].join(" ");
        assert_eq!(
            ciphers,
            "aes128-gcm@openssh.com aes256-gcm@openssh.com aes128-ctr chacha20-poly1305@openssh.com"
        );
        assert!(advice.ties.is_empty());
    }

    #[test]
    fn what_cannot_be_told_apart_stands_as_it_does_today() {
        let mut costs = costs(
            Kind::Cipher,
            &[
                ("chacha20-poly1305@openssh.com", 3.0),
                ("aes128-ctr", 2.0),
                ("aes128-gcm@openssh.com", 1.0),
                ("aes256-gcm@openssh.com", 0.8),
            ],
        );
        let wide = costs.costs.iter_mut();
        for cost in wide.filter(|cost| cost.name.contains("gcm")) {
            cost.scatter_seconds = Some([0.7, 1.5]);
        }
        costs.costs.push(Cost {
            kind: Kind::KeyExchange,
            name: "curve25519-sha256".into(),
            ..costs.costs[0].clone()
        });
        let advice = choose(&debian(), &costs, MODERN);
        let gcm = ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com"];
        assert_eq!(advice.lists[&Kind::Cipher][..2], gcm);
        assert_eq!(advice.ties[&Kind::Cipher], [gcm]);
        // Two names for one key exchange are none.
        assert_eq!(advice.ties.len(), 1);
    }

    #[test]
    fn post_quantum_comes_first_whatever_it_costs() {
        let costs = costs(
            Kind::KeyExchange,
            &[
                ("sntrup761x25519-sha512@openssh.com", 0.03),
                ("curve25519-sha256", 0.002),
                ("ecdh-sha2-nistp256", 0.001),
            ],
        );
        let order = |level| {
            let choice = Choice { level, ..MODERN };
            choose(&debian(), &costs, choice).lists[&Kind::KeyExchange].join(" ")
        };
        assert_eq!(
            order(Level::Modern),
            "sntrup761x25519-sha512@openssh.com ecdh-sha2-nistp256 curve25519-sha256 \
             curve25519-sha256@libssh.org diffie-hellman-group14-sha256"
        );
        assert!(order(Level::Compatible).starts_with("sntrup761"));
        assert_eq!(
            order(Level::Fips),
            "ecdh-sha2-nistp256 diffie-hellman-group14-sha256"
        );
    }

    #[test]
    fn nobody_is_locked_out_who_uses_what_is_not_broken() {
        let costs = costs(Kind::Mac, &[("umac-64-etm@openssh.com", 0.1)]);
        let advice = choose(&debian(), &costs, MODERN);
        let dropped: Vec<&str> = advice.dropped.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(dropped, ["hmac-sha1-etm@openssh.com", "hmac-sha1"]);
        // Tolerated, and so last, however fast.
        let macs = advice.lists[&Kind::Mac].join(" ");
        assert_eq!(
            macs,
            "hmac-sha2-256-etm@openssh.com umac-64-etm@openssh.com hmac-sha2-256"
        );
        assert_eq!(advice.no_longer.len(), 1);
        assert!(advice.no_longer[0].starts_with("a client that has no other MAC than "));
        assert!(
            advice.no_longer[0]
                .ends_with("no longer matches (for example OpenSSH before 5.9 (2011))"),
            "{:?}",
            advice.no_longer
        );

        let strict = Choice {
            strict: true,
            ..MODERN
        };
        let macs = choose(&debian(), &costs, strict).lists[&Kind::Mac].join(" ");
        assert_eq!(macs, "hmac-sha2-256-etm@openssh.com");
    }

    #[test]
    fn what_the_administrator_left_out_stays_out() {
        let costs = costs(Kind::Cipher, &[]);
        let today = lists(
            &["aes256-gcm@openssh.com"],
            &["hmac-sha2-256-etm@openssh.com"],
            &["ecdh-sha2-nistp256"],
        );
        assert_eq!(choose(&today, &costs, MODERN).lists, today);

        let broken = lists(&["3des-cbc"], &["hmac-sha2-256"], &["curve25519-sha256"]);
        let error = advise(Side::Server, &broken, &debian(), &debian(), &costs, MODERN)
            .expect_err("nothing left");
        assert!(
            error.starts_with("no algorithm that Ciphers allows today (3des-cbc)"),
            "{error}"
        );
    }

    #[test]
    fn what_is_new_comes_in_where_nothing_was_configured() {
        let mut newer = debian();
        newer
            .get_mut(&Kind::KeyExchange)
            .expect("it is there")
            .push("mlkem768x25519-sha256".into());
        let costs = costs(Kind::KeyExchange, &[("mlkem768x25519-sha256", 0.002)]);
        let advice = advise(Side::Client, &debian(), &debian(), &newer, &costs, MODERN)
            .expect("something is left");
        assert_eq!(
            advice.lists[&Kind::KeyExchange][..2],
            [
                "mlkem768x25519-sha256",
                "sntrup761x25519-sha512@openssh.com"
            ]
        );
    }
}
