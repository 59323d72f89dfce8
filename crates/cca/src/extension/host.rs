//! What a module may ask for: the functions of "outboard". All numbers are of 32 bits, all memory is the module's own.
//!
//! A pointer out of its memory, or a handle that it was not given, ends the module. What it may well ask, and what is not there, is -1.

use wasmi::{Caller, Error, Linker, Memory, StoreLimits, StoreLimitsBuilder};
use zeroize::Zeroizing;

use super::fields::Calling;
use super::{Added, FUEL_OF_FUNCTION, MOST_DATA, MOST_ELEMENTS, verb};
use crate::card::Call;

/// The name that modules import from.
pub(super) const NAME: &str = "outboard";
/// What a module's memory is called.
pub(super) const MEMORY: &str = "memory";
/// All that they can import.
pub(super) const FUNCTIONS: &[&str] = &[
    "input",
    "output",
    "key",
    "verb",
    "set_bytes",
    "set_key",
    "set_number",
    "run_verb",
    "result",
];

/// How many verbs a module may begin in a call.
const MOST_CALLS: usize = 64;
/// The longest name.
const MOST_NAME: usize = 64;
/// Why a module ends that has no fuel left.
const TOO_LONG: &str = "it runs too long";
/// What is not there.
const NONE: i32 = -1;

/// A call of a module.
pub(super) struct Host<'a> {
    call: Call<'a>,
    added: &'a Added,
    input: &'a [u8],
    pub(super) output: Output,
    calls: Vec<Calling>,
    pub(super) limits: StoreLimits,
}

/// What a module has written for its caller: in room that does not grow.
pub(super) struct Output(Zeroizing<Vec<u8>>);

impl Output {
    pub(super) fn take(mut self) -> Vec<u8> {
        std::mem::take(&mut *self.0)
    }
}

impl<'a> Host<'a> {
    /// `memory` is how many bytes of it the module has: as many as it says at its beginning. What grew would leave copies behind.
    pub(super) fn new(call: Call<'a>, added: &'a Added, input: &'a [u8], memory: usize) -> Self {
        let limits = StoreLimitsBuilder::new()
            .memory_size(memory)
            .table_elements(MOST_ELEMENTS)
            .instances(1)
            .tables(1)
            .memories(1)
            .build();
        Self {
            call,
            added,
            input,
            output: Output(Zeroizing::new(Vec::with_capacity(MOST_DATA))),
            calls: Vec::new(),
            limits,
        }
    }
}

type Asks<'c, 'a> = Caller<'c, Host<'a>>;
type Answers = Result<i32, Error>;

fn wrong(what: &'static str) -> Error {
    Error::new(what)
}

fn memory(caller: &Asks<'_, '_>) -> Result<Memory, Error> {
    let memory = caller.get_export(MEMORY);
    let memory = memory.and_then(wasmi::Extern::into_memory);
    memory.ok_or_else(|| wrong("no memory"))
}

/// A part of the module's memory.
fn part(at: i32, length: i32) -> std::ops::Range<usize> {
    // Numbers of the module's are without a sign.
    let (at, length) = (at.cast_unsigned() as usize, length.cast_unsigned() as usize);
    at..at.saturating_add(length)
}

/// Takes what a function costs, by the bytes that it copies.
fn charge(caller: &mut Asks<'_, '_>, bytes: usize) -> Result<(), Error> {
    let cost = FUEL_OF_FUNCTION + bytes as u64 / 4;
    let left = caller.get_fuel()?.checked_sub(cost);
    caller.set_fuel(left.ok_or_else(|| wrong(TOO_LONG))?)
}

fn read(
    caller: &mut Asks<'_, '_>,
    at: i32,
    length: i32,
    most: usize,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let memory = memory(caller)?;
    match memory.data(&*caller).get(part(at, length)) {
        Some(bytes) if bytes.len() <= most => charge(caller, bytes.len())?,
        _ => return Err(wrong("not its memory")),
    }
    let bytes = memory.data(&*caller).get(part(at, length));
    let bytes = bytes.ok_or_else(|| wrong("not its memory"))?;
    Ok(Zeroizing::new(bytes.to_vec()))
}

