//! Reading: lines, sections, pragmas and includes, as OpenSSL's `def_load_bio` understands them.

use super::ConfError;
use super::value::{expand, is_quote, is_space, is_word};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where `$ENV::NAME` and `OPENSSL_CONF_INCLUDE` come from; tests have their own.
pub type Environment = fn(&str) -> Option<String>;

/// The section that lines before the first `[header]` belong to.
pub(crate) const DEFAULT_SECTION: &str = "default";

/// Files that include each other in a ring would never end; OpenSSL itself has no bound.
const DEEPEST_INCLUDE: usize = 16;

/// What a configuration file says, with everything it includes.
#[derive(Debug, Default)]
pub struct Config {
    sections: HashMap<String, Vec<Assignment>>,
    /// The section that a line added at the end of the file would belong to.
    pub last_section: String,
    /// Whether the last line ends in a backslash, and so would swallow a line added after it.
    pub ends_in_continuation: bool,
    /// Included files that do not exist. OpenSSL passes over them in silence.
    pub missing_includes: Vec<String>,
}

/// `name = value`, its value expanded.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// As written; OpenSSL often ignores what stands before a dot ("1.default").
    pub name: String,
    /// With quotes, escapes and variables resolved.
    pub value: String,
    /// Where it stands.
    pub origin: Origin,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file, perhaps an included one.
    pub file: PathBuf,
    /// Counted from 1; the first of continued lines.
    pub line: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.file.display(), self.line)
    }
}

impl Config {
    /// Reads `text`, the content of `file`, and the files that it includes.
    ///
    /// # Errors
    /// [`ConfError::Syntax`] for what OpenSSL would refuse too; [`ConfError::Unreadable`] for an
    /// included file that exists but cannot be read (OpenSSL would pass over it, differently for
    /// each user).
    pub fn parse(text: &[u8], file: &Path, environment: Environment) -> Result<Self, ConfError> {
        let mut reader = Reader {
            config: Self::default(),
            section: DEFAULT_SECTION.to_owned(),
            pragmas: Pragmas::default(),
            environment,
            depth: 0,
        };
        reader.config.open_section(DEFAULT_SECTION);
        let ends_in_continuation = reader.read(text, file, false)?;
        reader.config.ends_in_continuation = ends_in_continuation;
        reader.config.last_section = reader.section;
        Ok(reader.config)
    }

    /// The assignments of a section, in order, each name once; `None` if no such section is opened.
    pub fn section(&self, name: &str) -> Option<&[Assignment]> {
        self.sections.get(name).map(Vec::as_slice)
    }

    /// Every section with its assignments, in no order.
    #[cfg(test)]
    pub fn sections(&self) -> impl Iterator<Item = (&str, &[Assignment])> {
        self.sections
            .iter()
            .map(|(name, assignments)| (name.as_str(), assignments.as_slice()))
    }

    /// One assignment of one section (without OpenSSL's detour to the default section).
    pub fn assignment(&self, section: &str, name: &str) -> Option<&Assignment> {
        self.section(section)?.iter().find(|a| a.name == name)
    }

    /// What a variable stands for: its section, then the environment for `ENV`, then the default
    /// section.
    fn variable(&self, section: &str, name: &str, environment: Environment) -> Option<String> {
        let value = |section| Some(self.assignment(section, name)?.value.clone());
        value(section)
            .or_else(|| (section == "ENV").then(|| environment(name)).flatten())
            .or_else(|| value(DEFAULT_SECTION))
    }

    fn open_section(&mut self, name: &str) {
        if !self.sections.contains_key(name) {
            self.sections.insert(name.to_owned(), Vec::new());
        }
    }

    /// The later of two assignments wins, and stands where the later one stood.
    fn assign(&mut self, section: &str, assignment: Assignment) {
        self.open_section(section);
        let assignments = self
            .sections
            .get_mut(section)
            .expect("invariant: the section was opened above");
        assignments.retain(|earlier| earlier.name != assignment.name);
        assignments.push(assignment);
    }
}

/// `.pragma` lines hold for everything after them, in included files and beyond.
#[derive(Default)]
struct Pragmas {
    dollar_is_a_letter: bool,
    absolute_paths_only: bool,
    include_directory: Option<String>,
}

struct Reader {
    config: Config,
    section: String,
    pragmas: Pragmas,
    environment: Environment,
    depth: usize,
}

