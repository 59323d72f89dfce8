//! Security properties: which providers a JDK registers, and which of them it prefers for what.

use crate::properties::{escaped, is_continued_at_its_end, parse};
use crate::{Jdk, SunPkcs11};
use outboard_marked_block::Block;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The block of `outboard java --whole-jdk` in `java.security`.
pub const BLOCK: Block = Block {
    what: "registers Outboard's PKCS #11 module",
    added_by: "outboard java --whole-jdk",
    removed_by: "outboard java --whole-jdk --revert",
};

/// The signatures of TLS 1.2 and 1.3 for which Java is to prefer Outboard: two calls of the module for each handshake.
/// To prefer it for anything else makes hundreds.
///
/// In the file, each has its type (`Signature.RSASSA-PSS`). Without the type, Java also asks the provider for `AlgorithmParameters` of
/// that name, and a Java that does not find the provider then has no TLS (a NullPointerException in ProviderList.getService, JDK 17).
pub const SIGNATURES: [&str; 6] = [
    "RSASSA-PSS",
    "SHA256withRSA",
    "SHA384withRSA",
    "SHA512withRSA",
    "SHA256withECDSA",
    "SHA384withECDSA",
];

/// The class of the provider in `outboard.jar`, as `security.provider.N` names it.
pub const JAR_CLASS: &str = "org.outboard.provider.Outboard";

/// The name of that provider.
pub const JAR_PROVIDER: &str = "Outboard";

/// The security property of `outboard.jar`: the operations that stay with the JDK.
pub const LEFT_TO_JDK: &str = "outboard.left-to-jdk";

/// The security property of `outboard.jar`: its settings.
pub const SETTINGS: &str = "outboard.settings";

/// What a JDK's security properties say of providers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Security {
    /// The registered providers, the first first: `security.provider.1` and so on.
    pub providers: Vec<Provider>,
    /// Numbers of providers that Java ignores, because a number before them is missing.
    pub ignored: BTreeMap<u32, Provider>,
    /// What `jdk.security.provider.preferred` says.
    pub preferred: Vec<Preference>,
    /// Whether `-Djava.security.properties` counts (`security.overridePropertiesFile`).
    pub allows_other_files: bool,
    /// The operations that `outboard.jar` leaves to the JDK.
    pub left_to_jdk: Vec<String>,
}

/// A line `security.provider.N`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Its name: `SunPKCS11`.
    pub name: String,
    /// What it is configured with: a file.
    pub argument: Option<String>,
}

/// An entry of `jdk.security.provider.preferred`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preference {
    /// An algorithm, such as `SHA256withRSA` or `Signature.SHA256withRSA`.
    pub algorithm: String,
    /// The provider's name: `SunPKCS11-Outboard`.
    pub provider: String,
}

/// A provider that is to be registered, and what Java is to prefer it for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// What `security.provider.N` is to say.
    pub line: Provider,
    /// The provider's name.
    pub name: String,
    /// Services, such as `RSASSA-PSS` or `KeyAgreement.X25519`. Signatures may go without their type.
    pub preferred: Vec<String>,
}

/// A line that registers the provider in `outboard.jar`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisteredJar {
    /// Its number.
    pub number: u32,
    /// Whether no number before it is missing.
    pub counts: bool,
}

/// A line that registers Outboard's module.
#[derive(Debug)]
pub struct Registered {
    /// Its number.
    pub number: u32,
    /// Whether no number before it is missing.
    pub counts: bool,
    /// The configuration of SunPKCS11.
    pub file: PathBuf,
    /// What the file says, if it can be read.
    pub configuration: io::Result<SunPkcs11>,
}

