//! A report for people.

use super::sizes;
use crate::output::{BAD, GOOD, NOTE, TITLE, To, fold, styled};
use crate::table::{Align, Table};
use outboard_observation::{Operation, sum};
use outboard_observe_report::{Report, Row, Severity, algorithm, openssh};
use outboard_wording::{bytes, count, time};
use std::fmt::Write;

/// Rows with less than this share of the time go together into one line.
const SMALL: f64 = 0.002;

/// The whole report.
pub(super) fn of(report: &Report, by_process: bool, by_size: bool, to: To) -> String {
    let room = to.room();
    if report.work.is_empty() {
        return fold(&nothing(report), room);
    }
    let mut text = fold(&heading(report), room);
    text.push('\n');
    text.push_str(&table(report, to));
    if by_size {
        text.push('\n');
        text.push_str(&sizes::text(report, to));
    }
    if by_process {
        text.push('\n');
        text.push_str(&process_table(report, to));
    }
    for section in [
        handshakes_text(report),
        findings_text(report),
        acceleration_text(report),
        quantum_text(report),
        estimates_text(report),
    ] {
        if !section.is_empty() {
            text.push('\n');
            text.push_str(&fold(&section, room));
        }
    }
    text.push('\n');
    text.push_str(&fold(&unseen_text(report), room));
    if report.lost > 0 {
        let _ = writeln!(
            text,
            "  at least {} operations did not fit into the record",
            count(report.lost)
        );
    }
    text
}

fn nothing(report: &Report) -> String {
    match &report.program {
        Some(program) => format!(
            "{program} made no visible call of OpenSSL's EVP interface ('outboard doctor --program \
             {program}' says whether the program reads the configuration)\n\n{}",
            unseen_text(report)
        ),
        None => "Nothing was observed.\n".to_owned(),
    }
}

fn unseen_text(report: &Report) -> String {
    let mut text = styled(TITLE, "Not seen") + "\n";
    for unseen in &report.unseen {
        let _ = writeln!(text, "  {unseen}");
    }
    text
}

fn heading(report: &Report) -> String {
    let cryptography = time(float(report.cryptography_nanoseconds));
    let most = &report.work[0];
    let most = format!(
        "{} of that {}",
        percent(most.share_of_cryptography),
        most.name
    );
    let what = report.program.as_deref().unwrap_or("these programs");
    let at_least = at_least(report, "At least ");
    match (report.share_of_cpu, report.cpu_nanoseconds) {
        (Some(share), Some(cpu)) => format!(
            "{at_least}{} of the CPU time of {what} was cryptography ({cryptography} of {}), {most}.\n{}",
            styled(TITLE, percent(share)),
            time(float(cpu)),
            match report.share_of_cpu_estimated {
                None => String::new(),
                Some(estimated) if percent(estimated) == percent(share) => String::new(),
                Some(share) => format!(
                    "Together with OpenSSH's own code (estimated below), it is at least about {}.\n",
                    styled(TITLE, percent(share))
                ),
            }
        ),
        _ => format!(
            "Cryptography of {what}: {cryptography} by the clock, {most}.\n\
             Its share of the CPU time is not known: {}.\n",
            report
                .share_unknown_because
                .unwrap_or("no CPU time was counted")
        ),
    }
}

