//! The profiles that the slot of the process has (PKCS #11 Profiles 3.2). Those of the card service's slots are tested with the
//! service, by the command's tests.

mod common;

use std::ptr::null_mut;

use common::calls::{Functions, attribute, call, found, functions, open, profiles, value};
use cryptoki_sys::*;

/// One test: it also ends the module.
#[test]
fn the_slot_has_the_profiles_that_its_objects_tell() {
    let functions = functions();
    baseline(functions);
    assert_eq!(call!(functions, C_Initialize(null_mut())), CKR_OK);
    let session = open(functions);
    let told = profiles(functions, session);
    assert_eq!(told, [CKP_BASELINE_PROVIDER, CKP_HKDF_TLS_TOKEN]);
    nobody_changes_them(functions, session);
    hkdf_for_tls(functions, session);
}

/// The case BL-M-1-32. Names, versions and numbers are this module's own; the case wants a token with a PIN, which this slot is
/// not.
fn baseline(functions: &Functions) {
    assert_eq!(call!(functions, C_Initialize(null_mut())), CKR_OK);
    // SAFETY: numbers and arrays of bytes.
    let mut info: CK_INFO = unsafe { std::mem::zeroed() };
    assert_eq!(call!(functions, C_GetInfo(&raw mut info)), CKR_OK);
    let version = (info.cryptokiVersion.major, info.cryptokiVersion.minor);
    assert_eq!((version, { info.flags }), ((3, 2), 0));
    let mut count = 0;
    let listed = call!(
        functions,
        C_GetSlotList(CK_TRUE, null_mut(), &raw mut count)
    );
    assert_eq!(listed, CKR_OK);
    let mut slots = vec![0; count as usize];
    let listed = call!(
        functions,
        C_GetSlotList(CK_TRUE, slots.as_mut_ptr(), &raw mut count)
    );
    assert_eq!(listed, CKR_OK);
    assert!(slots.contains(&1));
    // SAFETY: as above.
    let mut info: CK_SLOT_INFO = unsafe { std::mem::zeroed() };
    assert_eq!(call!(functions, C_GetSlotInfo(1, &raw mut info)), CKR_OK);
    assert_eq!({ info.flags }, CKF_TOKEN_PRESENT);
    // SAFETY: as above.
    let mut info: CK_TOKEN_INFO = unsafe { std::mem::zeroed() };
    assert_eq!(call!(functions, C_GetTokenInfo(1, &raw mut info)), CKR_OK);
    let wanted = CKF_RNG | CKF_TOKEN_INITIALIZED;
    assert_eq!(info.flags & wanted, wanted);
    assert_eq!({ info.ulSessionCount }, 0);
    let mut session = 0;
    let opened = call!(
        functions,
        C_OpenSession(1, CKF_SERIAL_SESSION, null_mut(), None, &raw mut session)
    );
    assert_eq!(opened, CKR_OK);
    let mut token = [attribute(CKA_TOKEN, &[CK_TRUE])];
    assert_eq!(found(functions, session, &mut token).len(), 2);
    assert_eq!(call!(functions, C_CloseSession(session)), CKR_OK);
    assert_eq!(call!(functions, C_CloseAllSessions(1)), CKR_OK);
    assert_eq!(call!(functions, C_Finalize(null_mut())), CKR_OK);
}

