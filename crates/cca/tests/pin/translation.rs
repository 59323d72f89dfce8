//! Which translations there are.

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Every pair of formats, any PIN, any accounts: what is allowed gives the PIN back, all else is refused.
    #[test]
    fn translations_are_allowed_or_refused(
        from in 0..12_usize, to in 0..12_usize, pin in "[0-9]{4,6}", pan in "[0-9]{12}", other in "[0-9]{12}", changes in any::<bool>(),
    ) {
        const FORMATS: [&str; 12] = [
            "ISO-0", "ISO-1", "ISO-2", "ISO-3", "ISO-4", "VISA-2", "VISA-3", "VISA-4", "ECI-2", "ECI-3", "3621", "3624",
        ];
        thread_local! {
            static CARD: (Card, [Bytes; 2]) = {
                let card = card();
                card.enable(&[AccessPoint::NonIsoPinBlocks]);
                let keys = [card.des("IPINENC", &[], KEY), card.des("OPINENC", &[], KEY)];
                (card, keys)
            };
        }
        CARD.with(|(card, keys)| {
            let profile = |format: &str| format!("{format:8}NONE    {:>8}", "F");
            let [from, to] = [FORMATS[from], FORMATS[to]];
            let new = if changes { &other } else { &pan };
            let Ok(block) = encrypt(card, &keys[1], &pin, &profile(from), &pan) else {
                // Not a PIN of this format, or a format that has no block of eight bytes.
                assert!(["ISO-4", "VISA-2", "ECI-2", "ECI-3"].contains(&from));
                return;
            };
            let answer = translate(card, Translation {
                keys: [&keys[0], &keys[1]],
                profiles: [profile(from).as_str().into(), profile(to).as_str().into()],
                pans: [&pan, new],
                block: &block,
                rules: &["REFORMAT"],
            });
            let is_bound = |format: &str| ["ISO-0", "ISO-3", "ISO-4", "VISA-4"].contains(&format);
            let is_iso = |format: &str| format.starts_with("ISO");
            let is_pair = match (from, to) {
                ("ISO-0" | "ISO-3", "ISO-0" | "ISO-3") | ("ISO-1", "ISO-0" | "ISO-1" | "ISO-3") => true,
                _ => from == to && !is_iso(from),
            };
            let keeps_account = !is_bound(from) || *new == pan;
            assert_eq!(answer.is_ok(), is_pair && keeps_account, "{from} to {to}: {answer:?}");
            if let Ok(translated) = answer
                && to == "ISO-0"
            {
                assert_eq!(Ok(translated), encrypt(card, &keys[1], &pin, &profile(to), new));
            }
        });
    }
}
