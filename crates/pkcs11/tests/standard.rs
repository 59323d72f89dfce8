//! What the standard says of lengths that are asked for, orders of calls, and answers to several questions at once (PKCS #11
//! 3.2, 5).

mod common;

use std::ptr;

use common::calls::{Functions, attribute, call, mechanism, room, session};
use cryptoki_sys::*;

fn digest(functions: &Functions, session: CK_SESSION_HANDLE) -> (CK_RV, CK_ULONG) {
    let (mut data, mut digest, mut length) = (*b"a", [0; 32], 32);
    let (data, digest) = (data.as_mut_ptr(), digest.as_mut_ptr());
    let told = call!(
        functions,
        C_Digest(session, data, 1, digest, &raw mut length)
    );
    (told, length)
}

fn begin(functions: &Functions, session: CK_SESSION_HANDLE) -> CK_RV {
    let mut sha = mechanism(CKM_SHA256);
    call!(functions, C_DigestInit(session, &raw mut sha))
}

#[test]
fn an_operation_ends_with_its_result_or_an_error_and_not_with_a_question() {
    let (functions, session) = session();
    assert_eq!(digest(functions, session).0, CKR_OPERATION_NOT_INITIALIZED);
    assert_eq!(begin(functions, session), CKR_OK);
    assert_eq!(begin(functions, session), CKR_OPERATION_ACTIVE);
    // How long is it? It does not fit into 31 bytes.
    let (mut data, mut buffer, mut length) = (*b"a", [0; 32], 0);
    let data = data.as_mut_ptr();
    let asked = call!(
        functions,
        C_Digest(session, data, 1, ptr::null_mut(), &raw mut length)
    );
    assert_eq!((asked, length), (CKR_OK, 32));
    length = 31;
    let short = call!(
        functions,
        C_Digest(session, data, 1, buffer.as_mut_ptr(), &raw mut length)
    );
    assert_eq!((short, length), (CKR_BUFFER_TOO_SMALL, 32));
    assert_eq!(digest(functions, session), (CKR_OK, 32));
    assert_eq!(digest(functions, session).0, CKR_OPERATION_NOT_INITIALIZED);
    // A message in parts is not ended by one that is whole.
    assert_eq!(begin(functions, session), CKR_OK);
    assert_eq!(call!(functions, C_DigestUpdate(session, data, 1)), CKR_OK);
    assert_eq!(digest(functions, session).0, CKR_OPERATION_ACTIVE);
    assert_eq!(digest(functions, session).0, CKR_OPERATION_NOT_INITIALIZED);
}

/// 5.10 to 5.14: a call ends the operation, whatever its error, unless the buffer is too small.
#[test]
fn pointers_that_lead_nowhere_end_an_operation() {
    let (functions, session) = session();
    let (null, no_length) = (ptr::null_mut::<u8>(), ptr::null_mut::<CK_ULONG>());
    let (class, kind, value) = ([CKO_SECRET_KEY], [CKK_AES], [7_u8; 16]);
    let uses = [CK_TRUE];
    let mut template = [
        attribute(CKA_CLASS, &class),
        attribute(CKA_KEY_TYPE, &kind),
        attribute(CKA_VALUE, &value),
        attribute(CKA_ENCRYPT, &uses),
    ];
    let mut key = 0;
    let made = call!(
        functions,
        C_CreateObject(session, template.as_mut_ptr(), 4, &raw mut key)
    );
    assert_eq!(made, CKR_OK);
    let (mut sha, mut cmac) = (mechanism(CKM_SHA256), mechanism(CKM_AES_CMAC));
    let mut ecb = mechanism(CKM_AES_ECB);

    /// Begins, goes on wrongly, and finds nothing under way.
    macro_rules! ends {
        ($begin:ident($($first:expr),*): [$($name:ident($($argument:expr),*)),*], $after:expr) => {{
            let begin = || call!(functions, $begin(session, $($first),*));
            $(
                assert_eq!(begin(), CKR_OK);
                let wrong = call!(functions, $name(session, $($argument),*));
                assert_eq!(wrong, CKR_ARGUMENTS_BAD, stringify!($name));
                assert_eq!($after, CKR_OPERATION_NOT_INITIALIZED, stringify!($name));
            )*
        }};
    }
    let (sha, cmac, ecb) = (&raw mut sha, &raw mut cmac, &raw mut ecb);
    let (mut room, mut length) = ([0; 16], 16);
    let (part, length) = (room.as_mut_ptr(), &raw mut length);
    ends!(
        C_DigestInit(sha): [
            C_Digest(null, 1, part, length), C_DigestUpdate(null, 1), C_DigestFinal(part, no_length)
        ],
        call!(functions, C_DigestUpdate(session, part, 1))
    );
    ends!(
        C_SignInit(cmac, key): [
            C_Sign(part, 1, part, no_length), C_SignUpdate(null, 1), C_SignFinal(part, no_length)
        ],
        call!(functions, C_SignUpdate(session, part, 1))
    );
    ends!(
        C_VerifyInit(cmac, key): [
            C_Verify(part, 1, null, 16), C_VerifyUpdate(null, 1), C_VerifyFinal(null, 16)
        ],
        call!(functions, C_VerifyUpdate(session, part, 1))
    );
    ends!(
        C_EncryptInit(ecb, key): [
            C_Encrypt(null, 16, part, length), C_EncryptUpdate(part, 16, part, no_length),
            C_EncryptFinal(part, no_length)
        ],
        call!(functions, C_EncryptUpdate(session, part, 16, part, length))
    );
}

