//! The parser against OpenSSL's own: on any text both refuse, or both read the same.

use super::Config;
use proptest::prelude::*;
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::path::Path;

/// OpenSSL's parser (NCONF_new_ex(3)).
struct Nconf {
    new: unsafe extern "C" fn(*const c_void) -> *mut c_void,
    load: unsafe extern "C" fn(*mut c_void, *const c_char, *mut c_long) -> c_int,
    section: unsafe extern "C" fn(*const c_void, *const c_char) -> *mut c_void,
    string: unsafe extern "C" fn(*const c_void, *const c_char, *const c_char) -> *const c_char,
    count: unsafe extern "C" fn(*const c_void) -> c_int,
    free: unsafe extern "C" fn(*mut c_void),
}

impl Nconf {
    fn find() -> Self {
        // SAFETY: libcrypto may be loaded at any time; the name is terminated.
        let library = unsafe { libc::dlopen(c"libcrypto.so.3".as_ptr(), libc::RTLD_NOW) };
        assert!(!library.is_null(), "the tests need OpenSSL 3");
        // SAFETY: each field has the prototype that OpenSSL's conf.h and stack.h give the function.
        unsafe {
            Self {
                new: symbol(library, c"NCONF_new"),
                load: symbol(library, c"NCONF_load"),
                section: symbol(library, c"NCONF_get_section"),
                string: symbol(library, c"NCONF_get_string"),
                count: symbol(library, c"OPENSSL_sk_num"),
                free: symbol(library, c"NCONF_free"),
            }
        }
    }

    /// Whether OpenSSL reads the file; `compare` is then given what it says of a section's size and
    /// of a value.
    fn read(
        &self,
        file: &Path,
        compare: impl FnOnce(&dyn Fn(&str) -> c_int, &dyn Fn(&str, &str) -> Option<String>),
    ) -> bool {
        let path = CString::new(file.to_str().expect("a temporary file's path is text"))
            .expect("without a zero");
        // SAFETY: the calls follow conf.h: a configuration that lives until it is freed, and
        // terminated texts; the answers are copied while it lives.
        unsafe {
            let configuration = (self.new)(std::ptr::null());
            let mut line = 0;
            let is_read = (self.load)(configuration, path.as_ptr(), &mut line) > 0;
            if is_read {
                let text = |text: &str| CString::new(text).expect("without a zero");
                compare(
                    &|section| {
                        let section = (self.section)(configuration, text(section).as_ptr());
                        (self.count)(section)
                    },
                    &|section, name| {
                        let (section, name) = (text(section), text(name));
                        let value = (self.string)(configuration, section.as_ptr(), name.as_ptr());
                        (!value.is_null())
                            .then(|| CStr::from_ptr(value).to_string_lossy().into_owned())
                    },
                );
            }
            (self.free)(configuration);
            is_read
        }
    }
}

/// # Safety
/// `F` is the type of a pointer to the function of that name.
unsafe fn symbol<F: Copy>(library: *mut c_void, name: &CStr) -> F {
    assert_eq!(size_of::<F>(), size_of::<*mut c_void>());
    // SAFETY: a live handle and a terminated name.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    assert!(!address.is_null(), "{name:?}");
    // SAFETY: of the same size, and the caller vouches for the type.
    unsafe { std::mem::transmute_copy(&address) }
}

/// Texts in which everything that has a meaning is frequent.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[ab1_. ]{1,3}",
        4 => Just("\n".to_owned()),
        3 => Just(" = ".to_owned()),
        2 => "\n\\[ ?[ab]{1,2} ?\\]\n",
        2 => "\n[ab] = [ab]{0,3}\n",
        1 => "[\\[\\]=:;,!%~#'\"`$\\\\(){}\r\t-]",
        2 => "\\\\{1,3}\n",
        1 => Just("::".to_owned()),
        1 => "\\$[{(]?[ab](::[ab])?[})]?",
        1 => "\n\\.(pragma|include) ?=? ?(dollarid:on|abspath:true|includedir:x|[a:])\n",
        1 => Just("é".to_owned()),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn both_read_the_same(text in any_text()) {
        let openssl = Nconf::find();
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), &text).expect("it is ours");
        let ours = Config::parse(text.as_bytes(), file.path(), |_| None);
        let is_read = openssl.read(file.path(), |section_size, value| {
            let Ok(config) = &ours else { return };
            for (section, assignments) in config.sections() {
                assert_eq!(section_size(section), assignments.len() as c_int, "[{section}]");
                for assignment in assignments {
                    let theirs = value(section, &assignment.name);
                    assert_eq!(theirs.as_ref(), Some(&assignment.value), "[{section}] {}", assignment.name);
                }
            }
        });
        prop_assert_eq!(is_read, ours.is_ok(), "{:?}", ours.err().map(|error| error.to_string()));
    }
}