impl Reader {
    /// Reads one file; returns whether its last line ends in a backslash.
    fn read(&mut self, text: &[u8], file: &Path, in_directory: bool) -> Result<bool, ConfError> {
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let lines = logical_lines(text);
        for line in &lines {
            let origin = Origin {
                file: file.to_owned(),
                line: line.number,
            };
            self.line(&line.text, &origin, in_directory)?;
        }
        Ok(lines.last().is_some_and(|line| line.unfinished))
    }

    fn line(&mut self, line: &[u8], origin: &Origin, in_directory: bool) -> Result<(), ConfError> {
        if line.contains(&0) {
            return Err(syntax(origin, "it holds a NUL byte; is this a text file?"));
        }
        let line = trim(without_comment(line));
        if line.is_empty() {
            return Ok(());
        }
        if let Some(header) = line.strip_prefix(b"[") {
            return self.header(header, origin);
        }

        // section::name or name, then '=' (which .include and .pragma may leave out).
        let (mut name, mut rest) =
            line.split_at(name_length(line, self.pragmas.dollar_is_a_letter));
        let mut section = self.section.clone();
        if let Some(after) = rest.strip_prefix(b"::") {
            section = text(name);
            (name, rest) = after.split_at(name_length(after, self.pragmas.dollar_is_a_letter));
        }
        let spaced = rest.first().copied().is_some_and(is_space);
        rest = trim(rest);
        let value = rest.strip_prefix(b"=").map(trim);
        let directive = |word: &[u8]| {
            name.starts_with(word) && (spaced || name.len() > word.len() || value.is_some())
        };
        if directive(b".pragma") {
            return self.pragma(value.unwrap_or(rest), origin);
        }
        if directive(b".include") {
            let path = self.expand(value.unwrap_or(rest), &section, origin)?;
            return self.include(&path, origin, in_directory);
        }
        let Some(value) = value else {
            let reason = format!("no '=' after '{}'", text(name));
            return Err(syntax(origin, reason));
        };
        let value = self.expand(value, &section, origin)?;
        let assignment = Assignment {
            name: text(name),
            value,
            origin: origin.clone(),
        };
        self.config.assign(&section, assignment);
        Ok(())
    }

    fn header(&mut self, header: &[u8], origin: &Origin) -> Result<(), ConfError> {
        let header = trim(header);
        let mut end = 0;
        loop {
            end += name_length(&header[end..], self.pragmas.dollar_is_a_letter);
            let gap = header[end..].iter().take_while(|&&b| is_space(b)).count();
            match header.get(end + gap) {
                Some(b']') => break,
                Some(_) if gap > 0 => end += gap,
                _ => return Err(syntax(origin, "no ']' after the section's name")),
            }
        }
        self.section = self.expand(&header[..end], DEFAULT_SECTION, origin)?;
        self.config.open_section(&self.section);
        Ok(())
    }

    fn pragma(&mut self, pragma: &[u8], origin: &Origin) -> Result<(), ConfError> {
        let pragma = text(pragma);
        let Some((keyword, value)) = pragma
            .split_once(':')
            .filter(|(k, v)| !k.is_empty() && !v.is_empty())
        else {
            return Err(syntax(origin, "a .pragma needs a keyword, ':' and a value"));
        };
        let (keyword, value) = (keyword.trim(), value.trim());
        let switch = || match value.to_ascii_lowercase().as_str() {
            "on" | "true" => Ok(true),
            "off" | "false" => Ok(false),
            _ => Err(syntax(
                origin,
                format!(".pragma {keyword} is neither on nor off"),
            )),
        };
        match keyword {
            "dollarid" => self.pragmas.dollar_is_a_letter = switch()?,
            "abspath" => self.pragmas.absolute_paths_only = switch()?,
            "includedir" => self.pragmas.include_directory = Some(value.to_owned()),
            _ => {} // OpenSSL ignores what it does not know.
        }
        Ok(())
    }

    fn include(
        &mut self,
        path: &str,
        origin: &Origin,
        in_directory: bool,
    ) -> Result<(), ConfError> {
        let directory = (self.environment)("OPENSSL_CONF_INCLUDE")
            .or_else(|| self.pragmas.include_directory.clone());
        let path = match directory {
            Some(directory) => Path::new(&directory).join(path),
            None => PathBuf::from(path),
        };
        if self.pragmas.absolute_paths_only && !path.is_absolute() {
            let reason = format!(
                "{} is not absolute, as .pragma abspath demands",
                path.display()
            );
            return Err(syntax(origin, reason));
        }
        if self.depth == DEEPEST_INCLUDE {
            return Err(syntax(origin, "files include each other without end"));
        }
        self.depth += 1;
        if path.is_dir() {
            // OpenSSL reads no directory from within a directory's files.
            if !in_directory {
                for file in configuration_files(&path)? {
                    self.read_file(&file, true)?;
                }
            }
        } else if path.exists() {
            self.read_file(&path, in_directory)?;
        } else {
            self.config
                .missing_includes
                .push(path.display().to_string());
        }
        self.depth -= 1;
        Ok(())
    }

