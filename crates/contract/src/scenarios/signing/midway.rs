//! What is set and asked while a message is under way; keys of which only the parameters are there.

use super::settings::every_setting;
use crate::keys;
use crate::operations::{Kind, MESSAGE, digest_init, digest_sign};
use crate::params::Params;
use crate::transcript::{NULL, Object, Transcript, int, object, quietly};

/// What is done between the settings and the end.
const BEFORE_THE_END: [&str; 4] = ["nothing", "the size", "a copy", "no room"];

pub(super) fn midway(t: &'static Transcript, name: &'static str) {
    let key = keys::private(t, name);
    let exact = Kind::of(name) == Kind::Rsa;
    let mut settings = every_setting();
    let both = |digest: &str| {
        Params::new()
            .text("digest", digest)
            .int("pad-mode", if exact { 1 } else { 6 })
    };
    settings.push((
        "pad-mode 3 and saltlen 20".into(),
        Params::new().int("pad-mode", 3).int("saltlen", 20),
    ));
    for digest in ["SHA224", "SHA1", "SHA256"] {
        settings.push((format!("digest {digest} with its padding"), both(digest)));
    }
    for begun in [c"SHA256", c"SHA1", c"MD5"] {
        for (title, params) in &settings {
            for before in BEFORE_THE_END {
                t.scene(format!("{begun:?}, {title}, {before}"));
                let (mut md, mut operation) =
                    digest_init(t, "EVP_DigestSignInit_ex", Some(begun), key);
                int!(t, EVP_DigestSignUpdate(md, MESSAGE, MESSAGE.len()));
                int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
                match before {
                    "the size" => _ = digest_sign(t, md, None, None, false),
                    "no room" => _ = digest_sign(t, md, None, Some(0), false),
                    "a copy" if !md.is_null() => {
                        let copy = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
                        int!(t, EVP_MD_CTX_copy_ex(copy, md));
                        quietly!(t, EVP_MD_CTX_free(md));
                        md = copy;
                        operation = Object(quietly!(t, EVP_MD_CTX_get_pkey_ctx(md)) as *mut _);
                    }
                    _ => {}
                }
                // PSS is random; which padding it came to, the second of these settings may have changed.
                let exact = exact && !title.contains("pss") && !title.contains("pad-mode 6");
                digest_sign(t, md, None, Some(1024), exact);
                // And the same once more, with more of the message.
                int!(t, EVP_DigestSignUpdate(md, MESSAGE, MESSAGE.len()));
                let again = Params::new().text("digest", &begun.to_string_lossy());
                int!(t, EVP_PKEY_CTX_set_params(operation, again.arg()));
                digest_sign(t, md, None, Some(1024), exact);
                quietly!(t, EVP_MD_CTX_free(md));
            }
        }
    }
    if Kind::of(name) == Kind::Ec {
        parameters_alone(t, key);
    }
}

/// A curve, and no key on it.
fn parameters_alone(t: &Transcript, key: Object) {
    t.scene("parameters alone");
    let empty = Object(quietly!(t, EVP_PKEY_new()) as *mut _);
    int!(t, EVP_PKEY_copy_parameters(empty, key));
    for digest in [None, Some(c"SHA256"), Some(c"SHA1"), Some(c"MD5")] {
        let (md, _) = digest_init(t, "EVP_DigestSignInit_ex", digest, empty);
        int!(t, EVP_DigestSignUpdate(md, MESSAGE, MESSAGE.len()));
        digest_sign(t, md, None, None, false);
        digest_sign(t, md, None, Some(1024), false);
        digest_sign(t, md, Some(MESSAGE), None, false);
        digest_sign(t, md, Some(MESSAGE), Some(1024), false);
        quietly!(t, EVP_MD_CTX_free(md));
    }
    let operation = object!(t, EVP_PKEY_CTX_new_from_pkey(NULL, empty, NULL));
    int!(t, EVP_PKEY_sign_init(operation));
    for room in [None, Some(1024)] {
        crate::operations::produce(t, "EVP_PKEY_sign", operation, room, &[7; 32], false);
    }
    quietly!(t, EVP_PKEY_CTX_free(operation));
    quietly!(t, EVP_PKEY_free(empty));
}
