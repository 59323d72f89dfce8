//! The verbs' parameters, in and out. The fields have the names that the publication gives the parameters.
//!
//! Lengths and counts are those of the fields. An output that the publication takes for an input, too, is a field of both.

use serde::{Deserialize, Serialize};

use crate::value::{Bytes, Keyword, Rules};

macro_rules! verbs {
    ($($(#[doc = $doc:literal])+ $verb:ident $name:literal $request:ident
        { $($field:ident: $type:ty),* $(,)? } => $reply:ident $({ $($out:ident: $out_type:ty),* $(,)? })?;)*) => {
        $(
            $(#[doc = $doc])+
            #[doc = ""]
            #[doc = concat!("The parameters of ", $name, ".")]
            #[derive(Clone, Debug, Default, Serialize, Deserialize)]
            #[serde(default, deny_unknown_fields)]
            pub struct $request {
                $(#[doc = concat!("The parameter `", stringify!($field), "`.")] pub $field: $type,)*
            }

            $(
                #[doc = concat!("What ", $name, " makes.")]
                #[derive(Clone, Debug, Default, Serialize, Deserialize)]
                pub struct $reply {
                    $(#[doc = concat!("The parameter `", stringify!($out), "`.")] pub $out: $out_type,)*
                }
            )?
        )*

        /// A verb with its parameters. In JSON it is an object with one field: `{"CSNBRNG": {"form": "RANDOM"}}`.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Request {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $verb($request),)*
        }

        /// What a verb makes.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Reply {
            $(#[doc = concat!("Of ", $name, ".")] #[serde(rename = $name)] $verb($reply),)*
        }

        #[derive(Clone, Copy)]
        enum Verbs { $($verb,)* }

        impl Verbs {
            fn of(request: &Request) -> Self {
                match request { $(Request::$verb(_) => Self::$verb,)* }
            }
        }

        $(
            impl From<$request> for Request {
                fn from(request: $request) -> Self {
                    Self::$verb(request)
                }
            }
        )*

        impl Request {
            /// All verbs, in the order of their codes.
            pub const VERBS: &'static [Description] = &[$(Description {
                name: $name,
                title: stringify!($verb),
                purpose: concat!($($doc),+),
                parameters: &[$(Parameter { name: stringify!($field), kind: stringify!($type) },)*],
                results: &[$($(Parameter { name: stringify!($out), kind: stringify!($out_type) },)*)?],
            }),*];

            /// Which of [`Request::VERBS`] it is.
            pub fn verb(&self) -> usize {
                Verbs::of(self) as usize
            }

            /// What is known of the verb.
            pub fn description(&self) -> &'static Description {
                &Self::VERBS[self.verb()]
            }

            /// The verb's name, as C programs call it.
            pub fn name(&self) -> &'static str {
                self.description().name
            }

            pub(crate) fn run(&self, call: &crate::card::Call<'_>) -> crate::answer::Outcome<Reply> {
                match self { $(Self::$verb(request) => crate::verb::Verb::run(request, call).map(Reply::$verb),)* }
            }
        }

    };
}

/// A verb, for programs that ask for verbs by name.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// As C programs call it.
    pub name: &'static str,
    /// In words, without blanks: `KeyGenerate`.
    pub title: &'static str,
    /// What it does.
    pub purpose: &'static str,
    /// What it takes, in the order of its encoding.
    pub parameters: &'static [Parameter],
    /// What it makes, in the order of its encoding.
    pub results: &'static [Parameter],
}

/// A parameter of a verb.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// As the publication names it.
    pub name: &'static str,
    /// How it is encoded: `Bytes`, `Keyword`, `Rules`, `u32`, `String` and so on.
    pub kind: &'static str,
}

/// The verbs that change what a card stores, or may.
const CHANGING: &[&str] = &[
    "CSNBKRC", "CSNBKRW", "CSNBKRD", "CSNBAKRC", "CSNBAKRW", "CSNBAKRD", "CSNDKRC", "CSNDKRW",
    "CSNDKRD", "CSNDPKG", "CSNDRKD", "CSNBKSI", "CSNBMKP", "CSUAMKD", "CSUACFC", "CSNDPKH",
    "CSNDPKR", "OBAACP", "OBADTT", "OBAPFL", "OBAUDX",
];

