/* What C25 asks for, as the API server's answers say it; each rule violated on purpose. */
#include "pods/surge_objects.h"

#include <criterion/criterion.h>

#include "base/cleanup.h"

#define WALL INT64_C(1800000000000) /* 2027-01-15T08:00:00Z */

static const struct surge_order order = {.set_name = "web-7d",
	.set_uid = "rs",
	.hash = "7d",
	.generation = 3,
	.old_uid = "old",
	.fresh_name = "web-s",
	.fresh_uid = "new"};

static void take(struct surge_look *l, enum surge_source source, const char *json)
{
	struct fault f = {0};
	cr_assert_eq(surge_take(l, source, json, strlen(json), &f), 0, "%s: %s", f.message, json);
}

#define SET_OF(meta, replicas)                                                                     \
	"{\"metadata\":{" meta ",\"annotations\":{\"deployment.kubernetes.io/revision\":\"4\"},"   \
	"\"ownerReferences\":[{\"kind\":\"Deployment\",\"name\":\"web\",\"uid\":\"d\","            \
	"\"controller\":true}]},\"spec\":{\"replicas\":" replicas                                  \
	",\"selector\":{\"matchLabels\":{"                                                         \
	"\"app\":\"web\",\"pod-template-hash\":\"7d\"}},\"template\":{\"metadata\":{\"labels\":{"  \
	"\"app\":\"web\",\"pod-template-hash\":\"7d\"}}}},\"status\":{\"replicas\":1}}"
#define SET SET_OF("\"uid\":\"rs\",\"generation\":3", "1")
#define OWNER_OF(meta, revision, observed)                                                         \
	"{\"metadata\":{" meta ",\"generation\":9,\"annotations\":{\"deployment.kubernetes.io/"    \
	"revision\":\"" revision "\"}},\"spec\":{\"minReadySeconds\":7},\"status\":{"              \
	"\"observedGeneration\":" observed "}}"
#define OWNER OWNER_OF("\"uid\":\"d\"", "4", "9")
#define READY(status)                                                                              \
	"\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":"        \
	"\"" status "\",\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}]}"
#define FRESH                                                                                      \
	"{\"metadata\":{\"uid\":\"new\",\"labels\":{\"app\":\"web\",\"aliquot.dev/surge\":"        \
	"\"old\"}}," READY("True") "}"
#define POD(uid, owner, more, status)                                                              \
	"{\"metadata\":{\"name\":\"p-" uid "\",\"uid\":\"" uid                                     \
	"\",\"labels\":{\"app\":\"web\",\"pod-template-hash\":\"7d\"},"                            \
	"\"ownerReferences\":[{\"uid\":\"" owner "\",\"controller\":true}]" more                   \
	"}," READY(status) "}"
#define OLD	    POD("old", "rs", "", "True")
#define LIST(items) "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[" items "]}"
#define CLAIMER(uid, selector)                                                                     \
	"{\"metadata\":{\"name\":\"other\",\"uid\":\"" uid "\"},\"spec\":{\"selector\":" selector  \
	"}}"

static const char *const usual[SURGE_SOURCES] = {
	[SURGE_SET] = SET,
	[SURGE_OWNER] = OWNER,
	[SURGE_FRESH] = FRESH,
	[SURGE_PODS] = LIST(OLD),
	[SURGE_SETS] = LIST(CLAIMER("rs", "{\"matchLabels\":{\"app\":\"web\"}}") "," CLAIMER(
		"before", "{\"matchLabels\":{\"app\":\"web\",\"pod-template-hash\":\"6c\"}}")),
	[SURGE_REPLICATION_CONTROLLERS] = LIST(CLAIMER("rc", "{\"app\":\"db\"}")),
	[SURGE_STATEFUL_SETS] = LIST(""),
	[SURGE_DAEMON_SETS] = LIST(""),
	[SURGE_JOBS] = LIST("{\"metadata\":{\"name\":\"j\"},\"spec\":{}}"),
	[SURGE_SCALERS] = LIST(""),
	[SURGE_BUDGETS] = LIST(""),
};

