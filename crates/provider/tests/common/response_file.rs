//! NIST's response files: `name = hex` in records parted by empty lines, in `[sections]`.

use std::collections::HashMap;

/// One record, with what earlier records of its section said and it does not repeat (a modulus).
#[derive(Clone)]
pub(crate) struct Record<'a> {
    /// Where it ends in the file.
    pub(crate) line: usize,
    /// What the section's brackets hold.
    pub(crate) section: &'a str,
    fields: HashMap<&'a str, &'a str>,
    own: Vec<&'a str>,
}

impl<'a> Record<'a> {
    /// A field's text.
    pub(crate) fn text(&self, name: &str) -> &'a str {
        self.fields
            .get(name)
            .unwrap_or_else(|| panic!("line {}: no {name}", self.line))
    }

    /// A field's bytes.
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        self.find(name)
            .unwrap_or_else(|| panic!("line {}: no {name}", self.line))
    }

    /// A field's bytes, if the record itself has the field.
    pub(crate) fn find(&self, name: &str) -> Option<Vec<u8>> {
        if !self.own.contains(&name) && name != "n" {
            return None;
        }
        let text = self.fields.get(name)?;
        let padded = if text.len().is_multiple_of(2) {
            (*text).into()
        } else {
            format!("0{text}")
        };
        let digit = |index| u8::from_str_radix(&padded[index..index + 2], 16);
        let bytes = (0..padded.len())
            .step_by(2)
            .map(digit)
            .collect::<Result<_, _>>();
        Some(bytes.unwrap_or_else(|_| panic!("line {}: {name} is not hexadecimal", self.line)))
    }

    /// What `Result` says.
    pub(crate) fn passes(&self) -> bool {
        self.text("Result").starts_with('P')
    }
}

/// The records of a file. Those of one or two fields (a modulus, its primes) only inform the next.
pub(crate) fn records(file: &str) -> Vec<Record<'_>> {
    let mut records = Vec::new();
    let mut section = "";
    let mut fields = HashMap::new();
    let mut own = Vec::new();
    for (line, text) in file.lines().chain([""]).enumerate() {
        if let Some(name) = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
        {
            section = name;
            fields.clear();
        } else if let Some((name, value)) = text.split_once('=').filter(|_| !text.starts_with('#'))
        {
            fields.insert(name.trim(), value.trim());
            own.push(name.trim());
        } else if text.trim() == "FAIL" {
            // A record of GCM whose tag is wrong; it has no plaintext.
            fields.remove("PT");
        } else if text.trim().is_empty() {
            let own = std::mem::take(&mut own);
            if own.len() > 2 {
                records.push(Record {
                    line: line + 1,
                    section,
                    fields: fields.clone(),
                    own,
                });
            }
        }
    }
    records
}
