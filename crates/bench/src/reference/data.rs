//! The published tables, compiled in, and how they are read.

use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Where a table was published.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Source {
    /// Our file, under `crates/bench/reference`.
    pub file: String,
    /// The document's title.
    pub title: String,
    /// Its authors, or the company.
    pub authors: String,
    /// The year of its publication.
    pub year: u16,
    /// The table, figure or section.
    pub locator: String,
    /// What it was measured on.
    pub hardware: String,
}

/// A figure that stands in a study's text, as our tables of such figures have it.
#[derive(Deserialize)]
pub(super) struct Prose {
    pub(super) subject: String,
    pub(super) condition: String,
    pub(super) metric: String,
    pub(super) value: f64,
}

/// One published table: its rows' type is the caller's choice.
pub(super) struct Table {
    file: &'static str,
    text: &'static str,
}

/// A [`Table`] of `crates/bench/reference`.
macro_rules! published {
    ($file:literal) => {
        $crate::reference::data::Table::new($file, include_str!(concat!("../../reference/", $file)))
    };
}
pub(super) use published;

impl Table {
    pub(super) const fn new(file: &'static str, text: &'static str) -> Self {
        Self { file, text }
    }

    /// The rows.
    ///
    /// # Panics
    /// If the table and the type of its rows don't fit: both are compiled in, and the tests read them all.
    pub(super) fn rows<Row: DeserializeOwned>(&self) -> Vec<Row> {
        read(self.file, self.text)
    }

    /// Where the table was published.
    ///
    /// # Panics
    /// If `sources.csv` does not name it: a mistake of ours.
    pub(super) fn source(&self) -> &'static Source {
        static SOURCES: LazyLock<Vec<Source>> =
            LazyLock::new(|| read("sources.csv", include_str!("../../reference/sources.csv")));
        SOURCES
            .iter()
            .find(|source| source.file == self.file)
            .unwrap_or_else(|| panic!("sources.csv does not name {}", self.file))
    }
}

fn read<Row: DeserializeOwned>(file: &str, text: &str) -> Vec<Row> {
    csv::Reader::from_reader(text.as_bytes())
        .deserialize()
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| panic!("{file}: {error}"))
}
