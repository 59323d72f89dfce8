//! The token: programs that reach keys through PKCS #11, with SoftHSM2 and with each slot of ours.
//!
//! ```text
//! module       where a contender's module is, and what its process needs
//!   └─ caller       a process that calls the module as fast as it can, steered by a line for each window
//!        ├─ signatures   one thread, eight, and one with eight outstanding
//!        ├─ records      AES-GCM and SHA-256 of 8 KiB, against the EVP calls of the same process
//!        └─ objects      10 and 10,000 of them: found, made and dropped
//! ```

mod caller;
pub(super) mod module;
mod objects;
mod outstanding;
mod records;
mod signatures;

pub use caller::{CallerArguments, serve};

use crate::Failure;
use crate::suite::{Options, Session, Step, Workload};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token;

/// A part, which can run alone.
struct Part {
    name: &'static str,
    plan: fn(&Options) -> Vec<Step>,
    run: fn(&mut Session<'_>) -> Result<(), Failure>,
}

const PARTS: [Part; 3] = [
    Part {
        name: "signatures",
        plan: signatures::plan,
        run: signatures::run,
    },
    Part {
        name: "records",
        plan: records::plan,
        run: records::run,
    },
    Part {
        name: "objects",
        plan: objects::plan,
        run: objects::run,
    },
];

impl Workload for Token {
    fn name(&self) -> &'static str {
        "token"
    }

    fn summary(&self) -> &'static str {
        "keys through PKCS #11: SoftHSM2, the accelerator, the coprocessor"
    }

    fn parts(&self) -> &'static [&'static str] {
        &["signatures", "records", "objects"]
    }

    fn programs(&self) -> &'static [&'static str] {
        &["openssl", "softhsm2-util"]
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        parts(options)
            .flat_map(|part| (part.plan)(options))
            .collect()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        super::versions::record(session, &["openssl", "softhsm2-util"])?;
        parts(session.options()).try_for_each(|part| (part.run)(session))
    }
}

/// Those that the user asked for.
fn parts(options: &Options) -> impl Iterator<Item = &'static Part> {
    let asked = PARTS.iter().map(|part| (part, options.runs(part.name)));
    let asked: Vec<_> = asked.collect();
    asked
        .into_iter()
        .filter_map(|(part, runs)| runs.then_some(part))
}
