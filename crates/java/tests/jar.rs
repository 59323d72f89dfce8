//! How `outboard.jar` is built, loaded and registered.

mod common;

use std::fs;
use std::process::Command;

use common::{Place, built, library, make_jar, runtimes, succeed};

#[test]
fn two_builds_give_the_same_bytes() {
    if runtimes().is_empty() {
        return;
    }
    let place = Place::new();
    let [one, other] = ["one.jar", "other.jar"].map(|name| place.path(name));
    make_jar(&one);
    make_jar(&other);
    let [one, other] = [one, other].map(|jar| fs::read(jar).expect("it was made"));
    assert!(one == other, "the builds differ");
}

#[test]
fn the_jar_says_that_it_serves_and_leaves_nothing_behind() {
    for java in runtimes() {
        let place = Place::new();
        let temporary = place.path("temporary");
        fs::create_dir(&temporary).expect("it is ours");
        let temporary_option = format!("-Djava.io.tmpdir={}", temporary.display());
        let options = [&temporary_option[..]];
        let said = succeed(&mut place.java(&java, &options, "org.outboard.provider.Outboard"));
        assert!(
            said.starts_with("Outboard 0.1.0 serves this Java\n"),
            "{said}"
        );
        assert!(said.contains("\nSignature SHA256withRSA\n"), "{said}");
        let left = fs::read_dir(&temporary).expect("it is ours");
        assert_eq!(left.count(), 0, "{java:?}");
    }
}

/// Java goes on without it, and the jar says why.
#[test]
fn a_library_that_cannot_be_loaded_is_named_with_the_remedy() {
    for java in runtimes() {
        let place = Place::new();
        for (option, part) in [
            (
                "-Doutboard.library=/nowhere/library.so",
                "/nowhere/library.so",
            ),
            ("-Djava.io.tmpdir=/nowhere", "/nowhere"),
        ] {
            let mut jar = place.java(&java, &[option], "org.outboard.provider.Outboard");
            let output = jar.output().expect("it is installed");
            assert_eq!(output.status.code(), Some(1));
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let first = "Outboard serves nothing in this Java: ";
            assert!(said.starts_with(first) && said.contains(part), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        let library = format!("-Doutboard.library={}", library().display());
        let options = [&library[..], "-Djava.io.tmpdir=/nowhere"];
        succeed(&mut place.java(&java, &options, "org.outboard.provider.Outboard"));
    }
}

#[test]
fn a_directory_without_programs_is_named_with_the_remedy() {
    let may_mount = Command::new("unshare").args(["--mount", "true"]).status();
    if !may_mount.is_ok_and(|status| status.success()) {
        eprintln!("passed over: this user may not mount");
        return;
    }
    for java in runtimes() {
        let place = Place::new();
        let mount = place.path("mount");
        fs::create_dir(&mount).expect("it is ours");
        let jar = built().join("outboard.jar");
        let script = format!(
            "mount -t tmpfs -o noexec none {mount} && {java} -Djava.io.tmpdir={mount} -jar {jar}",
            mount = mount.display(),
            java = java.command.display(),
            jar = jar.display(),
        );
        let output = Command::new("unshare")
            .args(["--mount", "sh", "-c", &script])
            .output();
        let said = String::from_utf8_lossy(&output.expect("it is installed").stdout).into_owned();
        assert!(
            said.contains("name another directory with -Djava.io.tmpdir=DIRECTORY"),
            "{said}"
        );
    }
}

#[test]
fn the_module_is_found_on_the_module_path() {
    for java in runtimes() {
        let place = Place::new();
        let mut jar = Command::new(&java.command);
        jar.arg(place.settings())
            .arg("-p")
            .arg(built().join("outboard.jar"));
        if java.command.is_absolute() {
            jar.arg("--enable-native-access=org.outboard.provider");
        }
        let said =
            succeed(jar.args(["-m", "org.outboard.provider/org.outboard.provider.Outboard"]));
        assert!(
            said.starts_with("Outboard 0.1.0 serves this Java\n"),
            "{said}"
        );
    }
}
