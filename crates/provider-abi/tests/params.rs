//! Parameters: what goes in comes out, within its bounds and of its type, or not at all.

use std::ffi::{CStr, c_void};
use std::ptr;

use outboard_provider_abi::params::END;
use outboard_provider_abi::raw::{self, Param};
use outboard_provider_abi::{ParamList, Params, ParamsMut, Reason};
use proptest::prelude::*;

const KEY: &CStr = c"value";

fn array(data_type: u32, data: *mut c_void, data_size: usize) -> [Param; 2] {
    let return_size = raw::PARAM_UNMODIFIED;
    [
        Param {
            key: KEY.as_ptr(),
            data_type,
            data,
            data_size,
            return_size,
        },
        END,
    ]
}

fn read<R>(list: &ParamList, body: impl FnOnce(Params<'_>) -> R) -> R {
    // SAFETY: the list's own array, whole for the call.
    list.with_array(|array| body(unsafe { Params::new(array) }))
}

/// Asks for the value in a buffer of that type and size; the bytes and the size that was told.
fn ask(
    data_type: u32,
    room: usize,
    answer: impl Fn(&mut outboard_provider_abi::ParamMut<'_>) -> outboard_provider_abi::Result<()>,
) -> (outboard_provider_abi::Result<bool>, Vec<u8>, usize) {
    let mut buffer = vec![0xaa; room + 1];
    let mut params = array(data_type, buffer.as_mut_ptr().cast(), room);
    // SAFETY: the array and its buffer are ours and whole.
    let answered =
        unsafe { ParamsMut::new(params.as_mut_ptr()) }.answer(|param| answer(param).map(|()| true));
    assert_eq!(buffer[room], 0xaa, "nothing is written behind the buffer");
    buffer.truncate(room);
    (answered, buffer, params[0].return_size)
}

#[test]
fn a_name_is_itself_and_no_other() {
    read(&ParamList::new().text(c"tag", ""), |mut params| {
        let param = params.next().expect("it was put there");
        assert!(param.is(c"tag"));
        for other in [c"", c"ta", c"taglen", c"tab", c"iv"] {
            assert!(!param.is(other), "{other:?}");
        }
    });
}

#[test]
fn lists_are_read_back() {
    let list = ParamList::new()
        .text(c"group", "P-384")
        .octets(c"pub", &[4, 5, 6])
        .big_endian(c"priv", &[1, 0, 2]);
    read(&list, |params| {
        assert_eq!(params.count(), 3);
        let find = |name| params.find(name).expect("it was put there");
        assert_eq!(find(c"group").text().expect("a text"), "P-384");
        assert_eq!(find(c"pub").octets().expect("bytes"), [4, 5, 6]);
        assert_eq!(*find(c"priv").big_endian().expect("a number"), [1, 0, 2]);
        assert_eq!(
            find(c"priv").unsigned().expect("a small number"),
            0x01_00_02
        );
        assert!(params.find(c"grou").is_none());
    });
}

#[test]
fn a_type_is_not_taken_for_another() {
    let list = ParamList::new()
        .text(c"a", "1")
        .octets(c"b", b"1")
        .big_endian(c"c", b"1");
    read(&list, |params| {
        for param in params {
            let taken = [
                param.text().is_ok(),
                param.octets().is_ok(),
                param.unsigned().is_ok(),
            ];
            assert_eq!(taken.iter().filter(|&&taken| taken).count(), 1);
        }
    });
}

#[test]
fn what_is_recorded_again_replaces_the_first_where_it_stands() {
    let mut all = ParamList::new()
        .text(c"pad-mode", "pss")
        .text(c"saltlen", "digest");
    let again = ParamList::new()
        .text(c"pad-mode", "pkcs1")
        .text(c"digest", "SHA256");
    read(&again, |params| all.record(params));
    read(&all, |params| {
        let names: Vec<_> = params.map(|param| param.key().to_vec()).collect();
        assert_eq!(names, [&b"pad-mode"[..], b"saltlen", b"digest"]);
        let padding = params.find(c"pad-mode").expect("it is there");
        assert_eq!(padding.text().expect("a text"), "pkcs1");
    });
    let without = all.without(|name| name == c"saltlen");
    read(&without, |params| assert_eq!(params.count(), 2));
}

#[test]
fn hostile_arrays_are_refused() {
    let cases = [
        array(raw::PARAM_OCTET_STRING, ptr::null_mut(), 9),
        array(raw::PARAM_OCTET_STRING, ptr::dangling_mut(), usize::MAX),
        array(raw::PARAM_UNSIGNED_INTEGER, ptr::null_mut(), 4),
        array(raw::PARAM_UTF8_PTR, ptr::null_mut(), 0),
        array(raw::PARAM_OCTET_PTR, ptr::null_mut(), 7),
        array(raw::PARAM_REAL, ptr::null_mut(), 8),
        array(4711, ptr::null_mut(), 0),
    ];
    for case in &cases {
        // SAFETY: an array that ends; nothing it points to may be read, which is what is tested.
        let params = unsafe { Params::new(case.as_ptr()) };
        let param = params.find(KEY).expect("it is there");
        assert!(param.text().is_err());
        assert!(param.octets().is_err());
        assert!(param.big_endian().is_err());
    }
    // SAFETY: null means none.
    assert!(unsafe { Params::new(ptr::null()) }.is_empty());
}

#[test]
fn a_text_ends_at_its_first_nul_and_must_be_utf8() {
    for (bytes, expected) in [
        (&b"P-256"[..], Some("P-256")),
        (b"P-256\0rest", Some("P-256")),
        (b"", Some("")),
        (b"\xff", None),
    ] {
        let params = array(
            raw::PARAM_UTF8_STRING,
            bytes.as_ptr().cast_mut().cast(),
            bytes.len(),
        );
        // SAFETY: the array and its bytes are whole.
        let param = unsafe { Params::new(params.as_ptr()) }
            .find(KEY)
            .expect("it is there");
        assert_eq!(param.text().ok(), expected);
    }
}

#[test]
fn a_buffer_that_is_too_small_is_told_what_it_takes() {
    let (answered, buffer, told) =
        ask(raw::PARAM_OCTET_STRING, 2, |param| param.set_octets(b"abc"));
    assert_eq!(
        answered.expect_err("no room").reason(),
        Reason::BufferTooSmall
    );
    assert_eq!((buffer, told), (vec![0xaa; 2], 3));
    let (answered, _, told) = ask(raw::PARAM_UNSIGNED_INTEGER, 1, |param| {
        param.set_unsigned(256)
    });
    assert!(answered.is_err());
    assert_eq!(told, 2);

    // Without a buffer only the size is told.
    let mut params = array(raw::PARAM_OCTET_STRING, ptr::null_mut(), 0);
    // SAFETY: an array of ours.
    let answered = unsafe { ParamsMut::new(params.as_mut_ptr()) }
        .answer(|param| param.set_octets(b"abc").map(|()| true));
    assert!(answered.is_ok());
    assert_eq!(params[0].return_size, 3);
}

#[test]
fn a_text_gets_its_nul_where_there_is_room() {
    let (_, buffer, told) = ask(raw::PARAM_UTF8_STRING, 4, |param| param.set_text(c"abc"));
    assert_eq!((&buffer[..], told), (&b"abc\0"[..], 3));
    let (answered, buffer, _) = ask(raw::PARAM_UTF8_STRING, 3, |param| param.set_text(c"abc"));
    assert!(answered.is_ok());
    assert_eq!(buffer, b"abc");
}

#[test]
fn a_signed_number_keeps_its_sign_bit_free() {
    let (answered, ..) = ask(raw::PARAM_INTEGER, 1, |param| param.set_unsigned(128));
    assert!(answered.is_err(), "it would be read as −128");
    let (answered, buffer, _) = ask(raw::PARAM_INTEGER, 2, |param| param.set_unsigned(128));
    assert!(answered.is_ok());
    assert_eq!(buffer, [128, 0]);
}

#[test]
fn an_unknown_parameter_is_left_alone_and_told() {
    let mut params = array(raw::PARAM_OCTET_STRING, ptr::null_mut(), 0);
    // SAFETY: an array of ours.
    let all = unsafe { ParamsMut::new(params.as_mut_ptr()) }.answer(|_| Ok(false));
    assert!(!all.expect("no error"));
    assert_eq!(params[0].return_size, raw::PARAM_UNMODIFIED);
}

proptest! {
    #[test]
    fn numbers_go_through_any_width_that_holds_them(value: u64, width in 1usize..20) {
        let (answered, buffer, _) =
            ask(raw::PARAM_UNSIGNED_INTEGER, width, |param| param.set_unsigned(value));
        let fits = width >= 8 || value >> (8 * width) == 0;
        prop_assert_eq!(answered.is_ok(), fits);
        if fits {
            let params = array(
                raw::PARAM_UNSIGNED_INTEGER,
                buffer.as_ptr().cast_mut().cast(),
                width,
            );
            // SAFETY: the array and its bytes are whole.
            let param = unsafe { Params::new(params.as_ptr()) }.find(KEY).expect("it is there");
            prop_assert_eq!(param.unsigned().ok(), Some(value));
        }
    }

    #[test]
    fn signed_numbers_of_any_width_are_read(value: i64, width in 1usize..12) {
        let bytes = value.to_le_bytes();
        let mut native = vec![if value < 0 { 0xff } else { 0 }; width];
        let used = width.min(8);
        native[..used].copy_from_slice(&bytes[..used]);
        if cfg!(target_endian = "big") {
            native.reverse();
        }
        let params = array(raw::PARAM_INTEGER, native.as_mut_ptr().cast(), width);
        // SAFETY: the array and its bytes are whole.
        let param = unsafe { Params::new(params.as_ptr()) }.find(KEY).expect("it is there");
        let shift = 64 - 8 * used as u32;
        let expected = (width <= 8).then_some(value << shift >> shift);
        prop_assert_eq!(param.integer().ok(), expected);
        if value << shift >> shift < 0 && width <= 8 {
            prop_assert!(param.unsigned().is_err());
        }
    }

    #[test]
    fn big_numbers_go_through(value in prop::collection::vec(any::<u8>(), 1..600)) {
        let list = ParamList::new().big_endian(KEY, &value);
        let back = read(&list, |params| params.find(KEY).map(|param| param.big_endian()));
        prop_assert_eq!(&**back.expect("it is there").expect("a number"), &value[..]);
        let significant = value.iter().skip_while(|&&byte| byte == 0).count().max(1);
        let (answered, ..) = ask(raw::PARAM_UNSIGNED_INTEGER, significant, |param| {
            param.set_big_endian(&value)
        });
        prop_assert!(answered.is_ok());
        if significant > 1 {
            let (answered, ..) = ask(raw::PARAM_UNSIGNED_INTEGER, significant - 1, |param| {
                param.set_big_endian(&value)
            });
            prop_assert!(answered.is_err());
        }
    }
}
