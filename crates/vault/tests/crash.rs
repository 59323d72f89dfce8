//! A process that is killed at any write, or for which any write fails: every acknowledged change is there, and none is
//! half there.
//!
//! SQLite lets its system calls be replaced, for tests like this. A child process counts each call that changes a file of
//! the store, and at the numbered one is killed (before the call, or in the middle of a write), or gets "no space left".
//! `VAULT_CRASH=all` tries each call, otherwise each thirteenth.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_char, c_int, c_void};
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use common::{ADMIN, MASTER, NEXT, Place, key, name, private};
use outboard_vault::{
    Error, Grants, KeyId, KeyType, Login, NewObject, NewToken, Object, ObjectsKey, Pattern, Phase,
    Register, Right, Role, Subject, Token, Vault,
};
use rusqlite::ffi;

/// The call at which it happens; the child's first call is 1.
static AT: AtomicI64 = AtomicI64::new(i64::MAX);
/// Calls so far.
static CALLS: AtomicI64 = AtomicI64::new(0);
/// What happens: see [`HOW`].
static MODE: AtomicI64 = AtomicI64::new(0);

/// What happens at the numbered call.
const HOW: [&str; 4] = [
    "killed before",
    "killed within",
    "no space",
    "no space from there on",
];

#[test]
fn a_kill_at_any_write_loses_and_halves_nothing() {
    for (mode, how) in HOW.iter().enumerate().take(2) {
        let writes = each_write(mode);
        println!("{how}: {writes} calls");
        assert!(writes > 100, "the calls are replaced: {writes}");
    }
}

#[test]
fn a_full_disk_at_any_write_loses_and_halves_nothing() {
    for (mode, how) in HOW.iter().enumerate().skip(2) {
        let writes = each_write(mode);
        println!("{how}: {writes} calls");
        assert!(writes > 100, "the calls are replaced: {writes}");
    }
}

/// Runs the child until nothing happens to it; how many calls it makes, about.
fn each_write(mode: usize) -> i64 {
    let step = match std::env::var_os("VAULT_CRASH") {
        Some(_) => 1,
        None => 13,
    };
    for at in (1..).step_by(step) {
        let place = Place::in_memory();
        let (acknowledged, last_tried, status) = run_child(&place, "steps", mode, at);
        check(&place, &acknowledged, last_tried.as_deref());
        if status.success() {
            return at - 1;
        }
    }
    unreachable!("the child's calls are numbered in 63 bits")
}

