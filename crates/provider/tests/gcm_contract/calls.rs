//! The calls that a program can make of an AES-GCM context, and what it passes to them.

use std::ffi::{CStr, c_int};

/// A length of −1, which means the whole vector.
pub(crate) const WHOLE_IV: usize = usize::MAX;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Key {
    A,
    B,
}

/// What a call is given to read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Data {
    /// So many bytes that mean nothing.
    Text(usize),
    /// So many bytes of an initialisation vector.
    Iv(usize),
    /// A TLS record's header for so many bytes.
    Header(usize),
    /// So many bytes of the tag of a message with key A and vector 0: of nothing, or of `Text(20)`.
    TagOfNothing(usize),
    TagOfText(usize),
    /// `Text(20)` as key A and vector 0 encrypt it.
    Sealed,
    /// A record for `Header(44)` of key A and the vector 1 that is set whole.
    Record,
    /// The same with another byte in it.
    WrongRecord,
    Number(usize),
}

/// Where a call's output lies, seen from its input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    Same,
    Apart,
    Before(usize),
    After(usize),
    NoInput,
    NoOutput,
    Nowhere,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Question {
    IvLength,
    TagLength,
    OriginalIv(usize),
    UpdatedIv(usize),
    SetKeyLength(c_int),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Call {
    Init {
        fresh: bool,
        direction: c_int,
        key: Option<Key>,
        iv: Option<u8>,
        iv_length: Option<usize>,
    },
    Associate(usize),
    Update {
        data: Data,
        place: Place,
    },
    UpdateWithoutLength,
    Finish,
    Cipher {
        data: Data,
        place: Place,
    },
    Control {
        control: c_int,
        argument: c_int,
        data: Option<Data>,
    },
    Get {
        name: &'static CStr,
        kind: u32,
        size: usize,
        null: bool,
    },
    Set {
        name: &'static CStr,
        kind: u32,
        data: Data,
        size: usize,
        null: bool,
    },
    SetTwo {
        names: [&'static CStr; 2],
        values: [usize; 2],
    },
    GetTwo {
        names: [&'static CStr; 2],
    },
    Ask(Question),
    Copy,
    Swap,
    Reset,
}

/// What the calls are given.
#[derive(Default)]
pub(crate) struct Samples {
    pub(crate) tag_of_nothing: [u8; 16],
    pub(crate) tag_of_text: [u8; 16],
    pub(crate) sealed: Vec<u8>,
    pub(crate) record: Vec<u8>,
}

impl Samples {
    #[allow(clippy::unused_self)]
    pub(crate) fn key(&self, key: Key) -> &'static [u8; 32] {
        match key {
            Key::A => b"0123456789abcdef0123456789ABCDEF",
            Key::B => b"another key of thirty-two bytes!",
        }
    }

    #[allow(clippy::unused_self)]
    pub(crate) fn iv(&self, number: u8) -> [u8; 160] {
        std::array::from_fn(|at| (at as u8).wrapping_mul(3) ^ (number * 5))
    }

    #[allow(clippy::unused_self)]
    pub(crate) fn text(&self, size: usize) -> Vec<u8> {
        (0..size)
            .map(|at| (at as u8).wrapping_mul(7) ^ 0x5a)
            .collect()
    }

    pub(crate) fn data(&self, data: Data) -> Vec<u8> {
        match data {
            Data::Text(size) => self.text(size),
            Data::Iv(size) => self.iv(1)[..size].to_vec(),
            Data::Header(size) => {
                let [high, low] = (size as u16).to_be_bytes();
                vec![0, 0, 0, 0, 0, 0, 0, 9, 23, 3, 3, high, low]
            }
            Data::TagOfNothing(size) => self.tag_of_nothing[..size].to_vec(),
            Data::TagOfText(size) => self.tag_of_text[..size].to_vec(),
            Data::Sealed => self.sealed.clone(),
            Data::Record => self.record.clone(),
            Data::WrongRecord => {
                let mut record = self.record.clone();
                if let Some(byte) = record.get_mut(10) {
                    *byte ^= 1;
                }
                record
            }
            Data::Number(number) => number.to_le_bytes().to_vec(),
        }
    }
}

pub(crate) const SET_IVLEN: c_int = 0x9;
pub(crate) const GET_TAG: c_int = 0x10;
pub(crate) const SET_TAG: c_int = 0x11;
pub(crate) const SET_IV_FIXED: c_int = 0x12;
pub(crate) const IV_GEN: c_int = 0x13;
pub(crate) const TLS1_AAD: c_int = 0x16;
pub(crate) const SET_IV_INV: c_int = 0x18;

/// `OSSL_PARAM_…`
pub(crate) const INTEGER: u32 = 1;
pub(crate) const UNSIGNED: u32 = 2;
pub(crate) const REAL: u32 = 3;
pub(crate) const TEXT: u32 = 4;
pub(crate) const OCTETS: u32 = 5;
pub(crate) const OCTETS_POINTER: u32 = 7;

pub(crate) const fn init(direction: c_int, key: Option<Key>, iv: Option<u8>) -> Call {
    Call::Init {
        fresh: false,
        direction,
        key,
        iv,
        iv_length: None,
    }
}

pub(crate) const fn fresh(direction: c_int, key: Option<Key>, iv: Option<u8>) -> Call {
    Call::Init {
        fresh: true,
        direction,
        key,
        iv,
        iv_length: None,
    }
}

pub(crate) const fn control(control: c_int, argument: c_int, data: Option<Data>) -> Call {
    Call::Control {
        control,
        argument,
        data,
    }
}

pub(crate) const fn update(data: Data, place: Place) -> Call {
    Call::Update { data, place }
}

pub(crate) const fn cipher(data: Data, place: Place) -> Call {
    Call::Cipher { data, place }
}

const fn get(name: &'static CStr, kind: u32, size: usize) -> Call {
    Call::Get {
        name,
        kind,
        size,
        null: false,
    }
}

const fn set(name: &'static CStr, kind: u32, data: Data, size: usize) -> Call {
    Call::Set {
        name,
        kind,
        data,
        size,
        null: false,
    }
}

/// How a program may begin.
pub(crate) fn beginnings() -> Vec<Vec<Call>> {
    let whole = control(SET_IV_FIXED, -1, Some(Data::Iv(128)));
    vec![
        vec![fresh(1, None, None)],
        vec![fresh(1, Some(Key::A), Some(0))],
        vec![fresh(0, Some(Key::A), Some(0))],
        vec![
            fresh(1, Some(Key::A), Some(0)),
            update(Data::Text(20), Place::Same),
        ],
        vec![
            fresh(0, Some(Key::A), Some(0)),
            update(Data::Sealed, Place::Same),
        ],
        vec![fresh(1, Some(Key::A), Some(0)), Call::Associate(5)],
        vec![
            fresh(1, Some(Key::A), Some(0)),
            update(Data::Text(20), Place::Same),
            Call::Finish,
        ],
        vec![
            fresh(0, Some(Key::A), Some(0)),
            control(SET_TAG, 16, Some(Data::TagOfText(16))),
            update(Data::Sealed, Place::Same),
            Call::Finish,
        ],
        vec![
            fresh(0, Some(Key::A), Some(0)),
            control(SET_TAG, 16, Some(Data::TagOfText(16))),
            update(Data::Text(20), Place::Same),
            Call::Finish,
        ],
        vec![fresh(1, Some(Key::A), None), whole],
        vec![fresh(0, Some(Key::A), None), whole],
        vec![
            fresh(0, Some(Key::A), None),
            whole,
            control(TLS1_AAD, 13, Some(Data::Header(44))),
        ],
        vec![
            fresh(1, Some(Key::A), None),
            whole,
            control(TLS1_AAD, 13, Some(Data::Header(28))),
        ],
    ]
}

/// What shows a context's state, at the end of a sequence.
pub(crate) fn ending() -> Vec<Call> {
    vec![
        get(c"ivlen", UNSIGNED, 8),
        get(c"iv", OCTETS, 128),
        get(c"taglen", UNSIGNED, 8),
        get(c"tlsaadpad", UNSIGNED, 8),
        control(GET_TAG, 16, Some(Data::Text(16))),
        update(Data::Text(20), Place::Same),
        Call::Associate(3),
        Call::Finish,
        control(GET_TAG, 16, Some(Data::Text(16))),
        init(-1, None, Some(2)),
        update(Data::Text(37), Place::Same),
        Call::Finish,
        control(GET_TAG, 16, Some(Data::Text(16))),
    ]
}

/// The calls that programs are made of.
pub(crate) fn core() -> Vec<Call> {
    use Place::Same;
    vec![
        init(1, None, None),
        init(0, None, None),
        init(-1, None, Some(0)),
        init(-1, Some(Key::B), None),
        init(-1, Some(Key::A), Some(1)),
        Call::Associate(7),
        Call::Associate(0),
        update(Data::Text(20), Same),
        update(Data::Sealed, Same),
        update(Data::Text(0), Same),
        update(Data::Text(3), Place::NoInput),
        Call::Finish,
        cipher(Data::Text(20), Same),
        cipher(Data::Text(0), Same),
        cipher(Data::Text(0), Place::Nowhere),
        cipher(Data::Record, Same),
        control(SET_IVLEN, 16, None),
        control(SET_TAG, 16, Some(Data::TagOfText(16))),
        control(SET_TAG, 12, Some(Data::TagOfNothing(12))),
        control(GET_TAG, 16, Some(Data::Text(16))),
        control(SET_IV_FIXED, 4, Some(Data::Iv(4))),
        control(SET_IV_FIXED, -1, Some(Data::Iv(128))),
        control(IV_GEN, 8, Some(Data::Text(8))),
        control(SET_IV_INV, 8, Some(Data::Iv(8))),
        control(TLS1_AAD, 13, Some(Data::Header(44))),
        Call::Copy,
        Call::Swap,
        get(c"iv", OCTETS, 128),
    ]
}

/// Those, and every odd one.
pub(crate) fn every() -> Vec<Call> {
    use Place::{After, Apart, Before, NoInput, NoOutput, Nowhere, Same};
    let text = |size| Some(Data::Text(size));
    let mut every = core();
    every.extend([
        Call::Reset,
        fresh(1, Some(Key::A), None),
        fresh(0, Some(Key::B), Some(1)),
        fresh(-1, None, None),
        init(1, Some(Key::B), Some(1)),
        init(0, Some(Key::B), Some(1)),
        Call::Init {
            fresh: false,
            direction: 1,
            key: Some(Key::A),
            iv: Some(0),
            iv_length: Some(16),
        },
        Call::Init {
            fresh: false,
            direction: 0,
            key: None,
            iv: Some(0),
            iv_length: Some(12),
        },
        Call::Init {
            fresh: false,
            direction: 1,
            key: None,
            iv: Some(0),
            iv_length: Some(0),
        },
        Call::Init {
            fresh: true,
            direction: 1,
            key: Some(Key::A),
            iv: Some(0),
            iv_length: Some(129),
        },
        Call::Associate(16),
        Call::Associate(33),
        Call::UpdateWithoutLength,
        update(Data::Text(1), Same),
        update(Data::Text(16), Apart),
        update(Data::Text(33), Apart),
        update(Data::Text(300), Apart),
        update(Data::Text(300), Same),
        update(Data::Text(150), Before(1)),
        update(Data::Text(40), Before(17)),
        update(Data::Text(150), After(1)),
        update(Data::Text(40), After(16)),
        update(Data::Text(0), NoOutput),
        update(Data::Text(0), Nowhere),
        update(Data::Text(5), Nowhere),
        update(Data::Record, Same),
        update(Data::Record, Apart),
        update(Data::WrongRecord, Same),
        update(Data::Text(23), Same),
        update(Data::Text(24), Same),
        cipher(Data::Text(7), NoOutput),
        cipher(Data::Text(0), NoOutput),
        cipher(Data::Text(0), NoInput),
        cipher(Data::Text(5), NoInput),
        cipher(Data::Text(5), Nowhere),
        cipher(Data::Text(40), Apart),
        cipher(Data::Text(30), After(3)),
        cipher(Data::WrongRecord, Same),
        cipher(Data::Record, Apart),
        cipher(Data::Text(24), Same),
        control(SET_IVLEN, 0, None),
        control(SET_IVLEN, -1, None),
        control(SET_IVLEN, 1, None),
        control(SET_IVLEN, 4, None),
        control(SET_IVLEN, 8, None),
        control(SET_IVLEN, 12, None),
        control(SET_IVLEN, 128, None),
        control(SET_IVLEN, 129, None),
        control(SET_TAG, 0, text(16)),
        control(SET_TAG, 17, text(17)),
        control(SET_TAG, -1, text(17)),
        control(SET_TAG, 16, None),
        control(SET_TAG, 0, None),
        control(SET_TAG, 4, Some(Data::TagOfText(4))),
        control(SET_TAG, 16, Some(Data::TagOfNothing(16))),
        control(GET_TAG, 0, text(16)),
        control(GET_TAG, 4, text(16)),
        control(GET_TAG, 17, text(17)),
        control(GET_TAG, 16, None),
        control(GET_TAG, 0, None),
        control(GET_TAG, -1, text(16)),
        control(SET_IV_FIXED, 0, text(4)),
        control(SET_IV_FIXED, 3, text(4)),
        control(SET_IV_FIXED, 5, text(16)),
        control(SET_IV_FIXED, 12, text(16)),
        control(IV_GEN, 12, text(12)),
        control(IV_GEN, 0, text(16)),
        control(IV_GEN, -1, text(16)),
        control(IV_GEN, 20, text(20)),
        control(IV_GEN, 4, None),
        control(IV_GEN, 1, text(4)),
        control(SET_IV_INV, 0, text(4)),
        control(SET_IV_INV, -1, text(4)),
        control(SET_IV_INV, 1, text(4)),
        control(SET_IV_INV, 8, None),
        control(TLS1_AAD, 13, Some(Data::Header(7))),
        control(TLS1_AAD, 13, Some(Data::Header(8))),
        control(TLS1_AAD, 13, Some(Data::Header(23))),
        control(TLS1_AAD, 13, Some(Data::Header(24))),
        control(TLS1_AAD, 12, text(13)),
        control(TLS1_AAD, 0, text(13)),
        control(TLS1_AAD, -1, text(13)),
        control(0x77, 0, text(8)),
        control(0, 0, None),
        control(0x1, 16, None),
        control(0x14, 4, None),
        control(0x17, 16, text(16)),
        Call::Ask(Question::IvLength),
        Call::Ask(Question::TagLength),
        Call::Ask(Question::OriginalIv(16)),
        Call::Ask(Question::OriginalIv(11)),
        Call::Ask(Question::UpdatedIv(12)),
        Call::Ask(Question::UpdatedIv(0)),
        Call::Ask(Question::SetKeyLength(16)),
        Call::Ask(Question::SetKeyLength(32)),
        Call::Ask(Question::SetKeyLength(7)),
        get(c"iv", OCTETS, 12),
        get(c"iv", OCTETS, 3),
        get(c"iv", OCTETS_POINTER, 12),
        get(c"iv", OCTETS_POINTER, 8),
        get(c"iv", TEXT, 16),
        get(c"updated-iv", OCTETS, 128),
        get(c"updated-iv", OCTETS, 1),
        get(c"updated-iv", OCTETS_POINTER, 128),
        Call::Get {
            name: c"iv",
            kind: OCTETS,
            size: 0,
            null: true,
        },
        Call::Get {
            name: c"updated-iv",
            kind: OCTETS,
            size: 16,
            null: true,
        },
        Call::Get {
            name: c"tag",
            kind: OCTETS,
            size: 0,
            null: true,
        },
        Call::Get {
            name: c"tag",
            kind: OCTETS,
            size: 16,
            null: true,
        },
        Call::Get {
            name: c"taglen",
            kind: UNSIGNED,
            size: 8,
            null: true,
        },
        Call::Get {
            name: c"tlsivgen",
            kind: OCTETS,
            size: 8,
            null: true,
        },
        get(c"tlsivgen", TEXT, 8),
        get(c"tlsivgen", OCTETS, 8),
        get(c"tag", OCTETS, 16),
        get(c"tag", OCTETS, 5),
        get(c"tag", TEXT, 16),
        get(c"tag", OCTETS_POINTER, 16),
        get(c"ivlen", UNSIGNED, 4),
        get(c"ivlen", UNSIGNED, 1),
        get(c"ivlen", INTEGER, 4),
        get(c"ivlen", INTEGER, 8),
        get(c"ivlen", REAL, 8),
        get(c"ivlen", TEXT, 8),
        get(c"keylen", UNSIGNED, 8),
        get(c"keylen", TEXT, 8),
        get(c"taglen", UNSIGNED, 8),
        get(c"taglen", OCTETS, 8),
        get(c"tlsaadpad", UNSIGNED, 8),
        get(c"tlsaadpad", OCTETS, 8),
        get(c"iv-generated", UNSIGNED, 4),
        get(c"iv-generated", UNSIGNED, 8),
        get(c"iv-generated", TEXT, 8),
        get(c"padding", UNSIGNED, 4),
        get(c"unknown", UNSIGNED, 4),
        set(c"ivlen", UNSIGNED, Data::Number(12), 8),
        set(c"ivlen", UNSIGNED, Data::Number(16), 4),
        set(c"ivlen", UNSIGNED, Data::Number(9), 1),
        set(c"ivlen", INTEGER, Data::Number(12), 4),
        set(c"ivlen", INTEGER, Data::Number(usize::MAX), 8),
        set(c"ivlen", OCTETS, Data::Number(12), 8),
        set(c"ivlen", REAL, Data::Number(12f64.to_bits() as usize), 8),
        set(c"ivlen", REAL, Data::Number(12.5f64.to_bits() as usize), 8),
        set(c"tag", TEXT, Data::TagOfText(16), 16),
        set(c"tag", OCTETS, Data::TagOfText(16), 16),
        set(c"tag", OCTETS_POINTER, Data::Number(0), 8),
        set(c"tlsaad", TEXT, Data::Header(44), 13),
        set(c"tlsaad", OCTETS, Data::Header(44), 13),
        set(c"tlsivfixed", TEXT, Data::Iv(4), 4),
        set(c"tlsivfixed", OCTETS, Data::Iv(128), WHOLE_IV),
        set(c"tlsivinv", TEXT, Data::Iv(8), 8),
        set(c"tlsivinv", OCTETS, Data::Iv(8), 8),
        set(c"keylen", UNSIGNED, Data::Number(16), 8),
        set(c"padding", UNSIGNED, Data::Number(0), 4),
        set(c"unknown", UNSIGNED, Data::Number(0), 4),
        Call::SetTwo {
            names: [c"ivlen", c"ivlen"],
            values: [12, 16],
        },
        Call::SetTwo {
            names: [c"ivlen", c"tag"],
            values: [13, 16],
        },
        Call::SetTwo {
            names: [c"tag", c"ivlen"],
            values: [13, 16],
        },
        Call::SetTwo {
            names: [c"unknown", c"ivlen"],
            values: [13, 16],
        },
        Call::GetTwo {
            names: [c"ivlen", c"keylen"],
        },
        Call::GetTwo {
            names: [c"ivlen", c"ivlen"],
        },
        Call::GetTwo {
            names: [c"keylen", c"iv"],
        },
        Call::GetTwo {
            names: [c"iv", c"taglen"],
        },
        Call::GetTwo {
            names: [c"unknown", c"taglen"],
        },
    ]);
    every
}

/// Whether stock would write outside its own memory: where a vector is too short for its counted part, or for the
/// fixed part that is set.
pub(crate) fn is_undefined(calls: &[Call]) -> bool {
    let is_short = |call: &Call| match *call {
        Call::Control {
            control: SET_IVLEN,
            argument,
            ..
        } => (1..8).contains(&argument),
        _ => false,
    };
    let shortens = |call: &Call| match *call {
        Call::Control {
            control: SET_IVLEN,
            argument,
            ..
        } => (1..12).contains(&argument),
        Call::Control { control: 0x14, .. } => true,
        Call::Set {
            name,
            data: Data::Number(9),
            ..
        } => name == c"ivlen",
        _ => false,
    };
    let counts = |call: &Call| match *call {
        Call::Control { control, .. } => [IV_GEN, SET_IV_INV, TLS1_AAD].contains(&control),
        Call::Set { name, .. } | Call::Get { name, .. } => {
            [c"tlsivgen", c"tlsivinv", c"tlsaad"].contains(&name)
        }
        _ => false,
    };
    let fixes = |call: &Call| match *call {
        Call::Control {
            control: SET_IV_FIXED,
            argument,
            ..
        } => argument > 0,
        Call::Set { name, size, .. } => name == c"tlsivfixed" && size != WHOLE_IV,
        _ => false,
    };
    (calls.iter().any(is_short) && calls.iter().any(counts))
        || (calls.iter().any(shortens) && calls.iter().any(fixes))
}
