/* One surge, played against a ReplicaSet that does what the real one does: it adopts a pod that it
 * selects, and deletes what is too many, not Ready first, then the cheapest. */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "roll/surge.h"

#define MINUTE 60000LL
#define START  1767225600000LL
#define READY  90000

struct scene {
	struct surge_pod old, fresh;
	bool has_old, has_fresh;
	struct surge_live live;
	struct surge_ask ask;
	int32_t others; /* Ready pods of the set beside the old one */
	int64_t now;
	int32_t writes, least_ready;
	bool never_ready, wrong_victim;
};

static void set_up(struct scene *s, int32_t replicas)
{
	*s = (struct scene){.old = {"web-1", "o", START - MINUTE, START - MINUTE},
		.has_old = true,
		.others = replicas - 1,
		.now = START,
		.least_ready = INT32_MAX};
	s->ask = (struct surge_ask){.wanted = true,
		.allowed = true,
		.current = true,
		.replicas = replicas,
		.recounted = true};
}

static int32_t ready(const struct scene *s)
{
	return s->others + (s->has_old && !s->old.leaving ? 1 : 0) +
	       (s->has_fresh && s->fresh.adopted && s->fresh.ready_ms != 0 ? 1 : 0);
}

/* What everybody else does. */
static void world(struct scene *s)
{
	if (s->has_fresh && s->fresh.ready_ms == 0 && !s->never_ready &&
		s->now >= s->fresh.created_ms + READY) {
		s->fresh.ready_ms = s->now;
	}
	s->ask.present = s->others + (s->has_old ? 1 : 0) + (s->has_fresh && s->fresh.adopted);
	if (s->ask.present > s->ask.replicas && s->wrong_victim) {
		s->others--;
	} else if (s->ask.present > s->ask.replicas) {
		s->has_old = !s->old.low_cost;
	}
	s->ask.present = s->others + (s->has_old ? 1 : 0) + (s->has_fresh && s->fresh.adopted);
	s->least_ready = ready(s) < s->least_ready ? ready(s) : s->least_ready;
}

static struct surge_verdict judge(struct scene *s)
{
	struct surge_verdict v;
	s->ask.now_ms = s->now;
	s->ask.old = s->has_old ? &s->old : NULL;
	s->ask.fresh = s->has_fresh ? &s->fresh : NULL;
	s->ask.live = &s->live;
	surge_step(&s->ask, &v);
	return v;
}

static void carry_out(struct scene *s, enum surge_do does)
{
	s->writes++;
	switch (does) {
	case SURGE_CREATE:
		s->fresh = (struct surge_pod){"web-s", "f", s->now, 0, .sized = true};
		s->has_fresh = true;
		return;
	case SURGE_READ:
		s->live = (struct surge_live){.read_ms = s->now,
			.asked_ms = s->now,
			.same_set = true,
			.spec_replicas = s->ask.replicas,
			.status_replicas = s->ask.present,
			.all_ready = true,
			.budget_allows = true};
		return;
	case SURGE_LOWER_COST:
		s->old.low_cost = true;
		return;
	case SURGE_RESTORE:
		s->old.low_cost = false;
		return;
	case SURGE_ADOPT:
		s->fresh.adopted = s->fresh.adopted_here = true;
		return;
	case SURGE_DROP:
		s->has_fresh = false;
		return;
	case SURGE_WAIT:
	case SURGE_DONE:
	case SURGE_FAILED:
	case SURGE_LOST:
		s->writes--;
		return;
	}
}

static bool is_over(enum surge_do does)
{
	return does == SURGE_DONE || does == SURGE_FAILED || does == SURGE_LOST;
}

/* Until it is over or so many writes were made. `began` as a process that lives on knows it. */
static struct surge_verdict play(struct scene *s, int32_t writes)
{
	struct surge_verdict v = {0};
	for (; s->now < START + 30 * MINUTE; s->now += 500) {
		world(s);
		v = judge(s);
		if (is_over(v.does) || s->writes >= writes) {
			return v;
		}
		carry_out(s, v.does);
		s->ask.began = s->ask.began || v.does == SURGE_CREATE;
	}
	return v;
}

Test(surge, U3_the_new_pod_is_ready_before_the_old_one_goes)
{
	for (int32_t replicas = 1; replicas <= 3; replicas++) {
		struct scene s;
		set_up(&s, replicas);
		cr_expect_eq(play(&s, 100).does, SURGE_DONE);
		cr_expect_eq(s.least_ready, replicas);
		cr_expect_not(s.has_old);
		cr_expect(s.has_fresh && s.fresh.adopted);
		cr_expect_eq(s.writes, 4, "create, read, cheapen, adopt");
		cr_expect_geq(s.now, START + READY);
	}
}