    fn read_file(&mut self, file: &Path, in_directory: bool) -> Result<(), ConfError> {
        let text = std::fs::read(file).map_err(|source| ConfError::Unreadable {
            file: file.to_owned(),
            source,
        })?;
        self.read(&text, file, in_directory)?;
        Ok(())
    }

    fn expand(&self, raw: &[u8], section: &str, origin: &Origin) -> Result<String, ConfError> {
        expand(raw, self.pragmas.dollar_is_a_letter, |other, name| {
            self.config
                .variable(other.unwrap_or(section), name, self.environment)
        })
        .map_err(|reason| syntax(origin, reason))
    }
}

/// The files of an included directory that OpenSSL reads: `*.cnf` and `*.conf`. (It takes them in
/// the order of the directory; this is the order of their names.)
fn configuration_files(directory: &Path) -> Result<Vec<PathBuf>, ConfError> {
    let unreadable = |source| ConfError::Unreadable {
        file: directory.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        let lower = name.to_string_lossy().to_ascii_lowercase();
        let suffix = |suffix: &str| lower.len() > suffix.len() && lower.ends_with(suffix);
        if suffix(".cnf") || suffix(".conf") {
            files.push(directory.join(name));
        }
    }
    files.sort();
    Ok(files)
}

/// A line with what it continues joined to it.
struct LogicalLine {
    number: usize,
    text: Vec<u8>,
    /// It ends in a backslash, and so does the file.
    unfinished: bool,
}

fn logical_lines(text: &[u8]) -> Vec<LogicalLine> {
    let mut lines = Vec::new();
    let mut current: Option<LogicalLine> = None;
    for (index, physical) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let kept = physical.iter().rposition(|b| !matches!(b, b'\r' | b'\n'));
        let physical = &physical[..kept.map_or(0, |last| last + 1)];
        let mut line = current.take().unwrap_or(LogicalLine {
            number: index + 1,
            text: Vec::new(),
            unfinished: false,
        });
        line.text.extend_from_slice(physical);
        // One backslash at the end continues the line; two are one backslash.
        if line.text.ends_with(b"\\") && !line.text.ends_with(b"\\\\") {
            line.text.pop();
            line.unfinished = true;
            current = Some(line);
        } else {
            line.unfinished = false;
            lines.push(line);
        }
    }
    lines.extend(current);
    lines
}

/// The line up to a `#` that stands neither in quotes nor after a backslash.
fn without_comment(line: &[u8]) -> &[u8] {
    let mut at = 0;
    let mut quoted = None;
    while let Some(&byte) = line.get(at) {
        match quoted {
            _ if byte == b'\\' => at += 1,
            Some(mark) if byte == mark => quoted = None,
            Some(_) => {}
            None if byte == b'#' => return &line[..at],
            None if is_quote(byte) => quoted = Some(byte),
            None => {}
        }
        at += 1;
    }
    line
}

/// How many bytes belong to a name: letters, digits, some punctuation, and anything escaped.
fn name_length(bytes: &[u8], dollar_is_a_letter: bool) -> usize {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'\\' {
            at = (at + 2).min(bytes.len());
        } else if is_word(byte)
            || b"!.%&*+,/;?@^~|-".contains(&byte)
            || (dollar_is_a_letter && byte == b'$')
        {
            at += 1;
        } else {
            break;
        }
    }
    at
}

