//! Output: lines for people, documents for programs.

use anstyle::{AnsiColor, Style};
use outboard_wording::printable;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Column titles.
pub(crate) const TITLE: Style = Style::new().bold();
/// For findings without a problem.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// For notes.
pub(crate) const NOTE: Style = AnsiColor::Yellow.on_default();
/// For problems.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// `text` in a style; terminals alone see it, because printing strips it for everything else.
pub(crate) fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Set once the reader of standard output has gone.
static UNREAD: AtomicBool = AtomicBool::new(false);

/// Whether the reader of standard output has gone. A command that prints forever then ends.
pub(crate) fn is_unread() -> bool {
    UNREAD.load(Ordering::Relaxed)
}

/// Whether the user's locale says UTF-8 (locale(7)). Without one, as under cron, it is C: ASCII.
pub(crate) fn is_utf8() -> bool {
    let set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let deciding = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(set);
    let locale = deciding.and_then(|name| std::env::var(name).ok());
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// `text` for the user's locale.
fn localised(text: &str) -> Cow<'_, str> {
    match text.is_ascii() || is_utf8() {
        true => Cow::Borrowed(text),
        false => Cow::Owned(ascii(text)),
    }
}

/// The same in ASCII. What has no usual replacement is written as an escape.
fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            'µ' => plain.push('u'),
            '×' => plain.push('x'),
            '…' => plain.push_str("..."),
            '–' | '—' => plain.push('-'),
            '→' => plain.push_str("->"),
            '≥' => plain.push_str(">="),
            '≤' => plain.push_str("<="),
            '\u{a0}' | '\u{202f}' => plain.push(' '),
            letter if letter.is_ascii() => plain.push(letter),
            letter => plain.extend(letter.escape_unicode()),
        }
    }
    plain
}

/// Prints to standard output, in the user's locale. A reader that has seen enough (`| head`) is no error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    print_exact(&localised(text))
}

/// The same for documents, which are UTF-8 whatever the locale.
fn print_exact(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            UNREAD.store(true, Ordering::Relaxed);
            Ok(())
        }
        Err(error) => {
            let text = format!("cannot write to standard output: {error}");
            Err(io::Error::new(error.kind(), text))
        }
        Ok(()) => Ok(()),
    }
}

/// Where a text goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    Stdout,
    Stderr,
    File,
}

impl To {
    /// How many characters a line has room for: without end where it is no terminal, or one that does not say.
    pub(crate) fn room(self) -> usize {
        let size = match self {
            Self::Stdout => rustix::termios::tcgetwinsize(io::stdout()),
            Self::Stderr => rustix::termios::tcgetwinsize(io::stderr()),
            Self::File => return usize::MAX,
        };
        let columns = size.map_or(0, |size| usize::from(size.ws_col));
        match columns {
            0 => usize::MAX,
            columns => columns,
        }
    }
}

/// `text` with its long lines broken between words, if that can be; what goes on is moved in a little further.
pub(crate) fn fold(text: &str, room: usize) -> String {
    let shown = |text: &str| {
        anstream::adapter::strip_str(text)
            .to_string()
            .chars()
            .count()
    };
    let mut folded = String::with_capacity(text.len());
    for line in text.lines() {
        if shown(line) <= room {
            folded.push_str(line);
            folded.push('\n');
            continue;
        }
        let indent = line.chars().take_while(|&c| c == ' ').count() + 2;
        let mut length = 0;
        for (index, word) in line.split(' ').enumerate() {
            let needed = shown(word);
            // Of two blanks, one may end a line: the other begins none.
            if needed == 0 && length + 1 > room {
                continue;
            }
            if index > 0 && length > indent && length + 1 + needed > room {
                folded.truncate(folded.trim_end_matches(' ').len());
                folded.push('\n');
                folded.push_str(&" ".repeat(indent));
                length = indent;
            } else if index > 0 {
                folded.push(' ');
                length += 1;
            }
            folded.push_str(word);
            length += needed;
        }
        folded.push('\n');
    }
    folded
}

/// Prints `body` as a JSON document that says what it is: `{"schema": …, "version": …, …}`.
pub(crate) fn print_json(schema: &str, body: &impl Serialize) -> io::Result<()> {
    print_exact(&json(schema, body)?)
}

/// The document of [`print_json`], with a line end.
pub(crate) fn json(schema: &str, body: &impl Serialize) -> io::Result<String> {
    #[derive(Serialize)]
    struct Document<'a, T> {
        schema: &'a str,
        version: u32,
        #[serde(flatten)]
        body: &'a T,
    }
    let document = Document {
        schema,
        version: 1,
        body,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// An error, on standard error.
pub(crate) fn complain(message: &str) {
    // Quoted text of files and other programs must not control the terminal. (It may have several lines.)
    let shown = |line: &str| printable(&line.trim_end().replace('\t', "    "));
    let lines: Vec<String> = message.split('\n').map(shown).collect();
    remark(&format!("outboard: {}", lines.join("\n")));
}

/// Writes a line that is not the result to standard error.
pub(crate) fn remark(line: &str) {
    remark_exact(&localised(line));
}

/// The same for documents, which are UTF-8 whatever the locale.
pub(crate) fn remark_exact(line: &str) {
    // Nothing useful is left to do when even this cannot be written.
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words() {
        let text = "\u{1b}[1mTitle of some length\u{1b}[0m\n  one two  three\n  x\n";
        assert_eq!(fold(text, usize::MAX), text);
        assert_eq!(fold(text, 20), text, "escapes take no room");
        assert_eq!(
            fold(text, 9),
            "\u{1b}[1mTitle of\n  some\n  length\u{1b}[0m\n  one two\n    three\n  x\n"
        );
        // A word alone is as long as it is.
        assert_eq!(
            fold("  incomprehensibilities\n", 9),
            "  incomprehensibilities\n"
        );
    }

    #[test]
    fn what_is_not_ascii_has_a_replacement() {
        assert_eq!(ascii("12.3 µs, 2 × é…"), r"12.3 us, 2 x \u{e9}...");
    }
}