/// What the child acknowledged, what it tried after that, and how it ended.
fn run_child(
    place: &Place,
    steps: &str,
    mode: usize,
    at: i64,
) -> (Vec<String>, Option<String>, ExitStatus) {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--exact",
            "child",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("VAULT_STORE", place.store())
        .env("VAULT_BACKUP", place.0.path().join("backup"))
        .env("VAULT_STEPS", steps)
        .env("VAULT_MODE", mode.to_string())
        .env("VAULT_AT", at.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let (mut acknowledged, mut tried) = (Vec::new(), None);
    for line in BufReader::new(child.stdout.take().expect("its output")).lines() {
        let line = line.expect("text");
        if let Some(step) = line.strip_prefix("try ") {
            tried = Some(step.to_owned());
        } else if let Some(step) = line.strip_prefix("done ") {
            acknowledged.push(step.to_owned());
            tried = None;
        }
    }
    (acknowledged, tried, child.wait().expect("its end"))
}

/// The steps of the child, in their order.
const STEPS: &[&str] = &[
    "create",
    "master",
    "insert a",
    "insert b",
    "rename a c",
    "grant b",
    "insert d",
    "token t",
    "object one",
    "object two",
    "change one three",
    "delete d",
    "new",
    "prepare",
    "insert e",
    "destroy two",
    "activate",
    "insert f",
    "grant c",
    "finalise",
    "insert g",
    "delete-token t",
    "backup",
];

/// The steps of the child that tries PINs.
const TRIES: &[&str] = &[
    "create",
    "master",
    "pins",
    "try wrong",
    "try wrong",
    "try right",
    "try wrong",
];

#[test]
fn a_kill_at_any_write_gives_no_try_back() {
    for at in (1..).step_by(9) {
        let place = Place::in_memory();
        let (acknowledged, tried, status) = run_child(&place, "tries", 1, at);
        if acknowledged.iter().any(|step| step == "pins") {
            let vault = place.open();
            let token = vault.token(&name("t")).expect("it is whole");
            let known = |step: &&String| *step == "try wrong";
            let since = acknowledged
                .iter()
                .rev()
                .take_while(|step| *step != "try right");
            let least = since.filter(known).count();
            let most = least + usize::from(tried.is_some());
            let Login::Pin { failures } = token.login(Role::User) else {
                panic!("it has a PIN");
            };
            let is_right = tried.as_deref() == Some("try right") && failures == 0;
            assert!(
                is_right || (least..=most).contains(&failures.into()),
                "{failures} after {acknowledged:?} and {tried:?}"
            );
        }
        if status.success() {
            return;
        }
    }
}

/// Does the steps. Started by the other tests alone.
#[test]
#[ignore = "a child of the other tests"]
fn child() {
    let Some(store) = std::env::var_os("VAULT_STORE") else {
        return;
    };
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    MODE.store(number("VAULT_MODE").expect("a mode"), SeqCst);
    AT.store(number("VAULT_AT").expect("a number"), SeqCst);
    replace_calls();
    let store = std::path::PathBuf::from(store);
    let mut vault = None;
    let steps = match std::env::var("VAULT_STEPS").as_deref() {
        Ok("tries") => TRIES,
        _ => STEPS,
    };
    for &step in steps {
        println!("\ntry {step}");
        if step == "create" {
            match Vault::create(&store, ADMIN) {
                Ok(created) => vault = Some(created),
                Err(error) => ended(&error),
            }
        } else if let Err(error) = act(vault.as_ref().expect("created"), step) {
            ended(&error);
        }
        println!("\ndone {step}");
    }
    let acts = CALLS.load(SeqCst);
    assert!(acts < AT.load(SeqCst), "what should have happened did not");
}

fn act(vault: &Vault, step: &str) -> Result<(), Error> {
    let words: Vec<_> = step.split(' ').collect();
    match words[..] {
        ["master"] => vault
            .enter_whole(ADMIN, Register::Current, &MASTER)
            .map(drop),
        ["new"] => vault.enter_whole(ADMIN, Register::New, &NEXT).map(drop),
        ["insert", text] => vault.insert(ADMIN, &key(text)).map(drop),
        ["rename", from, to] => vault.rename(ADMIN, &name(from), &name(to)).map(drop),
        ["grant", text] => vault.set_grants(ADMIN, &name(text), &granted()).map(drop),
        ["delete" | "delete-token", text] => vault.delete(ADMIN, &name(text)),
        ["token", text] => vault.create_token(ADMIN, &token(text, None)).map(drop),
        ["object", text] => {
            let token = vault.token(&name("t"))?;
            vault
                .insert_objects(ADMIN, &token, &[object(text)])
                .map(drop)
        }
        ["change", text, to] => {
            let (token, id) = find(vault, text)?;
            vault.change_object(&token, id, object(to).attributes)
        }
        ["destroy", text] => {
            let (token, id) = find(vault, text)?;
            vault.destroy_object(ADMIN, &token, id)
        }
        ["pins"] => {
            let pins = Some((&b"officer"[..], Some(&b"right"[..])));
            vault.create_token(ADMIN, &token("t", pins)).map(drop)
        }
        ["try", pin] => {
            let id = vault.token(&name("t"))?.record.id;
            match vault.log_in(ADMIN, id, Role::User, Some(pin.as_bytes())) {
                Err(Error::WrongPin { .. }) => Ok(()),
                other => other.map(drop),
            }
        }
        ["prepare"] => vault.prepare(ADMIN, drop).map(drop),
        ["activate"] => vault.activate(ADMIN),
        ["finalise"] => vault.finalise(ADMIN),
        ["backup"] => vault.backup(ADMIN, std::env::var("VAULT_BACKUP").expect("a place")),
        _ => panic!("no step: {step}"),
    }
}

fn token<'a>(text: &str, pins: Option<(&'a [u8], Option<&'a [u8]>)>) -> NewToken<'a> {
    NewToken {
        name: name(text),
        label: "Token",
        pins,
    }
}

fn object(text: &str) -> NewObject {
    NewObject {
        private: true,
        attributes: text.as_bytes().to_vec().into(),
        key: Some(ObjectsKey {
            key_type: KeyType::P256,
            private: private(text).into(),
        }),
        public: None,
    }
}

/// The token with the object of that text.
fn find(vault: &Vault, text: &str) -> Result<(Token, KeyId), Error> {
    let token = vault.token(&name("t"))?;
    let mut objects = vault.objects(&token, None, usize::MAX)?.objects.into_iter();
    let is_meant = |object: &Object| object.content.attributes[..] == *text.as_bytes();
    let object = objects.find(is_meant).expect("it was acknowledged");
    Ok((token, object.id))
}

/// The texts of a token's objects, where there is that token.
fn texts(vault: &Vault) -> Option<BTreeSet<String>> {
    let token = match vault.token(&name("t")) {
        Err(Error::NoToken { .. } | Error::Empty) => return None,
        token => token.expect("it is whole"),
    };
    let page = vault.objects(&token, None, usize::MAX).expect("a page");
    assert!(page.damaged.is_empty(), "{:?}", page.damaged);
    let text = |object: &Object| String::from_utf8(object.content.attributes.to_vec());
    let texts = page
        .objects
        .iter()
        .map(|object| text(object).expect("text"));
    Some(texts.collect())
}

fn granted() -> Grants {
    Grants::from_iter([(Subject::Group(5), Right::Administer)])
}

/// Where space ran out, the error says so.
fn ended(error: &Error) -> ! {
    if !matches!(error, Error::Full { .. }) {
        println!("\n{error}");
        eprintln!("not the error of a full disk: {error:?}");
        std::process::abort();
    }
    std::process::exit(3);
}

/// That the store is what the acknowledged steps made, with or without the one that was tried.
fn check(place: &Place, acknowledged: &[String], tried: Option<&str>) {
    assert!(
        !acknowledged
            .iter()
            .map(String::as_str)
            .ne(STEPS[..acknowledged.len()].iter().copied())
    );
    let vault = match Vault::open(place.store()) {
        Ok(vault) => vault,
        Err(Error::Missing { .. }) if acknowledged.is_empty() => {
            // It was not created: then it can be.
            drop(place.create());
            return;
        }
        Err(error) => panic!("after {acknowledged:?} and {tried:?}: {error}"),
    };
    let context = format!("after {acknowledged:?} and {tried:?}");
    for key in [MASTER, NEXT] {
        match vault.register_of(Pattern::of_key(&key)) {
            Some(register) => drop(vault.enter_whole(ADMIN, register, &key).expect(&context)),
            None => assert!(!(key == MASTER && acknowledged.len() == 2), "{context}"),
        }
    }
    let before = keys_after(acknowledged.iter().map(String::as_str));
    let after = keys_after(acknowledged.iter().map(String::as_str).chain(tried));
    let listing = vault.records().expect(&context);
    assert!(
        listing.damaged.is_empty(),
        "{context}: {:?}",
        listing.damaged
    );
    let mut found = BTreeMap::new();
    for record in listing.records {
        let private = match vault.status().condition {
            outboard_vault::Condition::Open => vault.material(record.id).expect(&context).to_vec(),
            _ => panic!("{context}: keys without a master key"),
        };
        let granted = record.grants == granted();
        found.insert(record.name.to_string(), (private, granted));
    }
    assert!(
        found == before || found == after,
        "{context}: {:?}",
        found.keys()
    );
    let before = texts_after(acknowledged.iter().map(String::as_str));
    let after = texts_after(acknowledged.iter().map(String::as_str).chain(tried));
    let found_texts = texts(&vault);
    assert!(
        found_texts == before || found_texts == after,
        "{context}: {found_texts:?}"
    );
    vault.verify().expect(&context);
    if !acknowledged.iter().any(|step| step == "master") {
        return;
    }
    // The roll goes on from wherever it was, and the store takes changes.
    vault.insert(ADMIN, &key("after")).expect(&context);
    if vault.status().new.pattern.is_some() {
        if vault.status().phase != Phase::Prepared {
            vault.prepare(ADMIN, drop).expect(&context);
        }
        vault.activate(ADMIN).expect(&context);
    }
    if vault.status().phase == Phase::Activated {
        vault.finalise(ADMIN).expect(&context);
    }
    let tokens = u64::from(found_texts.is_some());
    let keys = vault.verify().expect(&context).keys;
    assert_eq!(keys, found.len() as u64 + 1 + tokens);
    assert_eq!(texts(&vault), found_texts);
}

/// What [`texts`] says.
fn texts_after<'a>(steps: impl Iterator<Item = &'a str>) -> Option<BTreeSet<String>> {
    let mut texts: Option<BTreeSet<String>> = None;
    for step in steps {
        let words: Vec<_> = step.split(' ').collect();
        match (&words[..], &mut texts) {
            (["token", _], _) => texts = Some(BTreeSet::new()),
            (["delete-token", _], _) => texts = None,
            (["object", text], Some(texts)) => drop(texts.insert((*text).to_owned())),
            (["destroy", text], Some(texts)) => drop(texts.remove(*text)),
            (["change", text, to], Some(texts)) => {
                texts.remove(*text);
                texts.insert((*to).to_owned());
            }
            _ => {}
        }
    }
    texts
}

