//! Tokens of the card service: PINs, tickets, objects, and who may do what.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{NOBODY, Service, ask, connect, wait_until};
use outboard_administration::{
    Code, Connection, Error, Grant, Login, MOST_ATTRIBUTES, NewObject, ObjectInfo, Pins, Reply,
    Request, Right, Role, Secret, Subject, TokenInfo, TokenPolicy, TokenRequest,
};
use outboard_wire::{Operation, Status, Ticket, attributes};

fn secret(text: &str) -> Secret {
    Secret::new(text.as_bytes())
}

fn request(ticket: Option<&Secret>, what: TokenRequest) -> Request {
    Request::Token {
        token: "web".into(),
        ticket: ticket.cloned(),
        what,
    }
}

/// The reply, or why there is none.
fn told(service: &Service, ticket: Option<&Secret>, what: TokenRequest) -> Result<Reply, Code> {
    match service.ask(request(ticket, what)) {
        Ok(reply) => Ok(reply),
        Err(Error::Refused(refusal)) => Err(refusal.code),
        Err(error) => panic!("{error}"),
    }
}

fn code(service: &Service, ticket: Option<&Secret>, what: TokenRequest) -> Option<Code> {
    told(service, ticket, what).err()
}

/// A service with a token that this user may use.
fn with_token() -> Service {
    let service = Service::start();
    let pins = Pins {
        officer: secret("officer"),
        user: Some(secret("user")),
    };
    let create = TokenRequest::Create {
        label: "Web server".into(),
        pins: Some(pins),
    };
    assert_eq!(code(&service, None, create), None);
    grant(&service, rustix::process::getuid().as_raw(), true);
    service
}

fn grant(service: &Service, uid: u32, given: bool) {
    let grant = Request::Grant {
        name: "web".into(),
        grant: Grant {
            to: Subject::User(uid),
            right: Right::Use,
        },
        given,
    };
    match service.ask(grant).unwrap() {
        Reply::Tokens { tokens } => assert_eq!(tokens[0].name, "web"),
        reply => panic!("{reply:?}"),
    }
}

fn show(service: &Service) -> TokenInfo {
    match told(service, None, TokenRequest::Show) {
        Ok(Reply::Tokens { mut tokens }) => tokens.remove(0),
        reply => panic!("{reply:?}"),
    }
}

fn login(role: Role, pin: &str) -> TokenRequest {
    TokenRequest::Login {
        role,
        pin: Some(secret(pin)),
    }
}

fn ticket(service: &Service, role: Role, pin: &str) -> Secret {
    match told(service, None, login(role, pin)) {
        Ok(Reply::Ticket { ticket }) => ticket,
        reply => panic!("{reply:?}"),
    }
}

fn set_pin(old: &str, new: &str) -> TokenRequest {
    TokenRequest::SetPin {
        role: Role::User,
        old: secret(old),
        new: secret(new),
    }
}

fn new_object(private: bool, attributes: &str) -> NewObject {
    NewObject {
        private,
        attributes: secret(attributes),
    }
}

fn insert(private: bool, attributes: &str) -> TokenRequest {
    TokenRequest::Insert {
        object: new_object(private, attributes),
        key: None,
    }
}

fn generate(kind: &str) -> TokenRequest {
    TokenRequest::Generate {
        kind: kind.into(),
        private: new_object(true, "private"),
        public: new_object(false, "public"),
    }
}

fn objects(reply: Result<Reply, Code>) -> (u64, Vec<ObjectInfo>, bool) {
    match reply {
        Ok(Reply::Objects {
            generation,
            objects,
            damaged,
            more,
        }) => {
            assert!(damaged.is_empty());
            (generation, objects, more)
        }
        reply => panic!("{reply:?}"),
    }
}

/// How a signature by a token's key ends.
fn sign(directory: &Path, key: &str, ticket: Option<&Secret>) -> Status {
    let ticket: Option<[u8; 32]> = ticket.map(|ticket| ticket.0[..].try_into().unwrap());
    let mut packet = Vec::new();
    outboard_wire::Request {
        id: 7,
        key: key.parse().unwrap(),
        ticket: ticket.as_ref().map(Ticket),
        operation: Operation::Ed25519 { message: b"hello" },
    }
    .encode(&mut packet);
    ask(connect(directory), &packet).unwrap()
}