/* As usual, but for one answer. */
static struct surge_seen see(enum surge_source source, const char *json)
{
	struct surge_look l;
	surge_look_init(&l, &order, WALL);
	for (enum surge_source s = SURGE_SET; s < SURGE_SOURCES; s++) {
		if (surge_where_of(&l, s).resource != NULL) {
			take(&l, s, s == source ? json : usual[s]);
		}
	}
	struct surge_seen seen = l.seen;
	surge_look_finish(&l);
	return seen;
}

static bool allows(const struct surge_seen *s)
{
	const struct surge_live *l = &s->live;
	return s->current && l->same_set && l->spec_replicas == l->status_replicas &&
	       l->all_ready && !l->cheaper && !l->other_claims && !l->scaling && l->budget_allows;
}

Test(surge, C25_as_usual_nothing_speaks_against_it)
{
	struct surge_seen s = see(SURGE_SOURCES, NULL);
	cr_assert(allows(&s), "%s", s.blocker);
	cr_expect_str_eq(s.blocker, "");
	cr_expect_eq(s.replicas, 1);
	cr_expect_eq(s.present, 1);
	cr_expect_eq(s.generation, 3);
	cr_expect_eq(s.min_ready_ms, 7000);
	cr_expect_eq(s.ready_ms, WALL);
}

#define HPA(target, current, desired, when)                                                        \
	LIST("{\"metadata\":{\"name\":\"h\"},\"spec\":{\"scaleTargetRef\":{" target                \
	     "}},\"status\":{\"currentReplicas\":" current ",\"desiredReplicas\":" desired when    \
	     "}}")
#define ON_OWNER "\"kind\":\"Deployment\",\"name\":\"web\""
#define PDB(selector, observed, healthy, desired)                                                  \
	LIST("{\"metadata\":{\"name\":\"b\",\"generation\":2},\"spec\":{\"selector\":" selector    \
	     "},\"status\":{\"observedGeneration\":" observed ",\"currentHealthy\":" healthy       \
	     ",\"desiredHealthy\":" desired "}}")