/// 5.1.8: that there is no such session goes before what else is wrong with a call.
#[test]
fn a_session_that_is_not_there_goes_before_all_else() {
    let (functions, session) = session();
    assert_eq!(call!(functions, C_CloseSession(session)), CKR_OK);
    let mut unknown = mechanism(CKM_VENDOR_DEFINED);
    let unknown = &raw mut unknown;
    let (null, no_length) = (ptr::null_mut::<u8>(), ptr::null_mut::<CK_ULONG>());
    let no_template = ptr::null_mut::<CK_ATTRIBUTE>();
    macro_rules! refused {
        ($($name:ident($($argument:expr),*)),*) => {$(
            let told = call!(functions, $name(session, $($argument),*));
            assert_eq!(told, CKR_SESSION_HANDLE_INVALID, stringify!($name));
        )*};
    }
    refused!(
        C_GetSessionInfo(ptr::null_mut()),
        C_Login(9, null, 1),
        C_InitPIN(null, 1),
        C_SetPIN(null, 1, null, 1),
        C_CreateObject(no_template, 1, no_length),
        C_CopyObject(1, no_template, 1, no_length),
        C_GetObjectSize(1, no_length),
        C_SetAttributeValue(1, no_template, 1),
        C_FindObjectsInit(no_template, 1),
        C_FindObjects(no_length, 1, no_length),
        C_DigestInit(unknown),
        C_Digest(null, 1, null, no_length),
        C_DigestFinal(null, no_length),
        C_EncryptInit(unknown, 1),
        C_Encrypt(null, 1, null, no_length),
        C_DecryptInit(unknown, 1),
        C_SignInit(unknown, 1),
        C_Sign(null, 1, null, no_length),
        C_VerifyInit(unknown, 1),
        C_Verify(null, 1, null, 1),
        C_GenerateKey(unknown, no_template, 1, no_length),
        C_GenerateKeyPair(
            unknown,
            no_template,
            1,
            no_template,
            1,
            no_length,
            no_length
        ),
        C_WrapKey(unknown, 1, 1, null, no_length),
        C_UnwrapKey(unknown, 1, null, 1, no_template, 1, no_length),
        C_DeriveKey(unknown, 1, no_template, 1, no_length),
        C_SeedRandom(null, 1),
        C_GenerateRandom(null, 1)
    );
}

/// A program that has lost count gets an answer.
#[test]
fn lengths_that_nothing_has_are_refused() {
    let (functions, session) = session();
    let (mut sha, mut byte) = (mechanism(CKM_SHA256), 0);
    for length in [CK_ULONG::MAX, CK_ULONG::MAX / 2, 1 << 60] {
        assert_eq!(
            call!(functions, C_DigestInit(session, &raw mut sha)),
            CKR_OK
        );
        let update = call!(functions, C_DigestUpdate(session, &raw mut byte, length));
        assert_eq!(update, CKR_ARGUMENTS_BAD);
        let random = call!(functions, C_GenerateRandom(session, &raw mut byte, length));
        assert_eq!(random, CKR_ARGUMENTS_BAD);
    }
    for length in [CK_ULONG::MAX, 1 << 60, 0xffff_ffff] {
        let (class, mut object) = ([CKO_DATA], 0);
        let mut template = [attribute(CKA_CLASS, &class), attribute(CKA_VALUE, b"a")];
        template[1].ulValueLen = length;
        let made = call!(
            functions,
            C_CreateObject(session, template.as_mut_ptr(), 2, &raw mut object)
        );
        assert_eq!(made, CKR_ATTRIBUTE_VALUE_INVALID);
    }
}

