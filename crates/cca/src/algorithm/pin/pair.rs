//! Which formats a PIN may be translated from and into.

use super::Account;
use super::block::Format::{self, *};
use crate::answer::{Outcome, Refusal};

/// From which format into which a PIN may be translated (PCI PIN security requirement 3-3). A pair that is not allowed cannot
/// be made, so nobody can translate by it.
///
/// | from | to |
/// |---|---|
/// | 0, 3, 4 | 0, 3, 4, with the same account number |
/// | 1 | 0, 1, 3, 4 |
/// | 2 | nothing: it is for chip cards (CSNBPCU) |
/// | others | the same, if they are allowed at all |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    from: Format,
    to: Format,
}

impl Pair {
    pub(crate) fn new(from: Format, to: Format, other_formats: bool) -> Outcome<Self> {
        let is_allowed = match (from, to) {
            (Iso0 | Iso3 | Iso4, Iso0 | Iso3 | Iso4) => true,
            (Iso1, Iso0 | Iso1 | Iso3 | Iso4) => true,
            (Iso0 | Iso1 | Iso2 | Iso3 | Iso4, _) | (_, Iso0 | Iso1 | Iso2 | Iso3 | Iso4) => false,
            (from, to) => other_formats && from == to,
        };
        match is_allowed {
            true => Ok(Self { from, to }),
            false => Err(Refusal::PinBlockFormat),
        }
    }

    /// The account number of the new block: another than that of the old block is refused.
    pub(crate) fn account(self, from: &Account, to: &Account) -> Outcome<()> {
        let is_bound = self.from.has_account();
        match !is_bound || from == to {
            true => Ok(()),
            false => Err(Refusal::PanData),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of formats: only those that PCI PIN 3-3 allows.
    #[test]
    fn only_allowed_pairs_exist() {
        for (_, from) in Format::KEYWORDS {
            for (_, to) in Format::KEYWORDS {
                for others in [false, true] {
                    let is_allowed = match (from, to) {
                        (Iso0 | Iso3 | Iso4, Iso0 | Iso3 | Iso4)
                        | (Iso1, Iso0 | Iso1 | Iso3 | Iso4) => true,
                        (from, to) => others && from == to && !from.is_iso(),
                    };
                    assert_eq!(
                        Pair::new(*from, *to, others).is_ok(),
                        is_allowed,
                        "{from:?} to {to:?}"
                    );
                }
            }
        }
        let (one, other) = (
            Account::of_twelve(b"123456789012").unwrap(),
            Account::of_twelve(b"123456789013").unwrap(),
        );
        for (from, is_bound) in [(Iso0, true), (Iso3, true), (Iso1, false)] {
            let pair = Pair::new(from, Iso0, false).unwrap();
            assert_eq!(pair.account(&one, &other).is_err(), is_bound);
        }
    }
}
