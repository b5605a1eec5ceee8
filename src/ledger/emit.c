/* Makes the actions of a plan, and notes with each capacity pod which write of it is under way
 * (flight.c). */
#include "ledger/emit.h"

#include <stdio.h>

#include "ledger/ledger.h"
#include "model/names.h"
#include "record/tables.h"

struct action *emit(struct emitter *out, enum action_type type)
{
	return plan_add(out->plan, type, ++out->next_action);
}

struct about about_pod(const struct world_pod *p)
{
	return (struct about){p->ns, world_pod_name(p), world_pod_uid(p)};
}

struct about about_holder(const struct holder *h)
{
	return (struct about){NAME_NAMESPACE, h->name, h->uid};
}

static const char *text_in(struct plan *plan, const char *text)
{
	return arena_strdup(&plan->arena, text);
}

struct about about_waiter(const struct waiter *w)
{
	return (struct about){w->pod.ns, w->pod.name, w->pod.uid};
}

struct action *emit_about(struct emitter *out, enum action_type type, struct about pod)
{
	struct action *a = emit(out, type);
	a->ns = text_in(out->plan, pod.ns);
	a->name = text_in(out->plan, pod.name);
	a->uid = text_in(out->plan, pod.uid);
	return a;
}

struct action *emit_event(struct emitter *out, struct about pod, const char *text)
{
	struct action *a = emit_about(out, ACTION_EVENT, pod);
	a->regarding_kind = "Pod";
	a->regarding_api_version = "v1";
	a->message = text_in(out->plan, text);
	return a;
}

void emit_warning(struct emitter *out, struct about pod, const char *reason, const char *text)
{
	struct action *a = emit_event(out, pod, text);
	a->event_reason = reason;
	a->warning = true;
}

/* The lowest slot of the node that no capacity pod, not even a dying one, has. */
static bool free_name(struct book *book, const char *node, char *ret_name, size_t room)
{
	unsigned long long hash = (unsigned long long)hash_text(node) & 0xffffffffffffull;
	for (int slot = 0; slot < 64; slot++) {
		snprintf(ret_name, room, "capacity-%012llx-%d", hash, slot);
		if (world_pod_find(book->world, NAME_NAMESPACE, ret_name) == NULL &&
			holder_find(book, ret_name) == NULL) {
			return true;
		}
	}
	return false;
}

static void copy_tolerations(struct plan *plan, struct action *a, const struct pod *pod)
{
	struct pod kept;
	record_copy(&plan->arena, &pod_tolerations_table, pod, &kept);
	a->tolerations = kept.tolerations;
	a->toleration_count = kept.toleration_count;
}

static struct action *create(struct emitter *out, const char *name, const struct pod *pod)
{
	struct action *a = emit(out, ACTION_CREATE_CAPACITY);
	a->ns = NAME_NAMESPACE;
	a->name = text_in(out->plan, name);
	a->runtime_class = text_in(out->plan, out->picture->cfg->runtime_class);
	copy_tolerations(out->plan, a, pod);
	return a;
}

struct action *emit_companion(struct emitter *out, const char *name, const struct pod *pod)
{
	struct action *a = create(out, name, pod);
	a->companion = true;
	return a;
}

uint64_t emit_probe(struct emitter *out, const char *name, const struct holder *h,
	const struct inject_claim *claim)
{
	struct action *a = create(out, name, &h->pod);
	a->node = text_in(out->plan, h->node);
	a->capacity_pod = text_in(out->plan, h->name);
	a->uid = text_in(out->plan, h->uid);
	a->runtime_class = text_in(out->plan, claim->class);
	a->claim = record_clone(&out->plan->arena, &inject_claim_table, claim);
	return a->id;
}

void emit_companion_delete(struct emitter *out, const struct world_pod *p)
{
	emit_about(out, ACTION_DELETE_CAPACITY, about_pod(p))->companion = true;
}

void emit_create_again(struct emitter *out, struct holder *h, const struct pod *pod)
{
	struct action *a = create(out, h->name, pod);
	a->node = text_in(out->plan, h->node);
	a->mps = h->mps = pod_is_mps(pod);
	holder_sends(out->picture->book, h, ACTION_CREATE_CAPACITY, a->id);
}

struct holder *emit_create(struct emitter *out, const char *node, const struct pod *pod)
{
	const struct picture *picture = out->picture;
	char name[64];
	if (!free_name(picture->book, node, name, sizeof name) || !openings_take(out->openings)) {
		return NULL;
	}
	out->report->gpus_opening++;
	struct holder *h = holder_touch(picture->book, name, picture->time->now);
	text_set(&h->node, node);
	emit_create_again(out, h, pod);
	return h;
}

void emit_delete(struct emitter *out, struct holder *h)
{
	struct action *a = emit_about(out, ACTION_DELETE_CAPACITY, about_holder(h));
	a->resource_version = text_in(out->plan, holder_version(h));
	a->mps = h->mps;
	text_set(&h->flight_rv, a->resource_version);
	holder_sends(out->picture->book, h, ACTION_DELETE_CAPACITY, a->id);
}
