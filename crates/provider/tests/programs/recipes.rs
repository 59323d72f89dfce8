//! The recipes of docs/servers.md: what a user copies from there is what the tests run.

use std::fs;
use std::path::Path;

/// The block of the document that is marked as `language`, with each `(written, ours)` replaced.
pub(crate) fn recipe(language: &str, replaced: &[(&str, &str)]) -> String {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/servers.md");
    let text = fs::read_to_string(&document).unwrap();
    let fence = format!("```{language}\n");
    let (_, rest) = text
        .split_once(&fence)
        .unwrap_or_else(|| panic!("no {fence} in servers.md"));
    assert!(!rest.contains(&fence), "one recipe for each");
    let (block, _) = rest.split_once("```").unwrap();
    replaced
        .iter()
        .fold(block.to_owned(), |text, (written, ours)| {
            assert!(
                text.contains(written),
                "servers.md no longer says {written:?}"
            );
            text.replace(written, ours)
        })
}
