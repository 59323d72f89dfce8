//! What security properties and a configuration of SunPKCS11 do to Outboard.

use super::process::Java;
use super::{Finding, Read, SUBJECT, keys};
use outboard_installation::module;
use outboard_jdk::{Jdk, MECHANISMS, Registered, SIGNATURES, Security, SunPkcs11};

/// What is examined.
pub(super) struct Seen<'a> {
    pub(super) jdk: &'a Jdk,
    pub(super) security: &'a Security,
    /// The file or files that the properties come from, for messages.
    pub(super) source: &'a str,
    pub(super) read: Read<'a>,
    pub(super) process: Option<&'a Java>,
}

/// The providers that do digests, ciphers and keys for TLS. Java asks those before them first.
const ESSENTIAL: [&str; 5] = ["SUN", "SunRsaSign", "SunEC", "SunJSSE", "SunJCE"];

/// The slot for the program's own keys.
const ACCELERATOR: u64 = 1;

const WRITE: &str =
    "run 'outboard java', and start the server with the option that the command prints";

/// The findings.
pub(super) fn examine(seen: &Seen) -> Vec<Finding> {
    let registered = seen.security.registered(seen.jdk, seen.read);
    if registered.is_empty() {
        let Seen { jdk, source, .. } = seen;
        let what = format!("{source} does not register Outboard");
        let version = &jdk.version;
        return vec![
            Finding::problem(SUBJECT, what)
                .because(format!("no line security.provider.N of Java {version} names a configuration with outboard-pkcs11.so"))
                .remedy(WRITE),
        ];
    }
    registered
        .iter()
        .flat_map(|one| of_one(seen, one))
        .collect()
}

/// What is to be said of one line.
fn of_one(seen: &Seen, one: &Registered) -> Vec<Finding> {
    let Registered { number, file, .. } = one;
    if !one.counts {
        let next = seen.security.next();
        return vec![
            Finding::problem(
                SUBJECT,
                format!("Java ignores security.provider.{number}, which registers Outboard"),
            )
            .because(format!(
                "{} has no line security.provider.{next}: Java stops at the first missing number",
                seen.source
            ))
            .remedy(format!(
                "write security.provider.{next}=SunPKCS11 {}",
                file.display()
            )),
        ];
    }
    let configuration = match &one.configuration {
        Ok(configuration) => configuration,
        Err(error) => {
            return vec![
                Finding::problem(
                    SUBJECT,
                    format!(
                        "cannot read {}, which security.provider.{number} names",
                        file.display()
                    ),
                )
                .because(error.to_string())
                .remedy("run 'outboard java' again, which writes it"),
            ];
        }
    };
    let mut findings: Vec<Finding> = Vec::new();
    for needed in [file, &configuration.library] {
        findings.extend(match seen.process {
            Some(process) => process.unreadable(needed),
            None => private(needed),
        });
    }
    findings.extend(library(configuration));
    findings.extend(order(seen, one, configuration));
    findings.extend(mechanisms(configuration, file));
    let is_accelerator = configuration.slot == Some(ACCELERATOR);
    match configuration.slot {
        Some(ACCELERATOR) => findings.extend(preferences(seen, configuration)),
        slot => findings.extend(keys::examine(slot.unwrap_or(0), seen.process)),
    }
    if !findings.iter().any(Finding::is_problem) {
        let provider = configuration.provider();
        let slot = configuration.slot.unwrap_or(0);
        let prefers = if is_accelerator {
            ", and Java prefers it for signatures"
        } else {
            ""
        };
        let what =
            format!("security.provider.{number} registers {provider} (slot {slot}){prefers}");
        findings.push(Finding::good(SUBJECT, what));
    }
    findings
}

/// A file that servers may not be able to read.
fn private(file: &std::path::Path) -> Option<Finding> {
    let path = module::private(file).filter(|_| file.exists())?;
    let what = format!("not every user can read {}", file.display());
    Some(
        Finding::note(SUBJECT, what)
            .because(format!(
                "the permissions of {} do not allow it",
                path.display()
            ))
            .remedy(format!(
                "let the server's user read it: 'chmod a+rX {}'",
                path.display()
            )),
    )
}

