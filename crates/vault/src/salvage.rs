//! What is still good of a damaged store, in memory.
//!
//! SQLite's first page has its header and the schema: one changed bit there hides every key. But that page is the same in
//! every store of one schema, but for some counters: the tables are made in one order, and their roots stay where they are. So
//! the page is taken from a new store. Each key's own authentication then tells whether the key is whole.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, MAIN_DB};

use crate::store;

/// Bytes of a page.
const PAGE: usize = 4096;
/// Where the header counts changes; how many pages the file has; the first free page, and how many are free; and for which
/// count of changes that is true (SQLite's file format, section 1.3).
const CHANGES: usize = 24;
const PAGES: usize = 28;
const FREE: std::ops::Range<usize> = 32..40;
const VALID_FOR: usize = 92;

/// A read-only copy of the store in `file`, with a good first page. `None`: it cannot be read at all.
pub(crate) fn image(file: &Path) -> Option<Connection> {
    let mut content = fs::read(file).ok()?;
    let pages = content.len() / PAGE;
    content.truncate(pages * PAGE);
    let mut first = first_page(file)?;
    first[PAGES..PAGES + 4].copy_from_slice(&u32::try_from(pages).ok()?.to_be_bytes());
    first[FREE].fill(0);
    first.copy_within(CHANGES..CHANGES + 4, VALID_FOR);
    content.get_mut(..PAGE)?.copy_from_slice(&first);
    let mut image = Connection::open_in_memory().ok()?;
    image
        .deserialize_read_exact(MAIN_DB, content.as_slice(), content.len(), true)
        .ok()?;
    image
        .execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
        .ok()?;
    Some(image)
}

/// The first page of a new store.
fn first_page(file: &Path) -> Option<Vec<u8>> {
    let mut new = Connection::open_in_memory().ok()?;
    new.execute_batch("PRAGMA page_size = 4096").ok()?;
    store::migrate(&new, file).ok()?;
    Some(new.serialize(MAIN_DB).ok()?.get(..PAGE)?.to_vec())
}