/// The words before a sum that lacks operations without a time.
fn at_least(report: &Report, words: &'static str) -> &'static str {
    match report.work.iter().any(|row| row.work.untimed > 0) {
        true => words,
        false => "",
    }
}

fn table(report: &Report, to: To) -> String {
    let mut table = Table::new(&[
        ("algorithm", Align::Left),
        ("with", Align::Left),
        ("operation", Align::Left),
        ("by", Align::Left),
        ("calls", Align::Right),
        ("bytes", Align::Right),
        ("usual size", Align::Right),
        ("time", Align::Right),
        ("each", Align::Right),
        ("speed", Align::Right),
        ("of CPU", Align::Right),
    ])
    .expendable(&["usual size", "speed", "each"]);
    let mut small = (0usize, 0.0);
    for row in &report.work {
        if is_small(row) {
            small = (small.0 + 1, small.1 + float(row.work.nanoseconds));
            continue;
        }
        let work = &row.work;
        let is_bulk = is_bulk(row);
        table.row([
            row.name.clone(),
            row.with.clone(),
            work.operation.name().to_owned(),
            work.implementation.clone(),
            count(work.calls),
            if is_bulk {
                bytes(work.bytes)
            } else {
                String::new()
            },
            if is_bulk {
                usual_size(row)
            } else {
                String::new()
            },
            match work.calls - work.untimed.min(work.calls) {
                0 if work.untimed > 0 => "unknown".to_owned(),
                _ if work.untimed > 0 => format!("> {}", time(float(work.nanoseconds))),
                _ => time(float(work.nanoseconds)),
            },
            match work.calls - work.untimed.min(work.calls) {
                0 => String::new(),
                timed => time(float(work.nanoseconds) / float(timed)),
            },
            if is_bulk && work.untimed == 0 {
                speed(row)
            } else {
                String::new()
            },
            match row.share_of_cpu {
                Some(share) if work.untimed == 0 => percent(share),
                // A lower limit of almost nothing says nothing.
                Some(share) if share >= 0.0005 => format!("> {}", percent(share)),
                _ => String::new(),
            },
        ]);
    }
    let mut text = table.render_to(to);
    if small.0 > 0 {
        let _ = writeln!(text, "and {} in {}", more(small.0), time(small.1));
    }
    text
}

fn process_table(report: &Report, to: To) -> String {
    let has_several_users = report
        .processes
        .iter()
        .any(|p| p.uid != report.processes[0].uid);
    let mut table = Table::new(&[
        ("process", Align::Left),
        ("user", Align::Right),
        ("id", Align::Right),
        ("CPU", Align::Right),
        ("cryptography", Align::Right),
        ("of CPU", Align::Right),
        ("mostly", Align::Left),
    ]);
    for process in &report.processes {
        let most = process.work.first().map(algorithm);
        table.row([
            process.program.clone(),
            match has_several_users {
                true => process.uid.to_string(),
                false => String::new(),
            },
            match process.pid {
                Some(pid) => pid.to_string(),
                None => format!("{} processes", process.processes),
            },
            process
                .cpu_nanoseconds
                .map(|cpu| time(float(cpu)))
                .unwrap_or_default(),
            time(float(process.cryptography_nanoseconds)),
            process.share_of_cpu.map(percent).unwrap_or_default(),
            most.unwrap_or_default(),
        ]);
    }
    table.render_to(to)
}

fn handshakes_text(report: &Report) -> String {
    let handshakes = &report.handshakes;
    if handshakes.estimated == 0 {
        return String::new();
    }
    let mut text = styled(TITLE, "Handshakes") + "\n";
    let _ = writeln!(
        text,
        "  about {} (from the number of key exchanges), with {} each",
        count(handshakes.estimated),
        match (handshakes.nanoseconds_each, at_least(report, "at least ")) {
            (0, "") => "too little public-key work to measure".to_owned(),
            (0, _) => "public-key work of unknown time".to_owned(),
            (each, at_least) => format!("{at_least}{} of public-key work", time(float(each))),
        }
    );
    let each: Vec<String> = handshakes
        .operations
        .iter()
        .map(|one| format!("{:.2} × {} {}", one.each, one.name, one.operation.name()))
        .collect();
    let _ = writeln!(text, "  each: {}", each.join(", "));
    text
}

fn findings_text(report: &Report) -> String {
    if report.findings.is_empty() {
        return format!(
            "{}: nothing weak or legacy was seen.\n",
            styled(GOOD, "Good")
        );
    }
    let mut text = styled(TITLE, "Weak or legacy") + "\n";
    for finding in &report.findings {
        let severity = match finding.severity {
            Severity::Weak => styled(BAD, "weak") + "  ",
            Severity::Legacy => styled(NOTE, "legacy"),
        };
        let _ = writeln!(
            text,
            "  {severity}  {}, {} ({}, {}): {}",
            finding.name,
            finding.operation.name(),
            match (finding.calls, finding.failed) {
                (0, failed) => format!("{} failed", count(failed)),
                (calls, _) => format!("× {}", count(calls)),
            },
            finding.programs.join(", "),
            finding.because
        );
    }
    text
}

fn acceleration_text(report: &Report) -> String {
    let possible: Vec<&Row> = report
        .work
        .iter()
        .filter(|row| row.saving.is_some())
        .collect();
    let done = report.acceleration.done_nanoseconds;
    if possible.is_empty() {
        return match done {
            0 => {
                "Outboard would do none of this work: according to this machine's profile, OpenSSL is as \
                 fast or faster.\n".into()
            }
            done => format!(
                "Outboard did {}{} of this work. For the rest, OpenSSL is as fast or faster, according to \
                 this machine's profile.\n",
                at_least(report, "at least "),
                time(float(done))
            ),
        };
    }
    let mut text = styled(TITLE, "With Outboard (outboard run, outboard enable)") + "\n";
    let is_measured = report.acceleration.saved_nanoseconds.is_some();
    let is_large = |row: &&Row| row.share_of_cryptography >= SMALL;
    let (large, small): (Vec<&Row>, Vec<&Row>) = possible.into_iter().partition(is_large);
    for row in &large {
        let saving = row.saving.as_ref().expect("invariant: filtered by it");
        let of = time(float(row.work.nanoseconds));
        let saved = match (saving.nanoseconds, saving.in_company_nanoseconds) {
            (Some(alone), Some(in_company)) => format!(
                "of {of}, saves {} alone, {} in company (eight at once)",
                saved_time(alone),
                saved_time(in_company)
            ),
            (Some(saved), None) => format!("saves {} of {of}", saved_time(saved)),
            (None, _) if is_measured => "the saving was not measured".to_owned(),
            (None, _) => format!("takes {of} now"),
        };
        let _ = writeln!(
            text,
            "  {} {}: path {}, {saved}",
            row.name,
            row.work.operation.name(),
            saving.path.name()
        );
    }
    if !small.is_empty() {
        let time = time(float(sum(small.iter().map(|row| row.work.nanoseconds))));
        let _ = writeln!(text, "  and {} of {time}", more(small.len()));
    }
    if !is_measured {
        text += "  run 'outboard calibrate' to learn what this saves\n";
    }
    if let Some(saved) = report.acceleration.saved_nanoseconds {
        let share = report
            .cpu_nanoseconds
            .filter(|&cpu| cpu > 0 && report.share_of_cpu.is_some())
            .map(|cpu| format!(", {} of the CPU time", percent(float(saved) / float(cpu))));
        let _ = writeln!(
            text,
            "  together {}{}{}",
            saved_time(saved),
            share.unwrap_or_default(),
            match report.acceleration.saved_in_company_nanoseconds {
                Some(saved) => format!("; {} in company", saved_time(saved)),
                None => String::new(),
            }
        );
    }
    text
}

fn quantum_text(report: &Report) -> String {
    let quantum = &report.quantum;
    let hybrid = quantum.openssh_hybrid_exchanges;
    let speaks_ssh = report
        .processes
        .iter()
        .any(|process| openssh::speaks_ssh(&process.program));
    let parts = [
        (
            quantum.key_agreements_post_quantum,
            quantum.key_agreements,
            "key agreements",
        ),
        (
            quantum.public_key_encryptions_post_quantum,
            quantum.public_key_encryptions,
            "public-key encryptions",
        ),
        (
            quantum.signatures_post_quantum,
            quantum.signatures,
            "signatures",
        ),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, all, _)| *all > 0)
        .map(|(ready, all, what)| format!("{} of {} {what}", count(ready), count(all)))
        .collect();
    if parts.is_empty() && !speaks_ssh {
        return String::new();
    }
    let mut text = styled(TITLE, "Quantum computers") + "\n";
    if let Some((last, others)) = parts.split_last() {
        let all = match others {
            [] => last.clone(),
            _ => format!("{} and {last}", others.join(", ")),
        };
        let _ = writeln!(text, "  {all} would resist one");
    }
    if hybrid > 0 {
        let _ = writeln!(
            text,
            "  at least {} of OpenSSH's own key exchanges would resist one; OpenSSH's other exchanges are \
             not seen",
            count(hybrid)
        );
    } else if speaks_ssh {
        text += "  OpenSSH's own key exchanges are not seen; no sign shows that one of them would resist\n";
    }
    if quantum.key_agreements_post_quantum < quantum.key_agreements {
        text += "  to do: 'outboard enable --post-quantum' gives programs with OpenSSL before 3.5 the groups of TLS 1.3 \
                 that resist; the other side needs them, too (docs/post-quantum.md)\n";
    }
    text
}

