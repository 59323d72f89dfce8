//! `outboard cca call`: one verb, its parameters as words or as JSON, its answer as JSON.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use outboard_cca::{Answer, Bytes, Description, Refusal, Request};
use outboard_client::{Client, Problem, Settings};
use outboard_wording::printable;
use serde::Serialize;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::completion;
use crate::output::print_json;
use crate::{Failure, WrongUsage};

/// The longest request from standard input: a message of 64 KiB in hexadecimal digits, and what is around it.
const MOST: u64 = 256 * 1024;
/// The longest parameter: no message is longer.
const MOST_OF_FILE: u64 = 64 * 1024;

/// What bytes look like in JSON.
const NO_BYTES: &str = "an even number of hexadecimal digits, or text:ABC, is needed";

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The verb: CSNBKGN or key-generate
    #[arg(add = completion::verbs())]
    verb: String,
    /// Parameters; without any, a JSON object comes from standard input
    #[arg(value_name = "NAME=VALUE", add = completion::verb_parameters())]
    parameters: Vec<String>,
    /// How many seconds the answer is waited for: RSA keys take long
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    limit: u64,
}

/// What is printed.
#[derive(Serialize)]
struct Answered {
    verb: &'static str,
    return_code: u32,
    reason_code: u32,
    /// The reason in words; null for 0/0.
    reason: Option<&'static str>,
    /// What the verb made; null unless the return code is 0.
    reply: Option<Value>,
}

/// The answer of a verb, waited for so many seconds.
pub(super) fn asked(request: &Request, directory: &Path, limit: u64) -> Result<Answer, Failure> {
    let encoded = request.encode()?;
    let client = Client::new(Settings::of(directory));
    let mut answer = Zeroizing::new(Vec::new());
    let changes = request.description().changes();
    client
        .verb(&encoded, changes, Duration::from_secs(limit), &mut answer)
        .map_err(|problem| match problem {
            // What the service does not understand was refused by the gate, not by the coprocessor.
            Problem::Refused { sentence, .. } => sentence,
            problem => problem.to_string(),
        })?;
    Ok(Answer::decode(&answer)?)
}

pub(super) fn run(arguments: &Arguments, directory: &Path) -> Result<ExitCode, Failure> {
    let verb = known(&arguments.verb)?;
    let parameters = match &arguments.parameters[..] {
        [] => from_input(verb)?,
        words => from_words(verb, words)?,
    };
    let request = Map::from_iter([(verb.name.to_owned(), parameters)]);
    let request: Request = serde_json::from_value(request.into()).map_err(|error| {
        WrongUsage(format!(
            "{}: {error} (run 'outboard cca verbs {}')",
            verb.name, verb.name
        ))
    })?;
    answered(request, directory, arguments.limit)
}

/// Calls a verb and prints its answer.
pub(super) fn answered(
    request: Request,
    directory: &Path,
    limit: u64,
) -> Result<ExitCode, Failure> {
    let verb = request.description();
    let answer = asked(&request, directory, limit)?;
    let reply = answer
        .reply
        .as_ref()
        .map(serde_json::to_value)
        .transpose()?;
    // It has the verb's name around it.
    let reply = reply.map(|reply| match reply {
        Value::Object(one) => one.into_values().next().unwrap_or_default(),
        other => other,
    });
    print_json(
        "outboard-cca-answer",
        &Answered {
            verb: verb.name,
            return_code: answer.return_code,
            reason_code: answer.reason_code,
            reason: Refusal::describe(answer.return_code, answer.reason_code),
            reply,
        },
    )?;
    Ok(ExitCode::from(
        u8::try_from(answer.return_code).unwrap_or(16),
    ))
}

/// The verb of that name.
pub(super) fn known(name: &str) -> Result<&'static Description, Failure> {
    Description::of(name).ok_or_else(|| {
        let problem = format!(
            "there is no verb '{}' (run 'outboard cca verbs')",
            printable(name)
        );
        WrongUsage(problem).into()
    })
}

/// A JSON object: the parameters, or the verb around them.
fn from_input(verb: &Description) -> Result<Value, Failure> {
    if verb.parameters.is_empty() {
        return Ok(Map::new().into());
    }
    let mut text = Zeroizing::new(Vec::new());
    if !std::io::stdin().is_terminal() {
        std::io::stdin().take(MOST + 1).read_to_end(&mut text)?;
    }
    if text.is_empty() {
        return Err(WrongUsage(format!(
            "{0} needs parameters: words NAME=VALUE, or a JSON object from standard input (run 'outboard cca verbs {0}')",
            verb.name
        ))
        .into());
    }
    if text.len() as u64 > MOST {
        return Err(WrongUsage(format!("standard input has more than {MOST} bytes")).into());
    }
    let value: Value = serde_json::from_slice(&text)
        .map_err(|error| WrongUsage(format!("standard input is no JSON document: {error}")))?;
    let mut parameters = match value {
        Value::Object(mut one) if one.len() == 1 && one.contains_key(verb.name) => {
            one.remove(verb.name).unwrap_or_default()
        }
        other => other,
    };
    for known in verb.parameters {
        let mut given = parameters.get_mut(known.name);
        match (known.kind, given.as_deref_mut()) {
            ("Bytes", Some(Value::String(text))) => {
                if let Some(plain) = text.strip_prefix("text:") {
                    *text = hexadecimal(plain.as_bytes());
                }
                if outboard_cca::from_hex(text).is_none() {
                    let problem = format!("{}: {NO_BYTES}", known.name);
                    return Err(WrongUsage(problem).into());
                }
            }
            ("Rules", Some(one @ Value::String(_))) => {
                *one = rules(one.as_str().unwrap_or_default());
            }
            _ => {}
        }
        let numbers = match (known.kind, given) {
            ("u32", Some(one)) => std::slice::from_mut(one),
            ("Vec<u16>", Some(Value::Array(all))) => &mut all[..],
            _ => continue,
        };
        // JSON has no hexadecimal numbers: they come as texts.
        for one in numbers {
            if let Value::String(text) = one {
                *one = number(text).map_err(|reason| {
                    WrongUsage(format!("{}: '{}': {reason}", known.name, printable(text)))
                })?;
            }
        }
    }
    Ok(parameters)
}

