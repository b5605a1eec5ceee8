/* The key of a workload and the name of its recommendation. */
#include "model/workload.h"

#include "base/map.h"
#include "base/sha256.h"
#include "base/str.h"

#define NAME_HEAD 54

static const char *const type_names[WORKLOAD_TYPES] = {
	[WORKLOAD_INFERENCE_REAL_TIME] = "InferenceRealTime",
	[WORKLOAD_INFERENCE_NEAR_REAL_TIME] = "InferenceNearRealTime",
	[WORKLOAD_BATCH] = "Batch",
	[WORKLOAD_TRAINING] = "Training",
	[WORKLOAD_BUILD] = "Build",
	[WORKLOAD_NOTEBOOK] = "Notebook",
};

const char *workload_type_name(enum workload_type type)
{
	return type_names[type];
}

bool workload_type_parse(const char *text, enum workload_type *ret_type)
{
	size_t i = texts_find(type_names, WORKLOAD_TYPES, text);
	if (text == NULL || i == WORKLOAD_TYPES) {
		return false;
	}
	*ret_type = (enum workload_type)i;
	return true;
}

bool workload_key_equals(const struct workload_key *a, const struct workload_key *b)
{
	return text_equals(a->name, b->name) && text_equals(a->kind, b->kind) &&
	       text_equals(a->group, b->group) && text_equals(a->ns, b->ns);
}

/* The NULs that end the texts are hashed too, so that none runs into the next. */
static uint64_t hash_on(uint64_t hash, const char *text)
{
	return hash_bytes(text, strlen(text) + 1, hash);
}

uint64_t workload_key_hash(const struct workload_key *key)
{
	return hash_on(hash_on(hash_on(hash_text(key->ns), key->group), key->kind), key->name);
}

/* The API groups in which a kind of a name that others use too is the one that people mean. */
static bool group_is_plain(const char *group)
{
	static const char *const plain[] = {"", "apps", "batch", "argoproj.io", "kubeflow.org",
		"ray.io", "serving.knative.dev", "leaderworkerset.x-k8s.io", "jobset.x-k8s.io",
		"trainer.kubeflow.org", "apps.openshift.io", "aliquot.dev"};
	return texts_have(plain, COUNT_OF(plain), group);
}

/* Appends in lower case; false if something had to be replaced. */
static bool append_lower(struct str *out, const char *text)
{
	bool kept = true;
	for (; *text != '\0'; text++) {
		char c = *text;
		bool upper = c >= 'A' && c <= 'Z';
		bool plain =
			(c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
		kept = kept && plain;
		(void)str_append_char(out, upper ? (char)(c - 'A' + 'a') : plain ? c : '-');
	}
	return kept;
}

static bool is_alphanumeric(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Every dot stands between letters or digits, and the end is one of them. */
static bool is_object_name(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool inner = i > 0 && i + 1 < n;
		if (!is_alphanumeric(name[i]) && !inner) {
			return false;
		}
		if (name[i] == '.' &&
			(!is_alphanumeric(name[i - 1]) || !is_alphanumeric(name[i + 1]))) {
			return false;
		}
	}
	return n > 0;
}

const char *workload_object_name(const struct workload_key *key, struct arena *a)
{
	CLEANUP(str_finish) struct str name = STR_INIT(64 * 1024);
	CLEANUP(str_finish) struct str whole = STR_INIT(64 * 1024);
	uint8_t digest[SHA256_BYTES];
	(void)append_lower(&name, key->kind);
	(void)str_append_char(&name, '-');
	bool kept = append_lower(&name, key->name);
	if (kept && name.len <= WORKLOAD_OBJECT_NAME_MAX && group_is_plain(key->group) &&
		is_object_name(str_text(&name), name.len)) {
		return arena_strdup(a, str_text(&name));
	}
	(void)str_append_format(&whole, "%s/%s/%s", key->group, key->kind, key->name);
	sha256(str_text(&whole), whole.len, digest);
	/* What stands before the dash is cut back until a dash may follow it. */
	size_t head = name.len < NAME_HEAD ? name.len : NAME_HEAD;
	for (size_t i = 0; i < head; i++) {
		name.p[i] = name.p[i] == '.' ? '-' : name.p[i];
	}
	while (head > 0 && !is_alphanumeric(name.p[head - 1])) {
		head--;
	}
	return arena_printf(a, "%.*s-%02x%02x%02x%02x", (int)head, str_text(&name), digest[0],
		digest[1], digest[2], digest[3]);
}
