/* What is kept of pods in fewer bytes is still what was told. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "model/names.h"
#include "record/tables.h"
#include "world/world.h"
#include "../world_check.h"

#define UID_A "0b0f1a4e-7c1d-4a30-8a11-1e1f8a0c0001"
#define UID_B "0b0f1a4e-7c1d-4a30-8a11-1e1f8a0c0002"

static void set(struct world *w, const struct pod *p)
{
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = p};
	world_apply(w, &c);
}

static void gone(struct world *w, const char *name, const char *uid)
{
	struct change c = {
		.type = CHANGE_GONE, .kind = KIND_POD, .ns = "team", .name = name, .uid = uid};
	world_apply(w, &c);
}

static struct pod replica(char name[64], int i)
{
	static struct pair labels[] = {{"app.kubernetes.io/name", "server"},
		{"pod-template-hash", "5d8f7c6b9"}, {"team", "ads"}};
	static struct container main = {.name = "main", .gpus = 1};
	snprintf(name, 64, "server-5d8f7c6b9-%05d", i);
	return (struct pod){.ns = "team",
		.name = name,
		.uid = UID_A,
		.resource_version = "12345",
		.node = "node-1",
		.phase = POD_RUNNING,
		.scheduler = "default-scheduler",
		.labels = {labels, COUNT_OF(labels)},
		.owner = {"apps/v1", "ReplicaSet", "server-5d8f7c6b9", UID_B},
		.containers = &main,
		.container_count = 1,
		.gpu_image = "registry.example.com/ads/server:1.2",
		.gpus = 1};
}

static void is_same(const struct pod *a, const struct pod *b)
{
	CLEANUP(str_finish) struct str x = STR_INIT(1 << 20), y = STR_INIT(1 << 20);
	record_pack(&x, &pod_table, a);
	record_pack(&y, &pod_table, b);
	cr_assert_eq(x.len, y.len);
	cr_assert_eq(memcmp(str_text(&x), str_text(&y), x.len), 0);
}

Test(nouns, a_gpu_pod_comes_back_as_it_was_told)
{
	char name[64];
	struct world *w = world_create();
	for (int i = 0; i < 20; i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		char uid[40];
		struct pod p = replica(name, i), kept;
		snprintf(uid, sizeof uid, "0b0f1a4e-7c1d-4a30-8a11-%012d", i);
		p.uid = uid;
		set(w, &p);
		const struct world_pod *wp = world_pod_find(w, "team", name);
		cr_assert(world_pod_unpack(wp, &arena, &kept));
		is_same(&p, &kept);
		/* It takes much less than it says: labels, owner and image repeat its name. */
		CLEANUP(str_finish) struct str whole = STR_INIT(1 << 20);
		record_pack(&whole, &pod_table, &p);
		cr_expect_lt(wp->gpu->packed_size, whole.len * 3 / 5, "%u of %zu",
			wp->gpu->packed_size, whole.len);
	}
	cr_expect_null(world_check(w));
	world_destroy(w);
}

/* A program with thousands of bytes of everything. */
Test(nouns, a_large_one_comes_back_too)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	char name[64];
	static char image[9000];
	struct world *w = world_create();
	struct pod p = replica(name, 1), kept;
	for (size_t i = 0; i + 1 < sizeof image; i++) {
		image[i] = (char)('a' + (i * i + i / 7) % 26);
	}
	p.gpu_image = image;
	set(w, &p);
	uint64_t version = world_version(w);
	set(w, &p);
	cr_expect_eq(world_version(w), version, "nothing is new");
	cr_assert(world_pod_unpack(world_pod_find(w, "team", name), &arena, &kept));
	is_same(&p, &kept);
	world_destroy(w);
}

Test(nouns, an_ordinary_pod_of_another_uid_is_another_pod)
{
	char name[64];
	struct world *w = world_create();
	struct pod p = replica(name, 1);
	p.gpus = 0;
	p.container_count = 0;
	set(w, &p);
	uint64_t version = world_version(w);
	set(w, &p);
	cr_expect_eq(world_version(w), version, "it is the same");
	gone(w, name, UID_B);
	cr_expect_eq(world_pod_count(w), 1, "another one of that name was meant");
	p.uid = UID_B;
	set(w, &p);
	cr_expect_gt(world_version(w), version);
	cr_expect_eq(world_pod_count(w), 1);
	gone(w, name, UID_A);
	cr_expect_eq(world_pod_count(w), 1);
	gone(w, name, UID_B);
	cr_expect_eq(world_pod_count(w), 0);
	world_destroy(w);
}

Test(nouns, one_that_was_ordinary_is_found_by_its_uid_once_it_is_not)
{
	char name[64];
	struct world *w = world_create();
	struct pod p = replica(name, 1);
	p.gpus = 0;
	set(w, &p);
	cr_expect_null(world_pod_by_uid(w, UID_A));
	p.gpus = 1;
	set(w, &p);
	const struct world_pod *wp = world_pod_by_uid(w, UID_A);
	cr_assert_not_null(wp);
	cr_expect_str_eq(world_pod_uid(wp), UID_A);
	cr_expect_eq(world_node_at(w, wp->node)->pods, 1);
	p.gpus = 0;
	set(w, &p);
	cr_expect_null(world_pod_by_uid(w, UID_A));
	cr_expect_null(world_check(w));
	gone(w, name, UID_A);
	cr_expect_eq(world_pod_count(w), 0);
	world_destroy(w);
}
