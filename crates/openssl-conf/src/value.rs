//! Values: quotes, escapes and `$variables` (config(5), "Expansion of variables"), and their inverse.

/// Characters that may stand in a variable's name.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// White space, as OpenSSL counts it.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Any of the three quotation marks; each closes only itself.
pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'\'' | b'"' | b'`')
}

/// OpenSSL refuses values that grow beyond this by expansion.
const LONGEST_VALUE: usize = 65_536;

/// What `raw` means: quotes and escapes resolved, variables replaced by what `lookup(section, name)`
/// finds. A section of `None` is the one that the value stands in.
///
/// # Errors
/// The reason, in words, when OpenSSL would refuse the value.
pub(super) fn expand(
    raw: &[u8],
    dollar_is_a_letter: bool,
    lookup: impl Fn(Option<&str>, &str) -> Option<String>,
) -> Result<String, String> {
    let mut value = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if is_quote(byte) {
            rest = copy_quoted(byte, rest, &mut value);
        } else if byte == b'\\' {
            let Some((&escaped, after)) = rest.split_first() else {
                break;
            };
            rest = after;
            value.push(unescape(escaped));
        } else if byte == b'$' && (!dollar_is_a_letter || matches!(rest.first(), Some(b'{' | b'(')))
        {
            let (variable, after) = Variable::parse(rest, dollar_is_a_letter)?;
            let found = lookup(variable.section.as_deref(), &variable.name)
                .ok_or_else(|| format!("the variable ${variable} has no value"))?;
            if value.len() + found.len() + after.len() > LONGEST_VALUE {
                return Err(format!(
                    "the value is too long once ${variable} is replaced"
                ));
            }
            value.extend_from_slice(found.as_bytes());
            rest = after;
        } else {
            value.push(byte);
        }
    }
    Ok(String::from_utf8_lossy(&value).into_owned())
}

/// Writes `value` so that [`expand`] gives it back: as it is where that is plain, else in quotes.
pub(super) fn quote(value: &str) -> String {
    let plain = |byte: u8| is_word(byte) || b"!.%&*+,/:;=?@^~|-".contains(&byte) || byte > 127;
    if !value.is_empty() && value.bytes().all(plain) {
        return value.to_owned();
    }
    let mut quoted = String::with_capacity(value.len() + 2);
    quoted.push('"');
    for character in value.chars() {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

/// Copies up to the closing mark and returns what follows it.
fn copy_quoted<'a>(mark: u8, mut rest: &'a [u8], value: &mut Vec<u8>) -> &'a [u8] {
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == mark {
            break;
        }
        if byte == b'\\' {
            let Some((&escaped, after)) = rest.split_first() else {
                break;
            };
            rest = after;
            value.push(escaped);
        } else {
            value.push(byte);
        }
    }
    rest
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'r' => b'\r',
        b'n' => b'\n',
        b'b' => 8,
        b't' => b'\t',
        other => other,
    }
}

/// `$name`, `${name}`, `$section::name`, `${section::name}`, or the same in parentheses.
struct Variable {
    section: Option<String>,
    name: String,
}

impl Variable {
    /// Parses what follows the `$`; returns what follows the variable.
    fn parse(raw: &[u8], dollar_is_a_letter: bool) -> Result<(Self, &[u8]), String> {
        let (mut rest, close) = match raw.first() {
            Some(b'{') => (&raw[1..], Some(b'}')),
            Some(b'(') => (&raw[1..], Some(b')')),
            _ => (raw, None),
        };
        let word = |bytes: &[u8]| {
            bytes
                .iter()
                .take_while(|&&b| is_word(b) || (dollar_is_a_letter && b == b'$'))
                .count()
        };
        // Every character of a word is ASCII, so nothing is lost here.
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();

        let length = word(rest);
        let mut name = text(&rest[..length]);
        rest = &rest[length..];
        let mut section = None;
        if let Some(after) = rest.strip_prefix(b"::") {
            let length = word(after);
            section = Some(std::mem::replace(&mut name, text(&after[..length])));
            rest = &after[length..];
        }
        if let Some(close) = close {
            rest = rest
                .strip_prefix(&[close])
                .ok_or_else(|| format!("no '{}' after ${name}", char::from(close)))?;
        }
        Ok((Self { section, name }, rest))
    }
}

impl std::fmt::Display for Variable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.section {
            Some(section) => write!(f, "{section}::{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn meaning(raw: &str) -> Result<String, String> {
        expand(raw.as_bytes(), false, |section, name| {
            match (section, name) {
                (None, "dir") => Some("/etc/ssl".into()),
                (Some("ENV"), "HOME") => Some("/root".into()),
                _ => None,
            }
        })
    }

    #[test]
    fn quotes_escapes_and_variables() {
        assert_eq!(meaning("plain words").as_deref(), Ok("plain words"));
        assert_eq!(meaning(r#"'a "b" c'"#).as_deref(), Ok(r#"a "b" c"#));
        assert_eq!(meaning(r#""a\"b"x"#).as_deref(), Ok("a\"bx"));
        assert_eq!(meaning(r"tab\there\\").as_deref(), Ok("tab\there\\"));
        assert_eq!(meaning("$dir/certs").as_deref(), Ok("/etc/ssl/certs"));
        assert_eq!(meaning("${dir}ectory").as_deref(), Ok("/etc/sslectory"));
        assert_eq!(meaning("$(ENV::HOME)/x").as_deref(), Ok("/root/x"));
        assert_eq!(meaning("$ENV::HOME/x").as_deref(), Ok("/root/x"));
        assert_eq!(
            meaning("'$dir'").as_deref(),
            Ok("$dir"),
            "no expansion in quotes"
        );
    }

    #[test]
    fn what_openssl_refuses_is_refused() {
        assert_eq!(
            meaning("$nothing"),
            Err("the variable $nothing has no value".into())
        );
        assert_eq!(meaning("${dir"), Err("no '}' after $dir".into()));
    }

    #[test]
    fn a_dollar_may_be_a_letter() {
        let expand = |raw: &str| expand(raw.as_bytes(), true, |_, name| Some(format!("<{name}>")));
        assert_eq!(expand("$dir").as_deref(), Ok("$dir"));
        assert_eq!(expand("${a$b}").as_deref(), Ok("<a$b>"));
    }

    proptest! {
        #[test]
        fn what_is_quoted_is_read_back(value in "[^\\p{Cc}]*") {
            prop_assert_eq!(meaning(&quote(&value)), Ok(value));
        }

        #[test]
        fn no_input_panics(raw in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = expand(&raw, false, |_, _| Some(String::new()));
        }
    }
}
