//! AES-GCM's contract: whatever a program calls, in whatever order, it finds the same under Outboard as
//! without: return codes, lengths, bytes, error queue. Sequences of calls are made in two contexts of one
//! libcrypto, stock and Outboard, in each version of OpenSSL.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod calls;
#[path = "../common/mod.rs"]
mod common;
mod evp;

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fmt::Write as _;

use calls::{Call, Data, Key, Place, Samples};
use evp::{Seen, Side};
use outboard_libcrypto::sys::OSSL_PARAM;

/// Both sides, and what programs there are given.
struct Contract {
    version: String,
    stock: Side,
    outboard: Side,
    samples: Samples,
    sequences: usize,
    /// What differed, by the call that did: how often, and for example how.
    differences: BTreeMap<String, (usize, String)>,
}

/// What a program has done to a context, as far as this test must know it.
#[derive(Clone, Copy, Default)]
struct Chance {
    has_cipher: bool,
    encrypts: bool,
    has_iv: bool,
    /// From here on bytes depend on a vector that was drawn at random.
    random: bool,
    /// A check of a tag has failed. What GHASH holds then is each kernel's own: tags of a message that goes on
    /// nevertheless differ.
    failed: bool,
}

impl Chance {
    fn after(mut self, call: Call, answer: i64, before_4: bool) -> Self {
        let works = answer > 0;
        match call {
            Call::Init {
                fresh,
                direction,
                iv,
                ..
            } => {
                if fresh {
                    self = Self {
                        encrypts: self.encrypts,
                        ..Self::default()
                    };
                }
                self.has_cipher |= fresh;
                if direction != -1 {
                    self.encrypts = direction == 1;
                }
                self.has_iv |= works && iv.is_some();
            }
            Call::Control {
                control: calls::SET_IV_FIXED,
                argument: -1,
                ..
            } => self.has_iv |= works,
            Call::Set {
                name,
                size: calls::WHOLE_IV,
                ..
            } if name == c"tlsivfixed" => self.has_iv |= works,
            Call::Control {
                control: calls::SET_IV_FIXED,
                ..
            } => {
                self.random |= works && self.encrypts;
                self.has_iv |= works;
            }
            Call::Set { name, .. } if name == c"tlsivfixed" => {
                self.random |= works && self.encrypts;
                self.has_iv |= works;
            }
            Call::Reset => self = Self::default(),
            Call::Finish
            | Call::Update {
                place: Place::NoInput,
                ..
            }
            | Call::Cipher {
                place: Place::NoInput | Place::Nowhere,
                ..
            } if !works && !self.encrypts => {
                self.failed = true;
            }
            Call::Associate(_) | Call::Update { .. } | Call::Finish | Call::Cipher { .. } => {
                self.random |= self.encrypts && !self.has_iv;
                self.failed |= is_garbage(call);
            }
            Call::Get { .. } | Call::GetTwo { .. } | Call::Ask(_) if !before_4 => {
                self.random |= self.encrypts && !self.has_iv;
            }
            _ => {}
        }
        self
    }
}

impl Contract {
    /// One for each version of OpenSSL.
    fn in_every_version(name: &CStr) -> Vec<Self> {
        let every = common::sides_of_every_version().into_iter();
        every
            .map(|(version, sides)| Self::new(version, &sides, name))
            .collect()
    }

    fn new(version: String, sides: &outboard_measure::Sides, name: &CStr) -> Self {
        let mut contract = Self {
            version,
            stock: Side::new(&sides.stock, name),
            outboard: Side::new(&sides.outboard, name),
            samples: Samples::default(),
            sequences: 0,
            differences: BTreeMap::new(),
        };
        contract.samples = contract.samples();
        contract
    }

    /// Stock makes what decryption needs.
    fn samples(&self) -> Samples {
        let mut samples = Samples::default();
        let run = |calls: &[Call]| {
            let samples = Samples::default();
            let mut program = self.stock.program(&samples);
            let seen: Vec<Seen> = calls.iter().map(|&call| program.call(call)).collect();
            assert!(seen.iter().all(|seen| seen.answer > 0), "{seen:?}");
            seen
        };
        let start = calls::fresh(1, Some(Key::A), Some(0));
        let tag = calls::control(calls::GET_TAG, 16, Some(Data::Text(16)));
        let nothing = run(&[start, Call::Finish, tag]);
        samples
            .tag_of_nothing
            .copy_from_slice(&nothing[2].bytes[..16]);
        let text = run(&[
            start,
            calls::update(Data::Text(20), Place::Same),
            Call::Finish,
            tag,
        ]);
        samples.sealed = text[1].bytes[64..84].to_vec();
        samples.tag_of_text.copy_from_slice(&text[3].bytes[..16]);
        let record = run(&[
            calls::fresh(1, Some(Key::A), None),
            calls::control(calls::SET_IV_FIXED, -1, Some(Data::Iv(128))),
            calls::control(calls::TLS1_AAD, 13, Some(Data::Header(28))),
            calls::cipher(Data::Text(44), Place::Same),
        ]);
        samples.record = record[3].bytes[64..108].to_vec();
        samples
    }

