//! Decimalization tables: only those that an administrator stored are used.
//!
//! A caller who chooses the table learns the digits of a PIN one by one (Bond and Zieliński, "Decimalisation table attacks for
//! PIN cracking", 2003: 15 guesses for a PIN of four digits). So a verb takes the name of a stored table, or the digits of one.

use std::collections::BTreeMap;

use crate::answer::{Outcome, Refusal};

/// A table: the decimal digit for each hexadecimal one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Table([u8; 16]);

impl Table {
    /// Of 16 digits, if it keeps enough of a PIN: at least eight different digits, none more than four times.
    pub(crate) fn parse(digits: &[u8]) -> Outcome<Self> {
        let table: [u8; 16] = digits
            .try_into()
            .map_err(|_| Refusal::DecimalizationTable)?;
        let count = |digit: u8| table.iter().filter(|&&of| of == b'0' + digit).count();
        let counts = (0..10).map(count);
        let is_good = table.iter().all(u8::is_ascii_digit)
            && counts.clone().filter(|count| *count > 0).count() >= 8
            && counts.max().is_some_and(|most| most <= 4);
        match is_good {
            true => Ok(Self(table.map(|digit| digit - b'0'))),
            false => Err(Refusal::DecimalizationTable),
        }
    }

    /// The digit for a hexadecimal one. All 16 are read: which one it is shows in no address.
    pub(crate) fn digit(&self, hexadecimal: u8) -> u8 {
        use subtle::{ConditionallySelectable, ConstantTimeEq};
        let mut digit = 0;
        for (place, of) in (0_u8..).zip(&self.0) {
            digit.conditional_assign(of, place.ct_eq(&hexadecimal));
        }
        digit
    }

    /// As it is stored.
    pub(crate) fn digits(&self) -> Vec<u8> {
        self.0.iter().map(|digit| b'0' + digit).collect()
    }

    fn text(&self) -> String {
        self.digits().into_iter().map(char::from).collect()
    }
}

/// The stored tables, by name.
pub(crate) struct Tables(BTreeMap<String, Table>);

impl Default for Tables {
    /// With the one that everybody uses.
    fn default() -> Self {
        let digits = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5];
        Self(BTreeMap::from([("DEFAULT".to_owned(), Table(digits))]))
    }
}

impl Tables {
    /// The stored table of that name, or of those digits. Both have 16 characters, filled up with blanks.
    pub(crate) fn find(&self, text: &[u8]) -> Outcome<Table> {
        let text = text.trim_ascii();
        let found = match text.first() {
            Some(first) if first.is_ascii_digit() => {
                let table = Table::parse(text)?;
                self.0.values().find(|stored| **stored == table)
            }
            _ => std::str::from_utf8(text)
                .ok()
                .and_then(|name| self.0.get(name)),
        };
        found.copied().ok_or(Refusal::DecimalizationTable)
    }

    /// A name: 1 to 16 capital letters and digits, the first a letter.
    pub(crate) fn name(text: &str) -> Outcome<String> {
        let name = text.trim();
        let is_good = name.starts_with(|first: char| first.is_ascii_uppercase())
            && name.len() <= 16
            && name
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        match is_good {
            true => Ok(name.to_owned()),
            false => Err(Refusal::LabelFormat),
        }
    }

    pub(crate) fn entry(name: &str) -> String {
        format!("table/{name}")
    }

    pub(crate) fn list(&self) -> Vec<(String, String)> {
        self.0
            .iter()
            .map(|(name, table)| (name.clone(), table.text()))
            .collect()
    }

    pub(crate) fn set(&mut self, name: String, table: Option<Table>) {
        match table {
            Some(table) => self.0.insert(name, table),
            None => self.0.remove(&name),
        };
    }

    /// A deleted one is stored as nothing, because `DEFAULT` is there without being stored.
    pub(crate) fn load(&mut self, name: &str, value: &[u8]) -> bool {
        let table = match value {
            [] => Ok(None),
            digits => Table::parse(digits).map(Some),
        };
        match table {
            Ok(table) => {
                self.set(name.to_owned(), table);
                true
            }
            Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_hides_too_little_is_refused() {
        assert!(Table::parse(b"0123456789012345").is_ok());
        assert!(Table::parse(b"9876543210987654").is_ok());
        for bad in [
            "0000000000000000",
            "1000000000000000",
            "0101010101010101",
            "01234567890123",
            "012345678901234A",
        ] {
            assert!(Table::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn tables_are_found_by_name_and_by_their_digits() {
        let tables = Tables::default();
        let table = tables.find(b"DEFAULT         ").unwrap();
        assert_eq!(tables.find(b"0123456789012345"), Ok(table));
        assert_eq!(
            tables.find(b"9876543210987654"),
            Err(Refusal::DecimalizationTable)
        );
        assert_eq!(
            (table.digit(9), table.digit(10), table.digit(15)),
            (9, 0, 5)
        );
    }
}
