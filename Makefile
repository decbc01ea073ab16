# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Targets are explained in README.md.

VERSION := 1.5.65.0
BUILD := build
CACHE := $(if $(RDMACM_LAB_CACHE),$(RDMACM_LAB_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/librdmacm-lab)
export CBINDGEN_VERSION := 0.29.4
export CBINDGEN := $(CACHE)/tools/bin/cbindgen

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
BINDIR ?= $(PREFIX)/bin
KERNEL ?= 7.2
comma := ,
# What `make test` runs in the lab: suites with both libraries; existing programs only with this library, preloaded and
# installed; suites that are worth a second run with it installed.
export LAB_KERNELS ?= 7.2
export LAB_SUITES ?= smoke,doctor,user-event,bells,api,resolve,examples,two-hosts
export LAB_PROGRAM_SUITES ?= utils,pyverbs,clients,rsockets,repoll,datagram
export LAB_INSTALLED_SUITES ?= api,examples,two-hosts
# The same for kernels that have no command for user events, with this library.
export LAB_OLD_KERNELS ?= 6.12,6.1
export LAB_OLD_SUITES ?= doctor,user-event,bells
SUITE ?= all
LIB ?= ours
FAULTS_LIB ?= both

CC ?= cc
export CC
CARGO ?= cargo

SHIPPED := $(BUILD)/librdmacm.so.1
PRELOAD := $(BUILD)/librspreload.so
STATIC := $(BUILD)/librdmacm.a
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))
STATIC_EXAMPLES := $(EXAMPLES:%=%-static)
MAN_EXAMPLES := $(patsubst man/%.3,$(BUILD)/man-examples/%,$(shell grep -l '^.include <' man/*.3))
ARCHIVE := $(or $(CARGO_TARGET_DIR),target)/release/librdmacm.a
PRELOAD_ARCHIVE := $(or $(CARGO_TARGET_DIR),target)/release/librspreload.a
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find src -name '*.rs')
PRELOAD_SOURCES := Cargo.toml Cargo.lock preload/Cargo.toml $(shell find preload -name '*.rs')

# The version script makes the symbol versions, which rustc cannot give a cdylib (docs/architecture.md). Threads may
# be inside the library, or own thread-local storage of it, when a program closes it: nodelete keeps it mapped.
SHIP_FLAGS := -shared -Wl,-z,defs -Wl,--gc-sections -Wl,--as-needed -Wl,-O1 -Wl,--no-undefined-version \
	-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,nodelete -Wl,--hash-style=gnu -Wl,--build-id

include doctor/doctor.mk

.PHONY: all deps build-deps demo sim test test-sim test-faults test-checked test-threads coverage lint check-abi headers matrix check-headers check-install check-examples check-doctor programs lab install install-aside dist deb rpm bench clean
all: $(SHIPPED) $(PRELOAD) $(STATIC) $(DOCTOR) include/rdma/rdma_cma.h

$(ARCHIVE): $(RUST_SOURCES)
	$(CARGO) rustc --locked --lib --crate-type staticlib --release
	@touch $@

$(SHIPPED): $(ARCHIVE) abi/librdmacm.map
	@mkdir -p $(BUILD)
	$(CC) $(SHIP_FLAGS) $(LDFLAGS) -Wl,-soname,librdmacm.so.1 -Wl,--version-script=abi/librdmacm.map \
		-Wl,--whole-archive $(ARCHIVE) -Wl,--no-whole-archive -libverbs -lgcc_s -lc -o $(BUILD)/librdmacm.so.$(VERSION)
	ln -sf librdmacm.so.$(VERSION) $(BUILD)/librdmacm.so.1
	ln -sf librdmacm.so.1 $(BUILD)/librdmacm.so

$(PRELOAD_ARCHIVE): $(PRELOAD_SOURCES)
	$(CARGO) rustc --locked -p rspreload --lib --release
	@touch $@

# It has no name of its own, since nothing is linked with it.
$(PRELOAD): $(PRELOAD_ARCHIVE) abi/librspreload.map $(SHIPPED)
	$(CC) $(SHIP_FLAGS) $(LDFLAGS) -Wl,--version-script=abi/librspreload.map -Wl,--whole-archive $(PRELOAD_ARCHIVE) \
		-Wl,--no-whole-archive -L$(BUILD) -lrdmacm -lc -o $@

$(STATIC): $(ARCHIVE) abi/librdmacm.map tools/link-static.sh
	@mkdir -p $(BUILD)
	tools/link-static.sh $(ARCHIVE) abi/librdmacm.map $@

deps: build-deps
	tools/install-cbindgen.sh
	kernel-lab/lab deps $(subst $(comma), ,$(LAB_KERNELS),$(LAB_OLD_KERNELS))

build-deps:
	tools/install-deps.sh

demo: build-deps
	$(MAKE) --no-print-directory -j$(shell nproc) all sim $(EXAMPLES)
	tools/demo.sh $(BUILD)

test: deps
	$(MAKE) --no-print-directory all
	tools/test.sh

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	$(CARGO) clippy --locked -p rspreload -- -D warnings
	RUSTDOCFLAGS=-Dwarnings $(CARGO) doc --locked --workspace --no-deps --document-private-items
	tools/check-layers.sh
	tools/check-shell.sh
	tools/check-man.sh
	tools/check-docs.sh

check-abi: $(SHIPPED) $(PRELOAD)
	tools/check-abi.sh $(SHIPPED) abi/librdmacm.map $(SDK)/usr/lib/x86_64-linux-gnu/librdmacm.so.1 $$(kernel-lab/lab symbols)
	tools/check-preload.sh $(PRELOAD) abi/librspreload.map

headers:
	tools/gen-headers.sh include/rdma/rdma_cma.h

matrix:
	@mkdir -p $(BUILD)
	tools/gen-matrix.sh >$(BUILD)/MATRIX.md
	mv $(BUILD)/MATRIX.md docs/MATRIX.md

check-headers:
	tools/check-headers.sh

check-install: all
	tools/check-install.sh

# Asked once, by what needs it: it may have to be fetched.
SDK = $(eval SDK := $(shell kernel-lab/lab sdk))$(SDK)
include tests-c/tests.mk
include tests-c/sim/sim.mk
include tests-c/faults/faults.mk
include benches/benches.mk
include fuzz/fuzz.mk

sim: $(SIM)

check-examples: $(SHIPPED) $(SIM) $(EXAMPLES) $(MAN_EXAMPLES)
	tools/check-examples.sh $(BUILD)

check-doctor: $(DOCTOR) $(SIM)
	tests-c/sim/doctor.sh $(BUILD)

$(BUILD)/examples/%: examples/%.c include/rdma/rdma_cma.h $(SHIPPED)
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -Werror -Iinclude -o $@ $< -L$(BUILD) -Wl,--as-needed -lrdmacm -libverbs -pthread

$(BUILD)/examples/%-static: examples/%.c include/rdma/rdma_cma.h $(STATIC)
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -Werror -Iinclude -o $@ $< $(STATIC) -libverbs -pthread -ldl

$(BUILD)/man-examples/%: man/%.3 tools/man-example.sh include/rdma/rdma_cma.h $(SHIPPED)
	@mkdir -p $(@D)
	tools/man-example.sh program $< >$@.c
	$(CC) -O2 -Wall -Wextra -Werror -Iinclude -o $@ $@.c -L$(BUILD) -Wl,--as-needed -lrdmacm -libverbs -pthread

programs: $(SHIPPED) $(PRELOAD) $(DOCTOR) $(C_TESTS) $(FAULTS) $(C_BENCHES) $(EXAMPLES) $(STATIC_EXAMPLES) $(MAN_EXAMPLES)

lab: programs
	cp docs/differences.md $(BUILD)/
	kernel-lab/lab run --kernel $(KERNEL) --suite $(SUITE) --lib $(LIB) --build $(BUILD)

test-sim: $(SHIPPED) $(PRELOAD) $(SIM) $(C_TESTS) $(SIM_TESTS)
	tests-c/sim/suites.sh $(BUILD) $(CACHE)/user-space/root.img $(MACHINE)

# FAULTS_EVERY=N takes every Nth failure only, FAULTS_LIB=ours leaves the C library out.
test-faults: $(SHIPPED) $(SIM) $(FAULTS)
	tests-c/faults/test.sh $(BUILD) $(if $(filter both,$(FAULTS_LIB)),$(CACHE)/user-space/root.img)

# This library alone, under AddressSanitizer and UndefinedBehaviorSanitizer.
test-checked: $(SHIPPED) $(SIM) $(C_TESTS)
	tests-c/sim/checked.sh $(BUILD)

# Under ThreadSanitizer, the library and the standard library within it too.
test-threads: $(SIM) $(C_THREADS)
	tests-c/sim/threads.sh $(BUILD) $(C_THREADS)

coverage: $(SIM) $(C_TESTS) $(SIM_TESTS) $(PRELOAD)
	tools/coverage.sh

install: all sim
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/rdma $(DESTDIR)$(INCLUDEDIR)/infiniband \
		$(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/librdmacm-sim $(DESTDIR)$(LIBDIR)/rsocket
	install -m 755 $(BUILD)/librdmacm.so.$(VERSION) $(DESTDIR)$(LIBDIR)
	install -m 755 $(PRELOAD) $(DESTDIR)$(LIBDIR)/rsocket
	ln -sf librspreload.so $(DESTDIR)$(LIBDIR)/rsocket/librspreload.so.1
	ln -sf librspreload.so $(DESTDIR)$(LIBDIR)/rsocket/librspreload.so.1.0.0
	ln -sf librdmacm.so.$(VERSION) $(DESTDIR)$(LIBDIR)/librdmacm.so.1
	ln -sf librdmacm.so.1 $(DESTDIR)$(LIBDIR)/librdmacm.so
	install -m 644 $(STATIC) $(DESTDIR)$(LIBDIR)
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@VERSION@|$(VERSION)|' \
		librdmacm.pc.in >$(BUILD)/librdmacm.pc
	install -m 644 $(BUILD)/librdmacm.pc $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 include/rdma/*.h $(DESTDIR)$(INCLUDEDIR)/rdma
	install -m 644 include/infiniband/*.h $(DESTDIR)$(INCLUDEDIR)/infiniband
	tools/install-man.sh $(DESTDIR)$(MANDIR)
	install -m 755 $(DOCTOR) $(DESTDIR)$(BINDIR)
	install -m 755 $(BUILD)/sim/librdmacm-sim $(BUILD)/sim/librdmacm-sim.so $(DESTDIR)$(LIBDIR)/librdmacm-sim
	ln -srf $(DESTDIR)$(LIBDIR)/librdmacm-sim/librdmacm-sim $(DESTDIR)$(BINDIR)/librdmacm-sim

# For trying it: beside the system's library, with a command that runs a program with it.
install-aside: all
	install -d $(DESTDIR)$(LIBDIR)/librdmacm-rs $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	install -m 755 $(SHIPPED) $(DESTDIR)$(LIBDIR)/librdmacm-rs/librdmacm.so.1
	sed 's|@DIRECTORY@|$(LIBDIR)/librdmacm-rs|' packaging/with-librdmacm-rs.in >$(BUILD)/with-librdmacm-rs
	install -m 755 $(BUILD)/with-librdmacm-rs $(DESTDIR)$(BINDIR)
	install -m 644 packaging/with-librdmacm-rs.1 $(DESTDIR)$(MANDIR)/man1

DIST = $(BUILD)/dist/librdmacm-rs-$(VERSION).tar.xz

dist:
	tools/make-dist.sh $(VERSION) $(SDK) $(BUILD)/dist

deb: dist
	tools/make-deb.sh $(DIST) $(BUILD)/deb

rpm: dist
	tools/make-rpm.sh $(DIST) $(BUILD)/rpm

bench: $(SHIPPED) $(C_BENCHES)
	kernel-lab/lab run --kernel $(KERNEL) --suite bench,connections,streams,sets --lib ours --build $(BUILD) --icount

clean:
	rm -rf $(BUILD) target
