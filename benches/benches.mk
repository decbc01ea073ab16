# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The measuring programs. Uses SDK (the folder of `lab sdk`), BUILD, CC and C_SHIMS of tests.mk; gives C_BENCHES, the list of what it builds.

benches_dir := $(dir $(lastword $(MAKEFILE_LIST)))
benches_headers := $(wildcard $(benches_dir)*.h)

C_BENCHES := $(addprefix $(BUILD)/benches/,event connect stream) $(C_SHIMS)

$(BUILD)/benches/event: $(addprefix $(benches_dir),event.c library.c raw.c eventfd.c die.c)
$(BUILD)/benches/connect: $(addprefix $(benches_dir),connect.c client.c server.c endpoint.c queues.c sides.c meter.c die.c)
$(BUILD)/benches/stream: $(addprefix $(benches_dir),stream.c flow.c crowd.c sets.c sides.c meter.c die.c)

$(addprefix $(BUILD)/benches/,event connect stream): $(benches_headers)
	mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -pthread -isystem $(SDK)/usr/include \
		-isystem $(SDK)/kernel/usr/include -isystem $(SDK)/kernel/usr/include/x86_64-linux-gnu \
		-o $@ $(filter %.c,$^) \
		-L$(SDK)/usr/lib/x86_64-linux-gnu -Wl,--allow-shlib-undefined -lrdmacm -libverbs
