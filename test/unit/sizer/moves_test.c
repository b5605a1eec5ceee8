/* Tenants whose neighbours take what they lack go to another GPU, one at a time. */
#include "played.h"

#include "rollouts/roll_record.h"
#include "tracking/workload_table.h"

#define WEB "deployment-web"

/* So many replicas of 30 % each, which use 20, on one GPU. */
static void on_one_gpu(struct played *p, int replicas)
{
	played_init(p, "Deployment", replicas);
	p->gpu = "GPU-1";
	played_automate(p);
	played_run(p, 20 + 10 * replicas);
	cr_assert_eq(played_whole(p), 0);
	cr_assert_eq(p->bed->evictions, replicas);
	p->bed->evictions = 0;
	p->bed->request_count = 0;
	p->bed->reasons[0] = '\0';
	p->gpu = "GPU-2";
}

/* A neighbour of that share comes to it, which a person asked for. */
static void beside(struct played *p, int64_t milli)
{
	p->bed->unadvised = true;
	bed_tenant(p->bed, "loud", "n", milli, 20 * 1024);
	bed_turn(p->bed);
}

/* One that was recommended. */
static void beside_ours(struct played *p, int64_t milli)
{
	bed_tenant(p->bed, "loud", "n", milli, 20 * 1024);
	bed_turn(p->bed);
}

/* And uses so much. */
static void crowd(struct played *p, int minutes, int percent)
{
	for (int i = 0; i < minutes * 2; i++) {
		cr_assert(bed_use(p->bed, "n", percent, 1024));
		played_pass(p, true);
	}
}

static const char *message(struct played *p, enum recommendation_condition type)
{
	return text_or(bed_told(p->bed, WEB)->conditions[type].message, "");
}

static bool contended(struct played *p)
{
	return bed_told(p->bed, WEB)->conditions[RECOMMENDATION_CONTENTION].status ==
	       CONDITION_TRUE;
}

static int on(const struct played *p, const char *gpu)
{
	int n = 0;
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		n += p->pods[i].there && text_equals(p->pods[i].gpu, gpu);
	}
	return n;
}

/* Nothing on any node has room. */
static void nodes_are(struct played *p, bool ready)
{
	char name[32];
	for (int i = -1; i < p->made; i++) {
		snprintf(name, sizeof name, i < 0 ? "node" : "node-%d", i);
		struct node n = {.name = name,
			.uid = name,
			.resource_version = "2",
			.gpus = 8,
			.pod_slots = 100,
			.ready = ready};
		struct change c = {.kind = KIND_NODE, .node = &n};
		bed_world(p->bed, &c);
	}
}

Test(moves, H9_who_is_contended_for_long_goes_to_another_gpu)
{
	struct played p;
	on_one_gpu(&p, 2);
	beside(&p, 700);
	crowd(&p, 35, 58);
	cr_expect(contended(&p));
	cr_expect_eq(p.bed->evictions, 0, "it has to last");
	cr_expect(strstr(message(&p, RECOMMENDATION_CONTENTION), "goes to another GPU from 20") !=
			  NULL,
		"%s", message(&p, RECOMMENDATION_CONTENTION));
	crowd(&p, 10, 58);
	cr_expect_eq(p.bed->evictions, 1);
	cr_expect_eq(on(&p, "GPU-1"), 1);
	cr_expect_eq(on(&p, "GPU-2"), 1);
	cr_expect_eq(p.bed->request_count, 1);
	cr_expect_eq(p.bed->request.away_ms, 6 * HOUR_MS);
	cr_expect_not_null(strstr(p.bed->reasons, "UpdateStarted "));
	cr_expect_str_eq(p.bed->message,
		"pod web-2 is evicted so that the next one gets 30% of a GPU and 7Gi on another "
		"GPU (deployment-web@1); it has neighbours that take what it lacks");
	cr_expect_eq(bed_told(p.bed, WEB)->containers[0].target.milli, 300, "it does not grow");
	crowd(&p, 180, 58);
	cr_expect_eq(p.bed->evictions, 1, "it was enough");
	cr_expect_not(contended(&p));
	bed_free(p.bed);
}

