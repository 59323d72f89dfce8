//! A configuration as it would read with another drop-in, or without ours: what is tried with sshd
//! and ssh before it takes effect.
//!
//! Nothing of the configuration is interpreted but `Include` lines, and of these only the ones that
//! take our drop-in in: they become lists of files, in the order in which glob(3) finds them.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A configuration in which a drop-in was exchanged.
#[derive(Debug)]
pub(super) struct Staged {
    /// What to give to sshd or ssh.
    pub(super) text: String,
    /// The number of the line that takes the drop-in in, from 1; `None` if no line does.
    pub(super) included_at: Option<usize>,
}

/// `text`, the configuration at `main`, as if the drop-in at `place` were the file `instead`, or not
/// there.
///
/// # Errors
/// If a directory that an `Include` names cannot be read.
pub(super) fn stage(
    text: &str,
    main: &Path,
    place: &Path,
    instead: Option<&Path>,
) -> io::Result<Staged> {
    let directory = main.parent().unwrap_or(Path::new("/"));
    let mut staged = Staged {
        text: String::new(),
        included_at: None,
    };
    for (index, line) in text.split_terminator('\n').enumerate() {
        let Some(patterns) = included(line) else {
            staged.text.push_str(line);
            staged.text.push('\n');
            continue;
        };
        let mut files = Vec::new();
        for pattern in patterns {
            if pattern.starts_with('~') {
                files.push(pattern.into());
                continue;
            }
            // sshd takes a relative name from /etc/ssh; so does ssh, for the system's configuration.
            let pattern = directory.join(pattern).to_string_lossy().into_owned();
            if takes_in(&pattern, place) {
                staged.included_at.get_or_insert(index + 1);
                files.extend(expand(&pattern, Some(place), instead)?);
            } else {
                files.push(pattern.into());
            }
        }
        if files.is_empty() {
            staged.text.push_str("# nothing to include");
        } else {
            staged.text.push_str("Include");
        }
        for file in files {
            let quote = if file.to_string_lossy().contains([' ', '\t']) {
                "\""
            } else {
                ""
            };
            // Writing to a String cannot fail.
            let _ = write!(staged.text, " {quote}{}{quote}", file.display());
        }
        staged.text.push('\n');
    }
    Ok(staged)
}

/// The patterns of an `Include` line; `None` if it is another line.
fn included(line: &str) -> Option<Vec<String>> {
    let (keyword, rest) = split_keyword(line)?;
    keyword
        .eq_ignore_ascii_case("include")
        .then(|| arguments(rest))
}

/// A line's keyword and its arguments: `Keyword arguments`, `Keyword=arguments`.
pub(super) fn split_keyword(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let end = line
        .find(|c: char| c.is_ascii_whitespace() || c == '=')
        .unwrap_or(line.len());
    let rest = line[end..].trim_start();
    Some((&line[..end], rest.strip_prefix('=').unwrap_or(rest)))
}

/// Words, of which those with spaces stand in quotes (sshd's `argv_split`); a `#` ends the line.
pub(super) fn arguments(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() && !rest.starts_with('#') {
        let mut word = String::new();
        let mut quote = None;
        let mut characters = rest.char_indices();
        let mut end = rest.len();
        while let Some((at, character)) = characters.next() {
            match (character, quote) {
                ('\\', _) => word.extend(escaped(&rest[at..], quote, &mut characters)),
                ('"' | '\'', None) => quote = Some(character),
                (_, Some(open)) if open == character => quote = None,
                (_, None) if character.is_ascii_whitespace() => {
                    end = at;
                    break;
                }
                _ => word.push(character),
            }
        }
        words.push(word);
        rest = rest[end..].trim_start();
    }
    words
}

/// A backslash takes the meaning of quotes, of itself and, outside quotes, of a space away; it stands
/// for itself otherwise.
fn escaped(
    rest: &str,
    quote: Option<char>,
    characters: &mut std::str::CharIndices<'_>,
) -> Option<char> {
    let next = rest.chars().nth(1);
    match next {
        Some('"' | '\'' | '\\') => {
            characters.next();
            next
        }
        Some(' ') if quote.is_none() => {
            characters.next();
            next
        }
        _ => Some('\\'),
    }
}

/// Whether `pattern` finds a file at `place`.
pub(super) fn takes_in(pattern: &str, place: &Path) -> bool {
    glob::Pattern::new(pattern)
        .is_ok_and(|pattern| pattern.matches_path_with(place, AS_THE_SHELL_DOES))
}