fn trim(bytes: &[u8]) -> &[u8] {
    let start = bytes
        .iter()
        .position(|&b| !is_space(b))
        .unwrap_or(bytes.len());
    let end = bytes
        .iter()
        .rposition(|&b| !is_space(b))
        .map_or(start, |last| last + 1);
    &bytes[start..end]
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn syntax(origin: &Origin, reason: impl Into<String>) -> ConfError {
    ConfError::Syntax {
        file: origin.file.clone(),
        line: origin.line,
        reason: reason.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Config, ConfError> {
        Config::parse(text.as_bytes(), Path::new("openssl.cnf"), |name| {
            (name == "HOME").then(|| "/root".into())
        })
    }

    fn value(text: &str, section: &str, name: &str) -> Option<String> {
        let config = parse(text).expect("the text of the test is well formed");
        Some(config.assignment(section, name)?.value.clone())
    }

    #[test]
    fn sections_names_and_values() {
        let text =
            "a = 1\n[ one ]\na = 2 # not this\n[two words]\nb=x\\\ny\n[one]\nother::c = 3\na = 4\n";
        assert_eq!(value(text, "default", "a").as_deref(), Some("1"));
        assert_eq!(
            value(text, "one", "a").as_deref(),
            Some("4"),
            "the later wins"
        );
        assert_eq!(value(text, "two words", "b").as_deref(), Some("xy"));
        assert_eq!(value(text, "other", "c").as_deref(), Some("3"));
        assert_eq!(value(text, "one", "c"), None);
    }

    #[test]
    fn variables_are_sought_here_then_by_default() {
        let text = "dir = /etc\n[s]\nfile = $dir/x\ndir = /srv\nhere = $dir/x\nhome = $ENV::HOME\n";
        assert_eq!(value(text, "s", "file").as_deref(), Some("/etc/x"));
        assert_eq!(value(text, "s", "here").as_deref(), Some("/srv/x"));
        assert_eq!(value(text, "s", "home").as_deref(), Some("/root"));
    }

    #[test]
    fn a_comment_sign_in_quotes_or_escaped_is_none() {
        assert_eq!(
            value("a = 'x # y' # z", "default", "a").as_deref(),
            Some("x # y")
        );
        assert_eq!(
            value(r"a = x \# y", "default", "a").as_deref(),
            Some("x # y")
        );
    }

    #[test]
    fn carriage_returns_and_a_byte_order_mark_do_not_count() {
        let text = "\u{FEFF}a = 1\r\n[s]\r\nb = 2\\\r\n3\r\n";
        assert_eq!(value(text, "default", "a").as_deref(), Some("1"));
        assert_eq!(value(text, "s", "b").as_deref(), Some("23"));
    }

    #[test]
    fn the_last_line_may_be_unfinished() {
        assert!(
            parse("a = 1\\")
                .expect("OpenSSL reads it")
                .ends_in_continuation
        );
        assert!(
            parse("a = 1\\\n")
                .expect("OpenSSL reads it")
                .ends_in_continuation
        );
        assert!(
            !parse("a = 1\\\\")
                .expect("OpenSSL reads it")
                .ends_in_continuation
        );
        assert!(
            !parse("a = 1\\\n2")
                .expect("OpenSSL reads it")
                .ends_in_continuation
        );
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text| parse(text).expect_err("OpenSSL refuses it").to_string();
        assert_eq!(
            error("a = 1\n\nnonsense\n"),
            "cannot understand openssl.cnf, line 3: no '=' after 'nonsense' (correct that line first)"
        );
        assert!(error("[ open\n").contains("no ']'"));
        assert!(error("a = $b\n").contains("$b has no value"));
        assert!(error("a = \0\n").contains("NUL"));
        assert!(error(".pragma = dollarid:maybe").contains("neither on nor off"));
    }

    #[test]
    fn includes_share_the_section_both_ways() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("parts")).expect("a directory");
        std::fs::write(at("parts/b.cnf"), "c = 3\n[inner]\nd = 4\n").expect("a file");
        std::fs::write(at("parts/ignored.txt"), "nonsense\n").expect("a file");
        std::fs::write(at("one.cnf"), "b = 2\n").expect("a file");
        let text = format!(
            "[outer]\n.include {0}/one.cnf\n.include = {0}/parts\ne = 5\n.include {0}/absent\n",
            directory.path().display()
        );
        assert_eq!(value(&text, "outer", "b").as_deref(), Some("2"));
        assert_eq!(value(&text, "outer", "c").as_deref(), Some("3"));
        assert_eq!(value(&text, "inner", "d").as_deref(), Some("4"));
        assert_eq!(value(&text, "inner", "e").as_deref(), Some("5"));
        assert_eq!(parse(&text).expect("well formed").missing_includes.len(), 1);
    }

    #[test]
    fn a_ring_of_includes_ends() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let ring = directory.path().join("ring.cnf");
        let text = format!(".include {}\n", ring.display());
        std::fs::write(&ring, &text).expect("a file");
        assert!(
            parse(&text)
                .expect_err("it never ends")
                .to_string()
                .contains("without end")
        );
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\[\\]a-c$={}()'\"\\\\#.: \n]*") {
            let _ = parse(&text);
        }
    }
}
