/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef FAULTS_SCENARIOS_H
#define FAULTS_SCENARIOS_H

/* events.c */
void channel_run(void);
void channel_clean(void);
void user_event_run(void);
void user_event_clean(void);
void waiting_run(void);
void waiting_clean(void);
void migrate_run(void);
void migrate_clean(void);
void held_run(void);
void held_clean(void);

/* lists.c */
void addresses_run(void);
void addresses_clean(void);
void resolved_addresses_run(void);
void resolved_addresses_clean(void);
void devices_run(void);
void devices_clean(void);

/* ids.c */
void bind_run(void);
void bind_clean(void);
void resolve_run(void);
void resolve_clean(void);
void queue_pair_run(void);
void queue_pair_clean(void);
void multicast_run(void);
void multicast_clean(void);

/* connections.c */
void connect_run(void);
void own_queue_pair_run(void);
void datagram_run(void);
void connect_clean(void);

/* endpoints.c */
void endpoint_run(void);
void listening_endpoint_run(void);
void endpoint_clean(void);

/* streams.c */
void stream_run(void);
void listening_stream_run(void);
void stream_set_run(void);
void stream_clean(void);

#endif
