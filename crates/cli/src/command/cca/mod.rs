//! `outboard cca`: the CCA coprocessor of the card service, and its verbs.

mod call;
mod text;
mod udx;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use outboard_administration::{
    Connection, CoprocessorInfo, CoprocessorRequest, Grant, Reply, Request, Right,
};
use outboard_cca::Description;
use outboard_inspect::card_service::option;
use outboard_wire::SYSTEM_DIRECTORY;
use serde::Serialize;

use crate::command::keys::{Grantee, text::subject};
use crate::completion;
use crate::output::{print, print_json};
use crate::{Failure, WrongUsage};

const EXAMPLES: &str = "\
Examples:
  outboard cca enable                       Make the coprocessor, switch it on
  outboard cca grant --user payments        Let a user call verbs
  outboard cca verbs                        List the verbs
  outboard cca verbs CSNBKGN                Show what a verb takes and makes
  outboard cca call CSNBRNG form=RANDOM     Call a verb
  outboard cca call key-generate key_form=OP key_length=DOUBLE key_type_1=DATA
  outboard cca call CSNBPTR < request.json  The same with parameters from JSON
  outboard cca call access-points enable=0x1b,0x1c
  outboard cca status                       Count the calls of each verb
  outboard cca udx add limit limit.wasm --verb CSNBMGN2 --key mac=text:SHOP.MAC
                                            Add a verb of your own (WebAssembly)

Verb: one call of IBM's Common Cryptographic Architecture (CCA), for example CSNBPTR, which translates an encrypted \
PIN. The coprocessor carries verbs out in software. It is for development, tests and migration. It is not \
tamper-proof and not certified: never give it keys that protect real accounts.

Parameters: NAME=VALUE, or without any a JSON object from standard input, {\"form\": \"RANDOM\"}. A value is a keyword; \
several keywords with commas between them; a number, decimal or as 0x1b; several numbers with commas; or bytes. Bytes \
are hexadecimal digits, text:ABC for the characters themselves, or @FILE for a file's content. Other users can see the words of a command: give a clear PIN or \
a clear key from standard input or a file.

Exit status of 'call': the verb's return code. 0 done, 4 not verified, 8 refused, 12 the coprocessor cannot, 16 the \
library failed; 1 if the service cannot be asked, 2 wrong usage.";

/// Call the verbs of a payment coprocessor (CCA) in software, for development and tests
///
/// The card service carries out the verbs that IBM's Crypto Express cards have: keys, PINs, MACs, TR-31 blocks. It is
/// off until root switches it on, and users need a grant. Not tamper-proof, not certified.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// The directory of the service's sockets
    #[arg(long, value_name = "DIR", default_value = SYSTEM_DIRECTORY, global = true)]
    directory: PathBuf,
}

