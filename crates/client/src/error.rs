//! Why a request was not answered, as a sentence for a program's error queue.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outboard_wire::{Malformed, Status, directory_option};

/// Why a request was not answered: the key, the reason, and the line to type where there is one.
#[derive(Debug, thiserror::Error)]
#[error("key '{key}': {problem}")]
pub struct Error {
    /// The key's name in its reference.
    pub key: String,
    /// The reason.
    #[source]
    pub problem: Problem,
}

/// The reason.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// Nobody listens at the socket.
    #[error("the card service does not answer at {}: {} ({})", path.display(), plain(source), remedy(path, source))]
    Unreachable {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It took the request, or did not even that, and said nothing.
    #[error(
        "the card service did not answer within {} s ({})",
        limit.as_secs_f32(),
        line(directory, "systemctl status outboard", &["outboard service status"])
    )]
    Silent {
        /// For so long.
        limit: Duration,
        /// Its directory.
        directory: PathBuf,
    },
    /// It answered that it will not, or cannot.
    #[error("{}", refusal(*status, sentence))]
    Refused {
        /// How the request went.
        status: Status,
        /// The service's own sentence; may be empty.
        sentence: String,
    },
    /// What it answered is no answer.
    #[error(
        "the card service's answer makes no sense: {0} (are the service and this program's Outboard of one version? run \
         'outboard doctor')"
    )]
    Misunderstood(Malformed),
    /// It was asked for a reference, and answered something else.
    #[error("the card service's answer is no reference to a key (run 'outboard doctor')")]
    NoReference,
    /// It does not understand a request that only later versions know.
    #[error(
        "the card service is older than this program's Outboard ({})",
        line(directory, "systemctl restart outboard", &["outboard service stop", "outboard service start"])
    )]
    Older {
        /// Its directory.
        directory: PathBuf,
    },
    /// The process put on a filter of system calls since it loaded its keys: another call may end it.
    #[error(
        "the program has confined itself (seccomp), so it cannot ask the card service (use a key file of its own for \
         this program)"
    )]
    Confined,
    /// The system gives no socket.
    #[error("no socket for the card service: {} ({})", plain(.0), socket_remedy(.0))]
    Resource(io::Error),
    /// All connections are in use all the time.
    #[error("all {connections} connections of this process to the card service are busy for {} s", limit.as_secs_f32())]
    Crowded {
        /// How many there are.
        connections: usize,
        /// For how long.
        limit: Duration,
    },
    /// The message does not fit a packet.
    #[error("the message has {length} bytes, the card service takes {most}")]
    Long {
        /// Bytes of the request.
        length: usize,
        /// The most that there may be.
        most: usize,
    },
    /// Another user listens at the abstract address.
    #[error(
        "another user (uid {found}) listens at the card service's abstract address instead of uid {expected} (run \
         'outboard doctor')"
    )]
    Impostor {
        /// The listener's user.
        found: libc::uid_t,
        /// The user that it has to be.
        expected: libc::uid_t,
    },
}

/// What the system says, without the number that Rust adds.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    let mut characters = text[..end].chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(characters).collect()
}

fn remedy(socket: &Path, error: &io::Error) -> String {
    if let Some(libc::EACCES | libc::EPERM) = error.raw_os_error() {
        return "run 'outboard doctor' as this program's user".to_owned();
    }
    let directory = socket.parent().unwrap_or(socket);
    line(
        directory,
        "systemctl start outboard",
        &["outboard service start"],
    )
}

/// What to type for the system's service, or else, line by line, for one in a directory of its own.
fn line(directory: &Path, system: &str, own: &[&str]) -> String {
    let option = directory_option(directory);
    if option.is_empty() {
        return format!("run '{system}'");
    }
    let own = own.iter().map(|words| format!("'{words}{option}'"));
    format!("run {}", own.collect::<Vec<_>>().join(" and "))
}