Test(surge, U16_it_goes_on_after_a_kill_at_any_write)
{
	for (int32_t kill = 1; kill <= 4; kill++) {
		struct scene s;
		set_up(&s, 1);
		(void)play(&s, kill);
		s.ask.began = false; /* whoever comes next knows what the cluster shows */
		s.live = (struct surge_live){0};
		int64_t killed = s.now;
		cr_expect_eq(play(&s, 100).does, SURGE_DONE, "killed at %d", kill);
		cr_expect_leq(s.now - killed, READY + 60000);
		cr_expect_eq(s.least_ready, 1);
	}
}

Test(surge, U16_what_is_not_wanted_any_more_leaves_no_trace_after_a_kill)
{
	for (int32_t kill = 1; kill <= 5; kill++) {
		struct scene s;
		set_up(&s, 1);
		(void)play(&s, 3); /* created, read, cheap */
		s.ask.wanted = s.ask.began = false;
		s.writes = 0;
		(void)play(&s, kill);
		s.ask.began = false;
		cr_expect_eq(play(&s, 100).does, SURGE_FAILED);
		cr_expect_not(s.has_fresh);
		cr_expect_not(s.old.low_cost);
		cr_expect(s.has_old);
	}
}

Test(surge, U15_the_users_rollout_wins)
{
	for (int32_t writes = 1; writes <= 3; writes++) {
		struct scene s;
		set_up(&s, 1);
		(void)play(&s, writes);
		s.ask.current = false;
		struct surge_verdict v = judge(&s);
		cr_expect_eq(v.why, SURGE_ROLLOUT);
		cr_expect_eq(play(&s, 100).does, SURGE_FAILED);
		cr_expect_not(s.has_fresh);
		cr_expect_not(s.old.low_cost);
	}
}

Test(surge, C24_it_is_gone_after_ten_minutes)
{
	struct scene s;
	set_up(&s, 1);
	s.never_ready = true;
	(void)play(&s, 1);
	struct surge_verdict v = judge(&s);
	cr_expect_eq(v.does, SURGE_WAIT);
	cr_expect_eq(v.why, SURGE_STARTS);

	cr_expect_eq(play(&s, 100).does, SURGE_FAILED);
	cr_expect_eq(s.now, START + 10 * MINUTE + 500);
	cr_expect_not(s.has_fresh);
	cr_expect_eq(s.least_ready, 1);
}

/* The room that it was made for is kept for those who come first. */
Test(surge, C24_behind_others_it_is_gone_after_two_minutes)
{
	for (int patient = 0; patient < 2; patient++) {
		struct scene s;
		set_up(&s, 1);
		s.never_ready = true;
		s.ask.patient = patient == 1;
		(void)play(&s, 1);
		s.fresh.outranked = true;
		s.now = s.fresh.created_ms + SURGE_BEHIND_MS - 1;
		cr_expect_eq(judge(&s).does, SURGE_WAIT);
		s.now++;
		struct surge_verdict v = judge(&s);
		cr_expect_eq(v.does, patient == 1 ? SURGE_WAIT : SURGE_DROP);
		cr_expect_eq(v.why, patient == 1 ? SURGE_STARTS : SURGE_BEHIND);
		cr_expect_eq(play(&s, 100).does, SURGE_FAILED);
		cr_expect_not(s.has_fresh);
		int64_t most = patient == 1 ? SURGE_DEADLINE_MS : SURGE_BEHIND_MS;
		cr_expect_leq(s.now, START + most + 1000);
	}
}

Test(surge, C25_each_check_holds_the_label_back)
{
	static const struct {
		struct surge_live live;
		enum surge_why why;
	} rows[] = {
		{{0, false, 2, 2, true, false, false, false, true, 0}, SURGE_SET_CHANGED},
		{{0, true, 2, 3, true, false, false, false, true, 0}, SURGE_NOT_STEADY},
		{{0, true, 2, 2, false, false, false, false, true, 0}, SURGE_NOT_READY},
		{{0, true, 2, 2, true, true, false, false, true, 0}, SURGE_CHEAPER},
		{{0, true, 2, 2, true, false, true, false, true, 0}, SURGE_OTHER_CLAIMS},
		{{0, true, 2, 2, true, false, false, true, true, 0}, SURGE_SCALING},
		{{0, true, 2, 2, true, false, false, false, false, 0}, SURGE_PDB},
		{{0, true, 2, 2, true, false, false, false, true, 0}, SURGE_GOES},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		for (int cheap = 0; cheap < 2; cheap++) {
			struct scene s;
			set_up(&s, 2);
			(void)play(&s, 2);
			s.old.low_cost = cheap == 1;
			s.live = rows[i].live;
			s.live.read_ms = s.live.asked_ms = s.now;
			struct surge_verdict v = judge(&s);
			enum surge_do goes = cheap == 1 ? SURGE_ADOPT : SURGE_LOWER_COST;
			cr_expect_eq(v.why, rows[i].why, "row %zu", i);
			cr_expect_eq(v.does, v.why == SURGE_GOES ? goes : SURGE_WAIT, "row %zu", i);
		}
	}
}

