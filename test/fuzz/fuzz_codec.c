/* The codecs: no bytes crash a decoder, leak, or leave a half-filled noun; what was written is read
 * back as it was. The first byte chooses the target. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "codec/objects.h"
#include "own/capacity_text.h"
#include "own/checkpoint.h"
#include "codec/discovery.h"
#include "own/gpuworkloadgroup.h"
#include "own/heard.h"
#include "own/injection_text.h"
#include "codec/lease.h"
#include "codec/meta.h"
#include "pods/node_pod.h"
#include "pods/pod_decode.h"
#include "own/gpupolicy.h"
#include "own/gpurecommendation.h"
#include "pods/rollout_status.h"
#include "own/state.h"
#include "codec/status.h"
#include "pods/surge_objects.h"
#include "codec/volume.h"
#include "json/decode.h"
#include "json/yaml.h"
#include "model/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef void (*target)(const char *text, size_t n, struct arena *arena);

static void fuzz_pod(const char *text, size_t n, struct arena *arena)
{
	struct pod pod;
	struct fault f = {0};
	if (pod_decode(text, n, arena, &pod, &f) < 0) {
		ENSURE(f.kind == FAULT_INVALID || f.kind == FAULT_LIMIT);
		return;
	}
	ENSURE(pod.cpu_milli >= 0 && pod.mem_bytes >= 0 && pod.gpus >= 0);
	ENSURE(pod.ns != NULL && pod.name != NULL && pod.uid != NULL);
}

static void fuzz_node_pod(const char *text, size_t n, struct arena *arena)
{
	struct node_pod pod;
	struct fault f = {0};
	if (node_pod_decode(text, n, arena, &pod, &f) < 0) {
		ENSURE(f.kind == FAULT_INVALID || f.kind == FAULT_LIMIT);
		return;
	}
	ENSURE(pod.ns != NULL && pod.name != NULL && pod.uid != NULL && pod.gpus >= 0);
	ENSURE(pod.milli >= 0 && pod.milli <= MODEL_GPU_MILLI && pod.mem_mib >= 0);
	ENSURE(pod.container_count <= NODE_CONTAINERS_MAX);
	ENSURE(pod.uuid_count <= MODEL_GPU_COUNT_MAX);
	ENSURE(pod.uuid_count == 0 || pod.tenant || pod.capacity);
}

static void fuzz_admission(const char *text, size_t n, struct arena *arena)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct pod pod;
	if (decode_parse(text, n, DECODE_UNIQUE, &root, NULL) == 0) {
		(void)!pod_review(root, arena, &pod, NULL);
	}
}

static void fuzz_node(const char *text, size_t n, struct arena *arena)
{
	struct node node;
	struct fault f = {0};
	if (fields_decode((struct view){text, n}, &node_shape, arena, &node, &f) == 0) {
		ENSURE(node.gpus >= 0 && node.cpu_milli >= 0 && node.name != NULL);
	}
}

static void fuzz_policy(const char *text, size_t n, struct arena *arena)
{
	struct policy p;
	struct fault f = {0};
	if (fields_decode((struct view){text, n}, &policy_shape, arena, &p, &f) == 0) {
		ENSURE(p.sizing.min_percent >= 1 && p.sizing.min_percent <= p.sizing.max_percent &&
			p.max_tenants >= 1);
	}
}

static void fuzz_namespace(const char *text, size_t n, struct arena *arena)
{
	struct namespace ns;
	struct limit_range range;
	struct quota quota;
	struct meta meta;
	(void)!fields_decode((struct view){text, n}, &namespace_shape, arena, &ns, NULL);
	(void)!fields_decode((struct view){text, n}, &limit_range_shape, arena, &range, NULL);
	(void)!fields_decode((struct view){text, n}, &quota_shape, arena, &quota, NULL);
	(void)!meta_decode(text, n, arena, &meta, NULL);
}

static void fuzz_volume(const char *text, size_t n, struct arena *arena)
{
	struct volume_claim c = {.ns = "n", .name = "c"};
	struct volume_reading r = {.claim = c};
	if (volume_claim_decode(text, n, arena, &r, NULL) == 0) {
		ENSURE((r.next == VOLUME_DONE) == (r.name == NULL));
		ENSURE((r.next == VOLUME_DONE) == (r.claim.state != CLAIM_UNREAD));
	}
	if (volume_decode(text, n, arena, &c, NULL) == 0) {
		ENSURE(c.state == CLAIM_BOUND && c.zones.count <= 4);
	}
	if (volume_class_decode(text, n, arena, &c, NULL) == 0) {
		ENSURE(c.state == CLAIM_WAITS || c.state == CLAIM_UNBOUND);
	}
}

/* What is taken is whole, and is told again as it was. */
static void fuzz_state(const char *text, size_t n, struct arena *arena)
{
	struct node_state s, again;
	struct fault f = {0};
	struct str out = STR_INIT(4 << 20);
	if (state_decode(text, n, arena, &s, &f) < 0) {
		ENSURE(f.kind == FAULT_INVALID || f.kind == FAULT_LIMIT);
		return;
	}
	ENSURE(s.sequence >= 1 && s.seen_ms <= 0 && s.seen_ms >= -STATE_AGE_MAX_MS);
	ENSURE(s.device_count <= STATE_DEVICES_MAX && s.pod_count <= STATE_PODS_MAX);
	ENSURE(state_write(&out, &s, 0));
	if (out.len <= STATE_BYTES_MAX) {
		ENSURE(state_decode(out.p, out.len, arena, &again, NULL) == 0);
		ENSURE(again.device_count == s.device_count && again.pod_count == s.pod_count);
		for (uint32_t i = 0; i < s.device_count; i++) {
			ENSURE((again.devices[i].why == NULL) == (s.devices[i].why == NULL));
		}
	}
	str_finish(&out);
}

