//! `outboard advise tls`: what certificates, groups and cipher suites cost with the installed OpenSSL,
//! and how to configure servers accordingly.

mod text;

use super::arguments::{Level, ServingArguments};
use super::failure;
use super::progress::User;
use crate::Failure;
use crate::output::{print, print_json};
use outboard_advice::tls::{Request, SCHEMA, Server, advise};
use outboard_programs::clean_up_on_signals;
use std::path::PathBuf;
use std::process::ExitCode;

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
    server: Option<ServerName>,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ServerName {
    Nginx,
    Apache,
    Haproxy,
}

impl From<ServerName> for Server {
    fn from(name: ServerName) -> Self {
        match name {
            ServerName::Nginx => Self::Nginx,
            ServerName::Apache => Self::Apache,
            ServerName::Haproxy => Self::Haproxy,
        }
    }
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    clean_up_on_signals()?;
    let request = Request {
        level: arguments.level.into(),
        server: arguments.server.map(Server::from),
        is_quick: arguments.quick,
        only: arguments.only,
        costs: arguments.costs,
        serving: arguments.serving.into(),
    };
    let report = advise(&request, &User).map_err(failure)?;
    match arguments.json {
        true => print_json(SCHEMA, &report)?,
        false => print(&text::of(&report))?,
    }
    Ok(ExitCode::SUCCESS)
}
