/* What is missing in a journal, torn off or altered is told, and nothing of it crashes. */
#include "journal_bed.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/map.h"
#include "record/pack.h"

static size_t record_size(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;
	return 8 + (u[0] | (size_t)u[1] << 8 | (size_t)u[2] << 16 | (size_t)u[3] << 24);
}

static void put_sum(char *record)
{
	uint64_t h = hash_bytes(record + 8, record_size(record) - 8, 0);
	uint32_t sum = (uint32_t)(h ^ (h >> 32));
	for (int i = 0; i < 4; i++) {
		record[4 + i] = (char)(sum >> (8 * i) & 0xff);
	}
}

/* Any record but the last: most outcomes and many changes leave the next plans as they are. */
Test(journal_damage, a_missing_record_is_noticed)
{
	struct bed *b = bed_new(3, 4000, false);
	bed_run(b, 120);
	uint64_t dropped = 0, records = bed_replay(bed_bytes(b)).records;
	size_t last_step = 0;
	for (size_t at = 0; at < b->bytes.len; at += record_size(b->bytes.p + at)) {
		last_step = b->bytes.p[at + 8] == 'S' ? at : last_step;
	}
	for (size_t at = 0; at < last_step; at += record_size(b->bytes.p + at)) {
		size_t n = record_size(b->bytes.p + at);
		struct journal_summary sum;
		struct fault f;
		CLEANUP(str_finish) struct str cut = STR_INIT(64u << 20);
		str_append(&cut, b->bytes.p, at);
		str_append(&cut, b->bytes.p + at + n, b->bytes.len - at - n);
		int rc = journal_replay((struct view){cut.p, cut.len}, BED_VERSION, &sum, &f);
		cr_assert(rc < 0 || sum.diverged, "record %d ('%c')", (int)dropped + 1,
			b->bytes.p[at + 8]);
		dropped++;
	}
	cr_assert_gt(b->segments, 2);
	cr_assert_gt(dropped, 300);
	cr_assert_lt(dropped, records);
	bed_free(b);
}

/* Every write succeeds, and the watch is silent about the grant for a while: that the share is held
 * is known by the answer alone, so that it is not given once more. */
static uint64_t grant_one_tenant(struct bed *b)
{
	struct obj *tenant = bed_pod_add(b, "default", "tenant");
	uint64_t grant = 0;
	tenant->gated = true;
	bed_tell_pod(b, tenant);
	for (int turn = 0; turn < 10; turn++, b->now += 1000) {
		engine_step(b->e, (struct engine_now){b->now, b->now}, 100000, &b->plan);
		for (size_t i = 0; i < b->plan.actions.count; i++) {
			const struct action *a = &b->plan.actions.items[i];
			if (a->type != ACTION_GRANT) {
				bed_carry_out(b, a, bed_pod_find(b, a->ns, a->name));
			}
			int at = bed_pod_find(b, a->ns, a->name);
			if (a->type == ACTION_GRANT && at >= 0) {
				b->pods[at].rv = ++b->rv;
			}
			bool opened = a->type == ACTION_CREATE_CAPACITY && at >= 0;
			if (opened) {
				b->pods[at].running = true;
			}
			if (a->type == ACTION_GRANT) {
				b->pods[at].rv = ++b->rv;
			}
			bed_settle(b, &(struct waiting_outcome){a->id, true, false, true, at});
			if (opened) {
				bed_tell_pod(b, &b->pods[at]);
			}
			grant = a->type == ACTION_GRANT ? a->id : grant;
		}
	}
	cr_assert_neq(grant, 0);
	return grant;
}

/* The kind of fault of an outcome, where it is in the record. */
static char *outcome_kind(char *record, size_t n, uint64_t action_id)
{
	struct unpack u = {.p = record + 9, .n = n - 9};
	unpack_i64(&u);
	unpack_i64(&u);
	bool is_it = record[8] == 'O' && unpack_u64(&u) == action_id;
	return is_it ? record + (u.p - record) : NULL;
}

