//! What 'outboard java' writes, and where.

use super::Arguments;
use crate::Failure;
use outboard_administration::{Connection, Reply, Request, TokenInfo};
use outboard_inspect::card_service::option;
use outboard_installation::module;
use outboard_jdk::{BLOCK, Jdk, Security, SunPkcs11, addition, expanded};
use outboard_wording::printable;
use std::fs;
use std::path::{Path, PathBuf};

/// How a file of ours begins.
const WRITTEN: &str = "# Written by 'outboard java'";

/// Where the files of one server are.
const DIRECTORY: &str = "/etc/outboard";

/// Which programs read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Those that are started with `-Djava.security.properties`.
    Server,
    /// All programs of the JDK.
    Jdk,
}

/// Whose keys.
pub(super) enum Keys {
    /// The program's own.
    Accelerator,
    /// Those of 'outboard keys'.
    Coprocessor,
    Token(Box<TokenInfo>),
}

impl Keys {
    pub(super) fn slot(&self) -> u64 {
        match self {
            Self::Coprocessor => 0,
            Self::Accelerator => 1,
            Self::Token(token) => token.slot,
        }
    }
}

/// A file with what will be in it.
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) text: Vec<u8>,
}

/// Which files, whatever is in them.
pub(super) struct Places {
    pub(super) way: Way,
    pub(super) properties: PathBuf,
    pub(super) configuration: PathBuf,
}

pub(super) struct Plan {
    pub(super) jdk: Jdk,
    pub(super) way: Way,
    pub(super) keys: Keys,
    /// What the JDK's own properties say, without Outboard's block.
    security: Security,
    pub(super) pkcs11: SunPkcs11,
    /// The configuration of SunPKCS11.
    pub(super) configuration: File,
    pub(super) properties: File,
    /// The lines of `properties` that are ours.
    pub(super) lines: String,
    /// The JDK's `java.security`: as it is, and without Outboard's block.
    pub(super) before: Vec<u8>,
    pub(super) base: Vec<u8>,
}

impl Plan {
    pub(super) fn of(arguments: &Arguments) -> Result<Self, Failure> {
        let jdk = jdk(arguments)?;
        let Places {
            way,
            properties,
            configuration,
        } = places_in(arguments, &jdk)?;
        let own = jdk.security();
        let before = read(&own)?;
        let base = BLOCK.strip(&before)?;
        let read_file = |path: &Path| fs::read(path);
        let security = Security::of(expanded(&base, &own, &jdk, &read_file));
        if !security.allows_other_files {
            return Err(format!(
                "{} does not allow other security properties, so nothing can be tried (set \
                 security.overridePropertiesFile=true)",
                own.display()
            )
            .into());
        }
        if let Some(one) = security.registered(&jdk, &read_file).first() {
            return Err(format!(
                "{} registers Outboard already, by security.provider.{} (remove that line first)",
                own.display(),
                one.number
            )
            .into());
        }
        let keys = keys(arguments)?;
        let library = module::find_token(arguments.module.as_deref())?;
        let name = match &keys {
            Keys::Accelerator => "Outboard".to_owned(),
            Keys::Coprocessor => "Outboard-coprocessor".to_owned(),
            Keys::Token(token) => format!("Outboard-{}", token.name),
        };
        let pkcs11 = SunPkcs11::new(&name, &library, keys.slot());
        let mut plan = Self {
            configuration: File {
                path: configuration,
                text: Vec::new(),
            },
            properties: File {
                path: properties,
                text: Vec::new(),
            },
            lines: String::new(),
            jdk,
            way,
            keys,
            security,
            pkcs11,
            before,
            base,
        };
        plan.lines = plan.lines_naming(&plan.configuration.path)?;
        plan.configuration.text = plan.headed(&plan.pkcs11.text());
        plan.properties.text = plan.properties_with(&plan.lines);
        Ok(plan)
    }

    /// The lines that name a configuration in that place.
    pub(super) fn lines_naming(&self, place: &Path) -> Result<String, Failure> {
        let prefers = matches!(self.keys, Keys::Accelerator);
        let base = (&self.base[..], &self.security);
        addition(base, &self.pkcs11, place, prefers).map_err(|error| {
            let own = self.jdk.security();
            format!("cannot add Outboard to {}: {error}", own.display()).into()
        })
    }

