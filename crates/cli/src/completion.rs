//! What a shell offers while somebody types a command: the keys, processes and users that there are.
//!
//! It never complains and never waits long: whatever cannot be had is not offered.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use outboard_administration::{Connection, Reply, Request};
use outboard_cca::Description;
use outboard_processes::Process;
use outboard_wire::SYSTEM_DIRECTORY;

/// How long a service has to answer while somebody waits at a prompt.
const PATIENCE: Duration = Duration::from_millis(500);

/// Processes that use OpenSSL, each with its program.
pub(crate) fn processes() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let all = Process::all().into_iter().filter(Process::uses_openssl);
        all.map(|process| candidate(process.pid.to_string(), process.name.clone()))
            .collect()
    })
}

/// Keys of the card service, each with its type.
pub(crate) fn keys() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let keys = service().and_then(|mut service| service.keys().ok());
        let (keys, _) = keys.unwrap_or_default();
        keys.into_iter()
            .map(|key| candidate(key.name, key.kind))
            .collect()
    })
}

/// Tokens of the card service, each with its label.
pub(crate) fn tokens() -> ArgValueCandidates {
    ArgValueCandidates::new(|| match ask(&Request::Tokens) {
        Some(Reply::Tokens { tokens }) => tokens
            .into_iter()
            .map(|token| candidate(token.name, token.label))
            .collect(),
        _ => Vec::new(),
    })
}

/// Cards of the card service, by number.
pub(crate) fn cards() -> ArgValueCandidates {
    ArgValueCandidates::new(|| match ask(&Request::Cards) {
        Some(Reply::Cards { cards }) => cards
            .iter()
            .map(|card| CompletionCandidate::new(card.number.to_string()))
            .collect(),
        _ => Vec::new(),
    })
}

/// What 'outboard keys generate' makes.
pub(crate) fn key_types() -> ArgValueCandidates {
    const TYPES: [&str; 7] = [
        "rsa-2048", "rsa-3072", "rsa-4096", "p256", "p384", "p521", "ed25519",
    ];
    ArgValueCandidates::new(|| TYPES.map(CompletionCandidate::new).into())
}

/// Java servers that run; a JDK's directory is typed.
pub(crate) fn java_servers() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let all = Process::all().into_iter();
        all.filter(|process| process.name == "java")
            .map(|process| candidate(process.pid.to_string(), process.name))
            .collect()
    })
}

/// Verbs of the coprocessor by their names, each with its title.
pub(crate) fn verbs() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let verbs = outboard_cca::Request::VERBS.iter();
        verbs
            .map(|verb| candidate(verb.name.to_owned(), verb.words()))
            .collect()
    })
}

/// Parameters of the verb in the line that is being completed: "key_form=".
pub(crate) fn verb_parameters() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let verb = line(std::env::args_os()).find_map(|word| Description::of(word.to_str()?));
        let parameters = verb.map_or(&[][..], |verb| verb.parameters);
        parameters
            .iter()
            .map(|parameter| candidate(format!("{}=", parameter.name), parameter.kind.to_owned()))
            .collect()
    })
}

/// Users of this system.
pub(crate) fn users() -> ArgValueCandidates {
    ArgValueCandidates::new(|| names("/etc/passwd"))
}

/// Groups of this system.
pub(crate) fn groups() -> ArgValueCandidates {
    ArgValueCandidates::new(|| names("/etc/group"))
}

/// The first field of each line. Users of a network's directory are many, and not offered.
fn names(file: &str) -> Vec<CompletionCandidate> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let names = text.lines().filter_map(|line| line.split(':').next());
    names.map(CompletionCandidate::new).collect()
}

fn candidate(value: String, help: String) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(help.into()))
}

fn ask(request: &Request) -> Option<Reply> {
    service()?.ask(request).ok()
}

fn service() -> Option<Connection> {
    Connection::open_for(&directory(std::env::args_os()), PATIENCE).ok()
}

/// The line that is being completed: the words of this process after the first '--'.
fn line(words: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    words.skip_while(|word| word != "--").skip(1)
}

/// The service's directory in the line that is being completed.
fn directory(words: impl Iterator<Item = OsString>) -> PathBuf {
    let mut words = line(words);
    while let Some(word) = words.next() {
        if word == "--directory" {
            return words.next().unwrap_or_default().into();
        }
        if let Some(directory) = word.to_str().and_then(|it| it.strip_prefix("--directory=")) {
            return PathBuf::from(directory);
        }
    }
    SYSTEM_DIRECTORY.into()
}
