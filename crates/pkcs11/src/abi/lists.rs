//! The three tables of functions, and the interfaces that name them.

use std::ptr;

use cryptoki_sys::*;

use super::asynchronous::*;
use super::ciphers::*;
use super::encapsulation::*;
use super::functions::*;
use super::messages::*;
use super::signatures::*;
use super::tokens::*;
use super::unsupported::*;

macro_rules! tables {
    (
        { $($first:ident)* } { $($second:ident)* } { $($third:ident)* }
    ) => {
        pub(super) static LIST_2_40: CK_FUNCTION_LIST = CK_FUNCTION_LIST {
            version: CK_VERSION { major: 2, minor: 40 },
            $($first: Some($first),)*
        };
        static LIST_3_0: CK_FUNCTION_LIST_3_0 = CK_FUNCTION_LIST_3_0 {
            version: CK_VERSION { major: 3, minor: 0 },
            $($first: Some($first),)*
            $($second: Some($second),)*
        };
        static LIST_3_2: CK_FUNCTION_LIST_3_2 = CK_FUNCTION_LIST_3_2 {
            version: NEWEST,
            $($first: Some($first),)*
            $($second: Some($second),)*
            $($third: Some($third),)*
        };
    };
}

/// The newest version of the interface that the module has.
pub(super) const NEWEST: CK_VERSION = CK_VERSION { major: 3, minor: 2 };

tables! {
    {
        C_Initialize C_Finalize C_GetInfo C_GetFunctionList
        C_GetSlotList C_GetSlotInfo C_GetTokenInfo C_GetMechanismList
        C_GetMechanismInfo C_InitToken C_InitPIN C_SetPIN
        C_OpenSession C_CloseSession C_CloseAllSessions C_GetSessionInfo
        C_GetOperationState C_SetOperationState C_Login C_Logout
        C_CreateObject C_CopyObject C_DestroyObject C_GetObjectSize
        C_GetAttributeValue C_SetAttributeValue C_FindObjectsInit C_FindObjects
        C_FindObjectsFinal C_EncryptInit C_Encrypt C_EncryptUpdate
        C_EncryptFinal C_DecryptInit C_Decrypt C_DecryptUpdate
        C_DecryptFinal C_DigestInit C_Digest C_DigestUpdate
        C_DigestKey C_DigestFinal C_SignInit C_Sign
        C_SignUpdate C_SignFinal C_SignRecoverInit C_SignRecover
        C_VerifyInit C_Verify C_VerifyUpdate C_VerifyFinal
        C_VerifyRecoverInit C_VerifyRecover C_DigestEncryptUpdate C_DecryptDigestUpdate
        C_SignEncryptUpdate C_DecryptVerifyUpdate C_GenerateKey C_GenerateKeyPair
        C_WrapKey C_UnwrapKey C_DeriveKey C_SeedRandom
        C_GenerateRandom C_GetFunctionStatus C_CancelFunction C_WaitForSlotEvent
    }
    {
        C_GetInterfaceList C_GetInterface C_LoginUser C_SessionCancel
        C_MessageEncryptInit C_EncryptMessage C_EncryptMessageBegin C_EncryptMessageNext
        C_MessageEncryptFinal C_MessageDecryptInit C_DecryptMessage C_DecryptMessageBegin
        C_DecryptMessageNext C_MessageDecryptFinal C_MessageSignInit C_SignMessage
        C_SignMessageBegin C_SignMessageNext C_MessageSignFinal C_MessageVerifyInit
        C_VerifyMessage C_VerifyMessageBegin C_VerifyMessageNext C_MessageVerifyFinal
    }
    {
        C_EncapsulateKey C_DecapsulateKey C_VerifySignatureInit C_VerifySignature
        C_VerifySignatureUpdate C_VerifySignatureFinal C_GetSessionValidationFlags C_AsyncComplete
        C_AsyncGetID C_AsyncJoin C_WrapKeyAuthenticated C_UnwrapKeyAuthenticated
    }
}

/// An interface, which C may change as little as the tables.
#[repr(transparent)]
pub(super) struct Interface(pub(super) CK_INTERFACE);

// SAFETY: its pointers lead to what never changes.
unsafe impl Sync for Interface {}

const NAME: &[u8] = b"PKCS 11\0";

const fn interface<T>(table: &'static T) -> Interface {
    Interface(CK_INTERFACE {
        pInterfaceName: NAME.as_ptr().cast_mut(),
        pFunctionList: ptr::from_ref(table).cast_mut().cast(),
        flags: CKF_INTERFACE_FORK_SAFE,
    })
}

/// All of them, the newest first: it is the one that a program gets that does not choose.
pub(super) static INTERFACES: [Interface; 3] = [
    interface(&LIST_3_2),
    interface(&LIST_3_0),
    interface(&LIST_2_40),
];

/// The interface of a name, of a version, with those flags; each may be left open.
pub(super) fn find(
    name: Option<&[u8]>,
    version: Option<CK_VERSION>,
    flags: CK_FLAGS,
) -> Option<&'static Interface> {
    const VERSIONS: [(u8, u8); 3] = [(3, 2), (3, 0), (2, 40)];
    let is_it = |(index, interface): &(usize, &Interface)| {
        name.is_none_or(|name| name == NAME.split_last().map_or(NAME, |(_, name)| name))
            && version.is_none_or(|version| VERSIONS[*index] == (version.major, version.minor))
            && interface.0.flags & flags == flags
    };
    let found = INTERFACES.iter().enumerate().find(is_it);
    found.map(|(_, interface)| interface)
}
