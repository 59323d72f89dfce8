//! The cards of the card service, which its socket of administration tells of.

use std::path::Path;
use std::process::ExitCode;
use std::str::FromStr;

use outboard_administration::{CardInfo, Reply, Request};
use outboard_wording::count;
use serde::Serialize;

use super::share;
use crate::Failure;
use crate::output::print;
use crate::table::Table;
use outboard_inspect::card_service::{Answer, Place};

/// What the service told of its cards.
pub(super) struct Service {
    place: Place,
    answer: Answer<Vec<CardInfo>>,
}

/// A card as the first column names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// One of the service.
    OfService(usize),
    /// One of a process.
    OfProcess { pid: u32, card: usize },
}

impl FromStr for Name {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = || match text.split_once('.') {
            None => Some(Self::OfService(text.parse().ok()?)),
            Some((pid, card)) => Some(Self::OfProcess {
                pid: pid.parse().ok()?,
                card: card.parse().ok()?,
            }),
        };
        name().ok_or("name a card as the first column of 'outboard cards' does")
    }
}

/// Sets a card online or offline.
pub(super) fn set(name: Name, online: bool) -> Result<ExitCode, Failure> {
    let number = match name {
        Name::OfService(number) => number,
        Name::OfProcess { pid, card } => {
            return Err(format!(
                "card {pid}.{card} is in process {pid}, and only cards of the card service can be set online or \
                 offline (the setting 'cards = 0' keeps programs from making cards, see outboard.cnf(5))"
            )
            .into());
        }
    };
    let mut service = Place::in_force().connect()?;
    match service.ask(&Request::SetCard { number, online })? {
        Reply::Done => {}
        _ => return Err(service.surprised().into()),
    }
    print(&match online {
        true => format!("Card {number} of the card service is online.\n"),
        false => format!(
            "Card {number} of the card service is offline: its requests run alone. It is online again after \
             'outboard cards --online {number}', or when the service restarts.\n"
        ),
    })?;
    Ok(ExitCode::SUCCESS)
}

impl Service {
    /// What the service tells now.
    pub(super) fn ask(place: &Place) -> Self {
        let answer = place.ask_for(|service| match service.ask(&Request::Cards)? {
            Reply::Cards { cards } => Ok(cards),
            _ => Err(service.surprised()),
        });
        Self {
            place: place.clone(),
            answer,
        }
    }

    /// What the cards did between an earlier reading and now.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let answer = match (&self.answer, &earlier.answer) {
            (Answer::Up(now), Answer::Up(before)) => {
                Answer::Up(now.iter().zip(before).map(difference).collect())
            }
            (now, _) => now.clone(),
        };
        Self {
            place: self.place.clone(),
            answer,
        }
    }

    fn cards(&self) -> &[CardInfo] {
        self.answer.told().map_or(&[], Vec::as_slice)
    }

    /// Adds its cards to the table of cards.
    pub(super) fn rows(&self, table: &mut Table) {
        for card in self.cards() {
            let fill = average_fill(card).map(|fill| format!("{fill:.1}"));
            table.row([
                card.number.to_string(),
                "card service".to_owned(),
                String::new(),
                status(card).to_owned(),
                count(card.pending),
                card.depth.to_string(),
                count(card.operations),
                fill.unwrap_or_default(),
                share(share_in_lanes(card)),
                share(utilisation(card)),
                String::new(),
                String::new(),
                String::new(),
                String::new(),
            ]);
        }
    }

    /// Why it has no cards, as a line; nothing where it has some, or nobody expects a service.
    pub(super) fn remark(&self) -> String {
        let why = match &self.answer {
            Answer::Up(cards) if cards.is_empty() => {
                Some("has no cards, because this processor has no lanes".to_owned())
            }
            answer => answer.trouble(&self.place),
        };
        why.map_or_else(String::new, |why| format!("The card service {why}.\n"))
    }

    pub(super) fn document(&self) -> Document<'_> {
        let card = |card: &CardInfo| Card {
            id: card.number,
            online: card.online,
            status: status(card),
            pending: card.pending,
            depth: card.depth,
            utilisation: utilisation(card),
            operations: card.operations,
            batches: card.batches,
            in_lanes: card.in_lanes,
            average_fill: average_fill(card),
            share_in_lanes: share_in_lanes(card),
            busy_nanoseconds: card.busy_nanoseconds,
        };
        Document {
            directory: &self.place.directory,
            state: self.answer.state(),
            reason: self.answer.trouble(&self.place),
            cards: self.cards().iter().map(card).collect(),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Document<'a> {
    directory: &'a Path,
    state: &'static str,
    /// Why it does not tell of cards.
    reason: Option<String>,
    cards: Vec<Card>,
}

#[derive(Serialize)]
struct Card {
    id: usize,
    online: bool,
    status: &'static str,
    pending: u64,
    depth: usize,
    utilisation: Option<f64>,
    operations: u64,
    batches: u64,
    in_lanes: u64,
    average_fill: Option<f64>,
    share_in_lanes: Option<f64>,
    busy_nanoseconds: u64,
}

/// What a card did between two readings; all that it did where the service was restarted meanwhile.
fn difference((now, before): (&CardInfo, &CardInfo)) -> CardInfo {
    let mut difference = now.clone();
    if now.nanoseconds >= before.nanoseconds {
        for (of, before) in [
            (&mut difference.operations, before.operations),
            (&mut difference.batches, before.batches),
            (&mut difference.in_lanes, before.in_lanes),
            (&mut difference.busy_nanoseconds, before.busy_nanoseconds),
            (&mut difference.nanoseconds, before.nanoseconds),
        ] {
            *of = of.saturating_sub(before);
        }
    }
    difference
}

fn status(card: &CardInfo) -> &'static str {
    match (card.online, card.pending) {
        (false, _) => "offline",
        (true, 0) => "idle",
        (true, _) => "busy",
    }
}

fn average_fill(card: &CardInfo) -> Option<f64> {
    ratio(card.in_lanes, card.batches)
}

fn share_in_lanes(card: &CardInfo) -> Option<f64> {
    ratio(card.in_lanes, card.operations)
}

fn utilisation(card: &CardInfo) -> Option<f64> {
    ratio(card.busy_nanoseconds, card.nanoseconds).map(|share| share.min(1.0))
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_has_the_name_of_the_first_column() {
        assert_eq!("7".parse(), Ok(Name::OfService(7)));
        let of_process = Name::OfProcess { pid: 1234, card: 0 };
        assert_eq!("1234.0".parse(), Ok(of_process));
        for wrong in ["", "x", "-1", "1.", ".1", "1.2.3"] {
            assert!(wrong.parse::<Name>().is_err(), "{wrong}");
        }
    }
}