impl Description {
    /// Whether it changes what a card stores, beside counts of wrong PINs: twice may be another thing than once.
    pub fn changes(&self) -> bool {
        CHANGING.contains(&self.name)
    }

    /// Whether it may take a disk's time or longer: RSA keys take seconds, and what somebody else made is tested.
    pub fn takes_long(&self) -> bool {
        self.changes() || matches!(self.name, "CSUARNT" | "CSNDPKI" | "OBUDXC")
    }

    /// The verb of that name: `CSNBKGN`, or its title: `key-generate`.
    pub fn of(name: &str) -> Option<&'static Self> {
        let is_meant = |verb: &&Self| verb.name.eq_ignore_ascii_case(name) || verb.words() == name;
        Request::VERBS.iter().find(is_meant)
    }

    /// The title as it is typed: `key-generate`.
    pub fn words(&self) -> String {
        let mut words = String::new();
        for letter in self.title.chars() {
            if letter.is_ascii_uppercase() && !words.is_empty() {
                words.push('-');
            }
            words.push(letter.to_ascii_lowercase());
        }
        words
    }
}

/// A user-defined extension, as it is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtensionInfo {
    /// Its name.
    pub name: String,
    /// How many bytes its module has.
    pub size: u32,
    /// The SHA-256 hash of its module, in hexadecimal digits.
    pub sha_256: String,
    /// What it calls its keys.
    pub keys: Vec<String>,
    /// The verbs that it may call.
    pub verbs: Vec<String>,
    /// Who may call it, beside administrators.
    pub users: Vec<u32>,
    /// Whether this version's interpreter takes it.
    pub ready: bool,
}

/// A verb that makes nothing but its return code.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Done {}

