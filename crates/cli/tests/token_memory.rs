//! The memory of a program that was logged in to a token: no PIN, no ticket and no secret key stays there after it has logged out, or
//! has finalised the module.

mod common;

use common::calls::{attribute, call, found, functions, mechanism};
use common::service::Service;
use common::tokens::{self, PINS};
use cryptoki_sys::*;
use outboard_administration::{Reply, Role, Secret, TokenRequest};
use outboard_programs::child::ends_well;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::ptr::null_mut;
use zeroize::Zeroizing;

/// Bytes that this process knows without having them: each byte is stored masked.
struct Hidden(Vec<u8>);

const MASK: u8 = 0x5a;

impl Hidden {
    /// Reads what another process has drawn.
    fn of(file: &std::path::Path) -> Self {
        Self(fs::read(file).expect("it was written"))
    }

    /// The bytes themselves, as long as they are needed.
    fn shown(&self) -> Zeroizing<Vec<u8>> {
        let mut shown = Zeroizing::new(vec![0; self.0.len()]);
        for (place, byte) in shown.iter_mut().zip(&self.0) {
            *place = byte ^ MASK;
        }
        shown
    }

    /// Whether they are in the memory of this process.
    fn is_there(&self) -> bool {
        let maps = fs::read_to_string("/proc/self/maps").expect("Linux");
        let memory = File::open("/proc/self/mem").expect("a process may read its own memory");
        // What is found is not to be found there the next time.
        let mut page = Zeroizing::new(vec![0; 4096 + self.0.len()]);
        let writable = maps.lines().filter(|line| line.contains(" rw"));
        for line in writable {
            let range = line
                .split(' ')
                .next()
                .and_then(|range| range.split_once('-'));
            let (start, end) = range.expect("a range");
            let number = |digits| u64::from_str_radix(digits, 16).expect("a number");
            for at in (number(start)..number(end)).step_by(4096) {
                // The last page has nothing behind it; some cannot be read.
                let read = memory.read_at(&mut page, at).unwrap_or_default();
                let is_it = |window: &[u8]| {
                    let mut pairs = window.iter().zip(&self.0);
                    pairs.all(|(byte, hidden)| byte ^ MASK == *hidden)
                };
                let page = &page[..read];
                if page.contains(&(self.0[0] ^ MASK)) && page.windows(self.0.len()).any(is_it) {
                    return true;
                }
            }
        }
        false
    }
}

/// Hides bytes in a file.
fn hide(bytes: &[u8], file: &std::path::Path) {
    let hidden: Vec<u8> = bytes.iter().map(|byte| byte ^ MASK).collect();
    fs::write(file, hidden).expect("it is ours");
}

