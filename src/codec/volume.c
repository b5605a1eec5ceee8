/* PersistentVolumeClaims, PersistentVolumes and StorageClasses, as kube-scheduler's VolumeBinding
 * and VolumeZone read them. */
#include "codec/volume.h"

#include "base/str.h"
#include "codec/parts.h"

#define BOUND_NOTE    "pv.kubernetes.io/bind-completed"
#define SELECTED_NOTE "volume.kubernetes.io/selected-node"
#define CLASS_NOTE    "volume.beta.kubernetes.io/storage-class"
/* As with the rules of a pod: more than people write, and few enough to be walked for every node.
 */
#define TERMS_MAX  256
#define VALUES_MAX 256

struct claim_facts {
	const char *volume, *class, *phase;
	const char *bound, *selected; /* annotations */
	int64_t deleted_ms;
};

static const struct field claim_fields[] = {
	FIELD("metadata.deletionTimestamp", time, AT(claim_facts, deleted_ms)),
	FIELD("metadata.annotations/" CLASS_NOTE, note, AT(claim_facts, class)),
	FIELD("metadata.annotations/" BOUND_NOTE, note, AT(claim_facts, bound)),
	FIELD("metadata.annotations/" SELECTED_NOTE, note, AT(claim_facts, selected)),
	FIELD("spec.volumeName", text, AT(claim_facts, volume)),
	FIELD("spec.storageClassName", text, AT(claim_facts, class)),
	FIELD("status.phase", text, AT(claim_facts, phase)),
};
static const struct shape claim_shape = {
	SHAPE(claim_facts, claim_fields), .called = "PersistentVolumeClaim"};

/* The node that the scheduler chose for the pod that came first. */
static void select_node(const char *node, struct arena *arena, struct volume_claim *claim)
{
	struct term *name = ARENA_NEW(arena, struct term);
	*name = (struct term){.key = "metadata.name",
		.operator= TERM_IN,
		.values = ARENA_ARRAY(arena, const char *, 1),
		.value_count = 1};
	name->values[0] = node;
	claim->terms = ARENA_NEW(arena, struct node_term);
	claim->terms->fields = (struct terms){name, 1};
	claim->term_count = 1;
}

static void judge_claim(const struct claim_facts *f, struct arena *arena, struct volume_reading *r)
{
	r->claim.state = CLAIM_UNBOUND;
	if (f->deleted_ms != 0) {
		r->claim.state = CLAIM_LEAVING;
	} else if (text_equals(f->phase, "Lost")) {
		r->claim.state = CLAIM_LOST;
	} else if (!text_empty(f->volume) && !parts_is_name(f->volume)) {
		/* Nobody checks it, and no volume has such a name. */
		r->claim.state = CLAIM_LOST;
	} else if (!text_empty(f->volume) && f->bound != NULL) {
		r->claim.state = CLAIM_UNREAD;
		r->next = VOLUME_READ_VOLUME;
		r->name = f->volume;
	} else if (text_empty(f->volume) && parts_is_name(f->class)) {
		r->claim.state = CLAIM_UNREAD;
		r->next = VOLUME_READ_CLASS;
		r->name = f->class;
		/* Who may annotate the claim may write anything; a node that no node is
		 * called is none. */
		if (parts_is_name(f->selected)) {
			select_node(f->selected, arena, &r->claim);
		}
	}
}

int volume_claim_decode(const char *json, size_t n, struct arena *arena,
	struct volume_reading *ret_reading, struct fault *ret_fault)
{
	struct claim_facts f;
	struct volume_reading r = {
		.claim = {.ns = ret_reading->claim.ns, .name = ret_reading->claim.name}};
	if (fields_decode((struct view){json, n}, &claim_shape, arena, &f, ret_fault) < 0) {
		return -1;
	}
	judge_claim(&f, arena, &r);
	*ret_reading = r;
	return 0;
}

/* --- PersistentVolumes --- */

static const char *const zone_labels[] = {"topology.kubernetes.io/zone",
	"topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone",
	"failure-domain.beta.kubernetes.io/region"};

/* A volume in several zones has them in one label, as "a__b". */
static int read_zone(const char *key, const char *value, struct arena *arena, struct terms *zones)
{
	const char *rest = value;
	struct term *t = &zones->items[zones->count];
	*t = (struct term){.key = arena_strdup(arena, key), .operator= TERM_IN };
	t->values = ARENA_ARRAY(arena, const char *, VALUES_MAX);
	while (rest != NULL) {
		const char *cut = strstr(rest, "__");
		size_t n = cut != NULL ? (size_t)(cut - rest) : strlen(rest);
		if (t->value_count == VALUES_MAX) {
			return -1;
		}
		t->values[t->value_count++] = arena_strndup(arena, rest, n);
		rest = cut != NULL ? cut + 2 : NULL;
	}
	zones->count++;
	return 0;
}

