//! The block of `outboard enable` in `openssl.cnf`.

use super::{ConfError, refused};
use outboard_marked_block::Block;

const BLOCK: Block = Block {
    what: "loads OpenSSL's provider outboard",
    added_by: "outboard enable",
    removed_by: "outboard disable",
};

/// As [`Block::append`].
pub(super) fn append(text: &[u8], lines: &str) -> Vec<u8> {
    BLOCK.append(text, lines)
}

/// `text` without the block, byte for byte what it was before; `text` itself if there is none.
///
/// # Errors
/// [`ConfError::Refused`] when a marker stands alone or there are two blocks.
pub fn strip(text: &[u8]) -> Result<Vec<u8>, ConfError> {
    BLOCK
        .strip(text)
        .map_err(|damaged| refused(damaged.to_string()))
}
