//! `outboard cards`: every card of every process, and those of the card service.

mod service;

use crate::Failure;
use crate::completion;
use crate::keystrokes::Keys;
use crate::listing::{self, WhichArguments};
use crate::output::{self, print, print_json};
use crate::table::{Align, Table};
use outboard_inspect::card_service::Place;
use outboard_ledger::{Card, Histogram, Process as Counted, Queueing};
use outboard_ledger_report::{Ledgers, Which, since};
use outboard_operation::Operation;
use outboard_wording::{count, time};
use serde::Serialize;
use service::{Name, Service};
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  outboard cards              List the cards of your own processes
  outboard cards --all        List all cards (root sees all users)
  outboard cards -V           Also list each operation
  outboard cards --watch      Show changes every two seconds (q quits)
  outboard cards --offline 0  Let card 0 of the card service take no batches

card: a number names a card of the card service, and PID.NUMBER a card of a process. --pid, --program and --ledger \
leave out the card service's.

Offline: a card that is offline runs its requests alone, and no request fails. Only root and the service's user set a \
card offline or online, and the audit log says who did. All cards are online after a restart of the service.

fill: the average number of filled lanes, of eight. in lanes: the share of requests that ran in lanes. \
busy: the share of time that the card worked. wait: the median time from a request to the start of its run. \
run: the median time from then to the answer. 99 %: the time that 99 % of the requests stay below.";

/// Show every card: waiting requests, how full the lanes are, times
///
/// A card is a queue of up to eight requests of one kind, and a worker. The worker runs the waiting requests
/// together, one in each of the processor's eight lanes. A process that never has two requests at a time has
/// no card. The card service has one for each of its workers.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    which: WhichArguments,
    /// Also list each operation
    #[arg(short = 'V', long)]
    operations: bool,
    /// Show the changes in each interval, of 2 seconds unless you name another
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2",
          value_parser = clap::value_parser!(u64).range(1..))]
    watch: Option<u64>,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    /// Set this card of the card service offline
    #[arg(long, value_name = "CARD", exclusive = true, add = completion::cards())]
    offline: Option<Name>,
    /// Set this card of the card service online again
    #[arg(long, value_name = "CARD", exclusive = true, add = completion::cards())]
    online: Option<Name>,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    if let Some(card) = arguments.offline.or(arguments.online) {
        return service::set(card, arguments.online.is_some());
    }
    let which = Which::from(&arguments.which);
    let place = (!which.is_particular()).then(Place::in_force);
    let ask = || place.as_ref().map(Service::ask);
    let Some(seconds) = arguments.watch else {
        let ledgers = listing::read(&which)?;
        show(&ledgers, ask().as_ref(), &arguments, None)?;
        return Ok(ExitCode::SUCCESS);
    };
    const CLEAR: &str = "\x1b[H\x1b[2J";
    let clear = std::io::stdout().is_terminal() && !arguments.json;
    let interval = Duration::from_secs(seconds);
    let (mut before, mut service_before) = (listing::read(&which)?, ask());
    let keys = Keys::new();
    loop {
        if !keys.wait(interval, |_| {}) {
            return Ok(ExitCode::SUCCESS);
        }
        let (now, service_now) = (listing::read(&which)?, ask());
        if clear {
            print(CLEAR)?;
        }
        let service = service_now.as_ref().zip(service_before.as_ref());
        let service = service.map(|(now, before)| now.since(before));
        show(
            &since(&now, &before),
            service.as_ref(),
            &arguments,
            Some(interval),
        )?;
        if output::is_unread() {
            return Ok(ExitCode::SUCCESS);
        }
        (before, service_before) = (now, service_now);
    }
}

/// With `interval`, the table shows the changes within that time. Without it, the table counts from the cards' start.
fn show(
    ledgers: &Ledgers,
    service: Option<&Service>,
    arguments: &Arguments,
    interval: Option<Duration>,
) -> std::io::Result<()> {
    if arguments.json {
        return print_json("outboard-cards", &document(ledgers, service, interval));
    }
    let mut text = match interval {
        Some(interval) => {
            let title = format!("In the last {} s:\n", interval.as_secs());
            output::styled(output::TITLE, title)
        }
        None => String::new(),
    };
    let cards = cards(ledgers, service, interval);
    if !cards.is_empty() {
        text += &cards.render();
    }
    if processes(ledgers).all(|process| process.cards.is_empty()) {
        text += "No process has a card, because no process had two requests at the same time.\n";
    }
    text += &service.map(Service::remark).unwrap_or_default();
    if arguments.operations {
        let operations = operations(ledgers);
        if !operations.is_empty() {
            text += &format!("\n{}", operations.render());
        }
    }
    print(&text)
}

/// Running processes first; the processes of one program stand together.
fn processes(ledgers: &Ledgers) -> impl Iterator<Item = &Counted> {
    let all = ledgers.iter().flat_map(|(_, snapshot)| &snapshot.processes);
    let mut processes: Vec<&Counted> = all.collect();
    processes.sort_by(|a, b| (!a.alive, &a.program, a.pid).cmp(&(!b.alive, &b.program, b.pid)));
    processes.into_iter()
}

