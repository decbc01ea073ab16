# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the suite `streams` compares, from what it has measured. Input: WAY KIND SCENARIO SIDE PHASE VALUE, with each figure as
# often as there were rounds, of which the least counts. Output: UNIT SUBJECT WAY VALUE. Variable: ns, of an instruction.
#
# Doorbells are left out of the system calls: they are soft RoCE's way to tell the kernel of something posted, for which other
# devices have no system call. What one side of a connection takes is its CPU time; all else is time that passes on the
# only processor: what the whole machine does, threads of the kernel too.

{
    key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4 SUBSEP $5
    if (!(key in least) || $6 < least[key]) least[key] = $6
}

END {
    for (key in least) {
        split(key, part, SUBSEP)
        way = part[1]; kind = part[2]; scenario = part[3]; side = part[4]
        if (kind == "calls" || kind == "doorbells")
            calls[scenario "," side " " way] += (kind == "calls" ? least[key] : -least[key])
        else if (kind == "cpu")
            instructions[scenario "," side " " way] += least[key] / ns
        else if (side == "client") {
            subject = scenario == "connection" ? "connection,machine" : scenario
            # For each of the sockets.
            number = scenario ~ /^watch/ ? substr(scenario, 7) : 1
            instructions[subject " " way] += least[key] / ns / number
        }
    }
    for (subject in calls) printf "calls %s %.2f\n", subject, calls[subject]
    for (subject in instructions) printf "instructions %s %.0f\n", subject, instructions[subject]
}
