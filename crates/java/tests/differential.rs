//! Outboard in Java does what Java's own providers do, and says what they say.

mod common;

use std::fs;

use common::{Place, runtimes, succeed};
use outboard_engine::Operation;

#[test]
fn every_call_ends_as_with_javas_own_providers() {
    for java in runtimes() {
        let place = Place::new();
        let said = succeed(&mut place.java(&java, &[], "Differential"));
        let last = said.lines().last().expect("it says something");
        assert!(last.ends_with(" calls, 0 differences"), "{java:?}: {said}");
        // Outboard did what it serves.
        for operation in [
            Operation::Rsa2048Sign,
            Operation::Rsa3072Sign,
            Operation::Rsa4096Sign,
            Operation::Rsa2048Verify,
            Operation::P256Sign,
            Operation::P256Verify,
            Operation::P384Derive,
            Operation::P521Keygen,
            Operation::X25519Keygen,
            Operation::X25519Derive,
            Operation::Ed25519Sign,
            Operation::Ed25519Verify,
        ] {
            assert!(place.counted(operation) > 0, "{java:?}: {operation:?}");
        }
    }
}

#[test]
fn many_threads_are_right() {
    for (at, java) in runtimes().iter().enumerate() {
        let kinds: &[&str] = match at {
            0 => &["threads"],
            // Java 21's.
            _ => &["threads", "virtual"],
        };
        for kind in kinds {
            let place = Place::new();
            let said = succeed(place.java(java, &[], "Load").args([kind, "32"]));
            assert_eq!(said.trim(), "right 2560 of 2560", "{java:?} {kind}");
            assert_eq!(place.counted(Operation::Rsa2048Sign), 32 * 20);
        }
    }
}

/// 100,000 keys, made and converted, leave nothing behind: one of them has some 500 bytes in the native half.
#[test]
fn keys_that_java_has_collected_are_freed() {
    for java in runtimes() {
        let place = Place::new();
        // Java's own heap does not grow.
        let heap = ["-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"];
        let mut load = place.java(&java, &heap, "Load");
        let said = succeed(load.args(["keys", "100000"]));
        let grew = said.trim().strip_prefix("grew ").expect("it says so");
        let grew: i64 = grew.parse().expect("a number");
        assert!(grew < 12 * 1024, "{java:?}: {grew} KiB");
    }
}

/// Java 24 and later have ML-KEM of their own, with which Outboard's agrees. Where Java has no interface for KEMs, there is none.
#[test]
fn ml_kem_agrees_with_javas_own() {
    for java in runtimes() {
        let place = Place::new();
        let properties = place.path("left.security");
        let left = "outboard.left-to-jdk=ml-kem-768-keygen, ml-kem-512-encapsulate, \
                    ml-kem-768-encapsulate, ml-kem-512-decapsulate\n";
        fs::write(&properties, left).expect("it is ours");
        let left = format!("-Djava.security.properties={}", properties.display());
        // What is left to the JDK, and is there, is right, too.
        for options in [&[][..], &[&left[..]]] {
            let said = succeed(&mut place.java(&java, options, "Kems"));
            assert_eq!(said, "right\n", "{java:?}");
        }
    }
}