#[test]
fn nothing_secret_stays() {
    let service = Service::start();
    let slot = tokens::create(&service, "web", true).slot;
    let files = ["pin", "ticket", "value"].map(|name| service.path(name));
    // Another process draws the PIN and the value of a key, and learns the ticket, which is the same for each login of a user.
    let prepared = ends_well(|| {
        let drawn = || {
            let mut drawn = [0; 24];
            let random = File::open("/dev/urandom").expect("Linux");
            random.read_exact_at(&mut drawn, 0).expect("randomness");
            drawn
        };
        let pin = drawn();
        let (role, old, new) = (
            Role::User,
            Secret::new(PINS.1.as_bytes()),
            Secret::new(&pin),
        );
        tokens::ask(&service, "web", TokenRequest::SetPin { role, old, new });
        let login = TokenRequest::Login {
            role,
            pin: Some(Secret::new(&pin)),
        };
        let Reply::Ticket { ticket } = tokens::ask(&service, "web", login) else {
            return false;
        };
        hide(&pin, &files[0]);
        hide(&ticket.0, &files[1]);
        hide(&drawn(), &files[2]);
        true
    });
    assert!(prepared);
    let [pin, ticket, value] = files.each_ref().map(|file| Hidden::of(file));
    let there = || [&pin, &ticket, &value].map(Hidden::is_there);

    // SAFETY: this process has one test, and nobody else reads the environment now.
    unsafe { std::env::set_var("OUTBOARD_PKCS11", tokens::settings(&service)) };
    let functions = functions();
    assert_eq!(call!(functions, C_Initialize(null_mut())), CKR_OK);
    let mut count = 0;
    call!(
        functions,
        C_GetSlotList(CK_TRUE, null_mut(), &raw mut count)
    );
    let mut session = 0;
    let flags = CKF_SERIAL_SESSION | CKF_RW_SESSION;
    let opened = call!(
        functions,
        C_OpenSession(slot, flags, null_mut(), None, &raw mut session)
    );
    assert_eq!(opened, CKR_OK);
    let log_in = || {
        let mut shown = pin.shown();
        assert!(pin.is_there(), "so that the test can fail");
        let length = shown.len() as CK_ULONG;
        let place = shown.as_mut_ptr();
        let done = call!(functions, C_Login(session, CKU_USER, place, length));
        assert_eq!(done, CKR_OK);
    };
    let find = || {
        // The objects that tell the token's profiles stay.
        let mut stays_not = [attribute(CKA_DESTROYABLE, &[CK_TRUE])];
        found(functions, session, &mut stays_not).len()
    };
    assert_eq!(there(), [false; 3]);
    log_in();
    {
        let value = value.shown();
        let (class, kind) = ([CKO_SECRET_KEY], [CKK_GENERIC_SECRET]);
        let mut template = [
            attribute(CKA_CLASS, &class),
            attribute(CKA_KEY_TYPE, &kind),
            attribute(CKA_TOKEN, &[CK_TRUE]),
            attribute(CKA_VALUE, &value),
        ];
        let mut key = 0;
        let place = template.as_mut_ptr();
        let made = call!(functions, C_CreateObject(session, place, 4, &raw mut key));
        assert_eq!(made, CKR_OK);
    }
    // A request of many bytes, which its buffer grows for.
    let mut edwards = mechanism(CKM_EC_EDWARDS_KEY_PAIR_GEN);
    let (curve, mut keys) = (b"\x06\x03\x2b\x65\x70", [0; 2]);
    let mut public = [
        attribute(CKA_TOKEN, &[CK_TRUE]),
        attribute(CKA_EC_PARAMS, curve),
    ];
    let mut private = [attribute(CKA_TOKEN, &[CK_TRUE])];
    let (public, private) = (public.as_mut_ptr(), private.as_mut_ptr());
    let [first, second] = keys.each_mut().map(|key| &raw mut *key);
    let edwards = &raw mut edwards;
    let made = call!(
        functions,
        C_GenerateKeyPair(session, edwards, public, 2, private, 1, first, second)
    );
    assert_eq!(made, CKR_OK);
    let (mut eddsa, mut message) = (mechanism(CKM_EDDSA), [7; 20_000]);
    let begun = call!(functions, C_SignInit(session, &raw mut eddsa, keys[1]));
    assert_eq!(begun, CKR_OK);
    let (mut signature, mut length) = ([0; 64], 64);
    let (message, signature) = (message.as_mut_ptr(), signature.as_mut_ptr());
    let signed = call!(
        functions,
        C_Sign(session, message, 20_000, signature, &raw mut length)
    );
    assert_eq!(signed, CKR_OK);
    // So that the test can fail: who is logged in has the ticket and the key.
    assert_eq!(there(), [false, true, true]);
    assert_eq!(call!(functions, C_Logout(session)), CKR_OK);
    assert_eq!(there(), [false; 3], "after logging out");
    assert_eq!(find(), 1, "the public half");
    log_in();
    assert_eq!(find(), 3);
    assert_eq!(there(), [false, true, true]);
    assert_eq!(call!(functions, C_Finalize(null_mut())), CKR_OK);
    assert_eq!(there(), [false; 3], "at the end");
}
