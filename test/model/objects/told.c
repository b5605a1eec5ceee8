/* What pods were told of their GPUs, and for how many they ask. */
#include "told.h"

#include "model/names.h"
#include "sim_parts.h"

static bool take_list_item(struct view *rest, char *to, size_t room)
{
	struct view part;
	if (rest->n == 0 || !view_next(rest, ',', &part)) {
		return false;
	}
	snprintf(to, room, "%.*s", (int)part.n, part.p);
	return true;
}

struct told_gpu told_gpus(const struct pod *p)
{
	return (struct told_gpu){view_of(text_or(pairs_get(&p->notes, NOTE_GPU_UUID), "")),
		view_of(text_or(pairs_get(&p->notes, NOTE_CAPACITY_POD), "")), "", ""};
}

bool told_gpu_next(struct told_gpu *t)
{
	t->holder[0] = '\0';
	(void)take_list_item(&t->names, t->holder, sizeof t->holder);
	return take_list_item(&t->uuids, t->uuid, sizeof t->uuid);
}

const char *told_by(const struct pod *p, const char *uuid, struct told_gpu *t)
{
	*t = told_gpus(p);
	while (told_gpu_next(t)) {
		if (strcmp(t->uuid, uuid) == 0) {
			return t->holder;
		}
	}
	return NULL;
}

int64_t group_asked(const struct pod *p)
{
	const char *text = pairs_get(&p->notes, NOTE_GPU_COUNT);
	int64_t count = 1;
	return text != NULL && parse_i64(view_of(text), 1, INT32_MAX, &count) ? count : 1;
}

bool group_is_partial(const struct sim *s, const struct stored *o)
{
	int64_t entries = 0;
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *h = s->store.items.items[i];
		bool capacity = h->resource == RES_PODS && pod_is_capacity(&h->pod);
		for (uint32_t k = 0; capacity && k < h->pod.ledger.count; k++) {
			entries += text_equals(h->pod.ledger.items[k].uid, o->uid);
		}
	}
	bool gated = pod_has_gate(&o->pod, NAME_GATE) && !pod_is_terminal(&o->pod);
	return gated && entries > 0 && entries < group_asked(&o->pod);
}
