/* The modelled cluster itself: its clock, its patches, its rules, its preconditions. A model that
 * is too kind would let the simulation pass. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cluster/apiserver.h"
#include "json/decode.h"
#include "objects/patch.h"
#include "cluster/rules.h"
#include "sim/watch_stream.h"

static json_t *value(const char *text)
{
	json_t *v = NULL;
	struct fault f;
	cr_assert_eq(decode_parse(text, strlen(text), DECODE_PLAIN, &v, &f), 0, "%s", f.message);
	return v;
}

/* --- agenda --- */

struct seen {
	uint64_t items[8];
	size_t count;
};

static void note(void *data, uint64_t arg)
{
	struct seen *seen = data;
	seen->items[seen->count++] = arg;
}

Test(agenda, runs_by_time_and_then_by_arrival)
{
	struct agenda a = {0};
	struct seen seen = {0};
	agenda_add(&a, 20, note, &seen, 3);
	agenda_add(&a, 10, note, &seen, 1);
	agenda_add(&a, 10, note, &seen, 2);
	agenda_add(&a, 99, note, &seen, 4);
	while (agenda_step(&a, 50)) {
	}
	cr_assert_eq(seen.count, 3);
	for (uint64_t i = 0; i < 3; i++) {
		cr_assert_eq(seen.items[i], i + 1);
	}
	cr_assert_eq(a.now, 20);
	agenda_finish(&a);
}

/* --- patches --- */

static void check_patch(void (*patch)(json_t *, const json_t *), const char *target,
	const char *with, const char *result)
{
	json_t *t = value(target), *w = value(with), *r = value(result);
	patch(t, w);
	cr_assert(json_equal(t, r), "%s with %s", target, with);
	json_decref(t);
	json_decref(w);
	json_decref(r);
}

Test(patch, merges_objects_replaces_lists_and_null_removes)
{
	check_patch(patch_merge, "{\"a\":{\"x\":1,\"y\":2},\"l\":[1,2]}",
		"{\"a\":{\"x\":null,\"z\":3},\"l\":[]}", "{\"a\":{\"y\":2,\"z\":3},\"l\":[]}");
}

Test(patch, merges_conditions_by_type)
{
	check_patch(patch_conditions, "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}",
		"{\"conditions\":[{\"type\":\"Placed\",\"status\":\"False\"},"
		"{\"type\":\"Ready\",\"status\":\"False\"}]}",
		"{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"},"
		"{\"type\":\"Placed\",\"status\":\"False\"}]}");
}

/* --- rules --- */

#define GATED "\"schedulingGates\":[{\"name\":\"g\"}]"
#define TERMS(t)                                                                                   \
	"\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"     \
	"\"nodeSelectorTerms\":[" t "]}}}"
#define ZONE "\"matchExpressions\":[{\"key\":\"zone\"}]"
#define PIN  "\"matchFields\":[{\"key\":\"metadata.name\"}]"

static bool allowed(const char *before, const char *after)
{
	json_t *b = value(before), *a = value(after);
	bool yes = rules_check_pod(b, a) == NULL;
	json_decref(b);
	json_decref(a);
	return yes;
}

Test(rules, gates_only_go)
{
	cr_assert(allowed("{\"spec\":{" GATED "}}", "{\"spec\":{\"schedulingGates\":[]}}"));
	cr_assert_not(allowed("{\"spec\":{}}", "{\"spec\":{" GATED "}}"));
}

Test(rules, affinity_is_only_narrowed_and_only_while_gated)
{
	cr_assert(allowed("{\"spec\":{" GATED "}}", "{\"spec\":{" TERMS("{" PIN "}") "}}"));
	cr_assert(allowed("{\"spec\":{" GATED "," TERMS("{" ZONE "}") "}}",
		"{\"spec\":{" TERMS("{" ZONE "," PIN "}") "}}"));
	cr_assert_not(allowed("{\"spec\":{" GATED "," TERMS("{" ZONE "}") "}}",
		"{\"spec\":{" TERMS("{" PIN "}") "}}"));
	cr_assert_not(allowed("{\"spec\":{}}", "{\"spec\":{" TERMS("{" PIN "}") "}}"));
}

Test(rules, a_node_is_not_given_by_an_update)
{
	cr_assert_not(allowed("{\"spec\":{}}", "{\"spec\":{\"nodeName\":\"n\"}}"));
}

/* --- preconditions --- */

struct server {
	struct sim sim;
	struct sim_report report;
};

