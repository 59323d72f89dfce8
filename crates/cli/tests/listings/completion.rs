//! What shells offer while somebody types: the installed scripts, in the shells themselves.

use crate::common::service::Service;
use crate::common::{are_installed, outboard};
use std::path::Path;
use std::process::Command;

/// What a shell prints, with the command that was built in its PATH.
fn prints(shell: &str, arguments: &[&str], script: &str) -> String {
    let built = Path::new(env!("CARGO_BIN_EXE_outboard"))
        .parent()
        .expect("it is in a directory");
    let path = std::env::var("PATH").expect("there is one");
    let said = Command::new(shell)
        .args(arguments)
        .arg(script)
        .env("PATH", format!("{}:{path}", built.display()))
        .output()
        .expect("it is installed");
    String::from_utf8(said.stdout).expect("a text")
}

#[test]
fn shells_offer_keys_processes_users_and_parameters() {
    if !are_installed(&["bash", "fish", "zsh"]) {
        return;
    }
    let service = Service::start();
    service.says(&["keys", "generate", "site", "--type", "p256"]);
    let directory = service.directory().display().to_string();
    let scripts = service.path("completions");
    outboard().arg("generate").arg(&scripts).assert().success();
    let scripts = scripts.display();

    let bash = |line: &str| {
        let script = format!(
            "source {scripts}/outboard.bash
            set -- {line}; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9
            _outboard_program outboard \"${{COMP_WORDS[COMP_CWORD]}}\" x
            printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        prints("bash", &["--norc", "-c"], &script)
    };
    let offers = |line: &str, what: &str| {
        let offered = bash(line);
        assert!(offered.lines().any(|it| it == what), "{line}\n{offered}");
    };
    offers(
        &format!("outboard keys show --directory {directory} ''"),
        "site",
    );
    offers(
        &format!("outboard keys grant --directory={directory} s"),
        "site",
    );
    offers("outboard keys grant site --user ro", "root");
    offers("outboard keys grant site --group ro", "root");
    offers("outboard keys generate x --type rs", "rsa-3072");
    offers("outboard cca call CSNBPT", "CSNBPTR");
    offers("outboard cca call CSNBPTR pi", "pin_block_in=");
    offers("outboard doct", "doctor");
    offers("outboard doctor --pi", "--pid");
    offers("outboard run -- mkfi", "mkfifo");
    // A directory without a service: nothing is offered, and nothing said.
    assert!(!bash("outboard keys show --directory /nowhere s").contains("site"));

    let fish = |line: &str| {
        let script = format!("source {scripts}/outboard.fish; complete -C '{line}'");
        prints("fish", &["--no-config", "-c"], &script)
    };
    let offered = fish(&format!("outboard keys show --directory {directory} "));
    assert!(offered.contains("site\tp256\n"), "{offered}");
    assert!(fish("outboard run -- mkfi").contains("mkfifo"));

    // zsh completes at a terminal only.
    let zsh = format!(
        "zmodload zsh/zpty
        ask() {{
            zpty it zsh -f -i
            zpty -w it \"PS1='READY '; fpath=({scripts} \\$fpath); autoload -U compinit; compinit -u -D; bindkey '^I' list-choices; stty cols 200\"
            zpty -r it shown '*READY *READY *' # its own echo, and the prompt
            zpty -w -n it \"$1\"$'\\t'
            zpty -r it shown \"*$2*\" && print -r -- found $2
            zpty -d it
        }}
        ask 'outboard keys show --directory {directory} ' p256
        ask 'outboard run -- mkfi' mkfifo
        ask 'outboard keys gen' generate"
    );
    assert_eq!(
        prints("zsh", &["-f", "-c"], &zsh),
        "found p256\nfound mkfifo\nfound generate\n"
    );
}