/// A number, decimal or, after `0x`, hexadecimal.
fn number(text: &str) -> Result<Value, String> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let number = match digits {
        // A sign is no digit.
        Some(digits) if digits.starts_with('+') => None,
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse::<u64>().ok(),
    };
    let number = number.map(Value::from);
    number.ok_or_else(|| "it is no number (27, or 0x1b)".to_owned())
}

/// Numbers with commas between them, perhaps in brackets as in JSON.
fn numbers(text: &str) -> Result<Value, String> {
    let inner = text.trim();
    let inner = inner
        .strip_prefix('[')
        .and_then(|inner| inner.strip_suffix(']'));
    let words = inner.unwrap_or(text).split(',');
    let words = words.filter(|word| !word.trim().is_empty());
    words.map(number).collect()
}

fn from_words(verb: &Description, words: &[String]) -> Result<Value, Failure> {
    let mut parameters = Map::new();
    for word in words {
        let wrong = |reason: String| WrongUsage(format!("'{}': {reason}", printable(word)));
        let (name, value) = word
            .split_once('=')
            .ok_or_else(|| wrong("a parameter is NAME=VALUE".into()))?;
        let known = verb.parameters.iter().find(|known| known.name == name);
        let Some(known) = known else {
            let verb = verb.name;
            let reason = format!("{verb} has no such parameter (run 'outboard cca verbs {verb}')");
            return Err(wrong(reason).into());
        };
        let value = match known.kind {
            "Bytes" => bytes(value).map_err(wrong)?,
            "Keyword" => value.into(),
            "Rules" => rules(value),
            "u32" => number(value).map_err(wrong)?,
            "Vec<u16>" => numbers(value).map_err(wrong)?,
            _ => serde_json::from_str(value).map_err(|error| wrong(error.to_string()))?,
        };
        if parameters.insert(name.to_owned(), value).is_some() {
            return Err(wrong("the parameter is there twice".into()).into());
        }
    }
    Ok(parameters.into())
}

/// Keywords with commas between them.
fn rules(text: &str) -> Value {
    text.split(',').filter(|it| !it.is_empty()).collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that a value stands for.
pub(super) fn from_value(value: &str) -> Result<Bytes, String> {
    let digits = bytes(value)?;
    let digits = digits.as_str().unwrap_or_default();
    let wanted = "an even number of hexadecimal digits, text:ABC or @FILE is needed";
    outboard_cca::from_hex(digits).ok_or_else(|| wanted.to_owned())
}

/// Hexadecimal digits of what a value stands for.
fn bytes(value: &str) -> Result<Value, String> {
    let digits = |bytes: &[u8]| Value::from(hexadecimal(bytes));
    match (value.strip_prefix("text:"), value.strip_prefix('@')) {
        (Some(text), _) => Ok(digits(text.as_bytes())),
        (None, Some(file)) => {
            let mut content = Zeroizing::new(Vec::new());
            let opened = std::fs::File::open(file);
            opened
                .and_then(|file| file.take(MOST_OF_FILE + 1).read_to_end(&mut content))
                .map_err(|error| format!("cannot read {file}: {error}"))?;
            match content.len() as u64 > MOST_OF_FILE {
                true => Err(format!(
                    "{file} has more than {MOST_OF_FILE} bytes (give it in parts: FIRST, MIDDLE and LAST, or INITIAL and CONTINUE)"
                )),
                false => Ok(digits(&content)),
            }
        }
        (None, None) => Ok(value.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_by_the_kind_of_their_parameter() {
        let verb = Description::of("key-generate").expect("it is there");
        let words = ["key_form=OP", "kek_key_identifier_1=text:KEK"].map(str::to_owned);
        let value = from_words(verb, &words).expect("they are parameters");
        assert_eq!(value["key_form"], "OP");
        assert_eq!(value["kek_key_identifier_1"], "4b454b");
        let verb = Description::of("csnbpvr").expect("it is there");
        let words = ["rule_array=IBM-PIN,NOEPB", "pin_check_length=4"].map(str::to_owned);
        let value = from_words(verb, &words).expect("they are parameters");
        assert_eq!(value["rule_array"][1], "NOEPB");
        assert_eq!(value["pin_check_length"], 4);
        for wrong in ["form", "from=RANDOM", "pin_check_length=four"] {
            assert!(from_words(verb, &[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        let verb = Description::of("OBAACP").expect("it is there");
        for (word, expected) in [
            ("enable=[27,28]", &[27, 28][..]),
            ("enable=0x001b,0x1C", &[27, 28]),
            ("enable=[0X1b, 28]", &[27, 28]),
            ("enable=195", &[195]),
            ("enable=[]", &[]),
        ] {
            let value = from_words(verb, &[word.to_owned()]).expect("they are numbers");
            assert_eq!(value["enable"], serde_json::json!(expected), "{word}");
        }
        for wrong in [
            "enable=0x",
            "enable=1b",
            "enable=0x+1b",
            "enable=-1",
            "enable=[27;28]",
        ] {
            assert!(from_words(verb, &[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
