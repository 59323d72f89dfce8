//! Costs and advice, as a value.

use super::super::level::Level;
use super::Request;
use super::algorithm::{Kind, judge};
use super::cost::{Cost, Costs};
use super::drop_in::Target;
use super::installed::{Lists, Side};
use super::prove::Proof;
use super::recommend::{Advice, Choice};
use outboard_wording::printable;
use serde::Serialize;
use std::path::PathBuf;

/// One side's configuration: as it is, as advised.
#[derive(Debug, Serialize)]
pub struct Half {
    /// Its side.
    pub side: Side,
    /// The drop-in's path.
    pub file: PathBuf,
    /// The lists that it has today.
    pub today: Lists,
    /// The lists that it should have.
    #[serde(flatten)]
    pub advice: Advice,
    /// The drop-in.
    pub text: String,
    /// Whether it was written now.
    pub changed: bool,
    /// Whether it is in place with this text.
    pub in_place: bool,
    /// The reason why it would have no effect, if there is one.
    pub obstacle: Option<String>,
}

impl Half {
    /// Composes the drop-in and tries it.
    pub(super) fn new(target: &Target<'_>, today: Lists, advice: Advice, level: Level) -> Self {
        let text = target.text(&advice.lists, level);
        Self {
            side: target.side,
            file: target.file.path.clone(),
            obstacle: target
                .obstacle(&text, &advice.lists)
                .map(|obstacle| printable(&obstacle)),
            in_place: target.file.holds(&text),
            today,
            advice,
            text,
            changed: false,
        }
    }
}

/// All that was found. As a document, it is what a later run reads costs from.
#[derive(Debug, Serialize)]
pub struct Report {
    /// How careful the advice is.
    pub level: Level,
    /// Whether it leaves out what would only come last.
    pub strict: bool,
    /// The measurements.
    pub measured: Costs,
    /// What the level says of each measured algorithm, in the same order.
    pub judgements: Vec<Judged>,
    /// Each side's configuration.
    pub configurations: Vec<Half>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
    /// The gain, if it was to be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// Whether the drop-ins were to be written.
    #[serde(skip)]
    pub applied: bool,
}

/// The judgement about an algorithm.
#[derive(Debug, Serialize)]
pub struct Judged {
    /// What it is for.
    pub kind: Kind,
    /// OpenSSH's name.
    pub name: String,
    /// First, in, last or out.
    pub judgement: &'static str,
    /// Why.
    pub reason: &'static str,
}

impl Report {
    pub(super) fn new(
        request: &Request,
        measured: Costs,
        configurations: Vec<Half>,
        notes: Vec<String>,
        proof: Option<Proof>,
    ) -> Self {
        let Choice { level, strict } = request.choice;
        let judged = |cost: &Cost| {
            let known = measured.strict_key_exchange;
            let judgement = judge(cost.kind, &cost.name, level, known);
            Judged {
                kind: cost.kind,
                name: cost.name.clone(),
                judgement: judgement.word(),
                reason: judgement.reason(),
            }
        };
        Self {
            level,
            strict,
            judgements: measured.costs.iter().map(judged).collect(),
            measured,
            configurations,
            notes,
            proof,
            applied: request.apply,
        }
    }
}
