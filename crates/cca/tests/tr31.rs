//! TR-31 key blocks: of others, for others, and that no key becomes more than it was.

mod common;

use common::Card;
use outboard_cca::*;
use proptest::prelude::*;

const KEK: &str = "89E98CF7921545F234BC7547FD3E380D";
const KEY: &str = "FEDCBA9876543210 0123456789ABCDEF";
const AES_KEK: &str = "88E1AB2A2E3DD38C1FA039A536500CC8A87AB9D62DC92C01058FA79F44657DE6";

fn export(card: &Card, kek: &Bytes, key: &Bytes, rules: &[&str]) -> Result<Bytes, (u32, u32)> {
    let request = Tr31Export {
        rule_array: Rules::of(rules),
        source_key_identifier: key.clone(),
        wrap_kek_identifier: kek.clone(),
        ..Default::default()
    };
    match card.ask(request)? {
        Reply::Tr31Export(reply) => Ok(reply.tr31_key_block),
        _ => unreachable!("another verb's reply"),
    }
}

fn import(card: &Card, kek: &Bytes, block: &Bytes, rules: &[&str]) -> Result<Bytes, (u32, u32)> {
    let request = Tr31Import {
        rule_array: Rules::of(&[&["INTERNAL"], rules].concat()),
        tr31_key_block: block.clone(),
        unwrap_kek_identifier: kek.clone(),
        ..Default::default()
    };
    match card.ask(request)? {
        Reply::Tr31Import(reply) => Ok(reply.output_key_identifier),
        _ => unreachable!("another verb's reply"),
    }
}

/// What a DES token may do: its type and its keywords.
fn uses(card: &Card, token: &Bytes) -> (String, Vec<String>) {
    let Ok(Reply::KeyTokenParse(parsed)) = card.ask(KeyTokenParse {
        key_token: token.clone(),
    }) else {
        panic!("a token")
    };
    let words = parsed.rule_array.0[4..]
        .iter()
        .map(|word| word.text().to_owned());
    (parsed.key_type.text().to_owned(), words.collect())
}

/// TR-31:2018, annex A.7: the blocks of versions B and D.
#[test]
fn a_block_of_others_comes_in_as_what_it_says() {
    let card = Card::new();
    let importer = card.des("IMPORTER", &[], "DD7515F2BFC17F85CE48F3CA25CB21F6");
    let block = "B0080P0TE00E000094B420079CC80BA3461F86FE26EFC4A3B8E4FA4C5F5341176EED7B727B8A248E";
    // The last bit of each byte is a parity, which no part of a Triple DES key depends on.
    let token = import(&card, &importer, &block.into(), &[]).expect("the standard's block");
    assert_eq!(uses(&card, &token).0, "OPINENC");
    let importer = card.aes(&["AES", "IMPORTER"], AES_KEK);
    let block = "D0112P0AE00E0000B82679114F470F540165EDFBF7E250FCEA43F810D215F8D207E2E417C07156A27E8E31DA05F7425509593D03A457DC34";
    let token = import(&card, &importer, &block.into(), &[]).expect("the standard's block");
    assert_eq!((token[0], token[4]), (1, 5));
    let parse = card.ask(Tr31Parse {
        tr31_key_block: block.into(),
        ..Default::default()
    });
    let Ok(Reply::Tr31Parse(header)) = parse else {
        panic!("a header")
    };
    assert_eq!(
        (&*header.key_usage, &*header.algorithm, &*header.mode),
        ("P0", "A", "E")
    );
}

/// Blocks that Python's `psec` wrapped come in; blocks that leave are unwrapped by it.
#[test]
fn psec_reads_our_blocks_and_we_read_its() {
    let card = Card::new();
    card.enable(&[AccessPoint::Tr31Variants]);
    let keks = [
        (
            "VARXOR-A",
            card.des("IMPORTER", &[], KEK),
            card.des("EXPORTER", &[], KEK),
            KEK,
        ),
        (
            "VARDRV-B",
            card.des("IMPORTER", &[], KEK),
            card.des("EXPORTER", &[], KEK),
            KEK,
        ),
        (
            "VARXOR-C",
            card.des("IMPORTER", &[], KEK),
            card.des("EXPORTER", &[], KEK),
            KEK,
        ),
        (
            "VARDRV-D",
            card.aes(&["AES", "IMPORTER"], AES_KEK),
            card.aes(&["AES", "EXPORTER"], AES_KEK),
            AES_KEK,
        ),
    ];
    let key = card.des("OPINENC", &[], KEY);
    let clear = KEY.replace(' ', "");
    for (version, importer, exporter, kek) in keks {
        let block = export(
            &card,
            &exporter,
            &key,
            &[version, "PINENC", "ENC-ONLY", "EXP-ANY"],
        )
        .expect("a block");
        let text = String::from_utf8(block.to_vec()).expect("characters");
        let back = import(&card, &importer, &block, &[]).expect("our own block");
        assert_eq!(card.check_value(&back), card.check_value(&key), "{version}");
        let script = "import sys, psec; kbpk, block = sys.argv[1:]\n\
            header, key = psec.tr31.unwrap(bytes.fromhex(kbpk), block)\n\
            print(key.hex().upper(), psec.tr31.wrap(bytes.fromhex(kbpk), header, key))";
        if let Some(answer) = common::python(script, &[kek, &text]) {
            let [unwrapped, theirs] = answer.split_whitespace().collect::<Vec<_>>()[..] else {
                panic!("{answer}")
            };
            assert_eq!(unwrapped, clear, "{version}");
            let back = import(&card, &importer, &theirs.into(), &[]).expect("a block of psec's");
            assert_eq!(card.check_value(&back), card.check_value(&key), "{version}");
        }
    }
}

