//! What programs do not see of a token's objects, and why.

use std::collections::BTreeMap;

use base64ct::{Base64, Encoding};
use outboard_administration::{Right, TokenInfo};
use outboard_wording::printable;
use serde::Serialize;

use super::objects::{Class, Object, public_of};

/// Something that a program does not see, or cannot use.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// The object's id; none: of the token as a whole.
    pub(super) object: Option<String>,
    /// What it is called.
    pub(super) label: Option<String>,
    /// Which programs.
    pub(super) programs: String,
    /// What they do not see, and why.
    pub(super) what: String,
    /// What helps.
    pub(super) remedy: String,
}

const ALL: &str = "every program";
const JAVA: &str = "Java";

/// What is found, by object.
pub(super) fn findings(token: &TokenInfo, objects: &[Object], option: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let name = &token.name;
    let mut find = |object: Option<&Object>, programs: &str, what: String, remedy: String| {
        findings.push(Finding {
            object: object.map(|object| object.id.clone()),
            label: object.map(|object| printable(&object.label)),
            programs: programs.to_owned(),
            what,
            remedy,
        });
    };
    if !token.grants.iter().any(|grant| grant.right == Right::Use) {
        let remedy = format!("run 'outboard token grant {name} --user NAME{option}'");
        find(None, ALL, "nobody may use the token".into(), remedy);
    }
    let of = |class| objects.iter().filter(move |object| object.class == class);
    for key in of(Class::PrivateKey) {
        let belongs = |other: &&Object| !key.key_id.is_empty() && other.key_id == key.key_id;
        let certificates: Vec<_> = of(Class::Certificate).filter(belongs).collect();
        if key.key_id.is_empty() {
            let what = "the private key has no id (CKA_ID), so no certificate belongs to it";
            let remedy = "give it one with 'pkcs11-tool --set-id', or import it again with 'outboard token import'";
            find(Some(key), ALL, what.into(), remedy.into());
        } else if certificates.is_empty() {
            let what = "the private key has no certificate of the same id (CKA_ID)";
            let remedy = "import its certificate with that id";
            find(Some(key), JAVA, what.into(), remedy.into());
        }
        if certificates.is_empty() && !of(Class::PublicKey).any(|other| belongs(&other)) {
            let what = "the private key has neither a public key nor a certificate of the same id (CKA_ID)";
            let remedy = "import its public key or its certificate with that id";
            find(Some(key), "OpenSSH", what.into(), remedy.into());
        }
        if of(Class::PrivateKey).filter(belongs).count() > 1 {
            let what = "several private keys have that id (CKA_ID), so programs take any of them";
            find(Some(key), ALL, what.into(), remove(name, key, option));
        }
        if key.key_type.as_deref() == Some("ed25519") {
            let what = "they cannot use Ed25519 keys of tokens";
            let remedy = "use a key of type p256 for them";
            find(Some(key), "Java, OpenSSH 9.2", what.into(), remedy.into());
        }
        let public = key.public.as_deref().map(Base64::decode_vec);
        if let Some(Ok(public)) = public {
            let is_other = |other: &&&Object| {
                public_of(&other.certificate).is_some_and(|other| other != public)
            };
            for certificate in certificates.iter().filter(is_other) {
                let what = format!(
                    "the certificate has the id of the private key '{}', and another public half",
                    printable(&key.label)
                );
                let remedy = remove(name, certificate, option);
                find(Some(certificate), ALL, what, remedy);
            }
        }
    }
    for certificate in of(Class::Certificate) {
        if public_of(&certificate.certificate).is_none() {
            let what = "the certificate is damaged, or no X.509 certificate".into();
            find(
                Some(certificate),
                ALL,
                what,
                remove(name, certificate, option),
            );
        }
    }
    for (class, programs, what) in [
        (
            Class::Certificate,
            JAVA,
            "several certificates have that label, so their aliases are LABEL/ISSUER/NUMBER",
        ),
        (
            Class::PrivateKey,
            "OpenSSL, GnuTLS",
            "several private keys have that label, so a URI with it means any of them",
        ),
    ] {
        let mut labels: BTreeMap<&str, Vec<&Object>> = BTreeMap::new();
        // keytool gives private keys and issuers' certificates no label, and finds them all the same.
        for object in of(class).filter(|object| !object.label.is_empty()) {
            labels.entry(&object.label).or_default().push(object);
        }
        for several in labels.values().filter(|several| several.len() > 1) {
            for object in several {
                find(
                    Some(object),
                    programs,
                    what.into(),
                    remove(name, object, option),
                );
            }
        }
    }
    findings
}

