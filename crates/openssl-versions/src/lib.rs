//! OpenSSL versions other than the system's: for tests, so that the same `outboard.so` is loaded into each of them, and for
//! measurements (`make openssl-peers`).
//!
//! [`Version::installation`] builds one (shared libraries and the `openssl` program) below the target
//! directory when it is first asked for, which takes some minutes; from then on it is there. Two test
//! programs that ask at once build it once.

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Raised whenever [`OPTIONS`] change: what was built with others is then built anew.
const RECIPE: u32 = 1;

/// Static libraries, as the sources come without the scripts that make shared ones: [`SHARE`] makes
/// those.
///
/// Leaves out what no test asks for, to be done in half the time. Left in: all that TLS, X.509, CMS
/// and PKCS#12 use by default, so that the programs behave as one installed would.
const OPTIONS: &str = "no-shared no-tests no-docs no-legacy no-engine no-zlib no-quic no-dtls \
    no-aria no-bf no-blake2 no-camellia no-cast no-cmp no-ct no-gost no-idea no-md4 no-mdc2 no-rc2 \
    no-rc4 no-rmd160 no-seed no-siphash no-sm2 no-sm3 no-sm4 no-srp no-ts no-whirlpool \
    no-slh-dsa";

/// What a test does not ask for either: OpenSSL's own choice, `-O3`, takes longer to compile. What is measured has it.
const QUICK: &str = "-O1";

/// Makes shared libraries of the static ones and links the program with them, as it is when it is
/// installed: a provider must find the libcrypto that loaded it.
const SHARE: &str = r#"
set -e
cc=${CC:-cc}
mkdir -p lib bin
share() { # NAME OTHER...
    $cc -shared -o "lib/$1.so.$major" "-Wl,-soname,$1.so.$major" -Wl,-Bsymbolic \
        -Wl,--whole-archive "$1.a" -Wl,--no-whole-archive "${@:2}" -ldl -pthread
}
share libcrypto
share libssl "lib/libcrypto.so.$major"
$cc -o bin/openssl apps/openssl-bin-*.o apps/libapps.a \
    "lib/libssl.so.$major" "lib/libcrypto.so.$major" -ldl -pthread
"#;

/// Of these, what OpenSSL before 3.5 does not know.
const LATER_OPTIONS: &[&str] = &["no-slh-dsa"];

/// An OpenSSL to test with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 3.2, the first whose libssl takes signatures of TLS from a provider.
    V3_2,
    /// 3.4, the last without post-quantum algorithms.
    V3_4,
    /// 3.5, with long-term support.
    V3_5,
    /// 4.0, without engines.
    V4_0,
}

/// A built OpenSSL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// Where the program `openssl` is.
    pub programs: PathBuf,
    /// Where `libcrypto` and `libssl` are: for `LD_LIBRARY_PATH`.
    pub libraries: PathBuf,
    /// The program `openssl` with both libraries inside, of which it exports nothing. It loads modules.
    pub sealed: PathBuf,
}

impl Version {
    /// Every version that has post-quantum algorithms of its own.
    pub const ALL: [Self; 2] = [Self::V3_5, Self::V4_0];

    /// Those before, whose libssl takes signatures of TLS from a provider.
    pub const BEFORE_POST_QUANTUM: [Self; 2] = [Self::V3_2, Self::V3_4];

    /// `3.5.5`.
    pub fn number(self) -> &'static str {
        // The crates' versions are like 300.5.5+3.5.5.
        let version = match self {
            Self::V3_2 => "3.2.1",
            Self::V3_4 => "3.4.1",
            Self::V3_5 => openssl_src_3_5::version(),
            Self::V4_0 => openssl_src_4_0::version(),
        };
        version
            .split_once('+')
            .map_or(version, |(_, number)| number)
    }

    /// `libcrypto.so.3`.
    pub fn libcrypto(self) -> &'static str {
        match self {
            Self::V3_2 | Self::V3_4 | Self::V3_5 => "libcrypto.so.3",
            Self::V4_0 => "libcrypto.so.4",
        }
    }

    fn source(self) -> Result<PathBuf, Box<dyn Error>> {
        Ok(match self {
            Self::V3_2 => source_of("3.2")?,
            Self::V3_4 => source_of("3.4")?,
            Self::V3_5 => openssl_src_3_5::source_dir(),
            Self::V4_0 => openssl_src_4_0::source_dir(),
        })
    }

    fn options(self) -> impl Iterator<Item = &'static str> {
        let is_older = matches!(self, Self::V3_2 | Self::V3_4);
        let options = OPTIONS.split_whitespace();
        options.filter(move |option| !is_older || !LATER_OPTIONS.contains(option))
    }

    /// Builds it below the target directory unless that was done before.
    ///
    /// # Errors
    /// If perl, make or a C compiler is missing, or the build fails; the log's place is told.
    pub fn installation(self) -> Result<Installation, Box<dyn Error>> {
        self.installed(&target_directory(), &[QUICK])
    }

    /// The same to be measured: optimised as OpenSSL wants it, below `bench` in the target directory.
    ///
    /// # Errors
    /// As [`Version::installation`].
    pub fn peer(self) -> Result<Installation, Box<dyn Error>> {
        self.installed(&target_directory().join("bench"), &[])
    }

    fn installed(self, place: &Path, more: &[&str]) -> Result<Installation, Box<dyn Error>> {
        let directory = place.join(format!("openssl-{}", self.number()));
        fs::create_dir_all(&directory)?;
        // Held until the end of this function: others wait, and then find it done.
        let lock = File::create(directory.join("lock"))?;
        lock.lock()?;
        let stamp = directory.join("complete");
        let recipe = format!("{RECIPE} {OPTIONS} {}", more.join(" "));
        if fs::read_to_string(&stamp).is_ok_and(|built| built == recipe) {
            return Ok(Installation::at(&directory));
        }
        build(self, &directory, more)
            .map_err(|error| format!("cannot build OpenSSL {}: {error}", self.number()))?;
        fs::write(stamp, recipe)?;
        Ok(Installation::at(&directory))
    }
}

