/* How long a capacity pod is waited for, in each of the ways in which it may not serve. */
#include "capacity/capacity_failure.h"

#include "ledger/ledger.h"
#include "size/explain_gpus.h"

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

/* --- two that tell one UUID: one of them is wrong, and nobody knows which --- */

static void warn_doubled(const struct picture *picture, struct holder *h,
	const struct holder *other, struct emitter *out)
{
	CLEANUP(str_finish) struct str text = STR_INIT(1024);
	if (h->told_doubled) {
		return;
	}
	h->told_doubled = true;
	/* One more would tell the same again; but no node rests for what another one tells. */
	bool near = text_equals(h->node, other->node);
	if (near) {
		trouble_note(picture->book, h->node, picture->time->now);
	}
	explain_doubled(&text, h->pod.identity->uuid, other->name, near ? NULL : other->node);
	emit_warning(out, about_holder(h), "GpuDoubled", str_text(&text));
}

/* The map has the first of those that tell one UUID. */
void report_doubled_gpus(const struct picture *picture, struct emitter *out)
{
	out->report->gpus_doubled = 0;
	for (uint32_t i = 0; picture->kept.doubled && i < picture->snap_gpus.count; i++) {
		const struct snap_gpu *gpu = &picture->snap_gpus.items[i];
		if (!gpu->repeats && gpu->same == WORLD_NONE) {
			continue;
		}
		struct holder *h = gpu->holder;
		const struct gpu_identity *id = h->pod.identity;
		uint32_t first = id != NULL ? snap_gpu_on(picture, id->uuid,
						      picture->snap.gpus.items[i].node)
					    : WORLD_NONE;
		/* One of another node only where none of its own tells it. */
		first = first == i ? snap_gpu_first(picture, id->uuid) : first;
		if (first == i || first == WORLD_NONE) {
			continue;
		}
		struct holder *other = picture->snap_gpus.items[first].holder;
		out->report->gpus_doubled++;
		warn_doubled(picture, other, h, out);
		warn_doubled(picture, h, other, out);
	}
}
