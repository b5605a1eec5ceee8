/* One pass over the pods with GPUs after the other: of 20,000 every five minutes, in which nothing
 * is forgotten that is still asked for. */
#include "lookup/follow.h"

static const enum world_class classes[] = {WORLD_TENANT, WORLD_WHOLE, WORLD_PENDING};

static bool next_pod(struct follow *f, const struct world_pod **ret)
{
	if (f->at >= world_class_count(f->world, classes[f->class])) {
		f->at = 0;
		f->class = (f->class + 1) % (int)COUNT_OF(classes);
		return false;
	}
	*ret = world_class_at(f->world, classes[f->class], f->at++);
	return true;
}

static void follow_step(void *self, const struct turn *turn)
{
	struct follow *f = self;
	const struct world_pod *p = NULL;
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 4096};

	if (turn->now < f->next_at) {
		return;
	}
	f->next_at = turn->now + FOLLOW_EVERY_MS;
	for (int i = 0; i < FOLLOW_PODS && next_pod(f, &p); i++) {
		struct pod pod;
		arena_reset(&arena);
		if (world_pod_unpack(p, &arena, &pod)) {
			(void)owner_top_of(&pod, f->owners);
		}
	}
}

static int64_t follow_deadline(const void *self, const struct turn *turn)
{
	const struct follow *f = self;
	(void)turn;
	return f->next_at;
}

const struct part follow_part = {follow_step, follow_deadline, NULL};
