//! Keys of ML-KEM and ML-DSA, and what is done with them.

use std::ptr::null_mut;

use cryptoki_sys::*;

use super::calls::{Functions, attribute, call, mechanism, room};

pub(crate) type Session = (&'static Functions, CK_SESSION_HANDLE);
pub(crate) type Result<T> = std::result::Result<T, CK_RV>;

pub(crate) const SETS: [CK_ULONG; 3] = [CKP_ML_KEM_512, CKP_ML_KEM_768, CKP_ML_KEM_1024];

pub(crate) fn result<T>(code: CK_RV, value: T) -> Result<T> {
    match code {
        CKR_OK => Ok(value),
        code => Err(code),
    }
}

pub(crate) fn create(
    (functions, session): Session,
    (class, key_type, set): (CK_OBJECT_CLASS, CK_KEY_TYPE, CK_ULONG),
    values: &[(CK_ATTRIBUTE_TYPE, &[u8])],
) -> Result<CK_OBJECT_HANDLE> {
    let (class, key_type, set) = ([class], [key_type], [set]);
    let mut template = vec![
        attribute(CKA_CLASS, &class),
        attribute(CKA_KEY_TYPE, &key_type),
        attribute(CKA_PARAMETER_SET, &set),
        attribute(CKA_SENSITIVE, &[CK_FALSE]),
        attribute(CKA_EXTRACTABLE, &[CK_TRUE]),
    ];
    if class == [CKO_PUBLIC_KEY] {
        template.truncate(3);
    }
    template.extend(values.iter().map(|&(kind, value)| attribute(kind, value)));
    let mut key = 0;
    let code = call!(
        functions,
        C_CreateObject(
            session,
            template.as_mut_ptr(),
            template.len() as CK_ULONG,
            &raw mut key
        )
    );
    result(code, key)
}

pub(crate) fn value(
    (functions, session): Session,
    key: CK_OBJECT_HANDLE,
    kind: CK_ATTRIBUTE_TYPE,
) -> Result<Vec<u8>> {
    let mut value = vec![0; 8192];
    let mut wanted = [room(kind, &mut value)];
    let code = call!(
        functions,
        C_GetAttributeValue(session, key, wanted.as_mut_ptr(), 1)
    );
    value.truncate(wanted[0].ulValueLen as usize);
    result(code, value)
}

/// A pair, the public half first.
pub(crate) fn generate(
    (functions, session): Session,
    kind: CK_MECHANISM_TYPE,
    set: CK_ULONG,
) -> Result<(CK_OBJECT_HANDLE, CK_OBJECT_HANDLE)> {
    let set = [set];
    let mut public = [attribute(CKA_PARAMETER_SET, &set)];
    let mut private = [
        attribute(CKA_SENSITIVE, &[CK_FALSE]),
        attribute(CKA_EXTRACTABLE, &[CK_TRUE]),
    ];
    let (mut one, mut other) = (0, 0);
    let code = call!(
        functions,
        C_GenerateKeyPair(
            session,
            &mut mechanism(kind),
            public.as_mut_ptr(),
            1,
            private.as_mut_ptr(),
            2,
            &raw mut one,
            &raw mut other
        )
    );
    result(code, (one, other))
}

pub(crate) fn secret() -> [CK_ATTRIBUTE; 1] {
    [attribute(CKA_SENSITIVE, &[CK_FALSE])]
}

/// The ciphertext, and the secret.
pub(crate) fn encapsulate(
    (functions, session): Session,
    key: CK_OBJECT_HANDLE,
) -> Result<(Vec<u8>, CK_OBJECT_HANDLE)> {
    let (mut length, mut made) = (0, 0);
    let mut ask = |ciphertext: *mut u8, length: *mut CK_ULONG| {
        call!(
            functions,
            C_EncapsulateKey(
                session,
                &mut mechanism(CKM_ML_KEM),
                key,
                secret().as_mut_ptr(),
                1,
                ciphertext,
                length,
                &raw mut made
            )
        )
    };
    result(ask(null_mut(), &raw mut length), ())?;
    let mut ciphertext = vec![0; length as usize];
    length -= 1;
    let too_small = ask(ciphertext.as_mut_ptr(), &raw mut length);
    assert_eq!(too_small, CKR_BUFFER_TOO_SMALL);
    result(ask(ciphertext.as_mut_ptr(), &raw mut length), ())?;
    Ok((ciphertext, made))
}

pub(crate) fn decapsulate(
    (functions, session): Session,
    key: CK_OBJECT_HANDLE,
    ciphertext: &[u8],
) -> Result<CK_OBJECT_HANDLE> {
    let mut made = 0;
    let code = call!(
        functions,
        C_DecapsulateKey(
            session,
            &mut mechanism(CKM_ML_KEM),
            key,
            secret().as_mut_ptr(),
            1,
            ciphertext.as_ptr().cast_mut(),
            ciphertext.len() as CK_ULONG,
            &raw mut made
        )
    );
    result(code, made)
}

pub(crate) fn sign(
    (functions, session): Session,
    mut mechanism: CK_MECHANISM,
    key: CK_OBJECT_HANDLE,
    message: &[u8],
) -> Result<Vec<u8>> {
    let begun = call!(functions, C_SignInit(session, &raw mut mechanism, key));
    result(begun, ())?;
    let mut length = 0;
    let once = |signature: *mut u8, length: *mut CK_ULONG| {
        let (from, count) = (message.as_ptr().cast_mut(), message.len() as CK_ULONG);
        call!(functions, C_Sign(session, from, count, signature, length))
    };
    assert_eq!(once(null_mut(), &raw mut length), CKR_OK);
    let mut signature = vec![0; length as usize];
    result(once(signature.as_mut_ptr(), &raw mut length), signature)
}

pub(crate) fn verify(
    (functions, session): Session,
    mut mechanism: CK_MECHANISM,
    key: CK_OBJECT_HANDLE,
    message: &[u8],
    signature: &[u8],
) -> Result<()> {
    let begun = call!(functions, C_VerifyInit(session, &raw mut mechanism, key));
    result(begun, ())?;
    let code = call!(
        functions,
        C_Verify(
            session,
            message.as_ptr().cast_mut(),
            message.len() as CK_ULONG,
            signature.as_ptr().cast_mut(),
            signature.len() as CK_ULONG
        )
    );
    result(code, ())
}
