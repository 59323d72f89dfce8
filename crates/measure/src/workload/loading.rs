//! Reading keys, and using a key that was just read: what a short-lived program or a client that
//! meets a new certificate pays.

use outboard_libcrypto::Key;

use super::{Prepared, Workload, signature};
use crate::KeyKind;

pub(super) fn all() -> Vec<Workload> {
    let mut workloads = Vec::new();
    for &kind in KeyKind::ALL {
        let name = kind.name();
        workloads.push(Workload::new(
            format!("{name}-read-private"),
            0,
            move |context, keys| {
                let (context, pem) = (context.clone(), keys.private_pem(kind)?);
                let served_by = Key::from_pem(&context, &pem, None)?.provider_name();
                Ok(Prepared::new(served_by, move || {
                    Key::from_pem(&context, &pem, None)?;
                    Ok(())
                }))
            },
        ));
        workloads.push(Workload::new(
            format!("{name}-read-public"),
            0,
            move |context, keys| {
                let (context, pem) = (context.clone(), keys.public_pem(kind)?);
                let served_by = Key::public_from_pem(&context, &pem)?.provider_name();
                Ok(Prepared::new(served_by, move || {
                    Key::public_from_pem(&context, &pem)?;
                    Ok(())
                }))
            },
        ));
        if kind == KeyKind::X25519 {
            continue;
        }
        workloads.push(Workload::new(
            format!("{name}-read-sign"),
            0,
            move |context, keys| {
                let (context, pem) = (context.clone(), keys.private_pem(kind)?);
                Ok(Prepared::new(None, move || {
                    signature::sign_once(&Key::from_pem(&context, &pem, None)?, kind)
                }))
            },
        ));
        workloads.push(Workload::new(
            format!("{name}-read-verify"),
            0,
            move |context, keys| {
                let (context, der) = (context.clone(), keys.public_der(kind)?);
                let signature = signature::signature(keys, kind)?;
                Ok(Prepared::new(None, move || {
                    signature::verify_once(&Key::public_from_der(&context, &der)?, kind, &signature)
                }))
            },
        ));
    }
    workloads
}