static void fuzz_ledger(const char *text, size_t n, struct arena *arena)
{
	struct ledger l, again;
	struct str out = STR_INIT(LEDGER_TEXT_MAX * 8);
	(void)n;
	if (ledger_decode(text, arena, &l, NULL) < 0) {
		return;
	}
	ENSURE(ledger_write(&out, &l, NULL));
	/* Escapes may make it longer than what is accepted. */
	if (out.len <= LEDGER_TEXT_MAX) {
		ENSURE(ledger_decode(out.p, arena, &again, NULL) == 0 && again.count == l.count);
		for (uint32_t i = 0; i < l.count; i++) {
			ENSURE(strcmp(l.items[i].uid, again.items[i].uid) == 0);
			ENSURE(l.items[i].milli == again.items[i].milli);
		}
	}
	str_finish(&out);
}

static void fuzz_identity(const char *text, size_t n, struct arena *arena)
{
	struct gpu_identity id, again;
	struct str out = STR_INIT(IDENTITY_TEXT_MAX * 8);
	(void)n;
	(void)arena;
	if (identity_decode(text, &id, NULL) < 0) {
		return;
	}
	ENSURE(identity_write(&out, &id));
	ENSURE(identity_decode(out.p, &again, NULL) == 0);
	ENSURE(memcmp(&id, &again, sizeof id) == 0);
	str_finish(&out);
}

static void fuzz_injection(const char *text, size_t n, struct arena *arena)
{
	struct inject_claim c, again;
	struct inject_sight s, seen;
	struct str out = STR_INIT(INJECTION_TEXT_MAX);
	(void)n;
	if (inject_claim_decode(text, arena, &c, NULL) == 0 && inject_claim_write(&out, &c)) {
		ENSURE(inject_claim_decode(out.p, arena, &again, NULL) == 0);
		ENSURE(inject_claim_equals(&c, &again));
	}
	str_reset(&out);
	out.overflow = false;
	if (inject_sight_decode(text, arena, &s, NULL) == 0 && inject_sight_write(&out, &s)) {
		ENSURE(inject_sight_decode(out.p, arena, &seen, NULL) == 0);
		ENSURE(s.devices == seen.devices && strcmp(s.uuid, seen.uuid) == 0);
	}
	str_finish(&out);
}

static void fuzz_status(const char *text, size_t n, struct arena *arena)
{
	struct fault f;
	(void)arena;
	ENSURE(status_decode(text, n, 0, &f) == -1 && f.kind != FAULT_NONE);
	ENSURE(status_decode(text, n, 404, &f) == -1 && f.status == 404);
	ENSURE(f.retry_after_ms >= 0);
}

static void fuzz_lease(const char *text, size_t n, struct arena *arena)
{
	struct lease l;
	struct str out = STR_INIT(1 << 20);
	struct heard heard[HEARD_MAX];
	size_t count = 0;
	struct fault f;
	if (lease_decode(text, n, arena, &l, NULL) == 0) {
		lease_write(&out, &l);
		if (l.heard != NULL && heard_decode(l.heard, arena, heard, &count, &f) == 0) {
			ENSURE(count <= HEARD_MAX);
			str_reset(&out);
			heard_write(&out, heard, count);
			ENSURE(out.len < HEARD_TEXT_MAX);
		}
	}
	str_finish(&out);
}

static void fuzz_yaml(const char *text, size_t n, struct arena *arena)
{
	struct doc d = {0};
	struct fault f = {0};
	(void)arena;
	if (doc_parse(text, n, "fuzz", &d, &f) == 0) {
		doc_fault(&d, d.root, "a", &f, "x");
		doc_finish(&d);
	} else {
		ENSURE(f.kind == FAULT_INVALID || f.kind == FAULT_LIMIT);
	}
}

