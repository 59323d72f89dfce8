//! Reloads, log rotation, a new module and a new libssl under load: no request fails, nothing crashes.

use crate::house::House;
use crate::servers::{APACHE, HAPROXY, NGINX, Packaged, SSH};
use std::sync::atomic::{AtomicBool, Ordering};

/// How often all of it happens to each server.
fn cycles() -> u32 {
    let cycles = std::env::var("OUTBOARD_CYCLES").ok();
    cycles.map_or(2, |text| text.parse().expect("a number"))
}

/// As a package's upgrade does it: a new file takes the place of the old one by one rename.
const NEW_LIBSSL: &str = "
directory=$(dirname \"$(ldconfig -p | sed -n 's/.*libssl[.]so[.]3 .*=> //p' | head -n1)\")
for name in libcrypto.so.3 libssl.so.3; do
    cp \"$directory/$name\" \"$directory/$name.new\"
    mv -fT \"$directory/$name.new\" \"$directory/$name\"
done";

/// Requests while `change` happens, until it has happened; each one over a connection of its own.
fn under_load(house: &House, ask: fn(&House), change: impl Fn(&House) + Sync) -> u32 {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let changing = scope.spawn(|| {
            let _last = Last(&done);
            for _ in 0..cycles() {
                change(house);
            }
        });
        let mut loads = 0;
        while !done.load(Ordering::Relaxed) {
            ask(house);
            loads += 1;
        }
        changing.join().expect("it was changed");
        loads
    })
}

/// Says that there is no more to come, also where a change fails.
struct Last<'a>(&'a AtomicBool);

impl Drop for Last<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What is done to every server: its unit's reload, its package's rotation of logs, `make install`, libssl.
fn change(house: &House, unit: &str) {
    let reload = || house.machine.reload(unit).expect("it reloads");
    reload();
    house.stock_shell(&format!(
        "test ! -e /etc/logrotate.d/{unit} || logrotate --force /etc/logrotate.d/{unit}"
    ));
    house.install();
    reload();
    house.shell(NEW_LIBSSL);
    reload();
}

#[test]
fn reloads_rotations_and_upgrades_under_load_fail_no_request() {
    let programs = [
        "a2enmod",
        "nginx",
        "haproxy",
        "sshd",
        "ssh",
        "ssh-keygen",
        "curl",
        "h2load",
        "logrotate",
    ];
    let Some(house) = House::new(&programs) else {
        return;
    };
    house.enable();
    for server in [NGINX, HAPROXY, APACHE, SSH] {
        server.prepare(&house);
        house.forget();
        house.machine.restart(server.unit).expect("it starts");
        server.answer(&house);
        let ask = if server.unit == SSH.unit {
            log_in
        } else {
            requests
        };
        let loads = under_load(&house, ask, |house| change(house, server.unit));
        restart(&house, &server);
        assert!(loads > 1, "{}: no load", server.unit);
        assert!(!house.served().is_empty(), "{}: not counted", server.unit);
        house.machine.stop(server.unit).expect("it stops");
        house.assert_no_crash(server.unit);
        eprintln!(
            "{}: {} cycles, {loads} loads, none failed",
            server.unit,
            cycles()
        );
    }
}

/// 200 of them, 8 at once.
fn requests(house: &House) {
    let said = house.stock_shell(
        "h2load --h1 '--header=Connection: close' --clients=8 --requests=200 https://localhost/",
    );
    assert!(
        said.contains("200 succeeded, 0 failed, 0 errored, 0 timeout"),
        "{said}"
    );
}

/// A reloaded sshd executes itself anew, and nobody listens meanwhile, with Outboard or without: a connection that is refused
/// then is made again. What happens after the connection counts.
fn log_in(house: &House) {
    let ask = SSH.ask.replace("2>/dev/null", "2>/root/said");
    house.stock_shell(&format!(
        "for try in $(seq 50); do\n\
         {ask} && exit\n\
         grep -qE 'Connection refused|kex_exchange_identification' /root/said || break\n\
         sleep 0.2\n\
         done\n\
         cat /root/said >&2; exit 1"
    ));
}

/// Nobody listens while a server restarts: what is asked of it is that it comes back each time.
fn restart(house: &House, server: &Packaged) {
    for _ in 0..cycles() {
        // systemd refuses to start a unit more often than StartLimitBurst= times in StartLimitIntervalSec=.
        house.shell(&format!("systemctl reset-failed {}", server.unit));
        house.machine.restart(server.unit).expect("it restarts");
        server.answer(house);
    }
}
