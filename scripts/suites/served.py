#!/usr/bin/python3
"""Says what Outboard served, and fails unless each operation named in the argument is among it.

    outboard stats --json | served.py 'p256-sign rsa-2048-sign:lanes …'     (:lanes: on a card)
"""

import json
import sys
from collections import Counter

served, in_lanes = Counter(), Counter()
for ledger in json.load(sys.stdin)["ledgers"]:
    for work in ledger["total"]["work"]:
        if work["path"] != "stock":
            served[work["operation"]] += work["operations"]
        if work["path"] == "card":
            in_lanes[work["operation"]] += work["operations"]


def told(name):
    return f"{name} {served[name]}" + (f" ({in_lanes[name]} in lanes)" if in_lanes[name] else "")


print("  Outboard served:", ", ".join(map(told, sorted(served))) or "nothing")
done = set(+served) | {f"{name}:lanes" for name in +in_lanes}
missing = set(sys.argv[1].split()) - done
if missing:
    sys.exit(f"  and none of: {', '.join(sorted(missing))}")
