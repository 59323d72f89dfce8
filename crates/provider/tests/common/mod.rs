//! What the tests of the loaded provider share.

#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod abilities;
pub(crate) mod jobs;

use std::fmt::{Debug, Display};
use std::path::{Path, PathBuf};

use outboard_libcrypto::{Context, Library};
use outboard_measure::{Offer, Sides};
use outboard_openssl_versions::Version;

/// The provider that cargo built for these tests: it lies beside them.
pub(crate) fn module() -> PathBuf {
    let test = std::env::current_exe().expect("a process knows its program");
    let directory = test.parent().expect("a program lies in a directory");
    let module = directory.join("liboutboard.so");
    assert!(
        module.exists(),
        "cargo builds {} before the tests",
        module.display()
    );
    module
}

/// Stock, and Outboard offering all that it can do, in the system's libcrypto.
pub(crate) fn sides() -> Sides {
    in_libcrypto(Path::new(Library::SYSTEM))
}

/// The same in every libcrypto that the provider has to work with, one after the other in this one
/// process: the module is loaded once, so what it keeps must belong to a context.
pub(crate) fn sides_of_every_version() -> Vec<(String, Sides)> {
    let mut every = vec![sides()];
    for version in Version::ALL {
        let installation = version.installation().expect("OpenSSL builds");
        let soname = version.libcrypto();
        every.push(in_libcrypto(&installation.libraries.join(soname)));
    }
    let named = every
        .into_iter()
        .map(|sides| (sides.stock.library().version(), sides));
    named.collect()
}

fn in_libcrypto(path: &Path) -> Sides {
    let library = Library::open(path).expect("an OpenSSL of version 3 or later");
    Sides::new(&library, &module(), &Offer::All).expect("the provider loads")
}

/// The system's libcrypto with post-quantum keys of Outboard's, and others that have their own: named, and the context of
/// the default provider.
pub(crate) fn post_quantum() -> (Sides, Vec<(String, Context)>) {
    let library = Library::open(Library::SYSTEM).expect("an OpenSSL of version 3 or later");
    let ours = Sides::new(&library, &module(), &Offer::PostQuantum).expect("the provider loads");
    let native = |version: Version| {
        let installation = version.installation().expect("OpenSSL builds");
        let soname = version.libcrypto();
        let library = Library::open(installation.libraries.join(soname)).expect("it was built");
        library.ignore_system_configuration().expect("it is new");
        let context = Context::new(&library).expect("a context");
        context.load_provider("default").expect("it has one");
        (library.version(), context)
    };
    (ours, Version::ALL.map(native).into())
}

/// Another version's libcrypto, with Outboard and the setting `post-quantum`.
pub(crate) fn post_quantum_in(version: Version) -> Sides {
    let installation = version.installation().expect("OpenSSL builds");
    let soname = version.libcrypto();
    let library = Library::open(installation.libraries.join(soname)).expect("it was built");
    Sides::new(&library, &module(), &Offer::PostQuantum).expect("the provider loads")
}

/// Whether this processor has what cards run in.
pub(crate) fn has_lanes() -> bool {
    outboard_engine::card::are_there()
}

/// The two contexts with their names.
pub(crate) fn both(sides: &Sides) -> [(&'static str, &Context); 2] {
    [("stock", &sides.stock), ("outboard", &sides.outboard)]
}

/// What came of many vectors: every failure is told, not only the first.
#[derive(Default)]
pub(crate) struct Findings {
    vectors: usize,
    served_by_outboard: usize,
    departures: usize,
    failures: Vec<String>,
}

/// What has to have come of them.
pub(crate) struct Demand {
    /// At least so many vectors.
    pub(crate) vectors: usize,
    /// At least so many of them served by Outboard's implementation.
    pub(crate) served_by_outboard: usize,
    /// At most so many where stock, and hence Outboard, does not do what the vector asks.
    pub(crate) departures: usize,
}

impl Findings {
    /// Notes a vector's result on both sides. Outboard has to do what stock does; where the vector
    /// asks for something definite, that has to be it.
    pub(crate) fn vector<T: PartialEq + Debug>(
        &mut self,
        name: impl Display,
        expected: Option<&T>,
        stock: &T,
        outboard: &T,
        served_by: Option<&str>,
    ) {
        self.vectors += 1;
        self.served_by_outboard += usize::from(served_by == Some("outboard"));
        if stock != outboard {
            self.fail(format!(
                "{name}: stock answers {stock:?}, Outboard {outboard:?}, the vector {expected:?}"
            ));
        } else if expected.is_some_and(|expected| expected != outboard) {
            self.departures += 1;
        }
    }

    /// Notes a failure.
    pub(crate) fn fail(&mut self, what: String) {
        self.failures.push(what);
    }

    /// Ends the test.
    pub(crate) fn conclude(self, demand: &Demand) {
        assert!(
            self.failures.is_empty(),
            "{} of {} vectors failed:\n{}",
            self.failures.len(),
            self.vectors,
            self.failures[..self.failures.len().min(40)].join("\n")
        );
        let found = format!(
            "{} vectors, {} of them served by Outboard, {} departures",
            self.vectors, self.served_by_outboard, self.departures
        );
        println!("{found}");
        assert!(
            self.vectors >= demand.vectors
                && self.served_by_outboard >= demand.served_by_outboard
                && self.departures <= demand.departures,
            "{found}"
        );
    }
}
