/* Mode MPS: the capacity pod that runs the daemon, and what its clients are told. */
#include "body.h"

static json_t *hold_of(json_t *spec)
{
	return json_array_get(json_object_get(spec, "containers"), 0);
}

static void at_is(const json_t *object, const char *key, const char *wanted)
{
	char *text = json_dumps(json_object_get(object, key), JSON_ENCODE_ANY);
	cr_assert_not_null(text, "%s", key);
	expect_json(text, wanted);
	free(text);
}

/* C28: only the container that runs the daemon has more than others, and no more than it takes. */
Test(mps, c28_create_capacity_in_mode_mps)
{
	struct fixture *f = set_up();
	struct action x = create_action();
	json_t *root;
	x.mps = true;
	act_submit(f->act, &x);
	step(f, 0);
	json_t *spec = spec_of(f, &root), *hold = hold_of(spec);
	const json_t *meta = json_object_get(root, "metadata");
	at_is(meta, "annotations",
		"{\"cluster-autoscaler.kubernetes.io/safe-to-evict\":\"true\","
		"\"aliquot.dev/isolation\":\"MPS\"}");
	cr_assert(json_is_true(json_object_get(spec, "hostPID")));
	cr_assert_null(json_object_get(spec, "hostNetwork"));
	cr_assert_eq(
		json_integer_value(json_object_get(spec, "terminationGracePeriodSeconds")), 600);
	at_is(hold, "args",
		"[\"capacity\",\"hold\",\"--identity-file=/run/aliquot-identity/identity\","
		"\"--told-dir=/run/aliquot-told\","
		"\"--mps\",\"--mps-root=/run/aliquot/mps\",\"--mps-sweep=/dev/shm\"]");
	at_is(hold, "securityContext",
		"{\"runAsNonRoot\":false,\"runAsUser\":0,\"runAsGroup\":0,"
		"\"allowPrivilegeEscalation\":false,\"readOnlyRootFilesystem\":true,"
		"\"capabilities\":{\"drop\":[\"ALL\"],\"add\":[\"CHOWN\",\"DAC_OVERRIDE\","
		"\"FOWNER\",\"KILL\",\"SETGID\",\"SETUID\",\"SYS_ADMIN\",\"SYS_PTRACE\"]}}");
	at_is(hold, "volumeMounts",
		"[{\"name\":\"identity\",\"mountPath\":\"/run/"
		"aliquot-identity\",\"readOnly\":true},"
		"{\"name\":\"told\",\"mountPath\":\"/run/aliquot-told\",\"readOnly\":true},"
		"{\"name\":\"mps\",\"mountPath\":\"/run/aliquot/mps\"},"
		"{\"name\":\"mps-shm\",\"mountPath\":\"/dev/shm\"}]");
	at_is(hold, "resources",
		"{\"requests\":{\"cpu\":\"200m\",\"memory\":\"512Mi\",\"nvidia.com/gpu\":\"1\"},"
		"\"limits\":{\"cpu\":\"200m\",\"memory\":\"512Mi\",\"nvidia.com/gpu\":\"1\"}}");
	at_is(hold, "readinessProbe",
		"{\"exec\":{\"command\":[\"/usr/bin/aliquot\",\"capacity\",\"ready\","
		"\"--identity-file=/run/aliquot-identity/identity\",\"--mps\","
		"\"--mps-root=/run/aliquot/mps\"]},"
		"\"periodSeconds\":3,\"failureThreshold\":1}");
	at_is(spec, "volumes",
		"[{\"name\":\"identity\",\"emptyDir\":{\"medium\":\"Memory\",\"sizeLimit\":\"1Mi\"}"
		"},"
		"{\"name\":\"told\",\"downwardAPI\":{\"items\":[{\"path\":\"in-use\",\"fieldRef\":"
		"{\"fieldPath\":\"metadata.labels['aliquot.dev/in-use']\"}},"
		"{\"path\":\"grants\",\"fieldRef\":{\"fieldPath\":"
		"\"metadata.annotations['aliquot.dev/grants']\"}}]}},"
		"{\"name\":\"mps\",\"hostPath\":{\"path\":\"/run/aliquot/mps\",\"type\":"
		"\"DirectoryOrCreate\"}},{\"name\":\"mps-shm\",\"hostPath\":{\"path\":"
		"\"/dev/shm/aliquot-mps\",\"type\":\"DirectoryOrCreate\"}}]");
	const json_t *identify = json_array_get(json_object_get(spec, "initContainers"), 0);
	at_is(identify, "args",
		"[\"capacity\",\"identify\",\"--identity-file=/run/aliquot-identity/identity\","
		"\"--termination-log=/dev/termination-log\",\"--mps\"]");
	at_is(identify, "securityContext",
		"{\"allowPrivilegeEscalation\":false,\"readOnlyRootFilesystem\":true,"
		"\"capabilities\":{\"drop\":[\"ALL\"]}}");
	at_is(identify, "volumeMounts",
		"[{\"name\":\"identity\",\"mountPath\":\"/run/aliquot-identity\"}]");
	json_decref(root);
	fake_answer(fake_last(f->wire), 201, POD_ANSWER);
	tear_down(f);
}

/* Scenario 22: percentages are rounded down and at least 1, so that no sum is beyond the whole. */
Test(mps, a_client_is_told_its_limits)
{
	static const struct {
		int64_t milli, mem_mib;
		const char *threads, *memory;
	} rows[] = {
		{250, 20096, "\"25\"", "\"0=20096M\""},
		{250, 143771 / 4, "\"25\"", "\"0=35942M\""},
		{1, 512, "\"1\"", "\"0=512M\""},
		{19, 513, "\"1\"", "\"0=513M\""},
		{999, 80000, "\"99\"", "\"0=80000M\""},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct fixture *f = set_up();
		struct action x = place_action();
		json_t *root;
		x.mps = true;
		x.milli = rows[i].milli;
		x.mem_mib = rows[i].mem_mib;
		act_submit(f->act, &x);
		step(f, 0);
		(void)spec_of(f, &root);
		const json_t *notes =
			json_object_get(json_object_get(root, "metadata"), "annotations");
		at_is(notes, "aliquot.dev/mps-threads", rows[i].threads);
		at_is(notes, "aliquot.dev/mps-memory", rows[i].memory);
		json_decref(root);
		fake_answer(fake_last(f->wire), 200, POD_ANSWER);
		tear_down(f);
	}
}
