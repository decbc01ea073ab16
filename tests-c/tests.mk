# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The C test programs. Uses SDK (the folder of `lab sdk`), BUILD and CC; gives C_TESTS, the list of what it builds,
# C_SHIMS, the objects among it that change what a program sees of the kernel, and C_THREADS, programs for ThreadSanitizer.

tests_dir := $(dir $(lastword $(MAKEFILE_LIST)))

# What programs have in common.
tests_common := harness process helper script fake_ibacm api/connection api/objects api/hosts api/subnet \
	rsocket/between rsocket/sockets rsocket/sets rsocket/attacker rsocket/victim rsocket/datagram preload/preloaded
tests_sources := $(wildcard $(tests_dir)*.c $(tests_dir)api/*.c $(tests_dir)rsocket/*.c $(tests_dir)preload/*.c)
tests_programs := $(filter-out $(tests_common) shim_%,$(tests_sources:$(tests_dir)%.c=%))
tests_headers := $(wildcard $(tests_dir)*.h $(tests_dir)api/*.h $(tests_dir)rsocket/*.h $(tests_dir)preload/*.h)

C_SHIMS := $(BUILD)/shim/no-command.so
# Those whose threads meet inside the library.
tests_threads := wake many race destroy migrate bells_threads bells_readable $(addprefix api/,racing held waiting \
	disconnect endpoint failures verbs_fail answers odd_kernel) $(addprefix rsocket/,stream polling epoll ending attack_sender)
C_THREADS := $(tests_threads:%=$(BUILD)/tests-threads/%)
C_TESTS := $(foreach dir,tests tests-asan,$(tests_programs:%=$(BUILD)/$(dir)/%)) $(C_SHIMS)

tests_libdir = $(SDK)/usr/lib/x86_64-linux-gnu
tests_cflags = -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -pthread -isystem $(SDK)/usr/include
# The distribution's library links to others that this machine need not have.
tests_libs = -L$(tests_libdir) -Wl,--allow-shlib-undefined -lrdmacm -libverbs

# Static runtimes: with LD_PRELOAD a shared one would not be the first object, and refuses to start.
$(BUILD)/tests-asan/%: tests_cflags += -fsanitize=address,undefined -fno-omit-frame-pointer -static-libasan -static-libubsan
$(BUILD)/tests-threads/%: tests_cflags += -fsanitize=thread
$(BUILD)/tests/dl $(BUILD)/tests-asan/dl: tests_libs = -ldl
# The library is to find functions of the program (rsocket/between.c; diagnostics.c).
$(BUILD)/tests/diagnostics $(BUILD)/tests/rsocket/missed $(BUILD)/tests-asan/rsocket/missed: tests_cflags += -rdynamic

tests_build = mkdir -p $(@D) && $(CC) $(tests_cflags) -o $@ $(filter %.c %.a,$^) $(tests_libs)

define tests_in
$(BUILD)/$(1)/%: $(tests_dir)%.c $(BUILD)/$(1)/common.a $(tests_headers)
	$$(tests_build)

$(BUILD)/$(1)/common.a: $(tests_common:%=$(BUILD)/$(1)/%.o)
	rm -f $$@ && $(AR) rc $$@ $$^

$(BUILD)/$(1)/%.o: $(tests_dir)%.c $(tests_headers)
	mkdir -p $$(@D) && $(CC) $$(tests_cflags) -c -o $$@ $$<
endef
$(foreach folder,tests tests-asan tests-threads,$(eval $(call tests_in,$(folder))))

# With the sanitizer of the compiler that made the library, which gcc's code can use as well.
tests_tsan = $(shell rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/lib/librustc-stable_rt.tsan.a
$(C_THREADS): $(BUILD)/tests-threads/%: $(BUILD)/tests-threads/%.o $(BUILD)/tests-threads/common.a
	$(CC) -pthread -rdynamic -o $@ $^ $(tests_libs) -Wl,--whole-archive $(tests_tsan) -Wl,--no-whole-archive -lm -ldl

$(BUILD)/shim/no-command.so: $(tests_dir)shim_no_command.c
	mkdir -p $(@D) && $(CC) $(tests_cflags) -shared -fPIC -o $@ $< -ldl
