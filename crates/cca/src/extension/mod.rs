//! User-defined extensions (UDX): verbs of the user's own, as WebAssembly modules that run beside the keys.
//!
//! ```text
//! OBUDXC ──▶ Extension::run ──▶ module (wasmi)      numbers, its own memory, no file, no clock, no randomness
//!                                 │ imports of "outboard" (host.rs)
//!                                 ├─▶ input, output       bytes of the caller
//!                                 └─▶ verb, set_…, run_verb, result     verbs and keys that it was added with (fields.rs)
//! ```
//! A module is hostile until it is shown to be right. It has no address of the card's, and no key: it names keys by handles, and what a verb
//! makes of a key is a wrapped token. Its verbs are carried out with the rights of its caller, and no more.
//!
//! The interpreter makes no machine code: the service's process may not write what it executes.

mod fields;
mod host;

use std::collections::BTreeSet;

use outboard_engine::scalar::wipe;
use serde::{Deserialize, Serialize};
use wasmi::{CompilationMode, Config, EnforcedLimits, Engine, ExternType, Linker, Module, Store};

use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::Description;
use crate::value::{Bytes, Label};
use host::Host;

/// The longest module.
const MOST_MODULE: usize = 48 * 1024;
/// The most keys and verbs of a module, and the most users that may call it.
const MOST_KEYS: usize = 16;
const MOST_VERBS: usize = 32;
const MOST_USERS: usize = 256;
/// The longest token of a key.
const MOST_TOKEN: usize = 4096;
/// The longest input, and the longest output.
pub(crate) const MOST_DATA: usize = 32 * 1024;
/// How much a module may compute in one call: about a second of an interpreter without optimisations.
const FUEL: u64 = 20_000_000;
/// What a function of the host costs of it, beside the bytes that it copies.
const FUEL_OF_FUNCTION: u64 = 1_000;
/// What a verb costs of it, beside its parameters' bytes: half a millisecond; with a public key, two; with the disk (a wrong PIN is stored), five;
/// with a private key, twenty, as RSA-4096 takes on a slow processor where the key was not used before.
const FUEL_OF_VERB: u64 = 10_000;
const FUEL_OF_PUBLIC_KEY: u64 = 40_000;
const FUEL_OF_DISK: u64 = 100_000;
const FUEL_OF_PRIVATE_KEY: u64 = 400_000;
/// Pages of a module's memory: 1 MiB. Bytes of the interpreter's stack, and how deep functions call.
const MOST_PAGES: usize = 16;
const PAGE: usize = 64 * 1024;
const MOST_STACK: usize = 256 * 1024;
const MOST_DEPTH: usize = 256;
/// Elements of its table of functions.
const MOST_ELEMENTS: usize = 4096;
/// What a module's function is called that a caller calls.
const ENTRY: &str = "run";

/// Verbs that tell of other keys than the module's, or give a key's own token back: its caller would use that without the module.
const TELLING: &[&str] = &[
    "CSNBKRR", "CSNBKRL", "CSNBAKRR", "CSNBAKRL", "CSNDKRR", "CSNDKRL", "CSNDRKL", "CSNBKTC",
    "CSNBKTC2", "CSNDKTC", "CSNBPEX",
];

/// What an administrator adds, as it is stored.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Added {
    pub(crate) module: Bytes,
    /// Names of keys, each with its token or its label.
    pub(crate) keys: Vec<(String, Bytes)>,
    pub(crate) verbs: Vec<String>,
    /// Who may call it, beside administrators.
    pub(crate) users: BTreeSet<u32>,
}

impl Added {
    /// Whether it is within the limits, and each verb is one that a module may call.
    pub(crate) fn check(&self) -> Outcome<()> {
        let is_word = |name: &String| {
            (1..=32).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let is_good = self.module.len() <= MOST_MODULE
            && self.keys.len() <= MOST_KEYS
            && self.verbs.len() <= MOST_VERBS
            && self.users.len() <= MOST_USERS
            && self
                .keys
                .iter()
                .all(|(name, key)| is_word(name) && key.len() <= MOST_TOKEN)
            && self.verbs.iter().all(|name| verb(name).is_some());
        match is_good {
            true => Ok(()),
            false => Err(Refusal::ExtensionInvalid),
        }
    }
}

/// The verb of that name, if modules may call it: none that changes what the card stores, takes long, is Outboard's own, or tells of
/// keys.
fn verb(name: &str) -> Option<&'static Description> {
    let verb = Description::of(name)?;
    let is_callable =
        !verb.takes_long() && !verb.name.starts_with("OB") && !TELLING.contains(&verb.name);
    is_callable.then_some(verb)
}