/// A key leaves only as something that it is, and comes back as no more.
#[test]
fn no_key_becomes_more_than_it_was() {
    let card = Card::new();
    let (exporter, importer) = (
        card.des("EXPORTER", &[], KEK),
        card.des("IMPORTER", &[], KEK),
    );
    let types: [(&str, &[&str]); 18] = [
        ("DATA", &[]),
        ("CIPHER", &[]),
        ("ENCIPHER", &[]),
        ("DECIPHER", &[]),
        ("MAC", &[]),
        ("MAC", &["CVVKEY-A"]),
        ("MACVER", &[]),
        ("IPINENC", &[]),
        ("IPINENC", &["TRANSLAT"]),
        ("OPINENC", &[]),
        ("OPINENC", &["REFORMAT"]),
        ("PINGEN", &[]),
        ("PINGEN", &["VISA-PVV"]),
        ("PINVER", &[]),
        ("EXPORTER", &[]),
        ("IMPORTER", &["IMPORT"]),
        ("OKEYXLAT", &[]),
        ("KEYGENKY", &["UKPT"]),
    ];
    let usages = [
        "ENC", "ISOMAC1", "ISOMAC3", "CVK", "PINENC", "KEK", "PINVO", "PINV3624", "VISAPVV", "BDK",
    ];
    let modes = [
        "ENCDEC", "ENC-ONLY", "DEC-ONLY", "GENVER", "GEN-ONLY", "VER-ONLY", "DERIVE",
    ];
    let mut travelled = 0;
    for (key_type, rules) in types {
        let key = card.des(key_type, rules, KEY);
        let (own_type, own) = uses(&card, &key);
        for usage in usages {
            for mode in modes {
                let Ok(block) = export(
                    &card,
                    &exporter,
                    &key,
                    &["VARDRV-B", usage, mode, "EXP-ANY"],
                ) else {
                    continue;
                };
                for way in [None, Some("IPINENC"), Some("OPINENC")] {
                    let Ok(back) = import(&card, &importer, &block, way.as_slice()) else {
                        continue;
                    };
                    let (new_type, new) = uses(&card, &back);
                    travelled += 1;
                    let is_same = new_type == own_type
                        || (key_type, &*new_type) == ("PINGEN", "PINVER")
                        || (key_type, &*new_type) == ("MAC", "MACVER")
                        || (["CIPHER", "DATA"].contains(&key_type)
                            && ["CIPHER", "ENCIPHER", "DECIPHER"].contains(&&*new_type));
                    assert!(is_same, "{key_type} became {new_type} by {usage} {mode}");
                    assert!(
                        new.iter().all(|word| own.contains(word)),
                        "{key_type} {own:?} became {new:?}"
                    );
                }
                // A check that the way with the smallest right does not leave by another.
                assert!(!["OKEYXLAT"].contains(&key_type), "{usage} {mode}");
                break;
            }
        }
    }
    assert!(travelled > 20, "{travelled}");
}

#[test]
fn a_weaker_key_wraps_no_stronger_one() {
    let card = Card::new();
    let des = card.des("EXPORTER", &[], KEK);
    let aes = card.aes(&["AES", "EXPORTER"], &AES_KEK[..32]);
    let strong = card.aes(&["AES", "CIPHER", "ENCRYPT"], AES_KEK);
    let rules = |version| [version, "ENC", "ENC-ONLY", "EXP-ANY", "SOURCE-A"];
    assert_eq!(
        export(&card, &des, &strong, &rules("VARDRV-B")),
        Err((8, 2149))
    );
    assert_eq!(
        export(&card, &aes, &strong, &rules("VARDRV-D")),
        Err((8, 2149))
    );
    let stays = card.aes(&["AES", "CIPHER", "NOEX-SYM"], &AES_KEK[..32]);
    assert_eq!(
        export(&card, &aes, &stays, &rules("VARDRV-D")),
        Err((8, 181))
    );
    let variants = export(
        &card,
        &des,
        &card.des("MAC", &[], KEY),
        &["VARXOR-A", "ISOMAC3", "GENVER"],
    );
    assert_eq!(variants, Err((8, 90)), "off by default");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    /// Whatever comes as a block is answered.
    #[test]
    fn drawn_characters_are_no_block(text in "[ABCD]0[0-9]{3}[PDMKVCB0-9]{2}[TADH][BCDEGVX][0-9a-z]{2}[ENS]0[0-3]00.{0,120}", cut in 0..200_usize) {
        thread_local! {
            static CARD: (Card, Bytes, Bytes) = {
                let card = Card::new();
                card.enable(&[AccessPoint::Tr31Variants]);
                let keys = (card.des("IMPORTER", &[], KEK), card.aes(&["AES", "IMPORTER"], AES_KEK));
                (card, keys.0, keys.1)
            };
        }
        CARD.with(|(card, des, aes)| {
            let mut block = text.into_bytes();
            block.truncate(cut.max(16));
            let length = format!("{:04}", block.len());
            block[1..5].copy_from_slice(length.as_bytes());
            let block = Bytes::from(block);
            let kek = if block[0] == b'D' { aes } else { des };
            assert!(import(card, kek, &block, &[]).is_err());
            let _ = card.ask(Tr31Parse { tr31_key_block: block, ..Default::default() });
        });
    }
}

#[test]
fn bytes_that_are_no_characters_are_no_block() {
    let card = Card::new();
    let importer = card.des("IMPORTER", &[], KEK);
    for block in [&[0; 80][..], &[0xff; 80], b"B0080", &[b'B'; 20000]] {
        assert!(import(&card, &importer, &block.into(), &[]).is_err());
    }
}
