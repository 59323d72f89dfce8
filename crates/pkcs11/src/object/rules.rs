//! Which attributes an object has, what they look like, and who gives them (PKCS #11, 4).

use cryptoki_sys::*;

use super::secret;

/// What an attribute's value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One byte, 0 or 1.
    Flag,
    /// A `CK_ULONG`.
    Number,
    /// Any number of them.
    Numbers,
    /// Eight digits, or nothing.
    Date,
    /// Anything.
    Bytes,
}

/// Who gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Giver {
    /// Who creates the object. Of what is made here, the module.
    Creator,
    /// Whoever makes it, or this value.
    Anybody(&'static [u8]),
    /// Whoever makes it, or nobody: then the object has none.
    Nobody,
    /// The module alone.
    Module,
}

/// One attribute of a class.
pub(super) struct Rule {
    pub(super) kind: CK_ATTRIBUTE_TYPE,
    pub(super) form: Form,
    pub(super) giver: Giver,
    /// Whether it may be changed later.
    pub(super) is_modifiable: bool,
}

use Form::{Bytes, Date, Flag, Number, Numbers};
use Giver::{Anybody, Creator, Module, Nobody};

const YES: Giver = Anybody(&[CK_TRUE]);
const NO: Giver = Anybody(&[CK_FALSE]);
const EMPTY: Giver = Anybody(&[]);

const fn fixed(kind: CK_ATTRIBUTE_TYPE, form: Form, giver: Giver) -> Rule {
    Rule {
        kind,
        form,
        giver,
        is_modifiable: false,
    }
}

const fn modifiable(kind: CK_ATTRIBUTE_TYPE, form: Form, giver: Giver) -> Rule {
    Rule {
        kind,
        form,
        giver,
        is_modifiable: true,
    }
}

const STORAGE: &[Rule] = &[
    fixed(CKA_CLASS, Number, Creator),
    fixed(CKA_TOKEN, Flag, NO),
    fixed(CKA_MODIFIABLE, Flag, YES),
    fixed(CKA_COPYABLE, Flag, YES),
    fixed(CKA_DESTROYABLE, Flag, YES),
    modifiable(CKA_LABEL, Bytes, EMPTY),
    fixed(CKA_UNIQUE_ID, Bytes, Module),
];
const PUBLIC_OBJECT: &[Rule] = &[fixed(CKA_PRIVATE, Flag, NO)];
const PRIVATE_OBJECT: &[Rule] = &[fixed(CKA_PRIVATE, Flag, YES)];

const DATA: &[Rule] = &[
    modifiable(CKA_APPLICATION, Bytes, EMPTY),
    modifiable(CKA_OBJECT_ID, Bytes, EMPTY),
    modifiable(CKA_VALUE, Bytes, EMPTY),
];

const CERTIFICATE: &[Rule] = &[
    fixed(CKA_CERTIFICATE_TYPE, Number, Creator),
    fixed(CKA_TRUSTED, Flag, NO),
    fixed(CKA_CERTIFICATE_CATEGORY, Number, Anybody(&[0; 8])),
    fixed(CKA_CHECK_VALUE, Bytes, EMPTY),
    fixed(CKA_START_DATE, Date, EMPTY),
    fixed(CKA_END_DATE, Date, EMPTY),
    fixed(CKA_PUBLIC_KEY_INFO, Bytes, EMPTY),
    fixed(CKA_SUBJECT, Bytes, EMPTY),
    modifiable(CKA_ID, Bytes, EMPTY),
    modifiable(CKA_ISSUER, Bytes, EMPTY),
    modifiable(CKA_SERIAL_NUMBER, Bytes, EMPTY),
    fixed(CKA_VALUE, Bytes, Creator),
    fixed(CKA_URL, Bytes, EMPTY),
    fixed(CKA_HASH_OF_SUBJECT_PUBLIC_KEY, Bytes, EMPTY),
    fixed(CKA_HASH_OF_ISSUER_PUBLIC_KEY, Bytes, EMPTY),
    fixed(CKA_JAVA_MIDP_SECURITY_DOMAIN, Number, Anybody(&[0; 8])),
];

