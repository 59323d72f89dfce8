#!/usr/bin/python3
"""Compares two runs of a suite, test for test.

    compare.py STOCK OURS EXPECTED

STOCK and OURS are directories with the results of a run: TAP (*.tap, subtests included), JUnit (*.xml).
EXPECTED lists the differences that are known. Comments before an entry say its reason; an entry is

    STOCK -> OURS   NAME

with the two outcomes (ok, not ok, skip, missing, or what evp_test says of vectors) and the name of the test; * stands
for anything.

Fails at a difference that is not listed, at an entry that matches nothing, and where stock passed nothing.
"""

import re
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path


def main(stock, ours, expected):
    stock, ours = results(Path(stock)), results(Path(ours))
    entries = read_expected(Path(expected))
    unexpected = []
    for name in sorted(stock.keys() | ours.keys()):
        before, after = stock.get(name, "missing"), ours.get(name, "missing")
        if before == after:
            continue
        matches = [entry for entry in entries if entry.matches(before, after, name)]
        for entry in matches:
            entry.used += 1
        if not matches:
            unexpected.append(f"{before} -> {after}   {name}")
    unused = [entry.line for entry in entries if not entry.used]
    passed = sum(outcome == "ok" for outcome in stock.values())
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in Counter(kind(o) for o in stock.values()).items())
    print(f"  {len(stock)} tests with stock ({outcomes}); {len(unexpected)} unexpected differences, "
          f"{sum(entry.used for entry in entries)} expected")
    for title, lines in (("unexpected", unexpected), ("expected, and not found", unused)):
        for line in lines:
            print(f"  {title}: {line}")
    return 1 if unexpected or unused or not passed else 0


class Entry:
    def __init__(self, line):
        found = re.fullmatch(r"(.+?) -> (.+?)   +(.+)", line)
        if not found:
            sys.exit(f"not an entry (STOCK -> OURS   NAME): {line}")
        self.line, self.used = line, 0
        self.patterns = [re.compile(".*".join(map(re.escape, part.split("*")))) for part in found.groups()]

    def matches(self, *found):
        """Before, after and name."""
        return all(pattern.fullmatch(text) for pattern, text in zip(self.patterns, found))


def read_expected(path):
    entries, reason = [], False
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("#"):
            reason = True
        elif not line.strip():
            reason = False
        elif not reason:
            sys.exit(f"{path}: no reason is given for: {line}")
        else:
            entries.append(Entry(line))
    return entries


def kind(outcome):
    """The sort of an outcome that may be a sentence (see TALLY)."""
    return outcome if outcome in ("ok", "not ok", "skip") else "tallies"


def results(directory):
    """The outcome of each test by name."""
    found = {}
    for path in sorted(directory.glob("*")):
        read = {".tap": tap, ".xml": junit}.get(path.suffix)
        for name, outcome in read(path) if read else ():
            found[name] = outcome
    if not found:
        sys.exit(f"no results in {directory}")
    return found


TEST = re.compile(r"(\s*)(not )?ok\b\s*(\d*)\s*-?\s*(.*)")
# Where a program or a file lies is no part of its name.
PATH = re.compile(r"(?:[\w.+-]*/)+")
# What OpenSSL's evp_test says of a file of vectors, and of one that fails.
TALLY = re.compile(r"(\s*)# *Completed (\d+ tests with \d+ errors and \d+ skipped)")
VECTOR = re.compile(r"(\s*)# (\S+\.txt:\d+): (Expected .*)")


def tap(path):
    """Name and outcome of each test, each tally of vectors and each vector that fails. A subtest is called by its parents' names and its
    own, without its number: the order of subtests is left to chance. Names that come again are numbered. What follows
    a # is no part of a name, but says whether a test was skipped."""
    # By depth: results whose parent has not come yet, as its own result is the last.
    waiting = {}
    seen = Counter()
    for line in path.read_text(errors="replace").splitlines():
        tally, vector, test = TALLY.match(line), VECTOR.match(line), TEST.match(line)
        if tally:
            waiting.setdefault(len(tally[1]) // 4, []).append(("vectors", tally[2]))
        elif vector:
            waiting.setdefault(len(vector[1]) // 4, []).append((PATH.sub("", vector[2]), vector[3]))
        elif test:
            words, directive = re.fullmatch(r"(.*?)(?:(?:^|\s+)# *(.*))?", test[4]).groups()
            words = PATH.sub("", words) or "(no name)"
            outcome = "skip" if (directive or "").lower().startswith("skip") else f"{test[2] or ''}ok"
            depth = len(test[1]) // 4
            children = waiting.pop(depth + 1, [])
            waiting.setdefault(depth, []).extend([(words, outcome), *((f"{words} > {name}", o) for name, o in children)])
    for name, outcome in (result for depth in sorted(waiting) for result in waiting[depth]):
        seen[name] += 1
        number = f" ({seen[name]})" if seen[name] > 1 else ""
        yield f"{path.stem}: {name}{number}", outcome


def junit(path):
    """Name and outcome of each test case; subtests that fail make it fail."""
    outcomes = {}
    for case in xml.parse(path).iter("testcase"):
        name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
        kinds = {child.tag for child in case}
        outcome = "not ok" if kinds & {"failure", "error"} else "skip" if "skipped" in kinds else "ok"
        if outcomes.get(name) != "not ok":
            outcomes[name] = outcome
    return outcomes.items()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
