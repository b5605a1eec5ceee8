/* What follows from one capacity pod alone. */
#include "ledger/capacity_pod.h"

#include <string.h>

#include "base/str.h"
#include "model/gpu.h"
#include "world/world.h"

/* A grace up to this is none that waits for anybody: our own first deletions have it too. */
#define SHORT_GRACE_S 30

const struct ledger *holder_ledger(const struct holder *h)
{
	return h->asked_holds ? &h->asked : &h->pod.ledger;
}

const char *holder_version(const struct holder *h)
{
	return h->acked_rv != NULL ? h->acked_rv : h->pod.resource_version;
}

void holder_drop_asked(struct holder *h)
{
	arena_finish(&h->asked_arena);
	h->asked = (struct ledger){0};
	h->asked_holds = false;
	text_set(&h->acked_rv, NULL);
}

bool holder_may_go(const struct holder *h)
{
	return h->in_world && h->flight == 0 && !h->deleted && h->avoid_rv == NULL &&
	       h->pod.deleting_ms == 0;
}

bool holder_is_deleted(const struct holder *h)
{
	return h->deleted || (h->flight != 0 && h->flight_type == ACTION_DELETE_CAPACITY);
}

bool holder_is_leaving(const struct holder *h)
{
	return h->pod.deleting_ms != 0 || holder_is_deleted(h);
}

bool tenant_is_on(const struct holder *h, const struct world_gpu *tenant)
{
	const struct gpu_identity *id = h->pod.identity;
	return id != NULL && tenant->uuid != NULL ? gpu_list_has(tenant->uuid, id->uuid)
						  : gpu_list_has(tenant->capacity_pod, h->name);
}

const struct grant *ledger_find(const struct ledger *l, const char *uid)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if (strcmp(l->items[i].uid, uid) == 0) {
			return &l->items[i];
		}
	}
	return NULL;
}

bool ledger_has(const struct ledger *l, const char *uid)
{
	return ledger_find(l, uid) != NULL;
}

bool holder_waits_for_tenants(const struct holder *h)
{
	return h->in_world && h->pod.deleting_ms != 0 && h->pod.grace_s > SHORT_GRACE_S &&
	       !pod_is_terminal(&h->pod);
}
