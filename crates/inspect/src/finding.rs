//! What a check found.

use serde::Serialize;

/// The result of one check.
#[derive(Debug, Serialize)]
pub struct Finding {
    /// Whether it is as it should be.
    pub state: State,
    /// The thing.
    pub subject: &'static str,
    /// The result.
    pub what: String,
    /// The reason, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
/// How serious a finding is.
pub enum State {
    /// As it should be.
    Good,
    /// Nothing is wrong, but it is worth knowing.
    Note,
    /// Programs do not use Outboard as they could.
    Problem,
}

impl Finding {
    /// Whether the user has something to do.
    pub fn is_problem(&self) -> bool {
        self.state == State::Problem
    }

    pub(crate) fn new(state: State, subject: &'static str, what: impl Into<String>) -> Self {
        Self {
            state,
            subject,
            what: what.into(),
            why: None,
            remedy: None,
        }
    }

    pub(crate) fn good(subject: &'static str, what: impl Into<String>) -> Self {
        Self::new(State::Good, subject, what)
    }

    pub(crate) fn note(subject: &'static str, what: impl Into<String>) -> Self {
        Self::new(State::Note, subject, what)
    }

    pub(crate) fn problem(subject: &'static str, what: impl Into<String>) -> Self {
        Self::new(State::Problem, subject, what)
    }

    pub(crate) fn because(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}
