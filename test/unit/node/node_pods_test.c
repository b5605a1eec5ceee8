/* The node's pods: what a watch says of them is kept, replaced and forgotten. */
#include "node/node_pods.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/str.h"

#define HASH "0123456789abcdef0123456789abcdef"

static struct node_pods *pods;

static void begin(void)
{
	pods = node_pods_create();
}

static void end(void)
{
	node_pods_destroy(pods);
	node_pods_destroy(NULL);
}

TestSuite(pods, .init = begin, .fini = end);

static bool set(const char *uid, const char *name)
{
	struct node_pod pod = {.uid = uid, .ns = "team", .name = name};
	return node_pods_set(pods, &pod);
}

Test(pods, keeps_a_copy)
{
	char uid[] = "u1", container[] = "main", id[] = "abc", uuid[] = "GPU-1";
	const char *uuids[] = {uuid};
	struct node_container containers[] = {{container, id}, {"other", NULL}};
	struct node_pod pod = {.uid = uid,
		.ns = "team",
		.name = "web",
		.phase = POD_RUNNING,
		.tenant = true,
		.uuids = uuids,
		.uuid_count = 1,
		.milli = 250,
		.mem_mib = 1024,
		.gpu_container = container,
		.containers = containers,
		.container_count = 2};
	cr_assert(node_pods_set(pods, &pod));
	uid[0] = container[0] = id[0] = uuid[0] = 'x';
	const struct node_pod *found = node_pods_find(pods, "u1");
	cr_assert_not_null(found);
	cr_assert_str_eq(found->name, "web");
	cr_assert_str_eq(found->gpu_container, "main");
	cr_assert(node_pod_granted(found, "GPU-1"));
	cr_assert_not(node_pod_granted(found, "GPU-2"));
	cr_assert_str_eq(node_pod_container(found, "abc")->name, "main");
	cr_assert_null(node_pod_container(found, "abd"));
	cr_assert_null(node_pod_container(found, ""), "one that has not started is nobody's");
	cr_assert_eq(found->mem_mib, 1024);
}

Test(pods, replaces_and_removes)
{
	set("u1", "web-1");
	set("u2", "web-2");
	set("u1", "web-9");
	cr_assert_eq(node_pods_count(pods), 2);
	cr_assert_str_eq(node_pods_find(pods, "u1")->name, "web-9");
	cr_assert_null(node_pods_named(pods, "team", "web-1"));
	cr_assert_str_eq(node_pods_named(pods, "team", "web-2")->uid, "u2");
	cr_assert_null(node_pods_named(pods, "other", "web-2"));
	node_pods_remove(pods, "u1");
	node_pods_remove(pods, "u1");
	node_pods_remove(pods, "");
	cr_assert_eq(node_pods_count(pods), 1);
	cr_assert_str_eq(node_pods_find(pods, "u2")->name, "web-2", "the last one moved");
	cr_assert_null(node_pods_find(pods, "u1"));
	cr_assert_str_eq(node_pods_at(pods, 0)->uid, "u2");
}

Test(pods, takes_one_of_its_own_again)
{
	set("u1", "web");
	struct node_pod changed = *node_pods_find(pods, "u1");
	changed.phase = POD_FAILED;
	cr_assert(node_pods_set(pods, &changed));
	cr_assert_str_eq(node_pods_find(pods, "u1")->name, "web");
	cr_assert_eq(node_pods_find(pods, "u1")->phase, POD_FAILED);
}

Test(pods, a_relist_forgets_what_it_does_not_name)
{
	set("u1", "a");
	set("u2", "b");
	set("u3", "c");
	node_pods_relist_begin(pods);
	node_pods_keep(pods, "u2");
	node_pods_keep(pods, "never");
	set("u4", "d");
	node_pods_relist_end(pods);
	cr_assert_eq(node_pods_count(pods), 2);
	cr_assert_not_null(node_pods_find(pods, "u2"));
	cr_assert_not_null(node_pods_find(pods, "u4"));
}

Test(pods, a_static_pod_is_found_by_its_hash)
{
	struct node_pod mirror = {.uid = "u1", .name = "etcd", .config_hash = HASH};
	cr_assert(node_pods_set(pods, &mirror));
	cr_assert_str_eq(node_pods_of_cgroup(pods, HASH)->name, "etcd");
	cr_assert_str_eq(node_pods_of_cgroup(pods, "u1")->name, "etcd");
	cr_assert_null(node_pods_of_cgroup(pods, "0"));
	cr_assert_null(node_pods_of_cgroup(pods, ""));
	/* Who claims to be it as well makes it nobody's, and does not get it. */
	mirror.uid = "u2";
	cr_assert(node_pods_set(pods, &mirror));
	cr_assert_null(node_pods_of_cgroup(pods, HASH));
}

Test(pods, nobody_is_found_by_anothers_uid)
{
	const char *victim = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
	struct node_pod thief = {.uid = "u1", .name = "thief", .config_hash = victim};
	cr_assert(node_pods_set(pods, &thief));
	cr_assert_null(node_pods_of_cgroup(pods, victim));
}

