#!/bin/sh
# Shows the table scans in a program made of the crate: `make lanes-table-scan`.
#
# A scan is a loop with many masked moves from memory. What to look for: a compare into a mask register
# (vpcmpeqq), then moves whose addresses are a pointer plus constants or a counter; what moves, moves by a
# constant, and the only branch is the loop's. After the scans come the source lines of all gathers and
# scatters, whose addresses are in vectors: none may be a secret. (They build a base point's table, and lay out
# pointers to messages.)
set -eu
listing=$(mktemp)
trap 'rm -f "$listing"' EXIT
objdump -d --no-show-raw-insn -j .text "$1" > "$listing"
awk '
    /^[0-9a-f]+ <.*>:$/ { inside = /outboard_lanes/; split("", at); split("", masked); lines = 0; next }
    !inside || !/:\t/ { next }
    {
        address = $1; sub(":", "", address); at[address] = lines
        text[lines] = $0; sub(/^ *[0-9a-f]+:\t/, "", text[lines])
    }
    /(vmovdqa64|vpblendmq) .*\(.*[{]%k[1-7][}]/ && !/zmm[0-9]+,[^(]*\(/ { masked[lines] }
    # A branch backwards closes a loop.
    $2 ~ /^j/ && ($3 in at) {
        moves = branches = 0
        for (i = at[$3]; i < lines; i++) { moves += i in masked; branches += text[i] ~ /^(j|call|ret)/ }
        if (!branches && moves >= 6) {
            print "\n" moves " masked moves in a loop:"
            for (i = at[$3]; i <= lines; i++) print text[i]
            found++
        }
    }
    { lines++ }
    END { print "\n" found + 0 " scans"; exit !found }
' "$listing"
echo "gathers and scatters:"
sed -n 's/^ *\([0-9a-f]*\):.*vp\(gather\|scatter\).*/0x\1/p' "$listing" |
    xargs -r addr2line -i -e "$1" | grep crates/lanes/src | sed 's/.*crates/crates/' | sort | uniq -c
