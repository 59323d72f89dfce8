//! `outboard keys`: the keys of the card service.

mod adopt;
mod csr;
mod delete;
pub(in crate::command) mod private_key;
mod revert;
mod sshd;
pub(in crate::command) mod text;

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use outboard_administration::{Connection, Grant, KeyInfo, Reply, Request, Right, Subject};
use outboard_wire::{KeyType, SYSTEM_DIRECTORY};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::completion;
use crate::output::{complain, print, print_json, remark};
use crate::{Failure, WrongUsage};
use outboard_accounts::{self as accounts, Account};

/// The longest chain of certificates, in PEM, that the service takes.
const MOST_CERTIFICATES: u64 = 48 * 1024;

const EXAMPLES: &str = "\
Examples:
  outboard keys generate site --type rsa-3072   Make a key inside the service
  outboard keys import site < site.key          Take a key over
  outboard keys adopt /etc/nginx/site.key       Leave a reference in its place
  outboard keys adopt /etc/ssh/ssh_host_*_key   Let sshd ask for its host keys
  outboard keys grant site --user www-data      Let nginx use it
  outboard keys csr site --subject /CN=a.org    Request a certificate for it
  outboard keys list                            List the keys
  outboard keys audit                           Show what administrators did

Service key: a private key that only the card service has. A program's key file holds a reference to it: a PEM \
block 'OUTBOARD KEY' with the key's name and its public half.

Grant: the right of a user or a group to use a key, or to administer it. Root and the service's own user \
administer every key. Nobody uses a key without a grant, not even root.";

