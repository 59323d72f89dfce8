//! Preloaded into a TLS server (`LD_PRELOAD`), stands in the place of functions that it calls of libssl, and libssl of
//! libcrypto and libc. Each call is passed on and its time added to a phase of the sheet.
//!
//! - [`call`](mod@call): one function in the place of another, found behind it
//! - [`connection`]: functions of libssl, in which a connection is at work
//! - [`work`]: functions that libssl calls
//!
//! OpenSSL's own calls of its functions do not come by here: its libraries are linked so that they find their own.
//! ASYNC jobs are not for it: they leave a call on another stack than they began it.

mod call;
mod connection;
mod work;

use std::path::Path;
use std::sync::OnceLock;

use outboard_stopwatch::Sheet;

static SHEET: OnceLock<&'static Sheet> = OnceLock::new();

/// When the program is loaded: later it may have no environment, or no file system.
extern "C" fn begin() {
    let sheet = std::env::var_os(outboard_stopwatch::VARIABLE)
        .and_then(|path| Sheet::open(Path::new(&path)).ok());
    if let Some(sheet) = sheet {
        // The first one.
        let _ = SHEET.set(sheet);
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;