/// Name, private half, whether granted.
fn keys_after<'a>(steps: impl Iterator<Item = &'a str>) -> BTreeMap<String, (Vec<u8>, bool)> {
    let mut keys = BTreeMap::new();
    for step in steps {
        let words: Vec<_> = step.split(' ').collect();
        match words[..] {
            ["insert", name] => drop(keys.insert(name.to_owned(), (private(name), false))),
            ["delete", name] => drop(keys.remove(name)),
            ["grant", name] => keys.get_mut(name).expect("it").1 = true,
            ["rename", from, to] => {
                let key = keys.remove(from).expect("it");
                keys.insert(to.to_owned(), key);
            }
            _ => {}
        }
    }
    keys
}

/// Counts a call; whether it fails for want of space. May not return.
fn fails(within: impl FnOnce()) -> bool {
    let call = CALLS.fetch_add(1, SeqCst) + 1;
    let at = AT.load(SeqCst);
    match MODE.load(SeqCst) {
        0 | 1 if call != at => false,
        mode @ (0 | 1) => {
            if mode == 1 {
                within();
            }
            // SAFETY: this process is the test's child.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
            true
        }
        2 => call == at,
        _ => call >= at,
    }
}

fn no_space() {
    // SAFETY: this thread's own error number.
    unsafe { *libc::__errno_location() = libc::ENOSPC };
}

