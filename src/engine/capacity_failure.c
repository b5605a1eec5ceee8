/* How long a capacity pod is waited for, in each of the ways in which it may not serve. */
#include "capacity_failure.h"

#include "size/explain_gpus.h"
#include "state.h"

/* The scheduler tries a pod again within a second or two when what kept it off has gone. */
#define REFUSED_MS 5000
/* The kubelet tries an image or a start again after 10 s, and then ever more rarely. */
#define TROUBLED_MS 12000

/* One that is pinned can go nowhere else. Who searches waits for what may not be free yet. */
bool capacity_is_refused(const struct holder *h)
{
	return h->refused_at >= 0 && text_empty(h->pod.node) && !h->search &&
	       !holder_asks_for_node(h);
}

/* Something keeps it from being bound, or from telling its GPU, for as long as one hopes. */
static bool is_hopeless(struct step_time *time, const struct holder *h)
{
	bool bound = !text_empty(h->pod.node);
	int64_t patience = bound ? TROUBLED_MS : REFUSED_MS;
	if (h->refused_at < 0 || (!bound && !capacity_is_refused(h))) {
		return false;
	}
	wake_by(time, h->refused_at + patience);
	return time->now - h->refused_at >= patience;
}

bool capacity_failed(struct picture *picture, const struct holder *h)
{
	bool told = h->pod.identity != NULL && h->lost_at < 0 && h->refused_at < 0;
	if (told || pod_is_terminal(&h->pod)) {
		return pod_is_terminal(&h->pod);
	}
	/* It waits for a node, as it should. */
	if (holder_asks_for_node(h) && text_empty(h->pod.node)) {
		return false;
	}
	if (is_hopeless(picture->time, h)) {
		return true;
	}
	int64_t since = h->pod.identity == NULL ? h->opened_at : h->lost_at;
	if (since < 0) {
		return false;
	}
	wake_by(picture->time, since + picture->cfg->open_timeout_ms);
	return picture->time->now - since >= picture->cfg->open_timeout_ms;
}

void report_capacity_failed(
	const struct picture *picture, const struct holder *h, struct emitter *out)
{
	CLEANUP(str_finish) struct str text = STR_INIT(1024);
	struct node_memo *m = memo_find(picture->book, h->node);
	bool over = pod_is_terminal(&h->pod);
	int64_t since = h->pod.identity == NULL ? h->opened_at : h->lost_at;
	bool unbound = h->refused_at >= 0 && text_empty(h->pod.node);
	bool refused = over && !text_empty(h->pod.status_reason);
	const char *detail = refused   ? h->pod.status_reason
			     : unbound ? "the scheduler does not bind it"
				       : h->pod.trouble;
	struct explain_failure f = {.node = h->node,
		.ended = over,
		.told = h->pod.identity != NULL,
		.after_s = (picture->time->now - since) / 1000,
		.detail = detail,
		.rests_s = m != NULL && m->until > picture->time->now
				   ? (m->until - picture->time->now + 999) / 1000
				   : 0};
	if (m != NULL) {
		text_set(&m->why, detail);
	}
	explain_capacity_failed(&text, &f);
	emit_warning(out, about_holder(h), "CapacityFailed", str_text(&text));
}
