//! Which loaded object holds an address.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ops::Range;

/// A shared object, or the program itself.
pub(crate) struct Object {
    /// The loader's name of it; empty for the program.
    pub(crate) name: CString,
    /// From its first segment to its last.
    addresses: Range<usize>,
}

impl Object {
    /// The object that holds `address`.
    ///
    /// By the program headers: `dladdr` would also look for the nearest symbol, which takes 50 µs in
    /// libcrypto, and every start of a process pays for it.
    pub(crate) fn holding(address: *const c_void) -> Option<Self> {
        let mut search = Search {
            address: address as usize,
            found: None,
        };
        // SAFETY: the callback has the prototype asked for, and `search` outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
        search.found
    }

    /// Whether it holds `address` too.
    pub(crate) fn holds(&self, address: *const c_void) -> bool {
        self.addresses.contains(&(address as usize))
    }
}

struct Search {
    address: usize,
    found: Option<Object>,
}

/// Looks at one object; a result other than 0 ends the search.
unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a live structure, and back to us the pointer to our own.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader says how many headers there are.
    let headers =
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let segments = headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD)
        .map(|header| {
            let start = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
            start..start.wrapping_add(header.p_memsz as usize)
        });
    if !segments
        .clone()
        .any(|segment| segment.contains(&search.address))
    {
        return 0;
    }
    let start = segments.clone().map(|segment| segment.start).min();
    let end = segments.map(|segment| segment.end).max();
    let name = if info.dlpi_name.is_null() {
        CString::default()
    } else {
        // SAFETY: a terminated name that lives as long as the object.
        unsafe { CStr::from_ptr(info.dlpi_name) }.to_owned()
    };
    search.found = Some(Object {
        name,
        addresses: start.unwrap_or_default()..end.unwrap_or_default(),
    });
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_data_are_found_where_they_are() {
        static DATA: u8 = 1;
        let here = Object::holding(code_and_data_are_found_where_they_are as *const c_void)
            .expect("the test is loaded");
        assert!(here.name.is_empty(), "{:?}", here.name);
        assert!(here.holds((&raw const DATA).cast()));

        let libc = Object::holding(libc::getpid as *const c_void).expect("libc is loaded");
        assert!(
            libc.name.to_string_lossy().contains("libc.so"),
            "{:?}",
            libc.name
        );
        assert!(!libc.holds((&raw const DATA).cast()));
    }

    #[test]
    fn what_is_no_object_is_not_found() {
        let heap = Box::new(0_u64);
        assert!(Object::holding((&raw const *heap).cast()).is_none());
        assert!(Object::holding(std::ptr::null()).is_none());
    }
}