/// The files that `pattern` finds, in order, with the one at `place` exchanged.
///
/// # Errors
/// If a directory cannot be read.
pub(super) fn expand(
    pattern: &str,
    place: Option<&Path>,
    instead: Option<&Path>,
) -> io::Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = glob::glob_with(pattern, AS_THE_SHELL_DOES)
        .map_err(io::Error::other)?
        .collect::<Result<_, _>>()
        .map_err(|error| io::Error::new(error.error().kind(), error.to_string()))?;
    found.retain(|file| Some(&**file) != place);
    if instead.is_some() {
        found.extend(place.map(Path::to_owned));
    }
    found.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(found
        .into_iter()
        .map(|file| match instead {
            Some(instead) if Some(&*file) == place => instead.to_owned(),
            _ => file,
        })
        .collect())
}

/// As glob(3): `*` stops at a slash and passes over hidden files.
const AS_THE_SHELL_DOES: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// The whole text of a configuration; an empty one if there is none.
pub(super) fn read(main: &Path) -> io::Result<String> {
    match fs::read(main) {
        Ok(bytes) => String::from_utf8(bytes)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8")),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `main` beside a directory `d` with files of these names.
    fn tree(names: &[&str]) -> (tempfile::TempDir, PathBuf, PathBuf) {
        let root = tempfile::tempdir().expect("a temporary directory");
        let directory = root.path().join("d");
        fs::create_dir(&directory).expect("it is ours");
        for name in names {
            fs::write(directory.join(name), "").expect("it is ours");
        }
        let main = root.path().join("sshd_config");
        (root, main, directory)
    }

    #[test]
    fn the_drop_in_stands_where_its_name_puts_it() {
        let (_root, main, directory) =
            tree(&["05-first.conf", "50-last.conf", ".hidden.conf", "notes"]);
        let place = directory.join("10-outboard.conf");
        let text = format!(
            "Port 22\n  include={}/*.conf\nX11Forwarding no",
            directory.display()
        );
        let instead = Path::new("/tmp/new");
        let staged = stage(&text, &main, &place, Some(instead)).expect("it can be read");
        let expected = format!(
            "Port 22\nInclude {0}/05-first.conf /tmp/new {0}/50-last.conf\nX11Forwarding no\n",
            directory.display()
        );
        assert_eq!(staged.text, expected);
        assert_eq!(staged.included_at, Some(2));

        fs::write(&place, "").expect("it is ours");
        let staged = stage(&text, &main, &place, None).expect("it can be read");
        assert_eq!(staged.text, expected.replace(" /tmp/new", ""));
    }

    #[test]
    fn other_includes_stay_and_relative_ones_become_absolute() {
        let (_root, main, directory) = tree(&[]);
        let place = directory.join("10-outboard.conf");
        let text = "Include d/*.conf other.conf \"with space\" # why\n#Include d/*\n";
        let staged = stage(text, &main, &place, None).expect("it can be read");
        let beside = main.parent().expect("it has one").display();
        assert_eq!(
            staged.text,
            format!("Include {beside}/other.conf \"{beside}/with space\"\n#Include d/*\n")
        );
        assert_eq!(staged.included_at, Some(1));

        let none =
            stage("Include /elsewhere/*.conf\n", &main, &place, None).expect("it can be read");
        assert_eq!(none.included_at, None);
        assert_eq!(none.text, "Include /elsewhere/*.conf\n");
    }

    proptest! {
        /// Words that were quoted come back.
        #[test]
        fn quoted_words_come_back(words in prop::collection::vec("[a-z /*#='\"\\\\]{1,12}", 1..5)) {
            let line: String = words
                .iter()
                .map(|word| format!(" \"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")))
                .collect();
            prop_assert_eq!(arguments(&line), words);
        }

        /// Whatever stands in a configuration: it is read without harm, and without an Include of
        /// ours it stays as it is, line by line.
        #[test]
        fn any_text_is_survived(text in "(?s).{0,200}") {
            let (_root, main, directory) = tree(&[]);
            let staged = stage(&text, &main, &directory.join("x.conf"), None).expect("it can be read");
            if !text.to_ascii_lowercase().contains("include") {
                let lines: Vec<&str> = text.split_terminator('\n').collect();
                prop_assert_eq!(staged.text.split_terminator('\n').collect::<Vec<_>>(), lines);
            }
        }
    }
}
