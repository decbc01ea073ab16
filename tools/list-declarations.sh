#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: list-declarations.sh HEADER
# Prints what a C header itself declares, in the words of tests-c/abi/layout_list.h: TYPE, FIELD and VALUE; and as
# ALIAS(name, text) macros that are no number, as FUNCTION(signature) its inline functions. Fields without a size (the
# arrays at the end of a struct) are left out.
set -euo pipefail
header=$1

# Macros. What is undefined again is no part of the interface, nor is the guard.
awk '
    function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }
    { gsub(/\/\*.*\*\//, "") }
    /^#define [A-Za-z_0-9]+[ \t]+[^ \t]/ {
        name = $2
        text = $0
        sub(/^#define [A-Za-z_0-9]+/, "", text)
        values[name] = trim(text)
    }
    /^#undef / { delete values[$2] }
    END {
        for (name in values)
            if (name ~ /^sib_|^PF_/) printf "ALIAS(%s, %s)\n", name, values[name]
            else printf "VALUE(%s)\n", name
    }
' "$header" | sort

# Everything else, as a stream of tokens: the text without comments and included files.
sed '/^#include/d' "$header" | "${CC:-cc}" -E -P -x c - | grep -oE '[A-Za-z_0-9]+|[^A-Za-z_0-9[:space:]]' | awk '
    function add(token) {
        if (token == "__extension__") return
        declaration = declaration (declaration == "" || token ~ /^[][,;)]$/ || declaration ~ /[[(]$/ ? "" : " ") token
    }
    # "type name" or "type name[N]" becomes a field of the innermost struct or union.
    function field(    text, array, name) {
        text = declaration
        if (match(text, /\[.*\]$/)) {
            array = substr(text, RSTART)
            text = substr(text, 1, RSTART - 1)
            if (array ~ /^\[0?\]$/) return
        }
        match(text, /[A-Za-z_0-9]+ *$/)
        name = substr(text, RSTART)
        gsub(/ /, "", name)
        gsub(/ +$/, "", array)
        paths[++fields] = name
        types[fields] = trim(substr(text, 1, RSTART - 1)) array
    }
    function trim(text) { gsub(/^ +| +$/, "", text); return text }
    function value() {
        if (declaration != "") printf "VALUE(%s)\n", (split(declaration, words, " ") ? words[1] : "")
        declaration = ""
    }
    body { if ($0 == "{") body++; else if ($0 == "}") body--; next }
    $0 == "{" {
        if (!depth && declaration ~ /^enum/) kind[++depth] = "enum"
        else if (declaration ~ /^(struct|union)/) {
            kind[++depth] = declaration
            first[depth] = fields + 1
        } else {
            printf "FUNCTION(%s)\n", declaration
            body = 1
        }
        declaration = ""
        next
    }
    $0 == "}" {
        if (kind[depth] == "enum") value()
        closed = depth--
        next
    }
    kind[depth] == "enum" && $0 == "," { value(); next }
    $0 == ";" {
        if (closed > 1) {
            # The name of an inner union stands behind it, or is missing.
            for (i = first[closed]; i <= fields; i++)
                if (declaration != "") paths[i] = trim(declaration) "." paths[i]
        } else if (closed == 1 && kind[1] != "enum") {
            split(kind[1], words, " ")
            printf "TYPE(%s, %s)\n", words[1], words[2]
            for (i = 1; i <= fields; i++) printf "FIELD(%s, %s, %s, %s)\n", words[1], words[2], paths[i], types[i]
            fields = 0
        } else if (depth) field()
        closed = 0
        declaration = ""
        next
    }
    { add($0) }
'
