//! `outboard keys adopt /etc/ssh/ssh_host_*_key`: sshd is told to ask the service, and at each step somebody can log in.
//!
//! /etc/ssh is a directory of the test's own, in a mount namespace of each program that the test starts.

mod common;

use common::service::{Service, succeeds};
use outboard_programs::{Sshd, free_port};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const DROP_IN: &str = "sshd_config.d/outboard.conf";
const HOSTS: [&str; 3] = ["ed25519", "ecdsa", "rsa"];

/// A system with a service and an sshd that waits for connections.
struct System {
    service: Service,
    port: u16,
    sshd: Option<Child>,
}

impl System {
    /// None where such namespaces cannot be made.
    fn new() -> Option<Self> {
        let programs = ["sshd", "ssh", "ssh-keygen", "unshare"];
        if !rustix::process::geteuid().is_root() || !common::are_installed(&programs) {
            return None;
        }
        Sshd::make_its_directory().expect("it can be made");
        let port = free_port().expect("a port is free");
        let system = Self {
            service: Service::start(),
            port,
            sshd: None,
        };
        fs::create_dir_all(system.path("sshd_config.d")).expect("it is ours");
        system.configure("Include /etc/ssh/sshd_config.d/*.conf\n");
        let key = |kind: &str, name: &str| {
            let mut command = Command::new("ssh-keygen");
            command
                .args(["-q", "-N", "", "-t", kind, "-f"])
                .arg(system.path(name));
            succeeds(&command.output().expect("it is installed"));
            fs::read_to_string(system.path(&format!("{name}.pub"))).expect("it is there")
        };
        let known = HOSTS.map(|kind| {
            let public = key(kind, &format!("ssh_host_{kind}_key"));
            format!("[127.0.0.1]:{port} {public}")
        });
        fs::write(system.path("authorized_keys"), key("ed25519", "user")).expect("it is ours");
        fs::write(system.path("known_hosts"), known.concat()).expect("it is ours");
        Some(system)
    }

    /// In the directory that is /etc/ssh.
    fn path(&self, name: &str) -> PathBuf {
        self.service.directory().join("ssh").join(name)
    }

    fn configure(&self, first: &str) {
        let path = |name| self.path(name).display().to_string();
        let text = format!(
            "{first}ListenAddress 127.0.0.1:{}\nPidFile {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nUseDNS no\n\
             PermitRootLogin prohibit-password\n",
            self.port,
            path("sshd.pid"),
            path("authorized_keys")
        );
        fs::write(self.path("sshd_config"), text).expect("it is ours");
    }

    /// A program for which the directory is /etc/ssh.
    fn inside(&self, program: &str) -> Command {
        self.inside_after("true", program)
    }

    /// The same, after the shell has run that.
    fn inside_after(&self, first: &str, program: &str) -> Command {
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-c"])
            .arg(format!(
                "mount --bind \"$0\" /etc/ssh && {first} && exec \"$@\""
            ))
            .arg(self.path(""))
            .arg(program)
            .env("LC_ALL", "C.UTF-8");
        command
    }

    fn adopt(&self, words: &[&str], files: &[String]) -> Output {
        self.adopt_after("true", words, files)
    }

    fn adopt_after(&self, first: &str, words: &[&str], files: &[String]) -> Output {
        let mut command = self.inside_after(first, "env");
        command.arg(assert_cmd::cargo::cargo_bin("outboard"));
        command
            .args(["keys", "adopt", "--directory"])
            .arg(self.service.directory());
        command
            .args(words)
            .args(files)
            .output()
            .expect("it is built")
    }

    #[track_caller]
    fn refuses(&self, files: &[String], part: &str) {
        let output = self.adopt(&[], files);
        assert!(!output.status.success());
        common::says(&String::from_utf8_lossy(&output.stderr), part);
        for kind in HOSTS {
            assert!(
                self.path(&format!("ssh_host_{kind}_key")).exists(),
                "{kind}"
            );
        }
    }

