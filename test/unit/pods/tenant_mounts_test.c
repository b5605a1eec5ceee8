/* Volumes and mounts of a client of MPS: the way in and back. */
#include "review_bed.h"

static const struct mutation walled = {
	.container = "main",
	.milli = 250,
	.policy_applied = "own@3",
	.isolation = ISOLATION_MPS_TEXT,
	.env = mps_env,
	.env_count = MPS_ENV_COUNT,
	.others = others_env,
	.others_count = OTHERS_ENV_COUNT,
	.mounts = mps_mounts,
	.mount_count = MPS_MOUNTS_COUNT,
};

#define POD(main, volumes)                                                                         \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{"         \
	"\"containers\":[{\"name\":\"side\",\"volumeMounts\":[{\"name\":\"data\",\"mountPath\":"   \
	"\"/dev/shm\"}]},{\"name\":\"main\"" main                                                  \
	",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]" volumes "}}"

static const char *const pods[] = {
	POD("", ""),
	/* it has a /dev/shm of its own, between others */
	POD(",\"volumeMounts\":[{\"name\":\"data\",\"mountPath\":\"/a\"},{\"name\":\"shm\","
	    "\"mountPath\":\"/dev/shm/\"},{\"name\":\"data\",\"mountPath\":\"/b\",\"subPath\":"
	    "\"x\"}]",
		",\"volumes\":[{\"name\":\"shm\",\"emptyDir\":{\"medium\":\"Memory\"}},{\"name\":"
		"\"data\",\"emptyDir\":{}}]"),
	/* only that one, and both names are taken */
	POD(",\"volumeMounts\":[{\"name\":\"aliquot-mps\",\"mountPath\":\"/dev/shm\"},{\"name\":"
	    "\"aliquot-mps-shm\",\"mountPath\":\"/run/aliquot/mps\"}]",
		",\"volumes\":[{\"name\":\"aliquot-mps\",\"emptyDir\":{}},{\"name\":"
		"\"aliquot-mps-shm\",\"hostPath\":{\"path\":\"/x\"}}]"),
	/* and what limits it by itself */
	POD(",\"env\":[{\"name\":\"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT\",\"value\":\"0=1G\"},{"
	    "\"name\":\"A\",\"value\":\"1\"},{\"name\":\"CUDA_MPS_CLIENT_PRIORITY\",\"value\":"
	    "\"1\"}]",
		""),
};

static json_t *spec_of(const json_t *pod)
{
	return json_object_get(pod, "spec");
}

Test(tenant_mounts, a_client_gets_the_pipes_of_its_gpu_and_a_shared_memory)
{
	json_t *pod = parse(pods[1]);
	CLEANUP(result_finish) struct result r = pass(pod, &walled);
	json_t *mounts = parse("[{\"name\":\"data\",\"mountPath\":\"/a\"},"
			       "{\"name\":\"data\",\"mountPath\":\"/b\",\"subPath\":\"x\"},"
			       "{\"name\":\"aliquot-mps\",\"mountPath\":\"/run/aliquot/mps\","
			       "\"subPathExpr\":\"$(ALIQUOT_GPU_UUID)/pipe\"},"
			       "{\"name\":\"aliquot-mps-shm\",\"mountPath\":\"/dev/shm\"}]");
	same(json_object_get(container_of(r.pod, "containers", 1), "volumeMounts"), mounts,
		"in the container that has the GPU");
	json_t *volumes = parse(
		"[{\"name\":\"shm\",\"emptyDir\":{\"medium\":\"Memory\"}},"
		"{\"name\":\"data\",\"emptyDir\":{}},"
		"{\"name\":\"aliquot-mps\",\"hostPath\":{\"path\":\"/run/aliquot/mps\",\"type\":"
		"\"Directory\"}},{\"name\":\"aliquot-mps-shm\",\"hostPath\":{\"path\":"
		"\"/dev/shm/aliquot-mps\",\"type\":\"Directory\"}}]");
	same(json_object_get(spec_of(r.pod), "volumes"), volumes, "volumes");
	json_t *side = json_object_get(container_of(r.pod, "containers", 0), "volumeMounts");
	same(side, json_object_get(container_of(pod, "containers", 0), "volumeMounts"),
		"the others are left alone");
	json_t *notes = json_object_get(json_object_get(r.pod, "metadata"), "annotations");
	cr_assert_str_eq(json_string_value(json_object_get(notes, NOTE_ISOLATION)), "MPS");
	json_decref(mounts);
	json_decref(volumes);
	json_decref(pod);
}

static const char *value_from(const json_t *container, const char *name)
{
	const json_t *env = json_object_get(container, "env");
	const char *found = NULL;
	for (size_t i = 0; i < json_array_size(env); i++) {
		const json_t *e = json_array_get(env, i);
		if (text_equals(json_string_value(json_object_get(e, "name")), name)) {
			cr_assert_null(found, "%s is there twice", name);
			const json_t *ref =
				json_object_get(json_object_get(e, "valueFrom"), "fieldRef");
			found = ref != NULL ? json_string_value(json_object_get(ref, "fieldPath"))
					    : json_string_value(json_object_get(e, "value"));
		}
	}
	return found;
}