Test(moves, the_next_one_waits_whether_it_helped)
{
	struct played p;
	on_one_gpu(&p, 2);
	beside(&p, 900);
	crowd(&p, 45, 80);
	cr_assert_eq(p.bed->evictions, 1);
	crowd(&p, 20, 80);
	cr_expect_eq(p.bed->evictions, 1);
	crowd(&p, 10, 80);
	cr_expect_eq(p.bed->evictions, 2, "it did not");
	cr_expect_eq(on(&p, "GPU-2"), 2);
	bed_free(p.bed);
}

Test(moves, who_came_with_a_move_stays_for_the_hold)
{
	struct played p;
	on_one_gpu(&p, 2);
	p.gpu = "GPU-1"; /* nothing else was to be had after all */
	beside(&p, 900);
	crowd(&p, 80, 80);
	cr_assert_eq(p.bed->evictions, 2);
	crowd(&p, 310, 80);
	cr_expect_eq(p.bed->evictions, 2, "nobody is driven about");
	crowd(&p, 80, 80);
	cr_expect_eq(p.bed->evictions, 4);
	bed_free(p.bed);
}

/* However short healing's hold is. */
Test(moves, without_a_hold_it_stays_for_six_hours)
{
	struct played p;
	on_one_gpu(&p, 2);
	p.bed->sizing.heal_compute.hold_s = 0;
	bed_policy(p.bed);
	p.gpu = "GPU-1";
	beside(&p, 900);
	crowd(&p, 80, 80);
	cr_assert_eq(p.bed->evictions, 2);
	cr_expect_eq(p.bed->request.away_ms, 6 * HOUR_MS);
	crowd(&p, 300, 80);
	cr_expect_eq(p.bed->evictions, 2, "nobody is driven about");
	bed_free(p.bed);
}

Test(moves, nor_for_longer_than_a_day)
{
	struct played p;
	on_one_gpu(&p, 2);
	p.bed->sizing.heal_compute.hold_s = 7 * 86400;
	bed_policy(p.bed);
	beside(&p, 700);
	crowd(&p, 45, 58);
	cr_assert_eq(p.bed->evictions, 1);
	cr_expect_eq(p.bed->request.away_ms, 24 * HOUR_MS);
	bed_free(p.bed);
}

/* Of others, that rest for so long from now on. */
static void fill_list(struct played *p, size_t count, int64_t rest_ms)
{
	for (size_t i = 0; i < count; i++) {
		struct move m = {.workload = i + 1,
			.gpu = UINT32_MAX,
			.at_ms = p->bed->now.policy_ms,
			.rest_ms = i == 0 ? rest_ms : 24 * HOUR_MS};
		VEC_PUSH(&p->bed->sizer->rollouts.moves.list, m);
	}
}

Test(moves, where_too_many_rest_nobody_goes)
{
	struct played p;
	on_one_gpu(&p, 2);
	beside(&p, 700);
	crowd(&p, 20, 58);
	fill_list(&p, 256, 2 * HOUR_MS);
	crowd(&p, 100, 58);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_eq(p.bed->sizer->rollouts.moves.list.count, 256);
	cr_expect(
		strstr(message(&p, RECOMMENDATION_CONTENTION), "goes to another GPU from") != NULL,
		"%s", message(&p, RECOMMENDATION_CONTENTION));
	crowd(&p, 25, 58);
	cr_expect_eq(p.bed->evictions, 1, "one of them rests no longer");
	cr_expect_eq(p.bed->sizer->rollouts.moves.list.count, 256);
	bed_free(p.bed);
}

static void set_back(struct played *p, int64_t ms)
{
	p->bed->now.policy_ms -= ms;
	p->bed->now.wall_ms -= ms;
	p->leads_since_ms -= ms;
}

/* Minutes are kept in a ring: what is as old as the half of it would be to come. */
Test(moves, what_lasts_for_weeks_counts_as_one)
{
	struct played p;
	on_one_gpu(&p, 2);
	beside(&p, 700);
	crowd(&p, 25, 58);
	struct sized_workload *x = sized_find(&p.bed->sizer->tracking, "team", WEB);
	struct heal_feed *h = &x->members->feeds[0].heal;
	cr_assert_neq(h->contended, 0);
	int64_t then = h->contended;
	h->contended = (uint16_t)((then - 30000 + 65535 - 1) % 65535 + 1);
	crowd(&p, 1, 58);
	int64_t since = (then - h->contended + 65535) % 65535;
	cr_expect(since > 7 * 1440 - 60 && since <= 7 * 1440, "%lld", (long long)since);
	bed_free(p.bed);
}