impl Installation {
    fn at(directory: &Path) -> Self {
        Self {
            programs: directory.join("bin"),
            libraries: directory.join("lib"),
            sealed: directory.join("apps/openssl"),
        }
    }
}

/// Beside the sources, as OpenSSL allows: those stay as they are.
fn build(version: Version, directory: &Path, more: &[&str]) -> Result<(), Box<dyn Error>> {
    let configuration = directory.join("ssl");
    fs::create_dir_all(&configuration)?;
    let log = directory.join("build.log");
    File::create(&log)?;
    run(
        Command::new("perl")
            .arg(version.source()?.join("Configure"))
            .arg(format!("--prefix={}", directory.display()))
            .arg(format!("--openssldir={}", configuration.display()))
            .args(version.options())
            .args(more),
        directory,
        &log,
    )?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    run(
        Command::new("make").args(["-s", "build_sw", &format!("-j{jobs}")]),
        directory,
        &log,
    )?;
    let major = version.number().split('.').next().unwrap_or_default();
    run(
        Command::new("bash").args(["-c", SHARE]).env("major", major),
        directory,
        &log,
    )
}

/// The source that the package in that directory names; cargo fetches it if it is not there yet.
fn source_of(directory: &str) -> Result<PathBuf, Box<dyn Error>> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--locked", "--format-version", "1"])
        .arg("--manifest-path")
        .arg(manifest.join("Cargo.toml"))
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("no packages")?;
    let source = packages.iter().find(|one| one["name"] == "openssl-src");
    let manifest = source.and_then(|source| source["manifest_path"].as_str());
    let manifest = Path::new(manifest.ok_or("no openssl-src")?);
    Ok(manifest.with_file_name("openssl"))
}

fn run(command: &mut Command, directory: &Path, log: &Path) -> Result<(), Box<dyn Error>> {
    let output = File::options().append(true).open(log)?;
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .current_dir(directory)
        // What cargo says to its own make is not for this one.
        .env_remove("MAKEFLAGS")
        .env_remove("MFLAGS")
        .stdout(output.try_clone()?)
        .stderr(output)
        .status()
        .map_err(|error| {
            format!("cannot start {program}: {error} (apt-get install perl build-essential)")
        })?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{program} failed ({status}); see {}", log.display()).into())
    }
}

/// The one that this very program was built into.
fn target_directory() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    program
        .ancestors()
        .find(|directory| directory.join("CACHEDIR.TAG").exists())
        .map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
            Path::to_owned,
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_what_they_are_called() {
        assert!(Version::V3_2.number().starts_with("3.2."));
        assert!(Version::V3_4.number().starts_with("3.4."));
        assert!(Version::V3_5.number().starts_with("3.5."));
        assert!(Version::V4_0.number().starts_with("4.0."));
    }

    /// `make openssl-peers`.
    #[test]
    fn peers_are_built() {
        if std::env::var_os("OUTBOARD_BUILD_PEERS").is_none() {
            return eprintln!("passed over: 'make openssl-peers' runs it");
        }
        for version in Version::ALL {
            version.peer().unwrap();
        }
    }

    #[test]
    fn each_says_its_version() {
        // The older ones are built for 'make test-peers' alone.
        let older = Version::BEFORE_POST_QUANTUM.into_iter();
        let older = older.filter(|_| std::env::var_os("OUTBOARD_TEST_PEERS").is_some());
        for version in Version::ALL.into_iter().chain(older) {
            let built = version.installation().unwrap();
            let output = Command::new(built.programs.join("openssl"))
                .arg("version")
                .env("LD_LIBRARY_PATH", &built.libraries)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                said.starts_with(&format!("OpenSSL {}", version.number())),
                "{said}"
            );
            // The library as well, not the system's.
            assert!(
                said.contains(&format!("Library: OpenSSL {}", version.number())),
                "{said}"
            );
        }
    }
}
