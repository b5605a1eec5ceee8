/* Reading what a person asks for. One door for each value, the strict parsers of model/quantity. */
#include "size/ask.h"

#include "model/quantity.h"

struct ask_key {
	const char *key;
	const char *default_key;
	const char *expected;
	int (*parse)(struct view text, int64_t *ret_value, struct fault *ret_fault);
};

static const struct ask_key key_fraction = {NOTE_GPU_FRACTION, NOTE_DEFAULT "gpu-fraction",
	"a share from 0.001 to 1, for example \"0.25\"", share_parse};
static const struct ask_key key_memory = {NOTE_GPU_MEMORY, NOTE_DEFAULT "gpu-memory",
	"an amount of at least 1Mi, for example \"8Gi\"", memory_parse};
static const struct ask_key key_count = {NOTE_GPU_COUNT, NOTE_DEFAULT "gpu-count",
	"the number of GPUs in plain digits, for example \"2\"", count_parse};

enum ask_origin { ORIGIN_NONE, ORIGIN_POD, ORIGIN_NAMESPACE };

static enum ask_origin read_ask_value(struct ask *a, const struct ask_key *k, const struct pod *pod,
	const struct namespace *ns, int64_t *value)
{
	const char *key = k->key;
	const char *text = pairs_get(&pod->notes, key);
	enum ask_origin origin = ORIGIN_POD;
	if (text == NULL && ns != NULL) {
		key = k->default_key;
		text = pairs_get(&ns->notes, key);
		origin = ORIGIN_NAMESPACE;
	}
	if (text == NULL) {
		return ORIGIN_NONE;
	}
	if (k->parse(view_of(text), value, NULL) < 0) {
		a->bad[a->bad_count++] = (struct bad_note){key, text, k->expected};
	}
	return origin;
}

struct ask ask_read(const struct pod *pod, const struct namespace *ns)
{
	struct ask a = {0};
	enum ask_origin fraction = read_ask_value(&a, &key_fraction, pod, ns, &a.milli);
	enum ask_origin memory = read_ask_value(&a, &key_memory, pod, ns, &a.mem_mib);
	a.is_own = fraction == ORIGIN_POD || memory == ORIGIN_POD;
	a.is_inherited = fraction == ORIGIN_NAMESPACE || memory == ORIGIN_NAMESPACE;
	/* A count alone asks for no share: it is read, and judged, only beside one. */
	if (a.is_own || a.is_inherited) {
		(void)read_ask_value(&a, &key_count, pod, ns, &a.count);
	}
	return a;
}