/* What begins later than now has only just begun. */
Test(moves, a_clock_that_is_set_back_hurries_nobody)
{
	struct played p;
	on_one_gpu(&p, 2);
	beside(&p, 700);
	crowd(&p, 25, 58);
	cr_assert(contended(&p));
	set_back(&p, 30 * MINUTE_MS);
	crowd(&p, 25, 58);
	cr_expect_eq(p.bed->evictions, 0);
	crowd(&p, 40, 58);
	cr_expect_eq(p.bed->evictions, 1);
	bed_free(p.bed);
}

Test(moves, nor_does_anybody_rest_until_it_is_as_late_again)
{
	struct played p;
	on_one_gpu(&p, 2);
	p.gpu = "GPU-1";
	beside(&p, 900);
	crowd(&p, 80, 80);
	cr_assert_eq(p.bed->evictions, 2);
	set_back(&p, 4 * HOUR_MS);
	for (size_t i = 0; i < p.bed->sizer->rollouts.moves.list.count; i++) {
		struct move *m = &p.bed->sizer->rollouts.moves.list.items[i];
		cr_assert_gt(m->at_ms, p.bed->now.policy_ms);
	}
	crowd(&p, 30, 80);
	for (size_t i = 0; i < p.bed->sizer->rollouts.moves.list.count; i++) {
		struct move *m = &p.bed->sizer->rollouts.moves.list.items[i];
		cr_expect_leq(m->at_ms, p.bed->now.policy_ms - 20 * MINUTE_MS);
	}
	bed_free(p.bed);
}

Test(moves, without_room_elsewhere_it_stays_and_says_so)
{
	struct played p;
	on_one_gpu(&p, 2);
	beside(&p, 700);
	nodes_are(&p, false);
	crowd(&p, 60, 58);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect(contended(&p));
	cr_expect(strstr(message(&p, RECOMMENDATION_CONTENTION),
			  "no other GPU has room for the new pod; looked at again every") != NULL,
		"%s", message(&p, RECOMMENDATION_CONTENTION));
	cr_expect_str_eq(bed_reason(p.bed, WEB, RECOMMENDATION_UPDATE_BLOCKED), "NoSurgeCapacity");
	nodes_are(&p, true);
	crowd(&p, 2, 58);
	cr_expect_eq(p.bed->evictions, 1);
	bed_free(p.bed);
}

/* There is room on GPU-2 alone. One of it went from there, which the engine remembers: true. */
static int moved_to_one(bool left)
{
	struct played p;
	on_one_gpu(&p, 2);
	nodes_are(&p, false);
	p.bed->gpus = 1;
	bed_node(p.bed, "node");
	bed_capacity(p.bed, "capacity-2", "GPU-2");
	if (left) {
		struct sized_workload *x = sized_find(&p.bed->sizer->tracking, "team", WEB);
		struct move m = {
			.workload = hash_bytes(x->row.name, strlen(x->row.name), hash_text("team")),
			.room = hash_text("capacity-2"),
			.gpu = UINT32_MAX,
			.at_ms = p.bed->now.policy_ms,
			.rest_ms = HOUR_MS + 30 * MINUTE_MS};
		VEC_PUSH(&p.bed->sizer->rollouts.moves.list, m);
	}
	beside(&p, 700);
	crowd(&p, 60, 58);
	int n = p.bed->evictions;
	crowd(&p, 60, 58);
	cr_expect_eq(p.bed->evictions, 1, "for a while");
	bed_free(p.bed);
	return n;
}

Test(moves, what_others_of_it_left_is_no_room)
{
	cr_expect_eq(moved_to_one(false), 1);
	cr_expect_eq(moved_to_one(true), 0);
}