Test(tenant_mounts, its_limits_come_from_the_guarded_keys_whatever_it_brought)
{
	json_t *pod = parse(pods[3]);
	CLEANUP(result_finish) struct result r = pass(pod, &walled);
	const json_t *main = container_of(r.pod, "containers", 1);
	cr_assert_str_eq(value_from(main, "CUDA_MPS_PIPE_DIRECTORY"), "/run/aliquot/mps");
	cr_assert_str_eq(value_from(main, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"),
		"metadata.annotations['aliquot.dev/mps-memory']");
	cr_assert_str_eq(value_from(main, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"),
		"metadata.annotations['aliquot.dev/mps-threads']");
	cr_assert_null(value_from(main, "CUDA_MPS_CLIENT_PRIORITY"));
	cr_assert_str_eq(value_from(main, "A"), "1");
	json_decref(pod);
}

Test(tenant_mounts, a_name_that_is_taken_gets_a_number)
{
	json_t *pod = parse(pods[2]);
	CLEANUP(result_finish) struct result r = pass(pod, &walled);
	json_t *mounts = parse("[{\"name\":\"aliquot-mps-1\",\"mountPath\":\"/run/aliquot/mps\","
			       "\"subPathExpr\":\"$(ALIQUOT_GPU_UUID)/pipe\"},"
			       "{\"name\":\"aliquot-mps-shm-1\",\"mountPath\":\"/dev/shm\"}]");
	same(json_object_get(container_of(r.pod, "containers", 1), "volumeMounts"), mounts, "two");
	cr_assert_eq(json_array_size(json_object_get(spec_of(r.pod), "volumes")), 4);
	json_decref(mounts);
	json_decref(pod);
}

Test(tenant_mounts, a_second_pass_changes_nothing_and_a_copy_is_what_it_was)
{
	for (size_t i = 0; i < COUNT_OF(pods); i++) {
		json_t *pod = parse(pods[i]);
		CLEANUP(result_finish) struct result once = pass(pod, &walled);
		CLEANUP(result_finish) struct result twice = pass(once.pod, &walled);
		cr_assert(twice.restored);
		cr_assert_eq(json_array_size(twice.patch), 0, "pod %zu", i);
		CLEANUP(result_finish) struct result whole = pass(once.pod, NULL);
		cr_assert(whole.restored);
		same_meaning(whole.pod, pod, pods[i]);
		json_decref(pod);
	}
}

/* The policy asks for something else by now, and the pod was copied from a live tenant. */
Test(tenant_mounts, a_copy_may_change_its_mode)
{
	struct mutation none = walled;
	none.isolation = NULL;
	none.env = tenant_env;
	none.env_count = TENANT_ENV_COUNT;
	none.mount_count = 0;
	for (size_t i = 0; i < COUNT_OF(pods); i++) {
		json_t *pod = parse(pods[i]);
		CLEANUP(result_finish) struct result client = pass(pod, &walled);
		CLEANUP(result_finish) struct result plain = pass(pod, &none);
		CLEANUP(result_finish) struct result there = pass(client.pod, &none);
		same_meaning(there.pod, plain.pod, pods[i]);
		CLEANUP(result_finish) struct result back = pass(there.pod, &walled);
		same_meaning(back.pod, client.pod, pods[i]);
		json_decref(pod);
	}
}

Test(tenant_mounts, what_a_person_mounted_in_the_copy_stays)
{
	json_t *pod = parse(pods[1]);
	CLEANUP(result_finish) struct result client = pass(pod, &walled);
	json_t *mounts = json_object_get(container_of(client.pod, "containers", 1), "volumeMounts");
	json_array_set_new(mounts, 3, parse("{\"name\":\"data\",\"mountPath\":\"/dev/shm\"}"));
	CLEANUP(result_finish) struct result whole = pass(client.pod, NULL);
	json_t *expected = parse("[{\"name\":\"data\",\"mountPath\":\"/a\"},"
				 "{\"name\":\"data\",\"mountPath\":\"/b\",\"subPath\":\"x\"},"
				 "{\"name\":\"data\",\"mountPath\":\"/dev/shm\"}]");
	same(json_object_get(container_of(whole.pod, "containers", 1), "volumeMounts"), expected,
		"not two at one path");
	json_decref(expected);
	json_decref(pod);
}

/* What nobody of ours wrote. */
Test(tenant_mounts, an_original_that_makes_no_sense_is_not_followed)
{
	static const char *const parts[] = {
		"\"mounts\":7",
		"\"mounts\":[[0,{}]]",
		"\"mounts\":[[-1,{\"name\":\"a\",\"mountPath\":\"/a\"}]]",
		"\"mounts\":[[0,{\"name\":\"a\",\"mountPath\":\"/a\"}],[0,{\"name\":\"a\","
		"\"mountPath\":\"/b\"}],[0,{\"name\":\"a\",\"mountPath\":\"/c\"}]]",
		"\"volumes\":\"aliquot-mps\"",
	};
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		CLEANUP(str_finish) struct str text = STR_INIT(1000);
		str_append_format(&text,
			"{\"v\":2,\"container\":\"main\",\"gpu\":{\"limits\":\"1\"},%s}", parts[i]);
		json_t *pod = parse(pods[0]);
		json_object_set_new(json_object_get(pod, "metadata"), "annotations",
			json_pack("{s:s}", NOTE_ORIGINAL, str_text(&text)));
		json_t *resources =
			json_object_get(container_of(pod, "containers", 1), "resources");
		json_object_del(resources, "limits");
		CLEANUP(result_finish) struct result r = pass(pod, NULL);
		cr_assert(r.unreadable, "%s", parts[i]);
		cr_assert_eq(json_array_size(r.patch), 0);
		json_decref(pod);
	}
}
