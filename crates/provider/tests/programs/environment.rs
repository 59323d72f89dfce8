//! Programs that are not as others are: they clear their environment, bring a second copy of
//! libcrypto's state, fork in mid-use, use many threads.

use outboard_engine::Operation;
use outboard_programs::Launch;

use crate::stand::{Stand, installed, is_stock_alone};

fn python(stand: &Stand, script: &str) -> Launch {
    Launch::new("python3")
        .unwrap()
        .with(&stand.outboard)
        .directory(stand.workplace.path())
        .args(["-c", script])
}

/// A certificate for `localhost` as `server.crt` and `server.key` in the workplace.
fn certificate(stand: &Stand, new_key: &str) {
    outboard_programs::Certificate::generate(&stand.workplace, &stand.stock, "server", new_key)
        .unwrap();
}

/// A TLS server and a client in two threads of one process, through memory: `talk(bytes)`.
const TALK: &str = r#"
import ssl, threading, os

server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server.load_cert_chain('server.crt', 'server.key')
client = ssl.create_default_context(cafile='server.crt')

def talk(data):
    a, b = ssl.MemoryBIO(), ssl.MemoryBIO()
    s = server.wrap_bio(a, b, server_side=True)
    c = client.wrap_bio(b, a, server_hostname='localhost')
    done = set()
    while len(done) < 2:
        for end in (c, s):
            try:
                end.do_handshake()
                done.add(end)
            except ssl.SSLWantReadError:
                pass
    c.write(data)
    got = b''
    while len(got) < len(data):
        got += s.read(len(data) - len(got))
    assert got == data
    return c.cipher()[0]
"#;

#[test]
fn python_talks_tls() {
    if !installed(&["python3"]) {
        return;
    }
    let stand = Stand::new();
    certificate(&stand, "rsa:3072");
    let script = format!("{TALK}\nfor n in (0, 1, 16, 1000, 100000):\n    print(talk(b'x' * n))");
    let finished = python(&stand, &script).succeed().unwrap();
    assert!(
        finished.output.contains("TLS_AES_256_GCM_SHA384"),
        "{}",
        finished.output
    );
    stand.assert_served(&[
        Operation::Rsa3072Sign,
        Operation::X25519Derive,
        Operation::Aes256GcmSeal,
        Operation::Aes256GcmOpen,
    ]);
}

#[test]
fn an_environment_that_is_cleared_does_no_harm() {
    if !installed(&["python3"]) {
        return;
    }
    let stand = Stand::new();
    certificate(&stand, "ec -pkeyopt ec_paramgen_curve:P-384");
    // After libcrypto has read its configuration, and for the programs that are started then.
    let script = format!(
        "{TALK}\ntalk(b'before')\nos.environ.clear()\nos.clearenv() if hasattr(os, 'clearenv') else None\n\
         talk(b'after')\nimport subprocess\n\
         print(subprocess.run(['/usr/bin/openssl', 'list', '-providers'], env={{}}, \
         capture_output=True, text=True, check=True).stdout.lower())"
    );
    let finished = python(&stand, &script).succeed().unwrap();
    assert!(!finished.output.contains("outboard"), "{}", finished.output);
    stand.assert_served(&[Operation::P384Sign]);

    // Before: it is then as if Outboard were not there.
    let early = Stand::new();
    certificate(&early, "ec -pkeyopt ec_paramgen_curve:P-384");
    let finished = Launch::new("bash")
        .unwrap()
        .with(&early.outboard)
        .args(["-c", "env -i /usr/bin/openssl list -providers"])
        .succeed()
        .unwrap();
    assert!(
        !finished.output.to_lowercase().contains("outboard"),
        "{}",
        finished.output
    );
}

#[test]
fn forks_and_threads_share_keys() {
    if !installed(&["python3"]) {
        return;
    }
    let stand = Stand::new();
    certificate(&stand, "rsa:2048");
    let script = format!(
        "{TALK}\n\
         def work():\n    for _ in range(20): talk(b'y' * 5000)\n\
         talk(b'parent')\n\
         children = []\n\
         for _ in range(4):\n\
         \x20   pid = os.fork()\n\
         \x20   if pid == 0:\n\
         \x20       threads = [threading.Thread(target=work) for _ in range(4)]\n\
         \x20       [t.start() for t in threads]\n        [t.join() for t in threads]\n\
         \x20       os._exit(0)\n\
         \x20   children.append(pid)\n\
         work()\n\
         for pid in children:\n    assert os.waitpid(pid, 0)[1] == 0\n"
    );
    python(&stand, &script).succeed().unwrap();
    if !is_stock_alone() {
        let signed = crate::stand::served(&stand.counts(), Operation::Rsa2048Sign);
        // The parent's first and its twenty, and four children with four threads of twenty.
        assert_eq!(signed, 21 + 4 * 4 * 20);
    }
}

#[test]
fn nothing_is_left_open_and_nothing_is_printed() {
    if !installed(&["python3"]) {
        return;
    }
    let stand = Stand::new();
    certificate(&stand, "ec -pkeyopt ec_paramgen_curve:P-256");
    let script = format!(
        "import os\nbefore = sorted(os.listdir('/proc/self/fd'))\n{TALK}\ntalk(b'x')\n\
         after = sorted(os.listdir('/proc/self/fd'))\nassert before == after, (before, after)\n\
         print(len(os.listdir('/proc/self/task')))"
    );
    let finished = python(&stand, &script).succeed().unwrap();
    assert_eq!(finished.output, "1\n", "one thread, and no other output");
    assert_eq!(finished.errors, "");
}