#[test]
fn a_token_s_key_serves_with_a_ticket() {
    let mut service = with_token();
    let first = ticket(&service, Role::User, "user");
    let (_, pair, _) = objects(told(&service, Some(&first), generate("ed25519")));
    assert_eq!(pair[0].kind.as_deref(), Some("ed25519"));
    assert!(pair[0].public.is_some() && pair[0].public == pair[1].public);
    let (key, public) = (pair[0].id.clone(), pair[1].id.clone());
    let signs = |service: &Service, ticket: Option<&Secret>| sign(service.path(), &key, ticket);
    assert_eq!(signs(&service, Some(&first)), Status::Done);
    assert_eq!(signs(&service, None), Status::LoggedOut);
    let mut other = first.clone();
    other.0[31] ^= 1;
    assert_eq!(signs(&service, Some(&other)), Status::LoggedOut);
    let officer = ticket(&service, Role::Officer, "officer");
    assert_eq!(signs(&service, Some(&officer)), Status::LoggedOut);
    assert_eq!(sign(service.path(), &public, Some(&first)), Status::NoKey);
    let token = show(&service);
    assert_eq!(sign(service.path(), &token.id, Some(&first)), Status::NoKey);
    // A restart ends no ticket.
    service.kill(Duration::ZERO);
    wait_until(|| Connection::open(service.path()).is_ok());
    assert_eq!(signs(&service, Some(&first)), Status::Done);
    // A new PIN does, and so does a grant that is taken back.
    assert_eq!(code(&service, None, set_pin("user", "next")), None);
    assert_eq!(signs(&service, Some(&first)), Status::LoggedOut);
    let second = ticket(&service, Role::User, "next");
    assert_eq!(signs(&service, Some(&second)), Status::Done);
    let us = rustix::process::getuid().as_raw();
    grant(&service, us, false);
    assert_eq!(signs(&service, Some(&second)), Status::Denied);
    grant(&service, us, true);
    assert_eq!(signs(&service, Some(&second)), Status::Done);
    match service.ask(Request::Usage { after: None }).unwrap() {
        Reply::Usage { keys, .. } => assert_eq!((keys.len(), &*keys[0].name), (1, "web")),
        reply => panic!("{reply:?}"),
    }
    let destroy = TokenRequest::Destroy {
        object: key.clone(),
    };
    assert_eq!(code(&service, Some(&second), destroy), None);
    assert_eq!(signs(&service, Some(&second)), Status::NoKey);
    // Service keys know nothing of it, and it does not pass for one.
    match service.ask(Request::List { after: None }).unwrap() {
        Reply::Keys { keys, .. } => assert!(keys.is_empty()),
        reply => panic!("{reply:?}"),
    }
    let shown = service.ask(Request::Show { name: "web".into() });
    assert!(matches!(shown, Err(Error::Refused(refusal)) if refusal.code == Code::NoKey));
}

#[test]
fn a_locked_pin_stays_locked_over_restarts() {
    let mut service = with_token();
    for failures in 1..=10 {
        let wrong = code(&service, None, login(Role::User, "wrong"));
        assert_eq!(wrong, Some(Code::WrongPin));
        let locked = failures == 10;
        assert_eq!(show(&service).user, Login::Pin { failures, locked });
        if failures == 5 {
            service.kill(Duration::ZERO);
            wait_until(|| Connection::open(service.path()).is_ok());
        }
    }
    service.kill(Duration::ZERO);
    wait_until(|| Connection::open(service.path()).is_ok());
    let right = code(&service, None, login(Role::User, "user"));
    assert_eq!(right, Some(Code::LockedPin));
    let init = || TokenRequest::InitPin {
        pin: secret("fresh"),
    };
    assert_eq!(code(&service, None, init()), Some(Code::LoggedOut));
    let officer = ticket(&service, Role::Officer, "officer");
    assert_eq!(code(&service, Some(&officer), init()), None);
    let user = ticket(&service, Role::User, "fresh");
    assert_eq!(code(&service, Some(&user), init()), Some(Code::LoggedOut));
    for unfit in ["abc", &"x".repeat(256)] {
        let set = code(&service, None, set_pin("fresh", unfit));
        assert_eq!(set, Some(Code::UnfitPin));
    }
}

