//! Card verification values.

use super::*;

/// VISA's published example, and that a value is verified.
#[test]
fn card_values_are_the_published_ones() {
    let card = Card::new();
    let key = card.des("MAC", &[], BASE);
    let generate = |key: &Bytes, rules: &[&str]| {
        let request = CvvGenerate {
            rule_array: Rules::of(rules),
            pan_data: "4123456789012345".into(),
            expiration_date: "8701".into(),
            service_code: "101".into(),
            cvv_key_a_identifier: key.clone(),
            ..Default::default()
        };
        match card.ask(request) {
            Ok(Reply::CvvGenerate(reply)) => {
                Ok(String::from_utf8_lossy(&reply.cvv_value).trim().to_owned())
            }
            Ok(_) => unreachable!("another verb's reply"),
            Err(codes) => Err(codes),
        }
    };
    assert_eq!(generate(&key, &["PAN-16", "CVV-3"]), Ok("561".to_owned()));
    let verify = |value: &str| {
        card.ask(CvvVerify {
            rule_array: Rules::of(&["PAN-16", "CVV-3"]),
            pan_data: "4123456789012345".into(),
            expiration_date: "8701".into(),
            service_code: "101".into(),
            cvv_key_a_identifier: key.clone(),
            cvv_value: value.into(),
            ..Default::default()
        })
    };
    assert!(verify("561  ").is_ok());
    assert_eq!(verify("562  ").err(), Some((4, 1)));
    let pin = card.des("PINGEN", &[], BASE);
    assert_eq!(
        generate(&pin, &["PAN-16"]),
        Err((8, 39)),
        "a PIN key makes no card value"
    );
    let x99 = card.des("MAC", &["ANSIX9.9"], BASE);
    assert_eq!(
        generate(&x99, &["PAN-16"]),
        Err((8, 39)),
        "nor does a MAC key that is for MACs alone"
    );
}
