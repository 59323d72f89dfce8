//! The bytes of a number. C keeps them in the processor's own order; here they are counted from the least significant.

/// A number of a parameter, as C keeps it.
#[derive(Clone, Copy)]
pub(super) struct Number<'a>(pub(super) &'a [u8]);

impl Number<'_> {
    pub(super) fn length(self) -> usize {
        self.0.len()
    }

    /// Its bytes, the least significant first.
    pub(super) fn bytes(self) -> impl Iterator<Item = u8> {
        (0..self.0.len()).map(move |index| self.0[place(index, self.0.len())])
    }

    /// Whether it is negative, if it has a sign.
    pub(super) fn is_negative(self) -> bool {
        self.bytes().last().is_some_and(|top| top & 0x80 != 0)
    }

    /// Without a sign; none if it is larger than that.
    pub(super) fn unsigned(self) -> Option<u64> {
        let mut number = [0; 8];
        for (index, byte) in self.bytes().enumerate() {
            match number.get_mut(index) {
                Some(place) => *place = byte,
                None if byte == 0 => {}
                None => return None,
            }
        }
        Some(u64::from_le_bytes(number))
    }

    /// With a sign; none if it is longer than eight bytes, or empty.
    pub(super) fn integer(self) -> Option<i64> {
        if self.0.is_empty() || self.0.len() > 8 {
            return None;
        }
        let mut number = [if self.is_negative() { 0xff } else { 0 }; 8];
        for (place, byte) in number.iter_mut().zip(self.bytes()) {
            *place = byte;
        }
        Some(i64::from_le_bytes(number))
    }
}

/// Writes a number in the processor's own order. What `little` does not have, its bytes from the least significant, is zero;
/// what is beyond the room is left out.
///
/// # Safety
/// There is room for `size` bytes.
pub(super) unsafe fn write(to: *mut u8, size: usize, little: &[u8]) {
    for index in 0..size {
        let byte = little.get(index).copied().unwrap_or(0);
        // SAFETY: `place` is below `size`, for which the caller vouches.
        unsafe { to.add(place(index, size)).write(byte) };
    }
}

/// Where the byte of that significance is, of `size`.
#[inline]
const fn place(index: usize, size: usize) -> usize {
    match cfg!(target_endian = "little") {
        true => index,
        false => size - 1 - index,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_the_processor_s_order() {
        let number = 0x8102_0304_0506_0708_u64;
        let native = number.to_ne_bytes();
        assert_eq!(Number(&native).unsigned(), Some(number));
        assert_eq!(Number(&native).integer(), Some(number as i64));
        assert!(Number(&native).bytes().eq(number.to_le_bytes()));
        let small = (-2_i32).to_ne_bytes();
        assert_eq!(Number(&small).integer(), Some(-2));
        assert_eq!(Number(&small).unsigned(), Some(0xffff_fffe));
        let wide = (u128::from(number)).to_ne_bytes();
        assert_eq!(Number(&wide).unsigned(), Some(number));
        assert_eq!(Number(&wide).integer(), None);
        assert_eq!(Number(&(1_u128 << 64).to_ne_bytes()).unsigned(), None);
        assert_eq!(Number(&[]).unsigned(), Some(0));
        assert_eq!(Number(&[]).integer(), None);
        for size in [1, 4, 8, 16] {
            let mut room = [0xaa; 16];
            // SAFETY: that much room is there.
            unsafe { write(room.as_mut_ptr(), size, &number.to_le_bytes()) };
            let wanted = number & (u64::MAX >> (64 - 8 * size.min(8)));
            assert_eq!(Number(&room[..size]).unsigned(), Some(wanted), "{size}");
            assert!(room[size..].iter().all(|&byte| byte == 0xaa));
        }
    }
}