Test(pods, where_it_was_seen_outlives_a_change)
{
	char uuid[] = "GPU-1";
	set("u1", "a");
	node_pods_saw(pods, "u1", uuid);
	node_pods_saw(pods, "u1", uuid);
	node_pods_saw(pods, "u1", "");
	node_pods_saw(pods, "never", uuid);
	uuid[4] = '2';
	struct node_pod changed = *node_pods_find(pods, "u1");
	changed.name = "b";
	cr_assert(node_pods_set(pods, &changed));
	const struct node_pod *pod = node_pods_find(pods, "u1");
	cr_assert_eq(pod->seen_count, 1);
	cr_assert(node_pod_seen(pod, "GPU-1"));
	cr_assert_not(node_pod_seen(pod, "GPU-2"));
	for (int i = 0; i < 2 * NODE_UUIDS_MAX; i++) {
		char name[16];
		snprintf(name, sizeof name, "GPU-%d", i);
		node_pods_saw(pods, "u1", name);
	}
	cr_assert_eq(node_pods_find(pods, "u1")->seen_count, NODE_UUIDS_MAX);
	node_pods_remove(pods, "u1");
	set("u1", "a");
	cr_assert_eq(node_pods_find(pods, "u1")->seen_count, 0);
}

Test(pods, has_limits)
{
	char uid[16];
	struct node_container many[NODE_CONTAINERS_MAX + 5] = {{NULL, NULL}};
	const char *uuids[NODE_UUIDS_MAX + 5] = {NULL};
	struct node_pod large = {.uid = "large",
		.uuids = uuids,
		.uuid_count = COUNT_OF(uuids),
		.containers = many,
		.container_count = COUNT_OF(many)};
	cr_assert(node_pods_set(pods, &large));
	cr_assert_eq(node_pods_find(pods, "large")->container_count, NODE_CONTAINERS_MAX);
	cr_assert_eq(node_pods_find(pods, "large")->uuid_count, NODE_UUIDS_MAX);
	cr_assert_not(set("", "nobody"));
	for (int i = 1; i < NODE_PODS_MAX; i++) {
		snprintf(uid, sizeof uid, "u%d", i);
		cr_assert(set(uid, "x"));
	}
	cr_assert_not(set("one-more", "x"));
	cr_assert(set("u7", "changed"), "who is there may change");
	cr_assert_eq(node_pods_count(pods), NODE_PODS_MAX);
	node_pods_remove(pods, "u7");
	cr_assert(set("one-more", "x"));
}

/* What the kubelet tells. */

static const struct node_device given[] = {{"GPU-1", "main"}, {"GPU-2", "side"}};

static void told(const char *name, uint32_t count)
{
	node_pods_told(pods, "team", name, given, count);
}

Test(pods, what_the_kubelet_told_is_kept_as_long_as_the_pod)
{
	set("u1", "web");
	node_pods_ask(pods);
	told("web", 2);
	const struct node_pod *pod = node_pods_find(pods, "u1");
	cr_assert_eq(pod->told_count, 2);
	cr_assert_str_eq(pod->told[1].uuid, "GPU-2");
	cr_assert_str_eq(pod->told[1].container, "side");
	cr_assert(node_pod_told(pod, "GPU-1"));
	cr_assert_not(node_pod_told(pod, "GPU-3"));
	cr_assert_not(node_pod_told(pod, ""));
	set("u1", "web");
	cr_assert_eq(node_pods_find(pods, "u1")->told_count, 2, "the watch says it anew");
	node_pods_ask(pods);
	told("other", 1);
	cr_assert_eq(node_pods_find(pods, "u1")->told_count, 2, "an answer without it");
	node_pods_ask(pods);
	told("web", 1);
	cr_assert_eq(node_pods_find(pods, "u1")->told_count, 1);
	node_pods_remove(pods, "u1");
	set("u1", "web");
	cr_assert_eq(node_pods_find(pods, "u1")->told_count, 0);
}

Test(pods, a_new_pod_of_an_old_name_waits_for_a_new_answer)
{
	set("u1", "web");
	node_pods_ask(pods);
	node_pods_remove(pods, "u1");
	set("u2", "web");
	told("web", 1);
	cr_assert_eq(node_pods_find(pods, "u2")->told_count, 0, "this was about the former one");
	set("u2", "web");
	told("web", 1);
	cr_assert_eq(node_pods_find(pods, "u2")->told_count, 0, "and no later by being set again");
	node_pods_ask(pods);
	told("web", 1);
	cr_assert_eq(node_pods_find(pods, "u2")->told_count, 1);
}

Test(pods, two_of_one_name_are_neither)
{
	set("u1", "web");
	node_pods_ask(pods);
	told("web", 1);
	told("web", 0);
	cr_assert_eq(node_pods_find(pods, "u1")->told_count, 0);
	told("web", 2);
	cr_assert_eq(node_pods_find(pods, "u1")->told_count, 0);
	node_pods_ask(pods);
	told("web", 1);
	cr_assert_eq(node_pods_find(pods, "u1")->told_count, 1);
}