Test(moves, the_last_ready_pod_stays)
{
	struct played p;
	on_one_gpu(&p, 1);
	cr_assert(p.bed->rollout.evicts, "which lets us do without it for another share");
	beside(&p, 900);
	crowd(&p, 60, 80);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_str_eq(bed_reason(p.bed, WEB, RECOMMENDATION_UPDATE_BLOCKED), "LastReadyReplica");
	cr_expect(strstr(message(&p, RECOMMENDATION_CONTENTION), "last Ready replica") != NULL,
		"%s", message(&p, RECOMMENDATION_CONTENTION));
	bed_free(p.bed);
}

/* Its share is as before, so that there is none to go back to. */
Test(moves, one_that_fails_stops_nothing_else)
{
	struct played p;
	on_one_gpu(&p, 3);
	beside(&p, 700);
	p.sick = true;
	crowd(&p, 45, 58);
	cr_assert_eq(p.bed->evictions, 1);
	crowd(&p, 50, 58);
	cr_expect_not_null(strstr(p.bed->reasons, "ReplacementFailed "), "%s", p.bed->reasons);
	cr_expect_null(strstr(p.bed->reasons, "PodReplaced "), "%s", p.bed->reasons);
	cr_expect_null(strstr(p.bed->reasons, "RolledBack "), "%s", p.bed->reasons);
	cr_expect_neq(
		bed_told(p.bed, WEB)->conditions[RECOMMENDATION_PAUSED].status, CONDITION_TRUE);
	cr_expect_eq(bed_told(p.bed, WEB)->containers[0].target.milli, 300);
	bed_free(p.bed);
}

/* Who takes more than he has gets it, or goes himself: the victim is patient. */
Test(moves, a_neighbour_that_takes_too_much_may_go_first)
{
	struct played p;
	on_one_gpu(&p, 2);
	beside_ours(&p, 500);
	crowd(&p, 65, 58);
	cr_expect(contended(&p));
	cr_expect_eq(p.bed->evictions, 0);
	crowd(&p, 10, 58);
	cr_expect_eq(p.bed->evictions, 1, "but not for ever");
	bed_free(p.bed);
}

Test(moves, of_those_that_are_contended_the_smallest_goes)
{
	struct played p;
	on_one_gpu(&p, 2);
	beside_ours(&p, 700);
	crowd(&p, 45, 58);
	cr_expect_eq(p.bed->evictions, 1);
	cr_expect_eq(on(&p, "GPU-1"), 1);
	crowd(&p, 120, 58);
	cr_expect_eq(p.bed->evictions, 1);
	bed_free(p.bed);
}

Test(moves, a_break_begins_it_anew)
{
	struct played p;
	on_one_gpu(&p, 2);
	beside(&p, 700);
	crowd(&p, 35, 58);
	crowd(&p, 10, 20);
	crowd(&p, 35, 58);
	cr_expect_eq(p.bed->evictions, 0);
	crowd(&p, 10, 58);
	cr_expect_eq(p.bed->evictions, 1);
	bed_free(p.bed);
}

Test(moves, who_hardly_computes_lacks_nothing)
{
	struct played p;
	on_one_gpu(&p, 2);
	p.bed->sizing.scale_down_delay_s = 86400;
	bed_policy(p.bed);
	beside(&p, 990);
	p.percent = 5;
	crowd(&p, 90, 93);
	cr_expect_eq(p.bed->evictions, 0);
	bed_free(p.bed);
}

/* The budget is not asked twice for it, and the pod that stayed is no new one. */
Test(moves, a_refused_one_is_tried_again)
{
	struct played p;
	on_one_gpu(&p, 2);
	beside(&p, 700);
	p.min_available = 2;
	crowd(&p, 50, 58);
	cr_expect_eq(p.bed->evictions, 0);
	cr_expect_geq(p.refusals, 3, "30 s, 1 min, 2 min");
	cr_expect_lt(p.bed->request.away_ms, 0, "nobody keeps off a GPU that none has left");
	p.min_available = 1;
	crowd(&p, 12, 58);
	cr_expect_eq(p.bed->evictions, 1);
	bed_free(p.bed);
}

static int moved_after(struct played *p, int minutes)
{
	beside(p, 700);
	crowd(p, minutes, 58);
	int n = p->bed->evictions;
	bed_free(p->bed);
	return n;
}

