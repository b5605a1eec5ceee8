/* What the watchdog remembers is found by its key, whatever came and went before. */
#include "guardian/overuse.h"
#include "guardian/overuse_find.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/alloc.h"

static void add_over(struct overuses *all, int uid, int uuid)
{
	char a[16], b[16];
	snprintf(a, sizeof a, "u%d", uid);
	snprintf(b, sizeof b, "G%d", uuid);
	struct overuse made = {.uid = xstrdup(a), .uuid = xstrdup(b), .share_mib = uid + uuid};
	cr_expect_eq(overuse_add(all, &made)->share_mib, uid + uuid);
}

static bool has_over(struct overuses *all, int uid, int uuid)
{
	char a[16], b[16];
	snprintf(a, sizeof a, "u%d", uid);
	snprintf(b, sizeof b, "G%d", uuid);
	const struct overuse *o = overuse_find(all, a, b);
	cr_expect(o == NULL || (strcmp(o->uid, a) == 0 && strcmp(o->uuid, b) == 0));
	return o != NULL;
}

/* The last one moves to the place of the one that goes. */
Test(overuse_find, a_tenant_on_several_gpus)
{
	struct overuses all = {0};
	overuses_init(&all);
	for (int i = 0; i < 200; i++) {
		add_over(&all, i / 2, i % 2);
	}
	for (size_t i = all.items.count; i-- > 0;) {
		if (i % 3 == 0) {
			overuse_drop(&all, i);
		}
	}
	cr_expect_eq(all.items.count, 133);
	size_t found = 0;
	for (int i = 0; i < 200; i++) {
		found += has_over(&all, i / 2, i % 2);
	}
	cr_expect_eq(found, 133);
	cr_expect(!has_over(&all, 7, 2) && !has_over(&all, 200, 0));
	overuse_forget(&all);
	cr_expect(!has_over(&all, 1, 1) && all.items.count == 0);
	add_over(&all, 1, 1);
	cr_expect(has_over(&all, 1, 1), "it is as good as new");
	overuse_forget(&all);
}

Test(overuse_find, gpus_failures_and_remarks)
{
	static const char *const keys[] = {"a", "b", "c"};
	struct overuses all = {0};
	overuses_init(&all);
	for (size_t i = 0; i < 3; i++) {
		struct crowd c = {.uuid = xstrdup(keys[i]), .failed_at = (int64_t)i};
		struct failure f = {.uid = xstrdup(keys[i]), .at_ms = (int64_t)i};
		struct remark r = {xstrdup(keys[i]), (int64_t)i};
		(void)crowd_add(&all, &c);
		(void)failure_add(&all, &f);
		(void)remark_add(&all, &r);
	}
	crowd_drop(&all, 0);
	failure_drop(&all, 1);
	remark_drop(&all, 2);
	cr_expect(crowd_find(&all, "a") == NULL && failure_find(&all, "b") == NULL &&
		  remark_find(&all, "c") == NULL);
	cr_expect_eq(crowd_find(&all, "c")->failed_at, 2);
	cr_expect_eq(crowd_find(&all, "b")->failed_at, 1);
	cr_expect_eq(failure_find(&all, "c")->at_ms, 2);
	cr_expect_eq(remark_find(&all, "a")->at, 0);
	overuse_forget(&all);
}