/// What a verb of that name costs of a module's fuel.
fn fuel_of(name: &str) -> u64 {
    match name {
        "CSNDDSG" | "CSNDPKD" | "CSNDSYI" => FUEL_OF_PRIVATE_KEY,
        "CSNBPVR" => FUEL_OF_DISK,
        name if name.starts_with("CSND") => FUEL_OF_PUBLIC_KEY,
        _ => FUEL_OF_VERB,
    }
}

/// An extension, ready to run.
pub(crate) struct Extension {
    pub(crate) added: Added,
    /// Labels among its keys.
    labels: Vec<Label>,
    /// None if this version's interpreter does not take it.
    ready: Option<Ready>,
}

/// A module, compiled for the interpreter.
#[derive(Clone)]
struct Ready {
    engine: Engine,
    module: Module,
    /// Bytes of its memory.
    memory: usize,
}

impl Extension {
    pub(crate) fn new(added: Added) -> Self {
        let labels = added.keys.iter().filter_map(|(_, key)| match key.first() {
            Some(first) if *first > b' ' => Label::parse(key).ok(),
            _ => None,
        });
        Self {
            labels: labels.collect(),
            ready: compiled(&added.module),
            added,
        }
    }

    /// The same module, with another list of those who may call it.
    pub(crate) fn with(&self, added: Added) -> Self {
        Self {
            labels: self.labels.clone(),
            ready: self.ready.clone(),
            added,
        }
    }

    /// Whether it can run.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready.is_some()
    }

    /// Runs it: what its function answers, and its output.
    pub(crate) fn run(&self, call: &Call<'_>, input: &[u8]) -> Outcome<(u32, Bytes)> {
        if input.len() > MOST_DATA {
            return Err(Refusal::TextTooLong);
        }
        let ready = self.ready.as_ref().ok_or(Refusal::ExtensionInvalid)?;
        let inner = call.of_extension(&self.labels);
        let host = Host::new(inner, &self.added, input, ready.memory);
        let mut store = Store::new(&ready.engine, host);
        store.limiter(|host| &mut host.limits);
        let mut linker = Linker::new(&ready.engine);
        let failed = |_: wasmi::Error| Refusal::ExtensionFailed;
        store.set_fuel(FUEL).map_err(failed)?;
        host::define(&mut linker).map_err(failed)?;
        let instance = linker
            .instantiate_and_start(&mut store, &ready.module)
            .map_err(failed)?;
        let entry = instance
            .get_typed_func::<(), i32>(&store, ENTRY)
            .map_err(failed)?;
        let answer = entry.call(&mut store, ());
        // What it had in its memory may be a secret of the caller's.
        if let Some(memory) = instance.get_memory(&store, host::MEMORY) {
            wipe(memory.data_mut(&mut store));
        }
        match answer {
            Ok(code) => Ok((code.cast_unsigned(), store.into_data().output.take().into())),
            Err(_) => Err(Refusal::ExtensionFailed),
        }
    }
}

/// A module with nothing but what the host gives: None if it is not valid, or wants or is more.
fn compiled(module: &[u8]) -> Option<Ready> {
    // WebAssembly as text is a matter of the one who writes it.
    if !module.starts_with(b"\0asm") {
        return None;
    }
    let mut config = Config::default();
    config
        .consume_fuel(true)
        .compilation_mode(CompilationMode::Eager)
        .enforced_limits(EnforcedLimits::strict())
        .ignore_custom_sections(true)
        .allow_start_fn(false)
        .floats(false)
        .wasm_tail_call(false)
        .wasm_multi_memory(false)
        .set_max_recursion_depth(MOST_DEPTH)
        .set_max_cached_stacks(0)
        .set_max_stack_height(MOST_STACK);
    let engine = Engine::new(&config);
    let module = Module::new(&engine, module).ok()?;
    let is_known = |import: wasmi::ImportType<'_>| {
        import.module() == host::NAME && host::FUNCTIONS.contains(&import.name())
    };
    let pages = match module.get_export(host::MEMORY)? {
        ExternType::Memory(memory) => usize::try_from(memory.minimum()).ok()?,
        _ => return None,
    };
    let has_entry = match module.get_export(ENTRY) {
        Some(ExternType::Func(of)) => {
            of.params().is_empty() && matches!(of.results(), [wasmi::ValType::I32])
        }
        _ => false,
    };
    let is_good = pages <= MOST_PAGES && has_entry && module.imports().all(is_known);
    is_good.then_some(Ready {
        engine,
        module,
        memory: pages * PAGE,
    })
}

impl std::fmt::Debug for Extension {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "an extension of {} bytes", self.added.module.len())
    }
}