    /// The whole text of the properties.
    pub(super) fn properties_with(&self, lines: &str) -> Vec<u8> {
        match self.way {
            Way::Server => self.headed(lines),
            Way::Jdk => BLOCK.append(&self.base, lines),
        }
    }

    fn headed(&self, text: &str) -> Vec<u8> {
        let Jdk { home, version } = &self.jdk;
        let header = format!(
            "{WRITTEN} for Java {version} in {}; 'outboard java --revert' removes it.\n",
            home.display()
        );
        (header + text).into_bytes()
    }

    /// The number that the provider gets.
    pub(super) fn number(&self) -> usize {
        self.security.next()
    }

    /// What a server is started with.
    pub(super) fn option(&self) -> Option<String> {
        let file = self.properties.path.display();
        (self.way == Way::Server).then(|| format!("-Djava.security.properties={file}"))
    }
}

/// Where the files are that these options mean.
pub(super) fn places(arguments: &Arguments) -> Result<Places, Failure> {
    match arguments.whole_jdk {
        true => places_in(arguments, &jdk(arguments)?),
        false => server_s(arguments),
    }
}

fn places_in(arguments: &Arguments, jdk: &Jdk) -> Result<Places, Failure> {
    if !arguments.whole_jdk {
        return server_s(arguments);
    }
    // Debian's is a link, which stays.
    let own = jdk.security();
    let properties = own
        .canonicalize()
        .map_err(|error| format!("cannot find {}: {error}", own.display()))?;
    Ok(Places {
        way: Way::Jdk,
        configuration: properties.with_file_name("outboard.cfg"),
        properties,
    })
}

fn server_s(arguments: &Arguments) -> Result<Places, Failure> {
    let properties = match &arguments.server_file {
        Some(file) => std::path::absolute(file)?,
        None => {
            let name = match &arguments.token {
                Some(token) => format!("java-{token}.security"),
                None if arguments.coprocessor => "java-coprocessor.security".to_owned(),
                None => "java.security".to_owned(),
            };
            Path::new(DIRECTORY).join(name)
        }
    };
    // Not with_extension: the name of a token may have a dot.
    let mut configuration = properties.clone();
    if !configuration.set_extension("cfg") || configuration == properties {
        let name = properties.display();
        return Err(format!(
            "{name} is the name of the configuration (name the properties FILE.security)"
        )
        .into());
    }
    Ok(Places {
        way: Way::Server,
        properties,
        configuration,
    })
}

fn jdk(arguments: &Arguments) -> Result<Jdk, Failure> {
    let jdk = Jdk::named(arguments.jdk.as_deref(), "--for")?;
    if let Some(feature) = jdk.feature().filter(|&feature| feature < Jdk::OLDEST) {
        let home = jdk.home.display();
        let oldest = Jdk::OLDEST;
        return Err(
            format!("{home} is Java {feature}: Outboard needs Java {oldest} or later").into(),
        );
    }
    Ok(jdk)
}

fn keys(arguments: &Arguments) -> Result<Keys, Failure> {
    let Some(name) = &arguments.token else {
        return Ok(match arguments.coprocessor {
            true => Keys::Coprocessor,
            false => Keys::Accelerator,
        });
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if !name.chars().all(is_plain) {
        return Err(format!(
            "Java takes no provider with the name of the token '{}' (rename it: letters, digits, '.', '_' and '-')",
            printable(name)
        )
        .into());
    }
    let mut service = Connection::open(&arguments.directory)?;
    let tokens = match service.ask(&Request::Tokens)? {
        Reply::Tokens { tokens } => tokens,
        _ => return Err(service.surprised().into()),
    };
    let token = tokens.into_iter().find(|token| token.name == *name);
    let token = token.ok_or_else(|| {
        let option = option(&arguments.directory);
        format!("there is no token '{name}' (see 'outboard token list{option}')")
    })?;
    Ok(Keys::Token(Box::new(token)))
}

/// Whether 'outboard java' wrote a file.
pub(super) fn is_ours(text: &[u8]) -> bool {
    text.starts_with(WRITTEN.as_bytes())
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()).into())
}