const KEY: &[Rule] = &[
    fixed(CKA_KEY_TYPE, Number, Creator),
    modifiable(CKA_ID, Bytes, EMPTY),
    modifiable(CKA_START_DATE, Date, EMPTY),
    modifiable(CKA_END_DATE, Date, EMPTY),
    fixed(CKA_LOCAL, Flag, Module),
    fixed(CKA_KEY_GEN_MECHANISM, Number, Module),
    fixed(CKA_ALLOWED_MECHANISMS, Numbers, EMPTY),
];

const PUBLIC: &[Rule] = &[
    modifiable(CKA_DERIVE, Flag, NO),
    modifiable(CKA_SUBJECT, Bytes, EMPTY),
    modifiable(CKA_ENCRYPT, Flag, NO),
    modifiable(CKA_VERIFY, Flag, YES),
    modifiable(CKA_VERIFY_RECOVER, Flag, NO),
    modifiable(CKA_WRAP, Flag, NO),
    fixed(CKA_TRUSTED, Flag, NO),
    fixed(CKA_PUBLIC_KEY_INFO, Bytes, EMPTY),
];

/// What private and secret keys have.
const SECRET_HALF: &[Rule] = &[
    modifiable(CKA_SENSITIVE, Flag, YES),
    modifiable(CKA_EXTRACTABLE, Flag, NO),
    modifiable(CKA_DECRYPT, Flag, NO),
    modifiable(CKA_SIGN, Flag, YES),
    modifiable(CKA_UNWRAP, Flag, NO),
    fixed(CKA_ALWAYS_SENSITIVE, Flag, Module),
    fixed(CKA_NEVER_EXTRACTABLE, Flag, Module),
    fixed(CKA_WRAP_WITH_TRUSTED, Flag, NO),
];

const PRIVATE: &[Rule] = &[
    modifiable(CKA_SUBJECT, Bytes, EMPTY),
    modifiable(CKA_SIGN_RECOVER, Flag, NO),
    fixed(CKA_ALWAYS_AUTHENTICATE, Flag, NO),
    fixed(CKA_PUBLIC_KEY_INFO, Bytes, EMPTY),
];

const SECRET: &[Rule] = &[
    modifiable(CKA_DERIVE, Flag, YES),
    modifiable(CKA_ENCRYPT, Flag, NO),
    modifiable(CKA_VERIFY, Flag, YES),
    modifiable(CKA_WRAP, Flag, NO),
    fixed(CKA_TRUSTED, Flag, NO),
    fixed(CKA_CHECK_VALUE, Bytes, EMPTY),
    fixed(CKA_VALUE, Bytes, Creator),
    fixed(CKA_VALUE_LEN, Number, Module),
];

const RSA_PUBLIC: &[Rule] = &[
    fixed(CKA_MODULUS, Bytes, Creator),
    fixed(CKA_MODULUS_BITS, Number, Module),
    fixed(CKA_PUBLIC_EXPONENT, Bytes, Creator),
];
const RSA_PRIVATE: &[Rule] = &[
    modifiable(CKA_DERIVE, Flag, NO),
    fixed(CKA_MODULUS, Bytes, Creator),
    fixed(CKA_PUBLIC_EXPONENT, Bytes, Creator),
    fixed(CKA_PRIVATE_EXPONENT, Bytes, Creator),
    fixed(CKA_PRIME_1, Bytes, Creator),
    fixed(CKA_PRIME_2, Bytes, Creator),
    fixed(CKA_EXPONENT_1, Bytes, Creator),
    fixed(CKA_EXPONENT_2, Bytes, Creator),
    fixed(CKA_COEFFICIENT, Bytes, Creator),
];
const CURVE_PUBLIC: &[Rule] = &[
    fixed(CKA_EC_PARAMS, Bytes, Creator),
    fixed(CKA_EC_POINT, Bytes, Creator),
];
const CURVE_PRIVATE: &[Rule] = &[
    modifiable(CKA_DERIVE, Flag, YES),
    fixed(CKA_EC_PARAMS, Bytes, Creator),
    fixed(CKA_VALUE, Bytes, Creator),
    fixed(CKA_EC_POINT, Bytes, Nobody),
];

