# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The driver that lets every call fail once, and the object to preload that lets it fail. Uses what tests.mk and sim.mk
# use and define; gives FAULTS, the list of what it builds.

faults_dir := $(dir $(lastword $(MAKEFILE_LIST)))

FAULTS := $(BUILD)/faults/faults $(BUILD)/faults/faults.so

faults_headers := $(wildcard $(faults_dir)*.h $(faults_dir)object/*.h)

$(BUILD)/faults/faults.so: $(wildcard $(faults_dir)object/*.c) $(faults_headers) $(sim_dir)next.h
	mkdir -p $(@D) && $(CC) $(sim_cflags) -fPIC -fvisibility=hidden -shared -o $@ $(filter %.c,$^) -ldl

$(BUILD)/faults/faults: tests_libs += -ldl
$(BUILD)/faults/faults: $(wildcard $(faults_dir)*.c) $(BUILD)/tests/common.a $(faults_headers) $(tests_headers)
	$(tests_build)