#define WEB "{\"matchLabels\":{\"app\":\"web\"}}"
static const struct {
	enum surge_source source;
	const char *json, *blocker;
	bool allowed;
} violations[] = {
	{SURGE_SET, SET_OF("\"uid\":\"else\",\"generation\":3", "1"), "", false},
	{SURGE_SET, SET_OF("\"uid\":\"rs\",\"generation\":4", "1"), "", false},
	{SURGE_SET, SET_OF("\"uid\":\"rs\",\"generation\":3", "2"), "", false},
	{SURGE_SET, SET_OF("\"uid\":\"rs\",\"generation\":3", "0"), "", false},
	{SURGE_SET,
		SET_OF("\"uid\":\"rs\",\"generation\":3,\"deletionTimestamp\":"
		       "\"2027-01-15T08:00:00Z\"",
			"1"),
		"", false},
	{SURGE_OWNER, OWNER_OF("\"uid\":\"d2\"", "4", "9"), "", false},
	{SURGE_OWNER, OWNER_OF("\"uid\":\"d\"", "5", "9"), "", false},
	{SURGE_OWNER, OWNER_OF("\"uid\":\"d\"", "4", "8"), "", false},
	{SURGE_PODS, LIST(POD("old", "rs", "", "False")), "Pod p-old", false},
	{SURGE_PODS, LIST(OLD "," POD("x", "rs", "", "False")), "Pod p-x", false},
	{SURGE_PODS, LIST(OLD "," POD("x", "another", "", "False")), "", true},
	{SURGE_PODS,
		LIST(OLD "," POD("x", "rs",
			",\"annotations\":{\"controller.kubernetes.io/pod-deletion-cost\":"
			"\"-1000\"}",
			"True")),
		"Pod p-x", false},
	{SURGE_PODS,
		LIST(OLD "," POD("x", "rs",
			",\"annotations\":{\"controller.kubernetes.io/pod-deletion-cost\":"
			"\"-999\"}",
			"True")),
		"", true},
	{SURGE_FRESH,
		"{\"metadata\":{\"name\":\"f\",\"uid\":\"new\",\"labels\":{},\"annotations\":{"
		"\"controller.kubernetes.io/pod-deletion-cost\":\"-5000\"}}," READY("True") "}",
		"Pod f", false},
	{SURGE_SETS, LIST(CLAIMER("b", WEB)), "ReplicaSet other", false},
	{SURGE_REPLICATION_CONTROLLERS, LIST(CLAIMER("b", "{\"app\":\"web\"}")),
		"ReplicationController other", false},
	{SURGE_STATEFUL_SETS, LIST(CLAIMER("b", WEB)), "StatefulSet other", false},
	{SURGE_DAEMON_SETS,
		LIST(CLAIMER("b", "{\"matchExpressions\":[{\"key\":\"app\",\"operator\":"
				  "\"Exists\"}]}")),
		"DaemonSet other", false},
	{SURGE_JOBS, LIST(CLAIMER("b", WEB)), "Job other", false},
	{SURGE_SCALERS, HPA(ON_OWNER, "1", "2", ""), "HorizontalPodAutoscaler h", false},
	{SURGE_SCALERS, HPA(ON_OWNER, "1", "1", ""), "", true},
	{SURGE_SCALERS, HPA(ON_OWNER, "1", "1", ",\"lastScaleTime\":\"2027-01-15T07:50:01Z\""),
		"HorizontalPodAutoscaler h", false},
	{SURGE_SCALERS, HPA(ON_OWNER, "1", "1", ",\"lastScaleTime\":\"2027-01-15T07:50:00Z\""), "",
		true},
	{SURGE_SCALERS, HPA("\"kind\":\"Deployment\",\"name\":\"db\"", "1", "2", ""), "", true},
	{SURGE_BUDGETS, PDB(WEB, "2", "1", "1"), "PodDisruptionBudget b", false},
	{SURGE_BUDGETS, PDB(WEB, "2", "2", "1"), "", true},
	{SURGE_BUDGETS, PDB(WEB, "1", "2", "1"), "PodDisruptionBudget b", false},
	{SURGE_BUDGETS, PDB("{}", "2", "1", "1"), "PodDisruptionBudget b", false},
	{SURGE_BUDGETS, PDB("{\"matchLabels\":{\"app\":\"db\"}}", "2", "0", "1"), "", true},
};

Test(surge, C25_each_rule_violated_on_purpose_is_seen)
{
	for (size_t i = 0; i < COUNT_OF(violations); i++) {
		struct surge_seen s = see(violations[i].source, violations[i].json);
		cr_expect_eq(
			allows(&s), violations[i].allowed, "row %zu: %s", i, violations[i].json);
		cr_expect_str_eq(
			s.blocker, violations[i].blocker, "row %zu: %s", i, violations[i].json);
	}
}

/* Its newest ReplicaSet may not be there yet: the new pod is neither dropped nor adopted. */
Test(surge, U15_an_owner_that_was_not_looked_at_is_not_taken_for_changed)
{
	struct surge_seen s = see(SURGE_OWNER, OWNER_OF("\"uid\":\"d\"", "4", "8"));
	cr_expect(s.current);
	cr_expect(!s.live.same_set);
	s = see(SURGE_OWNER, OWNER_OF("\"uid\":\"d\"", "5", "9"));
	cr_expect(!s.current);
}

Test(surge, the_new_pod_is_ready_since)
{
	static const struct {
		const char *json;
		int64_t ready_ms;
	} rows[] = {
		{"{\"metadata\":{\"uid\":\"new\"}," READY("True") "}", WALL},
		{"{\"metadata\":{\"uid\":\"new\"}," READY("False") "}", 0},
		{"{\"metadata\":{\"uid\":\"another\"}," READY("True") "}", 0},
		{"{\"metadata\":{\"uid\":\"new\",\"deletionTimestamp\":\"2027-01-15T08:00:00Z\"}"
		 "," READY("True") "}",
			0},
		{"{\"metadata\":{\"uid\":\"new\"}}", 0},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(
			see(SURGE_FRESH, rows[i].json).ready_ms, rows[i].ready_ms, "row %zu", i);
	}
}

