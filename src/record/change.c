/* Which parts a change has as bytes, by its type and kind. */
#include "record/change.h"

#include "record/tables.h"

/* The first rows are of every change; then one for each kind of noun; then those of other types. */
enum {
	HEAD_ROWS = 9,
	NOUN_ROWS = HEAD_ROWS,
	SHARE_ROWS = NOUN_ROWS + KIND_ENGINE,
	AVOID_GPU_ROW = SHARE_ROWS + 2,
	RUNTIME_ROW,
	HEARD_ROW,
};

static const struct record_row change_rows[] = {
	ENUM(struct change, type, CHANGE_RUNTIME + 1),
	ENUM(struct change, kind, KIND_ENGINE),
	MEMBER(struct change, leads),
	MEMBER(struct change, no_sweep),
	MEMBER(struct change, reached),
	MEMBER(struct change, unsure),
	MEMBER(struct change, ns),
	MEMBER(struct change, name),
	MEMBER(struct change, uid),
	[NOUN_ROWS + KIND_POD] = HELD(struct change, pod, pod_table),
	[NOUN_ROWS + KIND_NODE] = HELD(struct change, node, node_table),
	[NOUN_ROWS + KIND_POLICY] = HELD(struct change, policy, policy_table),
	[NOUN_ROWS + KIND_NAMESPACE] = HELD(struct change, namespace, namespace_table),
	[NOUN_ROWS + KIND_LIMIT_RANGE] = HELD(struct change, limit_range, limit_range_table),
	[NOUN_ROWS + KIND_QUOTA] = HELD(struct change, quota, quota_table),
	[NOUN_ROWS + KIND_SLICE] = HELD(struct change, slice, gpu_slice_table),
	[NOUN_ROWS + KIND_CLAIM] = HELD(struct change, claim, volume_claim_table),
	[NOUN_ROWS + KIND_STATE] = HELD(struct change, state, node_state_table),
	[SHARE_ROWS] = MEMBER(struct change, milli),
	MEMBER(struct change, mem_mib),
	[AVOID_GPU_ROW] = MEMBER(struct change, for_ms),
	[RUNTIME_ROW] = POINTER(struct change, runtime, runtime_class_table),
	[HEARD_ROW] = HELD(struct change, heard, heard_table),
	/* kinds that the engine is not told of */
	ASIDE(struct change, recommendation),
	ASIDE(struct change, group),
	ASIDE(struct change, scaler),
	ASIDE(struct change, budget),
	ASIDE(struct change, pod_group),
};
const struct record_table change_table = RECORD_TABLE(struct change, change_rows);

static struct record_table rows_of(uint32_t first, uint32_t count)
{
	return (struct record_table){
		change_table.name, &change_rows[first], count, sizeof(struct change)};
}

/* What stands behind the head. */
static struct record_table change_rest(const struct change *c)
{
	static const struct {
		uint32_t first, count;
	} rests[CHANGE_RUNTIME + 1] = {
		[CHANGE_SHARE] = {SHARE_ROWS, 2},
		[CHANGE_AVOID_GPU] = {AVOID_GPU_ROW, 1},
		[CHANGE_RUNTIME] = {RUNTIME_ROW, 1},
		[CHANGE_HEARD] = {HEARD_ROW, 1},
	};
	if (c->type == CHANGE_SET) {
		ENSURE(c->kind < KIND_ENGINE);
		return rows_of(NOUN_ROWS + c->kind, 1);
	}
	return rows_of(rests[c->type].first, rests[c->type].count);
}

void change_pack(struct str *out, const struct change *c)
{
	const struct record_table head = rows_of(0, HEAD_ROWS), rest = change_rest(c);
	struct change told = *c;
	struct node_state state;
	if (c->type == CHANGE_SET && c->kind == KIND_STATE && c->state->again) {
		/* What is as it was told before is left out. */
		state = *c->state;
		state.device_count = state.pod_count = state.use_count = 0;
		told.state = &state;
	}
	record_pack(out, &head, &told);
	record_pack(out, &rest, &told);
}

bool change_unpack(struct unpack *u, struct change *ret)
{
	const struct record_table head = rows_of(0, HEAD_ROWS);
	struct change c = {0};
	if (!record_unpack(u, &head, &c)) {
		return false;
	}
	const struct record_table rest = change_rest(&c);
	if (!record_unpack(u, &rest, &c)) {
		return false;
	}
	*ret = c;
	return true;
}

/* The world keeps names of pods with a 16-bit length. */
static bool name_fits(const char *name)
{
	return name == NULL || strlen(name) < UINT16_MAX;
}

bool change_fits(const struct change *c)
{
	const struct record_table rest = change_rest(c);
	return c->type != CHANGE_SET || ((c->kind != KIND_POD || name_fits(c->pod->name)) &&
						record_size(&rest, c) <= CHANGE_BYTES_MAX);
}

bool change_is_sound(const struct change *c)
{
	static const bool namespaced[KIND_ENGINE] = {[KIND_POD] = true,
		[KIND_LIMIT_RANGE] = true,
		[KIND_QUOTA] = true,
		[KIND_CLAIM] = true};
	const char *ns = c->ns, *name = c->name;
	if (c->type == CHANGE_SET && c->kind == KIND_POD) {
		ns = c->pod->ns;
		name = c->pod->name;
	} else if (c->type != CHANGE_GONE && (c->type != CHANGE_KEEP || name == NULL)) {
		/* It names nobody, or the noun does, by its table. */
		return true;
	}
	return name != NULL && name_fits(name) && (ns != NULL || !namespaced[c->kind]);
}
