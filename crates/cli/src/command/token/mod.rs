//! `outboard token`: tokens of PKCS #11 in the card service.

mod check;
mod import;
mod objects;
mod pin;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use outboard_administration::{
    Connection, Login, Pins, Reply, Request, Role, Secret, TokenInfo, TokenPolicy, TokenRequest,
};
use outboard_wire::{KeyId, SYSTEM_DIRECTORY};
use outboard_wording::printable;
use serde::Serialize;

use crate::command::keys::{Grantee, done, grant, rename};
use crate::completion;
use crate::output::{complain, print, print_json};
use crate::{Failure, WrongUsage};
use outboard_inspect::card_service::option;

const EXAMPLES: &str = "\
Examples:
  outboard token init web                     Make a token; type its PINs
  outboard token grant web --user tomcat      Let Tomcat's user log in
  outboard token import web site --key site.key --certificate site.pem
  outboard token check web                    Say what programs will not see
  outboard token objects web                  List its objects
  outboard token reset-pin web                Unlock the user's PIN

Token: a place in the card service for keys, certificates and data that programs reach through PKCS #11. The user \
of a token logs in with a PIN, and makes and uses keys. Its security officer gives the user a PIN. Nobody logs in \
without a grant, or without the right to administer the token. After 10 wrong PINs in a row a PIN is locked.

PIN: 4 to 255 bytes, from a prompt, from the first line of a file, or from an open descriptor.";

/// What a prompt asks for.
const USER: &str = "the user's PIN";

/// Give programs tokens of PKCS #11 with PINs, whose keys stay in the card service
///
/// A program makes and uses such keys through the module outboard-pkcs11.so: Java's keytool, pkcs11-tool, GnuTLS, NSS.
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
    /// List the tokens
    List {
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
    /// Make a token
    Init {
        /// The token's name
        name: String,
        /// What programs see; without it, the name
        #[arg(long)]
        label: Option<String>,
        /// Without PINs: grants alone decide who uses it
        #[arg(long, conflicts_with_all = ["pin_file", "pin_fd", "officer_pin_file", "officer_pin_fd"])]
        no_pin: bool,
        #[command(flatten)]
        pin: pin::Pin,
        #[command(flatten)]
        officer: pin::OfficerPin,
    },
    /// Change the user's PIN, or the security officer's
    SetPin {
        /// The token's name
        #[arg(add = completion::tokens())]
        name: String,
        /// The security officer's PIN, instead of the user's
        #[arg(long)]
        officer: bool,
        #[command(flatten)]
        pin: pin::Pin,
        #[command(flatten)]
        new: pin::NewPin,
    },
    /// Give the user a new PIN, and unlock it, with the security officer's PIN
    ResetPin {
        /// The token's name
        #[arg(add = completion::tokens())]
        name: String,
        #[command(flatten)]
        officer: pin::OfficerPin,
        #[command(flatten)]
        new: pin::NewPin,
    },
    /// List a token's objects
    Objects {
        /// The token's name
        #[arg(add = completion::tokens())]
        name: String,
        /// Print a JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        pin: pin::Pin,
    },
    /// Say which objects Java, OpenSSH, GnuTLS or OpenSSL will not see, and why
    Check {
        /// The token's name
        #[arg(add = completion::tokens())]
        name: String,
        /// Print a JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        pin: pin::Pin,
    },
    /// Take a key over from a file, with its certificates
    Import(import::Arguments),
    /// Destroy the objects of a label, or the object of an id
    Remove {
        /// The token's name
        #[arg(add = completion::tokens())]
        name: String,
        /// A label, or an id of 32 hexadecimal digits
        object: String,
        #[command(flatten)]
        pin: pin::Pin,
    },
    /// Show or set what keys a token takes and makes
    Policy {
        /// The token's name
        #[arg(add = completion::tokens())]
        name: String,
        /// Only these: rsa-2048, p256, and so on; 'all': every type
        #[arg(long, value_delimiter = ',')]
        types: Option<Vec<String>>,
        /// Only these: CKM_ECDSA, and so on; 'all': every mechanism
        #[arg(long, value_delimiter = ',')]
        mechanisms: Option<Vec<String>>,
    },
    /// Let a user or a group use a token, or administer it
    Grant(GrantArguments),
    /// Take a grant back
    Revoke(GrantArguments),
    /// Give a token another name; programs see no change
    Rename {
        /// The token's name
        #[arg(add = completion::tokens())]
        name: String,
        /// Its new name
        to: String,
    },
    /// Destroy a token and all its objects
    Delete {
        /// The token's name
        #[arg(add = completion::tokens())]
        name: String,
        /// Confirm that its keys are lost
        #[arg(long)]
        yes: bool,
    },
}

