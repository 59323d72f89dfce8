//! What a cipher takes and where it puts what it gives, which may be one place (PKCS #11, 5.8.2).

use std::{ptr, slice};

use cryptoki_sys::*;
use inout::InOutBuf;
use zeroize::Zeroizing;

use super::arguments::{Output, bytes};
use crate::error::Result;

/// Input, and room for output.
pub(crate) struct Exchange<'a> {
    input: *const [u8],
    /// Where the result goes.
    pub(crate) output: Output<'a>,
    /// An input whose place is written to before it is read.
    copy: Zeroizing<Vec<u8>>,
}

impl<'a> Exchange<'a> {
    /// An input that lies nowhere near its output.
    pub(crate) fn of(input: &'a [u8], output: Output<'a>) -> Self {
        Self {
            input,
            output,
            copy: Zeroizing::default(),
        }
    }
}

impl Exchange<'_> {
    /// # Safety
    /// `input` leads to as many bytes as `length` says, or is null and there are none; `output` and `output_length` as for
    /// [`Output::new`].
    pub(super) unsafe fn new(
        input: *const CK_BYTE,
        length: CK_ULONG,
        output: *mut CK_BYTE,
        output_length: *mut CK_ULONG,
    ) -> Result<Self> {
        // SAFETY: by the caller's word.
        unsafe {
            Ok(Self {
                input: bytes(input, length)?,
                output: Output::new(output, output_length)?,
                copy: Zeroizing::default(),
            })
        }
    }

    /// The input's length.
    pub(crate) fn length(&self) -> usize {
        self.input.len()
    }

    /// The input, while nothing is written.
    pub(crate) fn input(&self) -> &[u8] {
        // SAFETY: as many bytes, by the word of who made this; what writes borrows this for itself alone.
        unsafe { &*self.input }
    }

    /// The first so many bytes of the input and of the output, for which there is room.
    pub(crate) fn both(&mut self, length: usize) -> InOutBuf<'_, '_, u8> {
        let output = self.output.room(length);
        if !ptr::eq(self.input.cast::<u8>(), output) {
            self.part(length);
        }
        // INVARIANT: no cipher asks for more input than there is.
        let length = length.min(self.length());
        // SAFETY: as many bytes of each, which are the same or, now, apart.
        unsafe { InOutBuf::from_raw(self.input.cast(), output, length) }
    }

    /// The input and the output, apart; `written` is the output's length, for which there is room.
    pub(crate) fn apart(&mut self, written: usize) -> (&[u8], &mut [u8]) {
        self.part(written);
        let output = self.output.room(written);
        // SAFETY: as many bytes of each, which are, now, apart.
        unsafe { (&*self.input, slice::from_raw_parts_mut(output, written)) }
    }

    /// Copies the input where its place is written to.
    fn part(&mut self, written: usize) {
        let input = self.input.cast::<u8>().addr();
        let output = self.output.room(written).addr();
        if input < output + written && output < input + self.length() {
            self.copy = Zeroizing::new(self.input().to_vec());
            self.input = &raw const self.copy[..];
        }
    }
}
