/* What is said of two capacity pods that tell one UUID: one of them is wrong, and nobody knows
 * which. */
#include "doubled_gpu.h"

#include "size/explain_gpus.h"
#include "state.h"

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
