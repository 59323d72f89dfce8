//! Completions of a command line, by bash, zsh and fish.
//!
//! The shell asks the command itself at each key: the script that is installed runs it with [`VARIABLE`] set. So keys,
//! processes and users of this machine are offered as well as options.

use std::io::{self, Write};

use clap::ValueHint;
use clap_complete::CompleteEnv;
use clap_complete::env::{Bash, EnvCompleter, Fish, Zsh};

/// Set in the environment of a command that is to complete a line, and do nothing else.
const VARIABLE: &str = "OUTBOARD_COMPLETE";

/// If a shell asks for completions: answers it, and ends the process. A command calls this before all else.
pub fn complete(command: impl Fn() -> clap::Command) {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

/// The shells, each with the name of its file for a command.
pub(crate) fn shells(name: &str) -> [(&'static dyn EnvCompleter, String); 3] {
    [
        (&Bash, format!("{name}.bash")),
        (&Zsh, format!("_{name}")),
        (&Fish, format!("{name}.fish")),
    ]
}

/// Writes a shell's script for a command: it asks `name` in PATH.
pub(crate) fn write(
    shell: &dyn EnvCompleter,
    command: &clap::Command,
    file: &mut dyn Write,
) -> io::Result<()> {
    let name = command.get_name();
    shell.write_registration(VARIABLE, name, name, name, file)?;
    file.write_all(more(shell.name(), name, &runs_programs(command)).as_bytes())
}

/// The subcommands that run another program: the words after `--` are a command line.
fn runs_programs(command: &clap::Command) -> Vec<&str> {
    let runs = |command: &&clap::Command| {
        command
            .get_positionals()
            .any(|argument| argument.get_value_hint() == ValueHint::CommandWithArguments)
    };
    let subcommands = command.get_subcommands().filter(runs);
    subcommands.map(clap::Command::get_name).collect()
}

/// Lines for a shell's script: after `name SUBCOMMAND … --`, the words are completed as those of the command line
/// that they are. And zsh, which reads the script at the first completion, gets an answer for that one, too.
fn more(shell: &str, name: &str, subcommands: &[&str]) -> String {
    let function = name.replace('-', "_");
    match shell {
        "bash" => format!(
            r#"
_{function}_program() {{
    local index
    if [[ " {list} " == *" ${{COMP_WORDS[1]}} "* ]]; then
        for ((index = 2; index < COMP_CWORD; index++)); do
            if [[ ${{COMP_WORDS[index]}} == -- ]]; then
                if declare -F _command_offset >/dev/null; then
                    _command_offset $((index + 1))
                elif ((index + 1 == COMP_CWORD)); then
                    mapfile -t COMPREPLY < <(compgen -c -- "${{COMP_WORDS[COMP_CWORD]}}")
                else
                    mapfile -t COMPREPLY < <(compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}")
                    compopt -o filenames 2>/dev/null
                fi
                return
            fi
        done
    fi
    _clap_complete_{function} "$@"
    # The name of a file or a key stays one word, and nothing in it is a command.
    for index in "${{!COMPREPLY[@]}}"; do
        if [[ ${{COMPREPLY[index]}} == *[^A-Za-z0-9_./:=,@%+~-]* ]]; then
            printf -v "COMPREPLY[$index]" %q "${{COMPREPLY[index]}}"
        fi
    done
}}
complete -F _{function}_program -o nospace -o bashdefault -o nosort {name}
"#,
            list = subcommands.join(" "),
        ),
        "fish" if !subcommands.is_empty() => format!(
            "
function __fish_{function}_program
    set -l words (commandline -opc) (commandline -ct)
    set -l dashes (contains -i -- -- $words)
    complete -C (string join ' ' -- $words[(math $dashes + 1)..])
end
complete -c {name} -n '__fish_seen_subcommand_from {list}; and contains -- -- (commandline -opc)' \
    -xa '(__fish_{function}_program)'
",
            list = subcommands.join(" "),
        ),
        "zsh" => format!(
            r#"
function _{function}_program() {{
    local dashes=${{words[(i)--]}}
    if [[ " {list} " == *" ${{words[2]}} "* ]] && ((dashes < CURRENT)); then
        shift $dashes words
        ((CURRENT -= dashes))
        _normal
    else
        _clap_dynamic_completer_{function} "$@"
    fi
}}
compdef _{function}_program {name}
if [[ $funcstack[1] == _{name} ]]; then
    _{function}_program "$@"
fi
"#,
            list = subcommands.join(" "),
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use crate::Manual;

    /// What bash offers for the words of a line, the last of which is being typed.
    fn offered(script: &Path, words: &str) -> String {
        let session = "source $0; COMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _clap_complete_upper() { COMPREPLY=(asked); }
            _upper_program upper \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"
            echo \"${COMPREPLY[@]}\"";
        let said = Command::new("bash")
            .args(["--norc", "-c", session])
            .arg(script)
            .arg(words)
            .output()
            .expect("bash is installed");
        String::from_utf8(said.stdout).expect("a text")
    }

    #[test]
    fn the_words_after_dashes_are_a_command_line() {
        let program = clap::Arg::new("program")
            .trailing_var_arg(true)
            .num_args(1..)
            .value_hint(clap::ValueHint::CommandWithArguments);
        let manual = Manual {
            command: clap::Command::new("upper").subcommand(clap::Command::new("run").arg(program)),
            files: "",
            see_also: "",
        };
        let directory = tempfile::tempdir().expect("a temporary directory");
        manual.write(directory.path()).expect("it is ours");
        let script = directory.path().join("upper.bash");
        assert_eq!(offered(&script, "upper run --st"), "asked\n");
        assert!(offered(&script, "upper run -- mkfi").contains("mkfifo"));
        assert!(!offered(&script, "upper run -- ls --st").contains("asked"));
    }

    #[test]
    fn no_word_that_is_offered_is_a_command() {
        let manual = Manual {
            command: clap::Command::new("upper"),
            files: "",
            see_also: "",
        };
        let directory = tempfile::tempdir().expect("a temporary directory");
        manual.write(directory.path()).expect("it is ours");
        let session = "source $0
            _clap_complete_upper() { COMPREPLY=('b;id' 'a$(id)' 'two words' /etc/ssl/openssl.cnf --json); }
            _upper_program upper '' ''
            printf '%s\\n' \"${COMPREPLY[@]}\"";
        let said = Command::new("bash")
            .args(["--norc", "-c", session])
            .arg(directory.path().join("upper.bash"))
            .output()
            .expect("bash is installed");
        let expected = "b\\;id\na\\$\\(id\\)\ntwo\\ words\n/etc/ssl/openssl.cnf\n--json\n";
        assert_eq!(String::from_utf8_lossy(&said.stdout), expected);
    }
}
