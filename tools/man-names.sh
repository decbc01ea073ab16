#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: man-names.sh PAGE
# Prints the names that a man page is to be found under, from its section NAME.
set -euo pipefail
awk '
    /^\.(Sh|SH) / { inside = $2 == "NAME"; next }
    inside && $1 == ".Nm" { print $2 }
    inside && !/^\./ { sub(/ \\-.*/, ""); gsub(/\\/, ""); print }' "$1"
