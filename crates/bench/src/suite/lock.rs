//! One measurement at a time on a machine: two would measure each other.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use outboard_programs::Error;

/// Held while something is measured; given back when dropped, and by the kernel if the process dies.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes it. If another process has it, waits, with a message on standard error.
    ///
    /// # Errors
    /// [`Error::File`] if the file in the temporary directory cannot be used.
    pub fn take() -> Result<Self, Error> {
        Self::take_at(&std::env::temp_dir().join("outboard-bench.running"))
    }

    fn take_at(path: &Path) -> Result<Self, Error> {
        let failed = Error::file("lock", path);
        let mut file = open(path).map_err(&failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                eprintln!(
                    "outboard-bench: {} is measuring; waiting until it ends",
                    holder(&mut file)
                );
                file.lock().map_err(&failed)?;
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The process id helps a user who waits. If it cannot be written, measure anyway.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}

/// Opens what is there before anything is made: in a directory like /tmp not even root may open
/// another user's file with O_CREAT (fs.protected_regular).
fn open(path: &Path) -> io::Result<File> {
    let opened = File::options().read(true).write(true).open(path);
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let file = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)?;
            // So that other users can wait for us as well.
            let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o666);
            fs::set_permissions(path, everybody)?;
            Ok(file)
        }
        other => other,
    }
}

fn holder(file: &mut File) -> String {
    let mut process = String::new();
    match file.read_to_string(&mut process) {
        Ok(length) if length > 0 => format!("another outboard-bench (process {process})"),
        _ => "another outboard-bench".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outboard_programs::Workplace;
    use std::sync::mpsc;

    #[test]
    fn the_second_waits_for_the_first() {
        let workplace = Workplace::new().unwrap();
        let path = workplace.join("lock");
        let first = Lock::take_at(&path).unwrap();
        let (send, receive) = mpsc::channel();
        let second = std::thread::spawn({
            let path = path.clone();
            move || {
                send.send("waiting").unwrap();
                let lock = Lock::take_at(&path).unwrap();
                send.send("taken").unwrap();
                lock
            }
        });
        assert_eq!(receive.recv().unwrap(), "waiting");
        assert!(
            receive
                .recv_timeout(std::time::Duration::from_millis(200))
                .is_err()
        );
        drop(first);
        assert_eq!(receive.recv().unwrap(), "taken");
        drop(second.join().unwrap());
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            std::process::id().to_string()
        );
    }
}
