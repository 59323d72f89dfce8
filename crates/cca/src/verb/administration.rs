//! Master keys, what the card tells of itself, and what administrators set.

use outboard_engine::scalar::randomise;

use super::Verb;
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::card::access::AccessPoint;
use crate::card::cloning::{Cloning, MOST_SHARES};
use crate::card::master::{Kind, Masters, NewState, Pattern, Registers};
use crate::card::records::{Records, Store};
use crate::card::tables::{Table, Tables};
use crate::request::*;
use crate::value::{Bytes, Keyword, Rules};

pub(super) const MASTERS: &[(&str, Kind)] = &[
    ("SYM-MK", Kind::Symmetric),
    ("AES-MK", Kind::Aes),
    ("ASYM-MK", Kind::Asymmetric),
    ("APKA-MK", Kind::Apka),
];

#[derive(Clone, Copy)]
enum Process {
    Clear,
    First,
    Middle,
    Last,
    Random,
    Set,
    ClearOld,
}

impl Verb for MasterKeyProcess {
    type Reply = Done;

    fn run(&self, call: &Call<'_>) -> Outcome<Done> {
        let mut rules = self.rule_array.parse();
        let kind = rules.one(MASTERS)?.unwrap_or(Kind::Symmetric);
        let process = rules.required(&[
            ("CLEAR", Process::Clear),
            ("FIRST", Process::First),
            ("MIDDLE", Process::Middle),
            ("LAST", Process::Last),
            ("RANDOM", Process::Random),
            ("SET", Process::Set),
            ("CLR-OLD", Process::ClearOld),
        ])?;
        rules.end()?;
        call.administers()?;
        let mut state = call.change();
        let registers = state.masters.of(kind);
        let registers = match process {
            Process::Clear => registers.with_new_cleared(),
            Process::First => registers.with_part(kind, &self.key_part, true, false)?,
            Process::Middle => registers.with_part(kind, &self.key_part, false, false)?,
            Process::Last => registers.with_part(kind, &self.key_part, false, true)?,
            Process::Random => registers.with_random(kind)?,
            Process::Set => registers.with_new_set(kind)?,
            Process::ClearOld => registers.with_old_cleared(),
        };
        let mut entries = vec![Masters::entry(kind, &registers)];
        // A set of shares is of one master key, and shares that came go with the new register.
        let (put, remove) = match process {
            Process::Set => state.cloning.ended(kind)?,
            Process::Clear => (state.cloning.emptied(kind)?, Vec::new()),
            _ => (Vec::new(), Vec::new()),
        };
        entries.extend(put);
        call.keep_all(&entries, &remove)?;
        match process {
            Process::Set => state.cloning.end(kind),
            Process::Clear => state.cloning.empty(kind),
            _ => {}
        }
        state.masters.set(kind, registers);
        call.opened().forget();
        Ok(Done {})
    }
}

impl Verb for CryptoFacilityQuery {
    type Reply = FacilityStatus;

    /// STATCCA, STATAES, STATAPKA, STATCRD2, STATEID and STATMOFN tell the state of master keys and of the card as published. STATICSB has the patterns of
    /// master keys where the publication has them, and zeros elsewhere. STATMKVP is ours: `verb_data` has 12 patterns of eight bytes,
    /// for each kind (symmetric, AES, asymmetric, APKA) of new, current and old; zeros for none.
    fn run(&self, call: &Call<'_>) -> Outcome<FacilityStatus> {
        let mut rules = self.rule_array.parse();
        // Which of several cards: there is one.
        rules.one(&[("ADAPTER1", ()), ("ANY", ())])?;
        let what = rules.required(&[
            ("STATCCA", "STATCCA"),
            ("STATCCAE", "STATCCA"),
            ("STATAES", "STATAES"),
            ("STATAPKA", "STATAPKA"),
            ("STATCARD", "STATCARD"),
            ("STATCRD2", "STATCRD2"),
            ("STATICSB", "STATICSB"),
            ("STATEID", "STATEID"),
            ("STATMOFN", "STATMOFN"),
            ("DOM-NUMS", "DOM-NUMS"),
            ("DOM-USAG", "DOM-USAG"),
            ("STATMKVP", "STATMKVP"),
            ("NUM-DECT", "NUM-DECT"),
        ])?;
        rules.end()?;
        let state = call.state();
        let registers = |kind| {
            let registers: &Registers = state.masters.of(kind);
            let new = match registers.new_state() {
                NewState::Empty => "1",
                NewState::Partial => "2",
                NewState::Full => "3",
            };
            let is_there = |is_there: bool| if is_there { "2" } else { "1" };
            [
                new,
                is_there(registers.current.is_some()),
                is_there(registers.old.is_some()),
            ]
        };
        let version = Keyword::new(concat!("8.", env!("CARGO_PKG_VERSION")));
        let mut verb_data = Bytes::default();
        let rule_array: Vec<Keyword> = match what {
            "STATAES" => registers(Kind::Aes).map(Keyword::new).to_vec(),
            "STATAPKA" => registers(Kind::Apka).map(Keyword::new).to_vec(),
            "STATCARD" => ["1", "OUTBOARD"].map(Keyword::new).to_vec(),
            "NUM-DECT" => vec![Keyword::new(&state.tables.list().len().to_string())],
            // One card; what it is made of is not told; its serial number is the fifteenth.
            "STATCRD2" => [["1"].as_slice(), &["0"; 13], &["OUTBOARD"]]
                .concat()
                .into_iter()
                .map(Keyword::new)
                .collect(),
            "STATICSB" => {
                verb_data = static_status(&state.masters).into();
                Vec::new()
            }
            // One domain, the first.
            "DOM-NUMS" => {
                verb_data = [0, 0, 0, 1].into();
                Vec::new()
            }
            "DOM-USAG" => {
                verb_data = [0; 4].into();
                Vec::new()
            }
            "STATEID" => {
                let environment = state.cloning.setting.environment.unwrap_or_default();
                environment
                    .as_chunks()
                    .0
                    .iter()
                    .map(|half| Keyword(*half))
                    .collect()
            }
            "STATMOFN" => shares(&state.cloning),
            "STATMKVP" => {
                verb_data = patterns(&state.masters).into();
                Vec::new()
            }
            _ => {
                let registers = registers(Kind::Symmetric).map(Keyword::new);
                [
                    &registers[..],
                    &[version, Keyword::new("OUTBOARD"), Keyword::new("DEFAULT")],
                ]
                .concat()
            }
        };
        Ok(FacilityStatus {
            rule_array: Rules(rule_array),
            verb_data,
        })
    }
}

