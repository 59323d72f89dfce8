//! Properties files, as `java.util.Properties.load` reads them: bytes in ISO 8859-1.

/// The names and values of a text, in its order. A later one of the same name replaces an earlier one.
pub fn parse(text: &[u8]) -> Vec<(String, String)> {
    logical_lines(text).iter().map(|line| entry(line)).collect()
}

/// `value` as a properties file writes it.
pub(crate) fn escaped(value: &str) -> String {
    let mut text = String::new();
    for (at, letter) in value.chars().enumerate() {
        match letter {
            ' ' if at == 0 => text.push_str("\\ "),
            '\\' => text.push_str("\\\\"),
            ' '..='~' => text.push(letter),
            _ => {
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    text
}

/// Whether the last line goes on: what somebody appends would belong to it.
pub(crate) fn is_continued_at_its_end(text: &[u8]) -> bool {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let last = text
        .split(|&byte| matches!(byte, b'\r' | b'\n'))
        .next_back();
    last.is_some_and(|line| {
        let begins = line.iter().find(|byte| !is_blank(**byte));
        !matches!(begins, Some(b'#' | b'!')) && ends_in_odd_backslashes(line)
    })
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0c')
}

fn ends_in_odd_backslashes(line: &[u8]) -> bool {
    line.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

fn without_leading_blanks(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|&byte| !is_blank(byte));
    &line[start.unwrap_or(line.len())..]
}

/// Lines without comments, each joined with those that continue it.
fn logical_lines(text: &[u8]) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    let mut open: Option<Vec<u8>> = None;
    // The end of a line of DOS makes an empty line, which says nothing; a continued line ends at its first mark.
    for natural in natural_lines(text) {
        let natural = without_leading_blanks(natural);
        let is_new = open.is_none();
        if is_new && (natural.is_empty() || matches!(natural[0], b'#' | b'!')) {
            continue;
        }
        let line = open.get_or_insert_default();
        if ends_in_odd_backslashes(natural) {
            line.extend_from_slice(&natural[..natural.len() - 1]);
        } else {
            line.extend_from_slice(natural);
            lines.extend(open.take());
        }
    }
    lines.extend(open);
    lines
}

/// Lines as the file has them, without their ends: LF, CR, or both.
fn natural_lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
        let Some(end) = end else {
            lines.push(rest);
            break;
        };
        lines.push(&rest[..end]);
        let next = if rest[end..].starts_with(b"\r\n") {
            end + 2
        } else {
            end + 1
        };
        rest = &rest[next..];
    }
    lines
}

/// The name ends at the first blank, `=` or `:` that no backslash precedes.
fn entry(line: &[u8]) -> (String, String) {
    let mut is_escaped = false;
    let end = line.iter().position(|&byte| {
        let ends = !is_escaped && (is_blank(byte) || matches!(byte, b'=' | b':'));
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    let end = end.unwrap_or(line.len());
    let mut value = without_leading_blanks(&line[end..]);
    if let Some((b'=' | b':', rest)) = value.split_first() {
        value = without_leading_blanks(rest);
    }
    (unescaped(&line[..end]), unescaped(value))
}

fn unescaped(text: &[u8]) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        let letter = match byte {
            b'\\' => match bytes.next() {
                None => break,
                Some(b't') => u16::from(b'\t'),
                Some(b'n') => u16::from(b'\n'),
                Some(b'r') => u16::from(b'\r'),
                Some(b'f') => 0x0c,
                // Java refuses the whole file if these are no digits; here the letter is left out.
                Some(b'u') => {
                    let digits: Vec<u8> = bytes.by_ref().take(4).collect();
                    let digits = String::from_utf8_lossy(&digits).into_owned();
                    match u16::from_str_radix(&digits, 16) {
                        Ok(unit) => unit,
                        Err(_) => continue,
                    }
                }
                Some(other) => u16::from(other),
            },
            byte => u16::from(byte),
        };
        units.push(letter);
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        parse(text.as_bytes())
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    /// The examples of the documentation of `java.util.Properties.load`.
    #[test]
    fn lines_are_read_as_java_documents_it() {
        for text in [
            "Truth = Beauty",
            " Truth:Beauty",
            "Truth                    :Beauty",
        ] {
            assert_eq!(pairs(text), [pair("Truth", "Beauty")]);
        }
        let fruits = "fruits                           apple, banana, pear, \\\n    \
                      cantaloupe, watermelon, \\\r\n    kiwi, mango\r\n";
        let all = "apple, banana, pear, cantaloupe, watermelon, kiwi, mango";
        assert_eq!(pairs(fruits), [pair("fruits", all)]);
        assert_eq!(pairs("cheeses\n"), [pair("cheeses", "")]);
        assert_eq!(pairs("\\:\\= a\\\\b"), [pair(":=", "a\\b")]);
    }

    #[test]
    fn comments_end_with_their_line() {
        let text = "# a = 1 \\\nb = 2\n  ! c = 3\n\nd = \\\n   # e\n";
        assert_eq!(pairs(text), [pair("b", "2"), pair("d", "# e")]);
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(pairs("a = \\u0041\\t\\z"), [pair("a", "A\tz")]);
        let value = " /opt/m\u{e4}rz\\\u{1f600} x";
        assert_eq!(pairs(&format!("a={}", escaped(value))), [pair("a", value)]);
        assert_eq!(parse(b"a=\xe4"), [pair("a", "\u{e4}")]);
    }

    #[test]
    fn a_last_line_may_go_on() {
        for text in ["a = 1, \\", "a = 1, \\\n", "a = \\\\\\\r\n"] {
            assert!(is_continued_at_its_end(text.as_bytes()), "{text}");
        }
        for text in ["", "a = 1\n", "a = \\\\\n", "# a \\\n", "a = \\\n\n"] {
            assert!(!is_continued_at_its_end(text.as_bytes()), "{text}");
        }
    }
}