fn name(caller: &mut Asks<'_, '_>, at: i32, length: i32) -> Result<String, Error> {
    let bytes = read(caller, at, length, MOST_NAME)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong("no name"))?;
    Ok(text.to_owned())
}

/// Copies as many bytes as there is room for. The answer is how many there are.
fn written(caller: &mut Asks<'_, '_>, bytes: &[u8], at: i32, room: i32) -> Answers {
    charge(caller, bytes.len())?;
    let memory = memory(caller)?;
    let room = memory.data_mut(caller).get_mut(part(at, room));
    let room = room.ok_or_else(|| wrong("not its memory"))?;
    let length = bytes.len().min(room.len());
    room[..length].copy_from_slice(&bytes[..length]);
    Ok(i32::try_from(bytes.len()).unwrap_or(i32::MAX))
}

fn calling<'c>(caller: &'c mut Asks<'_, '_>, handle: i32) -> Result<&'c mut Calling, Error> {
    let handle = usize::try_from(handle).ok();
    let calls = &mut caller.data_mut().calls;
    handle
        .and_then(|handle| calls.get_mut(handle))
        .ok_or_else(|| wrong("not its handle"))
}

fn answer(is_done: Option<()>) -> i32 {
    is_done.map_or(NONE, |()| 0)
}

fn handle(place: usize) -> i32 {
    i32::try_from(place).unwrap_or(NONE)
}

/// `input(at, room)`: copies the caller's input; how long it is.
fn input(mut caller: Asks<'_, '_>, at: i32, room: i32) -> Answers {
    let input = caller.data().input;
    written(&mut caller, input, at, room)
}

/// `output(at, length)`: adds to what the caller gets.
fn output(mut caller: Asks<'_, '_>, at: i32, length: i32) -> Answers {
    let bytes = read(&mut caller, at, length, MOST_DATA)?;
    let output = &mut caller.data_mut().output.0;
    match output.len() + bytes.len() <= MOST_DATA {
        true => {
            output.extend_from_slice(&bytes);
            Ok(0)
        }
        false => Err(wrong("more output than there is room for")),
    }
}

/// `key(name, length)`: the handle of a key that the module was added with.
fn key(mut caller: Asks<'_, '_>, at: i32, length: i32) -> Answers {
    let name = name(&mut caller, at, length)?;
    let place = caller
        .data()
        .added
        .keys
        .iter()
        .position(|(of, _)| *of == name);
    Ok(place.map_or(NONE, handle))
}

/// `verb(name, length)`: begins a call of a verb that the module was added with; its handle.
fn begin(mut caller: Asks<'_, '_>, at: i32, length: i32) -> Answers {
    let name = name(&mut caller, at, length)?;
    let host = caller.data_mut();
    let is_its = host
        .added
        .verbs
        .iter()
        .any(|of| of.eq_ignore_ascii_case(&name));
    match verb(&name) {
        Some(verb) if is_its => {
            if host.calls.len() >= MOST_CALLS {
                return Err(wrong("too many calls"));
            }
            host.calls.push(Calling::new(verb));
            Ok(handle(host.calls.len() - 1))
        }
        _ => Ok(NONE),
    }
}

/// `set_bytes(call, name, length, at, length)`: a parameter's bytes, keyword or keywords.
fn set_bytes(
    mut caller: Asks<'_, '_>,
    of: i32,
    at: i32,
    length: i32,
    value: i32,
    value_length: i32,
) -> Answers {
    let name = name(&mut caller, at, length)?;
    let bytes = read(&mut caller, value, value_length, 2 * MOST_DATA)?;
    Ok(answer(calling(&mut caller, of)?.set_bytes(&name, &bytes)))
}

