//! Which threads run the batches of a process's cards?

use outboard_ledger::{Card, CardStatus, Snapshot, all_paths};

use crate::Finding;

/// The finding about the cards of a process, if their workers are not the usual ones.
pub(crate) fn examine(pid: u32) -> Option<Finding> {
    let snapshots = all_paths()
        .into_iter()
        .filter_map(|path| Snapshot::read(&path).ok());
    let mut processes = snapshots.flat_map(|snapshot| snapshot.processes);
    judge(
        &processes
            .find(|entry| entry.pid == pid && entry.alive)?
            .cards,
    )
}

fn judge(cards: &[Card]) -> Option<Finding> {
    let are_any = |status| cards.iter().any(|card| card.status == status);
    if are_any(CardStatus::Died) {
        return Some(
            Finding::note(
                "cards",
                "a card's worker died; the next request starts another",
            )
            .because(
                "a batch failed that should not fail; Outboard then did its requests one by one",
            )
            .remedy("report this (SECURITY.md says how); until then, set cards = 0"),
        );
    }
    are_any(CardStatus::Callers).then(|| {
        let what = "it may not start a thread, so the calling threads run the batches";
        Finding::good("cards", format!("{what} ({})", fill(cards)))
    })
}

/// How full the lanes are.
fn fill(cards: &[Card]) -> String {
    let count = |of: fn(&Card) -> u64| cards.iter().map(of).sum::<u64>();
    let (in_lanes, batches) = (
        count(|card| card.work.in_lanes),
        count(|card| card.work.batches),
    );
    match batches {
        0 => "no batch in lanes yet".to_owned(),
        batches => format!("{:.1} of 8 lanes filled", in_lanes as f64 / batches as f64),
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use outboard_ledger::Queueing;

    use super::*;

    fn card(status: CardStatus) -> Card {
        Card {
            id: 0,
            status,
            pending: 0,
            depth: 8,
            started: SystemTime::UNIX_EPOCH,
            utilisation: None,
            work: Queueing {
                batches: 10,
                in_lanes: 65,
                ..Queueing::default()
            },
        }
    }

    #[test]
    fn who_runs_the_batches_is_said_where_it_is_not_a_worker() {
        assert!(judge(&[]).is_none());
        assert!(judge(&[card(CardStatus::Busy)]).is_none());
        let callers = judge(&[card(CardStatus::Callers)]).map(|finding| finding.what);
        assert!(callers.is_some_and(|text| text.contains("6.5 of 8 lanes filled")));
        let died = judge(&[card(CardStatus::Callers), card(CardStatus::Died)]);
        assert!(died.is_some_and(|finding| finding.what.contains("died")));
    }
}
