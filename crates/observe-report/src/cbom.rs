//! A cryptographic bill of materials: CycloneDX 1.6 (ECMA-424), a component for each algorithm that
//! was used, the programs that used it, and the providers that have it.
//!
//! ```text
//! the program that was run ─▶ programs ─▶ algorithms, protocols (with their cipher suites)
//!                                 └────▶ providers, which provide algorithms
//! ```

use super::catalogue::{self, Quantum};
use super::openssh;
use super::protocol::{Protocol, Suite};
use super::report::{Report, is_preparation};
use outboard_observation::{Operation, Work};
use outboard_profile::rfc3339;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

/// The document. `libcrypto` is the version of the library that the programs use, if that is known.
pub fn document(report: &Report, libcrypto: Option<&str>) -> Value {
    let mut assets: BTreeMap<String, Asset> = BTreeMap::new();
    let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut provided: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut protocols: BTreeMap<Protocol, BTreeSet<Suite>> = BTreeMap::new();
    let mut inferred: BTreeSet<openssh::Algorithm> = BTreeSet::new();
    for process in &report.processes {
        let used = used.entry(&process.program).or_default();
        for one in openssh::inferred(&process.program, &process.work) {
            used.insert(inferred_reference(one.algorithm));
            inferred.insert(one.algorithm);
        }
        for protocol in Protocol::of(&process.program, &process.work) {
            used.insert(protocol.reference());
            let suites = protocols.entry(protocol).or_default();
            suites.extend(Suite::of(protocol, &process.work));
        }
        let done = process.work.iter().filter(|work| !is_preparation(work));
        for work in done {
            let reference = reference(work);
            used.insert(reference.clone());
            used.insert(provider_reference(&work.implementation));
            provided
                .entry(&work.implementation)
                .or_default()
                .insert(reference.clone());
            assets
                .entry(reference)
                .or_insert_with(|| Asset::of(work))
                .add(work);
        }
    }
    let programs: Vec<Value> = used
        .keys()
        .map(|program| {
            json!({
                "type": "application",
                "bom-ref": program_reference(program),
                "name": program,
            })
        })
        .collect();
    let algorithms = assets
        .iter()
        .map(|(reference, asset)| asset.component(reference));
    let protocols = protocols
        .iter()
        .map(|(protocol, suites)| protocol.component(suites));
    let providers = provided
        .keys()
        .map(|name| provider_component(name, libcrypto));
    let inferred = inferred.iter().copied().map(inferred_component);
    let components: Vec<Value> = programs
        .into_iter()
        .chain(providers)
        .chain(algorithms)
        .chain(inferred)
        .chain(protocols)
        .collect();
    let mut dependencies: Vec<Value> = used
        .iter()
        .map(|(program, used)| json!({ "ref": program_reference(program), "dependsOn": used }))
        .collect();
    dependencies.extend(
        provided
            .iter()
            .map(|(name, of_it)| json!({ "ref": provider_reference(name), "provides": of_it })),
    );
    let mut document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": rfc3339(SystemTime::now()),
            "tools": {
                "components": [{
                    "type": "application",
                    "name": "outboard",
                    "version": env!("CARGO_PKG_VERSION"),
                }],
            },
            "lifecycles": [{ "phase": "operations" }],
            "properties": report
                .unseen
                .iter()
                .map(|unseen| json!({ "name": "outboard:not-seen", "value": unseen }))
                .collect::<Vec<_>>(),
        },
        "components": components,
    });
    // The program that ran may not be the one that did the work, as in 'sh -c …'.
    if let Some(program) = &report.program {
        let component = json!({ "type": "application", "bom-ref": RUN, "name": program });
        document["metadata"]["component"] = component;
        let programs: Vec<String> = used.keys().copied().map(program_reference).collect();
        dependencies.push(json!({ "ref": RUN, "dependsOn": programs }));
    }
    document["dependencies"] = dependencies.into();
    // Linux makes a new one for each reader. A document without one is valid too.
    if let Ok(number) = std::fs::read_to_string("/proc/sys/kernel/random/uuid") {
        document["serialNumber"] = format!("urn:uuid:{}", number.trim()).into();
    }
    document
}

/// The reference of the program that was run.
const RUN: &str = "run";

fn provider_reference(implementation: &str) -> String {
    format!("provider/{implementation}")
}

/// The component that provides the algorithms: a provider of OpenSSL's libcrypto, or another one.
fn provider_component(implementation: &str, libcrypto: Option<&str>) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": provider_reference(implementation),
        "name": match implementation {
            "default" => "OpenSSL's libcrypto, default provider".to_owned(),
            other => format!("OpenSSL provider {other}"),
        },
    });
    if let ("default", Some(version)) = (implementation, libcrypto) {
        component["version"] = version.into();
    }
    component
}