const KEM_PUBLIC: &[Rule] = &[
    fixed(CKA_PARAMETER_SET, Number, Creator),
    fixed(CKA_VALUE, Bytes, Creator),
    modifiable(CKA_ENCAPSULATE, Flag, YES),
];
const KEM_PRIVATE: &[Rule] = &[
    modifiable(CKA_DERIVE, Flag, NO),
    fixed(CKA_PARAMETER_SET, Number, Creator),
    fixed(CKA_SEED, Bytes, Nobody),
    fixed(CKA_VALUE, Bytes, Nobody),
    modifiable(CKA_DECAPSULATE, Flag, YES),
];
const DSA_PUBLIC: &[Rule] = &[
    fixed(CKA_PARAMETER_SET, Number, Creator),
    fixed(CKA_VALUE, Bytes, Creator),
];
const DSA_PRIVATE: &[Rule] = &[
    modifiable(CKA_DERIVE, Flag, NO),
    fixed(CKA_PARAMETER_SET, Number, Creator),
    fixed(CKA_SEED, Bytes, Nobody),
    fixed(CKA_VALUE, Bytes, Nobody),
];

/// The attributes of a private or secret key that nobody is told while it is sensitive, or cannot be extracted.
pub(super) const SECRETS: &[CK_ATTRIBUTE_TYPE] = &[
    CKA_PRIVATE_EXPONENT,
    CKA_PRIME_1,
    CKA_PRIME_2,
    CKA_EXPONENT_1,
    CKA_EXPONENT_2,
    CKA_COEFFICIENT,
    CKA_VALUE,
    CKA_SEED,
];

/// The rules of a class, for keys of a type; none where there is no such object here.
pub(super) fn rules(
    class: CK_OBJECT_CLASS,
    key_type: Option<CK_KEY_TYPE>,
) -> Option<impl Iterator<Item = &'static Rule>> {
    let parts: [&[Rule]; 5] = match class {
        CKO_DATA => [PUBLIC_OBJECT, DATA, &[], &[], &[]],
        CKO_CERTIFICATE => [PUBLIC_OBJECT, CERTIFICATE, &[], &[], &[]],
        CKO_PUBLIC_KEY => [PUBLIC_OBJECT, KEY, PUBLIC, halves(key_type?)?.0, &[]],
        CKO_PRIVATE_KEY => {
            let of_type = halves(key_type?)?.1;
            [PRIVATE_OBJECT, KEY, SECRET_HALF, PRIVATE, of_type]
        }
        CKO_SECRET_KEY if key_type.is_some_and(secret::is_type) => {
            [PRIVATE_OBJECT, KEY, SECRET_HALF, SECRET, &[]]
        }
        _ => return None,
    };
    Some(STORAGE.iter().chain(parts.into_iter().flatten()))
}

/// What the public and the private half of a type's keys have.
fn halves(key_type: CK_KEY_TYPE) -> Option<(&'static [Rule], &'static [Rule])> {
    Some(match key_type {
        CKK_RSA => (RSA_PUBLIC, RSA_PRIVATE),
        CKK_EC | CKK_EC_EDWARDS | CKK_EC_MONTGOMERY => (CURVE_PUBLIC, CURVE_PRIVATE),
        CKK_ML_KEM => (KEM_PUBLIC, KEM_PRIVATE),
        CKK_ML_DSA => (DSA_PUBLIC, DSA_PRIVATE),
        _ => return None,
    })
}
