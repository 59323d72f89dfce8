//! Costs and advice, in words and for programs.

use super::super::level::Level;
use super::algorithm::{Judgement, Kind, judge};
use super::cost::{Cost, Costs};
use super::drop_in::Target;
use super::installed::{Lists, Side};
use super::prove::Proof;
use super::recommend::Advice;
use super::stand::Negotiated;
use crate::output::{BAD, GOOD, NOTE, TITLE, printable, styled};
use crate::table::{Align, Table, time};
use serde::Serialize;
use std::path::PathBuf;

/// What an administrator must do after sshd's configuration changed.
pub(super) const RELOAD: &str = "\
A running sshd does not use the new file until you reload it: systemctl reload ssh (or sshd). Keep this
session open until a new one has succeeded.
";

/// One side's configuration: as it is, as advised.
#[derive(Serialize)]
pub(super) struct Half {
    pub(super) side: Side,
    /// The drop-in's path.
    file: PathBuf,
    pub(super) today: Lists,
    #[serde(flatten)]
    pub(super) advice: Advice,
    /// The drop-in.
    pub(super) text: String,
    /// Whether it was written now.
    pub(super) changed: bool,
    /// Whether it is in place with this text.
    pub(super) in_place: bool,
    /// The reason why it would have no effect, if there is one.
    pub(super) obstacle: Option<String>,
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

impl Half {
    /// In words, fewer if it is like the `earlier` one.
    fn told(&self, earlier: Option<&Self>) -> String {
        let is_same = earlier.is_some_and(|earlier| earlier.text == self.text);
        let file = self.file.display();
        let (style, verb) = match (self.changed, self.in_place) {
            (true, _) => (GOOD, "was written"),
            (false, true) => (GOOD, "already has this text"),
            (false, false) => (TITLE, "would have this text"),
        };
        let state = match (is_same, verb) {
            (true, "would have this text") => format!("{file} would have the same text."),
            (true, _) => format!("{file} {verb}; the text is the same."),
            (false, _) => format!("{file} {verb}:"),
        };
        let state = styled(style, state);
        let mut text = format!("\n{state}\n");
        if !is_same {
            for line in self.text.lines() {
                text += &format!("  {line}\n");
            }
        }
        if !is_same {
            for (kind, ties) in &self.advice.ties {
                for tie in ties {
                    text += &format!(
                        "Too close to tell apart, so in today's order: {kind}s {}.\n",
                        tie.join(", ")
                    );
                }
            }
        }
        if let Some(obstacle) = &self.obstacle {
            text += &format!("{} {obstacle}.\n", styled(BAD, "Not possible yet:"));
        }
        let gone = |half: &Self| -> Vec<String> {
            let gone = half.advice.dropped.iter();
            gone.map(|dropped| format!("{} {}", dropped.kind, dropped.name))
                .collect()
        };
        if !is_same || earlier.is_some_and(|earlier| gone(earlier) != gone(self)) {
            for dropped in &self.advice.dropped {
                text += &format!(
                    "{} {} {} ({})\n",
                    styled(NOTE, "Dropped:"),
                    dropped.kind,
                    dropped.name,
                    dropped.reason
                );
            }
        }
        for lost in &self.advice.no_longer {
            text += &format!("{} {lost}.\n", styled(NOTE, "Locked out:"));
        }
        if self.advice.no_longer.is_empty() {
            text += &format!(
                "Every {} that matches today will still match.\n",
                self.side.peer()
            );
        }
        text
    }
}

/// All that was found.
pub(super) struct Report {
    pub(super) level: Level,
    pub(super) strict: bool,
    pub(super) applied: bool,
    pub(super) measured: Costs,
    pub(super) halves: Vec<Half>,
    pub(super) notes: Vec<String>,
    pub(super) proof: Option<Proof>,
}

#[derive(Serialize)]
pub(super) struct Document<'a> {
    level: Level,
    strict: bool,
    measured: &'a Costs,
    judgements: Vec<Judged<'a>>,
    configurations: &'a [Half],
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: &'a Option<Proof>,
}

#[derive(Serialize)]
struct Judged<'a> {
    kind: Kind,
    name: &'a str,
    judgement: &'static str,
    reason: &'static str,
}

