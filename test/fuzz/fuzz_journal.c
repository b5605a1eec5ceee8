/* A journal that somebody changed: one that was recorded here, with bytes and records changed, and
 * every record signed again. Whatever it says now, it is refused with a sentence or replayed.
 *
 * An edit is five bytes: which record, where in it (two), what is done, with what. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "engine/journal.h"
#include "journal.h"
#include "model/names.h"

#define VERSION	    "fuzz"
#define EDIT	    5
#define EDITS_MAX   40
#define RECORDS_MAX 400

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct records {
	VEC_FIELDS(struct str); /* owned */
};

static void tell_all(struct engine *e, enum change_type type)
{
	for (enum kind k = KIND_POD; k < KIND_REQUIRED; k++) {
		(void)engine_observe(e, &(struct change){.type = type, .kind = k});
	}
}

static struct pod a_pod(const char *ns, const char *name)
{
	static const char *gate[] = {NAME_GATE};
	static struct pair label = {LABEL_TENANT, "true"};
	static struct pair notes[] = {{NOTE_CONTAINER, "main"}, {NOTE_SHARE, "0.25"}};
	return (struct pod){.ns = ns,
		.name = name,
		.uid = name,
		.resource_version = "5",
		.phase = POD_PENDING,
		.gates = gate,
		.gate_count = 1,
		.labels = {&label, 1},
		.notes = {notes, COUNT_OF(notes)}};
}

/* A node, a capacity pod, some who wait, and what is decided for them. */
static void live(struct engine *e)
{
	struct node node = {.name = "n0", .uid = "n0", .cpu_milli = 64000};
	struct pod p = a_pod("team", "p"), q = a_pod("team", "q");
	CLEANUP(plan_finish) struct plan plan = {0};
	node.mem_bytes = INT64_C(1) << 39;
	node.pod_slots = 110;
	node.gpus = 2;
	node.ready = true;
	tell_all(e, CHANGE_RELIST_BEGIN);
	(void)engine_observe(
		e, &(struct change){.type = CHANGE_SET, .kind = KIND_NODE, .node = &node});
	(void)engine_observe(e, &(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &p});
	tell_all(e, CHANGE_RELIST_END);
	(void)engine_observe(e, &(struct change){.type = CHANGE_LEADER, .leads = true});
	for (int64_t now = 1000; now < 200000; now += 20000) {
		engine_step(e, (struct engine_now){now, now}, 1000, &plan);
		for (size_t i = 0; i < plan.actions.count; i++) {
			struct outcome o = {0};
			fault_set(&o.fault, i % 2 == 0 ? FAULT_TRANSIENT : FAULT_CONFLICT, "x");
			engine_settle(
				e, (struct engine_now){now, now}, plan.actions.items[i].id, &o);
		}
		(void)engine_observe(
			e, &(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &q});
	}
}

static void record(struct str *out)
{
	struct engine_config config = {.scale_up_ms = 1000};
	struct engine *e = engine_create(&config, 7);
	struct journal *j = journal_create(
		&(struct journal_config){.version = VERSION, .segment_bytes = 1 << 16});
	live(e);
	engine_record(e, j);
	live(e);
	journal_dump(j, out);
	engine_destroy(e);
	journal_destroy(j);
}

static void cut(const struct str *bytes, struct records *r)
{
	for (size_t at = 0; at + RECORD_FRAME <= bytes->len && r->count < RECORDS_MAX;) {
		uint32_t n = 0;
		for (unsigned i = 0; i < 4; i++) {
			n |= (uint32_t)(uint8_t)bytes->p[at + i] << (8 * i);
		}
		struct str made = STR_INIT(RECORD_MAX);
		ENSURE(n > 0 && n <= bytes->len - at - RECORD_FRAME);
		str_append(&made, bytes->p + at + RECORD_FRAME, n);
		VEC_PUSH(r, made);
		at += RECORD_FRAME + n;
	}
}

static void put_word(struct str *out, uint32_t word)
{
	for (unsigned i = 0; i < 4; i++) {
		str_append_char(out, (char)(word >> (8 * i)));
	}
}

static void sign(const struct records *r, struct str *out)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct str *s = &r->items[i];
		put_word(out, (uint32_t)s->len);
		put_word(out, record_sum(str_text(s), s->len));
		str_append(out, str_text(s), s->len);
	}
}

static void edit(struct records *r, const uint8_t *e)
{
	struct str *s = &r->items[e[0] % r->count];
	struct str *other = &r->items[e[4] % r->count];
	size_t at = s->len > 0 ? (size_t)(e[1] | e[2] << 8) % s->len : 0;
	if (s->len == 0) {
		return;
	}
	switch (e[3] % 5) {
	case 0:
		s->p[at] = (char)e[4];
		break;
	case 1:
		s->p[at] = (char)((uint8_t)s->p[at] ^ (1u << e[4] % 8));
		break;
	case 2:
		str_truncate(s, at);
		break;
	case 3: { /* more of it than there was */
		char more[UINT8_MAX];
		size_t n = e[4] < s->len - at ? e[4] : s->len - at;
		memcpy(more, s->p + at, n);
		str_append(s, more, n);
		break;
	}
	case 4: { /* another record in its place */
		struct str moved = *s;
		*s = *other;
		*other = moved;
		break;
	}
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(str_finish) struct str recorded = STR_INIT(1 << 20);
	CLEANUP(str_finish) struct str changed = STR_INIT(64 << 20);
	struct records r = {0};
	struct journal_summary summary;
	struct fault f = {0};
	record(&recorded);
	cut(&recorded, &r);
	ENSURE(r.count > 4);
	for (size_t i = 0; i + EDIT <= size && i < (size_t)EDIT * EDITS_MAX; i += EDIT) {
		edit(&r, data + i);
	}
	sign(&r, &changed);
	struct view all = {str_text(&changed), changed.len};
	int result = journal_replay(all, VERSION, &summary, &f);
	ENSURE(result == 0 || f.kind == FAULT_INVALID || f.kind == FAULT_LIMIT);
	ENSURE(size >= EDIT || (result == 0 && !summary.diverged && summary.steps > 0));
	for (size_t i = 0; i < r.count; i++) {
		str_finish(&r.items[i]);
	}
	VEC_FINISH(&r);
	return 0;
}