/// Why Outboard cannot be added.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The first missing number.
    #[error(
        "it has no line security.provider.{0}, and has later ones, which Java ignores (number the providers without \
         a gap first)"
    )]
    Gap(u32),
    /// Somebody chose another provider.
    #[error(
        "its jdk.security.provider.preferred has {}:{} (remove that entry first)", .0.algorithm, .0.provider
    )]
    Preferred(Preference),
    /// What is appended would belong to the last line.
    #[error("its last line ends with a backslash (remove it first)")]
    Continued,
}

impl Security {
    /// What properties say, the later ones over the earlier ones.
    pub fn of(entries: impl IntoIterator<Item = (String, String)>) -> Self {
        const PREFIX: &str = "security.provider.";
        let all: BTreeMap<String, String> = entries.into_iter().collect();
        let numbered = all.iter().filter_map(|(name, value)| {
            let digits = name.strip_prefix(PREFIX)?;
            let number: u32 = digits.parse().ok().filter(|&number| number > 0)?;
            // Java looks for the number as it writes numbers itself: 02 is none.
            (number.to_string() == digits && !value.trim().is_empty())
                .then(|| (number, Provider::parse(value)))
        });
        let mut ignored: BTreeMap<u32, Provider> = numbered.collect();
        let providers = (1..).map_while(|number| ignored.remove(&number)).collect();
        let preferred = all.get("jdk.security.provider.preferred");
        let preferred = preferred.map_or("", String::as_str).split(',');
        let allows = all.get("security.overridePropertiesFile");
        Self {
            providers,
            ignored,
            preferred: preferred.filter_map(Preference::parse).collect(),
            allows_other_files: allows.is_some_and(|value| value.eq_ignore_ascii_case("true")),
            left_to_jdk: words(all.get(LEFT_TO_JDK)),
        }
    }

    /// The lines that register Outboard's module, by the configurations that they name. One that cannot be read is Outboard's
    /// if its name says so.
    pub fn registered(
        &self,
        jdk: &Jdk,
        read: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
    ) -> Vec<Registered> {
        let counted = (1..)
            .zip(&self.providers)
            .map(|(number, provider)| (number, provider, true));
        let ignored = self
            .ignored
            .iter()
            .map(|(&number, provider)| (number, provider, false));
        let registered = |(number, provider, counts): (u32, &Provider, bool)| {
            let argument = provider
                .argument
                .as_ref()
                .filter(|_| provider.name == "SunPKCS11")?;
            let file = jdk.expanded(argument);
            let text = read(&file);
            let configuration =
                text.map(|text| SunPkcs11::read(&String::from_utf8_lossy(&text), jdk));
            let named = configuration.as_ref().map_or(&file, |it| &it.library);
            let name = named.file_name()?.to_string_lossy().into_owned();
            name.contains("outboard").then_some(Registered {
                number,
                counts,
                file,
                configuration,
            })
        };
        counted.chain(ignored).filter_map(registered).collect()
    }

    /// The lines that register the provider in `outboard.jar`.
    pub fn registered_jars(&self) -> Vec<RegisteredJar> {
        let counted = (1..).zip(&self.providers).map(|it| (it, true));
        let ignored = self
            .ignored
            .iter()
            .map(|(&number, it)| ((number, it), false));
        counted
            .chain(ignored)
            .filter(|((_, provider), _)| provider.name == JAR_CLASS)
            .map(|((number, _), counts)| RegisteredJar { number, counts })
            .collect()
    }

    /// The number that a further provider gets.
    pub fn next(&self) -> usize {
        self.providers.len() + 1
    }

    /// Whether Java prefers that provider for a service, such as `KeyAgreement.X25519`. Signatures may go without their type.
    pub fn prefers(&self, provider: &str, service: &str) -> bool {
        // The first entry of a service decides.
        let first = self.preferred.iter().find(|entry| entry.is_for(service));
        first.is_some_and(|entry| entry.provider == provider)
    }
}