static void fuzz_quantity(const char *text, size_t n, struct arena *arena)
{
	char buffer[QUANTITY_TEXT_MAX];
	struct view v = {text, n};
	int64_t value = 0, again = 0;
	(void)arena;
	(void)!quantity_milli(v, &value, NULL);
	(void)!quantity_units(v, &value, NULL);
	(void)!count_parse(v, &value, NULL);
	if (share_parse(v, &value, NULL) == 0) {
		ENSURE(value >= 1 && value <= 1000);
		ENSURE(share_parse(view_of(share_format(value, buffer)), &again, NULL) == 0);
		ENSURE(again == value);
	}
	if (memory_parse(v, &value, NULL) == 0) {
		ENSURE(value >= 1);
		ENSURE(memory_parse(view_of(memory_format(value, buffer)), &again, NULL) == 0);
		ENSURE(again == value);
	}
}

/* What the quick reader accepts equals what jansson reads; what neither reads is refused. */
static void fuzz_parse(const char *text, size_t n, struct arena *arena)
{
	CLEANUP(decode_release) json_t *ours = NULL;
	CLEANUP(decode_release) json_t *unique = NULL;
	struct fault f = {0};
	(void)arena;
	int result = decode_parse(text, n, DECODE_PLAIN, &ours, &f);
	if (result < 0 && f.kind == FAULT_LIMIT) {
		return;
	}
	CLEANUP(decode_release) json_t *theirs = json_loadb(text, n, 0, NULL);
	ENSURE((result == 0) == (theirs != NULL));
	if (result == 0) {
		CLEANUP(cleanup_free) char *a = json_dumps(ours, JSON_COMPACT);
		CLEANUP(cleanup_free) char *b = json_dumps(theirs, JSON_COMPACT);
		ENSURE(strcmp(a, b) == 0);
	}
	json_decref(theirs);
	theirs = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
	ENSURE((decode_parse(text, n, DECODE_UNIQUE, &unique, NULL) == 0) == (theirs != NULL));
}

static void fuzz_group(const char *text, size_t n, struct arena *arena)
{
	struct workload_group g;
	struct fault f = {0};
	if (fields_decode((struct view){text, n}, &group_shape, arena, &g, &f) < 0) {
		ENSURE(f.kind == FAULT_INVALID || f.kind == FAULT_LIMIT);
		return;
	}
	ENSURE(g.name != NULL && g.rule_count >= 1 && g.rule_count <= GROUP_RULES_MAX);
}

#define OBJECT                                                                                     \
	"{\"metadata\":{\"name\":\"n\",\"namespace\":\"s\"},\"spec\":{\"targetRef\":{\"kind\":"    \
	"\"k\","                                                                                   \
	"\"name\":\"n\"},\"recommendationName\":\"r\",\"containerName\":\"c\"},\"status\":"

/* What is written of it is read and written as the same again. */
static void fuzz_recommendation(const char *text, size_t n, struct arena *arena)
{
	CLEANUP(str_finish) struct str once = STR_INIT(8 << 20);
	CLEANUP(str_finish) struct str again = STR_INIT(8 << 20);
	struct recommendation r;
	struct recommendation back;
	struct fault f = {0};
	if (fields_decode((struct view){text, n}, &recommendation_shape, arena, &r, &f) < 0) {
		ENSURE(f.kind == FAULT_INVALID || f.kind == FAULT_LIMIT);
		return;
	}
	ENSURE(r.container_count <= RECOMMENDED_CONTAINERS_MAX);
	str_append_text(&once, OBJECT);
	size_t head = once.len;
	struct build b = build_into(&once);
	recommendation_write_status(&b, &r);
	str_append_char(&once, '}');
	ENSURE(!once.overflow);
	ENSURE(fields_decode((struct view){once.p, once.len}, &recommendation_shape, arena, &back,
		       &f) == 0);
	b = build_into(&again);
	recommendation_write_status(&b, &back);
	ENSURE(again.len == once.len - head - 1 && memcmp(again.p, once.p + head, again.len) == 0);
}

static void fuzz_checkpoint(const char *text, size_t n, struct arena *arena)
{
	CLEANUP(str_finish) struct str json = STR_INIT(1 << 20);
	struct checkpoint c;
	struct checkpoint back;
	struct fault f = {0};
	if (checkpoint_decode(text, n, arena, &c, &f) < 0) {
		ENSURE(f.kind == FAULT_INVALID || f.kind == FAULT_LIMIT);
		return;
	}
	ENSURE(c.bytes.n <= CHECKPOINT_BYTES_MAX);
	str_append_text(&json, OBJECT);
	struct build b = build_into(&json);
	checkpoint_write_status(&b, &c);
	str_append_char(&json, '}');
	ENSURE(checkpoint_decode(json.p, json.len, arena, &back, &f) == 0);
	ENSURE(back.bytes.n == c.bytes.n);
	ENSURE(c.bytes.n == 0 || memcmp(back.bytes.p, c.bytes.p, c.bytes.n) == 0);
}