fn remove(token: &str, object: &Object, option: &str) -> String {
    format!(
        "if it is not needed, run 'outboard token remove {token} {}{option}'",
        object.id
    )
}

/// The findings, for people.
pub(super) fn text(token: &TokenInfo, findings: &[Finding], objects: usize) -> String {
    if findings.is_empty() {
        return format!(
            "Programs see all {objects} objects of token '{}'.\n",
            token.name
        );
    }
    let lines = findings.iter().map(|finding| {
        let object = match (&finding.label, &finding.object) {
            (Some(label), Some(id)) => format!("'{label}' ({id})"),
            _ => format!("token '{}'", token.name),
        };
        let Finding {
            programs,
            what,
            remedy,
            ..
        } = finding;
        format!("{object}: {programs}: {what} ({remedy})\n")
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use outboard_administration::{Grant, Login, Subject, TokenPolicy};

    use super::*;

    fn token() -> TokenInfo {
        TokenInfo {
            id: "0".repeat(32),
            name: "web".into(),
            label: "Web".into(),
            slot: 2,
            created: 0,
            user: Login::Grant,
            officer: Login::Grant,
            objects: 0,
            grants: vec![Grant {
                to: Subject::User(33),
                right: Right::Use,
            }],
            policy: TokenPolicy::default(),
        }
    }

    fn object(class: Class, label: &str, key_id: &str) -> Object {
        Object {
            id: format!("id of {label}"),
            class,
            label: label.into(),
            key_id: key_id.into(),
            key_type: (class == Class::PrivateKey).then(|| "p256".into()),
            private: false,
            inside: class == Class::PrivateKey,
            certificate: Vec::new(),
            public: None,
        }
    }

    /// What is said of which label.
    fn found(objects: &[Object]) -> Vec<(String, String)> {
        let found = findings(&token(), objects, "").into_iter();
        found
            .map(|finding| (finding.label.unwrap_or_default(), finding.what))
            .collect()
    }

    #[track_caller]
    fn says(found: &[(String, String)], label: &str, what: &str) {
        let is = |(of, said): &(String, String)| of == label && said.contains(what);
        assert!(
            found.iter().any(is),
            "no '{what}' of '{label}' in {found:#?}"
        );
    }

    #[test]
    fn what_lacks_an_id_has_nothing_that_belongs_to_it() {
        let objects = [
            object(Class::PrivateKey, "key", ""),
            object(Class::PublicKey, "half", ""),
        ];
        let found = found(&objects);
        says(&found, "key", "no id (CKA_ID)");
        says(&found, "key", "neither a public key nor a certificate");
    }

    #[test]
    fn equal_labels_are_named() {
        let objects = [
            object(Class::PrivateKey, "key", "01"),
            object(Class::PrivateKey, "key", "02"),
            object(Class::Certificate, "key", "01"),
            object(Class::Certificate, "key", "02"),
            object(Class::PublicKey, "key", "01"),
        ];
        let found = found(&objects);
        says(&found, "key", "several private keys");
        says(&found, "key", "several certificates");
        // These are none.
        says(&found, "key", "no X.509 certificate");
    }

    #[test]
    fn equal_ids_are_named() {
        let mut objects = [
            object(Class::PrivateKey, "one", "01"),
            object(Class::PrivateKey, "other", "01"),
        ];
        let what = "several private keys have that id";
        says(&found(&objects), "one", what);
        says(&found(&objects), "other", what);
        objects[1].key_id = "02".into();
        assert!(!found(&objects).iter().any(|(_, said)| said.contains(what)));
    }

    #[test]
    fn nothing_is_said_of_what_is_seen() {
        let objects = [
            object(Class::Data, "data", ""),
            object(Class::PublicKey, "other", "01"),
            object(Class::SecretKey, "secret", ""),
        ];
        assert_eq!(found(&objects), []);
    }

    #[test]
    fn what_has_no_label_shares_none() {
        let objects = [
            object(Class::PrivateKey, "", "01"),
            object(Class::PrivateKey, "", "02"),
            object(Class::Certificate, "", "01"),
            object(Class::Certificate, "", "02"),
        ];
        let found = found(&objects);
        assert!(
            !found.iter().any(|(_, what)| what.contains("several")),
            "{found:#?}"
        );
    }
}