#[test]
fn objects_are_for_those_who_logged_in() {
    let service = with_token();
    let list = |ticket: Option<&Secret>, known, after: Option<&str>| {
        let after = after.map(str::to_owned);
        objects(told(
            &service,
            ticket,
            TokenRequest::Objects { known, after },
        ))
    };
    let user = ticket(&service, Role::User, "user");
    let officer = ticket(&service, Role::Officer, "officer");
    assert_eq!(
        code(&service, None, insert(false, "a")),
        Some(Code::LoggedOut)
    );
    let by_officer = code(&service, Some(&officer), insert(true, "a"));
    assert_eq!(by_officer, Some(Code::LoggedOut));
    let (_, public, _) = objects(told(&service, Some(&officer), insert(false, "public")));
    let attributes = |values: [(u64, &'static str); 2]| {
        let bytes = attributes::write(&values.into_iter().collect());
        String::from_utf8(bytes).unwrap()
    };
    let first = attributes([(1, "private"), (2, "stays")]);
    let (_, private, _) = objects(told(&service, Some(&user), insert(true, &first)));
    let (for_all, seen, _) = list(None, 0, None);
    assert_eq!(seen, public);
    assert_eq!(list(Some(&officer), 0, None).1, public);
    // Nothing has changed: but who logs in sees more.
    assert_eq!(list(None, for_all, None), (for_all, vec![], false));
    let (generation, seen, more) = list(Some(&user), for_all, None);
    assert_eq!((seen.len(), more), (2, false));
    let change = |ticket, object: &ObjectInfo| {
        let changed = TokenRequest::Change {
            object: object.id.clone(),
            attributes: secret(&attributes([(1, "changed"), (3, "new")])),
        };
        code(&service, ticket, changed)
    };
    let destroy = |ticket, object: &str| {
        let object = object.to_owned();
        code(&service, ticket, TokenRequest::Destroy { object })
    };
    assert_eq!(change(Some(&officer), &private[0]), Some(Code::LoggedOut));
    assert_eq!(
        destroy(Some(&officer), &private[0].id),
        Some(Code::LoggedOut)
    );
    assert_eq!(change(None, &public[0]), Some(Code::LoggedOut));
    assert_eq!(change(Some(&user), &private[0]), None);
    assert_ne!(list(Some(&user), generation, None).0, generation);
    let after = [(1, "changed"), (2, "stays"), (3, "new")];
    let after = attributes::write(&BTreeMap::from(after));
    let found = list(Some(&user), 0, None).1;
    let changed = found.iter().find(|object| object.private).unwrap();
    assert_eq!(
        (&*changed.id, &changed.attributes),
        (&*private[0].id, &Secret::new(&after))
    );
    // What is no attributes changes nothing.
    assert_eq!(change(Some(&user), &public[0]), Some(Code::Malformed));
    assert_eq!(destroy(Some(&user), &"0".repeat(32)), Some(Code::NoKey));
    assert_eq!(destroy(Some(&user), "none"), Some(Code::Malformed));
    assert_eq!(destroy(Some(&officer), &public[0].id), None);
    assert_eq!(show(&service).objects, 1);

    // What is large comes in pages.
    let large = "x".repeat(MOST_ATTRIBUTES);
    for _ in 0..40 {
        assert_eq!(code(&service, Some(&user), insert(false, &large)), None);
    }
    let longer = insert(false, &format!("{large}x"));
    assert_eq!(code(&service, Some(&user), longer), Some(Code::Full));
    let (mut ids, mut pages) = (Vec::new(), 0);
    loop {
        let (_, page, more) = list(None, 0, ids.last().map(String::as_str));
        ids.extend(page.into_iter().map(|object| object.id));
        pages += 1;
        if !more {
            break;
        }
    }
    assert!(ids.is_sorted() && ids.len() == 40 && pages > 1, "{pages}");
}

#[test]
fn a_policy_restricts_what_keys_there_are() {
    let service = with_token();
    let user = ticket(&service, Role::User, "user");
    let set = |types: &[&str]| {
        let policy = TokenPolicy {
            types: Some(types.iter().map(|&kind| kind.to_owned()).collect()),
            mechanisms: None,
        };
        code(&service, None, TokenRequest::Policy { policy })
    };
    assert_eq!(set(&["dsa"]), Some(Code::Malformed));
    assert_eq!(set(&["p256"]), None);
    assert_eq!(show(&service).policy.types, Some(vec!["p256".into()]));
    assert_eq!(code(&service, Some(&user), generate("p256")), None);
    let refused = Some(Code::NotAllowed);
    assert_eq!(code(&service, Some(&user), generate("ed25519")), refused);
    let ed25519 = include_bytes!("../fuzz/keys/ed25519.der");
    let import = |key: &[u8]| TokenRequest::Insert {
        object: new_object(true, "imported"),
        key: Some(Secret::new(key)),
    };
    assert_eq!(code(&service, Some(&user), import(ed25519)), refused);
    assert_eq!(set(&["ed25519"]), None);
    let (_, imported, _) = objects(told(&service, Some(&user), import(ed25519)));
    assert_eq!(imported[0].kind.as_deref(), Some("ed25519"));
    assert_eq!(
        sign(service.path(), &imported[0].id, Some(&user)),
        Status::Done
    );
    let damaged = code(&service, Some(&user), import(&ed25519[..40]));
    assert_eq!(damaged, Some(Code::Malformed));
}

#[test]
fn a_new_beginning_ends_everything() {
    let service = with_token();
    let user = ticket(&service, Role::User, "user");
    let (_, pair, _) = objects(told(&service, Some(&user), generate("ed25519")));
    let initialise = |pin: &str| TokenRequest::Initialise {
        pin: Some(secret(pin)),
        label: "Empty".into(),
    };
    assert_eq!(
        code(&service, None, initialise("user")),
        Some(Code::WrongPin)
    );
    assert_eq!(sign(service.path(), &pair[0].id, Some(&user)), Status::Done);
    assert_eq!(code(&service, None, initialise("officer")), None);
    assert_eq!(
        sign(service.path(), &pair[0].id, Some(&user)),
        Status::NoKey
    );
    let token = show(&service);
    assert_eq!(
        (&*token.label, token.objects, token.user),
        ("Empty", 0, Login::Unset)
    );
    assert_eq!(
        code(&service, None, login(Role::User, "user")),
        Some(Code::NoPin)
    );
    assert_eq!(code(&service, None, TokenRequest::Delete), None);
    assert_eq!(code(&service, None, TokenRequest::Show), Some(Code::NoKey));
    assert!(matches!(
        service.ask(Request::CheckAudit).unwrap(),
        Reply::Done
    ));
}

#[test]
fn another_user_has_what_is_granted() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let service = with_token();
    let user = ticket(&service, Role::User, "user");
    let (_, pair, _) = objects(told(&service, Some(&user), generate("ed25519")));
    let as_another = || {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "as_another_user", "--nocapture"])
            .env("TOKEN_DIRECTORY", service.path())
            .env("TOKEN_KEY", &pair[0].id)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .uid(NOBODY)
            .gid(NOBODY)
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&user.0).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("saw: "));
        line.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let nothing = "tokens 0, login NoKey, delete NoKey, policy NoKey, create Denied, foreign Denied, own none";
    assert_eq!(as_another(), nothing);
    grant(&service, NOBODY, true);
    let granted = "tokens 1, login done, delete Denied, policy Denied, create Denied, foreign LoggedOut, own Done";
    assert_eq!(as_another(), granted);
}

