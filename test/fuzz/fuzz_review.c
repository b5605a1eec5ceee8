/* The admission route: whatever bytes come, the answer is a review that allows the pod, and a patch
 * in it applies, names only what is ours to write, and is none the second time. The first byte
 * chooses what the cluster looks like. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/log.h"
#include "pods/review.h"
#include "hook/hook.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct cluster {
	struct namespace ns;
	struct policy policy;
	const struct policy *list[1];
	bool unknown, limits, timesliced;
	enum reason cannot;
};

static void say_place(void *data, struct admit_input *in)
{
	struct cluster *c = data;
	c->ns.name = NAME_NAMESPACE;
	in->ns = in->home = c->unknown ? NULL : &c->ns;
	in->policies = (struct policy_set){c->list, c->policy.name != NULL ? 1 : 0};
	in->limits_gpus = c->limits;
	in->zero_quota = c->limits ? in->pod->ns : NULL;
}

static const struct groups *get_groups(void *data)
{
	(void)data;
	return NULL;
}

/* Something is recommended for every other workload. */
static const struct advised *get_advice(void *data, const struct workload_key *workload)
{
	static const struct advised_container containers[] = {{"main", {300, 7168}}};
	static const struct advised advised = {.name = "fuzz",
		.revision = 3,
		.ready = true,
		.containers = containers,
		.container_count = 1};
	(void)data;
	return workload_key_hash(workload) % 2 == 0 ? &advised : NULL;
}

static bool unshared(
	void *data, const struct pod *pod, const struct pairs *class, struct unfit_tally *ret_tally)
{
	const struct cluster *c = data;
	(void)pod;
	(void)class;
	*ret_tally = (struct unfit_tally){0};
	if (c->timesliced) {
		unfit_add(ret_tally, UNFIT_SHARED, NULL);
	}
	return c->timesliced;
}

static enum reason may_convert(void *data, const char *ns)
{
	const struct cluster *c = data;
	(void)ns;
	return c->cannot;
}

static struct hook *hook_of(struct cluster *c, unsigned how, struct metric_registry *metrics)
{
	*c = (struct cluster){.unknown = (how & 0x10) != 0, .limits = (how & 0x20) != 0};
	c->timesliced = (how & 0x80) != 0;
	c->cannot = how & 0x40 ? REASON_BACKLOG : REASON_NONE;
	c->list[0] = &c->policy;
	c->policy = (struct policy){.name = how & 2 ? "fuzz" : NULL,
		.uid = "p",
		.has_selector = true,
		.mode = how & 8 ? MODE_DISABLED : MODE_AUTOMATE,
		.isolation = how & 4 ? ISOLATION_MPS : ISOLATION_NONE,
		.sizing.min_percent = 10,
		.sizing.max_percent = 90,
		.max_tenants = 8};
	struct hook_config config = {.view = {.data = c,
					     .place_of = say_place,
					     .groups = get_groups,
					     .recommendation = get_advice,
					     .unshared = unshared,
					     .may_convert = may_convert},
		.metrics = metrics,
		.runtime_class = how & 1 ? "nvidia" : NULL};
	return hook_create(&config);
}

static void release(json_t **value)
{
	json_decref(*value);
}

/* --- the patch, as the API server applies it --- */

/* One token of a JSON pointer, unescaped; owned by the caller. */
static char *take_token(const char **at)
{
	size_t n = strcspn(*at + 1, "/"), length = 0;
	char *token = xstrndup(*at + 1, n);
	for (size_t i = 0; i < n; i++) {
		bool escaped = token[i] == '~';
		ENSURE(!escaped || token[i + 1] == '0' || token[i + 1] == '1');
		i += escaped ? 1 : 0;
		token[length++] = !escaped ? token[i] : token[i] == '0' ? '~' : '/';
	}
	token[length] = '\0';
	*at += n + 1;
	return token;
}

static size_t index_of(const char *token, size_t most)
{
	int64_t i = 0;
	ENSURE(parse_i64(view_of(token), 0, (int64_t)most, &i));
	return (size_t)i;
}

