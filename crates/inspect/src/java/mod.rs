//! Why a Java server, or the servers of a JDK, do not use Outboard's PKCS #11 module.

mod keys;
mod options;
mod process;
mod registration;

use super::Finding;
use crate::Error;
use outboard_jdk::{Jdk, Security, expanded};
use outboard_processes as processes;
use registration::Seen;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

const SUBJECT: &str = "java";

/// The findings about a process, a JDK, or the only JDK at hand if nothing is named.
pub(super) fn examine(named: &OsStr) -> Result<Vec<Finding>, Error> {
    if let Some(pid) = named.to_str().and_then(|text| text.parse().ok()) {
        return process::examine(pid);
    }
    let named = (!named.is_empty()).then_some(Path::new(named));
    let jdk = Jdk::named(named, "--java")?;
    let own = std::process::id();
    let read = |file: &Path| processes::file(own, file);
    let file = jdk.security();
    let text = read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let security = Security::of(expanded(&text, &file, &jdk, &read));
    let mut findings: Vec<Finding> = too_old(&jdk).into_iter().collect();
    findings.extend(registration::examine(&Seen {
        jdk: &jdk,
        security: &security,
        source: &file.display().to_string(),
        read: &read,
        process: None,
    }));
    Ok(findings)
}

/// Versions that nobody tried Outboard with.
fn too_old(jdk: &Jdk) -> Option<Finding> {
    let feature = jdk.feature()?;
    (feature < Jdk::OLDEST).then(|| {
        let what = format!("{} is Java {}", jdk.home.display(), jdk.version);
        Finding::problem(SUBJECT, what)
            .because("its SunPKCS11 is not what Outboard was tested with: with older ones, RSASSA-PSS stays with the JDK")
            .remedy(format!("run the server on Java {} or later", Jdk::OLDEST))
    })
}

/// How files are read: as a process sees them, or as this command does.
type Read<'a> = &'a dyn Fn(&Path) -> io::Result<Vec<u8>>;
