//! Costs and advice, in words.

use crate::output::{BAD, GOOD, NOTE, TITLE, styled};
use crate::table::{Align, Table};
use outboard_advice::ssh::{Cost, Half, Judged, Kind, Negotiated, Proof, Report, Side};
use outboard_wording::time;
use std::path::PathBuf;

/// What an administrator must do after sshd's configuration changed.
const RELOAD: &str = "\
A running sshd does not use the new file until you reload it: systemctl reload ssh (or sshd). Keep this
session open until a new one has succeeded.
";

/// The whole report.
pub(super) fn of(report: &Report) -> String {
    let served = if report.measured.with_outboard {
        "with Outboard"
    } else {
        "without Outboard"
    };
    let mut text = format!(
        "{}, {served}; level {}\n",
        report.measured.openssh, report.level
    );
    for kind in Kind::ALL {
        text += &table(report, kind);
    }
    let mut earlier: Option<&Half> = None;
    for half in &report.configurations {
        text += &told(half, earlier);
        earlier = Some(half);
    }
    for note in &report.notes {
        text += &format!("\n{} {note}.", styled(NOTE, "Note:"));
    }
    if !report.notes.is_empty() {
        text.push('\n');
    }
    if let Some(proof) = &report.proof {
        text += &proven(proof);
    }
    let server_changed = |half: &Half| half.side == Side::Server && half.changed;
    text.push('\n');
    if report.configurations.iter().any(server_changed) {
        text += RELOAD;
    } else if report
        .configurations
        .iter()
        .all(|half| half.in_place && !half.changed)
    {
        text += "Nothing was changed: the advice is already in force.\n";
    } else if !report.applied {
        text += "Nothing was changed; --apply writes the drop-ins.\n";
    }
    text
}

/// What was removed.
pub(super) fn reverted(removed: &[PathBuf]) -> String {
    let mut text: String = removed
        .iter()
        .map(|place| format!("Removed {}.\n", place.display()))
        .collect();
    if text.is_empty() {
        text = "There is no drop-in of Outboard; nothing was changed.\n".into();
    } else if removed
        .iter()
        .any(|place| place.ends_with("sshd_config.d/10-outboard.conf"))
    {
        text += RELOAD;
    }
    text
}

/// One side's configuration, in fewer words if it is like the `earlier` one.
fn told(half: &Half, earlier: Option<&Half>) -> String {
    let is_same = earlier.is_some_and(|earlier| earlier.text == half.text);
    let file = half.file.display();
    let (style, verb) = match (half.changed, half.in_place) {
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
        for line in half.text.lines() {
            text += &format!("  {line}\n");
        }
    }
    if !is_same {
        for (kind, ties) in &half.advice.ties {
            for tie in ties {
                text += &format!(
                    "Too close to tell apart, so in today's order: {kind}s {}.\n",
                    tie.join(", ")
                );
            }
        }
    }
    if let Some(obstacle) = &half.obstacle {
        text += &format!("{} {obstacle}.\n", styled(BAD, "Not possible yet:"));
    }
    let gone = |half: &Half| -> Vec<String> {
        let gone = half.advice.dropped.iter();
        gone.map(|dropped| format!("{} {}", dropped.kind, dropped.name))
            .collect()
    };
    if !is_same || earlier.is_some_and(|earlier| gone(earlier) != gone(half)) {
        for dropped in &half.advice.dropped {
            text += &format!(
                "{} {} {} ({})\n",
                styled(NOTE, "Dropped:"),
                dropped.kind,
                dropped.name,
                dropped.reason
            );
        }
    }
    for lost in &half.advice.no_longer {
        text += &format!("{} {lost}.\n", styled(NOTE, "Locked out:"));
    }
    if half.advice.no_longer.is_empty() {
        text += &format!(
            "Every {} that matches today will still match.\n",
            half.side.peer()
        );
    }
    text
}

fn table(report: &Report, kind: Kind) -> String {
    let judged = report.measured.costs.iter().zip(&report.judgements);
    let mut costs: Vec<(&Cost, &Judged)> = judged.filter(|(cost, _)| cost.kind == kind).collect();
    if costs.is_empty() {
        return String::new();
    }
    costs.sort_by(|(a, _), (b, _)| a.seconds().total_cmp(&b.seconds()));
    let cheapest = costs[0].0.seconds();
    let heading = match kind {
        Kind::Cipher => format!(
            "Ciphers: user time for 1 GiB through ssh; ciphers that need a MAC use {}",
            report.measured.mac_of_ciphers
        ),
        Kind::Mac => format!(
            "MACs: user time for 1 GiB through ssh, with the cipher {}",
            report.measured.cipher_of_macs
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
    for (cost, judged) in costs {
        table.row([
            cost.name.clone(),
            time(cost.client_seconds * 1e9),
            time(cost.server_seconds * 1e9),
            format!("{:.2} ×", cost.seconds() / cheapest),
            judged.judgement.to_owned(),
            judged.reason.to_owned(),
        ]);
    }
    format!("\n{}\n{}", styled(TITLE, heading), table.render())
}

fn proven(proof: &Proof) -> String {
    let line = |when: &str, seconds: f64, agreed: &Negotiated, by: &str| {
        let mac = agreed.mac.as_deref();
        let mac = mac.map(|mac| format!(" with {mac}")).unwrap_or_default();
        format!("  {when:<10}  {seconds:.2} s  {}{mac}{by}\n", agreed.cipher)
    };
    let by_outboard = match proof.by_outboard {
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
                proof.bytes >> 20,
                proof.pairs
            )
        ),
        line("today", proof.today_user_seconds, &proof.today, ""),
        line(
            "as advised",
            proof.advised_user_seconds,
            &proof.advised,
            &by_outboard
        ),
        proof.ratio,
        proof.low,
        proof.high,
        proof.cpu_ratio,
    )
}
