//! Threads on a stack that the test can look at.

/// A thread's work, which is not sent anywhere: the caller waits for it.
struct Work<'a>(&'a mut dyn FnMut());

extern "C" fn start(work: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: `run_on` passes a pointer to a `Work`, and waits for this thread.
    let work = unsafe { &mut *work.cast::<Work<'_>>() };
    (work.0)();
    std::ptr::null_mut()
}

/// Runs `work` on a thread with this stack, which grows downwards from its end.
pub(crate) fn run_on(stack: &mut [u64], work: &mut dyn FnMut()) {
    let mut work = Work(work);
    // SAFETY: the attributes are initialised and destroyed; the stack is ours, as long as is said, whole pages,
    // and outlives the thread, which is waited for.
    unsafe {
        let page = 4096;
        let start_of_stack = stack.as_mut_ptr().cast::<u8>();
        let skipped = start_of_stack.align_offset(page);
        let mut attributes = std::mem::zeroed();
        assert_eq!(libc::pthread_attr_init(&mut attributes), 0);
        let size = (size_of_val(stack) - skipped) & !(page - 1);
        let bottom = start_of_stack.add(skipped);
        assert_eq!(
            libc::pthread_attr_setstack(&mut attributes, bottom.cast(), size),
            0
        );
        let mut thread = std::mem::zeroed();
        let argument = (&raw mut work).cast();
        assert_eq!(
            libc::pthread_create(&mut thread, &attributes, start, argument),
            0
        );
        assert_eq!(libc::pthread_join(thread, std::ptr::null_mut()), 0);
        libc::pthread_attr_destroy(&mut attributes);
    }
}
