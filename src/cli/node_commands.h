/* node_commands.h - the commands that talk to a node. Each takes a call whose words have been checked
 * against the table and returns the exit status. */
#ifndef SAPLING_CLI_NODE_COMMANDS_H
#define SAPLING_CLI_NODE_COMMANDS_H

#include "cli/command.h"

/* node_status.c */
int status_verb(const Call *call);
int api_verb(const Call *call);

/* module.c */
int module_put_verb(const Call *call);
int module_list_verb(const Call *call);
int module_show_verb(const Call *call);

/* world.c */
int world_create_verb(const Call *call);
int world_list_verb(const Call *call);
int world_show_verb(const Call *call);
int world_outstanding_verb(const Call *call);
int world_pause_verb(const Call *call);
int world_resume_verb(const Call *call);
int world_cancel_verb(const Call *call);
int world_pin_verb(const Call *call);
int world_delete_verb(const Call *call);

/* world_send.c */
int world_send_verb(const Call *call);
int world_query_verb(const Call *call);
int world_result_verb(const Call *call);

/* world_try.c, which needs no node */
int world_try_verb(const Call *call);

/* world_log.c */
int world_log_verb(const Call *call);
int world_state_verb(const Call *call);

/* effect.c */
int effect_list_verb(const Call *call);
int effect_show_verb(const Call *call);
int effect_retry_verb(const Call *call);
int effect_cancel_verb(const Call *call);
int receipt_inject_verb(const Call *call);
int timer_list_verb(const Call *call);
int timer_cancel_verb(const Call *call);

/* dlq.c */
int dlq_list_verb(const Call *call);
int dlq_show_verb(const Call *call);
int dlq_replay_verb(const Call *call);
int dlq_drop_verb(const Call *call);

/* worker.c */
int lease_list_verb(const Call *call);
int worker_list_verb(const Call *call);
int assign_verb(const Call *call);
int unassign_verb(const Call *call);

/* token.c */
int token_create_verb(const Call *call);
int token_list_verb(const Call *call);
int token_revoke_verb(const Call *call);

#endif