/// The other side of [`another_user_has_what_is_granted`].
#[test]
fn as_another_user() {
    use std::io::Read;
    let Some(directory) = std::env::var_os("TOKEN_DIRECTORY") else {
        return;
    };
    let directory = Path::new(&directory);
    let key = std::env::var("TOKEN_KEY").unwrap();
    let mut foreign = vec![0; 32];
    std::io::stdin().read_exact(&mut foreign).unwrap();
    let mut service = Connection::open(directory).unwrap();
    let tokens = match service.ask(&Request::Tokens).unwrap() {
        Reply::Tokens { tokens } => tokens.len(),
        reply => panic!("{reply:?}"),
    };
    let mut own = None;
    let mut ends = |what| match service.ask(&request(None, what)) {
        Ok(Reply::Ticket { ticket }) => {
            own = Some(ticket);
            "done".to_owned()
        }
        Ok(_) => "done".into(),
        Err(Error::Refused(refusal)) => format!("{:?}", refusal.code),
        Err(error) => panic!("{error}"),
    };
    let policy = TokenPolicy::default();
    let [login, delete, policy, create] = [
        login(Role::User, "user"),
        TokenRequest::Delete,
        TokenRequest::Policy { policy },
        TokenRequest::Create {
            label: "Mine".into(),
            pins: None,
        },
    ]
    .map(&mut ends);
    let foreign = sign(directory, &key, Some(&Secret::new(&foreign)));
    let own = own.map_or("none".into(), |own| {
        format!("{:?}", sign(directory, &key, Some(&own)))
    });
    println!(
        "\nsaw: tokens {tokens}, login {login}, delete {delete}, policy {policy}, create {create}, \
         foreign {foreign:?}, own {own}"
    );
}
