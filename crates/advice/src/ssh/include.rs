//! A configuration as it would read with another drop-in, or without ours: what is tried with sshd
//! and ssh before it takes effect.
//!
//! Nothing of the configuration is interpreted but `Include` lines, and of these only the ones that have to
//! read otherwise: those that take our drop-in in, or a file that does, become lists of files, in the order in
//! which glob(3) finds them; relative names become absolute, because `ssh -F` seeks them in another directory
//! than ssh does for the system's configuration. A file that is included and has such lines is copied.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// `READCONF_MAX_DEPTH`, `SERVCONF_MAX_DEPTH`. OpenSSH itself refuses a deeper configuration.
pub(super) const MAX_DEPTH: usize = 16;

/// The file that a staged configuration replaces, and how.
pub(super) struct Staging<'a> {
    /// The directory of relative names. It is `/etc/ssh` to sshd, and to ssh for the system's configuration.
    pub(super) directory: &'a Path,
    /// The drop-in's place.
    pub(super) place: &'a Path,
    /// The file that stands for the drop-in; none if `None`.
    pub(super) instead: Option<&'a Path>,
    /// Makes a copy of an included file, with changed text. The number distinguishes the copies.
    pub(super) keep: &'a dyn Fn(usize, &str) -> io::Result<PathBuf>,
}

/// A configuration in which a drop-in was exchanged.
#[derive(Debug)]
pub(super) struct Staged {
    /// The text for sshd or ssh.
    pub(super) text: String,
    /// Each copy, and the file that it replaces.
    pub(super) copies: Vec<(PathBuf, PathBuf)>,
}

impl Staging<'_> {
    /// `text`, the main configuration, so changed.
    ///
    /// # Errors
    /// If a directory that takes the drop-in in cannot be read, files include each other too deeply, or a file
    /// cannot be made.
    pub(super) fn stage(&self, text: &str) -> io::Result<Staged> {
        let mut copies = Vec::new();
        let changed = self.changed(text, 0, &mut copies)?;
        Ok(Staged {
            text: changed.unwrap_or_else(|| text.to_owned()),
            copies,
        })
    }

    /// The text of a file with all that has to read otherwise; `None` if nothing has to.
    fn changed(
        &self,
        text: &str,
        depth: usize,
        copies: &mut Vec<(PathBuf, PathBuf)>,
    ) -> io::Result<Option<String>> {
        if depth > MAX_DEPTH {
            return Err(io::Error::other("files include each other too deeply"));
        }
        let mut staged = String::new();
        let mut is_changed = false;
        for line in text.split_terminator('\n') {
            let include = match included(line) {
                Some(patterns) => self.include(&patterns, depth, copies)?,
                None => None,
            };
            is_changed |= include.is_some();
            staged += include.as_deref().unwrap_or(line);
            staged.push('\n');
        }
        Ok(is_changed.then_some(staged))
    }

    /// The line that includes what these patterns find; `None` if it stays as it is.
    fn include(
        &self,
        patterns: &[String],
        depth: usize,
        copies: &mut Vec<(PathBuf, PathBuf)>,
    ) -> io::Result<Option<String>> {
        let mut files: Vec<PathBuf> = Vec::new();
        let mut is_changed = false;
        for pattern in patterns {
            // Homes, and what a later OpenSSH puts for tokens and variables, are for it to find.
            if pattern.starts_with(['~', '%', '$']) {
                files.push(pattern.into());
                continue;
            }
            check_pattern(pattern)?;
            let absolute = self.directory.join(pattern).to_string_lossy().into_owned();
            is_changed |= absolute != *pattern;
            let ours = takes_in(&absolute, self.place);
            let place = ours.then_some(self.place);
            let found = match expand(&absolute, place, self.instead.filter(|_| ours)) {
                Ok(found) => found,
                Err(error) if ours => return Err(error),
                // We may not read this directory. Other readers of the configuration with our rights may not either.
                Err(_) => Vec::new(),
            };
            let (found, is_staged) = self.stage_files(found, depth, copies)?;
            if ours || is_staged {
                is_changed = true;
                files.extend(found);
            } else {
                files.push(absolute.into());
            }
        }
        if !is_changed {
            return Ok(None);
        }
        let mut line = match files.is_empty() {
            true => "# nothing to include".to_owned(),
            false => "Include".to_owned(),
        };
        for file in files {
            let quote = match file.to_string_lossy().contains([' ', '\t']) {
                true => "\"",
                false => "",
            };
            // Writing to a String cannot fail.
            let _ = write!(line, " {quote}{}{quote}", file.display());
        }
        Ok(Some(line))
    }

    /// These files, or what has to be read instead of them, and whether any has.
    fn stage_files(
        &self,
        found: Vec<PathBuf>,
        depth: usize,
        copies: &mut Vec<(PathBuf, PathBuf)>,
    ) -> io::Result<(Vec<PathBuf>, bool)> {
        let mut files = Vec::new();
        let mut is_staged = false;
        for file in found {
            // sshd or ssh reports a file that cannot be read.
            let changed = match (Some(&*file) == self.instead, read(&file)) {
                (false, Ok(text)) => self.changed(&text, depth + 1, copies)?,
                _ => None,
            };
            let Some(text) = changed else {
                files.push(file);
                continue;
            };
            is_staged = true;
            let copy = (self.keep)(copies.len(), &text)?;
            files.push(copy.clone());
            copies.push((copy, file));
        }
        Ok((files, is_staged))
    }
}

