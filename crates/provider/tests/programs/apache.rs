//! Apache httpd under Outboard: many threads in one process.

use outboard_engine::Operation;
use outboard_programs::{ApacheOptions, ApacheWorkers, Certificate, Server};

use crate::clients::{Droppers, assert_all_answered, hello, load};
use crate::recipes::recipe;
use crate::stand::{Stand, assert_served_times, site, until_on_cards};

const PROGRAMS: [&str; 4] = ["apache2", "h2load", "curl", "openssl"];

fn start(stand: &Stand, certificate: &Certificate, settings: &str) -> Server {
    let options = ApacheOptions {
        openssl: &stand.outboard,
        certificates: &[certificate],
        files: None,
        workers: ApacheWorkers::Threads(64),
        resumption: false,
        core: None,
        settings,
    };
    options.start(&stand.workplace).unwrap()
}

#[test]
fn threads_share_the_lanes() {
    for (new_key, operation) in [
        ("rsa:4096", Operation::Rsa4096Sign),
        ("ec -pkeyopt ec_paramgen_curve:P-384", Operation::P384Sign),
    ] {
        let Some((stand, certificate)) = site(&PROGRAMS, new_key) else {
            return;
        };
        let apache = start(&stand, &certificate, "");
        let share = || {
            let load = load(&stand.stock, apache.port, 64, 640).succeed().unwrap();
            assert_all_answered(&load.output, 640);
        };
        let times = if operation == Operation::Rsa4096Sign {
            until_on_cards(&stand, operation, share)
        } else {
            share();
            1
        };
        assert_served_times(&stand.counts(), operation, 640 * times);
        apache.stop().unwrap();
    }
}

#[test]
fn it_restarts_gracefully_and_bears_resets() {
    let Some((stand, certificate)) = site(&PROGRAMS, "rsa:2048") else {
        return;
    };
    let mut apache = start(&stand, &certificate, "");
    let droppers = Droppers::start(&hello(&stand.stock), apache.port, 4);
    for _ in 0..2 {
        let load = load(&stand.stock, apache.port, 16, 200).succeed().unwrap();
        assert_all_answered(&load.output, 200);
        apache.reload().unwrap();
        assert_eq!(
            certificate.fetch(&stand.stock, &apache.url("")).unwrap(),
            "ok\n"
        );
    }
    assert!(droppers.stop() > 0);
    assert!(apache.is_running(), "{}", apache.log());
    assert!(!apache.log().contains("exit signal"), "{}", apache.log());
    apache.stop().unwrap();
}

#[test]
fn the_recipe_works() {
    let Some((stand, certificate)) = site(&PROGRAMS, "rsa:2048") else {
        return;
    };
    let apache = start(&stand, &certificate, &recipe("apache", &[]));
    let load = load(&stand.stock, apache.port, 16, 100).succeed().unwrap();
    assert_all_answered(&load.output, 100);
    stand.assert_served(&[Operation::Rsa2048Sign]);
    apache.stop().unwrap();
}