#[derive(clap::Args)]
struct GrantArguments {
    /// The token's name
    #[arg(add = completion::tokens())]
    name: String,
    #[command(flatten)]
    grantee: Grantee,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    // Before anything is asked: a wrong file is told at once.
    let import = match &arguments.command {
        Command::Import(what) => Some(import::Import::read(what)?),
        _ => None,
    };
    let mut connection = Connection::open(&arguments.directory)?;
    let service = &mut connection;
    let option = option(&arguments.directory);
    match arguments.command {
        Command::List { json } => {
            let Reply::Tokens { tokens } = service.ask(&Request::Tokens)? else {
                return Err(service.surprised().into());
            };
            match json {
                true => print_json("outboard-tokens", &Tokens { tokens: &tokens })?,
                false => print(&text::list(&tokens, &option))?,
            }
        }
        Command::Init {
            name,
            label,
            no_pin,
            pin,
            officer,
        } => {
            let pins = match no_pin {
                true => None,
                false => Some(Pins {
                    officer: officer.source().read_new()?,
                    user: Some(pin.source(USER).read_new()?),
                }),
            };
            let label = label.unwrap_or_else(|| name.clone());
            let create = TokenRequest::Create { label, pins };
            let token = shown(service, &name, create)?;
            print(&text::new(&token, &option))?;
        }
        Command::SetPin {
            name,
            officer,
            pin,
            new,
        } => {
            let role = match officer {
                true => Role::Officer,
                false => Role::User,
            };
            let token = shown(service, &name, TokenRequest::Show)?;
            has_pin(&token, role, &option)?;
            let old = pin.source("the old PIN").read()?;
            let new = new.source().read_new()?;
            let set = TokenRequest::SetPin { role, old, new };
            done(service, &request(&name, None, set))?;
            print(
                "The PIN is changed. Programs that are logged in with the old one must log in again.\n",
            )?;
        }
        Command::ResetPin { name, officer, new } => {
            let token = shown(service, &name, TokenRequest::Show)?;
            has_pin(&token, Role::Officer, &option)?;
            let (pin, new) = (officer.source().read()?, new.source().read_new()?);
            let ticket = log_in(service, &name, Role::Officer, Some(pin))?;
            let init = TokenRequest::InitPin { pin: new };
            done(service, &request(&name, Some(&ticket), init))?;
            print("The user has a new PIN, and all tries again.\n")?;
        }
        Command::Objects { name, json, pin } => {
            let (token, ticket) = open(service, &name, &pin, &option)?;
            let (objects, damaged) = objects::all(service, &token.name, &ticket)?;
            match json {
                true => print_json(
                    "outboard-token-objects",
                    &Objects {
                        token: &token.name,
                        objects: &objects,
                        damaged: &damaged,
                    },
                )?,
                false => print(&objects::table(&objects))?,
            }
            if !damaged.is_empty() {
                damaged.iter().for_each(|sentence| complain(sentence));
                return Ok(ExitCode::FAILURE);
            }
        }
        Command::Check { name, json, pin } => {
            let (token, ticket) = open(service, &name, &pin, &option)?;
            let (objects, damaged) = objects::all(service, &token.name, &ticket)?;
            let findings = check::findings(&token, &objects, &option);
            match json {
                true => print_json(
                    "outboard-token-check",
                    &Check {
                        token: &token.name,
                        objects: objects.len(),
                        findings: &findings,
                        damaged: &damaged,
                    },
                )?,
                false => print(&check::text(&token, &findings, objects.len()))?,
            }
            damaged.iter().for_each(|sentence| complain(sentence));
            if !(findings.is_empty() && damaged.is_empty()) {
                return Ok(ExitCode::FAILURE);
            }
        }
        Command::Import(what) => {
            let (token, ticket) = open(service, &what.name, &what.pin, &option)?;
            // It was read above.
            if let Some(import) = import {
                let count = import.store(service, &token.name, &ticket)?;
                let certificates = match count {
                    0 => "no new certificate".to_owned(),
                    1 => "1 new certificate".to_owned(),
                    count => format!("{count} new certificates"),
                };
                print(&format!(
                    "Token '{}' now has the key and {certificates}. The file with the key is no longer needed.\n",
                    token.name
                ))?;
            }
        }
        Command::Remove { name, object, pin } => {
            let (token, ticket) = open(service, &name, &pin, &option)?;
            let (objects, _) = objects::all(service, &token.name, &ticket)?;
            let is_meant = |known: &&objects::Object| known.id == object || known.label == object;
            let mut meant: Vec<_> = objects.iter().filter(is_meant).map(|it| &it.id).collect();
            if meant.is_empty() {
                if object.parse::<KeyId>().is_err() {
                    let (name, object) = (&token.name, printable(&object));
                    let problem = format!(
                        "token '{name}' has no object '{object}' (run 'outboard token objects {name}{option}')"
                    );
                    return Err(problem.into());
                }
                // One that is damaged is not listed.
                meant.push(&object);
            }
            for id in &meant {
                let object = (*id).clone();
                let destroy = TokenRequest::Destroy { object };
                done(service, &request(&token.name, Some(&ticket), destroy))?;
            }
            print(&format!("Objects destroyed: {}.\n", meant.len()))?;
        }
        Command::Policy {
            name,
            types,
            mechanisms,
        } => {
            let mut token = shown(service, &name, TokenRequest::Show)?;
            let all = |list: Vec<String>| (list != ["all"]).then_some(list);
            if types.is_some() || mechanisms.is_some() {
                let before = token.policy.clone();
                let policy = TokenPolicy {
                    types: types.map_or(before.types, all),
                    mechanisms: mechanisms.map_or(before.mechanisms, all),
                };
                token = shown(service, &name, TokenRequest::Policy { policy })?;
            }
            print(&text::policy(&token))?;
        }
        Command::Grant(what) => grant(service, what.name, &what.grantee, true)?,
        Command::Revoke(what) => grant(service, what.name, &what.grantee, false)?,
        Command::Rename { name, to } => rename(service, name, to)?,
        Command::Delete { name, yes: false } => {
            let problem = format!(
                "token '{name}' and all its keys would be lost for ever (to destroy it, run 'outboard token delete \
                 {name} --yes{option}')"
            );
            return Err(WrongUsage(problem).into());
        }
        Command::Delete { name, yes: true } => {
            done(service, &request(&name, None, TokenRequest::Delete))?;
            print(&format!("Token '{}' is destroyed.\n", printable(&name)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Tokens<'a> {
    tokens: &'a [TokenInfo],
}

#[derive(Serialize)]
struct Objects<'a> {
    token: &'a str,
    objects: &'a [objects::Object],
    damaged: &'a [String],
}

#[derive(Serialize)]
struct Check<'a> {
    token: &'a str,
    objects: usize,
    findings: &'a [check::Finding],
    damaged: &'a [String],
}

fn request(token: &str, ticket: Option<&Secret>, what: TokenRequest) -> Request {
    Request::Token {
        token: token.to_owned(),
        ticket: ticket.cloned(),
        what,
    }
}

/// Asks something of a token.
fn ask(
    service: &mut Connection,
    token: &str,
    ticket: Option<&Secret>,
    what: TokenRequest,
) -> Result<Reply, Failure> {
    Ok(service.ask(&request(token, ticket, what))?)
}

/// Asks what is answered by the token.
fn shown(service: &mut Connection, name: &str, what: TokenRequest) -> Result<TokenInfo, Failure> {
    match ask(service, name, None, what)? {
        Reply::Tokens { mut tokens } if tokens.len() == 1 => Ok(tokens.remove(0)),
        _ => Err(service.surprised().into()),
    }
}

/// The token, and a ticket of its user.
fn open(
    service: &mut Connection,
    name: &str,
    pin: &pin::Pin,
    option: &str,
) -> Result<(TokenInfo, Secret), Failure> {
    let token = shown(service, name, TokenRequest::Show)?;
    let pin = match token.user {
        Login::Grant => None,
        _ => {
            has_pin(&token, Role::User, option)?;
            Some(pin.source(USER).read()?)
        }
    };
    let ticket = log_in(service, name, Role::User, pin)?;
    Ok((token, ticket))
}

fn log_in(
    service: &mut Connection,
    name: &str,
    role: Role,
    pin: Option<Secret>,
) -> Result<Secret, Failure> {
    match ask(service, name, None, TokenRequest::Login { role, pin })? {
        Reply::Ticket { ticket } => Ok(ticket),
        _ => Err(service.surprised().into()),
    }
}

/// That there is a PIN to ask for.
fn has_pin(token: &TokenInfo, role: Role, option: &str) -> Result<(), Failure> {
    let name = &token.name;
    let login = match role {
        Role::User => token.user,
        Role::Officer => token.officer,
    };
    Err(match login {
        Login::Pin { .. } => return Ok(()),
        Login::Grant => format!("token '{name}' has no PINs (its grants decide who uses it)"),
        Login::Unset => {
            format!("the user of token '{name}' has no PIN yet (run 'outboard token reset-pin {name}{option}')")
        }
    }
    .into())
}
