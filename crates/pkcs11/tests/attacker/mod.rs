//! Draws calls: each function with arguments that are of its kinds, and mostly wrong.

use std::ffi::c_void;
use std::ptr;

use cryptoki_sys::*;

use super::common::calls::Functions;

/// What the functions take, in the table's order:
/// `a` arguments of `C_Initialize`, `s` a session, `o` an object, `S` a slot, `k` a mechanism's type, `u` a user, `f` flags,
/// `m` a mechanism, `t` a template, `g` a template to be filled, `i` bytes, `q` room for bytes, `l` room for a list,
/// `L` room for interfaces, `h` room for handles, `P` a place for a handle, `p` a place, `N` a name, `F` a function's name,
/// `x` nothing.
#[rustfmt::skip]
const SHAPES: [&str; 104] = [
    // 2.40
    "a", "x", "p", "p", "fl", "Sp", "Sp", "Sl", "Skp", "Sip", "si", "sii",
    "SfxxP", "s", "S", "sp", "sq", "sioo", "sui", "s",
    "stP", "sotP", "so", "sop", "sog", "sot", "st", "sh", "s",
    "smo", "siq", "siq", "sq", "smo", "siq", "siq", "sq",
    "sm", "siq", "si", "so", "sq", "smo", "siq", "si", "sq", "smo", "siq",
    "smo", "sii", "si", "si", "smo", "siq", "siq", "siq", "siq", "siq",
    "smtP", "smttPP", "smooq", "smoitP", "smotP", "si", "si", "s", "s", "Dpx",
    // 3.0
    "L", "NpPf", "suii", "sf",
    "smo", "siiiq", "sii", "siiqf", "s", "smo", "siiiq", "sii", "siiqf", "s",
    "smo", "siiq", "si", "siiq", "s", "smo", "siii", "si", "siii", "s",
    // 3.2
    "smotqP", "smoitP", "smoi", "si", "si", "s", "sfp", "sFp", "sFp", "sFfi", "smooiq", "smoitiP",
];

const OPEN_SESSION: usize = 12;
/// What takes away what other calls work on: seldom.
const ENDS: [usize; 3] = [1, 13, 14];
/// What is there to be worked on, and works on it.
#[rustfmt::skip]
const USEFUL: [u64; 42] = [
    0, 12, 12, 18, 20, 20, 20, 21, 22, 24, 24, 25, 26, 27, 27, 28, 37, 38, 39, 41, 42, 42, 43, 43, 44, 45, 48, 48, 49, 50, 51,
    58, 59, 59, 62, 62, 71, 92, 93, 99, 99, 99,
];

#[rustfmt::skip]
const MECHANISMS: [CK_MECHANISM_TYPE; 32] = [
    CKM_RSA_PKCS_KEY_PAIR_GEN, CKM_RSA_PKCS, CKM_RSA_X_509, CKM_SHA256_RSA_PKCS, CKM_RSA_PKCS_PSS, CKM_SHA384_RSA_PKCS_PSS,
    CKM_EC_KEY_PAIR_GEN, CKM_ECDSA, CKM_ECDSA_SHA256, CKM_ECDSA_SHA512, CKM_ECDH1_DERIVE, CKM_EC_EDWARDS_KEY_PAIR_GEN,
    CKM_EDDSA, CKM_EC_MONTGOMERY_KEY_PAIR_GEN, CKM_GENERIC_SECRET_KEY_GEN, CKM_SHA_1, CKM_SHA256, CKM_SHA3_512, CKM_AES_GCM,
    CKM_AES_KEY_GEN, CKM_SHA256_HMAC, CKM_AES_KEY_WRAP_KWP, CKM_RSA_PKCS_OAEP, CKM_VENDOR_DEFINED, CKM_ML_KEM_KEY_PAIR_GEN,
    CKM_ML_KEM, CKM_ML_DSA_KEY_PAIR_GEN, CKM_ML_DSA, CKM_DES3_KEY_GEN, CKM_DES3_CBC_PAD, CKM_DES3_CMAC, CKM_HKDF_DATA,
];

