//! Result files on disk: written whole or not at all, read with suspicion.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{Ratio, ResultFile, Row, SCHEMA, Table, VERSION};

/// Why a result cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not there, or not for us.
    #[error("cannot read {path}: {source}")]
    File {
        /// The file or directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is damaged, or something else.
    #[error("{path} is not a result of outboard-bench: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It is from another time.
    #[error(
        "{path} has version {version} of the schema, but this outboard-bench reads version {VERSION} (measure \
         again, or use the outboard-bench that wrote it)"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// What it says.
        version: u64,
    },
    /// Which of them counts is not for us to say.
    #[error("{first} and {second} are both results of the workload {workload} (keep one of them)")]
    Twice {
        /// A file.
        first: PathBuf,
        /// Another.
        second: PathBuf,
        /// What both measured.
        workload: String,
    },
    /// A directory without results.
    #[error("there are no results in {0} (outboard-bench run --out {0})")]
    None(PathBuf),
}

impl ResultFile {
    /// Where it lies in a directory of results: `DIR/<workload>.json`.
    pub fn path_in(&self, directory: &Path) -> PathBuf {
        directory.join(format!("{}.json", self.workload))
    }

    /// Writes it into a directory of results. A reader sees the old file or the new one.
    ///
    /// # Errors
    /// If the directory or the file cannot be written.
    pub fn save(&self, directory: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(directory)?;
        let path = self.path_in(directory);
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(&text)?;
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        file.as_file().set_permissions(mode)?;
        file.persist(&path).map_err(|failed| failed.error)?;
        Ok(path)
    }
}

/// Reads one result file.
///
/// # Errors
/// [`ReadError`], also for a file that reads well but contradicts itself: two tables of one name, a
/// row whose labels are not its table's columns, two rows for one figure, a figure that is no
/// number, a ratio that is not positive; and for one with characters that a terminal would obey.
pub fn read(path: &Path) -> Result<ResultFile, ReadError> {
    let text = contents(path).map_err(|source| ReadError::File {
        path: path.to_owned(),
        source,
    })?;
    let damaged = |reason: String| ReadError::Damaged {
        path: path.to_owned(),
        reason,
    };
    // Check schema and version first: another version may have other fields.
    let value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    if value["schema"] != SCHEMA {
        return Err(damaged(format!("its schema is not {SCHEMA}")));
    }
    match value["version"].as_u64() {
        Some(version) if version == u64::from(VERSION) => {}
        Some(version) => {
            return Err(ReadError::Version {
                path: path.to_owned(),
                version,
            });
        }
        None => return Err(damaged("it has no version".into())),
    }
    if commands_a_terminal(&value) {
        return Err(damaged("it holds control characters".into()));
    }
    let result: ResultFile =
        serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
    check(&result).map_err(damaged)?;
    Ok(result)
}

/// Of a plain file alone, and of one that a result could be: what else lies there might never end.
fn contents(path: &Path) -> io::Result<Vec<u8>> {
    const MOST: u64 = 64 << 20;
    let unwilling = |reason| Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    // Not to wait for a pipe's other end.
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return unwilling("it is not a plain file");
    }
    if metadata.len() > MOST {
        return unwilling("it is too long for a result");
    }
    let mut text = Vec::new();
    file.take(MOST).read_to_end(&mut text)?;
    Ok(text)
}

/// Reads all results of a directory, in the order in which they were measured; or the one result of
/// a file.
///
/// # Errors
/// [`ReadError`]; files that do not end in `.json` don't count.
pub fn read_all(path: &Path) -> Result<Vec<ResultFile>, ReadError> {
    if path.is_file() {
        return Ok(vec![read(path)?]);
    }
    let failed = |source| ReadError::File {
        path: path.to_owned(),
        source,
    };
    let mut results: Vec<(PathBuf, ResultFile)> = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let result = read(&file)?;
            let mut others = results.iter();
            if let Some((other, _)) = others.find(|(_, other)| other.workload == result.workload) {
                return Err(ReadError::Twice {
                    first: other.clone(),
                    second: file,
                    workload: result.workload,
                });
            }
            results.push((file, result));
        }
    }
    if results.is_empty() {
        return Err(ReadError::None(path.to_owned()));
    }
    let mut results: Vec<ResultFile> = results.into_iter().map(|(_, result)| result).collect();
    results.sort_by(|a, b| (a.began, &a.workload).cmp(&(b.began, &b.workload)));
    Ok(results)
}

/// Whether any text in it contains control characters other than line feeds and tabs. Our own files have none.
fn commands_a_terminal(value: &serde_json::Value) -> bool {
    let controls = |text: &str| text.chars().any(is_command);
    match value {
        serde_json::Value::String(text) => controls(text),
        serde_json::Value::Array(values) => values.iter().any(commands_a_terminal),
        serde_json::Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| controls(name) || commands_a_terminal(value)),
        _ => false,
    }
}

fn is_command(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\t')
}

/// Text of other programs, as a result may hold it.
pub(crate) fn tame(text: &str) -> String {
    text.replace(is_command, "\u{fffd}")
}

fn check(result: &ResultFile) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for table in &result.tables {
        if !names.insert(&table.name) {
            return Err(format!("two tables are called {}", table.name));
        }
        let mut figures = BTreeSet::new();
        for row in &table.rows {
            check_row(table, row).map_err(|reason| format!("table {}: {reason}", table.name))?;
            if !figures.insert((&row.labels, &row.measure, &row.setup)) {
                return Err(format!(
                    "table {}: two rows for {} with {} ({:?})",
                    table.name, row.measure, row.setup, row.labels
                ));
            }
        }
    }
    Ok(())
}

fn check_row(table: &Table, row: &Row) -> Result<(), String> {
    let columns: BTreeSet<&String> = table.columns.iter().collect();
    if columns != row.labels.keys().collect() {
        return Err(format!("a row is labelled {:?}", row.labels));
    }
    let ratio = row.ratio.iter();
    let mut figures = vec![row.median, row.low, row.high];
    figures.extend(ratio.flat_map(|ratio| [ratio.median, ratio.low, ratio.high]));
    let is_ratio = |ratio: &Ratio| 0.0 < ratio.low && ratio.low <= ratio.high && ratio.median > 0.0;
    // More than any machine has or does.
    const MOST: f64 = 1e18;
    if !figures.iter().all(|figure| figure.abs() < MOST)
        || row.low > row.high
        || !row.ratio.iter().all(is_ratio)
    {
        return Err(format!("{} of {} makes no sense", row.measure, row.setup));
    }
    Ok(())
}