Test(surge, what_is_not_there_and_what_cannot_be_read)
{
	struct surge_look l;
	struct fault f = {0};
	surge_look_init(&l, &order, WALL);
	surge_take_none(&l, SURGE_SET);
	cr_expect(!l.seen.current);
	cr_expect_null(surge_where_of(&l, SURGE_OWNER).resource);
	static const char *const bad[] = {"", "{", "{\"items\":[{]}", "[1]",
		"{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[{\"spec\":{\"selector\":7}}]"
		"}"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cr_expect_eq(surge_take(&l, SURGE_BUDGETS, bad[i], strlen(bad[i]), &f), -1,
			"row %zu", i);
	}
	cr_expect_eq(surge_take(&l, SURGE_SET, "{}", 2, &f), -1);
	surge_look_finish(&l);
}

/* Of a template before there is a new pod: what only one of the two could have. */
Test(surge, C25_volumes_that_one_pod_has)
{
#define VOLUMES(v)                                                                                 \
	"{\"metadata\":{\"uid\":\"rs\"},\"spec\":{\"template\":{\"spec\":{\"volumes\":[" v "]}}}}"
#define CLAIM(name)  "{\"persistentVolumeClaim\":{\"claimName\":\"" name "\"}}"
#define MODES(modes) "{\"spec\":{\"accessModes\":[" modes "]}}"
	static const struct {
		const char *set, *claim, *blocker;
	} rows[] = {
		{VOLUMES("{\"emptyDir\":{}}"), NULL, ""},
		{VOLUMES(CLAIM("c")), MODES("\"ReadWriteMany\""), ""},
		{VOLUMES(CLAIM("c")), MODES("\"ReadWriteOnce\",\"ReadOnlyMany\""), ""},
		{VOLUMES(CLAIM("c")), MODES("\"ReadWriteOnce\""), "PersistentVolumeClaim c"},
		{VOLUMES(CLAIM("c")), MODES("\"ReadWriteOncePod\""), "PersistentVolumeClaim c"},
		{VOLUMES(CLAIM("c")), "{}", "PersistentVolumeClaim c"},
		{VOLUMES(CLAIM("c")), NULL, "PersistentVolumeClaim c"},
		{VOLUMES("{\"name\":\"v\",\"gcePersistentDisk\":{}}"), NULL, "volume v"},
	};
	struct surge_order before = order;
	before.fresh_name = NULL;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct surge_look l;
		surge_look_init(&l, &before, WALL);
		take(&l, SURGE_SET, rows[i].set);
		struct surge_where w = surge_where_of(&l, SURGE_CLAIMS);
		cr_expect_eq(w.resource != NULL, strstr(rows[i].set, "claimName") != NULL);
		if (w.resource != NULL && rows[i].claim != NULL) {
			take(&l, SURGE_CLAIMS, rows[i].claim);
		} else if (w.resource != NULL) {
			surge_take_none(&l, SURGE_CLAIMS);
		}
		cr_expect_null(surge_where_of(&l, SURGE_CLAIMS).resource);
		cr_expect_str_eq(l.seen.blocker, rows[i].blocker, "row %zu", i);
		cr_expect_eq(l.seen.exclusive_volume, rows[i].blocker[0] != '\0', "row %zu", i);
		surge_look_finish(&l);
	}
}

/* The new pod is not there to be counted. */
Test(surge, C25_a_budget_before_there_is_a_new_pod)
{
	struct surge_order before = order;
	struct surge_look l;
	before.fresh_name = NULL;
	surge_look_init(&l, &before, WALL);
	take(&l, SURGE_SET, SET);
	take(&l, SURGE_BUDGETS, PDB(WEB, "2", "1", "1"));
	cr_expect(l.seen.live.budget_allows);
	take(&l, SURGE_BUDGETS, PDB(WEB, "2", "1", "2"));
	cr_expect(!l.seen.live.budget_allows);
	surge_look_finish(&l);
}
