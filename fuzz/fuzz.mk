# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Fuzzing: see tools/fuzz.sh and docs/testing.md. Uses CACHE.

export CARGO_FUZZ_VERSION := 0.13.2
export CARGO_FUZZ := $(CACHE)/tools/bin/cargo-fuzz
TARGET ?= all
# For each target.
SECONDS ?= 60

.PHONY: fuzz fuzz-keep
fuzz:
	tools/fuzz.sh run $(TARGET) $(SECONDS)

fuzz-keep:
	tools/fuzz.sh keep $(TARGET)