fn library(configuration: &SunPkcs11) -> Option<Finding> {
    let library = configuration.library.display();
    let (what, why) = match module::obstacle(&configuration.library)? {
        module::Obstacle::Unreadable(why) => (format!("Java cannot load {library}"), why),
        module::Obstacle::Foreign(why) => (format!("{library} is no library of this machine"), why),
        // The server's own user counts, not every user.
        module::Obstacle::Private(_) => return None,
    };
    Some(
        Finding::problem(SUBJECT, what)
            .because(why)
            .remedy("run 'make install', then 'outboard java' again"),
    )
}

/// Whether the JDK's own providers come first.
fn order(seen: &Seen, one: &Registered, configuration: &SunPkcs11) -> Option<Finding> {
    let after = seen.security.providers.iter().skip(one.number as usize);
    let after = after
        .map(|provider| provider.name.as_str())
        .find(|name| ESSENTIAL.contains(name))?;
    let what = format!("{} comes before {after}", configuration.provider());
    let last = seen.security.providers.len();
    Some(
        Finding::problem(SUBJECT, what)
            .because("Java asks the module for digests, random numbers and public keys, too: hundreds of calls for each handshake")
            .remedy(format!("give it the number {last}, after all others, or let 'outboard java' write the lines")),
    )
}

/// Whether Java sees what it needs, and no more.
fn mechanisms(configuration: &SunPkcs11, file: &std::path::Path) -> Vec<Finding> {
    let right = format!(
        "write enabledMechanisms = {{ {} }} into {}",
        MECHANISMS.join(" "),
        file.display()
    );
    let finding =
        |what: String, why: &str| Finding::problem(SUBJECT, what).because(why).remedy(&right);
    let Some(enabled) = &configuration.mechanisms else {
        return vec![finding(
            format!("{} has no enabledMechanisms", file.display()),
            "Java computes digests, codes and ciphers in the module, too: many calls instead of two for each handshake",
        )];
    };
    let lacks = |name: &str| !enabled.iter().any(|enabled| enabled == name);
    let mut findings = Vec::new();
    for (mechanism, why) in [
        (
            "KeyStore",
            "Java has no key store of type PKCS11 then: a server that names one does not start",
        ),
        (
            "CKM_RSA_PKCS_PSS",
            "RSASSA-PSS stays with the JDK, and with it each handshake of TLS 1.3 with an RSA key",
        ),
        (
            "CKM_RSA_PKCS",
            "signatures of TLS 1.2 with RSA keys stay with the JDK",
        ),
        ("CKM_ECDSA", "signatures with EC keys stay with the JDK"),
    ] {
        if lacks(mechanism) {
            findings.push(finding(format!("enabledMechanisms lacks {mechanism}"), why));
        }
    }
    let more: Vec<&str> = enabled
        .iter()
        .map(String::as_str)
        .filter(|name| !MECHANISMS.contains(name))
        .collect();
    if !more.is_empty() {
        let why = "Java then computes in the module what the JDK does at once: many calls instead of two for each handshake";
        findings.push(finding(
            format!(
                "enabledMechanisms has more than servers need: {}",
                more.join(" ")
            ),
            why,
        ));
    }
    findings
}

/// Whether Java prefers the accelerator for signatures.
fn preferences(seen: &Seen, configuration: &SunPkcs11) -> Option<Finding> {
    let provider = configuration.provider();
    let is_missing = |name: &&str| !seen.security.prefers(&provider, name);
    let missing: Vec<&str> = SIGNATURES.into_iter().filter(is_missing).collect();
    let wanted: Vec<String> = missing
        .iter()
        .map(|name| format!("{name}:{provider}"))
        .collect();
    let remedy = format!(
        "write {} into jdk.security.provider.preferred, or run 'outboard java'",
        wanted.join(", ")
    );
    let why = match missing[..] {
        [] => return None,
        _ if missing.len() == SIGNATURES.len() => {
            "with keys in files, Java takes the first provider of a signature, and that is the JDK's own"
        }
        ["RSASSA-PSS"] => {
            "each handshake of TLS 1.3 with an RSA key signs by RSASSA-PSS, which stays with the JDK"
        }
        _ => "signatures by these algorithms stay with the JDK",
    };
    let what = format!("Java does not prefer {provider} for {}", missing.join(", "));
    Some(Finding::problem(SUBJECT, what).because(why).remedy(remedy))
}