fn inferred_reference(algorithm: openssh::Algorithm) -> String {
    format!("crypto/openssh/{}", algorithm.name())
}

/// An algorithm in OpenSSH's own code, known by its traces.
fn inferred_component(algorithm: openssh::Algorithm) -> Value {
    let (primitive, functions) = match algorithm {
        openssh::Algorithm::Poly1305 | openssh::Algorithm::Umac => ("mac", json!(["tag"])),
        openssh::Algorithm::Sntrup761 => ("kem", json!(["encapsulate", "decapsulate", "keygen"])),
    };
    let mut properties = vec![json!({ "name": "outboard:inferred", "value": algorithm.because() })];
    if algorithm == openssh::Algorithm::Sntrup761 {
        // NIST did not give it a category, so it has no level.
        let value = "designed to resist a quantum computer, in a hybrid with X25519";
        properties.push(json!({ "name": "outboard:quantum", "value": value }));
    }
    json!({
        "type": "cryptographic-asset",
        "bom-ref": inferred_reference(algorithm),
        "name": algorithm.name(),
        "cryptoProperties": {
            "assetType": "algorithm",
            "algorithmProperties": {
                "primitive": primitive,
                "cryptoFunctions": functions,
                "executionEnvironment": "software-plain-ram",
                "implementationPlatform": platform(),
                "certificationLevel": ["unknown"],
            },
        },
        "properties": properties,
    })
}

/// An algorithm with its parameters, in all of its operations.
struct Asset {
    work: Work,
    functions: BTreeSet<&'static str>,
    implementations: BTreeSet<String>,
    /// None where that is not of all of its work.
    padding: Option<&'static str>,
    calls: u64,
    bytes: u64,
}

impl Asset {
    fn of(work: &Work) -> Self {
        Self {
            work: work.clone(),
            functions: BTreeSet::new(),
            implementations: BTreeSet::new(),
            padding: padding(work),
            calls: 0,
            bytes: 0,
        }
    }

    fn add(&mut self, work: &Work) {
        self.functions.insert(function(work.operation));
        self.implementations.insert(work.implementation.clone());
        self.padding = self.padding.filter(|_| self.padding == padding(work));
        self.calls = self.calls.saturating_add(work.calls);
        self.bytes = self.bytes.saturating_add(work.bytes);
    }

    fn component(&self, reference: &str) -> Value {
        let work = &self.work;
        let mut algorithm = serde_json::Map::new();
        algorithm.insert("primitive".into(), primitive(work).into());
        if let Some(parameters) = parameters(work) {
            algorithm.insert("parameterSetIdentifier".into(), parameters.into());
        }
        if is_curve(work) {
            algorithm.insert("curve".into(), catalogue::key(work).into());
        }
        if let Some(mode) = mode(work) {
            algorithm.insert("mode".into(), mode.into());
        }
        if let Some(padding) = self.padding {
            algorithm.insert("padding".into(), padding.into());
        }
        algorithm.insert("executionEnvironment".into(), "software-plain-ram".into());
        algorithm.insert("implementationPlatform".into(), platform().into());
        algorithm.insert("certificationLevel".into(), json!(["unknown"]));
        algorithm.insert("cryptoFunctions".into(), json!(self.functions));
        if let Some(bits) = classical_bits(work) {
            algorithm.insert("classicalSecurityLevel".into(), bits.into());
        }
        if let Some(level) = quantum_level(work) {
            algorithm.insert("nistQuantumSecurityLevel".into(), level.into());
        }
        let mut properties = vec![
            json!({ "name": "outboard:calls", "value": self.calls.to_string() }),
            json!({ "name": "outboard:bytes", "value": self.bytes.to_string() }),
        ];
        for implementation in &self.implementations {
            properties.push(json!({ "name": "outboard:provider", "value": implementation }));
        }
        for (severity, because) in catalogue::all_findings(work) {
            let severity = format!("{severity:?}").to_lowercase();
            let value = format!("{severity}: {because}");
            properties.push(json!({ "name": "outboard:finding", "value": value }));
        }
        json!({
            "type": "cryptographic-asset",
            "bom-ref": reference,
            "name": name(work),
            "cryptoProperties": {
                "assetType": "algorithm",
                "algorithmProperties": algorithm,
            },
            "properties": properties,
        })
    }
}

fn name(work: &Work) -> String {
    match catalogue::with(work).as_str() {
        "" => catalogue::algorithm(work),
        with => format!("{} with {with}", catalogue::algorithm(work)),
    }
}