fn cards(ledgers: &Ledgers, service: Option<&Service>, interval: Option<Duration>) -> Table {
    let mut table = Table::new(&[
        ("card", Align::Right),
        ("program", Align::Left),
        ("process", Align::Right),
        ("status", Align::Left),
        ("pending", Align::Right),
        ("depth", Align::Right),
        ("requests", Align::Right),
        ("fill", Align::Right),
        ("in lanes", Align::Right),
        ("busy", Align::Right),
        ("wait", Align::Right),
        ("99 %", Align::Right),
        ("run", Align::Right),
        ("99 %", Align::Right),
    ]);
    if let Some(service) = service {
        service.rows(&mut table);
    }
    for process in processes(ledgers) {
        for card in &process.cards {
            let work = &card.work;
            table.row([
                format!("{}.{}", process.pid, card.id),
                process.program.clone(),
                name(process),
                card.status.name().to_owned(),
                count(card.pending),
                card.depth.to_string(),
                count(work.accepted),
                fill(work),
                share(work.share_in_lanes()),
                share(utilisation(card, interval)),
                quantile(&work.wait, 0.5),
                quantile(&work.wait, 0.99),
                quantile(&work.service, 0.5),
                quantile(&work.service, 0.99),
            ]);
        }
    }
    table
}

fn operations(ledgers: &Ledgers) -> Table {
    let mut table = Table::new(&[
        ("program", Align::Left),
        ("process", Align::Right),
        ("operation", Align::Left),
        ("requests", Align::Right),
        ("in lanes", Align::Right),
        ("batches", Align::Right),
        ("fill", Align::Right),
        ("one by one", Align::Right),
        ("cancelled", Align::Right),
        ("returned", Align::Right),
        ("wait", Align::Right),
        ("99 %", Align::Right),
        ("run", Align::Right),
        ("99 %", Align::Right),
    ]);
    for process in processes(ledgers) {
        for (operation, work) in process.counts.queueing_rows() {
            table.row([
                process.program.clone(),
                name(process),
                operation.name().to_owned(),
                count(work.accepted),
                count(work.in_lanes),
                count(work.batches),
                fill(work),
                count(work.one_by_one),
                some(work.cancelled),
                some(work.returned),
                quantile(&work.wait, 0.5),
                quantile(&work.wait, 0.99),
                quantile(&work.service, 0.5),
                quantile(&work.service, 0.99),
            ]);
        }
    }
    table
}

fn name(process: &Counted) -> String {
    match process.alive {
        true => process.pid.to_string(),
        false => format!("{} ended", process.pid),
    }
}

fn fill(work: &Queueing) -> String {
    work.average_fill()
        .map(|fill| format!("{fill:.1}"))
        .unwrap_or_default()
}

fn share(share: Option<f64>) -> String {
    share
        .map(|share| format!("{:.0} %", 100.0 * share))
        .unwrap_or_default()
}

/// A number that is seldom other than zero.
fn some(number: u64) -> String {
    if number == 0 {
        String::new()
    } else {
        count(number)
    }
}

fn quantile(times: &Histogram, share: f64) -> String {
    times
        .quantile(share)
        .map(|quantile| time(quantile.as_secs_f64() * 1e9))
        .unwrap_or_default()
}

/// Which share of the time the card worked.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn utilisation(card: &Card, interval: Option<Duration>) -> Option<f64> {
    match interval {
        Some(interval) => {
            let busy = Duration::from_nanos(card.work.busy_nanoseconds);
            Some((busy.as_nanos() as f64 / interval.as_nanos() as f64).min(1.0))
        }
        None => card.utilisation,
    }
}

#[derive(Serialize)]
struct Document<'a> {
    ledgers: Vec<Ledger<'a>>,
    /// None where the user named a process, a program or a ledger.
    service: Option<service::Document<'a>>,
}

#[derive(Serialize)]
struct Ledger<'a> {
    ledger: &'a Path,
    processes: Vec<Process<'a>>,
}

#[derive(Serialize)]
struct Process<'a> {
    pid: u32,
    uid: u32,
    program: &'a str,
    alive: bool,
    cards: Vec<Card>,
    operations: Vec<Worked<'a>>,
}

#[derive(Serialize)]
struct Worked<'a> {
    operation: Operation,
    average_fill: Option<f64>,
    share_in_lanes: Option<f64>,
    #[serde(flatten)]
    work: &'a Queueing,
}

fn document<'a>(
    ledgers: &'a Ledgers,
    service: Option<&'a Service>,
    interval: Option<Duration>,
) -> Document<'a> {
    let has_cards = |process: &&Counted| {
        !process.cards.is_empty() || process.counts.queueing_rows().next().is_some()
    };
    let ledgers = ledgers.iter().map(|(path, snapshot)| Ledger {
        ledger: path,
        processes: snapshot
            .processes
            .iter()
            .filter(has_cards)
            .map(|entry| Process {
                pid: entry.pid,
                uid: entry.uid,
                program: &entry.program,
                alive: entry.alive,
                cards: entry
                    .cards
                    .iter()
                    .map(|card| Card {
                        utilisation: utilisation(card, interval),
                        ..card.clone()
                    })
                    .collect(),
                operations: entry
                    .counts
                    .queueing_rows()
                    .map(|(operation, work)| Worked {
                        operation,
                        average_fill: work.average_fill(),
                        share_in_lanes: work.share_in_lanes(),
                        work,
                    })
                    .collect(),
            })
            .collect(),
    });
    Document {
        ledgers: ledgers.collect(),
        service: service.map(Service::document),
    }
}