fn socket_remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EMFILE) => "raise the program's limit of open files, LimitNOFILE= in its unit",
        _ => "run 'outboard doctor' as this program's user",
    }
}

/// The service's sentence, or one that says the least.
fn refusal(status: Status, sentence: &str) -> String {
    if !sentence.is_empty() {
        return sentence.to_owned();
    }
    // SAFETY: has no preconditions.
    let user = unsafe { libc::geteuid() };
    match status {
        Status::Done => "done".to_owned(),
        Status::Denied => format!("permission denied for uid {user} (run 'outboard keys grant')"),
        Status::NoKey => "the card service has no such key (run 'outboard keys list')".to_owned(),
        Status::NotAllowed => {
            "its policy does not allow this operation (run 'outboard keys show')".to_owned()
        }
        Status::Malformed => "the card service does not understand the request".to_owned(),
        Status::Unavailable => {
            "the card service has no master key (run 'outboard service status')".to_owned()
        }
        Status::Failed => "the operation failed, and nothing was released".to_owned(),
        Status::Busy => "too many requests at a time (run 'outboard keys show')".to_owned(),
        Status::LoggedOut => "nobody is logged in to the key's token".to_owned(),
    }
}

/// A sentence that came from outside, as an error queue and a log can take it.
pub(crate) fn tame(bytes: &[u8]) -> String {
    const MOST: usize = 400;
    let text = String::from_utf8_lossy(bytes);
    let tame = text
        .chars()
        .map(|one| if one.is_control() { ' ' } else { one });
    tame.take(MOST).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(problem: Problem) -> String {
        let key = "site".to_owned();
        Error { key, problem }.to_string()
    }

    #[test]
    fn an_error_names_the_key_the_reason_and_the_remedy() {
        let source = io::Error::from_raw_os_error(libc::ENOENT);
        let path = PathBuf::from("/run/outboard/service.sock");
        assert_eq!(
            error(Problem::Unreachable { path, source }),
            "key 'site': the card service does not answer at /run/outboard/service.sock: no such file or directory (run \
             'systemctl start outboard')"
        );
        let source = io::Error::from_raw_os_error(libc::ECONNREFUSED);
        let path = PathBuf::from("/tmp/keys/service.sock");
        let text = error(Problem::Unreachable { path, source });
        assert!(
            text.ends_with("(run 'outboard service start --directory /tmp/keys')"),
            "{text}"
        );
        for (directory, silent, older) in [
            (
                "/run/outboard",
                "run 'systemctl status outboard'",
                "run 'systemctl restart outboard'",
            ),
            (
                "/tmp/keys",
                "run 'outboard service status --directory /tmp/keys'",
                "run 'outboard service stop --directory /tmp/keys' and 'outboard service start --directory /tmp/keys'",
            ),
        ] {
            let directory = PathBuf::from(directory);
            let limit = Duration::from_millis(2500);
            let text = error(Problem::Silent {
                limit,
                directory: directory.clone(),
            });
            assert!(
                text.ends_with(&format!("within 2.5 s ({silent})")),
                "{text}"
            );
            let text = error(Problem::Older { directory });
            assert!(text.ends_with(&format!("Outboard ({older})")), "{text}");
        }
        let sentence = "permission denied for user www-data (uid 33) (run 'outboard keys grant site --user www-data')";
        let status = Status::Denied;
        assert_eq!(
            error(Problem::Refused {
                status,
                sentence: sentence.to_owned()
            }),
            format!("key 'site': {sentence}")
        );
        for status in Status::ALL {
            let sentence = String::new();
            let text = error(Problem::Refused { status, sentence });
            assert!(text.len() > "key 'site': ".len(), "{text}");
        }
    }

    #[test]
    fn a_sentence_from_outside_is_one_line() {
        assert_eq!(
            tame(b"no\nsuch\x1b[1m key\xff \0"),
            "no such [1m key\u{fffd}"
        );
        assert_eq!(tame(&[b'x'; 5000]).len(), 400);
    }
}