fn reference(work: &Work) -> String {
    format!(
        "crypto/{}/{}",
        primitive(work),
        name(work).replace(' ', "-")
    )
}

fn program_reference(program: &str) -> String {
    format!("program/{program}")
}

fn function(operation: Operation) -> &'static str {
    use Operation as O;
    match operation {
        O::Digest => "digest",
        O::Seal | O::KeyEncrypt => "encrypt",
        O::Open | O::KeyDecrypt => "decrypt",
        O::Mac => "tag",
        O::Kdf | O::Derive => "keyderive",
        O::Generate => "keygen",
        O::Sign => "sign",
        O::Verify => "verify",
        O::Encapsulate => "encapsulate",
        O::Decapsulate => "decapsulate",
    }
}

fn primitive(work: &Work) -> &'static str {
    use Operation as O;
    let name = work.algorithm.to_ascii_uppercase();
    let is_authenticated = ["GCM", "CCM", "OCB", "POLY1305", "SIV"]
        .iter()
        .any(|part| name.contains(part));
    match work.operation {
        O::Digest if name.starts_with("SHAKE") => "xof",
        O::Digest => "hash",
        O::Seal | O::Open if is_authenticated => "ae",
        O::Seal | O::Open if name.starts_with("CHACHA") || name.starts_with("RC4") => {
            "stream-cipher"
        }
        O::Seal | O::Open => "block-cipher",
        O::Mac => "mac",
        O::Kdf => "kdf",
        O::Derive => "key-agree",
        O::Sign | O::Verify => "signature",
        O::KeyEncrypt | O::KeyDecrypt => "pke",
        O::Encapsulate | O::Decapsulate => "kem",
        O::Generate => match name.as_str() {
            _ if name.contains("KEM") => "kem",
            "X25519" | "X448" | "DH" | "DHX" => "key-agree",
            "RSA" | "RSA-PSS" | "DSA" | "ED25519" | "ED448" => "signature",
            _ if name.contains("DSA") => "signature",
            _ => "other",
        },
    }
}

/// The parameter that distinguishes an algorithm's variants: the length of a key or of a digest.
fn parameters(work: &Work) -> Option<String> {
    if !work.key.is_empty() {
        return catalogue::key(work);
    }
    work.algorithm
        .split('-')
        .find(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()))
        .map(str::to_owned)
}

fn is_curve(work: &Work) -> bool {
    let name = work.algorithm.to_ascii_uppercase();
    !work.key.is_empty() && (name.starts_with("EC") || name == "SM2")
}

fn mode(work: &Work) -> Option<&'static str> {
    if !matches!(work.operation, Operation::Seal | Operation::Open) {
        return None;
    }
    let name = work.algorithm.to_ascii_uppercase();
    ["CBC", "ECB", "CCM", "GCM", "CFB", "OFB", "CTR"]
        .into_iter()
        .find(|mode| name.contains(mode))
        .map(|mode| match mode {
            "CBC" => "cbc",
            "ECB" => "ecb",
            "CCM" => "ccm",
            "GCM" => "gcm",
            "CFB" => "cfb",
            "OFB" => "ofb",
            _ => "ctr",
        })
}

fn padding(work: &Work) -> Option<&'static str> {
    let name = work.algorithm.to_ascii_uppercase();
    match (name.starts_with("RSA"), work.mode.as_str()) {
        (true, "oaep") => Some("oaep"),
        (true, "pkcs1" | catalogue::TLS_PADDING) => Some("pkcs1v15"),
        (true, "none") => Some("raw"),
        (true, "pss" | "x931") => Some("other"),
        _ => None,
    }
}

fn platform() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x86_64",
        "aarch64" => "armv8-a",
        "s390x" => "s390x",
        _ => "other",
    }
}

