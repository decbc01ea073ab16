#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: preloaded.sh PROGRAM...
# Becomes the program, with librspreload.so in front of what is preloaded anyway; the simulator does without.
export LD_PRELOAD=$LAB_WORK/librspreload.so:$LD_PRELOAD
exec "$@"
