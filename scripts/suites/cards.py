#!/usr/bin/python3
"""Writes a profile that forces cards: all that the lanes can do is put on them, and one filled lane pays. The rest is
offered, too.

    outboard info --json | cards.py VERSION     (of the libcrypto that it is for)
"""

import json
import sys

LANES = {
    *(f"rsa-{bits}-sign" for bits in (2048, 3072, 4096)),
    *(f"{curve}-{work}" for curve in ("p256", "p384") for work in ("sign", "derive", "keygen")),
    "x25519-derive", "x25519-keygen", "ed25519-sign",
}

info = json.load(sys.stdin)
operations = [one["operation"] for one in info["operations"]]
unknown = LANES - set(operations)
if unknown:
    sys.exit(f"no operations of Outboard's: {', '.join(sorted(unknown))}")
print(json.dumps({
    "schema": "outboard-profile",
    "version": 2,
    "created": "",
    "machine": info["machine"],
    "libcrypto": {"version": sys.argv[1]},
    "outboard": "",
    "choices": {name: "card" if name in LANES else "scalar" for name in operations},
    # A batch costs next to nothing, so that the fewest possible pay.
    "lanes": [{"operation": name, "scalar_ns": 1e6, "batch_ns": 1.0} for name in sorted(LANES)],
    "queueing": {"queue_ns": 0.0, "wake_ns": 0.0, "pause_ns": 0.0},
    "measurements": [],
}, indent=2))
