//! Master keys taken from one card to another in shares (CSUAMKD): what works, and every misuse that is refused.

#[path = "../common/mod.rs"]
mod common;
mod misuse;
mod nodes;

use std::sync::Arc;

use common::Card;
use nodes::*;
use outboard_cca::*;

const KINDS: [&str; 4] = ["SYM-MK", "AES-MK", "ASYM-MK", "APKA-MK"];

#[test]
fn any_three_of_five_shares_rebuild_the_master_key() {
    let [source, target] = nodes(["CSS", "CSR"]);
    for (number, kind) in KINDS.iter().enumerate() {
        let shares: Vec<_> = (1..=5)
            .map(|index| obtain(&source, "CSS", kind, index, &target.certificate).unwrap())
            .collect();
        let [_, wanted, _] = patterns(&source.card, number);
        let subsets = (0..1_u32 << 5).filter(|set| set.count_ones() == 3);
        // The others take the same way.
        let subsets = subsets.take(if number == 0 { 10 } else { 1 });
        for subset in subsets {
            let chosen = shares
                .iter()
                .filter(|share| subset >> (share.index - 1) & 1 == 1);
            let installed: Vec<_> = chosen
                .map(|share| install(&target.card, "CSR", kind, share, &source.certificate))
                .collect();
            assert_eq!(installed, [Ok(()), Ok(()), WHOLE], "{kind} {subset:05b}");
            let [new, current, _] = patterns(&target.card, number);
            assert_eq!(new, wanted, "{kind} {subset:05b}");
            assert_ne!(current, wanted);
            target.card.master(&[kind, "CLEAR"]);
        }
    }
    let ids = query(&source.card, "STATEID");
    assert_eq!(ids, ["CSS", ""]);
    let status = query(&source.card, "STATMOFN");
    assert_eq!(
        status.concat(),
        "333330000000000111110000000000".to_owned() + "0305"
    );
    // And it is a master key: a token goes from one card to the other.
    let [one, two, three] = [2, 4, 5].map(|index| {
        let share = obtain(&source, "CSS", "SYM-MK", index, &target.certificate);
        install(
            &target.card,
            "CSR",
            "SYM-MK",
            &share.unwrap(),
            &source.certificate,
        )
    });
    assert_eq!([one, two, three], [Ok(()), Ok(()), WHOLE]);
    assert!(query(&source.card, "STATMOFN")[0].starts_with("3434"));
    target.card.master(&["SYM-MK", "SET"]);
    let key = source
        .card
        .des("MAC", &[], "0123456789ABCDEF 23456789ABCDEF01");
    let mac = |card: &Card| {
        let request = MacGenerate {
            key_identifier: key.clone(),
            text: "pay 10".into(),
            rule_array: Rules::of(&["X9.19OPT"]),
            ..Default::default()
        };
        match card.ask(request) {
            Ok(Reply::MacGenerate(reply)) => reply.mac,
            other => panic!("no MAC: {other:?}"),
        }
    };
    assert_eq!(mac(&source.card), mac(&target.card));
}

#[test]
fn shares_stay_when_the_card_starts_anew() {
    let [source, target] = nodes(["CSS", "CSR"]);
    let again = |node: &Node| Node {
        card: Card(Coprocessor::new(Box::new(Arc::clone(&node.memory))).expect("it loads")),
        memory: Arc::clone(&node.memory),
        certificate: node.certificate.clone(),
    };
    let expected = [Ok(()), Ok(()), WHOLE];
    for (index, expected) in [(5, expected[0]), (1, expected[1]), (3, expected[2])] {
        let (source, target) = (again(&source), again(&target));
        let share = obtain(&source, "CSS", "AES-MK", index, &target.certificate).unwrap();
        let installed = install(&target.card, "CSR", "AES-MK", &share, &source.certificate);
        assert_eq!(installed, expected);
    }
    let target = again(&target);
    assert_eq!(patterns(&target.card, 1)[0], patterns(&source.card, 1)[1]);
}
