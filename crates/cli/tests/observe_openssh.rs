//! What OpenSSH does in its own code, by the traces that a real sshd and its client leave.

mod common;

use common::{are_installed, observing, report_of};
use outboard_programs::{Sshd, SshdOptions, Workplace};

/// The key exchanges of a connection: how many there were, and how many of OpenSSH's own are inferred of the client and
/// of the server.
fn exchanges(settings: &str, options: &[&str], command: &str) -> (u64, [u64; 2]) {
    let workplace = Workplace::new().expect("a directory");
    let [client, server] = ["client", "server"].map(|side| workplace.join(side));
    let options_of_sshd = SshdOptions {
        openssl: &observing(&workplace, "observed-server", &server),
        core: None,
        settings,
    };
    let sshd = Sshd::start(&workplace, options_of_sshd).expect("it starts");
    let connection = sshd
        .client("ssh")
        .expect("it is installed")
        .with(&observing(&workplace, "observed-client", &client))
        .arg("-v")
        .args(options)
        .args([Sshd::HOST, command])
        .succeed()
        .expect("it is let in");
    sshd.stop().expect("it ends");
    let there_were = connection.errors.matches("SSH2_MSG_NEWKEYS sent").count();
    let inferred = [client, server].map(|record| {
        let report = report_of(&record);
        let quantum = &report["quantum"];
        // They are not among those that are seen.
        assert_eq!(quantum["key_agreements"], 0, "{report:#}");
        assert_eq!(quantum["key_agreements_post_quantum"], 0);
        let inferred = &quantum["openssh_hybrid_exchanges"];
        inferred.as_u64().expect("a number")
    });
    (there_were as u64, inferred)
}

/// As short as lists can be: then the hash of the exchange is about as long as what sntrup761 hashes. And every packet is
/// hashed as well.
const SHORT: &str = "Ciphers aes128-ctr
                     MACs hmac-sha2-512
                     HostKeyAlgorithms ssh-ed25519
                     Compression no";

/// Sends more than comes before the next key exchange.
const LONG: &str = "head -c 10000000 /dev/zero";

#[test]
fn key_exchanges_with_sntrup761_are_inferred_whatever_the_lists() {
    if !are_installed(&["sshd", "ssh", "ssh-keygen"]) {
        return;
    }
    let kex = "KexAlgorithms=sntrup761x25519-sha512@openssh.com";
    assert_eq!(exchanges("", &["-o", kex], "true"), (1, [1, 1]));
    let short = format!("{kex}\n{SHORT}").replace('=', " ");
    let options = ["-o", kex, "-c", "aes128-ctr", "-m", "hmac-sha2-512"];
    assert_eq!(exchanges(&short, &options, "true"), (1, [1, 1]));
    // Keys are exchanged anew after so many bytes, how often depends on what is on its way then.
    let options = [&options[..], &["-o", "RekeyLimit=4M"]].concat();
    let (there_were, inferred) = exchanges(&short, &options, LONG);
    assert!(there_were > 1, "once the connection is old, again");
    // The end of the connection may interrupt the last one: then one side has done its part, and nobody logs it.
    assert!(
        inferred
            .iter()
            .all(|side| (there_were..=there_were + 1).contains(side)),
        "{inferred:?} of {there_were}"
    );
}

#[test]
fn other_key_exchanges_are_not_taken_for_it() {
    if !are_installed(&["sshd", "ssh", "ssh-keygen"]) {
        return;
    }
    for kex in [
        "ecdh-sha2-nistp521",
        "diffie-hellman-group16-sha512",
        "diffie-hellman-group18-sha512",
        "curve25519-sha256",
    ] {
        let short = format!("KexAlgorithms {kex}\n{SHORT}");
        let options = ["-o", "RekeyLimit=4M"];
        let (there_were, inferred) = exchanges(&short, &options, LONG);
        assert!(there_were > 1 && inferred == [0, 0], "{kex}");
    }
}