/* A reading may be seconds old by the time it is whole, and the watch newer. */
Test(surge, C25_a_pod_that_the_watch_shows_not_ready_holds_the_label_back)
{
	struct scene s;
	set_up(&s, 2);
	(void)play(&s, 3);
	s.ask.unready = true;
	struct surge_verdict v = judge(&s);
	cr_expect_eq(v.does, SURGE_WAIT);
	cr_expect_eq(v.why, SURGE_NOT_READY);
	s.ask.unready = false;
	cr_expect_eq(judge(&s).does, SURGE_ADOPT);
}

Test(surge, C25_what_was_read_is_old_after_two_seconds)
{
	struct scene s;
	set_up(&s, 1);
	(void)play(&s, 3);
	s.live.read_ms = s.now - SURGE_LIVE_MS;
	cr_expect_eq(judge(&s).does, SURGE_ADOPT);
	s.live.read_ms--;
	cr_expect_eq(judge(&s).does, SURGE_READ);
}

/* Pods are read first, and what was said of them is as old as the whole of it. */
Test(surge, C25_what_took_long_to_be_read_is_old)
{
	struct scene s;
	set_up(&s, 1);
	(void)play(&s, 3);
	s.live.read_ms = s.now;
	s.live.asked_ms = s.now - SURGE_ASKED_MS;
	cr_expect_eq(judge(&s).does, SURGE_ADOPT);
	s.live.asked_ms--;
	cr_expect_eq(judge(&s).does, SURGE_READ);
}

Test(surge, C25_a_clock_that_was_set_back_makes_nothing_young)
{
	struct scene s;
	set_up(&s, 1);
	(void)play(&s, 3);
	s.live.read_ms = s.live.asked_ms = s.now;
	s.now--;
	cr_expect_eq(judge(&s).does, SURGE_READ);
}

Test(surge, C25_min_ready_seconds_pass_first)
{
	struct scene s;
	set_up(&s, 1);
	s.ask.min_ready_ms = MINUTE;
	cr_expect_eq(play(&s, 100).does, SURGE_DONE);
	cr_expect_geq(s.now, START + READY + MINUTE);
}

Test(surge, C25_a_wrong_victim_is_told)
{
	struct scene s;
	set_up(&s, 3);
	s.wrong_victim = true;
	cr_expect_eq(play(&s, 100).does, SURGE_LOST);
	set_up(&s, 1);
	(void)play(&s, 4);
	s.fresh.leaving = true;
	cr_expect_eq(judge(&s).does, SURGE_LOST);
	s.fresh.leaving = false;
	s.fresh.adopted_here = false;
	cr_expect_eq(judge(&s).does, SURGE_LOST);
}

Test(surge, C25_who_is_gone_after_its_label_was_the_wrong_victim)
{
	struct scene s;
	set_up(&s, 1);
	(void)play(&s, 3); /* created, read, cheap */
	s.fresh.labelled = s.ask.given = true;
	cr_expect_eq(judge(&s).does, SURGE_WAIT, "its ReplicaSet takes its time");
	cr_expect_eq(judge(&s).why, SURGE_SETTLES);
	s.fresh.leaving = true;
	cr_expect_eq(judge(&s).does, SURGE_RESTORE, "nobody had adopted it: somebody else did");
	cr_expect_eq(judge(&s).why, SURGE_ENDED);
	s.has_fresh = false;
	cr_expect_eq(judge(&s).does, SURGE_LOST);
	s.ask.current = false;
	cr_expect_eq(judge(&s).does, SURGE_RESTORE, "a rollout took both");
	cr_expect_eq(judge(&s).why, SURGE_ROLLOUT);
	s.ask.current = true;
	s.ask.given = false;
	cr_expect_eq(judge(&s).does, SURGE_RESTORE, "it was asked back");
	cr_expect_eq(judge(&s).why, SURGE_ENDED, "and not because nobody wants it");
	s.ask.given = true;
	s.has_old = false;
	cr_expect_neq(judge(&s).does, SURGE_LOST);
}

/* No ReplicaSet adopts it any more, and nobody else would take it away. */
Test(surge, C24_who_ended_with_its_label_is_dropped)
{
	struct scene s;
	set_up(&s, 1);
	(void)play(&s, 3);
	s.fresh.labelled = s.ask.given = s.fresh.ended = true;
	cr_expect_eq(judge(&s).does, SURGE_RESTORE);
	cr_expect_eq(judge(&s).why, SURGE_ENDED);
	s.old.low_cost = false;
	cr_expect_eq(judge(&s).does, SURGE_DROP);
}

