//! A marked block of lines at the end of a file: put there, found again, taken out.
//!
//! Knows bytes and lines. Knows nothing of what a line means.

const BEGIN: &str = "# >>> outboard";
const END: &str = "# <<< outboard";
/// Said in the first marker when the file's last line had no end, so that [`Block::strip`] can undo it.
const ADDED_NEWLINE: &str = "; the line before had no end";

/// What the markers of a block say.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// What its lines do.
    pub what: &'static str,
    /// The command that adds it.
    pub added_by: &'static str,
    /// The command that takes it out.
    pub removed_by: &'static str,
}

/// A block whose markers do not fit together.
#[derive(Debug, thiserror::Error)]
#[error(
    "the block that '{added_by}' added is damaged: {what} (remove the lines from '{BEGIN}' to '{END}' with an \
     editor, or see 'outboard doctor')"
)]
pub struct Damaged {
    added_by: &'static str,
    what: String,
}

impl Block {
    /// `text` with a block of `lines` after it, in the file's own style of line ends.
    ///
    /// Precondition: `text` does not end in a continued line and holds no block ([`Block::strip`] it first).
    pub fn append(&self, text: &[u8], lines: &str) -> Vec<u8> {
        let added_newline = !text.is_empty() && !text.ends_with(b"\n");
        let note = if added_newline { ADDED_NEWLINE } else { "" };
        let mut block = String::new();
        if added_newline {
            block.push('\n');
        }
        block.push_str(&format!(
            "{BEGIN}: {} ('{}' removes this block{note})\n",
            self.what, self.removed_by
        ));
        block.push_str(lines);
        block.push_str(&format!("{END}\n"));
        if uses_carriage_returns(text) {
            block = block.replace('\n', "\r\n");
        }
        [text, block.as_bytes()].concat()
    }

    /// `text` without the block, byte for byte what it was before; `text` itself if there is none.
    ///
    /// # Errors
    /// When a marker stands alone or there are two blocks.
    pub fn strip(&self, text: &[u8]) -> Result<Vec<u8>, Damaged> {
        let mut begin = None;
        let mut end = None;
        let mut offset = 0;
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let next = offset + line.len();
            if line.starts_with(BEGIN.as_bytes()) && begin.replace((offset, line)).is_some() {
                return Err(self.damaged("there are two"));
            }
            if line.starts_with(END.as_bytes()) && end.replace(next).is_some() {
                return Err(self.damaged("it ends twice"));
            }
            offset = next;
        }
        let ((mut begin, marker), end) = match (begin, end) {
            (None, None) => return Ok(text.to_owned()),
            (Some(begin), Some(end)) if begin.0 < end => (begin, end),
            (Some(_), _) => return Err(self.damaged(&format!("the line '{END}' is missing"))),
            (None, Some(_)) => return Err(self.damaged(&format!("the line '{BEGIN}' is missing"))),
        };
        let before = &text[..begin];
        let nothing_follows = end == text.len();
        // Once something was written after the block, the line before it needs its end.
        if nothing_follows && contains_bytes(marker, ADDED_NEWLINE.as_bytes()) {
            begin = before
                .strip_suffix(b"\r\n")
                .or_else(|| before.strip_suffix(b"\n"))
                .map_or(begin, <[u8]>::len);
        }
        Ok([&text[..begin], &text[end..]].concat())
    }

    fn damaged(&self, what: &str) -> Damaged {
        Damaged {
            added_by: self.added_by,
            what: what.to_owned(),
        }
    }
}

fn uses_carriage_returns(text: &[u8]) -> bool {
    let lines = text.iter().filter(|&&byte| byte == b'\n').count();
    let returns = text.windows(2).filter(|pair| pair == b"\r\n").count();
    returns > lines / 2
}

fn contains_bytes(haystack: &[u8], needle: &[u8]) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BLOCK: Block = Block {
        what: "does something",
        added_by: "outboard enable",
        removed_by: "outboard disable",
    };

    fn append(text: &[u8], lines: &str) -> Vec<u8> {
        BLOCK.append(text, lines)
    }

    fn strip(text: &[u8]) -> Result<Vec<u8>, Damaged> {
        BLOCK.strip(text)
    }

    #[test]
    fn the_block_follows_the_style_of_the_file() {
        let unix = append(b"a = 1\n", "b = 2\n");
        assert!(!unix.contains(&b'\r'));
        let dos = append(b"a = 1\r\nc = 3\r\n", "b = 2\n");
        assert!(dos.ends_with(b"b = 2\r\n# <<< outboard\r\n"));
    }

    #[test]
    fn lines_added_after_the_block_stay() {
        for before in ["a = 1\n", "a = 1"] {
            let mut text = append(before.as_bytes(), "b = 2\n");
            text.extend_from_slice(b"c = 3\n");
            assert_eq!(strip(&text).expect("an intact block"), b"a = 1\nc = 3\n");
        }
    }

    #[test]
    fn damage_is_refused() {
        let reason = |text: &str| strip(text.as_bytes()).expect_err("damaged").to_string();
        assert!(reason("# >>> outboard\nb = 2\n").contains("'# <<< outboard' is missing"));
        assert!(reason("# <<< outboard\nb = 2\n").contains("'# >>> outboard' is missing"));
        assert!(reason("# <<< outboard\n# >>> outboard\n").contains("is missing"));
        let twice = append(&append(b"", "a = 1\n"), "b = 2\n");
        assert!(
            strip(&twice)
                .expect_err("damaged")
                .to_string()
                .contains("there are two")
        );
    }

    proptest! {
        #[test]
        fn strip_undoes_append(text in "([a-z= #\\[\\]]*(\n|\r\n)?){0,6}") {
            let text = text.as_bytes();
            let appended = append(text, "[outboard]\na = 1\n");
            prop_assert!(appended.len() > text.len());
            prop_assert_eq!(strip(&appended).expect("an intact block"), text);
            prop_assert_eq!(strip(text).expect("no block"), text);
        }
    }
}
