//! stunnel under Outboard: a thread for each connection.

use outboard_engine::Operation;
use outboard_programs::{Launch, StunnelOptions, free_port};

use crate::clients::{Droppers, assert_shook_hands, echo, hello, one_line};
use crate::recipes::recipe;
use crate::stand::{is_stock_alone, served, site};

const PROGRAMS: [&str; 2] = ["stunnel", "openssl"];

#[test]
fn connections_at_once_come_through() {
    let Some((stand, certificate)) = site(&PROGRAMS, "rsa:2048") else {
        return;
    };
    let options = StunnelOptions {
        openssl: &stand.outboard,
        certificate: &certificate,
        connect: echo(),
        resumption: false,
        core: None,
        settings: "",
    };
    let mut stunnel = options.start(&stand.workplace).unwrap();
    let droppers = Droppers::start(&hello(&stand.stock), stunnel.port, 4);
    let clients: Vec<_> = (0..24).map(|_| one_line(&stand, stunnel.port)).collect();
    clients.into_iter().for_each(assert_shook_hands);
    assert!(droppers.stop() > 0);
    assert!(stunnel.is_running(), "{}", stunnel.log());
    if !is_stock_alone() {
        assert!(served(&stand.counts(), Operation::Rsa2048Sign) >= 24);
    }
    stunnel.stop().unwrap();
}

#[test]
fn the_recipe_works() {
    let Some((stand, certificate)) = site(&PROGRAMS, "rsa:2048") else {
        return;
    };
    let port = free_port().unwrap();
    let text = recipe(
        "stunnel",
        &[
            (
                "/etc/stunnel/site.crt",
                &certificate.certificate.display().to_string(),
            ),
            (
                "/etc/stunnel/site.key",
                &certificate.key.display().to_string(),
            ),
            (":::993", &format!("127.0.0.1:{port}")),
            ("127.0.0.1:143", &format!("127.0.0.1:{}", echo())),
        ],
    );
    let configuration = stand
        .workplace
        .write("recipe.conf", format!("foreground = yes\npid =\n{text}"));
    let launch = Launch::new("stunnel")
        .unwrap()
        .arg(configuration.unwrap())
        .with(&stand.outboard);
    let mut stunnel = launch.start(&stand.workplace.join("recipe.log")).unwrap();
    stunnel.wait_for_port(port).unwrap();
    assert_shook_hands(one_line(&stand, port));
    stand.assert_served(&[Operation::Rsa2048Sign]);
}
