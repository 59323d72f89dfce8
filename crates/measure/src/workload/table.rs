//! The rows of `openssl speed`: what its users would look for.

use outboard_operation::Operation;

use super::{Workload, bulk, pass_through};

/// Names as `openssl speed -evp` takes them, in lower case, and OpenSSL's own.
const DIGESTS: [(&str, &str); 3] = [
    ("sha-1", "SHA1"),
    ("sha-256", "SHA256"),
    ("sha-512", "SHA512"),
];
const CIPHERS: [(&str, &str); 3] = [
    ("aes-128-cbc", "AES-128-CBC"),
    ("aes-256-cbc", "AES-256-CBC"),
    ("aes-128-ctr", "AES-128-CTR"),
];

pub(super) fn all(sizes: &[usize]) -> Vec<Workload> {
    let mut workloads = Vec::new();
    for operation in Operation::compared().filter(|operation| operation.is_bulk()) {
        workloads.extend(sizes.iter().map(|&size| Workload::of_size(operation, size)));
    }
    for &size in sizes {
        workloads.push(Workload::new(
            "chacha20-poly1305",
            size,
            move |context, _| bulk::seal(context, "ChaCha20-Poly1305", size),
        ));
    }
    for (name, cipher) in CIPHERS {
        workloads.extend(sizes.iter().map(|&size| {
            Workload::new(name, size, move |context, _| {
                pass_through::stream(context, cipher, size)
            })
        }));
    }
    for (name, digest) in DIGESTS {
        workloads.extend(sizes.iter().map(|&size| {
            Workload::new(name, size, move |context, _| {
                pass_through::digest(context, digest, size)
            })
        }));
    }
    let keyed = Operation::compared().filter(|operation| !operation.is_bulk());
    workloads.extend(keyed.map(|operation| Workload::of_size(operation, 0)));
    workloads
}
