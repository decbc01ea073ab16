/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a script tells the subnet administrator. */
#ifndef SIM_KERNEL_SA_H
#define SIM_KERNEL_SA_H

#include "cm.h"

/* An answer to whoever asks for paths: to one destination, or to any. */
struct sa_path {
	bool has_dgid;
	int error;			/* answers with this errno instead */
	struct ib_user_path_rec rec;
	struct sa_path *next;
};

/* For one service, by identifier or name, or for any. */
struct sa_service {
	bool is_any;
	int error;			/* answers with this errno instead */
	struct ib_user_service_rec rec;
	struct sa_service *next;
};

struct sa_path *sa_add_path(void);
struct sa_service *sa_add_service(void);
/* There is nothing scripted any more. */
void sa_forget(void);
/* How long answers take. */
void sa_set_delay(unsigned int ms);

#endif