/// The user is asked before each operation only by the service, with its own keys.
#[test]
fn a_key_of_a_session_promises_no_question_to_its_user() {
    let (functions, session) = session();
    let mut pair = mechanism(CKM_EC_KEY_PAIR_GEN);
    let curve = common::raw::P256;
    for (asks, code) in [(CK_FALSE, CKR_OK), (CK_TRUE, CKR_ATTRIBUTE_VALUE_INVALID)] {
        let asks = [asks];
        let mut public = [attribute(CKA_EC_PARAMS, curve)];
        let mut private = [attribute(CKA_ALWAYS_AUTHENTICATE, &asks)];
        let (public, private) = (public.as_mut_ptr(), private.as_mut_ptr());
        let mut keys = [0; 2];
        let [one, other] = &mut keys;
        let made = call!(
            functions,
            C_GenerateKeyPair(session, &raw mut pair, public, 1, private, 1, one, other)
        );
        assert_eq!(made, code);
    }
}

/// A number may begin with zeros. Nothing is derived from an RSA key.
#[test]
fn an_exponent_may_begin_with_a_zero() {
    let (functions, session) = session();
    let mut pair = mechanism(CKM_RSA_PKCS_KEY_PAIR_GEN);
    let bits = [2048 as CK_ULONG];
    for (exponent, code) in [
        (&[0_u8, 1, 0, 1], CKR_OK),
        (&[1, 1, 0, 1], CKR_ATTRIBUTE_VALUE_INVALID),
    ] {
        let mut public = [
            attribute(CKA_MODULUS_BITS, &bits),
            attribute(CKA_PUBLIC_EXPONENT, exponent),
        ];
        let (public, none) = (public.as_mut_ptr(), ptr::null_mut());
        let mut keys = [0; 2];
        let [one, other] = &mut keys;
        let made = call!(
            functions,
            C_GenerateKeyPair(session, &raw mut pair, public, 2, none, 0, one, other)
        );
        assert_eq!(made, code);
        if made == CKR_OK {
            let mut derives = [CK_TRUE];
            let mut asked = [room(CKA_DERIVE, &mut derives)];
            let told = call!(
                functions,
                C_GetAttributeValue(session, keys[1], asked.as_mut_ptr(), 1)
            );
            assert_eq!((told, derives), (CKR_OK, [CK_FALSE]));
        }
    }
}

#[test]
fn an_operation_is_given_up() {
    let (functions, session) = session();
    assert_eq!(begin(functions, session), CKR_OK);
    assert_eq!(
        call!(functions, C_DigestInit(session, ptr::null_mut())),
        CKR_OK
    );
    assert_eq!(digest(functions, session).0, CKR_OPERATION_NOT_INITIALIZED);
    assert_eq!(begin(functions, session), CKR_OK);
    assert_eq!(
        call!(
            functions,
            C_SessionCancel(session, CKF_SIGN | CKF_FIND_OBJECTS)
        ),
        CKR_OK
    );
    assert_eq!(begin(functions, session), CKR_OPERATION_ACTIVE);
    assert_eq!(
        call!(functions, C_SessionCancel(session, CKF_DIGEST)),
        CKR_OK
    );
    assert_eq!(digest(functions, session).0, CKR_OPERATION_NOT_INITIALIZED);
}

fn secret(functions: &Functions, session: CK_SESSION_HANDLE) -> CK_OBJECT_HANDLE {
    let (class, kind) = ([CKO_SECRET_KEY], [CKK_GENERIC_SECRET]);
    let mut template = [
        attribute(CKA_CLASS, &class),
        attribute(CKA_KEY_TYPE, &kind),
        attribute(CKA_VALUE, b"a secret"),
        attribute(CKA_LABEL, b"its label"),
    ];
    let mut object = 0;
    let made = call!(
        functions,
        C_CreateObject(session, template.as_mut_ptr(), 4, &raw mut object)
    );
    assert_eq!(made, CKR_OK);
    object
}

/// Every attribute that can be told is told, whatever becomes of the others.
#[test]
fn several_attributes_are_answered_each_for_itself() {
    let (functions, session) = session();
    let object = secret(functions, session);
    let (mut hidden, mut foreign, mut short, mut label) = ([0; 20], [0; 20], [0; 2], [0; 20]);
    let mut template = [
        room(CKA_VALUE, &mut hidden),
        room(CKA_MODULUS, &mut foreign),
        room(CKA_LABEL, &mut short),
        room(CKA_LABEL, &mut label),
        room(CKA_LABEL, &mut []),
    ];
    template[4].pValue = ptr::null_mut();
    let told = call!(
        functions,
        C_GetAttributeValue(session, object, template.as_mut_ptr(), 5)
    );
    assert_eq!(told, CKR_ATTRIBUTE_SENSITIVE);
    let none = CK_UNAVAILABLE_INFORMATION;
    assert_eq!(template.map(|one| one.ulValueLen), [none, none, none, 9, 9]);
    assert_eq!((hidden, &label[..9]), ([0; 20], &b"its label"[..]));
}

