//! Costs and lines for servers, in words.

use crate::output::{NOTE, TITLE, styled};
use crate::table::{Align, Table};
use outboard_advice::tls::{Advice, Kind, Report};
use outboard_wording::time;

/// The whole report.
pub(super) fn of(report: &Report) -> String {
    let mut text = format!("{}; level {}\n", report.measured.openssl, report.level);
    for (kind, heading) in [
        (
            Kind::Certificate,
            "Certificates: CPU time of a full TLS 1.3 handshake",
        ),
        (
            Kind::Group,
            "Groups: CPU time of a full TLS 1.3 handshake with a P-256 certificate",
        ),
        (
            Kind::Suite,
            "Cipher suites: CPU time for 1 GiB, served from a file",
        ),
    ] {
        text += &format!("\n{}\n{}", styled(TITLE, heading), table(report, kind));
        for tie in report.advice.ties.get(&kind).into_iter().flatten() {
            text += &format!(
                "Too close to tell apart, so in the order of preference: {}.\n",
                tie.join(", ")
            );
        }
    }
    text += &format!("\n{}", certificates(&report.advice));
    for snippet in &report.snippets {
        let heading = format!("{}, {}", snippet.server, snippet.place);
        text += &format!("\n{}\n", styled(TITLE, heading));
        for line in snippet.text.lines() {
            text += &format!("  {line}\n");
        }
    }
    for note in &report.notes {
        text += &format!("\n{} {note}.\n", styled(NOTE, "Note:"));
    }
    text
}

fn table(report: &Report, kind: Kind) -> String {
    let mut table = Table::new(&[
        ("name", Align::Left),
        ("server", Align::Right),
        ("with Outboard", Align::Right),
        ("ratio", Align::Right),
        ("client", Align::Right),
        ("advice", Align::Left),
        ("because", Align::Left),
    ]);
    let mut costs: Vec<_> = report.measured.of(kind).collect();
    costs.sort_by(|a, b| a.server_seconds().total_cmp(&b.server_seconds()));
    for cost in costs {
        let judged = report
            .judgements
            .iter()
            .find(|judged| judged.kind == kind && judged.name == cost.name);
        table.row([
            cost.name.clone(),
            time(cost.stock_seconds * 1e9),
            cost.outboard_seconds
                .map(|s| time(s * 1e9))
                .unwrap_or_default(),
            cost.ratio
                .map(|ratio| format!("{ratio:.2}"))
                .unwrap_or_default(),
            time(cost.client_seconds * 1e9),
            judged
                .map(|judged| judged.judgement.to_string())
                .unwrap_or_default(),
            judged
                .map(|judged| judged.reason.to_owned())
                .unwrap_or_default(),
        ]);
    }
    for added in report
        .measured
        .post_quantum
        .iter()
        .filter(|_| kind == Kind::Group)
    {
        table.row([
            added.name.clone(),
            String::new(),
            time(added.outboard_seconds * 1e9),
            String::new(),
            time(added.client_seconds * 1e9),
            String::new(),
            "post-quantum hybrid; only with 'outboard enable --post-quantum'".to_owned(),
        ]);
    }
    table.render()
}

fn certificates(advice: &Advice) -> String {
    match (advice.certificate, advice.second_certificate) {
        (Some(first), Some(second)) => format!(
            "Certificate: {first}. For very old clients without elliptic curves, add a second certificate \
             with {second} (nginx, Apache and HAProxy serve both).\n"
        ),
        (Some(only), None) | (None, Some(only)) => format!("Certificate: {only}.\n"),
        (None, None) => String::new(),
    }
}
