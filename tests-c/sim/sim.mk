# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The simulator: an object to preload, and the executable that is both the user's command and the kernel process. They
# lie beside each other. Uses BUILD and CC; gives SIM, the list of what it builds.

sim_dir := $(dir $(lastword $(MAKEFILE_LIST)))

SIM := $(BUILD)/sim/librdmacm-sim.so $(BUILD)/sim/librdmacm-sim $(BUILD)/sim/bin/rdma

sim_headers := $(wildcard $(sim_dir)*.h $(sim_dir)*/*.h $(sim_dir)newer/rdma/*.h)
sim_both := $(addprefix $(sim_dir),call.c fabric.c)
sim_object_sources := $(sort $(wildcard $(sim_dir)*.c $(sim_dir)cm/*.c $(sim_dir)verbs/*.c))
sim_kernel_sources := $(wildcard $(sim_dir)kernel/*.c) $(sim_both)

# The kernel's own headers, without which it would only be shown that the library's structs agree with themselves: the
# machine's, of any age.
sim_includes := -isystem $(sim_dir)newer -isystem include
# Of functions that the preloaded object replaces libc must not make others.
sim_unfortified = -U_FORTIFY_SOURCE
$(BUILD)/sim/objects/kernel/%.o: sim_unfortified =
sim_cflags = -std=gnu11 -D_GNU_SOURCE -O2 -g $(CFLAGS) $(CPPFLAGS) $(sim_unfortified) -Wall -Wextra -Werror -pthread $(sim_includes)

sim_objects = $(patsubst $(sim_dir)%.c,$(BUILD)/sim/objects/%.o,$(1))

$(BUILD)/sim/librdmacm-sim.so: $(call sim_objects,$(sim_object_sources))
	$(CC) -shared -pthread $(LDFLAGS) -Wl,-z,nodelete -o $@ $^ -ldl

$(BUILD)/sim/librdmacm-sim: $(call sim_objects,$(sim_kernel_sources))
	$(CC) -pthread $(LDFLAGS) -o $@ $^ -ldl

$(BUILD)/sim/objects/%.o: $(sim_dir)%.c $(sim_headers)
	mkdir -p $(@D)
	$(CC) $(sim_cflags) -fPIC -fvisibility=hidden -c -o $@ $<

$(BUILD)/sim/bin/rdma: | $(BUILD)/sim
	mkdir -p $(@D)
	ln -sf ../librdmacm-sim $@

$(BUILD)/sim:
	mkdir -p $@

# Tests of the simulator itself; what they have in common is pair.c.
sim_tests := $(filter-out pair,$(basename $(notdir $(wildcard $(sim_dir)tests/*.c))))
SIM_TESTS := $(sim_tests:%=$(BUILD)/tests/sim/%)

$(BUILD)/tests/sim/%: $(sim_dir)tests/%.c $(sim_dir)tests/pair.c $(wildcard $(sim_dir)tests/*.h) \
		$(BUILD)/tests/common.a $(tests_headers)
	$(tests_build)
