//! What the tests of observing share: a configuration that observes, and what it counted.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(dead_code, reason = "each test uses a part")]

use std::fs;
use std::path::{Path, PathBuf};

use outboard_observation::{Operation, Record, Work};
use outboard_programs::{Launch, OpenSsl, Workplace, missing};

/// A directory of one's own, a configuration that observes, and its record.
pub(crate) struct Stand {
    pub(crate) workplace: Workplace,
    pub(crate) stock: OpenSsl,
    pub(crate) observed: OpenSsl,
    pub(crate) record: PathBuf,
}

/// How the stand-in of the default provider stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In its place: for one program.
    Instead,
    /// Beside it, and preferred: for a whole system.
    Beside,
}

impl Stand {
    /// Nothing where programs are missing.
    pub(crate) fn for_programs(programs: &[&str], place: Place) -> Option<Self> {
        let missing = missing(programs);
        for program in &missing {
            eprintln!("passed over: {} is not installed", program.name);
        }
        missing.is_empty().then(|| Self::new(place))
    }

    pub(crate) fn new(place: Place) -> Self {
        let workplace = Workplace::new().unwrap();
        let record = workplace.join("record");
        let observed = configuration(&workplace, &record, place);
        Self {
            stock: OpenSsl::stock(&workplace).unwrap(),
            observed: OpenSsl::configured(&workplace, "observed", &observed).unwrap(),
            record,
            workplace,
        }
    }

    pub(crate) fn work(&self, program: &str) -> Vec<Work> {
        let record = Record::read(&self.record).unwrap();
        assert_eq!(record.lost, 0);
        let of_program = record
            .processes
            .into_iter()
            .filter(|p| p.program == program);
        let mut total: Vec<Work> = Vec::new();
        for work in of_program.flat_map(|process| process.work) {
            match total.iter_mut().find(|known| known.is_like(&work)) {
                Some(known) => known.add(&work),
                None => total.push(work),
            }
        }
        total
    }
}

pub(crate) fn configuration(workplace: &Workplace, record: &Path, place: Place) -> String {
    let test = std::env::current_exe().unwrap();
    let module = test.with_file_name("liboutboard_observe.so");
    assert!(module.is_file(), "cargo builds {}", module.display());
    // Where every user can read it.
    let copy = workplace.join("outboard-observe.so");
    fs::copy(&module, &copy).unwrap();
    let (default, beside, properties) = match place {
        Place::Instead => ("", "", ""),
        Place::Beside => (
            "default = default_section\n",
            "beside = yes\n",
            "alg_section = evp_properties\n",
        ),
    };
    format!(
        "config_diagnostics = 1\nopenssl_conf = openssl_init\n\
         [openssl_init]\nproviders = provider_sections\n{properties}\
         [provider_sections]\n{default}observed_default = observed_section\n\
         [default_section]\nactivate = 1\n\
         [observed_section]\nmodule = {}\nrecord = {}\n{beside}activate = 1\n\
         [evp_properties]\ndefault_properties = ?outboard.observed=yes\n\
         [req]\ndistinguished_name = name\n[name]\n",
        copy.display(),
        record.display(),
    )
}

/// The calls and bytes of a kind of work; none of it is zero.
pub(crate) fn counted(work: &[Work], algorithm: &str, operation: Operation) -> (u64, u64) {
    work.iter()
        .filter(|work| work.algorithm == algorithm && work.operation == operation)
        .fold((0, 0), |sum, work| (sum.0 + work.calls, sum.1 + work.bytes))
}

/// Calls libcrypto by python's ctypes.
pub(crate) fn python(openssl: &OpenSsl, script: &str, arguments: &[&Path]) -> String {
    Launch::new("python3")
        .unwrap()
        .with(openssl)
        .args(["-c", script])
        .args(arguments)
        .succeed()
        .unwrap()
        .output
}
