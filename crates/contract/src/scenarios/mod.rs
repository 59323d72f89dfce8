//! The scenarios, one theme a file.

mod agreement;
mod certificates;
mod contexts;
mod derivation;
mod documents;
mod ends;
mod gcm;
mod key;
mod lists;
mod post_quantum;
mod signing;
mod tls;

use crate::transcript::Transcript;

/// What is done in one process.
pub(crate) struct Scenario {
    pub(crate) name: String,
    /// What it needs in its environment before it starts.
    pub(crate) environment: Vec<(&'static str, &'static str)>,
    pub(crate) run: Box<dyn Fn(&'static Transcript)>,
}

impl Scenario {
    fn new(name: impl Into<String>, run: impl Fn(&'static Transcript) + 'static) -> Self {
        Self {
            name: name.into(),
            environment: Vec::new(),
            run: Box::new(run),
        }
    }

    fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.environment.push((name, value));
        self
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Scenario> {
    let mut all = Vec::new();
    for theme in [
        lists::scenarios as fn() -> Vec<Scenario>,
        key::scenarios,
        signing::scenarios,
        agreement::scenarios,
        post_quantum::scenarios,
        gcm::scenarios,
        derivation::scenarios,
        contexts::scenarios,
        certificates::scenarios,
        documents::scenarios,
        tls::scenarios,
        ends::scenarios,
    ] {
        all.extend(theme());
    }
    all
}
