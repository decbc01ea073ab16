#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs shellcheck over every shell script of the project.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z '*.sh' kernel-lab/lab kernel-lab/guest/init .ci/run | xargs -0 shellcheck --external-sources --severity=warning --shell=bash