/// Bits of classical security (NIST SP 800-57 part 1, table 2); none where that is no matter of the
/// algorithm alone.
fn classical_bits(work: &Work) -> Option<u32> {
    let name = work.algorithm.to_ascii_uppercase();
    let digits = || parameters(work)?.parse::<u32>().ok();
    if name.starts_with("RSA") || name.starts_with("DH") || name == "DSA" {
        return Some(match work.key.parse::<u32>().ok()? {
            ..1024 => 0,
            1024..2048 => 80,
            2048..3072 => 112,
            3072..7680 => 128,
            7680..15360 => 192,
            15360.. => 256,
        });
    }
    if is_curve(work) {
        return Some(match catalogue::key(work)?.as_str() {
            "P-256" | "secp256k1" | "brainpoolP256r1" => 128,
            "P-384" | "brainpoolP384r1" => 192,
            "P-521" | "brainpoolP512r1" => 256,
            "secp224r1" => 112,
            _ => return None,
        });
    }
    match name.as_str() {
        "X25519" | "ED25519" => Some(128),
        "X448" | "ED448" => Some(224),
        _ if name.starts_with("AES")
            || name.starts_with("ARIA")
            || name.starts_with("CAMELLIA") =>
        {
            digits()
        }
        _ if name.starts_with("CHACHA20") => Some(256),
        _ if name.starts_with("DES-EDE3") => Some(112),
        "SHA1" => Some(63),
        "MD5" => Some(18),
        _ if name.starts_with("SHA2-") || name.starts_with("SHA3-") => Some(digits()? / 2),
        _ => None,
    }
}

/// NIST's category for what withstands a quantum computer, 0 for what does not; none where it is
/// unknown.
fn quantum_level(work: &Work) -> Option<u32> {
    let name = work.algorithm.to_ascii_uppercase();
    match catalogue::quantum(work) {
        Quantum::Breaks => Some(0),
        Quantum::Withstands => {
            // The parameter set, behind the name: a hybrid has the number of a curve before it.
            let set = ["MLKEM", "ML-KEM-", "ML-DSA-", "SLH-DSA-"]
                .iter()
                .find_map(|family| Some(name.split_once(family)?.1))?;
            let mut numbers = set.split(|c: char| !c.is_ascii_digit());
            match numbers.find(|number| number.len() >= 2)? {
                "512" | "128" => Some(1),
                "44" => Some(2),
                "768" | "65" | "192" => Some(3),
                "1024" | "87" | "256" => Some(5),
                _ => None,
            }
        }
        Quantum::Symmetric if name.starts_with("AES") || name.starts_with("CHACHA20") => {
            match classical_bits(work)? {
                256.. => Some(5),
                192.. => Some(3),
                128.. => Some(1),
                _ => Some(0),
            }
        }
        // The categories 2 and 4 are defined by these (NIST's call of 2016, 4.A.5); SHA-512 is no less.
        Quantum::Symmetric => match name.as_str() {
            "SHA2-256" | "SHA3-256" => Some(2),
            "SHA2-384" | "SHA3-384" | "SHA2-512" | "SHA3-512" => Some(4),
            "SHA1" | "MD5" => Some(0),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::tests::work;
    use super::*;

    #[test]
    fn levels_are_those_of_the_parameter_set() {
        for (name, operation, level) in [
            ("X25519MLKEM768", Operation::Encapsulate, 3),
            ("SecP256r1MLKEM768", Operation::Encapsulate, 3),
            ("SecP384r1MLKEM1024", Operation::Decapsulate, 5),
            ("ML-KEM-512", Operation::Generate, 1),
            ("ML-DSA-44", Operation::Sign, 2),
            ("ML-DSA-65", Operation::Verify, 3),
            ("ML-DSA-87", Operation::Sign, 5),
            ("SLH-DSA-SHA2-128s", Operation::Sign, 1),
            ("SLH-DSA-SHAKE-192f", Operation::Sign, 3),
            ("SLH-DSA-SHA2-256s", Operation::Verify, 5),
            ("X25519", Operation::Derive, 0),
        ] {
            assert_eq!(
                quantum_level(&work(name, operation, "", "")),
                Some(level),
                "{name}"
            );
        }
    }

    #[test]
    fn paddings_are_told_apart_or_not_at_all() {
        let padded = |operation, mode: &str| {
            let mut work = work("RSA", operation, "2048", "");
            work.mode = mode.into();
            catalogue::settle(&mut work);
            work
        };
        let opened = |mode| padded(Operation::KeyDecrypt, mode);
        let references: BTreeSet<String> = ["none", "pkcs1", "tls", "oaep"]
            .iter()
            .map(|mode| reference(&opened(mode)))
            .collect();
        assert_eq!(references.len(), 4, "{references:?}");
        assert_eq!(reference(&opened("")), reference(&opened("pkcs1")));
        // A key of RSA-PSS has this padding if the program names none.
        let (named, unnamed) = (
            padded(Operation::Sign, "pkcs1"),
            padded(Operation::Sign, ""),
        );
        for (one, other, padding) in [
            (&named, &named, Some("pkcs1v15")),
            (&named, &unnamed, None),
            (&unnamed, &named, None),
        ] {
            let mut asset = Asset::of(one);
            asset.add(one);
            asset.add(other);
            assert_eq!(asset.padding, padding);
        }
    }
}