unsafe extern "C" fn write(file: c_int, data: *const c_void, length: usize) -> isize {
    let half = || {
        // SAFETY: half of what the caller gives.
        let _ = unsafe { libc::write(file, data, length / 2) };
    };
    if fails(half) {
        no_space();
        return -1;
    }
    // SAFETY: as called.
    unsafe { libc::write(file, data, length) }
}

unsafe extern "C" fn pwrite(file: c_int, data: *const c_void, length: usize, at: i64) -> isize {
    let half = || {
        // SAFETY: half of what the caller gives.
        let _ = unsafe { libc::pwrite(file, data, length / 2, at) };
    };
    if fails(half) {
        no_space();
        return -1;
    }
    // SAFETY: as called.
    unsafe { libc::pwrite(file, data, length, at) }
}

unsafe extern "C" fn ftruncate(file: c_int, length: i64) -> c_int {
    // To shorten a file needs no space.
    if MODE.load(SeqCst) < 2 {
        fails(|| {});
    }
    // SAFETY: as called.
    unsafe { libc::ftruncate(file, length) }
}

unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    if MODE.load(SeqCst) < 2 {
        fails(|| {});
    }
    // SAFETY: as called.
    unsafe { libc::unlink(path) }
}

/// Puts the functions above into the place of SQLite's.
fn replace_calls() {
    let calls: [(&std::ffi::CStr, *const c_void); 5] = [
        (c"write", write as *const c_void),
        (c"pwrite", pwrite as *const c_void),
        (c"pwrite64", pwrite as *const c_void),
        (c"ftruncate", ftruncate as *const c_void),
        (c"unlink", unlink as *const c_void),
    ];
    // SAFETY: the default file system of SQLite is there for as long as the process; the functions have the types of those
    // that they replace, and no database is open yet.
    unsafe {
        assert_eq!(ffi::sqlite3_initialize(), ffi::SQLITE_OK);
        let system = ffi::sqlite3_vfs_find(std::ptr::null());
        let set = (*system).xSetSystemCall.expect("of unix");
        for (call, function) in calls {
            let function: ffi::sqlite3_syscall_ptr = std::mem::transmute(function);
            let set = set(system, call.as_ptr(), function);
            assert!(set == ffi::SQLITE_OK || call == c"pwrite64" || call == c"pwrite");
        }
    }
}
