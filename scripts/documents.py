#!/usr/bin/env python3
"""Checks what the documents say: links, shell commands, and options of Outboard's commands; and that CI files only call scripts.

documents.py MANUAL     MANUAL has man pages of both commands, as 'outboard generate' writes them: what clap parses
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
DOCUMENTS += sorted(ROOT.glob("docs/*.md")) + sorted(ROOT.glob("samples/*/*.md"))
# Pages that scripts/site.sh brings from elsewhere.
ELSEWHERE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "report.md", "man.md")
wrong = []


def prose(text):
    """The text without its blocks of code, whose lines become empty."""
    return re.sub(r"^ *```.*?^ *```", lambda block: "\n" * block[0].count("\n"), text, flags=re.S | re.M)


def anchors(text):
    """The anchors of a document's headings, as GitHub, GitLab and mdBook make them."""
    for heading in re.findall(r"^#+ +(.*)$", prose(text), re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        yield re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def check_links(document, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", prose(text))):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        if document.name == "SUMMARY.md" and path in ELSEWHERE:
            continue
        if not file.exists():
            yield f"there is no {target}"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
            yield f"{target}: no such heading"


def blocks(text):
    """Language and lines of each fenced block."""
    for indent, language, body in re.findall(r"^( *)```(\w*)\n(.*?)^ *```", text, re.S | re.M):
        yield language, re.sub(f"^{indent}", "", body, flags=re.M)


def typed(body):
    """What a person types in a console block: after a prompt, with lines that continue one."""
    lines, goes_on = [], False
    for line in body.splitlines():
        prompt = re.match(r"[#$] (.*)", line)
        if prompt or goes_on:
            lines.append(prompt[1] if prompt else line.removeprefix("> "))
            goes_on = lines[-1].endswith("\\")
        elif line.startswith("> "):
            # The shell's own prompt for the next line of a command.
            lines.append(line[2:])
    return "\n".join(lines) + "\n"


def shell(text):
    for language, body in blocks(text):
        if language == "console":
            yield typed(body)
        elif language in ("sh", "bash"):
            yield body


class Manual:
    """Options and subcommands, by command: 'outboard keys grant'."""

    def __init__(self, directory):
        self.options = {}
        for page in Path(directory).glob("man/*.1"):
            text = page.read_text().replace("\\-", "-")
            # 'outboard-bench' is a command; the others' dashes are spaces.
            name = re.search(r"^\\fB(.*?)\\fR", text[text.index(".SH SYNOPSIS") :], re.M)[1].strip()
            options = text[text.find(".SH OPTIONS") :] if ".SH OPTIONS" in text else ""
            options = options.split("\n.SH")[0] if options else ""
            self.options[name] = set(re.findall(r"\\fB(--?[\w-]+)\\fR", options)) | {"--help", "-h", "--version"}

    def check(self, words):
        """What is wrong with a command line."""
        name, rest = words[0], words[1:]
        if name == "outboard" and rest[:1] == ["outboard-bench"]:
            # Names of packages.
            return
        while rest and f"{name} {rest[0]}" in self.options:
            name, rest = f"{name} {rest[0]}", rest[1:]
        has_subcommands = any(other.startswith(name + " ") for other in self.options)
        if has_subcommands and rest and re.fullmatch(r"[a-z][a-z-]+", rest[0]) and rest[0] not in ("help", "generate", "probe"):
            yield f"'{name}' has no subcommand '{rest[0]}'"
        if "generate" in rest[:1]:
            return
        for word in rest:
            if word == "--":
                return
            option = re.match(r"(--[a-z][\w-]*)", word)
            if option and option[1] not in self.options[name]:
                yield f"'{name}' has no option {option[1]}"


def command_lines(text):
    """Command lines of 'outboard' and 'outboard-bench', as words: in blocks, and in prose between backquotes."""
    code = [body for _, body in blocks(text)] + re.findall(r"^    .*$", text, re.M)
    code += [span.replace("\n", " ") for span in re.findall(r"`([^`]+)`", prose(text))]
    for piece in code:
        for found in re.finditer(r"(?:^|[\s/'(])(outboard(?:-bench)? [^|;&<>()#`'\n]*)", piece.replace("\\\n", " ")):
            try:
                words = shlex.split(found[1])
            except ValueError:
                words = found[1].split()
            # A comma ends a command in prose.
            end = next((n + 1 for n, word in enumerate(words) if word.endswith(",")), len(words))
            yield [word.rstrip(",.:") for word in words[:end]]


def check_ci():
    """Each line that CI runs is .ci/run, or a target of the Makefile; and no address is named."""
    targets = set(re.findall(r"^([a-z][\w-]*):", "".join(f.read_text() for f in [ROOT / "Makefile", *ROOT.glob("*/*.mk"), *ROOT.glob("crates/*/*.mk")]), re.M))
    import yaml

    for name in (".github/workflows/ci.yml", ".gitlab-ci.yml"):
        text = (ROOT / name).read_text()
        document = yaml.safe_load(text)
        if "github" in name:
            steps = [step for job in document["jobs"].values() for step in job["steps"]]
            lines = [step["run"] for step in steps if "run" in step]
        else:
            lines = [line for job in document.values() for line in job.get("script", [])]
        if ".ci/run" not in lines:
            wrong.append(f"{name}: does not call .ci/run")
        for line in lines:
            words = line.split()
            if line != ".ci/run" and not (len(words) == 2 and words[0] == "make" and words[1] in targets):
                wrong.append(f"{name}: '{line}' is neither .ci/run nor a target of the Makefile")
        if "://" in text:
            wrong.append(f"{name}: names an address")


def main(directory):
    manual = Manual(directory)
    counts = dict.fromkeys(("links", "blocks", "commands"), 0)
    for document in DOCUMENTS:
        text = document.read_text()
        name = document.relative_to(ROOT)
        counts["links"] += text.count("](")
        wrong.extend(f"{name}: {what}" for what in check_links(document, text))
        for script in shell(text):
            counts["blocks"] += 1
            # Placeholders like <key> are no redirections.
            said = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True)
            if said.returncode:
                wrong.append(f"{name}: {said.stderr.strip()}\n{script}")
        for words in command_lines(text):
            counts["commands"] += 1
            wrong.extend(f"{name}: {what} ({' '.join(words)})" for what in manual.check(words))
    pages = {file.name for file in ROOT.glob("docs/*.md")} - {"SUMMARY.md"}
    listed = set(re.findall(r"\(([\w-]+\.md)\)", (ROOT / "docs/SUMMARY.md").read_text()))
    wrong.extend(f"docs/SUMMARY.md does not list {page}" for page in sorted(pages - listed))
    check_ci()
    for what in wrong:
        print(what, file=sys.stderr)
    if wrong or min(counts.values()) == 0:
        sys.exit(f"{len(wrong)} errors in documents; looked at {counts}")
    print(f"documents: {counts['links']} links, {counts['blocks']} shell blocks and {counts['commands']} command lines are right")


if __name__ == "__main__":
    main(sys.argv[1])