/// The patterns of an `Include` line; `None` if it is another line.
fn included(line: &str) -> Option<Vec<String>> {
    let (keyword, rest) = split_keyword(line)?;
    keyword
        .eq_ignore_ascii_case("include")
        .then(|| arguments(rest))
}

/// A line's keyword, without quotes, and its arguments: `Keyword arguments`, `Keyword=arguments`,
/// `"Keyword" arguments`.
pub(super) fn split_keyword(line: &str) -> Option<(String, &str)> {
    let (mut keyword, mut rest) = first_word(line.trim_end())?;
    // The space before it ends a word that is empty.
    if keyword.is_empty() {
        (keyword, rest) = first_word(rest)?;
    }
    let is_one = !keyword.is_empty() && !keyword.starts_with('#');
    is_one.then_some((keyword, rest))
}

/// The first word, as OpenSSH's `strdelim` cuts it off: up to a space or one `=`, or to the end of a quotation, which may
/// begin within a word. A quotation without an end gives nothing.
fn first_word(text: &str) -> Option<(String, &str)> {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let Some(end) = text.find(|c| is_space(c) || matches!(c, '"' | '=')) else {
        return Some((text.to_owned(), ""));
    };
    let (word, rest) = text.split_at(end);
    if let Some(quoted) = rest.strip_prefix('"') {
        let (quoted, rest) = quoted.split_once('"')?;
        return Some((format!("{word}{quoted}"), rest.trim_start_matches(is_space)));
    }
    let rest = rest.trim_start_matches(is_space);
    let rest = rest.strip_prefix('=').unwrap_or(rest);
    Some((word.to_owned(), rest.trim_start_matches(is_space)))
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

/// Whether glob(3) may find something else by `pattern` than [`expand`] does.
///
/// # Errors
/// If so, in words.
pub(super) fn check_pattern(pattern: &str) -> io::Result<()> {
    // A name that was not UTF-8 is a different name now.
    let other = ["**", "[^", "[:", "[.", "[=", "\\", "\u{fffd}"];
    match other.iter().find(|part| pattern.contains(**part)) {
        Some(part) => Err(io::Error::other(format!(
            "only OpenSSH knows which files 'Include {pattern}' matches (write the pattern without {part})"
        ))),
        None => Ok(()),
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

/// The whole text of a configuration; what in it is not UTF-8, in a comment say, is no reason to pass it over.
///
/// # Errors
/// Of the file system, and for what may have no end: a configuration may be another user's.
pub(super) fn read(file: &Path) -> io::Result<String> {
    const MOST: u64 = 1 << 20;
    let unwilling = |reason| Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    let opened = fs::OpenOptions::new()
        .read(true)
        // Not to wait for a pipe's other end.
        .custom_flags(libc::O_NONBLOCK)
        .open(file)?;
    let metadata = opened.metadata()?;
    // Both read as empty to OpenSSH; the second is how a drop-in is masked.
    if metadata.is_dir() || metadata.rdev() == rustix::fs::makedev(1, 3) {
        return Ok(String::new());
    }
    if !metadata.is_file() {
        return unwilling("it is not a plain file");
    }
    let mut bytes = Vec::new();
    opened.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return unwilling("it is too long for a configuration");
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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

    /// Copies become files `NUMBER.copy` beside `main`.
    fn staging<T>(
        main: &Path,
        place: &Path,
        instead: Option<&Path>,
        run: impl FnOnce(&Staging<'_>) -> T,
    ) -> T {
        let directory = main.parent().expect("it has one");
        run(&Staging {
            directory,
            place,
            instead,
            keep: &|number, text| {
                let copy = directory.join(format!("{number}.copy"));
                fs::write(&copy, text).map(|()| copy)
            },
        })
    }

    fn stage(text: &str, main: &Path, place: &Path, instead: Option<&Path>) -> Staged {
        staging(main, place, instead, |staging| staging.stage(text)).expect("it can be read")
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
        let staged = stage(&text, &main, &place, Some(instead));
        let expected = format!(
            "Port 22\nInclude {0}/05-first.conf /tmp/new {0}/50-last.conf\nX11Forwarding no\n",
            directory.display()
        );
        assert_eq!(staged.text, expected);

        fs::write(&place, "").expect("it is ours");
        let staged = stage(&text, &main, &place, None);
        assert_eq!(staged.text, expected.replace(" /tmp/new", ""));
    }

    #[test]
    fn other_includes_stay_and_relative_ones_become_absolute() {
        let (_root, main, directory) = tree(&[]);
        let place = directory.join("10-outboard.conf");
        let text = "Include d/*.conf other.conf \"with space\" # why\n#Include d/*\n";
        let staged = stage(text, &main, &place, None);
        let beside = main.parent().expect("it has one").display();
        assert_eq!(
            staged.text,
            format!("Include {beside}/other.conf \"{beside}/with space\"\n#Include d/*\n")
        );
        for stays in [
            "Include /elsewhere/*.conf\n",
            "Include ~/own %d/own ${HOME}/own\n",
        ] {
            assert_eq!(stage(stays, &main, &place, None).text, stays);
        }
    }

    #[test]
    fn files_that_are_included_are_changed_where_they_have_to_be() {
        let (root, main, directory) = tree(&["50-last.conf", "plain.conf"]);
        let place = directory.join("10-outboard.conf");
        let write = |name: &str, text: &str| {
            fs::write(root.path().join(name), text).expect("it is ours");
        };
        write("first", "Port 1\nInclude d/*.conf\n");
        write("second", "Include /elsewhere\n");
        let text = format!(
            "Include {0}/first {0}/second\nInclude second\n",
            root.path().display()
        );
        let instead = Path::new("/tmp/new");
        let staged = stage(&text, &main, &place, Some(instead));
        let beside = root.path().display();
        assert_eq!(
            staged.text,
            format!("Include {beside}/0.copy {beside}/second\nInclude {beside}/second\n")
        );
        let pair = ["0.copy", "first"].map(|name| root.path().join(name));
        assert_eq!(staged.copies, [pair.clone().into()]);
        assert_eq!(
            fs::read_to_string(&pair[0]).expect("it was made"),
            format!(
                "Port 1\nInclude /tmp/new {0}/50-last.conf {0}/plain.conf\n",
                directory.display()
            )
        );
    }

    #[test]
    fn loops_are_refused() {
        let (root, main, directory) = tree(&[]);
        let text = "Include sshd_config sshd_config\n";
        fs::write(&main, text).expect("it is ours");
        let refused = staging(&main, &directory.join("x"), None, |staging| {
            staging.stage(text).expect_err("it has no end")
        });
        assert_eq!(refused.to_string(), "files include each other too deeply");
        drop(root);
    }

    #[test]
    fn keywords_are_found_as_openssh_finds_them() {
        for (line, keyword, rest) in [
            ("Port 1", "Port", "1"),
            (" \t Port = 1 \r", "Port", "1"),
            ("\"Port\" 1", "Port", "1"),
            ("Po\"rt\"1", "Port", "1"),
            ("=Port 1", "Port", "1"),
            ("Port==1", "Port", "=1"),
            ("Port", "Port", ""),
        ] {
            assert_eq!(
                split_keyword(line),
                Some((keyword.to_owned(), rest)),
                "{line}"
            );
        }
        for line in ["", " ", "# Port 1", "#Port 1", "\"Port 1"] {
            assert_eq!(split_keyword(line), None, "{line}");
        }
    }

    #[test]
    fn patterns_that_only_glob_3_knows_are_refused() {
        let (_root, main, directory) = tree(&["50.conf"]);
        let place = directory.join("10-outboard.conf");
        for (part, text) in [
            ("**", "Include d/**\n"),
            ("[^", "Include d/[^x]*\n"),
            ("[:", "Include d/[[:digit:]]*\n"),
            ("\\", "Include d/\\*\n"),
        ] {
            let refused = staging(&main, &place, None, |staging| {
                staging.stage(text).expect_err("it is not for us to say")
            });
            assert!(
                refused.to_string().contains(&format!("without {part})")),
                "{refused}"
            );
        }
    }

    #[test]
    fn what_may_have_no_end_is_not_read() {
        let (root, main, directory) = tree(&[]);
        let pipe = root.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo is installed").success());
        fs::write(&main, vec![b'\n'; (1 << 20) + 1]).expect("it is ours");
        for endless in [&*pipe, &*main, Path::new("/dev/zero")] {
            assert!(read(endless).is_err(), "{}", endless.display());
        }
        for empty in [&*directory, Path::new("/dev/null")] {
            assert_eq!(read(empty).expect("it reads as empty"), "");
        }
        fs::write(&main, b"# Pr\xfcfung\nPort 1\n").expect("it is ours");
        assert!(read(&main).expect("it can be read").ends_with("\nPort 1\n"));
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
            let staged = stage(&text, &main, &directory.join("x.conf"), None);
            if !text.replace('"', "").to_ascii_lowercase().contains("include") {
                let lines: Vec<&str> = text.split_terminator('\n').collect();
                prop_assert_eq!(staged.text.split_terminator('\n').collect::<Vec<_>>(), lines);
            }
        }
    }
}