/// Keep private keys in the card service, out of the programs that face the network
///
/// Programs use such a key as before: their key file holds a reference in the place of the key, and Outboard asks
/// the service for each signature.
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
    /// Make a key inside the service
    Generate {
        /// The key's name
        name: String,
        /// rsa-2048, rsa-3072, rsa-4096, p256, p384, p521 or ed25519
        #[arg(long = "type", value_name = "TYPE", add = completion::key_types())]
        kind: KeyType,
        /// Let the key leave the service later
        #[arg(long)]
        exportable: bool,
    },
    /// Take a key over from standard input: PEM, DER or PKCS #12, encrypted or not
    Import {
        /// The key's name
        name: String,
        /// A file whose first line is the passphrase
        #[arg(long, value_name = "FILE")]
        passphrase: Option<PathBuf>,
        /// Let the key leave the service later
        #[arg(long)]
        exportable: bool,
    },
    /// Take over the key of a file, and put a reference in its place
    Adopt(adopt::Arguments),
    /// Give a key its certificate, and those that issued it, from standard input (PEM)
    ///
    /// Programs that reach keys through PKCS #11 find a key's certificate beside it. TLS servers that read a
    /// certificate file go on reading it.
    Certify {
        /// The key's name
        #[arg(add = completion::keys())]
        name: String,
        /// Take the key's certificates away
        #[arg(long)]
        remove: bool,
    },
    /// Let a user or a group use a key, or administer it
    Grant(GrantArguments),
    /// Take a grant back
    Revoke(GrantArguments),
    /// List the keys
    List {
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
    /// Show a key
    Show {
        /// The key's name
        #[arg(add = completion::keys())]
        name: String,
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
    /// Print the reference that a key file holds
    Reference {
        /// The key's name
        #[arg(add = completion::keys())]
        name: String,
    },
    /// Print the public half, as PEM
    Public {
        /// The key's name
        #[arg(add = completion::keys())]
        name: String,
    },
    /// Print a certificate request that the key signs, as PEM
    Csr(csr::Arguments),
    /// Give a key or a token another name; references stay valid
    Rename {
        /// The key's name
        #[arg(add = completion::keys())]
        name: String,
        /// Its new name
        to: String,
    },
    /// Destroy a key
    Delete {
        /// The key's name
        #[arg(add = completion::keys())]
        name: String,
        /// Confirm that the key is lost
        #[arg(long)]
        yes: bool,
    },
    /// Set what a key may be used for
    Policy(PolicyArguments),
    /// Agree to an act, where the key's policy asks several administrators
    Approve {
        /// The key's name
        #[arg(add = completion::keys())]
        name: String,
        /// The act; 'policy' with the options of 'outboard keys policy'
        #[arg(value_parser = ["export", "delete", "policy"])]
        act: String,
        #[command(flatten)]
        limits: Limits,
    },
    /// Print the private half of an exportable key, as PEM
    Export {
        /// The key's name
        #[arg(add = completion::keys())]
        name: String,
    },
    /// Copy the store, while it serves, to a file beside it; encrypted as the store is
    Backup {
        /// The copy's name, without a directory
        file: String,
    },
    /// Show what administrators did, or check that the log is whole
    Audit {
        /// Check the chain of hashes
        #[arg(long, conflicts_with = "json")]
        check: bool,
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
}

#[derive(clap::Args)]
struct GrantArguments {
    /// The key's name
    #[arg(add = completion::keys())]
    name: String,
    #[command(flatten)]
    grantee: Grantee,
}

/// To whom a right is given, and which.
#[derive(clap::Args)]
pub(in crate::command) struct Grantee {
    /// A user, by name or number
    #[arg(long, required_unless_present = "group", conflicts_with = "group", add = completion::users())]
    user: Option<String>,
    /// A group, by name or number
    #[arg(long, add = completion::groups())]
    group: Option<String>,
    /// The right to administer, instead of the right to use
    #[arg(long)]
    administer: bool,
}

#[derive(clap::Args)]
struct PolicyArguments {
    /// The key's name
    #[arg(add = completion::keys())]
    name: String,
    #[command(flatten)]
    limits: Limits,
}

#[derive(clap::Args)]
struct Limits {
    /// Only these: sign, decrypt, derive
    #[arg(long, value_delimiter = ',')]
    operations: Option<Vec<String>>,
    /// Only these: pkcs1, pss, oaep
    #[arg(long, value_delimiter = ',')]
    paddings: Option<Vec<String>>,
    /// Only these: sha256, sha384, sha512, and so on
    #[arg(long, value_delimiter = ',')]
    digests: Option<Vec<String>>,
    /// The most operations in each second; 0: no limit
    #[arg(long)]
    rate: Option<u32>,
    /// The first second of its use, in seconds since 1970; 0: no limit
    #[arg(long, value_name = "SECONDS")]
    valid_from: Option<u64>,
    /// The first second after its use, in seconds since 1970; 0: no limit
    #[arg(long, value_name = "SECONDS")]
    valid_to: Option<u64>,
    /// The number of administrators who must agree before the key is exported or deleted, or this changes; 0: none
    #[arg(long, value_name = "NUMBER")]
    approvals: Option<u8>,
    /// The administrators who may agree, by name or number
    #[arg(
        long,
        value_name = "USER",
        value_delimiter = ',',
        requires = "approvals",
        add = completion::users()
    )]
    administrators: Option<Vec<String>>,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    if let Command::Adopt(what) = &arguments.command
        && what.revert
    {
        revert::run(&what.files, &arguments.directory)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut connection = Connection::open(&arguments.directory)?;
    let service = &mut connection;
    match arguments.command {
        Command::Generate {
            name,
            kind,
            exportable,
        } => {
            if let KeyType::Rsa(3000..) = kind {
                remark("making the key; a large RSA key takes seconds");
            }
            let kind = kind.to_string();
            let request = Request::Generate {
                name,
                kind,
                exportable,
            };
            text::tell_new(&key(service, &request)?, &arguments.directory)?;
        }
        Command::Import {
            name,
            passphrase,
            exportable,
        } => {
            let mut given = Zeroizing::new(Vec::with_capacity(private_key::MOST));
            let most = private_key::MOST as u64;
            io::stdin().take(most).read_to_end(&mut given)?;
            let private = private_key::read(&given, passphrase.as_deref(), "standard input")?;
            let request = Request::Import {
                name,
                key: private,
                exportable,
            };
            text::tell_new(&key(service, &request)?, &arguments.directory)?;
        }
        Command::Certify { name, remove } => {
            let certificates = match remove {
                true => String::new(),
                false => read_certificates()?,
            };
            let request = Request::Certify { name, certificates };
            text::tell_certificates(&key(service, &request)?)?;
        }
        Command::Adopt(what) => adopt::run(service, &what, &arguments.directory)?,
        Command::Grant(what) => grant(service, what.name, &what.grantee, true)?,
        Command::Revoke(what) => grant(service, what.name, &what.grantee, false)?,
        Command::List { json } => {
            let (keys, damaged) = service.keys()?;
            match json {
                true => print_json(
                    "outboard-keys",
                    &Keys {
                        keys: &keys,
                        damaged: &damaged,
                    },
                )?,
                false => print(&text::list(&keys, &arguments.directory))?,
            }
            if !damaged.is_empty() {
                damaged.iter().for_each(|sentence| complain(sentence));
                return Ok(ExitCode::FAILURE);
            }
        }
        Command::Show { name, json } => {
            let key = key(service, &Request::Show { name })?;
            match json {
                true => print_json("outboard-key", &key)?,
                false => print(&text::show(&key))?,
            }
        }
        Command::Reference { name } => print(&key(service, &Request::Show { name })?.reference)?,
        Command::Public { name } => print(&key(service, &Request::Show { name })?.public)?,
        Command::Csr(what) => {
            let name = what.name.clone();
            let key = key(service, &Request::Show { name })?;
            print(&csr::make(&key, &what, &arguments.directory)?)?;
        }
        Command::Rename { name, to } => rename(service, name, to)?,
        Command::Delete { name, yes } => delete::run(service, name, yes, &arguments.directory)?,
        Command::Policy(what) => {
            let set = what.limits.set()?;
            let name = what.name;
            let key = key(service, &Request::Policy { name, set })?;
            print(&text::show(&key))?;
        }
        Command::Approve { name, act, limits } => {
            let request = Request::Approve {
                name: name.clone(),
                act: act.clone(),
                set: match &*act {
                    "policy" => limits.set()?,
                    _ => limits.none()?,
                },
            };
            let Reply::Approved { given, needed } = service.ask(&request)? else {
                return Err(service.surprised().into());
            };
            let agreed = match &*act {
                "policy" => format!("this policy of the key '{name}'"),
                act => format!("{act} the key '{name}'"),
            };
            print(&format!(
                "{given} of {needed} administrators agree to {agreed}. An agreement holds for 24 hours.\n"
            ))?;
        }
        Command::Export { name } => match service.ask(&Request::Export { name })? {
            Reply::Private { key } => {
                let pem = private_key::pem(&key)?;
                io::stdout().write_all(&pem)?;
            }
            _ => return Err(service.surprised().into()),
        },
        Command::Backup { file } => {
            done(service, &Request::Backup { file: file.clone() })?;
            print(&format!(
                "The copy is {file}, in the directory of the store. To use it, the same master key is needed.\n"
            ))?;
        }
        Command::Audit { check: true, .. } => {
            done(service, &Request::CheckAudit)?;
            print("The audit log is whole.\n")?;
        }
        Command::Audit { check: false, json } => {
            let entries = audit(service)?;
            match json {
                true => print_json("outboard-keys-audit", &Audit { entries: &entries })?,
                false => print(&text::audit(&entries))?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Keys<'a> {
    keys: &'a [KeyInfo],
    damaged: &'a [String],
}

#[derive(Serialize)]
struct Audit<'a> {
    entries: &'a [outboard_administration::AuditEntry],
}

/// Asks for what is answered by a key.
fn key(service: &mut Connection, request: &Request) -> Result<KeyInfo, Failure> {
    match service.ask(request)? {
        Reply::Key(key) => Ok(*key),
        _ => Err(service.surprised().into()),
    }
}

/// Asks for what is only done.
pub(in crate::command) fn done(service: &mut Connection, request: &Request) -> Result<(), Failure> {
    match service.ask(request)? {
        Reply::Done => Ok(()),
        _ => Err(service.surprised().into()),
    }
}

fn audit(service: &mut Connection) -> Result<Vec<outboard_administration::AuditEntry>, Failure> {
    let mut all: Vec<outboard_administration::AuditEntry> = Vec::new();
    loop {
        let from = all.last().map_or(0, |entry| entry.number + 1);
        match service.ask(&Request::Audit { from })? {
            Reply::Audit { entries, more } => {
                let ended = !more || entries.is_empty();
                all.extend(entries);
                if ended {
                    return Ok(all);
                }
            }
            _ => return Err(service.surprised().into()),
        }
    }
}

/// The certificates on standard input, in PEM.
fn read_certificates() -> Result<String, Failure> {
    let refuse = |reason: &str| Err(WrongUsage(reason.to_owned()).into());
    let mut given = Vec::new();
    let room = MOST_CERTIFICATES + 1;
    io::stdin().take(room).read_to_end(&mut given)?;
    if given.len() as u64 > MOST_CERTIFICATES {
        return refuse(
            "standard input has more than 48 KiB: give a key its own chain of certificates",
        );
    }
    match String::from_utf8(given) {
        Ok(text) if text.trim().is_empty() => refuse(
            "standard input has no certificate: type 'outboard keys certify NAME < chain.pem', or --remove",
        ),
        Ok(text) => Ok(text),
        Err(_) => refuse(
            "standard input is no PEM: turn certificates in DER into PEM with 'openssl x509 -inform DER -in FILE'",
        ),
    }
}

/// Gives a key or a token another name.
pub(in crate::command) fn rename(
    service: &mut Connection,
    name: String,
    to: String,
) -> Result<(), Failure> {
    let said = match service.ask(&Request::Rename { name, to })? {
        Reply::Key(key) => format!(
            "The key is now called {}. References to it stay valid.\n",
            key.name
        ),
        Reply::Tokens { tokens } if tokens.len() == 1 => format!(
            "The token is now called {}. Its label and its slot stay.\n",
            tokens[0].name
        ),
        _ => return Err(service.surprised().into()),
    };
    print(&said)?;
    Ok(())
}

/// Gives or takes a right to a key or a token.
pub(in crate::command) fn grant(
    service: &mut Connection,
    name: String,
    to: &Grantee,
    given: bool,
) -> Result<(), Failure> {
    let grant = to.grant()?;
    let Grant { to, right } = grant;
    let what = match service.ask(&Request::Grant { name, grant, given })? {
        Reply::Key(key) => format!("key '{}'", key.name),
        Reply::Tokens { tokens } if tokens.len() == 1 => format!("token '{}'", tokens[0].name),
        _ => return Err(service.surprised().into()),
    };
    let may = if given { "may now" } else { "has no grant to" };
    let who = text::subject(to);
    print(&format!("{who} {may} {right} the {what}.\n"))?;
    Ok(())
}

impl Grantee {
    /// What was typed.
    pub(in crate::command) fn grant(&self) -> Result<Grant, Failure> {
        let right = match self.administer {
            true => Right::Administer,
            false => Right::Use,
        };
        let to = match (&self.user, &self.group) {
            (Some(user), _) => Subject::User(accounts::find(Account::User, user)?),
            (None, Some(group)) => Subject::Group(accounts::find(Account::Group, group)?),
            // clap demands one of both.
            (None, None) => return Err(WrongUsage("name a --user or a --group".into()).into()),
        };
        Ok(Grant { to, right })
    }
}

type Fields = serde_json::Map<String, serde_json::Value>;

impl Limits {
    /// The fields to set, as the service's policy calls them; at least one.
    fn set(&self) -> Result<Fields, Failure> {
        let set = self.fields()?;
        match set.is_empty() {
            true => Err(WrongUsage("name at least one limit (see --help)".into()).into()),
            false => Ok(set),
        }
    }

    /// No field, for an act that sets none.
    fn none(&self) -> Result<Fields, Failure> {
        let set = self.fields()?;
        match set.is_empty() {
            true => Ok(set),
            false => Err(WrongUsage("only 'approve NAME policy' takes limits".into()).into()),
        }
    }

    fn fields(&self) -> Result<Fields, Failure> {
        let mut set = serde_json::Map::new();
        let lists = [
            ("operations", &self.operations),
            ("paddings", &self.paddings),
            ("digests", &self.digests),
        ];
        for (name, list) in lists {
            if let Some(list) = list {
                set.insert(name.into(), list.clone().into());
            }
        }
        let numbers = [
            ("rate", self.rate.map(u64::from)),
            ("valid_from", self.valid_from),
            ("valid_to", self.valid_to),
        ];
        for (name, number) in numbers {
            match number {
                Some(0) => set.insert(name.into(), serde_json::Value::Null),
                Some(number) => set.insert(name.into(), number.into()),
                None => None,
            };
        }
        let approvals = match (self.approvals, &self.administrators) {
            (None, _) => return Ok(set),
            (Some(0), None) => serde_json::Value::Null,
            (Some(0), Some(_)) => {
                let problem = "--approvals 0 asks no administrators (leave --administrators out)";
                return Err(WrongUsage(problem.into()).into());
            }
            (Some(_), None) => {
                let problem = "name who may agree (--administrators alice,bob)";
                return Err(WrongUsage(problem.into()).into());
            }
            (Some(needed), Some(users)) => {
                let uids = users.iter().map(|user| accounts::find(Account::User, user));
                let uids = uids.collect::<Result<Vec<_>, _>>()?;
                serde_json::json!({"needed": needed, "administrators": uids})
            }
        };
        set.insert("approvals".into(), approvals);
        Ok(set)
    }
}
