/* Zones as this machine has them, and those that policies name. */
#include "time_zones.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../kube/fake_wire.h"

#define FOLDER "/usr/share/zoneinfo"

static int64_t at(const char *text)
{
	int64_t ms = 0;
	cr_assert(time_parse(text, &ms));
	return ms / 1000;
}

/* What everybody can look up. Lord Howe moves by half an hour. */
Test(zones, real_files_are_read_as_people_know_them)
{
	static const struct {
		const char *name, *when;
		int32_t offset;
	} rows[] = {
		{"UTC", "2026-07-01T00:00:00Z", 0},
		{"Etc/UTC", "2026-07-01T00:00:00Z", 0},
		{"Europe/Berlin", "2026-03-29T00:59:59Z", 3600},
		{"Europe/Berlin", "2026-03-29T01:00:00Z", 7200},
		{"Europe/Berlin", "2026-10-25T01:00:00Z", 3600},
		{"America/New_York", "2026-03-08T06:59:59Z", -18000},
		{"America/New_York", "2026-03-08T07:00:00Z", -14400},
		{"America/New_York", "2026-11-01T06:00:00Z", -18000},
		{"Australia/Lord_Howe", "2026-04-04T14:59:59Z", 39600},
		{"Australia/Lord_Howe", "2026-04-04T15:00:00Z", 37800},
		{"Australia/Lord_Howe", "2026-10-03T15:30:00Z", 39600},
		{"Asia/Kolkata", "2026-07-01T00:00:00Z", 19800},
	};
	if (access(FOLDER "/Europe/Berlin", R_OK) != 0) {
		cr_skip("no zone files on this machine");
	}
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct zone z;
		struct fault f = {0};
		int32_t offset = -1;
		cr_assert_eq(zones_read(FOLDER, rows[i].name, at("2026-06-01T00:00:00Z"), &z, &f),
			0, "%s: %s", rows[i].name, f.message);
		/* 14 days back are enough for windows; here more is asked for. */
		cr_assert_eq(
			zones_read(FOLDER, rows[i].name, at("2026-01-20T00:00:00Z"), &z, &f), 0);
		cr_assert(zone_offset(&z, at(rows[i].when), &offset));
		cr_expect_eq(offset, rows[i].offset, "row %zu: %d", i, offset);
	}
}

Test(zones, nothing_but_the_folder_is_read)
{
	static const char *const names[] = {"../../../etc/passwd", "/etc/passwd", "Europe/../UTC",
		"Europe/Berlin/", ".", "", "Europe", "Mars/Base", "Europe/Ber lin"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct zone z = {.shift_count = 77};
		struct fault f = {0};
		cr_expect_eq(zones_read(FOLDER, names[i], 0, &z, &f), -1, "%s", names[i]);
		cr_expect_neq(f.kind, FAULT_NONE);
		cr_expect_eq(z.shift_count, 77);
	}
}

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct events *events;
	struct world *world;
	struct around *around;
	struct zones *zones;
	char folder[64];
};

static void policy(struct bed *b, const char *zone)
{
	struct rollout_window w = {.days = 1, .time_zone = zone};
	struct policy p = {.name = "nights",
		.uid = "p",
		.resource_version = "1",
		.rollout = {.windows = &w, .window_count = 1}};
	struct change c = {.type = CHANGE_SET, .kind = KIND_POLICY, .policy = &p};
	world_apply(b->world, &c);
}

static void set_up(struct bed *b)
{
	*b = (struct bed){.clock = fake_clock_make(), .folder = "/tmp/aliquot-zones-XXXXXX"};
	cr_assert_not_null(mkdtemp(b->folder));
	b->wire = fake_wire_create();
	b->cred = kube_cred_create_plain("https://api", NULL, &b->clock.clock);
	b->kube = kube_create(&b->wire->wire, b->cred, &b->clock.clock, NULL);
	b->events = events_create(b->kube, "aliquot.dev/controller", "one", 1);
	b->world = world_create();
	b->around = around_create();
	b->zones = zones_create(b->folder, &b->clock.clock, b->world, b->around, b->events);
}

static void tear_down(struct bed *b)
{
	zones_part.destroy(b->zones);
	around_destroy(b->around);
	world_destroy(b->world);
	events_destroy(b->events);
	kube_destroy(b->kube);
	kube_cred_destroy(b->cred);
	fake_wire_destroy(b->wire);
	rmdir(b->folder);
}

static void step(struct bed *b, bool tells)
{
	zones_part.step(b->zones, &(struct turn){b->clock.mono, tells});
	fake_pass(&b->clock, 6000);
}

Test(zones, what_a_policy_names_is_known_as_long_as_it_is_named)
{
	struct bed b;
	set_up(&b);
	policy(&b, "UTC");
	step(&b, true);
	cr_expect_not_null(around_zone(b.around, "UTC"));
	policy(&b, "Mars/Base");
	step(&b, true);
	cr_expect_null(around_zone(b.around, "UTC"));
	cr_expect_null(around_zone(b.around, "Mars/Base"));
	cr_expect_eq(events_queued(b.events), 1);
	step(&b, true);
	cr_expect_eq(events_queued(b.events), 1, "once");
	tear_down(&b);
}

Test(zones, only_who_leads_tells)
{
	struct bed b;
	set_up(&b);
	policy(&b, "Mars/Base");
	step(&b, false);
	cr_expect_eq(events_queued(b.events), 0);
	cr_expect_gt(zones_part.deadline(b.zones, &(struct turn){0}), b.clock.mono - 6000,
		"no spinning");
	tear_down(&b);
}
