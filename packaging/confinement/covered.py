#!/usr/bin/env python3
"""Whether AppArmor's rules in a file allow every path that a program uses with Outboard and not without it.

covered.py RULES TRACE-WITHOUT TRACE-WITH [FILE=AS-INSTALLED ...]      The traces are strace's, of calls that name a file.
"""

import re
import sys

rules_file, without, with_outboard, *moved = sys.argv[1:]
MOVED = dict(pair.split("=") for pair in moved)


def expression(glob):
    """A rule's path as a regular expression."""
    glob = glob.replace("@{PROC}", "/proc").replace("@{pid}", "[0-9]*").replace("@{pids}", "[0-9]*")
    parts = {"**": ".*", "*": "[^/]*", "{": "(?:", "}": ")", ",": "|"}
    tokens = re.findall(r"\*\*|\[[^]]*\]|.", glob)
    return re.compile("".join(parts.get(t, t if t.startswith("[") and len(t) > 1 else re.escape(t)) for t in tokens))


rules = []
for line in open(rules_file):
    match = re.match(r"\s*(?:owner )?([/@]\S*) ([mrwlk]+),$", line)
    if match:
        rules.append((expression(match[1]), set(match[2])))


def uses(trace):
    """Path and permission of every call that succeeded."""
    for line in open(trace):
        paths = [MOVED.get(path, path) for path in re.findall(r'"(/[^"]*)"', line)]
        call = re.match(r"\d+ +(\w+)", line)[1]
        for path in paths:
            path = re.sub(r"^/proc/(self|thread-self)/", "/proc/1/", path)
            if call.startswith("link"):
                yield path, "l" if path == paths[-1] else "r"
            elif call.startswith("open"):
                yield path, "r" if "O_RDONLY" in line else "w"
                yield path, "m" if path.endswith(".so") else "r"
            elif call.startswith("unlink"):
                yield path, "w"


# Debian's abstractions/base has these.
base = re.compile(r"/(usr/)?lib/.*\.so[.0-9]*|/etc/ld\.so\..*|/dev/null|/proc/1/maps|/sys/devices/system/cpu/.*")
new = {use for use in uses(with_outboard)} - {use for use in uses(without)}
new = {(path, need) for path, need in new if not base.fullmatch(path) or "outboard" in path}
lacking = [
    (path, need)
    for path, need in sorted(new)
    if not any(rule.fullmatch(path) and need in allowed for rule, allowed in rules)
]
for path, need in lacking:
    print(f"no rule allows '{need}' of {path}", file=sys.stderr)
if not any("/dev/shm/outboard." in path for path, _ in new):
    sys.exit("Outboard made no ledger: this test shows nothing")
sys.exit(1 if lacking else print(f"AppArmor: the rules allow all {len(new)} uses of files that Outboard adds"))
