# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The C test programs. Uses SDK (the folder of `lab sdk`), BUILD and CC; gives C_TESTS, the list of what it builds,
# and C_SHIMS, the objects among it that change what a program sees of the kernel.

tests_dir := $(dir $(lastword $(MAKEFILE_LIST)))

tests_common := harness process helper fake_ibacm
tests_programs := $(filter-out $(tests_common) shim_%,$(basename $(notdir $(wildcard $(tests_dir)*.c))))
tests_headers := $(wildcard $(tests_dir)*.h $(tests_dir)api/*.h)

C_SHIMS := $(BUILD)/shim/no-command.so
# Programs of the connection manager, and what they have in common.
tests_api_common := connection objects
tests_programs += $(addprefix api/,$(filter-out $(tests_api_common),$(basename $(notdir $(wildcard $(tests_dir)api/*.c)))))
tests_api_sources := $(tests_api_common:%=$(tests_dir)api/%.c) $(tests_common:%=$(tests_dir)%.c)

C_TESTS := $(foreach dir,tests tests-asan,$(tests_programs:%=$(BUILD)/$(dir)/%)) $(C_SHIMS)

tests_libdir = $(SDK)/usr/lib/x86_64-linux-gnu
tests_cflags = -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -pthread -isystem $(SDK)/usr/include
# The distribution's library links to others that this machine need not have.
tests_libs = -L$(tests_libdir) -Wl,--allow-shlib-undefined -lrdmacm -libverbs

# Static runtimes: with LD_PRELOAD a shared one would not be the first object, and refuses to start.
$(BUILD)/tests-asan/%: tests_cflags += -fsanitize=address,undefined -fno-omit-frame-pointer -static-libasan -static-libubsan
$(BUILD)/tests/dl $(BUILD)/tests-asan/dl: tests_libs = -ldl

tests_build = $(CC) $(tests_cflags) -o $@ $(filter %.c,$^) $(tests_libs)

$(BUILD)/tests/dl $(BUILD)/tests-asan/dl: \
$(BUILD)/%: $(tests_dir)dl.c $(tests_dir)harness.c $(tests_dir)process.c $(tests_headers) | $(BUILD)/tests $(BUILD)/tests-asan
	$(tests_build)

$(BUILD)/tests/api/%: $(tests_dir)api/%.c $(tests_api_sources) $(tests_headers) | $(BUILD)/tests/api
	$(tests_build)

$(BUILD)/tests-asan/api/%: $(tests_dir)api/%.c $(tests_api_sources) $(tests_headers) | $(BUILD)/tests-asan/api
	$(tests_build)

$(BUILD)/tests/%: $(tests_dir)%.c $(tests_common:%=$(tests_dir)%.c) $(tests_headers) | $(BUILD)/tests
	$(tests_build)

$(BUILD)/tests-asan/%: $(tests_dir)%.c $(tests_common:%=$(tests_dir)%.c) $(tests_headers) | $(BUILD)/tests-asan
	$(tests_build)

$(BUILD)/shim/no-command.so: $(tests_dir)shim_no_command.c | $(BUILD)/shim
	$(CC) $(tests_cflags) -shared -fPIC -o $@ $< -ldl

$(BUILD)/tests $(BUILD)/tests-asan $(BUILD)/tests/api $(BUILD)/tests-asan/api $(BUILD)/shim:
	mkdir -p $@
