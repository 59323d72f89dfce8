//! Drawn cases against Python's `psec` and `pydukpt`: `CCA_CASES` of each kind (1,000 if it is not set).

mod common;

use std::fmt::Write as _;
use std::fs;

use common::{Card, hex};
use outboard_cca::*;

/// Numbers that are the same in each run.
struct Drawn(u64);

impl Drawn {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ self.0 >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ mixed >> 33
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    fn digits(&mut self, count: usize) -> String {
        (0..count)
            .map(|_| char::from(b'0' + self.below(10) as u8))
            .collect()
    }

    /// Hexadecimal digits of so many bytes with odd parities.
    fn key(&mut self, count: usize) -> String {
        (0..count)
            .map(|_| {
                let byte = self.next() as u8 & 0xfe;
                format!(
                    "{:02x}",
                    byte | u8::from(byte.count_ones().is_multiple_of(2))
                )
            })
            .collect()
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// The keys of one batch, as tokens.
struct Keys {
    clear: String,
    aes: String,
    pin_out: Bytes,
    pin_aes: Bytes,
    pin_in: Bytes,
    generate: Bytes,
    cvv: Bytes,
    mac: Bytes,
    base: Bytes,
    exporter: [Bytes; 2],
    wrapping: [String; 2],
}

impl Keys {
    fn new(card: &Card, drawn: &mut Drawn) -> Self {
        let clear = drawn.key(16);
        let aes = hex(&drawn.bytes(16)).to_lowercase();
        let wrapping = [drawn.key(16), hex(&drawn.bytes(32)).to_lowercase()];
        Self {
            pin_out: card.des("OPINENC", &[], &clear),
            pin_in: card.des("IPINENC", &[], &clear),
            pin_aes: card.aes(&["AES", "PINPROT", "ENCRYPT"], &aes),
            generate: card.des("PINGEN", &[], &clear),
            cvv: card.des("MAC", &["CVVKEY-A"], &clear),
            mac: card.des("MAC", &[], &clear),
            base: card.des("KEYGENKY", &["UKPT"], &clear),
            exporter: [
                card.des("EXPORTER", &[], &wrapping[0]),
                card.aes(&["AES", "EXPORTER"], &wrapping[1]),
            ],
            clear,
            aes,
            wrapping,
        }
    }
}

fn field(request: Result<Reply, (u32, u32)>) -> Bytes {
    match request.expect("a reply") {
        Reply::ClearPinEncrypt(reply) => reply.encrypted_pin_block,
        Reply::ClearPinGenerate(reply) => reply.returned_result,
        Reply::EncryptedPinTranslate(reply) => reply.pin_block_out,
        Reply::EncryptedPinTranslate2(reply) => reply.output_pin_block,
        Reply::CvvGenerate(reply) => reply.cvv_value,
        Reply::MacGenerate(reply) => reply.mac,
        Reply::Tr31Export(reply) => reply.tr31_key_block,
        other => panic!("another verb's reply: {other:?}"),
    }
}

fn text(bytes: &Bytes) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// One case of each kind, a line each.
fn cases(card: &Card, keys: &Keys, drawn: &mut Drawn, lines: &mut String) {
    let mut line =
        |arguments: std::fmt::Arguments<'_>| writeln!(lines, "{arguments}").expect("a string");
    let key = &keys.clear;
    let count = 4 + drawn.below(9) as usize;
    let (pin, pan) = (drawn.digits(count), drawn.digits(12));
    let profile = |format: &str| format!("{format:8}NONE    {:>8}", "F");
    let encrypt = |format: &str| {
        field(card.ask(ClearPinEncrypt {
            pin_encrypting_key_identifier: keys.pin_out.clone(),
            clear_pin: format!("{pin:16}").as_str().into(),
            pin_profile: profile(format).as_str().into(),
            pan_data: pan.as_str().into(),
            ..Default::default()
        }))
    };
    let block = encrypt("ISO-0");
    let lower = |bytes: &[u8]| hex(bytes).to_lowercase();
    line(format_args!("iso_0 {key} {pin} {pan} {}", lower(&block)));
    line(format_args!(
        "iso_3 {key} {pin} {pan} {}",
        lower(&encrypt("ISO-3"))
    ));
    // The same PIN in format 4. The account has a check digit here, and some digits before the twelve.
    let before = drawn.below(7) as usize;
    let whole = format!("{}{pan}{}", drawn.digits(before), drawn.digits(1));
    let in_4 = field(card.ask(EncryptedPinTranslate2 {
        rule_array: Rules::of(&["REFORMAT"]),
        input_pin_encrypting_key_identifier: keys.pin_in.clone(),
        output_pin_encrypting_key_identifier: keys.pin_aes.clone(),
        input_pin_profile: profile("ISO-0").as_str().into(),
        output_pin_profile: profile("ISO-4").as_str().into(),
        input_pan_data: whole.as_str().into(),
        output_pan_data: whole.as_str().into(),
        input_pin_block: block.clone(),
        ..Default::default()
    }));
    line(format_args!(
        "iso_4 {} {pin} {whole} {}",
        keys.aes,
        lower(&in_4)
    ));
    let generate = |method: &str, data: [&str; 3], lengths: [u32; 2]| {
        text(&field(
            card.ask(ClearPinGenerate {
                pin_generating_key_identifier: keys.generate.clone(),
                rule_array: Rules::of(&[method]),
                pin_length: lengths[0],
                pin_check_length: lengths[1],
                data_array: data
                    .map(|element| format!("{element:16}"))
                    .concat()
                    .as_str()
                    .into(),
            }),
        ))
    };
    let index = drawn.digits(1);
    let pvv = generate(
        "VISA-PVV",
        [&format!("{}{index}{}", &pan[1..], &pin[..4]), "", ""],
        [0, 0],
    );
    line(format_args!(
        "visa_pvv {key} {index} {} {pan} {pvv}",
        &pin[..4]
    ));
    let validation = drawn.digits(16);
    let length = pin.len() as u32;
    let assigned = generate("IBM-PIN", ["DEFAULT", &validation, ""], [length, 0]);
    line(format_args!("ibm_pin {key} {validation} {assigned}"));
    let offset = generate("IBM-PINO", ["DEFAULT", &validation, &pin], [length, length]);
    line(format_args!("ibm_offset {key} {validation} {pin} {offset}"));
    let digits = 13 + drawn.below(7) as usize;
    let (account, expiration, service) = (drawn.digits(digits), drawn.digits(4), drawn.digits(3));
    let value = text(&field(card.ask(CvvGenerate {
        rule_array: Rules::of(&[&format!("PAN-{digits}"), "CVV-3"]),
        pan_data: account.as_str().into(),
        expiration_date: expiration.as_str().into(),
        service_code: service.as_str().into(),
        cvv_key_a_identifier: keys.cvv.clone(),
        ..Default::default()
    })));
    line(format_args!(
        "card_value {key} {account} {expiration} {service} {value}"
    ));
    let size = 1 + drawn.below(60) as usize;
    let message = drawn.bytes(size);
    let mac = |method: &str| {
        lower(&field(card.ask(MacGenerate {
            key_identifier: keys.mac.clone(),
            text: message.clone().into(),
            rule_array: Rules::of(&[method, "MACLEN8"]),
            ..Default::default()
        })))
    };
    let message_hex = lower(&message);
    line(format_args!(
        "retail_mac {key} {message_hex} 1 {}",
        mac("X9.19OPT")
    ));
    line(format_args!(
        "retail_mac {key} {message_hex} 2 {}",
        mac("EMVMACD")
    ));
    line(format_args!(
        "cbc_mac {key} {message_hex} {}",
        mac("TDES-MAC")
    ));
    // A terminal's key: a counter with ten bits at most.
    let counter = loop {
        let counter = drawn.below(1 << 21) as u32;
        if (1..=10).contains(&counter.count_ones()) {
            break counter;
        }
    };
    let mut serial = drawn.bytes(10);
    let last = u32::from_be_bytes([0, serial[7], serial[8], serial[9]]) & !0x1f_ffff | counter;
    serial[7..].copy_from_slice(&last.to_be_bytes()[1..]);
    let unique = field(
        card.ask(EncryptedPinTranslate {
            input_pin_encrypting_key_identifier: keys.pin_in.clone(),
            output_pin_encrypting_key_identifier: keys.base.clone(),
            input_pin_profile: profile("ISO-0").as_str().into(),
            output_pin_profile: format!("{}{:24}", profile("ISO-0"), hex(&serial))
                .as_str()
                .into(),
            pan_data_in: pan.as_str().into(),
            pan_data_out: pan.as_str().into(),
            pin_block_in: block,
            rule_array: Rules::of(&["REFORMAT", "DUKPT-OP"]),
            sequence_number: 0,
        }),
    );
    line(format_args!(
        "unique_key {key} {} {pin} {pan} {}",
        lower(&serial),
        lower(&unique)
    ));
    let which = drawn.below(2) as usize;
    let block = field(card.ask(Tr31Export {
        rule_array: Rules::of(&[
            ["VARDRV-B", "VARDRV-D"][which],
            "PINENC",
            "ENC-ONLY",
            "EXP-ANY",
        ]),
        source_key_identifier: keys.pin_out.clone(),
        wrap_kek_identifier: keys.exporter[which].clone(),
        ..Default::default()
    }));
    line(format_args!(
        "key_block {} {key} {}",
        keys.wrapping[which],
        text(&block)
    ));
}

#[test]
fn python_makes_the_same() {
    let Some(mut python) = common::interpreter() else {
        return;
    };
    let count: usize = std::env::var("CCA_CASES")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(1_000);
    let card = Card::new();
    card.enable(&[AccessPoint::ClearPinEncrypt, AccessPoint::ClearPinGenerate]);
    let mut drawn = Drawn(2005);
    let (mut lines, mut keys) = (String::new(), None);
    for number in 0..count {
        if number % 50 == 0 {
            let new = Keys::new(&card, &mut drawn);
            writeln!(
                lines,
                "check_value {} {}",
                new.clear,
                card.check_value(&new.mac).to_lowercase()
            )
            .expect("a string");
            keys = Some(new);
        }
        let keys = keys.as_ref().expect("the first number has made some");
        cases(&card, keys, &mut drawn, &mut lines);
    }
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("cca-cases-{}.txt", std::process::id()));
    fs::write(&file, lines).expect("a file in the target directory");
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential.py");
    let output = python
        .arg(script)
        .arg(&file)
        .output()
        .expect("the interpreter starts");
    let answer = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    println!("{answer}{complaint}");
    assert!(
        output.status.success() && answer.trim().ends_with("wrong=0"),
        "{answer}{complaint}"
    );
    assert!(answer.contains(&format!("unique_key={count}")), "{answer}");
    fs::remove_file(&file).expect("our file");
}
