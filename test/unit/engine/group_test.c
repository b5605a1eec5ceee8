/* gpu-count: the same share on each of k GPUs of one node, all or nothing. */
#include "../often.h"
#include "cluster.h"

static void arrive_many(struct cluster *c, const char *name, int count, int64_t milli)
{
	struct obj *o = add(c, name);
	o->gated = true;
	o->ask_milli = milli;
	o->count = count;
	publish(c, o);
}

/* In how many ledgers a pod stands. */
static int entries_of(struct cluster *c, const char *name)
{
	int n = 0;
	const struct obj *t = find(c, name);
	for (int i = 0; i < PODS_MAX; i++) {
		const struct obj *o = &c->pods[i];
		for (uint32_t k = 0; t != NULL && o->exists && k < o->grant_count; k++) {
			n += strcmp(o->grants[k].uid, t->uid) == 0;
		}
	}
	return n;
}

Test(group, k20_all_or_nothing)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive(c, "a", 800);
	arrive(c, "b", 800);
	run_for(c, 2000);
	cr_assert_eq(placed(c), 2);
	leave(c, find(c, "b"));
	arrive_many(c, "g", 2, 500);
	run_for(c, 40000);
	cr_assert(find(c, "g")->gated);
	cr_assert_eq(entries_of(c, "g"), 0, "nothing is held of what is not whole");
	cr_assert_str_eq(c->said, "short of GPUs: needs 0.50 GPU on each of 2 of one node, n0 has "
				  "room on 1; 1 GPU lacks compute");
	leave(c, find(c, "a"));
	run_for(c, 3000);
	cr_assert_not(find(c, "g")->gated);
	cr_assert_str_eq(find(c, "g")->uuid, "GPU-n0-0,GPU-n0-1");
	cr_assert_eq(c->places, 3, "one patch for both");
	cluster_free(c);
}

/* What an earlier term sent may be done late, and strike it out of a ledger that is as it was then.
 * So a new one writes each ledger before it tells a tenant of several GPUs what stands there. */
Test(group, a_new_term_writes_the_ledgers_of_who_was_not_told)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive_many(c, "g", 2, 500);
	for (int i = 0; i < 10 && c->grants < 2; i++) {
		turn(c);
	}
	cr_assert_eq(entries_of(c, "g"), 2);
	cr_assert_eq(c->places, 0);
	start_engine(c);
	for (int i = 0; i < 10 && c->grants < 4; i++) {
		cr_assert_eq(c->places, 0, "it is not told before");
		turn(c);
	}
	run_for(c, 3000);
	cr_assert_not(find(c, "g")->gated);
	cr_assert_eq(c->grants, 4, "%d", (int)c->grants);
	run_for(c, 20000);
	cr_assert_eq(c->grants, 4, "once");
	cluster_free(c);
}

/* The capacity pod that has nobody in its books. */
static struct obj *empty_one(struct cluster *c)
{
	for (int i = 0; i < PODS_MAX; i++) {
		struct obj *o = &c->pods[i];
		if (o->exists && o->capacity && o->grant_count == 0) {
			return o;
		}
	}
	return NULL;
}

Test(group, k20_what_is_told_is_what_was_asked_for_not_what_stands_in_the_books)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive(c, "a", 800);
	arrive(c, "b", 800);
	run_for(c, 2000);
	leave(c, find(c, "b"));
	run_for(c, 2000);
	arrive_many(c, "g", 2, 500);
	struct obj *half = empty_one(c);
	cr_assert_not_null(half);
	half->grants[half->grant_count++] = (struct grant_copy){.milli = 500, .mib = USABLE / 2};
	snprintf(half->grants[0].uid, sizeof half->grants[0].uid, "%s", find(c, "g")->uid);
	half->rv = ++c->rv;
	publish(c, half);
	run_for(c, 20000);
	cr_assert_eq(entries_of(c, "g"), 1);
	/* It has one and lacks the other: there are GPUs, and none has room. */
	cr_expect_str_eq(c->said, "short of GPUs: needs 0.50 GPU on each of 2 of one node, n0 has "
				  "room on 1");
	cluster_free(c);
}

Test(group, k21_three_halves_and_three_singles_fill_three_gpus)
{
	struct cluster *c = cluster_new(2, 3, 1);
	arrive_many(c, "g", 3, 500);
	run_for(c, 3000);
	cr_assert_not(find(c, "g")->gated);
	cr_assert_eq(c->creates, 3);
	const char *const names[] = {"x", "y", "z"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		arrive(c, names[i], 500);
	}
	run_for(c, 3000);
	cr_assert_eq(placed(c), 4);
	cr_assert_eq(c->creates, 3, "the singles fill the halves that are left");
	start_engine(c);
	arrive(c, "w", 100);
	run_for(c, 3000);
	cr_assert_eq(c->creates, 4, "a restart knows of all three shares");
	leave(c, find(c, "g"));
	arrive_many(c, "h", 3, 500);
	run_for(c, 3000);
	cr_assert_str_eq(
		find(c, "h")->uuid, "GPU-n0-0,GPU-n0-1,GPU-n0-2", "%s", find(c, "h")->uuid);
	cluster_free(c);
}

