# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The program rdmacm-doctor. Uses BUILD, CC and SHIPPED; gives DOCTOR. Included before the first target, which needs that.

doctor_dir := $(dir $(lastword $(MAKEFILE_LIST)))

DOCTOR := $(BUILD)/rdmacm-doctor

.DEFAULT_GOAL := all

$(DOCTOR): $(wildcard $(doctor_dir)*.c $(doctor_dir)*.h) $(SHIPPED)
	$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g $(CFLAGS) $(CPPFLAGS) -Wall -Wextra -Werror -Iinclude -o $@ $(filter %.c,$^) \
		$(LDFLAGS) -Wl,-z,relro -Wl,-z,now -L$(BUILD) -lrdmacm -libverbs -ldl
