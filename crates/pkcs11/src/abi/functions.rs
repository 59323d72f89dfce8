//! The functions that the module has, in the standard's order (PKCS #11, 5), but for those with files of their own:
//! `ciphers`, `messages`, `signatures`.
//!
//! What each pointer leads to is the program's word: the standard's, for that function.
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "what each pointer leads to is the program's word"
)]

use std::ffi::{CStr, c_void};

use cryptoki_sys::*;

use super::arguments::{Output, Place, bytes, list, room};
use super::lists::{INTERFACES, LIST_2_40, NEWEST, find};
use super::template::{self, Template};
use super::{answer, enter, go_on, mechanism, within};
use crate::error::Error;
use crate::mechanism::all as all_mechanisms;
use crate::module::{Module, Threads};
use crate::slot;

type Session = CK_SESSION_HANDLE;
type Object = CK_OBJECT_HANDLE;

// General purpose

pub(super) unsafe extern "C" fn C_Initialize(arguments: *mut c_void) -> CK_RV {
    enter(|| {
        outboard_guest::silence();
        let given = unsafe { arguments.cast::<CK_C_INITIALIZE_ARGS>().as_ref() };
        let may_start =
            given.is_none_or(|given| given.flags & CKF_LIBRARY_CANT_CREATE_OS_THREADS == 0);
        if let Some(given) = given {
            let functions = [
                given.CreateMutex.is_some(),
                given.DestroyMutex.is_some(),
                given.LockMutex.is_some(),
                given.UnlockMutex.is_some(),
            ];
            let all = functions.iter().all(|&is_there| is_there);
            if !given.pReserved.is_null() || (functions.contains(&true) && !all) {
                return Err(CKR_ARGUMENTS_BAD.into());
            }
            // The program's own locks alone, which the module has no use for.
            if all && given.flags & CKF_OS_LOCKING_OK == 0 {
                return Err(CKR_CANT_LOCK.into());
            }
        }
        Module::initialise(&Threads { may_start })
    })
}

pub(super) unsafe extern "C" fn C_Finalize(reserved: *mut c_void) -> CK_RV {
    answer(|module| match reserved.is_null() {
        true => module.finalise(),
        false => Err(CKR_ARGUMENTS_BAD.into()),
    })
}

pub(super) unsafe extern "C" fn C_GetInfo(info: *mut CK_INFO) -> CK_RV {
    answer(|_| {
        unsafe { Place::new(info)? }.put(slot::library_info(NEWEST));
        Ok(())
    })
}

/// What every program looks up first: the table of version 2.40.
///
/// # Safety
/// `table` is null or leads to a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetFunctionList(table: *mut *mut CK_FUNCTION_LIST) -> CK_RV {
    enter(|| {
        unsafe { Place::new(table)? }.put((&raw const LIST_2_40).cast_mut());
        Ok(())
    })
}

/// The interfaces: the same functions, by version.
///
/// # Safety
/// `count` is null or leads to a number, `interfaces` is null or has room for as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetInterfaceList(
    interfaces: *mut CK_INTERFACE,
    count: *mut CK_ULONG,
) -> CK_RV {
    enter(|| unsafe { list(&INTERFACES.each_ref().map(|one| one.0), interfaces, count) })
}

/// The interface of a name and a version.
///
/// # Safety
/// `name` is null or a terminated text, `version` is null or leads to a version, `found` is null or leads to a place for a
/// pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetInterface(
    name: *mut CK_UTF8CHAR,
    version: *mut CK_VERSION,
    found: *mut *mut CK_INTERFACE,
    flags: CK_FLAGS,
) -> CK_RV {
    enter(|| {
        let place = unsafe { Place::new(found)? };
        let name = match name.is_null() {
            true => None,
            false => Some(unsafe { CStr::from_ptr(name.cast()) }.to_bytes()),
        };
        let version = unsafe { version.as_ref() }.copied();
        let interface = find(name, version, flags).ok_or(CKR_ARGUMENTS_BAD)?;
        place.put((&raw const interface.0).cast_mut());
        Ok(())
    })
}