/* Another leader had written one half and ended. */
static struct cluster *with_half(const char *room)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive(c, "a", 400);
	arrive(c, "b", 700);
	run_for(c, 2000);
	if (room != NULL) {
		leave(c, find(c, room));
		run_for(c, 1000);
	}
	struct obj *h = find(c, find(c, "a")->holder);
	arrive_many(c, "g", 2, 500);
	snprintf(h->grants[h->grant_count].uid, sizeof h->grants[0].uid, "%s", find(c, "g")->uid);
	h->grants[h->grant_count].milli = 500;
	h->grants[h->grant_count++].mib = 40000;
	h->rv = ++c->rv;
	start_engine(c);
	return c;
}

/* "a" and "b" leave it no room on either GPU, for longer than anybody has patience. */
static struct cluster *with_one_passed_over(void)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive(c, "a", 600);
	arrive(c, "b", 700);
	run_for(c, 2000);
	arrive_many(c, "g", 2, 500);
	run_for(c, 61000);
	return c;
}

/* What gets free on either GPU of the node is kept until both have room. */
Test(group, c17_one_that_is_passed_over_reserves_all_that_it_needs)
{
	struct cluster *c = with_one_passed_over();
	arrive(c, "s", 300);
	run_for(c, 15000);
	cr_assert(find(c, "s")->gated, "there is room, and it is kept");
	cr_assert_eq(engine_report(c->e)->by_reason[REASON_RESERVED], 1);
	leave(c, find(c, "a"));
	run_for(c, 5000);
	cr_assert(find(c, "s")->gated, "one of two is not enough, and is kept");
	leave(c, find(c, "b"));
	run_for(c, 5000);
	cr_assert_not(find(c, "g")->gated);
	cr_assert_not(find(c, "s")->gated, "what is left is nobody's");
	cluster_free(c);
}

/* Given back, its place would be anybody's until it is open again. */
Test(group, c17_what_is_reserved_is_not_given_back_for_being_empty)
{
	struct cluster *c = with_one_passed_over();
	struct obj *emptied = find(c, find(c, "a")->holder);
	leave(c, find(c, "a"));
	run_for(c, 90000);
	cr_assert(emptied->exists, "it is reserved");
	leave(c, find(c, "g"));
	run_for(c, 90000);
	cr_assert_not(emptied->exists, "nobody waits for it any more");
	cluster_free(c);
}

Test(group, a_half_that_was_left_behind_is_completed)
{
	struct cluster *c = with_half("b");
	run_for(c, 3000);
	cr_assert_not(find(c, "g")->gated);
	cr_assert_eq(entries_of(c, "g"), 2);
	cluster_free(c);
}

Test(group, a_half_that_cannot_be_completed_is_given_back)
{
	struct cluster *c = with_half(NULL);
	arrive(c, "s", 600);
	run_for(c, 29000);
	cr_assert_eq(entries_of(c, "g"), 1);
	cr_assert(find(c, "s")->gated);
	run_for(c, 4000);
	cr_assert_eq(entries_of(c, "g"), 0);
	cr_assert_not(find(c, "s")->gated);
	/* It is as any other after that. */
	leave(c, find(c, "s"));
	leave(c, find(c, "b"));
	run_for(c, 4000);
	cr_assert_not(find(c, "g")->gated);
	cluster_free(c);
}

static struct obj *holder_with(struct cluster *c, const char *name)
{
	return find(c, find(c, name)->holder);
}

/* Another leader, who had waited as long as this one, gives its half back and at once another one
 * on another GPU: that is as new as any. */
Test(group, a_half_that_was_given_anew_is_not_given_back)
{
	struct cluster *c = with_half(NULL);
	struct obj *from = holder_with(c, "a"), *to = holder_with(c, "b");
	run_for(c, 29500);
	cr_assert_eq(entries_of(c, "g"), 1);
	arrive(c, "s", 600);
	struct grant_copy *half = &to->grants[to->grant_count++], *had = &from->grants[1];
	*half = *had;
	half->milli = 300;
	half->mib = 20000;
	snprintf(had->uid, sizeof had->uid, "%s", find(c, "s")->uid);
	had->milli = 600;
	from->rv = ++c->rv;
	to->rv = ++c->rv;
	publish(c, from);
	publish(c, to);
	run_for(c, 15000);
	cr_assert_not(find(c, "s")->gated);
	cr_assert_eq(entries_of(c, "g"), 1, "the other one may tell it any moment");
	run_for(c, 20000);
	cr_assert_eq(entries_of(c, "g"), 0);
	cluster_free(c);
}