fn estimates_text(report: &Report) -> String {
    if report.estimates.is_empty() {
        return String::new();
    }
    let mut text = styled(TITLE, "OpenSSH's own code, estimated") + "\n";
    for estimate in &report.estimates {
        let amount = match estimate.exchanges {
            0 => bytes(estimate.bytes),
            1 => "at least 1 key exchange".to_owned(),
            exchanges => format!("at least {} key exchanges", count(exchanges)),
        };
        let _ = writeln!(
            text,
            "  {}: {amount}, about {} ({})",
            estimate.algorithm,
            time(float(estimate.nanoseconds)),
            estimate.because
        );
    }
    text += "  these times come from another machine; 'outboard advise ssh' measures them on this one\n";
    text
}

/// The saved time. Sizes at which Outboard is not faster save nothing.
fn saved_time(nanoseconds: u64) -> String {
    match nanoseconds {
        0 => "nothing".to_owned(),
        saved => time(float(saved)),
    }
}

fn more(kinds: usize) -> String {
    match kinds {
        1 => "1 more kind of work".to_owned(),
        kinds => format!("{kinds} more kinds of work"),
    }
}

/// The class of sizes with the most bytes.
fn usual_size(row: &Row) -> String {
    let most = row.work.sizes.iter().max_by_key(|class| class.bytes);
    match most.filter(|class| class.bytes > 0) {
        None => String::new(),
        Some(class) => limit(class.up_to),
    }
}