#[test]
fn lists_say_how_long_they_are() {
    let (functions, _) = session();
    let mut count = 0;
    let asked = call!(
        functions,
        C_GetMechanismList(1, ptr::null_mut(), &raw mut count)
    );
    assert!(asked == CKR_OK && count > 10);
    let all = count;
    let mut list = vec![0; all as usize];
    count = all - 1;
    let short = call!(
        functions,
        C_GetMechanismList(1, list.as_mut_ptr(), &raw mut count)
    );
    assert_eq!((short, count), (CKR_BUFFER_TOO_SMALL, all));
    assert_eq!(
        call!(
            functions,
            C_GetMechanismList(1, list.as_mut_ptr(), &raw mut count)
        ),
        CKR_OK
    );
    count = 0;
    let short = call!(
        functions,
        C_GetSlotList(CK_FALSE, list.as_mut_ptr(), &raw mut count)
    );
    assert!(short == CKR_BUFFER_TOO_SMALL && count > 0);
}

#[test]
fn a_search_tells_as_many_as_are_asked_for() {
    let (functions, session) = session();
    let objects = [
        secret(functions, session),
        secret(functions, session),
        secret(functions, session),
    ];
    assert_eq!(
        call!(functions, C_FindObjectsInit(session, ptr::null_mut(), 0)),
        CKR_OK
    );
    assert_eq!(
        call!(functions, C_FindObjectsInit(session, ptr::null_mut(), 0)),
        CKR_OPERATION_ACTIVE
    );
    let (mut found, mut count) = ([0; 2], 9);
    assert_eq!(
        call!(
            functions,
            C_FindObjects(session, ptr::null_mut(), 0, &raw mut count)
        ),
        CKR_OK
    );
    assert_eq!(count, 0);
    let mut all = Vec::new();
    loop {
        let told = call!(
            functions,
            C_FindObjects(session, found.as_mut_ptr(), 2, &raw mut count)
        );
        assert_eq!(told, CKR_OK);
        if count == 0 {
            break;
        }
        all.extend_from_slice(&found[..count as usize]);
    }
    // Other tests of this process make objects, too.
    assert!(objects.iter().all(|object| all.contains(object)));
    assert_eq!(call!(functions, C_FindObjectsFinal(session)), CKR_OK);
    assert_eq!(
        call!(functions, C_FindObjectsFinal(session)),
        CKR_OPERATION_NOT_INITIALIZED
    );
}

#[test]
fn a_copy_has_a_name_of_its_own() {
    let (functions, session) = session();
    let object = secret(functions, session);
    let mut copy = 0;
    let copied = call!(
        functions,
        C_CopyObject(session, object, ptr::null_mut(), 0, &raw mut copy)
    );
    assert_eq!(copied, CKR_OK);
    let name = |object| {
        let mut name = [0; 64];
        let mut template = [room(CKA_UNIQUE_ID, &mut name)];
        let told = call!(
            functions,
            C_GetAttributeValue(session, object, template.as_mut_ptr(), 1)
        );
        assert_eq!(told, CKR_OK);
        name
    };
    assert_ne!(name(object), name(copy));
}

/// By its name, as OpenSSL's pkcs11-provider asks for Edwards curves: the object says the same.
#[test]
fn a_curve_may_be_asked_for_by_its_name() {
    let (functions, session) = session();
    let name = b"\x13\x0cedwards25519";
    let mut public = [attribute(CKA_EC_PARAMS, name)];
    let mut generate = mechanism(CKM_EC_EDWARDS_KEY_PAIR_GEN);
    let (mut key, mut private) = (0, 0);
    let made = call!(
        functions,
        C_GenerateKeyPair(
            session,
            &raw mut generate,
            public.as_mut_ptr(),
            1,
            ptr::null_mut(),
            0,
            &raw mut key,
            &raw mut private,
        )
    );
    assert_eq!(made, CKR_OK);
    let mut told = [0; 14];
    let mut template = [room(CKA_EC_PARAMS, &mut told)];
    let code = call!(
        functions,
        C_GetAttributeValue(session, key, template.as_mut_ptr(), 1)
    );
    assert_eq!((code, &told), (CKR_OK, name));
}

/// A program that asks what the module can do is told all of it.
#[test]
fn raw_rsa_is_said_to_verify_and_to_encrypt() {
    let (functions, _) = session();
    let mut info = CK_MECHANISM_INFO::default();
    let told = call!(
        functions,
        C_GetMechanismInfo(1, CKM_RSA_X_509, &raw mut info)
    );
    let all = CKF_SIGN | CKF_VERIFY | CKF_ENCRYPT | CKF_DECRYPT;
    assert_eq!((told, info.flags), (CKR_OK, all));
}
