/* What is told of GPUs whose daemon was killed, and of which nothing is told. */
#include "left.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "folder.h"
#include "gpu/compute_mode.h"
#include "mps/folder.h"

#define KEPT  "GPU-0123abcd-0000-1111-2222-333344445555"
#define OTHER "GPU-99999999-0000-1111-2222-333344445555"

struct bed {
	struct folder dir;
	char root[128];
	struct node_pods *pods;
	struct gpu_reading readings[2];
	struct gpu_sample sample;
	struct leftovers left;
};

/* On the first of two GPUs there was a daemon once. */
static void begin(struct bed *b)
{
	*b = (struct bed){.dir = folder_make(), .pods = node_pods_create()};
	(void)snprintf(b->root, sizeof b->root, "%s/root", b->dir.path);
	folder_dir(&b->dir, "root");
	folder_dir(&b->dir, "root/" KEPT);
	b->left.mps_root = b->root;
	const char *const uuids[] = {KEPT, OTHER};
	for (int i = 0; i < 2; i++) {
		struct gpu_reading *r = &b->readings[i];
		r->answered = true;
		(void)snprintf(
			r->device.identity.uuid, sizeof r->device.identity.uuid, "%s", uuids[i]);
		r->figures[FIGURE_COMPUTE_MODE] = COMPUTE_MODE_EXCLUSIVE_PROCESS;
	}
	b->sample = (struct gpu_sample){.devices = b->readings, .device_count = 2, .taken_ms = 1};
}

static void finish(struct bed *b)
{
	left_finish(&b->left);
	node_pods_destroy(b->pods);
	folder_finish(&b->dir);
}

static void look(struct bed *b, int64_t after_ms)
{
	b->sample.taken_ms += after_ms;
	left_look(&b->left, &b->sample, b->pods);
}

static void know(struct bed *b, const char *uuid, bool mps)
{
	const char *uuids[] = {uuid};
	struct node_pod pod = {.uid = "11111111-2222-3333-4444-555555555555",
		.ns = "aliquot-system",
		.name = "capacity",
		.capacity = true,
		.mps = mps,
		.phase = POD_RUNNING,
		.uuids = uuids,
		.uuid_count = uuid != NULL ? 1 : 0};
	cr_assert(node_pods_set(b->pods, &pod));
}

Test(left, a_mode_that_lasts_is_told_until_it_is_set_back)
{
	struct bed b;
	begin(&b);
	look(&b, 0);
	look(&b, 29000);
	cr_expect_null(left_why(&b.left, KEPT), "its capacity pod may be told yet");
	look(&b, 1000);
	cr_assert_not_null(left_why(&b.left, KEPT));
	cr_expect_not_null(strstr(left_why(&b.left, KEPT), "nvidia-smi -c 0"));
	cr_expect_null(left_why(&b.left, OTHER), "nobody of ours was there");
	cr_expect_eq(left_count(&b.left), 1);
	b.readings[0].figures[FIGURE_COMPUTE_MODE] = COMPUTE_MODE_DEFAULT;
	look(&b, 1000);
	cr_expect_null(left_why(&b.left, KEPT));
	cr_expect_eq(left_count(&b.left), 0);
	finish(&b);
}

Test(left, a_daemon_that_is_kept_or_may_be_is_none)
{
	const struct {
		const char *uuid;
		bool mps, left;
	} rows[] = {
		{KEPT, true, false}, {OTHER, true, true}, {NULL, true, false}, {KEPT, false, true}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed b;
		begin(&b);
		know(&b, rows[i].uuid, rows[i].mps);
		look(&b, 0);
		look(&b, 60000);
		cr_expect_eq(left_why(&b.left, KEPT) != NULL, rows[i].left, "row %zu", i);
		finish(&b);
	}
}

Test(left, other_modes_and_silence_are_none)
{
	const int64_t modes[] = {COMPUTE_MODE_DEFAULT, COMPUTE_MODE_PROHIBITED, GPU_UNKNOWN};
	for (size_t i = 0; i < COUNT_OF(modes) + 2; i++) {
		struct bed b;
		begin(&b);
		if (i < COUNT_OF(modes)) {
			b.readings[0].figures[FIGURE_COMPUTE_MODE] = modes[i];
		} else if (i == COUNT_OF(modes)) {
			b.readings[0].answered = false;
		} else {
			b.left.mps_root = "";
		}
		look(&b, 0);
		look(&b, 60000);
		cr_expect_null(left_why(&b.left, KEPT), "%zu", i);
		finish(&b);
	}
}
