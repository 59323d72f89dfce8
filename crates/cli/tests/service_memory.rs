//! The memory of outboardd: where a private key is while the service has it, and that nothing of it stays after its deletion.

mod common;

use common::service::{Service, key_file, succeeds, us};
use outboard_libcrypto::{Context, Key, Library};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;

/// What tells a key: its numbers in both orders, and its form in messages.
fn traces(pem: &[u8], names: &[&'static std::ffi::CStr]) -> Vec<(String, Vec<u8>)> {
    let library = Library::open(Library::SYSTEM).expect("the system has an OpenSSL");
    let context = Context::new(&library).expect("a context");
    let key = Key::from_pem(&context, pem, None).expect("it is a key");
    let mut traces = Vec::new();
    for name in names {
        let number = key.number(name).expect("it has such a number");
        // Words may be stored with others around them: the middle of the number is enough.
        let middle = &number[number.len() / 4..number.len() / 4 * 3];
        traces.push((format!("{name:?}"), middle.to_vec()));
        let reversed = middle.iter().rev().copied().collect();
        traces.push((format!("{name:?}, reversed"), reversed));
    }
    let text = String::from_utf8_lossy(pem).into_owned();
    let lines: String = text
        .lines()
        .filter(|line| !line.contains("-----"))
        .collect();
    let start = lines.len() / 2;
    traces.push((
        "base64".into(),
        lines.as_bytes()[start..start + 32].to_vec(),
    ));
    traces
}

/// Which of them are in the memory of a process.
fn found(process: u32, traces: &[(String, Vec<u8>)]) -> Vec<String> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).expect("it lives");
    let memory = File::open(format!("/proc/{process}/mem")).expect("root may");
    let mut found = Vec::new();
    for line in maps.lines().filter(|line| line.contains(" r")) {
        let range = line
            .split_whitespace()
            .next()
            .and_then(|range| range.split_once('-'));
        let (start, end) = range.expect("a range");
        let number = |digits| u64::from_str_radix(digits, 16).expect("a number");
        let (start, end) = (number(start), number(end));
        let mut content = vec![0; (end - start) as usize];
        // The kernel's own pages, and those that it keeps from everybody, cannot be read.
        if memory.read_exact_at(&mut content, start).is_err() {
            continue;
        }
        for (name, trace) in traces {
            let first = trace[0];
            let mut at = 0;
            while let Some(next) = content[at..].iter().position(|&byte| byte == first) {
                at += next;
                if content[at..].starts_with(trace) {
                    found.push(name.clone());
                }
                at += 1;
            }
        }
    }
    found
}

/// The process that carries out verbs for that service.
fn verbs_of(service: u32) -> u32 {
    let parent = format!("PPid:\t{service}");
    let processes = fs::read_dir("/proc").expect("it is there").flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let verbs = numbers.find(|number: &u32| {
        let status = fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
        status.lines().any(|line| line == parent)
    });
    verbs.expect("verbs were called")
}

