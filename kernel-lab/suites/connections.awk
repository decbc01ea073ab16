# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The figures of the suite `connections` as a table: a row for each phase, a column for each scenario.
# Variables: kind (calls or cpu), scenarios. Input: LIBRARY KIND SCENARIO SIDE PHASE VALUE.

BEGIN {
    columns = split(scenarios, scenario)
    rows["client"] = split("create_ep create_id resolve_addr resolve_route create_qp connect set-up " \
        "disconnect destroy_qp destroy_id destroy_ep close all", client)
    rows["server"] = split("get_request create_qp accept established set-up " \
        "disconnect destroy_qp destroy_id destroy_ep close all", server)
}

$2 == kind { value[$1, $3, $4, $5] = $6 }

# Two values and, of instructions, how they compare; one where only the C library was measured.
function cell(scenario, side, phase,    ours, theirs) {
    if (!(("system", scenario, side, phase) in value))
        return "-"
    theirs = value["system", scenario, side, phase]
    if (!(("ours", scenario, side, phase) in value))
        return sprintf("%d", theirs + 0.5)
    ours = value["ours", scenario, side, phase]
    if (kind == "calls")
        return sprintf("%.4g / %.4g", ours, theirs)
    return sprintf("%d / %d %.3f", ours + 0.5, theirs + 0.5, ours / theirs)
}

function row(side, phase,    i, line) {
    line = sprintf("# %-22s", side " " phase)
    for (i = 1; i <= columns; i++)
        line = line sprintf(" %21s", cell(scenario[i], side, phase))
    print line
}

END {
    line = sprintf("# %-22s", kind == "calls" ? "system calls" : "instructions")
    for (i = 1; i <= columns; i++)
        line = line sprintf(" %21s", scenario[i])
    print line
    for (i = 1; i <= rows["client"]; i++)
        row("client", client[i])
    for (i = 1; i <= rows["server"]; i++)
        row("server", server[i])
    print "# ours / C library" (kind == "calls" ? "" : ", and the one divided by the other")
}