/// `set_key(call, name, length, key)`: a parameter's key. Other parameters get none: a verb would encrypt the token for its caller, or give it
/// back as it is.
fn set_key(mut caller: Asks<'_, '_>, of: i32, at: i32, length: i32, key: i32) -> Answers {
    let name = name(&mut caller, at, length)?;
    let added = caller.data().added;
    let key = usize::try_from(key)
        .ok()
        .and_then(|key| added.keys.get(key));
    let (_, key) = key.ok_or_else(|| wrong("not its handle"))?;
    let calling = calling(&mut caller, of)?;
    Ok(answer(match name.contains("identifier") {
        true => calling.set_bytes(&name, key),
        false => None,
    }))
}

/// `set_number(call, name, length, number)`: a parameter that is a number.
fn set_number(mut caller: Asks<'_, '_>, of: i32, at: i32, length: i32, number: i32) -> Answers {
    let name = name(&mut caller, at, length)?;
    let number = number.cast_unsigned();
    Ok(answer(calling(&mut caller, of)?.set_number(&name, number)))
}

/// `run_verb(call)`: carries the verb out. The return code times 65,536, and the reason code.
fn run_verb(mut caller: Asks<'_, '_>, of: i32) -> Answers {
    let cost = calling(&mut caller, of)?.fuel();
    let left = caller.get_fuel()?.checked_sub(cost);
    caller.set_fuel(left.ok_or_else(|| wrong(TOO_LONG))?)?;
    let host = caller.data_mut();
    let calling = usize::try_from(of)
        .ok()
        .and_then(|of| host.calls.get_mut(of));
    let calling = calling.ok_or_else(|| wrong("not its handle"))?;
    let codes = calling.run(&host.call);
    let (code, reason) = codes.map_err(|_| wrong("the card has no memory"))?;
    Ok((code << 16 | reason).cast_signed())
}

/// `result(call, name, length, at, room)`: copies what the verb made; how long it is.
fn result(mut caller: Asks<'_, '_>, of: i32, at: i32, length: i32, to: i32, room: i32) -> Answers {
    let name = name(&mut caller, at, length)?;
    // All before it is read, too.
    let made = calling(&mut caller, of)?.made();
    charge(&mut caller, made)?;
    let found = calling(&mut caller, of)?.result(&name);
    match found {
        Some(bytes) => written(&mut caller, &bytes, to, room),
        None => Ok(NONE),
    }
}

/// Gives a module all functions.
pub(super) fn define<'a>(linker: &mut Linker<Host<'a>>) -> Result<(), Error> {
    linker
        .func_wrap(NAME, "input", |caller: Asks<'_, 'a>, at, room| {
            input(caller, at, room)
        })?
        .func_wrap(NAME, "output", |caller: Asks<'_, 'a>, at, length| {
            output(caller, at, length)
        })?
        .func_wrap(NAME, "key", |caller: Asks<'_, 'a>, at, length| {
            key(caller, at, length)
        })?
        .func_wrap(NAME, "verb", |caller: Asks<'_, 'a>, at, length| {
            begin(caller, at, length)
        })?
        .func_wrap(
            NAME,
            "set_bytes",
            |caller: Asks<'_, 'a>, of, at, length, value, value_length| {
                set_bytes(caller, of, at, length, value, value_length)
            },
        )?
        .func_wrap(
            NAME,
            "set_key",
            |caller: Asks<'_, 'a>, of, at, length, key| set_key(caller, of, at, length, key),
        )?
        .func_wrap(
            NAME,
            "set_number",
            |caller: Asks<'_, 'a>, of, at, length, number| {
                set_number(caller, of, at, length, number)
            },
        )?
        .func_wrap(NAME, "run_verb", |caller: Asks<'_, 'a>, of| {
            run_verb(caller, of)
        })?
        .func_wrap(
            NAME,
            "result",
            |caller: Asks<'_, 'a>, of, at, length, to, room| {
                result(caller, of, at, length, to, room)
            },
        )?;
    Ok(())
}