/// Words with spaces or commas between.
fn words(text: Option<&String>) -> Vec<String> {
    let text = text.map_or("", String::as_str);
    let words = text.split(|letter: char| letter.is_whitespace() || letter == ',');
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A service's type and algorithm: `KeyAgreement`, `X25519`.
fn parts(service: &str) -> (Option<&str>, &str) {
    match service.split_once('.') {
        // An algorithm's number (OID) is no type.
        Some((kind, algorithm)) if !kind.bytes().all(|byte| byte.is_ascii_digit()) => {
            (Some(kind), algorithm)
        }
        _ => (None, service),
    }
}

impl Provider {
    fn parse(value: &str) -> Self {
        let value = value.trim();
        let (name, argument) = value.split_once(' ').unwrap_or((value, ""));
        let argument = argument.trim();
        Self {
            name: name.to_owned(),
            argument: (!argument.is_empty()).then(|| argument.to_owned()),
        }
    }
}

impl Preference {
    fn parse(entry: &str) -> Option<Self> {
        let (algorithm, provider) = entry.split_once(':')?;
        Some(Self {
            algorithm: algorithm.trim().to_owned(),
            provider: provider.trim().to_owned(),
        })
    }

    fn is_for(&self, service: &str) -> bool {
        let (own_kind, own) = parts(&self.algorithm);
        let (kind, algorithm) = parts(service);
        let kind = kind.unwrap_or("Signature");
        // Without a type, an entry is for each type that has such an algorithm.
        own_kind.is_none_or(|own| own.eq_ignore_ascii_case(kind))
            && own.eq_ignore_ascii_case(algorithm)
    }
}

/// The properties of a file and of the files that it includes (from Java 24 on), in the order in which Java reads them.
/// Included files that cannot be read say nothing.
pub fn expanded(
    text: &[u8],
    file: &Path,
    jdk: &Jdk,
    read: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Vec<(String, String)> {
    /// Java's own limit is its stack.
    const DEEPEST: u8 = 8;
    const INCLUDES_SINCE: u32 = 24;
    fn add(
        to: &mut Vec<(String, String)>,
        (text, file): (&[u8], &Path),
        jdk: &Jdk,
        read: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
        depth: u8,
    ) {
        for (name, value) in parse(text) {
            if name != "include" || depth == DEEPEST {
                to.push((name, value));
                continue;
            }
            let included = file
                .parent()
                .unwrap_or(Path::new("/"))
                .join(jdk.expanded(&value));
            if let Ok(text) = read(&included) {
                add(to, (&text, &included), jdk, read, depth + 1);
            }
        }
    }
    let mut entries = Vec::new();
    match jdk.feature() {
        Some(feature) if feature < INCLUDES_SINCE => entries.extend(parse(text)),
        _ => add(&mut entries, (text, file), jdk, read, 0),
    }
    entries
}

/// The lines that register a provider after all other providers, and prefer it for its services.
///
/// `base`: the properties without these lines, and what they say.
///
/// # Errors
/// If these lines would change more than that, or would not count.
pub fn addition(base: (&[u8], &Security), registration: &Registration) -> Result<String, Refused> {
    let (text, security) = base;
    let Registration {
        line,
        name: provider,
        preferred,
    } = registration;
    if !security.ignored.is_empty() {
        return Err(Refused::Gap(security.next() as u32));
    }
    if is_continued_at_its_end(text) {
        return Err(Refused::Continued);
    }
    let mut lines = format!("security.provider.{}={}", security.next(), line.name);
    if let Some(argument) = &line.argument {
        lines.push_str(&format!(" {}", escaped(argument)));
    }
    lines.push('\n');
    if preferred.is_empty() {
        return Ok(lines);
    }
    let of_others = security.preferred.iter();
    let of_others: Vec<&Preference> = of_others
        .filter(|entry| entry.provider != *provider)
        .collect();
    let is_taken = |entry: &&&Preference| preferred.iter().any(|service| entry.is_for(service));
    if let Some(taken) = of_others.iter().find(is_taken) {
        return Err(Refused::Preferred((*taken).clone()));
    }
    let kept = of_others
        .iter()
        .map(|entry| format!("{}:{}", entry.algorithm, entry.provider));
    let ours = preferred
        .iter()
        .map(|service| format!("{service}:{provider}"));
    let all: Vec<String> = kept.chain(ours).map(|entry| escaped(&entry)).collect();
    lines.push_str(&format!(
        "jdk.security.provider.preferred={}\n",
        all.join(", \\\n    ")
    ));
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn security(text: &str) -> Security {
        Security::of(parse(text.as_bytes()))
    }

    fn lines(text: &str, prefers: bool) -> Result<String, Refused> {
        let configuration = SunPkcs11::new("Outboard", Path::new("/x.so"), 1);
        let file = Path::new("/etc/outboard/java.cfg");
        addition(
            (text.as_bytes(), &security(text)),
            &configuration.registration(file, prefers),
        )
    }

    const BASE: &str = "security.provider.1=SUN\nsecurity.provider.2=SunEC\n\
                        security.overridePropertiesFile=true\n";

    #[test]
    fn providers_count_up_to_the_first_gap() {
        let found = security(&format!(
            "{BASE}security.provider.4=SunPKCS11  /a b.cfg \nsecurity.provider.03=X\n"
        ));
        assert_eq!(found.providers.len(), 2);
        assert_eq!(found.next(), 3);
        let ignored = &found.ignored[&4];
        assert_eq!(
            (ignored.name.as_str(), ignored.argument.as_deref()),
            ("SunPKCS11", Some("/a b.cfg"))
        );
        assert!(found.allows_other_files);
        let replaced = security(&format!("{BASE}security.provider.2=Other\n"));
        assert_eq!(replaced.providers[1].name, "Other");
    }

    #[test]
    fn what_is_added_counts() {
        let added = lines(BASE, true).expect("it fits");
        let both = security(&format!("{BASE}{added}"));
        let ours = both.providers.last().expect("there are some");
        assert_eq!(ours.argument.as_deref(), Some("/etc/outboard/java.cfg"));
        assert_eq!(both.providers.len(), 3);
        for algorithm in SIGNATURES {
            assert!(both.prefers("SunPKCS11-Outboard", algorithm));
        }
        assert!(!both.prefers("SunPKCS11-Outboard", "SHA1withRSA"));
        let token = lines(BASE, false).expect("it fits");
        assert!(!token.contains("preferred"), "{token}");
    }

    #[test]
    fn what_others_prefer_stays() {
        let theirs = "jdk.security.provider.preferred=AES/GCM/NoPadding:SunJCE\n";
        let added = lines(&format!("{BASE}{theirs}"), true).expect("it fits");
        let both = security(&format!("{BASE}{theirs}{added}"));
        assert_eq!(both.preferred[0].provider, "SunJCE");
        assert!(both.prefers("SunPKCS11-Outboard", "SHA256withRSA"));
    }

    #[test]
    fn preferences_are_for_types_and_algorithms() {
        let found = security(
            "jdk.security.provider.preferred=Signature.RSASSA-PSS:A, X25519:B, KeyAgreement.XDH:C, 1.2.840:D\n",
        );
        for (provider, service, is_preferred) in [
            ("A", "RSASSA-PSS", true),
            ("A", "Signature.rsassa-pss", true),
            ("A", "KeyAgreement.RSASSA-PSS", false),
            ("B", "KeyAgreement.X25519", true),
            ("B", "KeyPairGenerator.X25519", true),
            ("C", "KeyAgreement.XDH", true),
            ("C", "KeyPairGenerator.XDH", false),
            ("D", "1.2.840", true),
        ] {
            assert_eq!(found.prefers(provider, service), is_preferred, "{service}");
        }
    }

    #[test]
    fn the_provider_of_the_jar_is_registered_by_its_class() {
        let registration = Registration {
            line: Provider {
                name: JAR_CLASS.to_owned(),
                argument: None,
            },
            name: JAR_PROVIDER.to_owned(),
            preferred: vec!["KeyAgreement.X25519".to_owned()],
        };
        let base = security(BASE);
        let added = addition((BASE.as_bytes(), &base), &registration).expect("it fits");
        assert_eq!(
            added,
            "security.provider.3=org.outboard.provider.Outboard\n\
             jdk.security.provider.preferred=KeyAgreement.X25519:Outboard\n"
        );
        let left = "outboard.left-to-jdk=p256-verify, ed25519-verify\n";
        let both = security(&format!("{BASE}{added}{left}"));
        let expected = RegisteredJar {
            number: 3,
            counts: true,
        };
        assert_eq!(both.registered_jars(), [expected]);
        assert_eq!(both.left_to_jdk, ["p256-verify", "ed25519-verify"]);
        let gap = security(&format!("{BASE}security.provider.4={JAR_CLASS}\n"));
        assert!(!gap.registered_jars()[0].counts);
        assert!(base.registered_jars().is_empty());
    }

    #[test]
    fn what_would_not_count_is_refused() {
        let refused =
            |more: &str| lines(&format!("{BASE}{more}"), true).expect_err("it does not fit");
        let reason = refused("security.provider.4=X\n").to_string();
        assert!(reason.contains("no line security.provider.3"), "{reason}");
        let reason =
            refused("jdk.security.provider.preferred=Signature.SHA256withrsa:SunEC\n").to_string();
        assert!(reason.contains("Signature.SHA256withrsa:SunEC"), "{reason}");
        assert!(matches!(refused("a = b \\\n"), Refused::Continued));
    }

    #[test]
    fn lines_for_outboard_are_told_from_others() {
        let jdk = Jdk {
            home: PathBuf::from("/jdk"),
            version: String::new(),
        };
        let found = security(&format!(
            "{BASE}security.provider.3=SunPKCS11\nsecurity.provider.4=SunPKCS11 ${{java.home}}/other.cfg\n\
             security.provider.5=SunPKCS11 /ours.cfg\nsecurity.provider.7=SunPKCS11 /etc/outboard.cfg\n"
        ));
        let read = |file: &Path| match file.to_str() {
            Some("/jdk/other.cfg") => Ok(b"name = Other\nlibrary = /x.so\n".to_vec()),
            Some("/ours.cfg") => {
                Ok(b"name = Web\nlibrary = ${java.home}/outboard-pkcs11.so\n".to_vec())
            }
            _ => Err(io::ErrorKind::PermissionDenied.into()),
        };
        let registered = found.registered(&jdk, &read);
        let [ours, ignored] = &registered[..] else {
            panic!("{registered:?}");
        };
        assert_eq!((ours.number, ours.counts), (5, true));
        let configuration = ours.configuration.as_ref().expect("it can be read");
        assert_eq!(configuration.library, Path::new("/jdk/outboard-pkcs11.so"));
        assert_eq!((ignored.number, ignored.counts), (7, false));
        assert!(ignored.configuration.is_err());
    }

    #[test]
    fn included_files_are_read_from_java_24_on() {
        let jdk = |version: &str| Jdk {
            home: PathBuf::from("/jdk"),
            version: version.to_owned(),
        };
        let read = |file: &Path| match file.to_str() {
            Some("/jdk/more") => Ok(b"security.provider.2=More\ninclude more\n".to_vec()),
            Some("/jdk/conf/security/near") => Ok(b"security.provider.3=Near\n".to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        let text =
            b"security.provider.1=SUN\ninclude ${java.home}/more\ninclude near\ninclude none\n";
        let count = |version: &str| {
            let file = Path::new("/jdk/conf/security/java.security");
            Security::of(expanded(text, file, &jdk(version), &read))
                .providers
                .len()
        };
        assert_eq!((count("17.0.15"), count("25")), (1, 3));
    }
}