#[test]
fn nothing_of_a_deleted_key_stays() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let service = Service::start();
    let process = service.process().as_raw_nonzero().get() as u32;
    let kinds: [(&str, &[&str], &[&'static std::ffi::CStr]); 2] = [
        (
            "ec",
            &[
                "genpkey",
                "-algorithm",
                "EC",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
            ],
            &[c"priv"],
        ),
        (
            "rsa",
            &[
                "genpkey",
                "-quiet",
                "-algorithm",
                "RSA",
                "-pkeyopt",
                "rsa_keygen_bits:2048",
            ],
            &[c"d", c"rsa-factor1", c"rsa-factor2", c"rsa-exponent1"],
        ),
    ];
    for (name, words, numbers) in kinds {
        let file = service.path(&format!("{name}.pem"));
        key_file(&file, words);
        let pem = fs::read(&file).expect("it is ours");
        let traces = traces(&pem, numbers);
        let import = ["keys", "import", name, "--exportable"];
        service
            .outboard(&import)
            .write_stdin(pem)
            .assert()
            .success();
        assert_eq!(
            found(process, &traces),
            [] as [String; 0],
            "{name}, imported"
        );
        service.says(&["keys", "grant", name, "--user", &us()]);
        let reference = service.path(&format!("{name}.key"));
        fs::write(&reference, service.says(&["keys", "reference", name])).expect("it is ours");
        let reference = reference.to_str().expect("it is ASCII");
        let request = ["req", "-x509", "-new", "-key", reference, "-subj", "/CN=x"];
        succeeds(&service.openssl(&request));
        // So that the test can fail: while the key is in use, it is there, in no other form than the engine's.
        let used = found(process, &traces);
        assert!(!used.is_empty(), "{name}: the key in use is not found");
        assert!(
            used.iter().all(|trace| trace.contains("reversed")),
            "{name}: {used:?}"
        );
        service.says(&["keys", "export", name]);
        service.says(&["keys", "delete", name, "--yes"]);
        assert_eq!(
            found(process, &traces),
            [] as [String; 0],
            "{name}, deleted"
        );
        // Nor is it in the store, which was never to have it in the clear.
        for file in fs::read_dir(service.path("store")).expect("it is there") {
            let content = fs::read(file.expect("it can be listed").path()).expect("it is ours");
            for (trace, bytes) in &traces {
                let mut windows = content.windows(bytes.len());
                assert!(
                    !windows.any(|window| window == &bytes[..]),
                    "{name}: {trace}"
                );
            }
        }
    }
}

#[test]
fn nothing_of_a_pin_stays_nor_of_a_token_s_key() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let service = Service::start();
    let process = service.process().as_raw_nonzero().get() as u32;
    let file = |name: &str, text: &str| {
        let file = service.path(name);
        fs::write(&file, text).expect("it is ours");
        file.display().to_string()
    };
    let secrets = ["the-user-s-secret-7305", "the-officer-s-secret-9148"];
    let (user, officer) = (file("user", secrets[0]), file("officer", secrets[1]));
    let pins = ["--pin-file", &user, "--officer-pin-file", &officer];
    service.says(&[&["token", "init", "web"][..], &pins].concat());
    let wrong = file("wrong", "a-wrong-secret-5521");
    service.refuses(&["token", "objects", "web", "--pin-file", &wrong]);
    let key = service.path("key.pem");
    key_file(&key, &["genpkey", "-quiet", "-algorithm", "RSA"]);
    let pem = fs::read(&key).expect("it is ours");
    let key = key.to_str().expect("it is ASCII");
    let import = [
        "token",
        "import",
        "web",
        "site",
        "--key",
        key,
        "--pin-file",
        &user,
    ];
    service.says(&import);
    service.says(&["token", "objects", "web", "--pin-file", &user]);
    let numbers: &[&'static std::ffi::CStr] = &[c"d", c"rsa-factor1", c"rsa-factor2"];
    let mut traces = traces(&pem, numbers);
    for secret in secrets.iter().chain(&["a-wrong-secret-5521"]) {
        use base64ct::{Base64, Encoding};
        traces.push(((*secret).to_owned(), secret.as_bytes().to_vec()));
        // As it stands in a message.
        let text = Base64::encode_string(secret.as_bytes());
        traces.push((format!("{secret} in base64"), text.into_bytes()));
    }
    assert_eq!(found(process, &traces), [] as [String; 0]);
    // So that the test can fail: what is no secret is there.
    let reference = [("label".to_owned(), b"outboard".to_vec())];
    assert!(!found(process, &reference).is_empty());
}

/// What a verb of the coprocessor was told in the clear, and what it made in the clear.
#[test]
fn nothing_of_a_clear_pin_stays_nor_of_a_clear_key() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let service = Service::start();
    let process = service.process().as_raw_nonzero().get() as u32;
    service.says(&["cca", "enable"]);
    for kind in ["SYM-MK", "AES-MK", "ASYM-MK"] {
        for step in ["RANDOM", "SET"] {
            let rules = format!("rule_array={kind},{step}");
            service.says(&["cca", "call", "CSNBMKP", &rules]);
        }
    }
    // Key parts, clear keys and clear PINs.
    service.says(&["cca", "call", "OBAACP", "enable=0x1b,0x1c,0xc3,0xaf,0xa0"]);
    let call = |verb: &str, parameters: serde_json::Value| -> serde_json::Value {
        let mut command = service.outboard(&["cca", "call", verb]);
        let assert = command.write_stdin(parameters.to_string()).assert();
        common::document(&assert.success(), "outboard-cca-answer")["reply"].clone()
    };
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let (des, aes) = (
        *b"\x83\x9e\x45\xa7\x1f\xb6\xc2\x6e",
        [0xa3_u8, 0x5e].repeat(16),
    );
    let message = b"pay 1,000 to the account of a secret";
    let pin = b"824619530746    ";
    let mut traces = vec![
        ("a DES key".to_owned(), des.to_vec()),
        ("an AES key".to_owned(), aes.clone()),
        ("a message".to_owned(), message.to_vec()),
        ("a PIN".to_owned(), pin[..12].to_vec()),
        (
            "a PIN in a block".to_owned(),
            vec![0x82, 0x46, 0x19, 0x53, 0x07, 0x46],
        ),
    ];
    let key = call("CSNBCKI", serde_json::json!({"clear_key": hex(&des)}));
    call(
        "CSNBCKM",
        serde_json::json!({"rule_array": ["AES"], "clear_key": hex(&aes)}),
    );
    let encrypted = call(
        "CSNBENC",
        serde_json::json!({
            "key_identifier": key["target_key_identifier"], "plaintext": hex(message),
            "initialization_vector": "0000000000000000", "rule_array": ["X9.23"],
        }),
    );
    let decrypted = call(
        "CSNBDEC",
        serde_json::json!({
            "key_identifier": key["target_key_identifier"], "ciphertext": encrypted["ciphertext"],
            "initialization_vector": "0000000000000000", "rule_array": ["X9.23"],
        }),
    );
    assert_eq!(decrypted["plaintext"], hex(message));
    // A key of two parts, which the second one completes.
    let skeleton = call(
        "CSNBKTB",
        serde_json::json!({"key_type": "OPINENC", "rule_array": ["INTERNAL", "KEYLN16", "KEY-PART"]}),
    );
    let mut token = skeleton["key_token"].clone();
    for (rule, part) in [("FIRST", [0x17, 0x92, 0x6d]), ("LAST", [0xe4, 0x3b, 0x58])] {
        let part: Vec<u8> = (0..16_u8)
            .map(|at| part[usize::from(at) % 3] ^ at.wrapping_mul(29))
            .collect();
        traces.push((format!("part {rule}"), part.clone()));
        let made = call(
            "CSNBKPI",
            serde_json::json!({"rule_array": [rule], "key_part": hex(&part), "key_identifier": token}),
        );
        token = made["key_identifier"].clone();
    }
    call(
        "CSNBCPE",
        serde_json::json!({
            "pin_encrypting_key_identifier": token, "rule_array": ["ENCRYPT"], "clear_pin": hex(pin),
            "pin_profile": hex(b"ISO-0   NONE            "), "pan_data": hex(b"401234567890"),
        }),
    );
    // A private key in the clear: a token of it is built, and taken in.
    let numbers = include_str!("../../cca/tests/rsa-2048.txt").lines();
    let numbers: Vec<String> = numbers
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let length = |at: usize| format!("{:04x}", numbers[at].len() / 2);
    let lengths: String = [0, 1]
        .into_iter()
        .map(length)
        .chain(["0000".into()])
        .collect();
    let secret_lengths: String = (2..7).map(length).collect();
    let structure = format!("0800{lengths}{secret_lengths}{}", numbers.concat());
    for (name, number) in ["p", "q", "dp", "dq", "u"].into_iter().zip(&numbers[2..]) {
        let digits = number.as_bytes()[64..128].chunks(2);
        let part: Vec<u8> = digits
            .map(|pair| {
                let pair = std::str::from_utf8(pair).expect("it is ASCII");
                u8::from_str_radix(pair, 16).expect("hexadecimal digits")
            })
            .collect();
        let reversed = part.iter().rev().copied().collect();
        traces.extend([
            (name.to_owned(), part),
            (format!("{name}, reversed"), reversed),
        ]);
    }
    let built = call(
        "CSNDPKB",
        serde_json::json!({"rule_array": ["RSA-CRT"], "key_value_structure": structure}),
    );
    let taken = call(
        "CSNDPKI",
        serde_json::json!({"rule_array": ["RSA"], "source_key_token": built["key_token"]}),
    );
    assert!(taken["target_key_identifier"].is_string());
    // Of the service, and of the process that carried the verbs out.
    for process in [process, verbs_of(process)] {
        assert_eq!(found(process, &traces), [] as [String; 0]);
        // So that the test can fail: what is no secret is there.
        let reference = [("the name of a verb".to_owned(), b"CSNBKPI".to_vec())];
        assert!(!found(process, &reference).is_empty());
    }
    for file in fs::read_dir(service.path("store")).expect("it is there") {
        let content = fs::read(file.expect("it can be listed").path()).expect("it is ours");
        for (trace, bytes) in &traces {
            let mut windows = content.windows(bytes.len());
            assert!(!windows.any(|window| window == &bytes[..]), "{trace}");
        }
    }
}