    /// Makes the calls, and those that show the state, on both sides.
    fn compare(&mut self, calls: &[Call], ending: &[Call]) {
        if calls::is_undefined(calls) {
            return;
        }
        self.sequences += 1;
        let before_4 = self.version.starts_with('3');
        let mut programs = [&self.stock, &self.outboard].map(|side| side.program(&self.samples));
        let mut chance = [Chance::default(); 2];
        for (index, &call) in calls.iter().chain(ending).enumerate() {
            let needs_none = matches!(
                call,
                Call::Init { fresh: true, .. } | Call::Swap | Call::Reset
            );
            if !needs_none && !chance[0].has_cipher {
                continue; // OpenSSL would follow a null pointer.
            }
            let [stock, outboard] = &mut programs;
            let (mut stock, mut outboard) = (stock.call(call), outboard.call(call));
            chance[0] = chance[0].after(call, stock.answer, before_4);
            match call {
                Call::Copy if stock.answer == 1 => chance[1] = chance[0],
                Call::Swap => chance.swap(0, 1),
                _ => {}
            }
            let is_tag = match call {
                Call::Control { control, .. } => control == calls::GET_TAG,
                Call::Get { name, .. } => name == c"tag",
                _ => false,
            };
            if chance[0].random || is_garbage(call) || (chance[0].failed && is_tag) {
                stock.bytes.clear();
                outboard.bytes.clear();
            }
            if stock != outboard {
                let what = format!("{call:?}");
                let entry = self.differences.entry(what).or_default();
                entry.0 += 1;
                if entry.1.is_empty() {
                    let before = &calls[..index.min(calls.len())];
                    let after = if index < calls.len() { "" } else { "…" };
                    let _ = write!(
                        entry.1,
                        "after {before:?}{after}\n  stock:    {stock:?}\n  Outboard: {outboard:?}"
                    );
                }
                return;
            }
        }
    }

    fn conclude(self) {
        println!("OpenSSL {}: {} sequences", self.version, self.sequences);
        if self.differences.is_empty() {
            return;
        }
        let mut differences: Vec<_> = self.differences.into_iter().collect();
        differences.sort_by_key(|(_, (times, _))| std::cmp::Reverse(*times));
        let listed: Vec<_> = differences
            .iter()
            .take(40)
            .map(|(call, (times, example))| format!("{times} times: {call}\n  {example}"))
            .collect();
        panic!(
            "OpenSSL {}: {} calls differ:\n{}",
            self.version,
            differences.len(),
            listed.join("\n")
        );
    }
}

/// Output that overlaps the input's later part overwrites what is yet to be read: garbage, by the kernel's order.
fn is_garbage(call: Call) -> bool {
    matches!(
        call,
        Call::Update {
            place: Place::After(_),
            ..
        } | Call::Cipher {
            place: Place::After(_),
            ..
        }
    )
}

/// A generator that says the same in every run (SplitMix64).
struct Walk(u64);

