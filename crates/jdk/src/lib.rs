//! A JDK's security properties and SunPKCS11's configuration: read as the JDK reads them, and extended.
//!
//! ```text
//! java.security ──properties──▶ Security ──addition──▶ lines that register one provider more, and prefer it
//!                                                        │ a block of java.security, or a file of their own
//! java.cfg ◀──text── SunPkcs11 ◀──read── java.cfg        ▼
//! ```
//!
//! A later line of a properties file replaces an earlier one of the same name. So one block at the end of `java.security`
//! is enough, and taking it out restores the file byte for byte. A file that `-Djava.security.properties` names is read after
//! `java.security`, in the same way.
//!
//! Looks at files alone. Starts no Java, knows no service.

mod jdk;
mod properties;
mod security;
mod sun_pkcs11;

pub use jdk::{Jdk, JdkError, RELEASE, at_hand};
pub use properties::parse;
pub use security::{
    BLOCK, JAR_CLASS, JAR_PROVIDER, LEFT_TO_JDK, Preference, Provider, Refused, Registered,
    RegisteredJar, Registration, SETTINGS, SIGNATURES, Security, addition, expanded,
};
pub use sun_pkcs11::{MECHANISMS, SunPkcs11};