    fn start(&mut self) {
        let log = fs::File::create(self.path("log")).expect("it is ours");
        let mut command = self.inside("/usr/sbin/sshd");
        let sshd = command.args(["-D", "-e"]).stderr(log).spawn();
        self.sshd = Some(sshd.expect("it is installed"));
        self.wait_for_pid_file(None);
    }

    fn stop(&mut self) {
        if let Some(mut sshd) = self.sshd.take() {
            sshd.kill().expect("it is ours");
            sshd.wait().expect("it is ours");
        }
        let _ = fs::remove_file(self.path("sshd.pid"));
    }

    /// Adopts these host keys, with a reload between.
    fn adopt_and_reload(&self, files: &[String]) -> String {
        assert!(
            !self.adopt(&[], files).status.success(),
            "the drop-in is new"
        );
        self.reload();
        let output = self.adopt(&[], files);
        succeeds(&output);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Makes the keys whose private files are missing, as the script of Debian's openssh-server does when it is upgraded.
    fn play_the_postinst(&self) {
        for file in hosts("")
            .iter()
            .map(|name| self.path(&name["/etc/ssh/".len()..]))
        {
            if !file.exists() {
                let kind = file.to_string_lossy();
                let kind = kind.rsplit('_').nth(1).expect("it has one").to_owned();
                let _ = fs::remove_file(file.with_extension("pub"));
                let mut command = Command::new("ssh-keygen");
                command.args(["-q", "-N", "", "-t", &kind, "-f"]).arg(&file);
                succeeds(&command.output().expect("it is installed"));
            }
        }
    }

    fn reload(&self) {
        let before = self.pid_file();
        let process = self.sshd.as_ref().expect("it was started").id();
        let process = rustix::process::Pid::from_raw(process as i32).expect("it is no 0");
        rustix::process::kill_process(process, rustix::process::Signal::HUP).expect("it is ours");
        self.wait_for_pid_file(before);
    }

    fn pid_file(&self) -> Option<(i64, i64)> {
        let file = fs::metadata(self.path("sshd.pid")).ok()?;
        Some((file.ctime(), file.ctime_nsec()))
    }

    fn wait_for_pid_file(&self, before: Option<(i64, i64)>) {
        let since = Instant::now();
        while self.pid_file().is_none_or(|now| Some(now) == before) {
            let log = fs::read_to_string(self.path("log")).unwrap_or_default();
            assert!(
                since.elapsed() < Duration::from_secs(60),
                "sshd does not start: {log}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Logs in, with each kind of host key.
    #[track_caller]
    fn logs_in(&self) {
        self.logs_in_with(&["ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-512"]);
    }

    #[track_caller]
    fn logs_in_with(&self, hosts: &[&str]) {
        for host in hosts {
            let file = |name: &str| self.path(name).display().to_string();
            let output = Command::new("ssh")
                .args([
                    "-F",
                    "none",
                    "-o",
                    "BatchMode=yes",
                    "-o",
                    "StrictHostKeyChecking=yes",
                ])
                .args(["-o", &format!("HostKeyAlgorithms={host}")])
                .args(["-o", &format!("UserKnownHostsFile={}", file("known_hosts"))])
                .args(["-o", "IdentityAgent=none", "-i", &file("user")])
                .args(["-p", &self.port.to_string(), "root@127.0.0.1", "echo in"])
                .stdin(Stdio::null())
                .output()
                .expect("it is installed");
            let said = String::from_utf8_lossy(&output.stderr);
            let log = fs::read_to_string(self.path("log")).unwrap_or_default();
            assert_eq!(output.stdout, b"in\n", "{host}: {said}\n{log}");
            assert!(!said.contains("duplicated"), "{said}");
        }
    }
}

impl Drop for System {
    fn drop(&mut self) {
        if let Some(sshd) = &mut self.sshd {
            let _ = sshd.kill();
            let _ = sshd.wait();
        }
    }
}

/// As the system's files are called; with an ending.
fn hosts(ending: &str) -> Vec<String> {
    let name = |kind| format!("/etc/ssh/ssh_host_{kind}_key{ending}");
    HOSTS.map(name).to_vec()
}

#[test]
fn somebody_can_log_in_at_each_step() {
    let Some(mut system) = System::new() else {
        return;
    };
    system.start();
    system.logs_in();
    let drop_in = system.path(DROP_IN);

    // The drop-in comes first, and the sshd that runs does not know of it.
    system.refuses(
        &hosts(""),
        "Run systemctl reload ssh (or sshd), then this command again. Clients must know",
    );
    let text = fs::read_to_string(&drop_in).expect("it is written");
    let agent = system.service.path("agent.sock");
    common::says(&text, &format!("\nHostKeyAgent {}\n", agent.display()));
    system.logs_in();
    system.refuses(&hosts(""), "has not read its configuration");
    system.reload();
    system.logs_in();

    // Now it does.
    let output = system.adopt(&[], &hosts(""));
    succeeds(&output);
    assert!(
        HOSTS
            .iter()
            .all(|kind| !system.path(&format!("ssh_host_{kind}_key")).exists())
    );
    system.logs_in();
    system.reload();
    system.logs_in();

    // Back, one by one; the service is not needed for that.
    let copies = hosts(".outboard-backup");
    succeeds(&system.adopt(&["--revert"], &copies[..1]));
    assert!(drop_in.exists(), "two keys are the service's");
    system.logs_in();
    system.reload();
    system.logs_in();
    system.service.says(&["service", "stop"]);
    let output = system.adopt(&["--revert"], &copies[1..]);
    succeeds(&output);
    common::says(
        &String::from_utf8_lossy(&output.stdout),
        "Run systemctl reload ssh (or sshd), then this command again",
    );
    assert!(!drop_in.exists());
    system.reload();
    system.logs_in();

    // The copies of public keys stay until sshd was reloaded.
    assert!(system.path("outboard_ssh_host_rsa_key.pub").exists());
    let pattern = "/etc/ssh/ssh_host_*.outboard-backup".to_owned();
    succeeds(&system.adopt(&["--revert"], &[pattern]));
    let left = fs::read_dir(system.path(""))
        .expect("it is there")
        .flatten();
    let names = left.map(|entry| entry.file_name().to_string_lossy().into_owned());
    assert_eq!(names.filter(|name| name.contains("outboard")).count(), 0);
    system.logs_in();
}

#[test]
fn keys_that_others_make_are_not_used() {
    let Some(mut system) = System::new() else {
        return;
    };
    // A certificate goes on, too.
    let user = system.path("user");
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-h", "-I", "host", "-s"]).arg(&user);
    command.arg(system.path("ssh_host_ed25519_key.pub"));
    succeeds(&command.output().expect("it is installed"));
    system.configure(
        "Include /etc/ssh/sshd_config.d/*.conf\nHostCertificate /etc/ssh/ssh_host_ed25519_key-cert.pub\n",
    );
    let mut known = fs::read_to_string(system.path("known_hosts")).expect("it is there");
    let authority = fs::read_to_string(system.path("user.pub")).expect("it is there");
    known += &format!("@cert-authority [127.0.0.1]:{} {authority}", system.port);
    fs::write(system.path("known_hosts"), known).expect("it is ours");
    let certificate = ["ssh-ed25519-cert-v01@openssh.com"];
    system.start();
    system.logs_in_with(&certificate);

    // The keys that are not adopted yet stay sshd's.
    let files = hosts("");
    let said = system.adopt_and_reload(&files[..1]);
    common::says(&said, "copies of the public halves");
    let file = system.path(DROP_IN);
    let drop_in = || fs::read_to_string(&file).expect("it is there");
    common::says(
        &drop_in(),
        "HostKey /etc/ssh/ssh_host_rsa_key\nHostKey /etc/ssh/ssh_host_ecdsa_key\n\
         HostKey /etc/ssh/outboard_ssh_host_ed25519_key\n",
    );
    system.logs_in();
    system.reload();
    system.logs_in();
    system.logs_in_with(&certificate);
    succeeds(&system.adopt(&[], &files[1..]));
    system.logs_in();
    system.reload();
    system.logs_in();
    let once = drop_in();
    let output = system.adopt(&[], &["/etc/ssh/ssh_host_*_key".into()]);
    succeeds(&output);
    common::says(
        &String::from_utf8_lossy(&output.stdout),
        "/etc/ssh/ssh_host_rsa_key is gone because it was adopted already",
    );
    assert_eq!(drop_in(), once);

    let directory = system.path("");
    let public = |kind: &str| directory.join(format!("ssh_host_{kind}_key.pub"));
    let before = HOSTS.map(|kind| fs::read(public(kind)).expect("it is there"));
    system.play_the_postinst();
    assert_ne!(fs::read(public("rsa")).expect("it is there"), before[2]);
    let output = system.adopt(&[], &files);
    assert!(!output.status.success());
    common::says(&String::from_utf8_lossy(&output.stderr), "is another one");
    system.stop();
    system.start();
    system.logs_in();
    system.logs_in_with(&certificate);

    // Back, while no sshd runs and its directory is gone.
    system.stop();
    system.configure("Include /etc/ssh/sshd_config.d/*.conf\nNonsense yes\n");
    let copies = hosts(".outboard-backup");
    let without = "mount -t tmpfs none /run";
    let output = system.adopt_after(without, &["--revert"], &copies);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    common::says(
        &said,
        "no file was touched: sshd refuses its configuration: ",
    );
    assert!(
        said.contains("Nonsense; ") && !said.contains("\\u{"),
        "{said}"
    );
    assert!(system.path("ssh_host_rsa_key.outboard-backup").exists());
    system.configure("Include /etc/ssh/sshd_config.d/*.conf\n");
    let output = system.adopt_after(without, &["--revert"], &copies);
    succeeds(&output);
    common::says(
        &String::from_utf8_lossy(&output.stdout),
        "was another key's",
    );
    assert_eq!(
        HOSTS.map(|kind| fs::read(public(kind)).expect("it is there")),
        before
    );
    assert!(!system.path(DROP_IN).exists());
    assert!(!system.path("outboard_ssh_host_rsa_key.pub").exists());
    system.start();
    system.logs_in();
}

#[test]
fn what_an_older_version_wrote_is_brought_up_to_date() {
    let Some(mut system) = System::new() else {
        return;
    };
    system.start();
    system.adopt_and_reload(&hosts(""));
    let agent = system.service.path("agent.sock");
    let old = format!(
        "# Written by 'outboard keys adopt'; 'outboard keys adopt --revert' removes it.\nHostKeyAgent {}\n",
        agent.display()
    );
    let older = |system: &System| {
        fs::write(system.path(DROP_IN), &old).expect("it is ours");
        for kind in HOSTS {
            fs::remove_file(system.path(&format!("outboard_ssh_host_{kind}_key.pub")))
                .expect("it is there");
        }
        system.reload();
        system.logs_in();
    };
    older(&system);
    let output = system.adopt(&[], &["/etc/ssh/ssh_host_*_key".into()]);
    succeeds(&output);
    common::says(
        &String::from_utf8_lossy(&output.stdout),
        "copies of the public halves",
    );
    system.logs_in();
    let own = HOSTS.map(|kind| {
        let file = system.path(&format!("ssh_host_{kind}_key.pub"));
        fs::read(file).expect("it is there")
    });
    system.play_the_postinst();
    system.stop();
    system.start();
    system.logs_in();
    for (kind, own) in HOSTS.into_iter().zip(own) {
        fs::remove_file(system.path(&format!("ssh_host_{kind}_key"))).expect("it is there");
        fs::write(system.path(&format!("ssh_host_{kind}_key.pub")), own).expect("it is ours");
    }

    // Keys that were put back by a command that then failed.
    older(&system);
    for kind in HOSTS {
        let file = system.path(&format!("ssh_host_{kind}_key"));
        fs::rename(file.with_extension("outboard-backup"), file).expect("it is there");
    }
    succeeds(&system.adopt(
        &["--revert"],
        &["/etc/ssh/ssh_host_*.outboard-backup".into()],
    ));
    assert!(!system.path(DROP_IN).exists());
    system.reload();
    system.logs_in();
}

#[test]
fn lines_of_the_administrator_are_kept() {
    let Some(mut system) = System::new() else {
        return;
    };
    let include = "Include /etc/ssh/sshd_config.d/*.conf\n";
    let lines = hosts("")
        .iter()
        .map(|file| format!("HostKey {file}\n"))
        .collect::<String>();
    system.configure(&format!("{include}{lines}"));
    system.start();
    let said = system.adopt_and_reload(&hosts("")[2..]);
    common::says(
        &said,
        "Remove the line 'HostKey /etc/ssh/ssh_host_rsa_key' from /etc/ssh/sshd_config",
    );
    let drop_in = fs::read_to_string(system.path(DROP_IN)).expect("it is there");
    assert_eq!(drop_in.matches("\nHostKey ").count(), 1, "{drop_in}");

    // The administrator follows the advice.
    let rsa = "HostKey /etc/ssh/ssh_host_rsa_key\n";
    system.configure(&format!("{include}{}", lines.replace(rsa, "")));
    system.play_the_postinst();
    system.stop();
    system.start();
    system.logs_in();
    let output = system.adopt(&["--revert"], &hosts("")[2..]);
    succeeds(&output);
    common::says(
        &String::from_utf8_lossy(&output.stdout),
        "Write 'HostKey /etc/ssh/ssh_host_rsa_key' into it",
    );
    assert!(!system.path(DROP_IN).exists());
    system.configure(&format!("{include}{lines}"));
    system.reload();
    system.logs_in();
}

#[test]
fn no_configuration_is_broken_and_none_of_others_is_changed() {
    let Some(system) = System::new() else { return };
    let include = "Include /etc/ssh/sshd_config.d/*.conf\n";
    let drop_in = system.path(DROP_IN);

    system.configure(&format!("{include}HostKeyAgent /run/other.sock\n"));
    system.refuses(&hosts(""), "another agent");
    assert!(!drop_in.exists());

    system.configure("");
    system.refuses(&hosts(""), "does not include it");
    assert!(!drop_in.exists());

    system.configure(&format!("{include}Nonsense yes\n"));
    system.refuses(&hosts(""), "Nonsense");
    assert!(!drop_in.exists());

    system.configure(include);
    fs::write(&drop_in, "# mine\n").expect("it is ours");
    system.refuses(&hosts(""), "is there");
    assert_eq!(
        fs::read_to_string(&drop_in).expect("it is there"),
        "# mine\n"
    );
    fs::remove_file(&drop_in).expect("it is ours");

    // A host key by its place in the configuration, whatever its name.
    system.configure(&format!("HostKey {}\n", system.path("user").display()));
    system.refuses(
        &[system.path("user").display().to_string()],
        "does not include it",
    );
    assert!(system.path("user").exists());
    system.configure(include);

    // Nobody would answer sshd.
    let (socket, aside) = (
        system.service.path("agent.sock"),
        system.service.path("aside"),
    );
    fs::rename(&socket, &aside).expect("it is ours");
    system.refuses(&hosts(""), "nobody answers");
    assert!(!drop_in.exists());
    fs::rename(&aside, &socket).expect("it is ours");
}
