//! What certificates, groups and cipher suites cost with the installed OpenSSL, and how to configure servers
//! accordingly.
//!
//! ```text
//! policy     which choices there are, and what is to be said of each
//! measure    the cost of each: real handshakes and downloads   (cost)
//! recommend  lists
//! snippets   these lists in the words of nginx, Apache and HAProxy
//! ```

mod cost;
mod measure;
mod policy;
mod recommend;
mod snippets;

pub use cost::Costs;
pub use policy::{Judgement, Kind};
pub use recommend::Advice;
pub use snippets::Server;

use measure::{Sides, measure};
use outboard_programs::{OpenSsl, Workplace};
use outboard_wording::time;
use serde::Serialize;
use std::path::PathBuf;

use super::level::Level;
use super::serving::Serving;
use super::{Listener, Wanted};
use crate::Error;

/// The schema of the document that [`Report`] makes, which a later run can read.
pub const SCHEMA: &str = "outboard-advise-tls";

/// What is to be advised.
#[derive(Clone, Debug)]
pub struct Request {
    /// How careful.
    pub level: Level,
    /// The server that gets lines; all of them if it is `None`.
    pub server: Option<Server>,
    /// Whether to measure each once only.
    pub is_quick: bool,
    /// Measure these alone; all if it is empty.
    pub only: Vec<String>,
    /// A document with costs, instead of a measurement.
    pub costs: Option<PathBuf>,
    /// The provider of the measured programs.
    pub serving: Wanted,
}

/// All that was found. As a document, it is what a later run reads costs from.
#[derive(Debug, Serialize)]
pub struct Report {
    /// How careful the advice is.
    pub level: Level,
    /// The measurements.
    pub measured: Costs,
    /// What the level says of each choice that was measured.
    pub judgements: Vec<Judged>,
    /// What to configure.
    pub advice: Advice,
    /// The same as lines for servers.
    pub snippets: Vec<Snippet>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

/// The judgement about a choice.
#[derive(Debug, Serialize)]
pub struct Judged {
    /// What is chosen.
    pub kind: Kind,
    /// Its name.
    pub name: &'static str,
    /// The judgement.
    pub judgement: Judgement,
    /// Why.
    pub reason: &'static str,
}

/// Lines for a server's configuration.
#[derive(Debug, Serialize)]
pub struct Snippet {
    /// The server.
    pub server: Server,
    /// Where the lines go.
    pub place: &'static str,
    /// The lines.
    pub text: String,
}

/// Measures, and chooses. Changes no file.
///
/// # Errors
/// If something cannot be measured, or nothing is left of a list.
pub fn advise(request: &Request, listener: &dyn Listener) -> Result<Report, Error> {
    let serving = Serving::find(&request.serving)?;
    let measured = match &request.costs {
        Some(file) => Costs::read(file)?,
        None => measured(request, &serving, listener)?,
    };
    let advice = recommend::advise(&measured, request.level)?;
    let servers = match request.server {
        Some(server) => vec![server],
        None => Server::ALL.to_vec(),
    };
    Ok(Report {
        level: request.level,
        judgements: judgements(&measured, request.level),
        snippets: servers
            .into_iter()
            .map(|server| Snippet {
                server,
                place: server.place(),
                text: server.snippet(&advice),
            })
            .collect(),
        notes: serving
            .note
            .into_iter()
            .chain(quantum_note(&measured, &advice))
            .collect(),
        measured,
        advice,
    })
}

/// What to do where this OpenSSL has no group that resists a quantum computer, and what that costs.
fn quantum_note(measured: &Costs, advice: &Advice) -> Option<String> {
    const NOTE: &str = "this OpenSSL has no post-quantum group. 'outboard enable --post-quantum' gives X25519MLKEM768 to \
                        every program that names no groups itself; if you use it, leave the lines with groups out of \
                        the servers' own configuration (docs/post-quantum.md)";
    if advice.groups.iter().any(|group| group.contains("MLKEM")) {
        return None;
    }
    let find = |name| measured.post_quantum.iter().find(|one| one.name == name);
    let costs = find("X25519MLKEM768").and_then(|added| {
        let usual = measured.of(Kind::Group).find(|one| one.name == "X25519")?;
        Some(format!(
            ". Measured with Outboard: a handshake with X25519MLKEM768 takes {} of the server's CPU time, one with X25519 {}",
            time(added.outboard_seconds * 1e9),
            time(usual.server_seconds() * 1e9),
        ))
    });
    Some(NOTE.to_owned() + &costs.unwrap_or_default())
}

fn measured(request: &Request, serving: &Serving, listener: &dyn Listener) -> Result<Costs, Error> {
    let workplace = Workplace::new()?;
    let sides = Sides {
        stock: OpenSsl::stock(&workplace)?,
        outboard: match serving.is_outboard() {
            true => Some([
                serving.openssl(&workplace)?,
                serving.post_quantum(&workplace)?,
            ]),
            false => None,
        },
    };
    let pairs = if request.is_quick { 1 } else { 5 };
    measure(&workplace, &sides, pairs, &request.only, listener)
}

fn judgements(costs: &Costs, level: Level) -> Vec<Judged> {
    Kind::ALL
        .into_iter()
        .flat_map(policy::all)
        .filter(|known| {
            let is_added = costs.post_quantum.iter().any(|one| one.name == known.name);
            is_added || costs.of(known.kind).any(|cost| cost.name == known.name)
        })
        .map(|known| {
            let (judgement, reason) = known.judge(level);
            Judged {
                kind: known.kind,
                name: known.name,
                judgement,
                reason,
            }
        })
        .collect()
}