static void patch_member(json_t *parent, const char *key, const char *op, json_t *value)
{
	size_t size = json_array_size(parent);
	if (json_is_object(parent)) {
		ENSURE(text_equals(op, "add") || json_object_get(parent, key) != NULL);
		ENSURE((text_equals(op, "remove") ? json_object_del(parent, key)
						  : json_object_set(parent, key, value)) == 0);
		return;
	}
	ENSURE(json_is_array(parent));
	if (text_equals(op, "add")) {
		ENSURE(json_array_insert(parent, index_of(key, size), value) == 0);
		return;
	}
	ENSURE(size > 0);
	size_t i = index_of(key, size - 1);
	ENSURE((text_equals(op, "remove") ? json_array_remove(parent, i)
					  : json_array_set(parent, i, value)) == 0);
}

static void patch_one(json_t *pod, const json_t *operation)
{
	const char *op = json_string_value(json_object_get(operation, "op"));
	const char *at = json_string_value(json_object_get(operation, "path"));
	json_t *parent = pod;
	ENSURE(text_equals(op, "add") || text_equals(op, "remove") || text_equals(op, "replace"));
	ENSURE(at != NULL && at[0] == '/');
	for (;;) {
		CLEANUP(cleanup_free) char *token = take_token(&at);
		if (*at == '\0') {
			patch_member(parent, token, op, json_object_get(operation, "value"));
			return;
		}
		parent = json_is_array(parent)
				 ? json_array_get(parent, index_of(token, json_array_size(parent)))
				 : json_object_get(parent, token);
		ENSURE(parent != NULL);
	}
}

/* --- one review --- */

/* What the answer says, as far as it is always so. False: it is not about a review. */
static bool answer(struct hook *h, const char *body, size_t size, json_t **ret_response)
{
	CLEANUP(str_finish) struct str out = STR_INIT((size_t)64 << 20);
	int status = hook_admit(h, body, size, &out);
	ENSURE(status == 200 || status == 400 || status == 413);
	if (status != 200) {
		ENSURE(out.len > 0);
		return false;
	}
	CLEANUP(release) json_t *root = json_loadb(str_text(&out), out.len, 0, NULL);
	json_t *response = json_object_get(root, "response");
	ENSURE(response != NULL);
	ENSURE(json_is_true(json_object_get(response, "allowed")));
	ENSURE(json_is_string(json_object_get(response, "uid")));
	ENSURE((json_object_get(response, "patch") != NULL) ==
		(json_object_get(response, "patchType") != NULL));
	*ret_response = json_incref(response);
	return true;
}

/* The operations of the patch; NULL where there is none. */
static json_t *patch_of(const json_t *response)
{
	CLEANUP(str_finish) struct str text = STR_INIT((size_t)64 << 20);
	const char *patch = json_string_value(json_object_get(response, "patch"));
	if (patch == NULL) {
		return NULL;
	}
	ENSURE(base64_decode(view_of(patch), &text));
	json_t *operations = json_loadb(str_text(&text), text.len, 0, NULL);
	ENSURE(json_array_size(operations) > 0);
	return operations;
}

static void check_review(struct hook *h, const char *body, size_t size)
{
	CLEANUP(release) json_t *response = NULL;
	CLEANUP(release) json_t *again = NULL;
	if (!answer(h, body, size, &response)) {
		return;
	}
	CLEANUP(release) json_t *operations = patch_of(response);
	if (operations == NULL) {
		return;
	}
	CLEANUP(release) json_t *review = json_loadb(body, size, 0, NULL);
	if (review == NULL) {
		/* What nobody reads is cut away unread, so it need not even be JSON. */
		return;
	}
	json_t *pod = json_object_get(json_object_get(review, "request"), "object");
	ENSURE(json_is_object(pod));
	for (size_t i = 0; i < json_array_size(operations); i++) {
		patch_one(pod, json_array_get(operations, i));
	}
	CLEANUP(cleanup_free) char *text = json_dumps(review, JSON_COMPACT);
	if (text == NULL || strlen(text) > REVIEW_BODY_MAX) {
		return;
	}
	ENSURE(answer(h, text, strlen(text), &again));
	ENSURE(json_object_get(again, "patch") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cluster c;
	if (size == 0) {
		return 0;
	}
	log_setup(LOG_ERROR, 2);
	struct metric_registry *metrics = metric_registry_create();
	struct hook *h = hook_of(&c, data[0], metrics);
	check_review(h, (const char *)data + 1, size - 1);
	hook_destroy(h);
	metric_registry_destroy(metrics);
	return 0;
}