Test(surge, one_without_a_share_or_without_an_old_pod_goes)
{
	struct scene s;
	set_up(&s, 1);
	(void)play(&s, 1);
	s.fresh.sized = false;
	cr_expect_eq(judge(&s).does, SURGE_DROP);
	cr_expect_eq(judge(&s).why, SURGE_WHOLE);
	s.fresh.sized = true;
	s.old.leaving = true;
	cr_expect_eq(judge(&s).why, SURGE_OLD_LEFT);
	s.fresh.leaving = true;
	cr_expect_eq(judge(&s).does, SURGE_WAIT);
}

Test(surge, C24_a_new_pod_that_ended_is_dropped)
{
	struct scene s;
	set_up(&s, 1);
	(void)play(&s, 3); /* created, read, cheap */
	s.fresh.ended = true;
	struct surge_verdict v = judge(&s);
	cr_expect_eq(v.does, SURGE_RESTORE);
	cr_expect_eq(v.why, SURGE_ENDED);
	cr_expect_eq(play(&s, 100).does, SURGE_FAILED);
	cr_expect_not(s.has_fresh);
	cr_expect_not(s.old.low_cost);
	cr_expect(s.has_old);
}

Test(surge, C25_somebody_deletes_the_new_pod_and_no_cost_stays)
{
	struct scene s;
	set_up(&s, 1);
	(void)play(&s, 3);
	s.fresh.leaving = true;
	cr_expect_eq(judge(&s).does, SURGE_RESTORE);
	s.old.low_cost = false;
	cr_expect_eq(judge(&s).does, SURGE_WAIT);
	s.fresh.ended = true; /* it is, all the same */
	cr_expect_eq(judge(&s).does, SURGE_WAIT);
}

Test(surge, C24_without_the_right_what_is_there_is_only_taken_back)
{
	for (int32_t writes = 0; writes <= 3; writes++) {
		struct scene s;
		set_up(&s, 1);
		(void)play(&s, writes);
		s.now += READY;
		world(&s);
		s.ask.allowed = false;
		cr_expect_eq(judge(&s).does, writes == 0 ? SURGE_FAILED : SURGE_WAIT);
		cr_expect_eq(judge(&s).why, SURGE_NOT_ALLOWED);
		s.ask.wanted = false;
		cr_expect_eq(play(&s, 100).does, SURGE_FAILED);
		cr_expect(!s.has_fresh && !s.old.low_cost && s.has_old);
	}
}

Test(surge, C25_who_is_not_counted_yet_is_no_wrong_victim)
{
	struct scene s;
	set_up(&s, 2);
	(void)play(&s, 4);
	s.has_old = true; /* adopted, and one of three is not known yet */
	s.ask.present = 2;
	s.ask.recounted = false;
	cr_expect_eq(judge(&s).does, SURGE_WAIT);
	s.ask.recounted = true;
	cr_expect_eq(judge(&s).does, SURGE_LOST);
}

Test(surge, what_cannot_stand_beside_itself_is_unfit)
{
	struct surge_form form = {.deployment = true, .selects_by_hash = true};
	cr_expect_null(surge_unfit(&form));
	form.host_ports = true;
	cr_expect_not_null(surge_unfit(&form));
	form = (struct surge_form){.selects_by_hash = true};
	cr_expect_not_null(surge_unfit(&form));
	form = (struct surge_form){.deployment = true};
	cr_expect_not_null(surge_unfit(&form));
	form = (struct surge_form){true, false, true, true, false, false};
	cr_expect_not_null(surge_unfit(&form));
	form = (struct surge_form){true, false, false, true, true, false};
	cr_expect_not_null(surge_unfit(&form));
	form = (struct surge_form){.deployment = true, .selects_by_hash = true, .recreates = true};
	cr_assert_not_null(surge_unfit(&form));
	cr_expect_not_null(strstr(surge_unfit(&form), "Recreate"));
	for (int why = 0; why < SURGE_WHYS; why++) {
		cr_expect_not_null(surge_why_text((enum surge_why)why));
	}
}

Test(surge, U16_the_same_surge_has_the_same_name)
{
	char a[SURGE_NAME_MAX];
	char b[SURGE_NAME_MAX];
	cr_expect_str_eq(surge_name("web-7d", "u", a), surge_name("web-7d", "u", b));
	cr_expect_str_neq(surge_name("web-7d", "v", a), b);
	(void)surge_name(
		"an-awfully-long-name-of-a-replica-set-that-nobody-would-ever-type-7d", "u", a);
	cr_expect_eq(strlen(a), 63);
}