/* The engine decides by the outcome of a grant: told that it failed, it tries again. */
Test(journal_damage, another_outcome_of_a_grant_gives_another_plan)
{
	struct bed *b = bed_new(3, 0, false);
	uint64_t grant = grant_one_tenant(b);
	journal_flush(b->j);
	cr_assert_not(bed_replay(bed_bytes(b)).diverged);
	int changed = 0;
	for (size_t at = 0; at < b->bytes.len; at += record_size(b->bytes.p + at)) {
		char *record = b->bytes.p + at;
		char *kind = outcome_kind(record, record_size(record), grant);
		if (kind != NULL) {
			cr_assert_eq(*kind, FAULT_NONE);
			*kind = FAULT_CONFLICT;
			put_sum(record);
			changed++;
		}
	}
	struct journal_summary sum = bed_replay(bed_bytes(b));
	cr_assert_eq(changed, 1);
	cr_assert(sum.diverged);
	cr_assert_gt(sum.diverged_record, 0);
	cr_assert(strstr(sum.divergence, "the plan differs") != NULL, "%s", sum.divergence);
	bed_free(b);
}

Test(journal_damage, another_version_is_refused)
{
	struct bed *b = bed_new(1, 0, false);
	struct journal_summary sum;
	struct fault f = {0};
	bed_run(b, 2);
	cr_assert_eq(journal_replay(bed_bytes(b), "other", &sum, &f), -1);
	cr_assert_eq(f.kind, FAULT_INVALID);
	cr_assert(strstr(f.message, "version test") != NULL, "%s", f.message);
	cr_assert_eq(journal_replay(VIEW("{\"kind\":\"List\"}"), BED_VERSION, &sum, &f), -1);
	bed_free(b);
}

/* The head of one that was written when the number of the format was still written by hand, and of
 * one whose tables are others: the same version of the program is no excuse. */
Test(journal_damage, another_format_is_refused)
{
	static const uint64_t formats[] = {76, UINT64_MAX};
	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		CLEANUP(str_finish) struct str journal = STR_INIT(4096), head = STR_INIT(4096);
		struct journal_summary sum;
		struct fault f = {0};
		str_append_char(&head, 'H');
		pack_text(&head, "aliquot-journal");
		pack_u64(&head, formats[i]);
		pack_text(&head, BED_VERSION);
		for (int number = 0; number < 20; number++) {
			pack_i64(&head, number);
		}
		str_append(&journal, (const char[8]){(char)head.len}, 8);
		str_append(&journal, str_text(&head), head.len);
		put_sum(journal.p);
		cr_assert_eq(journal_replay(
				     (struct view){journal.p, journal.len}, BED_VERSION, &sum, &f),
			-1);
		cr_expect_eq(f.kind, FAULT_INVALID);
		cr_expect(strstr(f.message, "written in another format than this program reads") !=
				  NULL,
			"%s", f.message);
		cr_expect(strstr(f.message, "replay it with the build that wrote it") != NULL, "%s",
			f.message);
	}
}

Test(journal_damage, a_torn_end_is_the_end)
{
	struct bed *b = bed_new(2, 0, false);
	bed_run(b, 12);
	size_t last = 0;
	for (size_t at = 0; at < b->bytes.len; at += record_size(b->bytes.p + at)) {
		last = at;
	}
	uint64_t records = bed_replay(bed_bytes(b)).records;
	for (size_t n = last + 1; n < b->bytes.len; n++) {
		/* A copy of exactly this size, so that a read beyond it is seen. */
		CLEANUP(cleanup_free) char *copy = xmemdup(b->bytes.p, n);
		struct journal_summary sum = bed_replay((struct view){copy, n});
		cr_assert(sum.torn);
		cr_assert_not(sum.diverged);
		cr_assert_eq(sum.records, records - 1);
	}
	bed_free(b);
}

/* Damage is told; damage that the checksum covers up ends in a fault or a divergence, never in a
 * crash. */
Test(journal_damage, damage_never_crashes)
{
	struct bed *b = bed_new(7, 1500, false);
	struct journal_summary sum;
	struct fault f;
	bed_run(b, 60);
	for (int i = 0; i < 3000; i++) {
		CLEANUP(cleanup_free) char *copy = xmemdup(b->bytes.p, b->bytes.len);
		size_t at = 0;
		for (uint64_t n = bed_below(b, 120); n > 0 && at < b->bytes.len; n--) {
			at += record_size(b->bytes.p + at);
		}
		if (at >= b->bytes.len) {
			continue;
		}
		size_t n = record_size(copy + at) - 8;
		copy[at + 8 + bed_below(b, n)] ^= (char)(1 + bed_below(b, 255));
		cr_assert_eq(
			journal_replay((struct view){copy, b->bytes.len}, BED_VERSION, &sum, &f),
			-1);
		put_sum(copy + at);
		(void)!journal_replay((struct view){copy, b->bytes.len}, BED_VERSION, &sum, &f);
	}
	bed_free(b);
}
