//! `outboard advise tls`: what certificates, groups and cipher suites cost with the installed OpenSSL,
//! and how to configure servers accordingly.

mod cost;
mod measure;
mod policy;
mod recommend;
mod snippets;

use cost::Costs;
use measure::measure;
use outboard_programs::{OpenSsl, Workplace, clean_up_on_signals};
use policy::{Judgement, Kind};
use recommend::{Advice, advise};
use serde::Serialize;
use snippets::Server;
use std::path::PathBuf;
use std::process::ExitCode;

use super::level::Level;
use super::serving::{Serving, ServingArguments};
use crate::Failure;
use crate::output::{NOTE, TITLE, print, print_json, styled};
use crate::table::{Align, Table, time};

/// The document that `--json` prints and `--costs` reads.
const SCHEMA: &str = "outboard-advise-tls";

const EXAMPLES: &str = "\
Examples:
  outboard advise tls                      Measure; show costs and lines
  outboard advise tls --for nginx          Show lines for nginx only
  outboard advise tls --level fips         Only what FIPS 140-3 allows
  outboard advise tls --json >costs.json   Measure once;
  outboard advise tls --costs costs.json   advise without measuring again

This command changes no file. The right place of the lines depends on the server's configuration.";

/// Which certificates, groups and cipher suites should this machine's servers use?
///
/// Measures what each one that the installed OpenSSL has costs a server and its clients, in real TLS 1.3
/// connections on loopback with and without Outboard (two or three minutes), and puts those that are
/// safe today in order, the cheapest first.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// How careful
    #[arg(long, value_name = "LEVEL", default_value_t)]
    level: Level,
    /// The server to write lines for: nginx, apache or haproxy; all of them otherwise
    #[arg(long = "for", value_name = "SERVER")]
    server: Option<Server>,
    /// Measure each once, in less than a minute: only large differences count then
    #[arg(long)]
    quick: bool,
    /// Measure only these; the others are left out
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Take the costs from a document that --json printed, instead of measuring
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "only"])]
    costs: Option<PathBuf>,
    #[command(flatten)]
    serving: ServingArguments,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    level: Level,
    measured: Costs,
    judgements: Vec<Judged>,
    advice: Advice,
    snippets: Vec<Snippet>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Judged {
    kind: Kind,
    name: &'static str,
    judgement: Judgement,
    reason: &'static str,
}

#[derive(Serialize)]
struct Snippet {
    server: Server,
    place: &'static str,
    text: String,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    clean_up_on_signals()?;
    let serving = Serving::find(&arguments.serving)?;
    let measured = match &arguments.costs {
        Some(file) => Costs::read(file)?,
        None => {
            let workplace = Workplace::new()?;
            let stock = OpenSsl::stock(&workplace)?;
            let outboard = match serving.is_outboard() {
                true => Some(serving.openssl(&workplace)?),
                false => None,
            };
            let pairs = if arguments.quick { 1 } else { 5 };
            measure(
                &workplace,
                &stock,
                outboard.as_ref(),
                pairs,
                &arguments.only,
            )?
        }
    };
    let advice = advise(&measured, arguments.level)?;
    let servers = match arguments.server {
        Some(server) => vec![server],
        None => Server::ALL.to_vec(),
    };
    let report = Report {
        level: arguments.level,
        judgements: judgements(&measured, arguments.level),
        snippets: servers
            .into_iter()
            .map(|server| Snippet {
                server,
                place: server.place(),
                text: server.snippet(&advice),
            })
            .collect(),
        notes: serving.note.into_iter().collect(),
        measured,
        advice,
    };
    if arguments.json {
        print_json(SCHEMA, &report)?;
    } else {
        print(&report.text())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn judgements(costs: &Costs, level: Level) -> Vec<Judged> {
    Kind::ALL
        .into_iter()
        .flat_map(policy::all)
        .filter(|known| costs.of(known.kind).any(|cost| cost.name == known.name))
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

impl Report {
    fn text(&self) -> String {
        let mut text = format!("{}; level {}\n", self.measured.openssl, self.level);
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
            text += &format!("\n{}\n{}", styled(TITLE, heading), self.table(kind));
            for tie in self.advice.ties.get(&kind).into_iter().flatten() {
                text += &format!(
                    "Too close to tell apart, so in the order of preference: {}.\n",
                    tie.join(", ")
                );
            }
        }
        text += &format!("\n{}", self.certificates());
        for snippet in &self.snippets {
            let heading = format!("{}, {}", snippet.server, snippet.place);
            text += &format!("\n{}\n", styled(TITLE, heading));
            for line in snippet.text.lines() {
                text += &format!("  {line}\n");
            }
        }
        for note in &self.notes {
            text += &format!("\n{} {note}.\n", styled(NOTE, "Note:"));
        }
        text
    }

    fn table(&self, kind: Kind) -> String {
        let mut table = Table::new(&[
            ("name", Align::Left),
            ("server", Align::Right),
            ("with Outboard", Align::Right),
            ("ratio", Align::Right),
            ("client", Align::Right),
            ("advice", Align::Left),
            ("because", Align::Left),
        ]);
        let mut costs: Vec<_> = self.measured.of(kind).collect();
        costs.sort_by(|a, b| a.server_seconds().total_cmp(&b.server_seconds()));
        for cost in costs {
            let judged = self
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
        table.render()
    }

    fn certificates(&self) -> String {
        match (self.advice.certificate, self.advice.second_certificate) {
            (Some(first), Some(second)) => format!(
                "Certificate: {first}. For very old clients without elliptic curves, add a second certificate \
                 with {second} (nginx, Apache and HAProxy serve both).\n"
            ),
            (Some(only), None) | (None, Some(only)) => format!("Certificate: {only}.\n"),
            (None, None) => String::new(),
        }
    }
}