fn nobody_changes_them(functions: &Functions, session: CK_SESSION_HANDLE) {
    let mut class = [attribute(CKA_CLASS, &[CKO_PROFILE])];
    let object = found(functions, session, &mut class)[0];
    let told = |kind| value(functions, session, object, kind);
    assert_eq!(told(CKA_LABEL), b"profile: Baseline Provider");
    assert_eq!(told(CKA_UNIQUE_ID), b"profile-1");
    for (kind, expected) in [
        (CKA_TOKEN, CK_TRUE),
        (CKA_PRIVATE, CK_FALSE),
        (CKA_MODIFIABLE, CK_FALSE),
        (CKA_COPYABLE, CK_FALSE),
        (CKA_DESTROYABLE, CK_FALSE),
    ] {
        assert_eq!(told(kind), [expected], "{kind:#x}");
    }
    let mut change = [attribute(CKA_LABEL, b"mine")];
    let mut made = 0;
    let [set, copied] = [
        call!(
            functions,
            C_SetAttributeValue(session, object, change.as_mut_ptr(), 1)
        ),
        call!(
            functions,
            C_CopyObject(session, object, null_mut(), 0, &raw mut made)
        ),
    ];
    assert_eq!([set, copied], [CKR_ACTION_PROHIBITED; 2]);
    let destroyed = call!(functions, C_DestroyObject(session, object));
    assert_eq!(destroyed, CKR_TOKEN_WRITE_PROTECTED);
    let mut size = 0;
    let asked = call!(functions, C_GetObjectSize(session, object, &raw mut size));
    assert_eq!(asked, CKR_OK);
    let mut template = [
        attribute(CKA_CLASS, &[CKO_PROFILE]),
        attribute(CKA_PROFILE_ID, &[CKP_COMPLETE_PROVIDER]),
    ];
    let created = call!(
        functions,
        C_CreateObject(session, template.as_mut_ptr(), 2, &raw mut made)
    );
    assert_eq!(created, CKR_ATTRIBUTE_VALUE_INVALID);
    // A profile that the slot does not have is no object.
    let mut asked = attribute::<u8>(CKA_CLASS, &[]);
    let told = call!(
        functions,
        C_GetAttributeValue(session, CKP_EXTENDED_PROVIDER, &raw mut asked, 1)
    );
    assert_eq!(told, CKR_OBJECT_HANDLE_INVALID);
}

/// What the profile HKDF TLS Token wants: the initialisation vectors of TLS 1.3 and of QUIC.
fn hkdf_for_tls(functions: &Functions, session: CK_SESSION_HANDLE) {
    let mut template = [
        attribute(CKA_CLASS, &[CKO_SECRET_KEY]),
        attribute(CKA_KEY_TYPE, &[CKK_HKDF]),
        attribute(CKA_DERIVE, &[CK_TRUE]),
        attribute(CKA_VALUE, &[7_u8; 32]),
    ];
    let mut secret = 0;
    let length = template.len() as CK_ULONG;
    let created = call!(
        functions,
        C_CreateObject(session, template.as_mut_ptr(), length, &raw mut secret)
    );
    assert_eq!(created, CKR_OK);
    for info in [&b"\0\x0ctls iv\0"[..], b"\0\x0ctls quic iv\0"] {
        let parameters = CK_HKDF_PARAMS {
            bExtract: CK_FALSE,
            bExpand: CK_TRUE,
            prfHashMechanism: CKM_SHA256,
            ulSaltType: CKF_HKDF_SALT_NULL,
            pSalt: null_mut(),
            ulSaltLen: 0,
            hSaltKey: 0,
            pInfo: info.as_ptr().cast_mut(),
            ulInfoLen: info.len() as CK_ULONG,
        };
        let mut mechanism = CK_MECHANISM {
            mechanism: CKM_HKDF_DATA,
            pParameter: (&raw const parameters).cast_mut().cast(),
            ulParameterLen: size_of_val(&parameters) as CK_ULONG,
        };
        let mut template = [
            attribute(CKA_CLASS, &[CKO_DATA]),
            attribute::<CK_ULONG>(CKA_VALUE_LEN, &[12]),
        ];
        let mut data = 0;
        let derived = call!(
            functions,
            C_DeriveKey(
                session,
                &raw mut mechanism,
                secret,
                template.as_mut_ptr(),
                2,
                &raw mut data
            )
        );
        assert_eq!(derived, CKR_OK);
        assert_eq!(value(functions, session, data, CKA_VALUE).len(), 12);
    }
}
