#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: man-example.sh program|output PAGE
# Prints the program in the section EXAMPLES of a man page, which is its first literal block; or what the page says that
# it prints: the lines of .Dl behind that.
set -euo pipefail
awk -v part="$1" '
    /^\.Sh / { inside = $2 == "EXAMPLES"; next }
    !inside { next }
    /^\.Bd -literal/ && !seen { literal = seen = 1; next }
    /^\.Ed/ { literal = 0; next }
    literal ? part != "program" : !(part == "output" && seen && sub(/^\.Dl /, "")) { next }
    { sub(/^\\&/, ""); gsub(/\\e/, "\\"); gsub(/\\-/, "-"); print }' "$2"
