//! Which programs have references to keys of the card service: known before they ask for a key, and for as long as they could.

mod common;

use common::service::{Service, us};
use outboard_processes::Process;
use outboard_programs::{Certificate, Nginx, NginxOptions, OpenSsl, Workplace};

/// Whether the worker of an nginx has a reference. (Programs are named by the services that they belong to: that of these tests,
/// perhaps.)
fn shows(nginx: &Nginx) -> bool {
    let worker = nginx.workers()[0];
    Process::read(worker).expect("it runs").has_reference
}

#[test]
fn a_server_shows_that_it_has_a_reference() {
    if !common::are_installed(&["nginx", "curl", "openssl"]) {
        return;
    }
    let service = Service::start();
    let workplace = Workplace::new().expect("it can be made");
    let ours = OpenSsl::configured(&workplace, "service", &service.configuration_text())
        .expect("it can be written");
    let certificate = Certificate::generate(&workplace, &ours, "site", "rsa:2048").expect("it is");
    let key = certificate.key.to_str().expect("it is ASCII");
    let mut adopt = vec!["keys", "adopt", key, "--user"];
    let us = us();
    adopt.push(&us);
    if us == "0" {
        // nginx's workers are another user's.
        adopt.extend(["--user", "nobody", "--user", "www-data"]);
    }
    service.says(&adopt);
    let options = NginxOptions {
        openssl: &ours,
        certificates: &[&certificate],
        files: None,
        core: None,
        settings: "",
    };
    let mut nginx = Nginx::start(&workplace, options).expect("it starts");
    // It listens before it has a worker, and answers without TLS when it has.
    nginx.accepted().expect("it has a worker");
    // Of the worker, which has asked for nothing: the process that read the file forked it.
    assert!(shows(&nginx));
    let status = common::outboard().args(["status", "--json"]).assert();
    let status = common::document(&status, "outboard-status");
    let programs = status["processes"]["with_references"].as_array();
    assert!(!programs.expect("a list").is_empty(), "{status:#}");

    let said = service.says(&["keys", "adopt", "--revert", key]);
    common::says(&said, "These have references to keys of the service now: ");
    assert!(shows(&nginx));
    nginx.reload().expect("it has its key");
    assert!(!shows(&nginx), "the key is its own");
    let answer = certificate.fetch(&ours, &nginx.url(""));
    assert_eq!(answer.expect("it answers").trim(), "ok");
}