/// A class of sizes.
pub(super) fn limit(up_to: Option<u64>) -> String {
    match up_to {
        Some(limit) => format!("≤ {}", bytes(limit)),
        None => "> 1 MiB".to_owned(),
    }
}

/// Whether it works on data of any size.
pub(super) fn is_bulk(row: &Row) -> bool {
    matches!(
        row.work.operation,
        Operation::Seal | Operation::Open | Operation::Digest | Operation::Mac
    )
}

/// Whether the row goes into one line with others.
pub(super) fn is_small(row: &Row) -> bool {
    row.share_of_cryptography < SMALL && row.finding.is_none() && row.work.untimed == 0
}

fn speed(row: &Row) -> String {
    megabytes(row.work.bytes, row.work.nanoseconds)
}

/// The speed, if there were enough bytes to measure it.
pub(super) fn megabytes(bytes: u64, nanoseconds: u64) -> String {
    if bytes < 4096 || nanoseconds == 0 {
        return String::new();
    }
    let megabytes = float(bytes) / float(nanoseconds) * 1000.0;
    format!("{megabytes:.0} MB/s")
}

fn percent(share: f64) -> String {
    let share = share * 100.0;
    if share >= 9.95 {
        format!("{share:.0} %")
    } else if share >= 0.05 {
        format!("{share:.1} %")
    } else {
        "< 0.1 %".to_owned()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few digits are enough")]
pub(super) fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests;