#[rustfmt::skip]
const ATTRIBUTES: [CK_ATTRIBUTE_TYPE; 43] = [
    CKA_CLASS, CKA_TOKEN, CKA_PRIVATE, CKA_LABEL, CKA_UNIQUE_ID, CKA_APPLICATION, CKA_VALUE, CKA_OBJECT_ID,
    CKA_CERTIFICATE_TYPE, CKA_ISSUER, CKA_SERIAL_NUMBER, CKA_TRUSTED, CKA_CHECK_VALUE, CKA_KEY_TYPE, CKA_SUBJECT, CKA_ID,
    CKA_SENSITIVE, CKA_ENCRYPT, CKA_WRAP, CKA_SIGN, CKA_VERIFY, CKA_DERIVE, CKA_START_DATE, CKA_MODULUS, CKA_MODULUS_BITS,
    CKA_PUBLIC_EXPONENT, CKA_PRIVATE_EXPONENT, CKA_PRIME_1, CKA_PRIME_2, CKA_EXPONENT_1, CKA_EXPONENT_2, CKA_COEFFICIENT,
    CKA_VALUE_LEN, CKA_EXTRACTABLE, CKA_EC_PARAMS, CKA_EC_POINT, CKA_MODIFIABLE, CKA_COPYABLE, CKA_ALLOWED_MECHANISMS,
    CKA_VENDOR_DEFINED, CKA_PARAMETER_SET, CKA_SEED, CKA_ENCAPSULATE,
];

const CURVES: [&[u8]; 6] = [
    b"\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07",
    b"\x06\x05\x2b\x81\x04\x00\x22",
    b"\x06\x05\x2b\x81\x04\x00\x23",
    b"\x06\x03\x2b\x65\x70",
    b"\x06\x03\x2b\x65\x6e",
    b"\x13\x05P-256",
];

/// More than any of a call's buffers.
const MOST: usize = 600;
/// What stands behind a buffer.
const BEHIND: u8 = 0xa5;

/// Somebody who makes calls.
pub(crate) struct Attacker {
    functions: Vec<*const c_void>,
    choices: Choices,
    sessions: Vec<u64>,
    objects: Vec<u64>,
    slot: u64,
    /// The function that is called.
    which: usize,
    /// What this call's pointers lead to.
    memory: Vec<Box<[u64]>>,
    /// The same of calls whose results are outstanding.
    kept: Vec<Box<[u64]>>,
    /// The buffers that it may write to: where, and how long the call was told they are.
    buffers: Vec<(*const u8, usize)>,
    places: Vec<(*const u64, bool)>,
}

/// What the calls are chosen by.
enum Choices {
    /// xorshift64 (Marsaglia 2003)
    Drawn(u64),
    /// Bytes of somebody else, the last one first.
    Given(Vec<u8>),
}

impl Attacker {
    /// Somebody who draws calls, and mostly opens sessions of that slot. In a token's he keeps some of his objects.
    #[allow(dead_code, reason = "the tests'")]
    pub(crate) fn new(functions: &Functions, seed: u64, slot: u64) -> Self {
        let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self::by(functions, Choices::Drawn(seed), slot)
    }

    /// Somebody who makes the calls that those bytes choose.
    #[allow(dead_code, reason = "the fuzzer's")]
    pub(crate) fn led_by(functions: &Functions, bytes: &[u8]) -> Self {
        Self::by(
            functions,
            Choices::Given(bytes.iter().rev().copied().collect()),
            1, // the accelerator
        )
    }

    /// Whether nothing is left to choose calls by.
    #[allow(dead_code, reason = "the fuzzer's")]
    pub(crate) fn is_done(&self) -> bool {
        matches!(&self.choices, Choices::Given(bytes) if bytes.is_empty())
    }

