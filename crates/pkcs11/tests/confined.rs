//! The accelerator in a program whose sandbox kills it for every system call but a few.

mod common;

use common::asynchronous::{LANES, Signer, YES, apart, key_pair, nowhere, open, p384, verify};
use common::calls::{attribute, call};
use cryptoki_sys::*;
use outboard_programs::sandbox;

/// What operations need: memory, locks, randomness, the time, and to know whether the process was forked.
const NEEDED: [libc::c_long; 10] = [
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_madvise,
    libc::SYS_mmap,
    // The C library's heap of a thread grows so.
    libc::SYS_mprotect,
    libc::SYS_munmap,
];

/// Eight outstanding operations share the lanes there, too: no thread is needed for that.
#[test]
fn operations_need_few_system_calls() {
    apart(nowhere().path(), |functions| {
        let owner = open(functions, 1, CKF_RW_SESSION);
        let bits: [CK_ULONG; 1] = [2048];
        let keys = [
            (CKM_ECDSA_SHA384, p384(functions, owner)),
            (
                CKM_SHA256_RSA_PKCS,
                key_pair(
                    functions,
                    owner,
                    CKM_RSA_PKCS_KEY_PAIR_GEN,
                    &mut [attribute(CKA_MODULUS_BITS, &bits)],
                    &mut [attribute(CKA_SIGN, YES)],
                ),
            ),
            (
                CKM_ML_DSA,
                key_pair(
                    functions,
                    owner,
                    CKM_ML_DSA_KEY_PAIR_GEN,
                    &mut [attribute(CKA_PARAMETER_SET, &[CKP_ML_DSA_44])],
                    &mut [attribute(CKA_SIGN, YES)],
                ),
            ),
        ];
        let mut signers: Vec<Signer> = (0..LANES).map(|_| Signer::new(functions, 1)).collect();
        let mut sign = || {
            for (kind, (public, private)) in keys {
                let begin = |signer: &mut Signer| signer.begin(kind, private);
                let answers: Vec<CK_RV> = signers.iter_mut().map(begin).collect();
                for (signer, answer) in signers.iter_mut().zip(answers) {
                    verify(functions, kind, public, signer.signature(answer));
                }
            }
        };
        // The first one looks for what there is.
        sign();
        sandbox::allow_only(&NEEDED).expect("the system has filters");
        for _ in 0..3 {
            sign();
            let mut random = [0; 100];
            let drawn = call!(
                functions,
                C_GenerateRandom(owner, random.as_mut_ptr(), random.len() as CK_ULONG)
            );
            assert_eq!(drawn, CKR_OK);
            p384(functions, owner);
        }
    });
}