#[derive(Subcommand)]
enum Command {
    /// Switch the coprocessor on; make it if there is none
    Enable,
    /// Switch the coprocessor off; its keys stay
    Disable,
    /// Destroy the coprocessor with its master keys and its key storage
    Destroy {
        /// Confirm that its keys are lost
        #[arg(long)]
        yes: bool,
    },
    /// Let a user or a group call verbs, or administer the coprocessor
    Grant(GrantArguments),
    /// Take all grants back; with --administer, the right to administer alone
    Revoke(GrantArguments),
    /// Show whether it is on, who may call it, and the calls of each verb
    Status {
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
    /// List the verbs, or show what a verb takes and makes
    Verbs {
        /// A verb: CSNBKGN or key-generate
        #[arg(add = completion::verbs())]
        verb: Option<String>,
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
    /// Call a verb; prints a JSON document
    Call(call::Arguments),
    /// Add, grant, list and call user-defined extensions: verbs of your own, as WebAssembly modules
    #[command(subcommand)]
    Udx(udx::Command),
}

#[derive(clap::Args)]
struct GrantArguments {
    #[command(flatten)]
    grantee: Grantee,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let directory = std::path::absolute(&arguments.directory)?;
    let option = option(&directory);
    let ask = |what| -> Result<CoprocessorInfo, Failure> {
        let mut service = Connection::open(&directory)?;
        match service.ask(&Request::Coprocessor { what })? {
            Reply::Coprocessor(info) => Ok(*info),
            _ => Err(service.surprised().into()),
        }
    };
    match arguments.command {
        Command::Enable => {
            let info = ask(CoprocessorRequest::Enable)?;
            print(&text::enabled(&info, &option))?;
        }
        Command::Disable => {
            ask(CoprocessorRequest::Disable)?;
            print("The coprocessor is off. Its keys stay.\n")?;
        }
        Command::Destroy { yes: false } => {
            let problem = format!(
                "all keys of the coprocessor would be lost for ever (to destroy it, run 'outboard cca destroy --yes{option}')"
            );
            return Err(WrongUsage(problem).into());
        }
        Command::Destroy { yes: true } => {
            ask(CoprocessorRequest::Destroy)?;
            print("The coprocessor is destroyed.\n")?;
        }
        Command::Grant(GrantArguments { grantee }) => {
            let grant = grantee.grant()?;
            ask(CoprocessorRequest::Grant { grant, given: true })?;
            print(&format!("{} may now {}.\n", subject(grant.to), act(grant)))?;
        }
        Command::Revoke(GrantArguments { grantee }) => {
            let grant = grantee.grant()?;
            let given = false;
            // Who may administer may call: the right to call is not taken back without it.
            let administer = Grant {
                right: Right::Administer,
                ..grant
            };
            ask(CoprocessorRequest::Grant {
                grant: administer,
                given,
            })?;
            let act = match grant.right {
                Right::Administer => act(grant),
                Right::Use => {
                    ask(CoprocessorRequest::Grant { grant, given })?;
                    "call the coprocessor's verbs or administer it"
                }
            };
            print(&format!("{} has no grant to {act}.\n", subject(grant.to)))?;
        }
        Command::Status { json } => {
            let info = ask(CoprocessorRequest::Show)?;
            match json {
                true => print_json("outboard-cca", &info)?,
                false => print(&text::status(&info, &option))?,
            }
        }
        Command::Verbs { verb: None, json } => match json {
            true => print_json("outboard-cca-verbs", &Verbs::all())?,
            false => print(&text::verbs())?,
        },
        Command::Verbs {
            verb: Some(verb),
            json,
        } => {
            let verb = call::known(&verb)?;
            match json {
                true => print_json("outboard-cca-verbs", &Verbs::of(&[*verb]))?,
                false => print(&text::verb(verb))?,
            }
        }
        Command::Call(what) => return call::run(&what, &directory),
        Command::Udx(what) => return udx::run(what, &directory),
    }
    Ok(ExitCode::SUCCESS)
}

fn act(grant: Grant) -> &'static str {
    match grant.right {
        Right::Use => "call the coprocessor's verbs",
        Right::Administer => "administer the coprocessor",
    }
}

/// What `verbs --json` prints.
#[derive(Serialize)]
struct Verbs {
    verbs: Vec<Verb>,
}

#[derive(Serialize)]
struct Verb {
    verb: &'static str,
    words: String,
    purpose: &'static str,
    parameters: Vec<Parameter>,
    results: Vec<Parameter>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    kind: &'static str,
}

impl Verbs {
    fn all() -> Self {
        Self::of(outboard_cca::Request::VERBS)
    }

    fn of(verbs: &[Description]) -> Self {
        let parameters = |all: &[outboard_cca::Parameter]| {
            let all = all.iter();
            all.map(|parameter| Parameter {
                name: parameter.name,
                kind: text::kind(parameter.kind),
            })
            .collect()
        };
        let verbs = verbs.iter().map(|verb| Verb {
            verb: verb.name,
            words: verb.words(),
            purpose: verb.purpose.trim(),
            parameters: parameters(verb.parameters),
            results: parameters(verb.results),
        });
        Self {
            verbs: verbs.collect(),
        }
    }
}