Test(group, c7_each_of_its_gpus_counts)
{
	struct cluster *c = cluster_new(1, 4, 1);
	struct quota q = {.ns = "default", .name = "gpus", .bounds_gpus = true, .hard_milli = 1100};
	struct change set = {.type = CHANGE_SET, .kind = KIND_QUOTA, .quota = &q};
	engine_observe(c->e, &set);
	arrive_many(c, "g", 2, 400);
	run_for(c, 3000);
	arrive_many(c, "h", 2, 200);
	run_for(c, 12000);
	cr_assert_not(find(c, "g")->gated);
	cr_assert(find(c, "h")->gated);
	cr_assert(strstr(c->said, "needs 0.20 GPU on each of 2, more than a ResourceQuota") != NULL,
		"%s", c->said);
	cr_assert(strstr(c->said, "0.80 GPU of it taken") != NULL, "%s", c->said);
	arrive(c, "s", 300);
	run_for(c, 3000);
	cr_assert_not(find(c, "s")->gated);
	cluster_free(c);
}

/* It stands in the ledgers and is not told yet. */
Test(group, c7_each_of_those_that_it_was_promised_counts)
{
	struct cluster *c = cluster_new(1, 2, 1);
	struct quota q = {.ns = "default", .name = "gpus", .bounds_gpus = true, .hard_milli = 1000};
	struct change set = {.type = CHANGE_SET, .kind = KIND_QUOTA, .quota = &q};
	engine_observe(c->e, &set);
	arrive_many(c, "g", 2, 300);
	for (int i = 0; i < 200 && c->grants < 2; i++) {
		turn(c);
	}
	cr_assert_eq(entries_of(c, "g"), 2);
	cr_assert_eq(c->places, 0);
	arrive(c, "s", 450);
	run_for(c, 15000);
	cr_assert_not(find(c, "g")->gated);
	cr_assert(find(c, "s")->gated, "0.60 GPU of 1.00 were promised");
	cr_assert_eq(entries_of(c, "s"), 0);
	cluster_free(c);
}

/* On how many GPUs of one node it fits, at most. */
static int room_for(struct cluster *c, const struct obj *o)
{
	int most = 0;
	for (int n = 0; n < c->nodes; n++) {
		int fits = 0;
		for (int g = 0; g < c->gpus; g++) {
			char uuid[32];
			int64_t used = 0;
			snprintf(uuid, sizeof uuid, "GPU-n%d-%d", n, g);
			for (int i = 0; i < PODS_MAX; i++) {
				const struct obj *t = &c->pods[i];
				bool there = t->exists && !t->capacity && !t->gated;
				used += there && gpu_list_has(t->uuid, uuid) ? t->milli : 0;
			}
			fits += used + o->ask_milli <= 1000;
		}
		most = fits > most ? fits : most;
	}
	return most;
}

/* Writes conflict, fail and get lost, leaders forget everything: the checks hold at every turn, and
 * once that is over everybody for whom there is a place has it. */
Test(group, faults_leave_no_halves)
{
	int waited = 0;
	for (uint64_t seed = 1; seed <= OFTEN(30); seed++) {
		struct cluster *c = cluster_new(2, 4, seed);
		char name[16];
		c->delay_ms = 300;
		c->lose_percent = c->fail_percent = 15;
		for (int i = 0; i < 12; i++) {
			snprintf(name, sizeof name, "t%d", i);
			arrive_many(c, name, 1 + i % 3, 100 * (1 + i % 4));
			run_for(c, 400);
			if (i % 5 == 4) {
				start_engine(c);
			}
		}
		run_for(c, 20000);
		c->lose_percent = c->fail_percent = 0;
		run_for(c, 100000);
		for (int i = 0; i < 12; i++) {
			snprintf(name, sizeof name, "t%d", i);
			const struct obj *o = find(c, name);
			cr_assert_eq(entries_of(c, name), o->gated ? 0 : o->count, "seed %llu, %s",
				(unsigned long long)seed, name);
			cr_assert(!o->gated || room_for(c, o) < o->count, "seed %llu, %s",
				(unsigned long long)seed, name);
		}
		waited += 12 - placed(c);
		cluster_free(c);
	}
	cr_assert_leq(waited, OFTEN(36), "mostly there is one");
}

/* Not "no node has a GPU". */
Test(group, without_any_room_gpus_are_what_is_short)
{
	struct cluster *c = cluster_new(1, 2, 1);
	arrive(c, "a", 800);
	arrive(c, "b", 800);
	run_for(c, 2000);
	arrive_many(c, "g", 2, 500);
	run_for(c, 15000);
	cr_assert_str_eq(c->said, "short of GPUs: needs 0.50 GPU on each of 2 of one node, n0 has "
				  "room on none; 2 GPUs lack compute");
	cluster_free(c);
}
