//! How many bytes a parameter has whose size the rule array says, as the publication has it.

/// The number of bytes. `rules` has eight bytes for each keyword, `number` is the number before the parameter.
pub(crate) fn size(what: &str, rules: &[u8], number: usize) -> usize {
    let has = |wanted: &[&str]| {
        let mut keywords = rules.chunks(8).map(<[u8]>::trim_ascii_end);
        keywords.any(|keyword| wanted.iter().any(|one| one.as_bytes() == keyword))
    };
    match what {
        // A PIN profile: with DUKPT, the key serial number follows.
        "profile_in" if has(&["UKPTIPIN", "UKPTBOTH", "DUKPT-IP", "DUKPT-BH"]) => 48,
        "profile_out" if has(&["UKPTOPIN", "UKPTBOTH", "DUKPT-OP", "DUKPT-BH"]) => 48,
        "profile_in" | "profile_out" => 24,
        "pan" => (13..=19)
            .find(|digits| has(&[&format!("PAN-{digits}")]))
            .unwrap_or(16),
        "mac" if has(&["MACLEN6"]) => 6,
        "mac" if has(&["MACLEN8", "HEX-8"]) => 8,
        "mac" if has(&["HEX-9"]) => 9,
        "mac" => 4,
        "master" if !has(&["FIRST", "MIDDLE", "LAST"]) => 0,
        "master" if has(&["AES-MK", "APKA-MK"]) => 32,
        "master" => 24,
        "bits" => number.div_ceil(8),
        "cv" if has(&["CV"]) => 16,
        // What the verb takes by other means, or not at all.
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_those_of_the_publication() {
        assert_eq!(size("profile_in", b"REFORMATUKPTIPIN", 0), 48);
        assert_eq!(size("profile_out", b"REFORMATUKPTIPIN", 0), 24);
        assert_eq!(size("pan", b"PAN-19  CVV-3   ", 0), 19);
        assert_eq!(size("pan", b"", 0), 16);
        assert_eq!(size("mac", b"MACLEN4 ", 0), 4);
        assert_eq!(size("master", b"AES-MK  SET     ", 0), 0);
        assert_eq!(size("master", b"AES-MK  FIRST   ", 0), 32);
        assert_eq!(size("bits", b"", 129), 17);
    }
}
