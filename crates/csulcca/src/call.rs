//! One call of a verb: parameters in, a request to the service, its answer out.

use std::ffi::{c_long, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use outboard_cca::{Description, Request};
use outboard_guest::cancellation::Uncancelled;
use outboard_guest::memory;
use zeroize::Zeroizing;

use crate::arguments::Arguments;
use crate::message::{Reader, Writer};
use crate::{Kind, VERBS, Way, service};

/// A return code and a reason code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Codes(pub(crate) c_long, pub(crate) c_long);

/// The library itself failed.
const FAILED: Codes = Codes(16, 336);
/// The answer is none: the library and the service are of different versions.
const MISUNDERSTOOD: Codes = Codes(16, 337);
const NO_MEMORY: Codes = Codes(12, 338);

/// Calls the verb of that number in the table. No panic passes, and the thread is not cancelled in it.
///
/// # Safety
/// There is a pointer for each parameter. Each pointer is null, or leads to as much memory as the publication says.
pub(crate) unsafe fn call(
    verb: usize,
    return_code: *mut c_long,
    reason_code: *mut c_long,
    pointers: &[*mut c_void],
) {
    let _uncancelled = Uncancelled::begin();
    outboard_guest::silence();
    // SAFETY: as the caller promises.
    let arguments = unsafe { Arguments::new(&VERBS[verb], pointers) };
    let codes = match memory::is_low() {
        true => NO_MEMORY,
        false => catch_unwind(AssertUnwindSafe(|| {
            run(&arguments).unwrap_or_else(|codes| codes)
        }))
        .unwrap_or(FAILED),
    };
    // SAFETY: as the caller promises.
    unsafe { answer(codes, return_code, reason_code) };
}

/// Answers for a verb that the coprocessor does not have.
///
/// # Safety
/// Each pointer is null, or leads to a `long`.
pub(crate) unsafe fn unknown(return_code: *mut c_long, reason_code: *mut c_long) {
    // SAFETY: as the caller promises.
    unsafe { answer(Codes(12, 93), return_code, reason_code) };
}

/// # Safety
/// Each pointer is null, or leads to a `long`.
unsafe fn answer(codes: Codes, return_code: *mut c_long, reason_code: *mut c_long) {
    for (pointer, code) in [(return_code, codes.0), (reason_code, codes.1)] {
        if !pointer.is_null() {
            // SAFETY: as the caller promises.
            unsafe { pointer.write_unaligned(code) };
        }
    }
}

fn run(arguments: &Arguments<'_>) -> Result<Codes, Codes> {
    let is_it = |verb: &Description| verb.name == arguments.verb.name;
    let number = Request::VERBS.iter().position(is_it).ok_or(FAILED)?;
    let verb = &Request::VERBS[number];
    let request = request(number, verb, arguments)?;
    let mut answer = Zeroizing::new(Vec::new());
    service::ask(verb, &request, &mut answer)?;
    let mut reader = Reader(&answer);
    let mut code = || Some(reader.number()? as c_long);
    let codes = code().zip(code()).ok_or(MISUNDERSTOOD)?;
    let codes = Codes(codes.0, codes.1);
    match reader.number() {
        Some(0) => Ok(codes),
        Some(1) if reader.number() == Some(number as u64) => {
            take(verb, &mut reader, arguments).map(|()| codes)
        }
        _ => Err(MISUNDERSTOOD),
    }
}

/// The request, in the order of its encoding.
fn request(
    number: usize,
    verb: &Description,
    arguments: &Arguments<'_>,
) -> Result<Zeroizing<Vec<u8>>, Codes> {
    /// What a number has in front of bytes, or alone.
    const NUMBER: usize = 10;
    let rules = arguments.rules()?;
    let mut fields = Vec::with_capacity(verb.parameters.len());
    let mut room = NUMBER;
    for field in verb.parameters {
        let place = arguments.place(field.name, |kind| match (field.kind, kind) {
            ("u32" | "bool", Kind::Number(_)) => true,
            ("u32" | "bool", _) | (_, Kind::Number(_)) => false,
            (_, kind) => way(kind).is_some_and(Way::is_in),
        });
        let bytes = match (place, field.kind) {
            (Some(place), "Bytes" | "Keyword" | "Rules") => arguments.bytes(place, &rules)?,
            _ => Zeroizing::default(),
        };
        room += bytes.len() + NUMBER;
        fields.push((field.kind, place, bytes));
    }
    let mut writer = Writer::new(number, room);
    for (kind, place, bytes) in &fields {
        match *kind {
            "u32" => {
                let number = place.map_or(0, |place| arguments.number(place));
                let number = u32::try_from(number).map_err(|_| Codes(8, 72))?;
                writer.number(number.into());
            }
            "bool" => {
                let is_set = place.is_some_and(|place| arguments.number(place) != 0);
                writer.number(is_set.into());
            }
            "Keyword" => {
                // A parameter that is null is a blank one.
                let mut keyword = [b' '; 8];
                let length = bytes.len().min(8);
                keyword[..length].copy_from_slice(&bytes[..length]);
                writer.keyword(&keyword);
            }
            "Rules" => {
                writer.number((bytes.len() / 8) as u64);
                writer.keyword(bytes);
            }
            "Bytes" => writer.bytes(bytes),
            _ => return Err(FAILED),
        }
    }
    Ok(writer.finish())
}

fn way(kind: Kind) -> Option<Way> {
    match kind {
        Kind::Fixed(way, _)
        | Kind::Sized(way, ..)
        | Kind::ByRules(way, _)
        | Kind::Keywords(way, _)
        | Kind::Number(way) => Some(way),
        Kind::Labels(_) | Kind::List(_) => Some(Way::Out),
        Kind::Unused => None,
    }
}

/// Takes the reply apart, and gives the program what it has a parameter for.
fn take(
    verb: &Description,
    reader: &mut Reader<'_>,
    arguments: &Arguments<'_>,
) -> Result<(), Codes> {
    for result in verb.results {
        let place = arguments.place(result.name, |kind| way(kind).is_some_and(Way::is_out));
        match result.kind {
            "u32" => {
                let number = reader.number().ok_or(MISUNDERSTOOD)?;
                if let Some(place) = place {
                    arguments.put_number(place, number);
                }
            }
            "Vec<String>" => {
                let count = reader.number().ok_or(MISUNDERSTOOD)?;
                let mut labels = Vec::new();
                for _ in 0..count {
                    labels.push(reader.bytes().ok_or(MISUNDERSTOOD)?);
                }
                if let Some(place) = place {
                    arguments.put_labels(place, &labels)?;
                }
            }
            kind => {
                let bytes = match kind {
                    "Bytes" | "String" => reader.bytes(),
                    "Keyword" => reader.take(8),
                    "Rules" => {
                        let count = reader
                            .number()
                            .and_then(|count| usize::try_from(count).ok());
                        count.and_then(|count| reader.take(count.checked_mul(8)?))
                    }
                    _ => None,
                };
                let bytes = bytes.ok_or(MISUNDERSTOOD)?;
                if let Some(place) = place {
                    arguments.put_bytes(place, bytes)?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each parameter of a verb has a place in the C function, and each parameter of the function a meaning.
    #[test]
    fn the_table_and_the_verbs_agree() {
        for function in VERBS {
            let verb = Description::of(function.name).expect(function.name);
            // SAFETY: no pointer is followed here.
            let arguments = unsafe { Arguments::new(function, &[]) };
            for field in verb.parameters {
                // The length of an output tells how many bytes are wanted, and the rule arrays of AES records are reserved.
                let place = arguments.place(field.name, |kind| way(kind).is_some_and(Way::is_in));
                assert!(place.is_some(), "{}: no {}", verb.name, field.name);
            }
            for result in verb.results {
                let place = arguments.place(result.name, |kind| way(kind).is_some_and(Way::is_out));
                assert!(place.is_some(), "{}: no {}", verb.name, result.name);
            }
            for (place, parameter) in function.parameters.iter().enumerate() {
                let is_field = verb
                    .parameters
                    .iter()
                    .chain(verb.results)
                    .any(|field| field.name == parameter.name);
                let is_length = function.parameters.iter().any(|other| {
                    matches!(other.kind, Kind::Sized(_, of, _) | Kind::Keywords(_, of) | Kind::Labels(of) | Kind::List(of) if of == place)
                }) || matches!(
                    function.parameters.get(place + 1).map(|next| next.kind),
                    Some(Kind::ByRules(_, "bits"))
                );
                assert!(
                    is_field || is_length || matches!(parameter.kind, Kind::Unused | Kind::List(_)),
                    "{}: what is {}?",
                    verb.name,
                    parameter.name
                );
            }
        }
    }

    /// Those that are not there in C, with the reason in docs/coprocessor.md.
    #[test]
    fn every_verb_is_exported_or_known_not_to_be() {
        let missing = Request::VERBS
            .iter()
            .filter(|verb| !VERBS.iter().any(|function| function.name == verb.name));
        let missing: Vec<_> = missing.map(|verb| verb.name).collect();
        let known = ["OBAACP", "OBADTT", "OBAUDX"];
        assert_eq!(missing, known);
        let document = include_str!("../../../docs/coprocessor.md");
        assert!(known.iter().all(|verb| document.contains(verb)));
    }
}
