//! Lists of labels, which go into a file: CSNBKRL, CSNBAKRL, CSNDKRL.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::arguments::LABEL;
use crate::call::Codes;
use crate::service;

/// The file cannot be written.
const NO_FILE: Codes = Codes(12, 197);
/// Its name is longer than the room that the program has.
const NO_ROOM: Codes = Codes(8, 72);

/// Writes a new file, which its user alone reads: each label filled up to 64 characters, and the end of the line. Its name.
pub(crate) fn written(labels: &[&[u8]], room: usize) -> Result<Vec<u8>, Codes> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    // A program that has more rights than its user takes nothing from the user.
    let named = service::of_user("TMPDIR").filter(|directory| !directory.is_empty());
    let directory = named.map_or("/tmp".into(), PathBuf::from);
    for _ in 0..1000 {
        let number = NUMBER.fetch_add(1, Relaxed);
        let path = directory.join(format!("KYRLT{}-{number}.LST", std::process::id()));
        if path.as_os_str().len() > room {
            return Err(NO_ROOM);
        }
        let mut new = OpenOptions::new();
        // What lies there, a link too, is not touched.
        match new.write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                let mut text = Vec::with_capacity(labels.len() * (LABEL + 1));
                for label in labels {
                    text.extend_from_slice(label);
                    text.resize(text.len() + LABEL.saturating_sub(label.len()), b' ');
                    text.push(b'\n');
                }
                file.write_all(&text).map_err(|_| NO_FILE)?;
                return Ok(path.as_os_str().as_bytes().to_vec());
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(_) => return Err(NO_FILE),
        }
    }
    Err(NO_FILE)
}