Test(moves, a_policy_that_does_not_heal_moves_nobody)
{
	struct played p;
	on_one_gpu(&p, 2);
	p.bed->sizing.heal_compute.enabled = false;
	bed_policy(p.bed);
	cr_expect_eq(moved_after(&p, 90), 0);
}

Test(moves, nor_does_one_that_only_recommends)
{
	struct played p;
	on_one_gpu(&p, 2);
	p.bed->mode = MODE_RECOMMEND;
	bed_policy(p.bed);
	cr_expect_eq(moved_after(&p, 90), 0);
}

/* Training would begin anew. */
Test(moves, nor_does_one_that_keeps_running_pods)
{
	struct played p;
	on_one_gpu(&p, 2);
	p.bed->sizing.keeps_running = true;
	bed_policy(p.bed);
	cr_expect_eq(moved_after(&p, 90), 0);
}

Test(moves, what_a_person_asked_for_stays)
{
	struct played p;
	on_one_gpu(&p, 2);
	p.unadvised = true;
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		if (p.pods[i].there) {
			played_show(&p, &p.pods[i]);
		}
	}
	bed_restart(p.bed);
	cr_expect_eq(moved_after(&p, 90), 0);
}

/* What is forgotten is for how long. */
Test(moves, after_a_restart_it_has_to_last_anew)
{
	struct played p;
	on_one_gpu(&p, 2);
	beside(&p, 700);
	crowd(&p, 35, 58);
	bed_restart(p.bed);
	bed_turn(p.bed);
	crowd(&p, 35, 58);
	cr_expect_eq(p.bed->evictions, 0);
	crowd(&p, 12, 58);
	cr_expect_eq(p.bed->evictions, 1);
	bed_free(p.bed);
}

/* One on a whole GPU, that could be a tenant. */
static void add_whole(struct played *p)
{
	p->webhook = false;
	(void)played_make(p, "web", true);
	p->webhook = true;
}

Test(moves, where_nobody_may_go_what_saves_goes_on)
{
	struct played p;
	on_one_gpu(&p, 2);
	for (size_t i = 0; i < PLAYED_PODS; i++) {
		if (p.pods[i].there) {
			p.pods[i].careless = true;
			played_show(&p, &p.pods[i]);
		}
	}
	beside(&p, 700);
	crowd(&p, 50, 58);
	cr_assert_eq(p.bed->evictions, 0);
	cr_expect_str_eq(bed_reason(p.bed, WEB, RECOMMENDATION_UPDATE_BLOCKED), "NotEvictable");
	add_whole(&p);
	crowd(&p, 1, 58);
	cr_expect(
		strstr(message(&p, RECOMMENDATION_CONTENTION),
			"says by an annotation that it must not be moved; looked at again") != NULL,
		"%s", message(&p, RECOMMENDATION_CONTENTION));
	crowd(&p, 2, 58);
	cr_expect_eq(p.bed->evictions, 1);
	cr_expect_eq(played_whole(&p), 0);
	cr_expect_eq(on(&p, "GPU-1"), 2);
	bed_free(p.bed);
}

Test(moves, where_the_last_ready_one_stays_what_saves_goes_on)
{
	struct played p;
	on_one_gpu(&p, 1);
	beside(&p, 900);
	crowd(&p, 50, 80);
	cr_assert_eq(p.bed->evictions, 0);
	add_whole(&p);
	crowd(&p, 3, 80);
	cr_expect_eq(p.bed->evictions, 1);
	cr_expect_eq(played_whole(&p), 0);
	cr_expect_eq(on(&p, "GPU-1"), 1);
	bed_free(p.bed);
}

/* A replica on a whole GPU gives one back: that is what makes room. */
Test(moves, where_nothing_has_room_what_saves_goes_on)
{
	struct played p;
	on_one_gpu(&p, 2);
	beside(&p, 700);
	nodes_are(&p, false);
	crowd(&p, 50, 58);
	cr_assert_eq(p.bed->evictions, 0);
	add_whole(&p);
	nodes_are(&p, false);
	crowd(&p, 3, 58);
	cr_expect_eq(p.bed->evictions, 1);
	cr_expect_eq(played_whole(&p), 0);
	bed_free(p.bed);
}