// Slots and tokens

pub(super) unsafe extern "C" fn C_GetSlotList(
    _with_token: CK_BBOOL,
    slots: *mut CK_SLOT_ID,
    count: *mut CK_ULONG,
) -> CK_RV {
    answer(|module| {
        let there = module.slots(slots.is_null());
        let ids: Vec<CK_SLOT_ID> = there.iter().map(|slot| slot.id()).collect();
        unsafe { list(&ids, slots, count) }
    })
}

pub(super) unsafe extern "C" fn C_GetSlotInfo(id: CK_SLOT_ID, info: *mut CK_SLOT_INFO) -> CK_RV {
    answer(|module| {
        let slot = module.slot(id)?;
        unsafe { Place::new(info)? }.put(module.slot_info(slot));
        Ok(())
    })
}

pub(super) unsafe extern "C" fn C_GetTokenInfo(id: CK_SLOT_ID, info: *mut CK_TOKEN_INFO) -> CK_RV {
    answer(|module| {
        let place = unsafe { Place::new(info)? };
        place.put(module.token_info(module.slot(id)?)?);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn C_WaitForSlotEvent(
    flags: CK_FLAGS,
    _slot: *mut CK_SLOT_ID,
    _reserved: *mut c_void,
) -> CK_RV {
    // No slot ever changes.
    answer(|_| match flags & CKF_DONT_BLOCK {
        0 => Err(CKR_FUNCTION_NOT_SUPPORTED.into()),
        _ => Err(CKR_NO_EVENT.into()),
    })
}

pub(super) unsafe extern "C" fn C_GetMechanismList(
    id: CK_SLOT_ID,
    mechanisms: *mut CK_MECHANISM_TYPE,
    count: *mut CK_ULONG,
) -> CK_RV {
    answer(|module| {
        let slot = module.slot(id)?;
        let kinds = all_mechanisms().map(|(kind, _)| kind);
        let kinds: Vec<_> = kinds
            .filter(|&kind| module.tokens.allow(slot, kind))
            .collect();
        unsafe { list(&kinds, mechanisms, count) }
    })
}

pub(super) unsafe extern "C" fn C_GetMechanismInfo(
    id: CK_SLOT_ID,
    kind: CK_MECHANISM_TYPE,
    info: *mut CK_MECHANISM_INFO,
) -> CK_RV {
    answer(|module| {
        module.admit(module.slot(id)?, kind)?;
        let found = all_mechanisms().find(|(known, _)| *known == kind);
        let (_, found) = found.ok_or(CKR_MECHANISM_INVALID)?;
        unsafe { Place::new(info)? }.put(found);
        Ok(())
    })
}

// Sessions

pub(super) unsafe extern "C" fn C_OpenSession(
    id: CK_SLOT_ID,
    flags: CK_FLAGS,
    _application: *mut c_void,
    _notify: CK_NOTIFY,
    session: *mut Session,
) -> CK_RV {
    answer(|module| {
        let place = unsafe { Place::new(session)? };
        place.put(module.open(module.slot(id)?, flags)?);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn C_CloseSession(session: Session) -> CK_RV {
    within(session, |module| module.close(session))
}

pub(super) unsafe extern "C" fn C_CloseAllSessions(id: CK_SLOT_ID) -> CK_RV {
    answer(|module| {
        module.close_all(module.slot(id)?);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn C_GetSessionInfo(
    session: Session,
    info: *mut CK_SESSION_INFO,
) -> CK_RV {
    within(session, |module| {
        let place = unsafe { Place::new(info)? };
        let slot = module.session(session, |session| session.slot)?;
        let role = module.tokens.role(slot);
        place.put(module.session(session, |session| session.info(role))?);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn C_SessionCancel(session: Session, flags: CK_FLAGS) -> CK_RV {
    within(session, |module| {
        module.session(session, |session| session.cancel(flags))
    })
}

pub(super) unsafe extern "C" fn C_GetSessionValidationFlags(
    session: Session,
    _kind: CK_SESSION_VALIDATION_FLAGS_TYPE,
    flags: *mut CK_FLAGS,
) -> CK_RV {
    within(session, |module| {
        let place = unsafe { Place::new(flags)? };
        module.session(session, |_| ())?;
        place.put(0);
        Ok(())
    })
}

// Objects

pub(super) unsafe extern "C" fn C_CreateObject(
    session: Session,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    object: *mut Object,
) -> CK_RV {
    within(session, |module| {
        let place = unsafe { Place::new(object)? };
        let template = unsafe { Template::new(attributes, count)? };
        place.put(module.create(session, &template)?);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn C_CopyObject(
    session: Session,
    object: Object,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    copy: *mut Object,
) -> CK_RV {
    within(session, |module| {
        let place = unsafe { Place::new(copy)? };
        let template = unsafe { Template::new(attributes, count)? };
        place.put(module.copy(session, object, &template)?);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn C_DestroyObject(session: Session, object: Object) -> CK_RV {
    within(session, |module| module.destroy(session, object))
}

pub(super) unsafe extern "C" fn C_GetObjectSize(
    session: Session,
    object: Object,
    size: *mut CK_ULONG,
) -> CK_RV {
    within(session, |module| {
        let place = unsafe { Place::new(size)? };
        let object = module.object(session, object, CKR_OBJECT_HANDLE_INVALID)?;
        place.put(object.attributes.kept().len() as CK_ULONG);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn C_GetAttributeValue(
    session: Session,
    object: Object,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
) -> CK_RV {
    within(session, |module| {
        let object = module.object(session, object, CKR_OBJECT_HANDLE_INVALID)?;
        unsafe { template::answer(attributes, count, |kind| object.attributes.tell(kind)) }
    })
}

pub(super) unsafe extern "C" fn C_SetAttributeValue(
    session: Session,
    object: Object,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
) -> CK_RV {
    within(session, |module| {
        let template = unsafe { Template::new(attributes, count)? };
        module.change(session, object, &template)
    })
}

pub(super) unsafe extern "C" fn C_FindObjectsInit(
    session: Session,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
) -> CK_RV {
    within(session, |module| {
        let template = unsafe { Template::new(attributes, count)? };
        module.search(session, &template)
    })
}

pub(super) unsafe extern "C" fn C_FindObjects(
    session: Session,
    objects: *mut Object,
    most: CK_ULONG,
    count: *mut CK_ULONG,
) -> CK_RV {
    within(session, |module| {
        let place = unsafe { Place::new(count)? };
        if objects.is_null() && most > 0 {
            return Err(CKR_ARGUMENTS_BAD.into());
        }
        let found = module.found(session, usize::try_from(most).unwrap_or(usize::MAX))?;
        unsafe { std::ptr::copy_nonoverlapping(found.as_ptr(), objects, found.len()) };
        place.put(found.len() as CK_ULONG);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn C_FindObjectsFinal(session: Session) -> CK_RV {
    within(session, |module| {
        module.take(session, |session| &mut session.found).map(drop)
    })
}

// Digests

pub(super) unsafe extern "C" fn C_DigestInit(
    session: Session,
    mechanism: *mut CK_MECHANISM,
) -> CK_RV {
    within(session, |module| {
        // No mechanism: what is under way is given up (PKCS #11 3.0), as in the functions below.
        if mechanism.is_null() {
            return module
                .take(session, |session| &mut session.digest)
                .map(drop);
        }
        let mechanism = unsafe { mechanism::read(mechanism)? };
        module.digest_init(session, &mechanism)
    })
}

pub(super) unsafe extern "C" fn C_Digest(
    session: Session,
    data: *mut CK_BYTE,
    length: CK_ULONG,
    digest: *mut CK_BYTE,
    digest_length: *mut CK_ULONG,
) -> CK_RV {
    go_on(
        session,
        |session| &mut session.digest,
        |module| {
            let (data, output) =
                unsafe { (bytes(data, length)?, Output::new(digest, digest_length)?) };
            module.digest_final(session, Some(data), output)
        },
    )
}

pub(super) unsafe extern "C" fn C_DigestUpdate(
    session: Session,
    part: *mut CK_BYTE,
    length: CK_ULONG,
) -> CK_RV {
    go_on(
        session,
        |session| &mut session.digest,
        |module| module.digest_update(session, unsafe { bytes(part, length)? }),
    )
}

pub(super) unsafe extern "C" fn C_DigestKey(session: Session, key: Object) -> CK_RV {
    within(session, |module| module.digest_key(session, key))
}

pub(super) unsafe extern "C" fn C_DigestFinal(
    session: Session,
    digest: *mut CK_BYTE,
    digest_length: *mut CK_ULONG,
) -> CK_RV {
    go_on(
        session,
        |session| &mut session.digest,
        |module| {
            let output = unsafe { Output::new(digest, digest_length)? };
            module.digest_final(session, None, output)
        },
    )
}

// Keys

pub(super) unsafe extern "C" fn C_GenerateKey(
    session: Session,
    mechanism: *mut CK_MECHANISM,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    key: *mut Object,
) -> CK_RV {
    within(session, |module| {
        let place = unsafe { Place::new(key)? };
        let mechanism = unsafe { mechanism::read(mechanism)? };
        let template = unsafe { Template::new(attributes, count)? };
        place.put(module.generate(session, &mechanism, &template)?);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn C_GenerateKeyPair(
    session: Session,
    mechanism: *mut CK_MECHANISM,
    public: *mut CK_ATTRIBUTE,
    public_count: CK_ULONG,
    private: *mut CK_ATTRIBUTE,
    private_count: CK_ULONG,
    public_key: *mut Object,
    private_key: *mut Object,
) -> CK_RV {
    within(session, |module| {
        let places = unsafe { (Place::new(public_key)?, Place::new(private_key)?) };
        let mechanism = unsafe { mechanism::read(mechanism)? };
        let public = unsafe { Template::new(public, public_count)? };
        let private = unsafe { Template::new(private, private_count)? };
        let made = module.generate_pair(session, &mechanism, &public, &private)?;
        places.0.put(made.0);
        places.1.put(made.1);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn C_DeriveKey(
    session: Session,
    mechanism: *mut CK_MECHANISM,
    base: Object,
    attributes: *mut CK_ATTRIBUTE,
    count: CK_ULONG,
    key: *mut Object,
) -> CK_RV {
    within(session, |module| {
        let place = unsafe { Place::new(key)? };
        let mechanism = unsafe { mechanism::read(mechanism)? };
        let template = unsafe { Template::new(attributes, count)? };
        place.put(module.derive(session, &mechanism, base, &template)?);
        Ok(())
    })
}

// Random numbers

pub(super) unsafe extern "C" fn C_SeedRandom(
    session: Session,
    seed: *mut CK_BYTE,
    length: CK_ULONG,
) -> CK_RV {
    within(session, |module| {
        module.session(session, |_| ())?;
        unsafe { bytes(seed, length)? };
        Err(CKR_RANDOM_SEED_NOT_SUPPORTED.into())
    })
}

pub(super) unsafe extern "C" fn C_GenerateRandom(
    session: Session,
    random: *mut CK_BYTE,
    length: CK_ULONG,
) -> CK_RV {
    within(session, |module| {
        module.session(session, |_| ())?;
        let random = unsafe { room(random, length)? };
        outboard_engine::scalar::randomise(random).map_err(Error::from)
    })
}

// Functions of old that all modules answer alike

pub(super) unsafe extern "C" fn C_GetFunctionStatus(_session: Session) -> CK_RV {
    answer(|_| Err(CKR_FUNCTION_NOT_PARALLEL.into()))
}

pub(super) unsafe extern "C" fn C_CancelFunction(_session: Session) -> CK_RV {
    answer(|_| Err(CKR_FUNCTION_NOT_PARALLEL.into()))
}
