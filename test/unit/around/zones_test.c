/* Zones by their names, and no more than a few. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "around/around.h"

Test(zones, what_is_set_is_found_until_it_is_forgotten)
{
	struct around *a = around_create();
	struct zone berlin = {.until_s = 9, .offset_s = 3600}, utc = {.until_s = 9};
	char name[ZONE_NAME_MAX + 2];
	cr_expect_null(around_zone(a, "Europe/Berlin"));
	cr_expect(around_zone_set(a, "Europe/Berlin", &berlin));
	cr_expect(around_zone_set(a, "UTC", &utc));
	cr_expect_eq(around_zone(a, "Europe/Berlin")->offset_s, 3600);
	berlin.offset_s = 7200;
	cr_expect(around_zone_set(a, "Europe/Berlin", &berlin));
	cr_expect_eq(around_zone(a, "Europe/Berlin")->offset_s, 7200);
	cr_expect(around_zone_set(a, "Europe/Berlin", NULL));
	cr_expect(around_zone_set(a, "Europe/Berlin", NULL));
	cr_expect_null(around_zone(a, "Europe/Berlin"));
	cr_expect_not_null(around_zone(a, "UTC"));
	for (int i = 1; i < AROUND_ZONES_MAX; i++) {
		snprintf(name, sizeof name, "Z/%d", i);
		cr_expect(around_zone_set(a, name, &utc));
	}
	cr_expect_not(around_zone_set(a, "Z/more", &utc));
	memset(name, 'z', sizeof name - 1);
	name[sizeof name - 1] = 0;
	cr_expect(around_zone_set(a, "UTC", NULL));
	cr_expect_not(around_zone_set(a, name, &utc), "too long a name");
	around_destroy(a);
}