/// Which shares of the symmetric master key were given and taken, and how many shares a master key has: as published.
fn shares(cloning: &Cloning) -> Vec<Keyword> {
    let (needed, all) = cloning.setting.shares.unwrap_or_default();
    let (given, taken) = (
        cloning.given(Kind::Symmetric),
        cloning.taken(Kind::Symmetric),
    );
    let of = |status: &dyn Fn(u8) -> u8| {
        let mut text = [b' '; 16];
        for index in 1..=MOST_SHARES {
            let status = if index <= all { status(index) } else { b'0' };
            text[usize::from(index - 1)] = status;
        }
        text
    };
    let given = of(
        &|index| match given.map(|given| given.times[usize::from(index - 1)]) {
            None => b'1',
            Some(0) => b'2',
            Some(1) => b'3',
            Some(_) => b'4',
        },
    );
    let taken = of(&|index| {
        let mut shares = taken.iter().flat_map(|taken| &taken.shares);
        match shares.any(|(taken, _)| *taken == index) {
            true => b'3',
            false => b'1',
        }
    });
    let halves = [given, taken].concat();
    let halves = halves.as_chunks().0.iter().map(|half| Keyword(*half));
    let numbers = [needed, all].map(|number| Keyword::new(&format!("{number:02}")));
    halves.chain(numbers).collect()
}

/// Where STATICSB has the patterns of a master key: the kind, the place, and the number of current, new and old.
const STATIC_STATUS: [(Kind, usize, [u8; 3]); 3] = [
    (Kind::Symmetric, 132, [0x07, 0x06, 0x08]),
    (Kind::Aes, 180, [0x0b, 0x0a, 0x0c]),
    (Kind::Apka, 216, [0x0e, 0x0d, 0x0f]),
];

/// Blocks of twelve bytes: their length, a number, the pattern.
fn static_status(masters: &Masters) -> Vec<u8> {
    let mut status = vec![0; 252];
    for (kind, start, numbers) in STATIC_STATUS {
        let registers = masters.of(kind);
        let of = |key: &Option<crate::card::master::MasterKey>| {
            key.as_ref().map(crate::card::master::MasterKey::pattern)
        };
        let patterns = [
            of(&registers.current),
            registers.new_pattern(kind),
            of(&registers.old),
        ];
        let blocks = status[start..].chunks_mut(12);
        for ((block, number), pattern) in blocks.zip(numbers).zip(patterns) {
            block[..4].copy_from_slice(&[0, 12, 0x0f, number]);
            block[4..].copy_from_slice(&pattern.unwrap_or_default());
        }
    }
    status
}

fn patterns(masters: &Masters) -> Vec<u8> {
    let of_kind = |kind| {
        let registers = masters.of(kind);
        let pattern =
            |key: &Option<crate::card::master::MasterKey>| key.as_ref().map(|key| key.pattern());
        [
            registers.new_pattern(kind),
            pattern(&registers.current),
            pattern(&registers.old),
        ]
    };
    let all = Kind::ALL.into_iter().flat_map(of_kind);
    all.flat_map(|pattern: Option<Pattern>| pattern.unwrap_or_default())
        .collect()
}