impl Report {
    pub(super) fn document(&self) -> Document<'_> {
        let judgements = self.measured.costs.iter().map(|cost| {
            let judgement = self.judge(cost);
            Judged {
                kind: cost.kind,
                name: &cost.name,
                judgement: word(judgement),
                reason: judgement.reason(),
            }
        });
        Document {
            level: self.level,
            strict: self.strict,
            measured: &self.measured,
            judgements: judgements.collect(),
            configurations: &self.halves,
            notes: &self.notes,
            proof: &self.proof,
        }
    }

    pub(super) fn text(&self) -> String {
        let served = if self.measured.with_outboard {
            "with Outboard"
        } else {
            "without Outboard"
        };
        let mut text = format!(
            "{}, {served}; level {}\n",
            self.measured.openssh, self.level
        );
        for kind in Kind::ALL {
            text += &self.table(kind);
        }
        let mut earlier: Option<&Half> = None;
        for half in &self.halves {
            text += &half.told(earlier);
            earlier = Some(half);
        }
        for note in &self.notes {
            text += &format!("\n{} {note}.", styled(NOTE, "Note:"));
        }
        if !self.notes.is_empty() {
            text.push('\n');
        }
        if let Some(proof) = &self.proof {
            text += &proof.text();
        }
        let server_changed = |half: &Half| half.side == Side::Server && half.changed;
        text.push('\n');
        if self.halves.iter().any(server_changed) {
            text += RELOAD;
        } else if self
            .halves
            .iter()
            .all(|half| half.in_place && !half.changed)
        {
            text += "Nothing was changed: the advice is already in force.\n";
        } else if !self.applied {
            text += "Nothing was changed; --apply writes the drop-ins.\n";
        }
        text
    }

    fn judge(&self, cost: &Cost) -> Judgement {
        judge(
            cost.kind,
            &cost.name,
            self.level,
            self.measured.strict_key_exchange,
        )
    }

    fn table(&self, kind: Kind) -> String {
        let mut costs: Vec<&Cost> = self
            .measured
            .costs
            .iter()
            .filter(|c| c.kind == kind)
            .collect();
        if costs.is_empty() {
            return String::new();
        }
        costs.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        let cheapest = costs[0].seconds();
        let heading = match kind {
            Kind::Cipher => format!(
                "Ciphers: user time for 1 GiB through ssh; ciphers that need a MAC use {}",
                self.measured.mac_of_ciphers
            ),
            Kind::Mac => format!(
                "MACs: user time for 1 GiB through ssh, with the cipher {}",
                self.measured.cipher_of_macs
            ),
            Kind::KeyExchange => "Key exchanges: user time of a login".into(),
            Kind::HostKey => "Host keys: user time of a login; their order does not change".into(),
        };
        let mut table = Table::new(&[
            ("name", Align::Left),
            ("client", Align::Right),
            ("server", Align::Right),
            ("costs", Align::Right),
            ("advice", Align::Left),
            ("because", Align::Left),
        ]);
        for cost in costs {
            let judgement = self.judge(cost);
            table.row([
                cost.name.clone(),
                time(cost.client_seconds * 1e9),
                time(cost.server_seconds * 1e9),
                format!("{:.2} ×", cost.seconds() / cheapest),
                word(judgement).to_owned(),
                judgement.reason().to_owned(),
            ]);
        }
        format!("\n{}\n{}", styled(TITLE, heading), table.render())
    }
}

impl Proof {
    fn text(&self) -> String {
        let line = |when: &str, seconds: f64, agreed: &Negotiated, by: &str| {
            let mac = agreed.mac.as_deref();
            let mac = mac.map(|mac| format!(" with {mac}")).unwrap_or_default();
            format!("  {when:<10}  {seconds:.2} s  {}{mac}{by}\n", agreed.cipher)
        };
        let by_outboard = match self.by_outboard {
            None => String::new(),
            Some(0.0) => ", none of it by Outboard".into(),
            Some(share) => format!(", {:.0} % by Outboard", (100.0 * share).floor()),
        };
        format!(
            "\n{}\n{}{}{:.2} times less ({:.2} to {:.2}); user and system time together {:.2} times less.\n",
            styled(
                TITLE,
                format!(
                    "Proof: the client's user time for {} MiB by scp, {} pairs",
                    self.bytes >> 20,
                    self.pairs
                )
            ),
            line("today", self.today_user_seconds, &self.today, ""),
            line(
                "as advised",
                self.advised_user_seconds,
                &self.advised,
                &by_outboard
            ),
            self.ratio,
            self.low,
            self.high,
            self.cpu_ratio,
        )
    }
}

fn word(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::First(_) => "first",
        Judgement::In(_) => "in",
        Judgement::Last(_) => "last",
        Judgement::Out(_) => "out",
    }
}