verbs! {
    /// Makes a DES key, in one form or two.
    KeyGenerate "CSNBKGN" KeyGenerate {
        key_form: Keyword, key_length: Keyword, key_type_1: Keyword, key_type_2: Keyword,
        kek_key_identifier_1: Bytes, kek_key_identifier_2: Bytes,
        generated_key_identifier_1: Bytes, generated_key_identifier_2: Bytes,
    } => GeneratedKeys { generated_key_identifier_1: Bytes, generated_key_identifier_2: Bytes };
    /// Makes an AES or an HMAC key.
    KeyGenerate2 "CSNBKGN2" KeyGenerate2 {
        rule_array: Rules, clear_key_bit_length: u32, key_type_1: Keyword, key_type_2: Keyword,
        key_name_1: Bytes, key_name_2: Bytes, user_associated_data_1: Bytes, user_associated_data_2: Bytes,
        key_encrypting_key_identifier_1: Bytes, key_encrypting_key_identifier_2: Bytes,
        generated_key_identifier_1: Bytes, generated_key_identifier_2: Bytes,
    } => GeneratedKeys2 { generated_key_identifier_1: Bytes, generated_key_identifier_2: Bytes };
    /// Takes a DES key from under an importer key to under the master key.
    KeyImport "CSNBKIM" KeyImport {
        key_type: Keyword, source_key_token: Bytes, importer_key_identifier: Bytes, target_key_identifier: Bytes,
    } => ImportedKey { target_key_identifier: Bytes };
    /// Takes a DES key from under the master key to under an exporter key.
    KeyExport "CSNBKEX" KeyExport {
        key_type: Keyword, source_key_identifier: Bytes, exporter_key_identifier: Bytes, target_key_token: Bytes,
    } => ExportedKey { target_key_token: Bytes };
    /// Takes a DES key from under one key-encrypting key to under another.
    KeyTranslate "CSNBKTR" KeyTranslate {
        input_key_token: Bytes, input_kek_key_identifier: Bytes, output_kek_key_identifier: Bytes, output_key_token: Bytes,
    } => TranslatedKey { output_key_token: Bytes };
    /// Combines clear parts of a DES key.
    KeyPartImport "CSNBKPI" KeyPartImport {
        rule_array: Rules, key_part: Bytes, key_identifier: Bytes,
    } => CombinedKey { key_identifier: Bytes };
    /// Combines clear parts of an AES or HMAC key.
    KeyPartImport2 "CSNBKPI2" KeyPartImport2 {
        rule_array: Rules, clear_key_part: Bytes, key_identifier: Bytes,
    } => CombinedKey2 { key_identifier: Bytes };
    /// Wraps a clear DATA key under the master key.
    ClearKeyImport "CSNBCKI" ClearKeyImport { clear_key: Bytes } => ClearKey { target_key_identifier: Bytes };
    /// Wraps a clear DATA key, DES or AES, under the master key.
    MultipleClearKeyImport "CSNBCKM" MultipleClearKeyImport { rule_array: Rules, clear_key: Bytes }
        => ClearKeys { target_key_identifier: Bytes };
    /// Assembles a DES or AES key token of 64 bytes.
    KeyTokenBuild "CSNBKTB" KeyTokenBuild {
        key_type: Keyword, rule_array: Rules, key_value: Bytes, control_vector: Bytes, master_key_verification_pattern: Bytes,
    } => BuiltToken { key_token: Bytes };
    /// Assembles a key token of variable length: AES and HMAC.
    KeyTokenBuild2 "CSNBKTB2" KeyTokenBuild2 {
        rule_array: Rules, clear_key_bit_length: u32, clear_key_value: Bytes, key_name: Bytes,
        user_associated_data: Bytes, token_data: Bytes,
    } => BuiltToken2 { target_key_token: Bytes };
    /// Reads what a DES key token says of its key.
    KeyTokenParse "CSNBKTP" KeyTokenParse { key_token: Bytes } => ParsedToken {
        key_type: Keyword, rule_array: Rules, key_value: Bytes, control_vector: Bytes, master_key_verification_pattern: Bytes,
    };
    /// Makes a control vector of a key type and keywords.
    ControlVectorGenerate "CSNBCVG" ControlVectorGenerate { key_type: Keyword, rule_array: Rules }
        => MadeControlVector { control_vector: Bytes };
    /// Re-enciphers an internal DES or AES token of 64 bytes to another master key.
    KeyTokenChange "CSNBKTC" KeyTokenChange { rule_array: Rules, key_identifier: Bytes }
        => ChangedToken { key_identifier: Bytes };
    /// Re-enciphers an internal token of variable length to another master key.
    KeyTokenChange2 "CSNBKTC2" KeyTokenChange2 { rule_array: Rules, key_identifier: Bytes }
        => ChangedToken2 { key_identifier: Bytes };
    /// Makes or verifies a pattern that tells which key a token has.
    KeyTest "CSNBKYT" KeyTest {
        rule_array: Rules, key_identifier: Bytes, random_number: Bytes, verification_pattern: Bytes,
    } => KeyPattern { random_number: Bytes, verification_pattern: Bytes };
    /// The same for tokens of every kind.
    KeyTest2 "CSNBKYT2" KeyTest2 {
        rule_array: Rules, key_identifier: Bytes, key_encrypting_key_identifier: Bytes, verification_pattern: Bytes,
    } => KeyPattern2 { verification_pattern: Bytes };
    /// Marks an internal DES token so that its key is never exported.
    ProhibitExport "CSNBPEX" ProhibitExport { key_identifier: Bytes } => Prohibited { key_identifier: Bytes };

    /// Makes an empty record in DES key storage.
    KeyRecordCreate "CSNBKRC" KeyRecordCreate { key_label: Bytes } => Done;
    /// Reads a record of DES key storage.
    KeyRecordRead "CSNBKRR" KeyRecordRead { key_label: Bytes } => RecordedKey { key_token: Bytes };
    /// Writes a token into a record of DES key storage.
    KeyRecordWrite "CSNBKRW" KeyRecordWrite { key_token: Bytes, key_label: Bytes } => Done;
    /// Deletes a record of DES key storage, or the token in it.
    KeyRecordDelete "CSNBKRD" KeyRecordDelete { rule_array: Rules, key_identifier: Bytes } => Done;
    /// Lists the labels of DES key storage that a mask fits, in which `*` stands for any characters.
    KeyRecordList "CSNBKRL" KeyRecordList { key_label: Bytes } => Labels { key_labels: Vec<String> };
    /// Makes a record in AES key storage.
    AesKeyRecordCreate "CSNBAKRC" AesKeyRecordCreate { key_label: Bytes, key_token: Bytes } => Done;
    /// Reads a record of AES key storage.
    AesKeyRecordRead "CSNBAKRR" AesKeyRecordRead { key_label: Bytes } => AesRecordedKey { key_token: Bytes };
    /// Writes a token into a record of AES key storage.
    AesKeyRecordWrite "CSNBAKRW" AesKeyRecordWrite { key_label: Bytes, key_token: Bytes } => Done;
    /// Deletes a record of AES key storage, or the token in it.
    AesKeyRecordDelete "CSNBAKRD" AesKeyRecordDelete { rule_array: Rules, key_label: Bytes } => Done;
    /// Lists labels of AES key storage.
    AesKeyRecordList "CSNBAKRL" AesKeyRecordList { key_label: Bytes } => AesLabels { key_labels: Vec<String> };
    /// Makes a record in PKA key storage.
    PkaKeyRecordCreate "CSNDKRC" PkaKeyRecordCreate { rule_array: Rules, key_label: Bytes, key_token: Bytes } => Done;
    /// Reads a record of PKA key storage.
    PkaKeyRecordRead "CSNDKRR" PkaKeyRecordRead { rule_array: Rules, key_label: Bytes } => PkaRecordedKey { key_token: Bytes };
    /// Writes a token into a record of PKA key storage.
    PkaKeyRecordWrite "CSNDKRW" PkaKeyRecordWrite { rule_array: Rules, key_label: Bytes, key_token: Bytes } => Done;
    /// Deletes a record of PKA key storage, or the token in it.
    PkaKeyRecordDelete "CSNDKRD" PkaKeyRecordDelete { rule_array: Rules, key_identifier: Bytes } => Done;
    /// Lists labels of PKA key storage.
    PkaKeyRecordList "CSNDKRL" PkaKeyRecordList { rule_array: Rules, key_label: Bytes } => PkaLabels { key_labels: Vec<String> };

    /// Writes a key into a TR-31 key block.
    Tr31Export "CSNBT31X" Tr31Export {
        rule_array: Rules, key_version_number: Bytes, key_field_length: u32, source_key_identifier: Bytes,
        unwrap_kek_identifier: Bytes, wrap_kek_identifier: Bytes, opt_blks: Bytes,
    } => Tr31Block { tr31_key_block: Bytes };
    /// Takes a key out of a TR-31 key block.
    Tr31Import "CSNBT31I" Tr31Import {
        rule_array: Rules, tr31_key_block: Bytes, unwrap_kek_identifier: Bytes, wrap_kek_identifier: Bytes,
    } => Tr31Key { output_key_identifier: Bytes, num_opt_blks: u32, cv_source: u32, protection_method: u32 };
    /// Reads the header of a TR-31 key block.
    Tr31Parse "CSNBT31P" Tr31Parse { rule_array: Rules, tr31_key_block: Bytes } => Tr31Header {
        key_block_version: String, key_block_length: u32, key_usage: String, algorithm: String, mode: String,
        key_version_number: String, exportability: String, num_opt_blks: u32,
    };

    /// Encrypts with DES or Triple DES.
    Encipher "CSNBENC" Encipher {
        key_identifier: Bytes, plaintext: Bytes, initialization_vector: Bytes, rule_array: Rules, pad_character: u32,
        chaining_vector: Bytes,
    } => Enciphered { ciphertext: Bytes, chaining_vector: Bytes };
    /// Decrypts with DES or Triple DES.
    Decipher "CSNBDEC" Decipher {
        key_identifier: Bytes, ciphertext: Bytes, initialization_vector: Bytes, rule_array: Rules, chaining_vector: Bytes,
    } => Deciphered { plaintext: Bytes, chaining_vector: Bytes };
    /// Encrypts with AES.
    SymmetricEncipher "CSNBSAE" SymmetricEncipher {
        rule_array: Rules, key_identifier: Bytes, key_parms: Bytes, block_size: u32, initialization_vector: Bytes,
        chaining_vector: Bytes, cleartext: Bytes, optional_data: Bytes,
    } => SymmetricCiphertext { ciphertext: Bytes, chaining_vector: Bytes, key_parms: Bytes };
    /// Decrypts with AES.
    SymmetricDecipher "CSNBSAD" SymmetricDecipher {
        rule_array: Rules, key_identifier: Bytes, key_parms: Bytes, block_size: u32, initialization_vector: Bytes,
        chaining_vector: Bytes, ciphertext: Bytes, optional_data: Bytes,
    } => SymmetricCleartext { cleartext: Bytes, chaining_vector: Bytes };
    /// Makes a MAC with a DES key.
    MacGenerate "CSNBMGN" MacGenerate { key_identifier: Bytes, text: Bytes, rule_array: Rules, chaining_vector: Bytes }
        => Mac { chaining_vector: Bytes, mac: Bytes };
    /// Verifies a MAC with a DES key.
    MacVerify "CSNBMVR" MacVerify {
        key_identifier: Bytes, text: Bytes, rule_array: Rules, chaining_vector: Bytes, mac: Bytes,
    } => MacVerified { chaining_vector: Bytes };
    /// Makes a CMAC with a DES or an AES key.
    MacGenerate2 "CSNBMGN2" MacGenerate2 { rule_array: Rules, key_identifier: Bytes, message_text: Bytes, chaining_vector: Bytes }
        => Mac2 { chaining_vector: Bytes, mac_text: Bytes };
    /// Verifies a CMAC with a DES or an AES key.
    MacVerify2 "CSNBMVR2" MacVerify2 {
        rule_array: Rules, key_identifier: Bytes, message_text: Bytes, chaining_vector: Bytes, mac_text: Bytes,
    } => MacVerified2 { chaining_vector: Bytes };
    /// Makes an HMAC.
    HmacGenerate "CSNBHMG" HmacGenerate { rule_array: Rules, key_identifier: Bytes, message_text: Bytes, chaining_vector: Bytes }
        => Hmac { chaining_vector: Bytes, mac_text: Bytes };
    /// Verifies an HMAC.
    HmacVerify "CSNBHMV" HmacVerify {
        rule_array: Rules, key_identifier: Bytes, message_text: Bytes, chaining_vector: Bytes, mac_text: Bytes,
    } => HmacVerified { chaining_vector: Bytes };
    /// Hashes.
    OneWayHash "CSNBOWH" OneWayHash { rule_array: Rules, text: Bytes, chaining_vector: Bytes, hash_length: u32 }
        => Hashed { chaining_vector: Bytes, hash: Bytes };
    /// Draws eight random bytes.
    RandomNumberGenerate "CSNBRNG" RandomNumberGenerate { form: Keyword } => RandomNumber { random_number: Bytes };
    /// Draws up to 8,192 random bytes.
    RandomNumberGenerateLong "CSNBRNGL" RandomNumberGenerateLong { rule_array: Rules, random_number_length: u32 }
        => RandomNumberLong { random_number: Bytes };

    /// Makes the PIN, the offset or the PIN's verification value of an account, in the clear. Off by default.
    ClearPinGenerate "CSNBPGN" ClearPinGenerate {
        pin_generating_key_identifier: Bytes, rule_array: Rules, pin_length: u32, pin_check_length: u32, data_array: Bytes,
    } => ClearPin { returned_result: Bytes };
    /// Encrypts a clear PIN.
    ClearPinEncrypt "CSNBCPE" ClearPinEncrypt {
        pin_encrypting_key_identifier: Bytes, rule_array: Rules, clear_pin: Bytes, pin_profile: Bytes, pan_data: Bytes,
        sequence_number: u32,
    } => EncryptedPin { encrypted_pin_block: Bytes };
    /// Makes an offset or a PVV of a PIN that the customer chose.
    ClearPinGenerateAlternate "CSNBCPA" ClearPinGenerateAlternate {
        pin_encryption_key_identifier: Bytes, pin_generation_key_identifier: Bytes, pin_profile: Bytes, pan_data: Bytes,
        encrypted_pin_block: Bytes, rule_array: Rules, pin_check_length: u32, data_array: Bytes,
    } => AlternatePin { returned_result: Bytes };
    /// Makes the PIN of an account, encrypted.
    EncryptedPinGenerate "CSNBEPG" EncryptedPinGenerate {
        pin_generating_key_identifier: Bytes, outbound_pin_encrypting_key_identifier: Bytes, rule_array: Rules,
        pin_length: u32, data_array: Bytes, pin_profile: Bytes, pan_data: Bytes, sequence_number: u32,
    } => GeneratedPin { encrypted_pin_block: Bytes };
    /// Encrypts a PIN anew, under another key or in another format.
    EncryptedPinTranslate "CSNBPTR" EncryptedPinTranslate {
        input_pin_encrypting_key_identifier: Bytes, output_pin_encrypting_key_identifier: Bytes, input_pin_profile: Bytes,
        pan_data_in: Bytes, pin_block_in: Bytes, rule_array: Rules, output_pin_profile: Bytes, pan_data_out: Bytes,
        sequence_number: u32,
    } => TranslatedPin { pin_block_out: Bytes };
    /// The same, with keys and blocks of variable length: ISO-4, AES DUKPT.
    EncryptedPinTranslate2 "CSNBPTR2" EncryptedPinTranslate2 {
        rule_array: Rules, input_pin_encrypting_key_identifier: Bytes, output_pin_encrypting_key_identifier: Bytes,
        authentication_key_identifier: Bytes, input_pin_profile: Bytes, input_pan_data: Bytes, input_pin_block: Bytes,
        output_pin_profile: Bytes, output_pan_data: Bytes, authentication_data: Bytes,
    } => TranslatedPin2 { output_pin_block: Bytes };
    /// Verifies an encrypted PIN.
    EncryptedPinVerify "CSNBPVR" EncryptedPinVerify {
        pin_encrypting_key_identifier: Bytes, pin_verifying_key_identifier: Bytes, pin_profile: Bytes, pan_data: Bytes,
        encrypted_pin_block: Bytes, rule_array: Rules, pin_check_length: u32, data_array: Bytes,
    } => Done;
    /// Makes the PIN block of a script that changes the PIN of a chip card.
    PinChangeUnblock "CSNBPCU" PinChangeUnblock {
        rule_array: Rules, authentication_issuer_master_key_identifier: Bytes, encryption_issuer_master_key_identifier: Bytes,
        key_generation_data: Bytes, new_reference_pin_key_identifier: Bytes, new_reference_pin_block: Bytes,
        new_reference_pin_profile: Bytes, new_reference_pin_pan_data: Bytes, current_reference_pin_key_identifier: Bytes,
        current_reference_pin_block: Bytes, current_reference_pin_profile: Bytes, current_reference_pin_pan_data: Bytes,
        output_pin_profile: Bytes,
    } => PinMessage { output_pin_message: Bytes };
    /// Derives the key of one transaction (DUKPT), as a token.
    UniqueKeyDerive "CSNBUKD" UniqueKeyDerive {
        rule_array: Rules, base_derivation_key_identifier: Bytes, derivation_data: Bytes,
        generated_key_identifier1: Bytes, generated_key_identifier2: Bytes, generated_key_identifier3: Bytes,
        transport_key_identifier: Bytes,
    } => DerivedKeys { generated_key_identifier1: Bytes, generated_key_identifier2: Bytes, generated_key_identifier3: Bytes };
    /// Makes a card verification value.
    CvvGenerate "CSNBCSG" CvvGenerate {
        rule_array: Rules, pan_data: Bytes, expiration_date: Bytes, service_code: Bytes,
        cvv_key_a_identifier: Bytes, cvv_key_b_identifier: Bytes,
    } => Cvv { cvv_value: Bytes };
    /// Verifies a card verification value.
    CvvVerify "CSNBCSV" CvvVerify {
        rule_array: Rules, pan_data: Bytes, expiration_date: Bytes, service_code: Bytes,
        cvv_key_a_identifier: Bytes, cvv_key_b_identifier: Bytes, cvv_value: Bytes,
    } => Done;

    /// Assembles a token of a public key, or the skeleton of a private key's.
    PkaKeyTokenBuild "CSNDPKB" PkaKeyTokenBuild { rule_array: Rules, key_value_structure: Bytes, private_key_name: Bytes }
        => PkaToken { key_token: Bytes };
    /// Makes a private key.
    PkaKeyGenerate "CSNDPKG" PkaKeyGenerate {
        rule_array: Rules, regeneration_data: Bytes, skeleton_key_identifier: Bytes, transport_key_identifier: Bytes,
        generated_key_identifier: Bytes,
    } => PkaGenerated { generated_key_identifier: Bytes };
    /// Takes a private key from the clear to under the master key.
    PkaKeyImport "CSNDPKI" PkaKeyImport { rule_array: Rules, source_key_token: Bytes, importer_key_identifier: Bytes }
        => PkaImported { target_key_identifier: Bytes };
    /// Takes the public half out of a private key's token.
    PkaPublicKeyExtract "CSNDPKX" PkaPublicKeyExtract { rule_array: Rules, source_key_identifier: Bytes }
        => PkaExtracted { target_public_key_token: Bytes };
    /// Encrypts with a public key.
    PkaEncrypt "CSNDPKE" PkaEncrypt { rule_array: Rules, key_value: Bytes, data_structure: Bytes, public_key_identifier: Bytes }
        => PkaEncrypted { enciphered_key: Bytes };
    /// Decrypts with a private key.
    PkaDecrypt "CSNDPKD" PkaDecrypt {
        rule_array: Rules, enciphered_key: Bytes, data_structure: Bytes, private_key_identifier: Bytes,
    } => PkaDecrypted { key_value: Bytes };
    /// Signs.
    DigitalSignatureGenerate "CSNDDSG" DigitalSignatureGenerate { rule_array: Rules, private_key_identifier: Bytes, hash: Bytes }
        => Signature { signature_field: Bytes, signature_bit_length: u32 };
    /// Verifies a signature.
    DigitalSignatureVerify "CSNDDSV" DigitalSignatureVerify {
        rule_array: Rules, public_key_identifier: Bytes, hash: Bytes, signature_field: Bytes,
    } => Done;
    /// Re-enciphers a private key's token to another master key.
    PkaKeyTokenChange "CSNDKTC" PkaKeyTokenChange { rule_array: Rules, key_identifier: Bytes }
        => PkaChanged { key_identifier: Bytes };
    /// Lists the private keys that are kept inside.
    RetainedKeyList "CSNDRKL" RetainedKeyList { rule_array: Rules, key_label_mask: Bytes }
        => RetainedKeys { retained_keys_count: u32, key_labels: Vec<String> };
    /// Deletes a private key that is kept inside.
    RetainedKeyDelete "CSNDRKD" RetainedKeyDelete { rule_array: Rules, key_label: Bytes } => Done;
    /// Makes a symmetric key, once under the master key and once under a public key.
    SymmetricKeyGenerate "CSNDSYG" SymmetricKeyGenerate {
        rule_array: Rules, key_encrypting_key_identifier: Bytes, rsa_public_key_identifier: Bytes,
        local_enciphered_key_identifier: Bytes,
    } => SymmetricGenerated { local_enciphered_key_identifier: Bytes, rsa_enciphered_key: Bytes };
    /// Takes a symmetric key from under a public key to under the master key.
    SymmetricKeyImport "CSNDSYI" SymmetricKeyImport {
        rule_array: Rules, rsa_enciphered_key: Bytes, rsa_private_key_identifier: Bytes, target_key_identifier: Bytes,
    } => SymmetricImported { target_key_identifier: Bytes };
    /// Takes an AES or HMAC key from under an AES importer key to under the master key.
    SymmetricKeyImport2 "CSNDSYI2" SymmetricKeyImport2 {
        rule_array: Rules, enciphered_key: Bytes, transport_key_identifier: Bytes,
    } => SymmetricImported2 { target_key_identifier: Bytes };
    /// Takes a symmetric key from under the master key to under a public key, or under an AES exporter key.
    SymmetricKeyExport "CSNDSYX" SymmetricKeyExport {
        rule_array: Rules, source_key_identifier: Bytes, transporter_key_identifier: Bytes,
    } => SymmetricExported { enciphered_key: Bytes };

    /// Empties key storage. Administrators alone.
    KeyStorageInitialization "CSNBKSI" KeyStorageInitialization { rule_array: Rules } => Done;
    /// Tells what the card is and in which state its master keys are.
    CryptoFacilityQuery "CSUACFQ" CryptoFacilityQuery { rule_array: Rules, verb_data: Bytes }
        => FacilityStatus { rule_array: Rules, verb_data: Bytes };
    /// Tells the version of the library.
    CryptoFacilityVersion "CSUACFV" CryptoFacilityVersion {} => FacilityVersion { version_data: Bytes };
    /// Enters, clears or sets a master key. Administrators alone.
    MasterKeyProcess "CSNBMKP" MasterKeyProcess { rule_array: Rules, key_part: Bytes } => Done;
    /// Gives a share of a master key to another card, and takes one. Administrators alone.
    MasterKeyDistribution "CSUAMKD" MasterKeyDistribution {
        rule_array: Rules, share_index: u32, private_key_name: Bytes, certifying_key_name: Bytes, certificate: Bytes,
        clone_info_encrypting_key: Bytes, clone_info: Bytes,
    } => CloneInfo { clone_info_encrypting_key: Bytes, clone_info: Bytes };
    /// Tests the random number generator and algorithms with known answers.
    RandomNumberTests "CSUARNT" RandomNumberTests { rule_array: Rules } => Done;

    /// Ours, not CCA's: switches access-control points on and off. Administrators alone.
    AccessPoints "OBAACP" AccessPoints { enable: Vec<u16>, disable: Vec<u16> } => EnabledPoints { enabled: Vec<u16> };
    /// Ours, not CCA's: stores and deletes decimalization tables, and lists them. Administrators alone.
    DecimalizationTables "OBADTT" DecimalizationTables { store: Vec<(String, String)>, delete: Vec<String> }
        => StoredTables { tables: Vec<(String, String)> };
    /// Ours, not CCA's: forgets how often PINs were wrong. Administrators alone.
    PinFailures "OBAPFL" PinFailures { limit: u32, forget: bool } => PinFailureCount { limit: u32, accounts: u32, blocked: u32 };

    /// Ours, not CCA's: adds and removes user-defined extensions, says who may call them, and lists them. Administrators alone.
    UserExtensions "OBAUDX" UserExtensions {
        rule_array: Rules, name: Bytes, module: Bytes, keys: Vec<(String, Bytes)>, verbs: Vec<String>, user: u32,
    } => AddedExtensions { extensions: Vec<ExtensionInfo> };
    /// Ours, not CCA's: calls a user-defined extension.
    CallExtension "OBUDXC" CallExtension { name: Bytes, input: Bytes } => ExtensionAnswer { code: u32, output: Bytes };

    /// Says which of several cards a program means: there is one.
    ResourceAllocate "CSUACRA" ResourceAllocate { rule_array: Rules, resource_name: Bytes } => Done;
    /// Takes that back.
    ResourceDeallocate "CSUACRD" ResourceDeallocate { rule_array: Rules, resource_name: Bytes } => Done;

    /// Sets the card's environment identifier, and how many shares its master keys have. Administrators alone.
    CryptoFacilityControl "CSUACFC" CryptoFacilityControl { rule_array: Rules, verb_data: Bytes } => Done;
    /// Registers the hash of a public key's certificate. Administrators alone.
    PkaPublicKeyHashRegister "CSNDPKH" PkaPublicKeyHashRegister {
        rule_array: Rules, public_key_name: Bytes, hash_data: Bytes,
    } => Done;
    /// Registers a public key whose hash is registered: certificates that it signed are believed. Administrators alone.
    PkaPublicKeyRegister "CSNDPKR" PkaPublicKeyRegister {
        rule_array: Rules, public_key_name: Bytes, public_key_certificate: Bytes,
    } => Done;
}

