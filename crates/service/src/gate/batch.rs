//! Batches: requests of one kind that are there at the same time share the lanes.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use outboard_engine::card::{BreakEven, DEPTH, Kind, Request};

use super::{Gate, Lead, Pending, lock};
use crate::cards::Card;
use crate::work::Work;

impl Gate {
    /// Collects more for a batch while it keeps coming, where several clients were seen in the last milliseconds:
    /// those that were just answered need a moment, and a yield does not let them run where the scheduler keeps the
    /// groups of services apart.
    pub(super) fn gather(
        &self,
        hand: &mut Vec<Pending>,
        break_even: &BreakEven,
        packet: &mut [u8],
        lead: &mut Lead<'_>,
    ) {
        const NAP: Duration = Duration::from_micros(50);
        const NAPS: usize = 4;
        for pending in hand.iter() {
            self.company.saw(pending.asked.connection.number);
        }
        let Some(kind) = hand.first().and_then(|pending| pending.work.kind()) else {
            return;
        };
        let expected = self.company.count().min(DEPTH);
        if expected < break_even.of_lanes(kind).max(2) {
            return;
        }
        for _ in 0..NAPS {
            if hand.len() >= expected || lead.is_none() {
                return;
            }
            std::thread::sleep(NAP);
            let more = self.poll(DEPTH - hand.len(), Some(Duration::ZERO));
            if more.is_empty() {
                return;
            }
            let more = more
                .iter()
                .filter_map(|connection| self.read(connection, packet, lead));
            let before = hand.len();
            hand.extend(more);
            for pending in &hand[before..] {
                self.company.saw(pending.asked.connection.number);
            }
        }
    }

    /// Does what was collected: a batch where enough are of one kind, the others one by one. Whoever leads on gets the lock
    /// back.
    pub(super) fn share<'a>(
        &self,
        card: &Card,
        mut hand: Vec<Pending>,
        break_even: &BreakEven,
        lead: Lead<'a>,
    ) -> Lead<'a> {
        let Some(kind) = most_frequent(&hand) else {
            let lead = lead.filter(|_| hand.is_empty() && card.is_online());
            self.run_one_by_one(card, &hand);
            return lead;
        };
        let mut batch = Vec::with_capacity(DEPTH);
        let mut others = Vec::new();
        for pending in hand.drain(..) {
            match pending.work.kind() == Some(kind) {
                true => batch.push(pending),
                false => others.push(pending),
            }
        }
        // One alone is no batch: its own path may be faster, though the lanes beat the scalar path even with one.
        if !card.is_online() || batch.len() < break_even.of_lanes(kind).max(2) {
            others.append(&mut batch);
        }
        // Other workers begin with what is left while this one computes.
        let own = match batch.is_empty() {
            true => others.pop(),
            false => None,
        };
        let wakes = !others.is_empty();
        lock(&self.left).append(&mut others);
        let is_short = || is_short(kind, Some(break_even)) || self.company.count() < 2;
        let keeps = match batch.len() {
            0 => card.is_online() && is_short(),
            filled => filled < DEPTH,
        };
        let lead = lead.filter(|_| keeps && !wakes);
        card.has(batch.len() + usize::from(own.is_some()));
        if let Some(pending) = own {
            self.run_alone(card, &pending);
        }
        self.run_together(card, batch);
        lead
    }

    fn run_together(&self, card: &Card, batch: Vec<Pending>) {
        let (mut requests, mut asked) = (Vec::new(), Vec::new());
        for Pending { asked: one, work } in batch {
            match work {
                Work::Named(request) => {
                    requests.push(request);
                    asked.push(one);
                }
                work => self.run_alone(card, &Pending { asked: one, work }),
            }
        }
        if requests.is_empty() {
            return;
        }
        let results = Request::run_together(&requests);
        card.ran_in_lanes(results.iter().flatten().count());
        for ((asked, request), result) in asked.iter().zip(&requests).zip(results) {
            match result {
                Some(output) => {
                    self.counts.in_lanes.fetch_add(1, Relaxed);
                    self.finish(card, asked, Ok(output));
                }
                None => self.finish(card, asked, request.run_scalar()),
            }
        }
    }

    /// Where there are no lanes. A leader goes on leading where another worker would wake for nothing.
    pub(super) fn run_without_lanes<'a>(
        &self,
        card: &Card,
        hand: &[Pending],
        lead: Lead<'a>,
    ) -> Lead<'a> {
        let is_short = |pending: &Pending| {
            let kind = pending.work.kind();
            kind.is_some_and(|kind| is_short(kind, None))
        };
        let are_short = !hand.is_empty() && hand.iter().all(is_short);
        self.was_short.store(are_short, Relaxed);
        let lead = lead.filter(|_| are_short && self.company.count() < 2);
        self.run_one_by_one(card, hand);
        lead
    }

    pub(super) fn run_one_by_one(&self, card: &Card, hand: &[Pending]) {
        card.has(hand.len());
        hand.iter()
            .for_each(|pending| self.run_alone(card, pending));
    }

    pub(super) fn run_alone(&self, card: &Card, pending: &Pending) {
        let result = pending.work.alone(self.lanes.as_ref());
        self.finish(card, &pending.asked, result);
    }
}

/// Whether one alone takes no longer than it takes another worker to wake, sleep and wake again, or little longer.
fn is_short(kind: Kind, break_even: Option<&BreakEven>) -> bool {
    match kind {
        Kind::Rsa2048 | Kind::Rsa3072 | Kind::Rsa4096 => false,
        Kind::P384Sign | Kind::P384Generate => break_even.is_some_and(|one| one.is_wide(kind)),
        Kind::P384Derive => false,
        _ => true,
    }
}

/// The kind that most of them are of.
fn most_frequent(hand: &[Pending]) -> Option<Kind> {
    let count = |kind| {
        let kinds = hand.iter().filter_map(|pending| pending.work.kind());
        kinds.filter(|&other| other == kind).count()
    };
    let kinds = hand.iter().filter_map(|pending| pending.work.kind());
    kinds.max_by_key(|&kind| count(kind))
}
