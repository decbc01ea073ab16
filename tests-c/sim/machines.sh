#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# For scripts that source this: what a machine (a script of scripts/) has not, in the words of TEST_WITHOUT. Cases that
# need that are skipped.
# shellcheck disable=SC2034 # whoever sources this uses it
declare -A WITHOUT=(
    [abi-3]="migrate_id multicast set_option af_ib"
    # Queue pairs are connected by the connection manager itself, at once, and no message has a format of its own.
    [iwarp]="multicast datagrams paths ack-timeout handshake own-queue-pairs time-wait data-limits"
)
