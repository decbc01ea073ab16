/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which attributes a queue pair needs, and may be given, on its way from one state to the next (InfiniBand 10.3.1). */
#include "verbs.h"

#include <errno.h>

enum {
	/* Groups of attributes. */
	PLACE = IBV_QP_PKEY_INDEX | IBV_QP_PORT,
	WAY = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
	ANSWERS = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	PATIENCE = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
	OTHER_WAY = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS,
	CHANGE = IBV_QP_CUR_STATE | OTHER_WAY | IBV_QP_PATH_MIG_STATE,
	/* Groups of types. */
	RC = 1,
	UC = 2,
	UD = 4,
	INI = 8,	/* the sending end of an extended connection */
	TGT = 16,
	CONNECTED = RC | UC | INI | TGT,
	ANSWERING = RC | TGT,
	ASKING = RC | INI,
};

static const struct transition {
	enum ibv_qp_state from, to;
	unsigned int types;
	uint32_t needed, allowed;
} transitions[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, CONNECTED, PLACE | IBV_QP_ACCESS_FLAGS, 0 },
	{ IBV_QPS_RESET, IBV_QPS_INIT, UD, PLACE | IBV_QP_QKEY, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, CONNECTED, 0, PLACE | IBV_QP_ACCESS_FLAGS },
	{ IBV_QPS_INIT, IBV_QPS_INIT, UD, 0, PLACE | IBV_QP_QKEY },
	{ IBV_QPS_INIT, IBV_QPS_RTR, ANSWERING, WAY | ANSWERS, OTHER_WAY | IBV_QP_PKEY_INDEX },
	{ IBV_QPS_INIT, IBV_QPS_RTR, UC | INI, WAY, OTHER_WAY | IBV_QP_PKEY_INDEX },
	{ IBV_QPS_INIT, IBV_QPS_RTR, UD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	{ IBV_QPS_RTR, IBV_QPS_RTS, RC, PATIENCE | IBV_QP_SQ_PSN, CHANGE | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_RTR, IBV_QPS_RTS, INI, PATIENCE | IBV_QP_SQ_PSN, CHANGE },
	{ IBV_QPS_RTR, IBV_QPS_RTS, TGT, IBV_QP_TIMEOUT | IBV_QP_SQ_PSN, CHANGE | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_RTR, IBV_QPS_RTS, UC, IBV_QP_SQ_PSN, CHANGE },
	{ IBV_QPS_RTR, IBV_QPS_RTS, UD, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY },
	{ IBV_QPS_RTS, IBV_QPS_RTS, ANSWERING, 0, CHANGE | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_RTS, IBV_QPS_RTS, UC | INI, 0, CHANGE },
	{ IBV_QPS_RTS, IBV_QPS_RTS, UD, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY },
	{ IBV_QPS_RTS, IBV_QPS_SQD, CONNECTED | UD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ IBV_QPS_SQD, IBV_QPS_RTS, ANSWERING, 0, CHANGE | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_SQD, IBV_QPS_RTS, UC | INI, 0, CHANGE },
	{ IBV_QPS_SQD, IBV_QPS_RTS, UD, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY },
	{ IBV_QPS_SQD, IBV_QPS_SQD, ASKING, 0,
	  PLACE | IBV_QP_AV | PATIENCE | ANSWERS | OTHER_WAY | IBV_QP_PATH_MIG_STATE },
	{ IBV_QPS_SQD, IBV_QPS_SQD, TGT, 0,
	  PLACE | IBV_QP_AV | IBV_QP_TIMEOUT | ANSWERS | OTHER_WAY | IBV_QP_PATH_MIG_STATE },
	{ IBV_QPS_SQD, IBV_QPS_SQD, UC, 0, IBV_QP_PKEY_INDEX | IBV_QP_AV | OTHER_WAY | IBV_QP_PATH_MIG_STATE },
	{ IBV_QPS_SQD, IBV_QPS_SQD, UD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	{ IBV_QPS_SQE, IBV_QPS_RTS, UC, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS },
	{ IBV_QPS_SQE, IBV_QPS_RTS, UD, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY },
};

static unsigned int group_of(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return RC;
	case IBV_QPT_UC:
		return UC;
	case IBV_QPT_UD:
		return UD;
	case IBV_QPT_XRC_SEND:
		return INI;
	case IBV_QPT_XRC_RECV:
		return TGT;
	default:
		return 0;
	}
}

int check_transition(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, uint32_t mask)
{
	unsigned int group = group_of(type);

	mask &= ~(uint32_t)IBV_QP_STATE;
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return mask ? EINVAL : 0;
	for (size_t i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++) {
		const struct transition *known = &transitions[i];

		if (known->from != from || known->to != to || !(known->types & group))
			continue;
		return (mask & known->needed) != known->needed || (mask & ~(known->needed | known->allowed)) ? EINVAL : 0;
	}
	return EINVAL;
}