static struct server *server_create(void)
{
	struct server *s = xcalloc(1, sizeof *s);
	s->sim.report = &s->report;
	store_init(&s->sim.store, &s->sim.agenda, NULL, NULL);
	store_put(&s->sim.store, RES_PODS,
		value("{\"metadata\":{\"namespace\":\"n\",\"name\":\"p\"},\"spec\":{}}"),
		ACTOR_PERSON);
	return s;
}

static void server_destroy(struct server *s)
{
	store_finish(&s->sim.store);
	free(s);
}

static int ask(struct server *s, enum wire_method method, const char *body)
{
	struct api_answer answer;
	struct api_request r = {.method = method,
		.path = "/api/v1/namespaces/n/pods/p?fieldManager=aliquot",
		.content_type = KUBE_MERGE_PATCH,
		.body = body,
		.body_size = strlen(body)};
	apiserver_handle(&s->sim, 0, &r, &answer);
	free(answer.body);
	return answer.status;
}

Test(apiserver, holds_writers_to_their_preconditions)
{
	struct server *s = server_create();
	const struct stored *o = store_find(&s->sim.store, RES_PODS, "n", "p");
	char body[128];
	cr_assert_eq(ask(s, WIRE_PATCH, "{\"metadata\":{\"resourceVersion\":\"1\"}}"), 409);
	cr_assert_eq(ask(s, WIRE_PATCH, "{\"metadata\":{\"uid\":\"other\"}}"), 422);
	cr_assert_eq(ask(s, WIRE_DELETE, "{\"preconditions\":{\"uid\":\"other\"}}"), 409);
	snprintf(body, sizeof body,
		"{\"metadata\":{\"resourceVersion\":\"%lld\",\"uid\":\"other\"}}",
		(long long)o->version);
	cr_assert_eq(ask(s, WIRE_PATCH, body), 409);
	snprintf(body, sizeof body,
		"{\"metadata\":{\"resourceVersion\":\"%lld\",\"labels\":{\"a\":\"b\"}}}",
		(long long)o->version);
	cr_assert_eq(ask(s, WIRE_PATCH, body), 200);
	cr_assert_eq(ask(s, WIRE_PATCH, body), 409, "the same write twice");
	server_destroy(s);
}

Test(apiserver, gives_a_new_uid_to_a_name_that_is_used_again)
{
	struct server *s = server_create();
	char *first = xstrdup(store_find(&s->sim.store, RES_PODS, "n", "p")->uid);
	cr_assert_eq(ask(s, WIRE_DELETE, "{}"), 200);
	cr_assert_null(store_find(&s->sim.store, RES_PODS, "n", "p"));
	store_put(&s->sim.store, RES_PODS,
		value("{\"metadata\":{\"namespace\":\"n\",\"name\":\"p\"},\"spec\":{}}"),
		ACTOR_PERSON);
	cr_assert_str_neq(store_find(&s->sim.store, RES_PODS, "n", "p")->uid, first);
	free(first);
	server_destroy(s);
}

/* --- watches --- */

/* A controller that is broken on purpose may write without end while a stream is held up. */
Test(watch, who_lags_behind_by_megabytes_is_cut_off)
{
	struct server *s = server_create();
	struct link *l = &s->sim.slots[0].link;
	/* Its bytes are on their way, for a minute. */
	struct flight f = {.id = 7, .link = l, .resource = RES_PODS, .pumping = true};
	struct api_answer refused;
	struct api_request r = {
		.path = "/api/v1/pods?watch=true&resourceVersion=1&timeoutSeconds=300"};
	char *long_text = xcalloc(1, 100001);
	memset(long_text, 'x', 100000);
	l->sim = &s->sim;
	dice_init(&s->sim);
	VEC_PUSH(&l->flights, &f);
	cr_assert(watch_open(&f, &r, &refused));
	for (int i = 0; i < 100; i++) {
		long_text[0] = i % 2 == 0 ? 'a' : 'b';
		json_t *pod = json_pack("{s:{s:s, s:s}, s:{}, s:s}", "metadata", "namespace", "n",
			"name", "p", "spec", "text", long_text);
		store_put(&s->sim.store, RES_PODS, pod, ACTOR_PERSON);
	}
	free(long_text);
	while (agenda_step(&s->sim.agenda, 60000)) {
	}
	cr_expect(f.over);
	cr_expect_not(f.pending.overflow);
	cr_expect_gt(f.cursor, 1, "it was told of some");
	cr_expect_lt(f.cursor, s->sim.store.version);
	str_finish(&f.pending);
	VEC_FINISH(&f.marks);
	VEC_FINISH(&l->flights);
	agenda_finish(&s->sim.agenda);
	dice_finish(&s->sim);
	server_destroy(s);
}
