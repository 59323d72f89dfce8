//! The certificates of a key, as an administrator gives them and as a listing shows them.

use outboard_administration::{Code, Refusal};
use outboard_vault::Record;
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};

use super::Result;

/// The chain that a PEM text holds, in DER, where it begins with the key's own certificate; nothing of no text.
pub(super) fn chain(record: &Record, pem: &str) -> Result<Vec<u8>> {
    let refuse = |message: String| Refusal {
        code: Code::Malformed,
        message,
    };
    if pem.trim().is_empty() {
        return Ok(Vec::new());
    }
    let chain = Certificate::load_pem_chain(pem.as_bytes()).map_err(|error| {
        refuse(format!(
            "the text is no chain of certificates in PEM: it holds something else (a private key, a request), \
             or is damaged, or longer than 48 KiB ({error}); check it with 'openssl storeutl -noout FILE'"
        ))
    })?;
    let public = chain.first().map(|first| {
        let info = first.tbs_certificate().subject_public_key_info();
        info.to_der()
    });
    if public.and_then(|public| public.ok()).as_ref() != Some(&record.public) {
        return Err(refuse(format!(
            "the first certificate is not of the key '{}': it has another public half \
             (put the key's own certificate first, then its issuers')",
            record.name
        )));
    }
    for (at, pair) in chain.windows(2).enumerate() {
        let (issued, issuer) = (pair[0].tbs_certificate(), pair[1].tbs_certificate());
        if issued.issuer() != issuer.subject() {
            return Err(refuse(format!(
                "certificate {} is not of the issuer of certificate {}, which is {} (put each certificate before its issuer's)",
                at + 2,
                at + 1,
                issued.issuer()
            )));
        }
    }
    let mut bytes = Vec::new();
    for certificate in &chain {
        let whole = certificate.to_der();
        bytes.extend(whole.map_err(|error| refuse(error.to_string()))?);
    }
    Ok(bytes)
}

/// Whom a key's certificates name, its own first.
pub(super) fn subjects(record: &Record) -> Vec<String> {
    let certificates = of(record);
    let subject = |certificate: &Certificate| certificate.tbs_certificate().subject().to_string();
    certificates.iter().map(subject).collect()
}

/// When a key's own certificate ends, in seconds since 1970.
pub(super) fn end(record: &Record) -> Option<u64> {
    let certificates = of(record);
    let validity = certificates.first()?.tbs_certificate().validity();
    Some(validity.not_after.to_unix_duration().as_secs())
}

/// A key's certificates, its own first.
fn of(record: &Record) -> Vec<Certificate> {
    let certificates = outboard_wire::certificates(&record.certificates).unwrap_or_default();
    let read = |certificate| Certificate::from_der(certificate).ok();
    certificates.into_iter().filter_map(read).collect()
}