/// Which card a program means, where it means one: there is one.
fn of_only_card(rules: &Rules) -> Outcome<Done> {
    let mut rules = rules.parse();
    rules.one(&[("DEVICE", ()), ("SERIAL", ())])?;
    rules.one(&[("DOMN0000", ()), ("DOMN-DEF", ())])?;
    rules.end()?;
    Ok(Done {})
}

impl Verb for ResourceAllocate {
    type Reply = Done;

    fn run(&self, _: &Call<'_>) -> Outcome<Done> {
        of_only_card(&self.rule_array)
    }
}

impl Verb for ResourceDeallocate {
    type Reply = Done;

    fn run(&self, _: &Call<'_>) -> Outcome<Done> {
        of_only_card(&self.rule_array)
    }
}

impl Verb for CryptoFacilityVersion {
    type Reply = FacilityVersion;

    fn run(&self, _: &Call<'_>) -> Outcome<FacilityVersion> {
        // As published: version, release, modification, z, and what it is; within 20 characters.
        let version = "8.0.0z uncertified\0";
        Ok(FacilityVersion {
            version_data: version.into(),
        })
    }
}

impl Verb for RandomNumberTests {
    type Reply = Done;

    fn run(&self, _: &Call<'_>) -> Outcome<Done> {
        let mut rules = self.rule_array.parse();
        let known_answers = rules.required(&[("KAT", true), ("FIPS-RNT", false)])?;
        rules.end()?;
        match known_answers {
            true => crate::algorithm::known_answers(),
            false => random_is_alive(),
        }
        .then_some(Done {})
        .ok_or(Refusal::TestFailed)
    }
}

/// FIPS 140-2's monobit test of 20,000 bits: 9,725 to 10,275 ones. A good generator fails it once in 10,000.
fn random_is_alive() -> bool {
    let is_balanced = || {
        let mut bytes = [0; 2500];
        let drawn = randomise(&mut bytes).is_ok();
        drawn && (9726..10275).contains(&bytes.iter().map(|byte| byte.count_ones()).sum::<u32>())
    };
    is_balanced() || is_balanced()
}

impl Verb for KeyStorageInitialization {
    type Reply = Done;

    fn run(&self, call: &Call<'_>) -> Outcome<Done> {
        let mut rules = self.rule_array.parse();
        rules.required(&[("CURRENT", ())])?;
        let store = rules.required(&[
            ("DES", Store::Des),
            ("AES", Store::Aes),
            ("PKA", Store::Pka),
        ])?;
        rules.end()?;
        call.administers()?;
        let mut state = call.change();
        let places = state.records.of_store(store);
        let names: Vec<_> = places.iter().map(Records::entry).collect();
        call.keep_all(&[], &names)?;
        places.iter().for_each(|place| state.records.remove(place));
        Ok(Done {})
    }
}

impl Verb for AccessPoints {
    type Reply = EnabledPoints;

    fn run(&self, call: &Call<'_>) -> Outcome<EnabledPoints> {
        call.administers()?;
        let points = |offsets: &[u16]| {
            let points = offsets.iter().map(|offset| AccessPoint::of_offset(*offset));
            points.collect::<Option<Vec<_>>>().ok_or(Refusal::Keyword)
        };
        let (enable, disable) = (points(&self.enable)?, points(&self.disable)?);
        let mut state = call.change();
        let points = state.points.with(&enable, &disable);
        call.keep("points", &points.value())?;
        state.points = points;
        Ok(EnabledPoints {
            enabled: state.points.offsets(),
        })
    }
}

impl Verb for DecimalizationTables {
    type Reply = StoredTables;

    fn run(&self, call: &Call<'_>) -> Outcome<StoredTables> {
        call.administers()?;
        let mut changes = Vec::new();
        for name in &self.delete {
            changes.push((Tables::name(name)?, None));
        }
        for (name, digits) in &self.store {
            changes.push((Tables::name(name)?, Some(Table::parse(digits.as_bytes())?)));
        }
        let mut state = call.change();
        for (name, table) in changes {
            let digits = table.map_or(Vec::new(), |table| table.digits());
            call.keep(&Tables::entry(&name), &digits)?;
            state.tables.set(name, table);
        }
        Ok(StoredTables {
            tables: state.tables.list(),
        })
    }
}

impl Verb for PinFailures {
    type Reply = PinFailureCount;

    fn run(&self, call: &Call<'_>) -> Outcome<PinFailureCount> {
        call.administers()?;
        let mut failures = call.failures();
        if self.limit != 0 {
            call.keep("limit", &self.limit.to_be_bytes())?;
            failures.limit = self.limit;
        }
        if self.forget {
            let names: Vec<_> = failures.accounts().map(|account| account.entry()).collect();
            call.keep_all(&[], &names)?;
            failures.forget();
        }
        Ok(PinFailureCount {
            limit: failures.limit,
            accounts: failures.len() as u32,
            blocked: failures.blocked() as u32,
        })
    }
}
