//! Which keys a client may use, page by page.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{NOBODY, Service};
use outboard_administration::{Grant, Request, Right, Subject};
use outboard_client::{Client, Settings};

#[test]
fn a_client_learns_of_the_keys_that_it_may_use_and_of_changes() {
    let service = Service::start();
    let client = Client::new(Settings::of(service.path()));
    let none = client.list(0).unwrap();
    assert_eq!(none.keys, []);
    let mut made: Vec<String> = (0..300).map(|number| format!("key-{number}")).collect();
    for name in &made {
        service.key(name);
    }
    let revoke = Request::Grant {
        name: "key-7".to_owned(),
        grant: Grant {
            to: Subject::User(rustix::process::getuid().as_raw()),
            right: Right::Use,
        },
        given: false,
    };
    service.ask(revoke).unwrap();
    service.grant("key-8", NOBODY);
    made.retain(|name| name != "key-7");
    made.sort();
    // More than one answer has.
    let listed = client.list(none.generation).unwrap();
    let names = |page: &outboard_wire::Page| -> Vec<String> {
        let name = |listed: &outboard_wire::Listed| listed.reference.name.clone();
        page.keys.iter().map(name).collect()
    };
    assert_eq!(names(&listed), made);
    // Nothing has changed, so nothing is told.
    let same = client.list(listed.generation).unwrap();
    assert_eq!((same.generation, same.keys), (listed.generation, vec![]));
    let name = "key-9".to_owned();
    service.ask(Request::Delete { name: name.clone() }).unwrap();
    let changed = client.list(listed.generation).unwrap();
    made.retain(|other| *other != name);
    assert_ne!(changed.generation, listed.generation);
    assert_eq!(names(&changed), made);
}