impl Request {
    /// The request as bytes.
    ///
    /// # Errors
    /// There is no memory.
    pub fn encode(&self) -> Result<Bytes, crate::Malformed> {
        crate::encoded(self).map(Bytes::from)
    }

    /// The request of which these are the bytes, and all of them.
    ///
    /// # Errors
    /// They are none.
    pub fn decode(bytes: &[u8]) -> Result<Self, crate::Malformed> {
        crate::whole(postcard::take_from_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_back_from_bytes_and_from_json() {
        let request = Request::from(RandomNumberGenerate {
            form: Keyword::new("RANDOM"),
        });
        let json = serde_json::to_string(&request).unwrap();
        assert_eq!(json, r#"{"CSNBRNG":{"form":"RANDOM"}}"#);
        assert_eq!(
            serde_json::from_str::<Request>(&json).unwrap().name(),
            "CSNBRNG"
        );
        let mut bytes = request.encode().unwrap().take();
        assert_eq!(Request::decode(&bytes).unwrap().name(), "CSNBRNG");
        bytes.push(0);
        assert!(Request::decode(&bytes).is_err(), "more than a request");
        assert!(Request::decode(&bytes[..3]).is_err(), "less than a request");
        let wrong = r#"{"CSNBRNG":{"from":"RANDOM"}}"#;
        assert!(
            serde_json::from_str::<Request>(wrong).is_err(),
            "a parameter that is none"
        );
    }
}
