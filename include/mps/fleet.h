/* The agent's end of the MPS daemons of its node: asks each every few seconds how it is, counts its
 * clients, and ends the contexts of tenants that are about to be killed, since a client that dies
 * with work under way may take the others with it.
 *
 * Which GPUs have a daemon is told by their capacity pods' mode, never by what lies in a directory.
 * They are asked through who keeps them (mps/relay.h).
 * What a daemon says is a stranger's word: a PID counts for terminate_client only where the owner
 * of that process, asked at that moment, is the tenant that goes. No command that changes a limit
 * is ever sent: protocol 2 has none that reaches a running client. */
#ifndef MPS_FLEET_H
#define MPS_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "io/loop.h"
#include "model/state.h"

#define MPS_CONTEXTS_MAX 48 /* processes a device takes */
#define MPS_ASK_MS	 5000
/* A tenant's contexts end so long before its grace period does. */
#define MPS_MARGIN_MS 3000
#define MPS_UID_MAX   64

/* A process that is a daemon's client, as the agent knows it. */
struct mps_owner {
	char pod_uid[MPS_UID_MAX];
	/* The limits in its pod's guarded keys now, as text; "": none. */
	char threads[16]; /* CUDA_MPS_ACTIVE_THREAD_PERCENTAGE */
	char memory[32];  /* CUDA_MPS_PINNED_DEVICE_MEM_LIMIT */
};

struct mps_fleet_options {
	struct loop *loop;  /* borrowed, as all of these */
	const char *root;   /* MPS_ROOT */
	int64_t ask_ms;	    /* MPS_ASK_MS */
	int64_t timeout_ms; /* MPS_TIMEOUT_MS */
	/* Whose process of this host that is, looked up now (cgroup); false: nobody's we know. */
	bool (*owner)(void *data, int32_t pid, struct mps_owner *ret_owner);
	/* A status is another than before; from the loop. NULL: nobody wants to know. */
	void (*changed)(void *data, const char *uuid);
	void *data;
};

struct mps_status {
	enum mps_state state; /* MPS_UNSAID: there is no way to it, `why` says for what reason */
	uint32_t contexts;    /* processes that are clients */
	uint32_t pending;     /* of them, those whose limits are not their pod's: until a restart */
	uint32_t unread;      /* of them, those of known pods whose limits could not be read */
	char why[160];	      /* "" while it is well */
};

struct mps_fleet;
struct mps_fleet *mps_fleet_create(const struct mps_fleet_options *options);
void mps_fleet_destroy(struct mps_fleet *f); /* NULL is fine */

/* The GPUs of this node whose capacity pod is in mode MPS, all of them, after each change of pods.
 * What is no UUID of a whole GPU is left out and logged. */
void mps_fleet_expect(struct mps_fleet *f, const char *const *uuids, uint32_t count);

/* A tenant of that GPU is being deleted; wall_ms is its deletionTimestamp, when its grace period
 * ends (now or earlier: at once). May be said again and again. */
void mps_fleet_doom(struct mps_fleet *f, const char *uuid, const char *pod_uid, int64_t wall_ms);

/* Lives until the next call; NULL: no daemon is expected there. */
const struct mps_status *mps_fleet_status(const struct mps_fleet *f, const char *uuid);

#endif
