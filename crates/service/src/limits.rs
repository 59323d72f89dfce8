//! How many connections there may be, in all and of one user.

/// The most connections, however many descriptors there may be.
pub(crate) const MOST_CONNECTIONS: usize = 16_384;

/// What is said of a connection that is one too many.
pub(crate) const FULL: &str = "too many connections: the new one is closed";

/// Whether so many connections leave no room for one more of that user: the last eighth is root's.
pub(crate) fn is_full(
    uid: u32,
    connections: usize,
    most: usize,
    of_user: impl FnOnce() -> usize,
    most_of_user: usize,
) -> bool {
    match uid {
        0 => connections >= most,
        _ => connections >= most / 8 * 7 || of_user() >= most_of_user,
    }
}