static int read_zones(
	const json_t *root, struct arena *arena, struct terms *zones, struct fault *ret_fault)
{
	const json_t *labels = NULL;
	const char *key;
	json_t *value;
	if (decode_object(root, "metadata.labels", &labels, ret_fault) < 0) {
		return -1;
	}
	zones->items = ARENA_ARRAY(arena, struct term, COUNT_OF(zone_labels));
	json_object_foreach((json_t *)(uintptr_t)labels, key, value)
	{
		if (texts_have(zone_labels, COUNT_OF(zone_labels), key) && json_is_string(value) &&
			read_zone(key, json_string_value(value), arena, zones) < 0) {
			return fault_set(ret_fault, FAULT_LIMIT, "%s: too many zones", key);
		}
	}
	return 0;
}

/* Of values that are longer than any that a label has, too many. */
static size_t count_texts(const json_t *values)
{
	size_t count = json_array_size(values);
	for (size_t i = 0; i < json_array_size(values); i++) {
		bool fits = json_string_length(json_array_get(values, i)) <= PARTS_NAME_MAX;
		count += fits ? 0 : VALUES_MAX + TERMS_MAX;
	}
	return count;
}

static size_t count_values(const json_t *terms, const char *expressions)
{
	size_t count = 0;
	for (size_t i = 0; i < json_array_size(terms); i++) {
		const json_t *list = json_object_get(json_array_get(terms, i), expressions);
		count += json_array_size(list);
		for (size_t j = 0; j < json_array_size(list); j++) {
			count += count_texts(json_object_get(json_array_get(list, j), "values"));
		}
	}
	return count;
}

int volume_decode(const char *json, size_t n, struct arena *arena, struct volume_claim *claim,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const json_t *terms = NULL;
	struct field_items found;
	struct volume_claim c = *claim;
	if (decode_parse(json, n, DECODE_PLAIN, &root, ret_fault) < 0 ||
		decode_array(root, "spec.nodeAffinity.required.nodeSelectorTerms", &terms,
			ret_fault) < 0) {
		return fault_wrap(ret_fault, "PersistentVolume");
	}
	if (json_array_size(terms) > TERMS_MAX ||
		count_values(terms, "matchExpressions") > TERMS_MAX + VALUES_MAX) {
		return fault_set(ret_fault, FAULT_LIMIT, "PersistentVolume: too many terms");
	}
	if (fields_read_list(terms, &parts_node_term_shape, arena, &found, ret_fault) < 0 ||
		read_zones(root, arena, &c.zones, ret_fault) < 0) {
		return fault_wrap(ret_fault, "PersistentVolume");
	}
	c.terms = found.items;
	c.term_count = found.count;
	c.state = CLAIM_BOUND;
	*claim = c;
	return 0;
}

/* --- StorageClasses --- */

static const struct field topology_term_fields[] = {
	FIELD("key", text, AT(term, key)),
	FIELD("values", texts, AT(term, values), COUNT_AT(term, value_count)),
};
static const struct shape topology_term_shape = {SHAPE(term, topology_term_fields),
	.defaults = &(const struct term){.key = "", .operator= TERM_IN } };

static const struct field topology_fields[] = {
	FIELD("matchLabelExpressions", rows, AT(node_term, labels.items),
		COUNT_AT(node_term, labels.count), .inside = &topology_term_shape),
};
static const struct shape topology_shape = {SHAPE(node_term, topology_fields)};

static int read_topologies(const json_t *array, struct arena *arena, struct volume_claim *claim,
	struct fault *ret_fault)
{
	struct field_items found;
	if (json_array_size(array) > TERMS_MAX ||
		count_values(array, "matchLabelExpressions") > TERMS_MAX + VALUES_MAX) {
		return fault_set(ret_fault, FAULT_LIMIT, "too many topologies");
	}
	if (fields_read_list(array, &topology_shape, arena, &found, ret_fault) < 0) {
		return fault_wrap(ret_fault, "allowedTopologies");
	}
	claim->terms = found.items;
	claim->term_count = found.count;
	return 0;
}

int volume_class_decode(const char *json, size_t n, struct arena *arena, struct volume_claim *claim,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const json_t *topologies = NULL;
	const char *mode = NULL;
	struct volume_claim c = *claim;
	if (decode_parse(json, n, DECODE_PLAIN, &root, ret_fault) < 0 ||
		decode_text(root, "volumeBindingMode", &mode, ret_fault) < 0 ||
		decode_array(root, "allowedTopologies", &topologies, ret_fault) < 0) {
		return fault_wrap(ret_fault, "StorageClass");
	}
	c.state = text_equals(mode, "WaitForFirstConsumer") ? CLAIM_WAITS : CLAIM_UNBOUND;
	if (c.state == CLAIM_WAITS && c.term_count == 0 && json_array_size(topologies) > 0 &&
		read_topologies(topologies, arena, &c, ret_fault) < 0) {
		return fault_wrap(ret_fault, "StorageClass");
	}
	*claim = c;
	return 0;
}
