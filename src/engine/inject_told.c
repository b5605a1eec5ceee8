/* What those who wait are told of a node's way to give GPUs. */
#include "inject.h"

#include "size/explain.h"
#include "size/explain_gpus.h"
#include "state.h"

static const struct inject_memo *memo_of(
	const struct injecting *inject, const char *node, const char *class)
{
	return node != NULL ? inject_memo_find(inject, node, class) : NULL;
}

static const struct inject_memo *resting(const struct injecting *inject, const char *node)
{
	const struct inject_memo *m = memo_of(inject, node, NULL);
	return m != NULL && inject->picture->time->now < m->until ? m : NULL;
}

/* The next of the nodes that rest for a tenant of its class. */
static const struct inject_memo *resting_for(const struct injecting *inject, const struct waiter *w)
{
	const struct inject_memo *next = NULL;
	vec_for_each (const struct inject_memo, m, &inject->memos) {
		if (inject->picture->time->now < m->until && m->class != NULL &&
			strcmp(m->class, text_or(w->pod.runtime_class, "")) == 0 &&
			(next == NULL || m->until < next->until)) {
			next = m;
		}
	}
	return next;
}

/* To place, a node that rests is one on which capacity pods do not come up. */
void inject_reason(struct injecting *inject, struct waiter *w)
{
	if (w->reason == REASON_CAPACITY_FAILED && resting(inject, w->miss.best_node) != NULL) {
		w->reason = w->miss.reason = REASON_NO_INJECTION;
	}
}

/* Of its class where that is another one than the capacity pods'. */
static const struct inject_memo *tried_for(const struct injecting *inject, const struct waiter *w)
{
	const struct inject_memo *m =
		memo_of(inject, w->miss.best_node, text_or(w->pod.runtime_class, ""));
	return m != NULL && inject_class_is_wanted(inject, m)
		       ? m
		       : memo_of(inject, w->miss.best_node, NULL);
}

bool inject_tries(struct injecting *inject, struct waiter *w, const struct holder *h)
{
	const struct picture *picture = inject->picture;
	enum inject_form form;
	const struct inject_node *n = inject_node_of(inject, h);
	if (n == NULL || n->subject == NULL || n->rests || h->pod.identity == NULL ||
		!h->pod.holds || inject_knows(inject, h, &form)) {
		return false;
	}
	w->miss.best_node = picture->snap.nodes.items[snap_node_of_holder(picture, h)].noun->name;
	w->crowded = false;
	inject_note_progress(w, n->memo != WORLD_NONE ? &inject->memos.items[n->memo] : NULL);
	return true;
}

/* The node rests for its class alone. */
static void name_class(struct injecting *inject, struct waiter *w, const struct inject_memo *m)
{
	uint32_t at = snap_node_of(inject->picture, m->node);
	if (w->miss.best_node == NULL && at < inject->picture->snap.nodes.count) {
		w->miss.best_node = inject->picture->snap.nodes.items[at].noun->name;
	}
}

struct inject_words inject_words(struct injecting *inject, struct waiter *w, struct arena *arena)
{
	struct inject_words words = {0};
	const struct inject_memo *m = NULL;
	CLEANUP(str_finish) struct str text = STR_INIT(256);
	if (w->reason == REASON_NO_INJECTION) {
		m = resting(inject, w->miss.best_node);
		m = m != NULL ? m : resting_for(inject, w);
	} else if (w->reason == REASON_PROVING || w->reason == REASON_PROBE_ENDED) {
		m = tried_for(inject, w);
	}
	if (w->crowded && w->reason == REASON_PROVING) {
		words.value = "as many classes as can be are wanted there already";
		words.class = text_empty(w->pod.runtime_class) ? "none" : w->pod.runtime_class;
		return words;
	}
	if (m == NULL) {
		return words;
	}
	name_class(inject, w, m);
	if (w->reason == REASON_NO_INJECTION) {
		explain_doubts(&text, m->doubts);
		words.value = arena_strdup(arena, str_text(&text));
		words.next = m->until;
	} else if (w->reason == REASON_PROBE_ENDED) {
		words.value = arena_strdup(arena, m->ended_why);
		words.times = (uint32_t)m->ended;
		words.next = m->retry_at;
	}
	words.class = m->class == NULL	  ? NULL
		      : *m->class != '\0' ? arena_strdup(arena, m->class)
					  : "none";
	return words;
}