impl Walk {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// Each of these programs after each beginning; or, unless `GCM_CONTRACT=all` asks for minutes, after so many of
/// them, in turn.
fn after_beginnings(
    contract: &mut Contract,
    turns: usize,
    programs: impl Iterator<Item = Vec<Call>>,
) {
    let (beginnings, ending) = (calls::beginnings(), calls::ending());
    let all = std::env::var("GCM_CONTRACT").is_ok_and(|how| how == "all");
    let turns = if all { beginnings.len() } else { turns };
    for (index, program) in programs.enumerate() {
        for turn in 0..turns {
            let beginning = &beginnings[(index * turns + turn) % beginnings.len()];
            contract.compare(&[&beginning[..], &program].concat(), &ending);
        }
    }
}

#[test]
fn two_calls_of_which_one_may_be_odd() {
    for mut contract in Contract::in_every_version(c"AES-128-GCM") {
        let (every, core) = (calls::every(), calls::core());
        let one = every.iter().map(|&call| vec![call]);
        after_beginnings(&mut contract, calls::beginnings().len(), one);
        let pairs = every
            .iter()
            .flat_map(|&odd| core.iter().map(move |&usual| (odd, usual)));
        let programs = pairs.flat_map(|(odd, usual)| [vec![odd, usual], vec![usual, odd]]);
        after_beginnings(&mut contract, 2, programs);
        contract.conclude();
    }
}

#[test]
fn three_usual_calls() {
    for mut contract in Contract::in_every_version(c"AES-256-GCM") {
        let core = calls::core();
        let pairs = core
            .iter()
            .flat_map(|&one| core.iter().map(move |&two| (one, two)));
        let programs =
            pairs.flat_map(|(one, two)| core.iter().map(move |&three| vec![one, two, three]));
        after_beginnings(&mut contract, 1, programs);
        contract.conclude();
    }
}

#[test]
fn long_walks() {
    for mut contract in Contract::in_every_version(c"AES-192-GCM") {
        let (every, core, ending) = (calls::every(), calls::core(), calls::ending());
        let beginnings = calls::beginnings();
        let mut walk = Walk(12);
        for _ in 0..15_000 {
            let mut program = beginnings[walk.below(beginnings.len())].clone();
            for _ in 0..4 + walk.below(12) {
                let calls = if walk.below(3) == 0 { &every } else { &core };
                program.push(calls[walk.below(calls.len())]);
            }
            contract.compare(&program, &ending);
        }
        contract.conclude();
    }
}

/// Name and type of each parameter in a list.
///
/// # Safety
/// The list is null or ends with a null name.
unsafe fn listed(mut list: *const OSSL_PARAM) -> Vec<(CString, u32, usize)> {
    let mut found = Vec::new();
    // SAFETY: by the caller's word.
    unsafe {
        while !list.is_null() && !(*list).key.is_null() {
            let name = CStr::from_ptr((*list).key).to_owned();
            found.push((name, (*list).data_type, (*list).return_size));
            list = list.add(1);
        }
    }
    found
}

#[test]
fn the_same_is_offered_and_listed() {
    for name in [c"AES-128-GCM", c"AES-192-GCM", c"AES-256-GCM"] {
        for contract in Contract::in_every_version(name) {
            let [stock, outboard] = [&contract.stock, &contract.outboard].map(|side| {
                let more = &side.more;
                // SAFETY: a live cipher of a live provider.
                unsafe {
                    (
                        listed((more.EVP_CIPHER_gettable_params)(side.cipher)),
                        listed((more.EVP_CIPHER_gettable_ctx_params)(side.cipher)),
                        listed((more.EVP_CIPHER_settable_ctx_params)(side.cipher)),
                        (more.EVP_CIPHER_get_flags)(side.cipher),
                        side.functions_offered(name),
                    )
                }
            });
            assert_eq!(stock, outboard, "{name:?} of OpenSSL {}", contract.version);
        }
    }
}

#[test]
fn an_algorithm_describes_itself_alike() {
    let names = [
        c"mode",
        c"keylen",
        c"ivlen",
        c"blocksize",
        c"aead",
        c"custom-iv",
        c"cts",
        c"tls-multi",
        c"has-randkey",
        c"encrypt-then-mac",
        c"unknown",
    ];
    let kinds = [calls::INTEGER, calls::UNSIGNED, calls::TEXT];
    for contract in Contract::in_every_version(c"AES-256-GCM") {
        for (name, kind, size) in names.iter().flat_map(|name| {
            kinds
                .iter()
                .flat_map(move |kind| [1, 4, 8, 16].map(|size| (*name, *kind, size)))
        }) {
            for null in [false, true] {
                let [stock, outboard] = [&contract.stock, &contract.outboard].map(|side| {
                    let mut room = [0xee_u8; 24];
                    let data = if null {
                        std::ptr::null_mut()
                    } else {
                        room.as_mut_ptr().cast()
                    };
                    let mut params = [evp::param(name, kind, data, size), OSSL_PARAM::END];
                    // SAFETY: a live cipher and room for more than is told.
                    let answer = unsafe {
                        (side.more.EVP_CIPHER_get_params)(side.cipher, params.as_mut_ptr())
                    };
                    let queue = side.errors();
                    assert!(queue.len() <= 2, "{queue:?}");
                    (answer, params[0].return_size, room)
                });
                assert_eq!(
                    stock, outboard,
                    "{name:?} {kind} {size} {null} of OpenSSL {}",
                    contract.version
                );
            }
        }
    }
}
