//! A card with master keys, and short ways to ask it.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

use outboard_cca::*;

pub struct Card(pub Coprocessor);

pub fn bytes(hex: &str) -> Bytes {
    from_hex(&hex.replace(' ', "")).expect("hexadecimal digits")
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

impl Card {
    /// With random master keys of all kinds.
    pub fn new() -> Self {
        Self::with(Box::new(Memory::default()))
    }

    pub fn with(storage: Box<dyn Storage>) -> Self {
        let card = Self(Coprocessor::new(storage).expect("an empty storage"));
        for kind in ["SYM-MK", "AES-MK", "ASYM-MK", "APKA-MK"] {
            card.master(&[kind, "RANDOM"]);
            card.master(&[kind, "SET"]);
        }
        card
    }

    pub fn master(&self, rules: &[&str]) {
        let request = MasterKeyProcess {
            rule_array: Rules::of(rules),
            key_part: Bytes::default(),
        };
        self.administer(request);
    }

    /// Switches on what is off by default.
    pub fn enable(&self, points: &[AccessPoint]) {
        let enable = points.iter().map(|point| *point as u16).collect();
        self.administer(AccessPoints {
            enable,
            disable: Vec::new(),
        });
    }

    pub fn administer(&self, request: impl Into<Request>) -> Reply {
        let answer = self.0.dispatch(Caller::ADMINISTRATOR, &request.into());
        assert_eq!(
            (answer.return_code, answer.reason_code),
            (0, 0),
            "an administrator"
        );
        answer.reply.expect("a reply")
    }

    /// As it is made.
    pub fn without_master_keys() -> Self {
        Self(Coprocessor::new(Box::new(Memory::default())).expect("an empty storage"))
    }

    /// Asks as the services do: by bytes.
    pub fn ask(&self, request: impl Into<Request>) -> Result<Reply, (u32, u32)> {
        self.ask_as(Caller::USER, request)
    }

    /// The same for another caller.
    pub fn ask_as(&self, caller: Caller, request: impl Into<Request>) -> Result<Reply, (u32, u32)> {
        let request = request.into().encode().expect("memory");
        let request = Request::decode(&request).expect("ours");
        let answer = self.0.dispatch(caller, &request).encode().expect("memory");
        let answer = Answer::decode(&answer).expect("ours");
        match answer.reply {
            Some(reply) => Ok(reply),
            None => Err((answer.return_code, answer.reason_code)),
        }
    }

    /// A skeleton of a DES key's token.
    pub fn skeleton(&self, key_type: &str, rules: &[&str]) -> Bytes {
        let rule_array = Rules::of(&[&["INTERNAL"], rules].concat());
        let request = KeyTokenBuild {
            key_type: Keyword::new(key_type),
            rule_array,
            ..Default::default()
        };
        match self.ask(request) {
            Ok(Reply::KeyTokenBuild(reply)) => reply.key_token,
            other => panic!("no skeleton {key_type} {rules:?}: {other:?}"),
        }
    }

    /// A DES key of clear bytes: as two parts, which the test enters.
    pub fn des(&self, key_type: &str, rules: &[&str], key: &str) -> Bytes {
        self.enable(&[
            AccessPoint::KeyPartImportFirst,
            AccessPoint::KeyPartImportNext,
            AccessPoint::ClearKeyImport,
        ]);
        let key = bytes(key);
        if key_type == "DATA" {
            let request = MultipleClearKeyImport {
                rule_array: Rules::of(&["DES"]),
                clear_key: key,
            };
            return match self.ask(request) {
                Ok(Reply::MultipleClearKeyImport(reply)) => reply.target_key_identifier,
                other => panic!("no clear key: {other:?}"),
            };
        }
        let length = ["KEYLN8", "KEYLN16", "KEYLN24"][key.len() / 8 - 1];
        let skeleton = self.skeleton(key_type, &[rules, &[length, "KEY-PART"]].concat());
        let part = |rule: &str, key_part: Bytes, key_identifier: Bytes| {
            let rule_array = Rules::of(&[rule]);
            match self.ask(KeyPartImport {
                rule_array,
                key_part,
                key_identifier,
            }) {
                Ok(Reply::KeyPartImport(reply)) => reply.key_identifier,
                other => panic!("no part {rule} of {key_type}: {other:?}"),
            }
        };
        let first = part("FIRST", key.clone(), skeleton);
        part("LAST", vec![0; key.len()].into(), first)
    }

    /// An AES or HMAC key of clear bytes.
    pub fn aes(&self, rules: &[&str], key: &str) -> Bytes {
        self.enable(&[
            AccessPoint::KeyPartImportFirst,
            AccessPoint::KeyPartImportNext,
        ]);
        let rule_array = Rules::of(&[&["INTERNAL"], rules, &["KEY-PART"]].concat());
        let skeleton = match self.ask(KeyTokenBuild2 {
            rule_array,
            ..Default::default()
        }) {
            Ok(Reply::KeyTokenBuild2(reply)) => reply.target_key_token,
            other => panic!("no skeleton {rules:?}: {other:?}"),
        };
        let part = |rule: &str, clear_key_part: Bytes, key_identifier: Bytes| {
            let rule_array = Rules::of(&[rules[0], rule]);
            match self.ask(KeyPartImport2 {
                rule_array,
                clear_key_part,
                key_identifier,
            }) {
                Ok(Reply::KeyPartImport2(reply)) => reply.key_identifier,
                other => panic!("no part {rule} of {rules:?}: {other:?}"),
            }
        };
        let first = part("FIRST", bytes(key), skeleton);
        part("COMPLETE", Bytes::default(), first)
    }

    /// The first three bytes of zeros encrypted by a DES key.
    pub fn check_value(&self, token: &Bytes) -> String {
        let rule_array = Rules::of(&["KEY-ENC", "GENERATE", "ENC-ZERO"]);
        match self.ask(KeyTest {
            rule_array,
            key_identifier: token.clone(),
            ..Default::default()
        }) {
            Ok(Reply::KeyTest(reply)) => hex(&reply.verification_pattern[..3]),
            other => panic!("no check value: {other:?}"),
        }
    }
}

/// A Python with `psec` and `pydukpt`. None where they are not installed; with `OUTBOARD_TEST_ALL` that is a failure.
pub fn interpreter() -> Option<std::process::Command> {
    let packages = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/cca-python");
    if !packages.join("versions").exists() {
        assert!(
            std::env::var_os("OUTBOARD_TEST_ALL").is_none(),
            "psec and pydukpt are missing (run 'scripts/cca-python.sh')"
        );
        return None;
    }
    let mut command = std::process::Command::new("python3");
    command.args(["-W", "ignore"]).env("PYTHONPATH", packages);
    Some(command)
}

/// What a Python program prints that has `psec` and `pydukpt`. None where they are not installed.
pub fn python(script: &str, arguments: &[&str]) -> Option<String> {
    let mut command = interpreter()?;
    let output = command
        .arg("-c")
        .arg(script)
        .args(arguments)
        .output()
        .expect("the interpreter starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(String::from_utf8(output.stdout).expect("text"))
}
