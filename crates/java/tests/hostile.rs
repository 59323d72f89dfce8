//! What programs should not do, and do: class loaders that come and go, interrupts, a security manager, destroyed keys, huge inputs,
//! objects that threads share, an end in the middle of signatures, providers that come and go.

mod common;

use std::fs;

use common::{Place, built, runtimes, succeed};
use outboard_engine::Operation;

/// Runs a part of `Hostile.java` in each Java.
fn run(options: &[&str], words: &[&str]) {
    for java in runtimes() {
        let place = Place::new();
        let mut program = place.java(&java, options, "Hostile");
        let said = succeed(program.args(words));
        assert_eq!(said, "right\n", "{java:?}");
    }
}

#[test]
fn class_loaders_come_and_go() {
    run(&["-Xmx256m"], &["loaders", "8"]);
}

#[test]
fn interrupts_do_no_harm_and_are_not_lost() {
    run(&[], &["interrupted"]);
}

#[test]
fn destroyed_keys_sign_nothing_new() {
    run(&[], &["destroyed"]);
}

#[test]
fn keys_are_collected_while_others_sign() {
    run(&["-Xmx64m"], &["collected", "3"]);
}

#[test]
fn java_ends_while_threads_sign() {
    for _ in 0..3 {
        run(&["-Xmx64m"], &["exit"]);
    }
}

#[test]
fn the_provider_comes_and_goes_while_threads_sign() {
    run(&[], &["inserted", "100"]);
}

#[test]
fn a_java_without_other_providers_is_served() {
    run(&[], &["alone"]);
}

/// Java 21's. Half of them are interrupted.
#[test]
fn thousands_of_virtual_threads_are_served() {
    for java in runtimes().iter().skip(1) {
        let place = Place::new();
        let mut program = place.java(java, &[], "Hostile");
        assert_eq!(succeed(program.args(["crowd", "3000"])), "right\n");
        assert_eq!(place.counted(Operation::P256Sign), 3000);
        assert_eq!(place.counted(Operation::X25519Derive), 3000);
    }
}

#[test]
fn huge_inputs_are_answered() {
    run(&["-Xmx1500m"], &["huge", "200"]);
}

#[test]
fn objects_that_threads_share_end_no_process() {
    run(&[], &["shared"]);
}

/// Java 17 is the last one that Debian has with a security manager. The jar has all permissions, the program none.
#[test]
fn a_program_without_permissions_is_served() {
    let Some(java) = runtimes().into_iter().next() else {
        return;
    };
    let place = Place::new();
    let jar = built().join("outboard.jar");
    let policy = place.path("policy");
    let text = format!(
        "grant codeBase \"file:{}\" {{ permission java.security.AllPermission; }};\n",
        jar.display()
    );
    fs::write(&policy, text).expect("it is ours");
    let properties = place.path("outboard.security");
    let lines = "security.provider.13=org.outboard.provider.Outboard\n\
                 jdk.security.provider.preferred=SHA256withECDSA:Outboard, KeyPairGenerator.EC:Outboard\n";
    fs::write(&properties, lines).expect("it is ours");
    let confined = |more: &[&str]| {
        let policy = format!("-Djava.security.policy=={}", policy.display());
        let properties = format!("-Djava.security.properties={}", properties.display());
        let options = [&["-Djava.security.manager", &policy, &properties], more].concat();
        let said = succeed(place.java(&java, &options, "Hostile").arg("confined"));
        assert_eq!(said, "right\n", "{java:?}");
    };
    confined(&[]);
    // On the boot class path, the jar needs no permission.
    fs::write(&policy, "grant { };\n").expect("it is ours");
    confined(&[&format!("-Xbootclasspath/a:{}", jar.display())]);
}