    fn by(functions: &Functions, choices: Choices, slot: u64) -> Self {
        let count = SHAPES.len();
        assert_eq!(
            size_of::<Functions>(),
            (1 + count) * size_of::<*const c_void>()
        );
        // SAFETY: a version, which has a pointer's place, and then a pointer for each function.
        let functions = unsafe {
            let first = ptr::from_ref(functions).cast::<*const c_void>().add(1);
            std::slice::from_raw_parts(first, count)
        };
        Self {
            functions: functions.to_vec(),
            choices,
            sessions: Vec::new(),
            objects: Vec::new(),
            slot,
            which: 0,
            memory: Vec::new(),
            kept: Vec::new(),
            buffers: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Makes one call, and judges what it answers.
    pub(crate) fn call(&mut self) {
        let which = match self.below(4) {
            0 => self.below(SHAPES.len()),
            _ => self.one_of(&USEFUL) as usize,
        };
        if ENDS.contains(&which) && self.below(20) > 0 {
            return;
        }
        self.which = which;
        self.memory.clear();
        self.buffers.clear();
        self.places.clear();
        let mut arguments = Vec::new();
        for kind in SHAPES[which].chars() {
            self.argument(kind, &mut arguments);
        }
        arguments.resize(12, 0);
        let a = &arguments;
        type Function = unsafe extern "C" fn(
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
            u64,
        ) -> CK_RV;
        // SAFETY: all arguments are pointers and numbers, which C passes alike; what is too many is not looked at.
        let answer = unsafe {
            let function: Function = std::mem::transmute(self.functions[which]);
            function(
                a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11],
            )
        };
        let told = || format!("function {which}, arguments {arguments:x?}");
        assert!(answer != CKR_GENERAL_ERROR, "{}", told());
        for &(buffer, length) in &self.buffers {
            // SAFETY: all buffers are that long.
            let behind = unsafe { std::slice::from_raw_parts(buffer.add(length), MOST - length) };
            assert!(behind.iter().all(|&byte| byte == BEHIND), "{}", told());
        }
        if answer == CKR_OK {
            for (place, is_session) in std::mem::take(&mut self.places) {
                // SAFETY: a place for a number.
                let handle = unsafe { place.read() };
                match is_session {
                    true => self.sessions.push(handle),
                    false => self.objects.push(handle),
                }
            }
        }
        // The module may write to it until the operation ends.
        if answer == CKR_PENDING {
            self.kept.append(&mut self.memory);
        }
        if answer == CKR_SESSION_HANDLE_INVALID {
            self.sessions.retain(|&session| session != a[0]);
        }
        for handles in [&mut self.sessions, &mut self.objects] {
            if handles.len() > 64 {
                handles.drain(..32);
            }
        }
    }

    fn argument(&mut self, kind: char, arguments: &mut Vec<u64>) {
        match kind {
            's' => arguments.push(self.handle(true)),
            'o' => arguments.push(self.handle(false)),
            'S' => arguments.push(self.one_of(&[0, 1, self.slot, self.slot, 2, u64::MAX])),
            'k' => arguments.push(self.one_of(&MECHANISMS)),
            'u' => arguments.push(self.one_of(&[CKU_SO, CKU_USER, CKU_CONTEXT_SPECIFIC, 9])),
            'f' if self.which == OPEN_SESSION => {
                arguments.push(self.one_of(&[6, 6, 6, 14, 12, 4, 0, u64::MAX]))
            }
            'f' => arguments.push(self.next() & self.next()),
            'D' => arguments.push(CKF_DONT_BLOCK),
            'm' => arguments.push(self.mechanism()),
            't' | 'g' => self.template(kind == 'g', arguments),
            'i' => {
                let length = self.below(MOST);
                let bytes = self.bytes(length);
                self.with_length(bytes, length, arguments);
            }
            'q' | 'l' | 'L' | 'h' => self.room(kind, arguments),
            'P' | 'p' | 'a' | 'N' | 'F' if self.below(10) == 0 => arguments.push(0),
            'P' => {
                let place = self.take(8, 0);
                self.places.push((place.cast(), self.which == OPEN_SESSION));
                arguments.push(place as u64);
            }
            'p' => arguments.push(self.take(MOST, 0) as u64),
            'N' => {
                let name = self.take(16, 0);
                // SAFETY: room for as many bytes.
                unsafe { ptr::copy_nonoverlapping(b"PKCS 11".as_ptr(), name, 7) };
                arguments.push(name as u64);
            }
            'F' => {
                let names = [
                    &b"C_Sign"[..],
                    b"C_Sign",
                    b"C_SignFinal",
                    b"C_DeriveKey",
                    b"C_Wait",
                ];
                let name = names[self.below(names.len())];
                arguments.push(self.copy(name).0 as u64);
            }
            'a' => {
                let place = self.take(size_of::<CK_C_INITIALIZE_ARGS>(), 0);
                let flags = self.next() & 3;
                // SAFETY: room for the structure, whose functions may be none.
                unsafe { (*place.cast::<CK_C_INITIALIZE_ARGS>()).flags = flags };
                arguments.push(place as u64);
            }
            _ => arguments.push(0),
        }
    }

    fn handle(&mut self, is_session: bool) -> u64 {
        let ours = match is_session {
            true => self.sessions.clone(),
            false => self.objects.clone(),
        };
        match self.below(16) {
            0 => self.one_of(&[0, u64::MAX, 1 << 63]),
            1 => self.below(200) as u64,
            2 if !self.objects.is_empty() => self.one_of(&self.objects.clone()),
            3..8 => ours.last().copied().unwrap_or(1),
            _ if ours.is_empty() => 1,
            _ => self.one_of(&ours),
        }
    }

    /// Bytes with their length; or a wrong pair of those.
    fn with_length(&mut self, bytes: *mut u8, length: usize, arguments: &mut Vec<u64>) {
        let (pointer, length) = match self.below(20) {
            0 => (0, length as u64),
            1 => (bytes as u64, 0),
            2 => (bytes as u64, u64::MAX - self.next() % 1000),
            3 => (0, u64::MAX),
            _ => (bytes as u64, length as u64),
        };
        arguments.extend([pointer, length]);
    }

    /// Room for so many results, of which the call is told.
    fn room(&mut self, kind: char, arguments: &mut Vec<u64>) {
        let size = match kind {
            'q' => 1,
            'L' => size_of::<CK_INTERFACE>(),
            _ => 8,
        };
        let count = self.below(MOST / size);
        let buffer = self.take(MOST, BEHIND);
        self.buffers.push((buffer, count * size));
        let told = self.take(8, 0);
        let is_small = self.below(4) == 0;
        let number = if is_small { count.min(1) } else { count } as u64;
        // SAFETY: a place for a number.
        unsafe { told.cast::<u64>().write(number) };
        let buffer = if self.below(8) == 0 {
            ptr::null_mut()
        } else {
            buffer
        };
        let told = if self.below(16) == 0 {
            ptr::null_mut()
        } else {
            told
        };
        match kind {
            'h' => arguments.extend([buffer as u64, number, told as u64]),
            _ => arguments.extend([buffer as u64, told as u64]),
        }
    }

    fn mechanism(&mut self) -> u64 {
        if self.below(20) == 0 {
            return 0;
        }
        let fitting: &[CK_MECHANISM_TYPE] = match self.which {
            37 => &[CKM_SHA_1, CKM_SHA256, CKM_SHA3_512],
            42 | 48 => &[
                CKM_ECDSA,
                CKM_ECDSA_SHA256,
                CKM_ECDSA_SHA512,
                CKM_EDDSA,
                CKM_RSA_PKCS,
                CKM_SHA384_RSA_PKCS_PSS,
                CKM_ML_DSA,
            ],
            58 => &[CKM_GENERIC_SECRET_KEY_GEN, CKM_DES3_KEY_GEN],
            59 => &[
                CKM_EC_KEY_PAIR_GEN,
                CKM_EC_EDWARDS_KEY_PAIR_GEN,
                CKM_EC_MONTGOMERY_KEY_PAIR_GEN,
                CKM_ML_KEM_KEY_PAIR_GEN,
                CKM_ML_DSA_KEY_PAIR_GEN,
            ],
            92 | 93 => &[CKM_ML_KEM],
            62 => &[CKM_ECDH1_DERIVE],
            _ => &MECHANISMS,
        };
        let kind = match self.below(5) {
            0 => self.one_of(&MECHANISMS),
            _ => self.one_of(fitting),
        };
        let length = match (kind, self.below(8)) {
            (CKM_DES3_CBC_PAD, _) => 8,
            (_, 0) => self.one_of(&[0, 1, 8, 24, 40, 48, 100]) as usize,
            (CKM_RSA_PKCS_PSS | CKM_SHA384_RSA_PKCS_PSS, _) => size_of::<CK_RSA_PKCS_PSS_PARAMS>(),
            (CKM_ECDH1_DERIVE, _) => size_of::<CK_ECDH1_DERIVE_PARAMS>(),
            _ => 0,
        };
        let parameter = self.parameter(kind, length);
        let place = self.take(size_of::<CK_MECHANISM>(), 0);
        let raw = CK_MECHANISM {
            mechanism: kind,
            pParameter: if self.below(16) == 0 {
                ptr::null_mut()
            } else {
                parameter.cast()
            },
            ulParameterLen: length as u64,
        };
        // SAFETY: room for it.
        unsafe { place.cast::<CK_MECHANISM>().write(raw) };
        place as u64
    }

    /// A parameter without wild pointers: those in it lead to bytes of ours, or nowhere.
    fn parameter(&mut self, kind: CK_MECHANISM_TYPE, length: usize) -> *mut u8 {
        let parameter = self.take(length.max(100), 0);
        let numbers: Vec<u64> = match kind {
            CKM_RSA_PKCS_PSS | CKM_SHA384_RSA_PKCS_PSS => {
                let salt = self.one_of(&[0, 20, 32, 48, 64, 1000, u64::MAX]);
                let hash = self.one_of(&[CKM_SHA256, CKM_SHA384, CKM_SHA_1, 77]);
                vec![hash, self.one_of(&[1, 2, 3, 4, 99]), salt]
            }
            CKM_ECDH1_DERIVE => {
                let bytes = self.bytes(300) as u64;
                let public = self.one_of(&[0, 31, 32, 65, 67, 97, 300, u64::MAX]);
                let derivation = self.one_of(&[CKD_NULL, CKD_NULL, CKD_NULL, 2, 77]);
                vec![derivation, 0, 0, public, bytes]
            }
            CKM_EDDSA => vec![self.next() & 1, self.below(2) as u64, 0],
            _ => Vec::new(),
        };
        let most = (length / 8).min(numbers.len());
        // SAFETY: room for more.
        unsafe { ptr::copy_nonoverlapping(numbers.as_ptr(), parameter.cast(), most) };
        parameter
    }

    fn template(&mut self, is_room: bool, arguments: &mut Vec<u64>) {
        let mut attributes = match is_room {
            true => Vec::new(),
            false => self.sensible(),
        };
        let more: &[u64] = if is_room {
            &[1, 2, 8]
        } else {
            &[0, 0, 0, 0, 1, 2, 8]
        };
        for _ in 0..self.one_of(more) {
            let kind = self.one_of(&ATTRIBUTES);
            let (value, length) = self.value(kind);
            attributes.push(CK_ATTRIBUTE {
                type_: kind,
                pValue: value.cast(),
                ulValueLen: length as u64,
            });
        }
        if is_room {
            for attribute in &mut attributes {
                let length = self.below(MOST);
                let buffer = self.take(MOST, BEHIND);
                self.buffers.push((buffer, length));
                attribute.ulValueLen = length as u64;
                attribute.pValue = if self.below(4) == 0 {
                    ptr::null_mut()
                } else {
                    buffer.cast()
                };
            }
        } else if !attributes.is_empty() && self.below(6) == 0 {
            let at = self.below(attributes.len());
            match self.below(5) {
                0 => drop(attributes.remove(at)),
                1 => attributes.push(attributes[at]),
                2 => {
                    attributes[at].ulValueLen =
                        self.one_of(&[0, 1, 3, u64::MAX, u64::MAX >> 1 | 1 << 63])
                }
                3 => attributes[at].pValue = ptr::null_mut(),
                _ => attributes[at].type_ = self.one_of(&ATTRIBUTES),
            }
            // No longer than what is there.
            let attribute = attributes.get_mut(at);
            if let Some(attribute) = attribute
                && attribute.ulValueLen < 1 << 63
            {
                attribute.ulValueLen = attribute.ulValueLen.min(MOST as u64);
            }
        }
        let place = self.take(size_of_val(&attributes[..]).max(8), 0);
        // SAFETY: room for them all.
        unsafe { ptr::copy_nonoverlapping(attributes.as_ptr(), place.cast(), attributes.len()) };
        let (place, count) = match self.below(24) {
            0 => (0, attributes.len() as u64),
            1 => (place as u64, u64::MAX),
            2 => (place as u64, 1 << 61),
            3 => (0, 0),
            _ => (place as u64, attributes.len() as u64),
        };
        arguments.extend([place, count]);
    }

    /// A template of something that can be made, but for its numbers.
    fn sensible(&mut self) -> Vec<CK_ATTRIBUTE> {
        let kinds: &[(CK_ATTRIBUTE_TYPE, u64)] = match (self.which, self.below(8)) {
            (20, 0) => &[(CKA_CLASS, CKO_DATA)],
            (20, 1 | 2) => &[
                (CKA_CLASS, CKO_SECRET_KEY),
                (CKA_KEY_TYPE, CKK_GENERIC_SECRET),
                (CKA_VALUE, 0),
            ],
            (20, 3 | 4) => &[
                (CKA_CLASS, CKO_PRIVATE_KEY),
                (CKA_KEY_TYPE, CKK_EC),
                (CKA_EC_PARAMS, 0),
                (CKA_VALUE, 0),
            ],
            (20, 5) => &[
                (CKA_CLASS, CKO_PUBLIC_KEY),
                (CKA_KEY_TYPE, CKK_RSA),
                (CKA_MODULUS, 0),
                (CKA_PUBLIC_EXPONENT, 0),
            ],
            (20, _) => &[
                (CKA_CLASS, CKO_PRIVATE_KEY),
                (CKA_KEY_TYPE, CKK_EC_EDWARDS),
                (CKA_EC_PARAMS, 3),
                (CKA_VALUE, 32),
            ],
            (58, _) => &[(CKA_VALUE_LEN, 16)],
            // The private half, too, is offered parameters.
            (59, 0 | 1) => &[(CKA_PARAMETER_SET, 0)],
            (59, _) => &[(CKA_EC_PARAMS, 0)],
            _ => &[],
        };
        let mut attributes = Vec::new();
        let keeps = self.slot > 1 && self.below(2) == 0;
        let kept = [(CKA_TOKEN, 0)];
        for &(kind, number) in kinds.iter().chain(kept.iter().filter(|_| keeps)) {
            let (value, length) = match (kind, number) {
                (CKA_CLASS | CKA_KEY_TYPE | CKA_VALUE_LEN, _) => self.number(number),
                (CKA_EC_PARAMS, 3) => self.copy(CURVES[3]),
                (CKA_TOKEN, _) => self.copy(&[CK_TRUE]),
                (CKA_VALUE, 32) => (self.bytes(32), 32),
                _ => self.value(kind),
            };
            attributes.push(CK_ATTRIBUTE {
                type_: kind,
                pValue: value.cast(),
                ulValueLen: length as u64,
            });
        }
        attributes
    }

    /// A value that an attribute could have.
    fn value(&mut self, kind: CK_ATTRIBUTE_TYPE) -> (*mut u8, usize) {
        match kind {
            CKA_CLASS => {
                let class = self.one_of(&[
                    CKO_DATA,
                    CKO_CERTIFICATE,
                    CKO_PUBLIC_KEY,
                    CKO_PRIVATE_KEY,
                    CKO_SECRET_KEY,
                    99,
                ]);
                self.number(class)
            }
            CKA_KEY_TYPE => {
                let kind = self.one_of(&[
                    CKK_RSA,
                    CKK_EC,
                    CKK_EC_EDWARDS,
                    CKK_EC_MONTGOMERY,
                    CKK_GENERIC_SECRET,
                    CKK_AES,
                    CKK_DES3,
                    CKK_ML_KEM,
                    CKK_ML_DSA,
                ]);
                self.number(kind)
            }
            CKA_PARAMETER_SET => {
                let set = self.one_of(&[1, 1, 2, 3, 0, u64::MAX]);
                self.number(set)
            }
            CKA_MODULUS_BITS => {
                let bits = self.one_of(&[0, 512, 2049, 4097, u64::MAX]);
                self.number(bits)
            }
            CKA_VALUE_LEN => {
                let length = self.one_of(&[0, 1, 16, 5000, u64::MAX]);
                self.number(length)
            }
            CKA_EC_PARAMS => {
                let curve = self.below(CURVES.len());
                self.copy(CURVES[curve])
            }
            CKA_VALUE | CKA_EC_POINT => {
                let length = self.one_of(&[0, 1, 31, 32, 48, 65, 66, 67, 300]) as usize;
                (self.bytes(length), length)
            }
            CKA_PUBLIC_EXPONENT => self.copy(b"\x01\x00\x01"),
            _ if self.below(2) == 0 => (self.bytes(1), 1),
            _ => {
                let length = self.below(MOST);
                (self.bytes(length), length)
            }
        }
    }

    fn number(&mut self, number: u64) -> (*mut u8, usize) {
        self.copy(&number.to_ne_bytes())
    }

    fn copy(&mut self, bytes: &[u8]) -> (*mut u8, usize) {
        let place = self.take(MOST, 0);
        // SAFETY: room for more.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
        (place, bytes.len())
    }

    /// So many bytes, with room behind them.
    fn bytes(&mut self, length: usize) -> *mut u8 {
        let bytes = self.take(MOST.max(length), 0);
        let mask = self.one_of(&[0xff, 0xff, 0x01, 0]) as u8;
        for at in 0..length {
            // SAFETY: room for them.
            unsafe { bytes.add(at).write(self.next() as u8 & mask) };
        }
        bytes
    }

    fn take(&mut self, length: usize, filled_with: u8) -> *mut u8 {
        let word = u64::from_ne_bytes([filled_with; 8]);
        self.memory
            .push(vec![word; length.div_ceil(8)].into_boxed_slice());
        self.memory
            .last_mut()
            .map_or(ptr::null_mut(), |memory| memory.as_mut_ptr().cast())
    }

    fn next(&mut self) -> u64 {
        match &mut self.choices {
            Choices::Drawn(state) => {
                *state ^= *state << 13;
                *state ^= *state >> 7;
                *state ^= *state << 17;
                *state
            }
            Choices::Given(bytes) => {
                let mut byte = || u16::from(bytes.pop().unwrap_or_default());
                u64::from(byte() | byte() << 8)
            }
        }
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn one_of(&mut self, all: &[u64]) -> u64 {
        all[self.below(all.len())]
    }
}