static void fuzz_budget(const char *text, size_t n, struct arena *arena)
{
	struct budget b;
	struct fault f = {0};
	if (fields_decode((struct view){text, n}, &budget_shape, arena, &b, &f) < 0) {
		ENSURE(f.kind == FAULT_INVALID || f.kind == FAULT_LIMIT);
		return;
	}
	ENSURE(b.ns != NULL && b.name != NULL && b.uid != NULL && b.allowed >= 0);
	(void)selector_matches(&b.selector, &b.selector.match_labels);
}

static void check_scaler(const struct scaler *s)
{
	ENSURE(s->name != NULL && s->uid != NULL && s->target.ns != NULL);
	ENSURE(s->target.group != NULL && s->target.kind != NULL && s->target.name != NULL);
	for (uint32_t i = 0; i < s->metric_count; i++) {
		ENSURE(s->metrics[i] != NULL);
	}
}

static void fuzz_scaler(const char *text, size_t n, struct arena *arena)
{
	struct scaler s;
	if (fields_decode((struct view){text, n}, &scaler_shape, arena, &s, NULL) == 0) {
		check_scaler(&s);
	}
	if (fields_decode((struct view){text, n}, &scaled_object_shape, arena, &s, NULL) == 0) {
		check_scaler(&s);
		ENSURE(s.current == 0 && s.desired == 0);
	}
}

static void fuzz_standing(const char *text, size_t n, struct arena *arena)
{
	static const char *const kinds[] = {
		"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Rollout", "Other"};
	struct standing s;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (standing_decode((struct view){text, n}, kinds[i], arena, &s, NULL) == 0) {
			ENSURE(s.exists && s.uid != NULL);
		}
	}
	(void)standing_is_absent((struct view){text, n}, "llm");
}

static void fuzz_discovery(const char *text, size_t n, struct arena *arena)
{
	const struct view json = {text, n};
	const char *found = NULL;
	struct owner o;
	if (discovery_version(json, arena, &found, NULL) == 0) {
		ENSURE(strchr(found, '/') != NULL && strstr(found, "..") != found);
	}
	if (discovery_resource(json, "Gadget", arena, &found, NULL) == 0) {
		ENSURE(*found != '\0' && strchr(found, '/') == NULL && *found != '.');
	}
	if (discovery_controller(json, arena, &o, NULL) == 0 && o.kind != NULL) {
		ENSURE(o.api_version != NULL && o.name != NULL);
	}
}

/* The same bytes as every answer, in the order of a read. */
static void fuzz_surge(const char *text, size_t n, struct arena *arena)
{
	static const struct surge_order order = {
		.set_name = "web-7d", .set_uid = "rs", .hash = "7d", .old_uid = "old"};
	struct surge_look look;
	(void)arena;
	surge_look_init(&look, &order, 1);
	for (enum surge_source s = SURGE_SET; s < SURGE_SOURCES; s++) {
		struct surge_where w = surge_where_of(&look, s);
		if (w.resource == NULL) {
			continue;
		}
		struct fault f = {0};
		if (surge_take(&look, s, text, n, &f) < 0) {
			ENSURE(f.kind != FAULT_NONE);
		}
	}
	ENSURE(look.claim_at <= look.claim_count && look.seen.present >= 0);
	ENSURE(!look.seen.current || look.owner != NULL);
	surge_look_finish(&look);
}

static const target targets[] = {
	fuzz_pod,
	fuzz_admission,
	fuzz_node,
	fuzz_policy,
	fuzz_namespace,
	fuzz_ledger,
	fuzz_identity,
	fuzz_status,
	fuzz_lease,
	fuzz_yaml,
	fuzz_quantity,
	fuzz_parse,
	fuzz_volume,
	fuzz_state,
	fuzz_node_pod,
	fuzz_injection,
	fuzz_group,
	fuzz_recommendation,
	fuzz_checkpoint,
	fuzz_budget,
	fuzz_scaler,
	fuzz_standing,
	fuzz_discovery,
	fuzz_surge,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = {0};
	if (size == 0) {
		return 0;
	}
	/* 'a' is the first, so that corpora are text. */
	size_t chosen = (size_t)(uint8_t)(data[0] - 'a') % COUNT_OF(targets);
	char *text = xstrndup((const char *)data + 1, size - 1);
	targets[chosen](text, size - 1, &arena);
	free(text);
	arena_finish(&arena);
	return 0;
}
