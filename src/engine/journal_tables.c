/* The rows, struct by struct. */
#include "journal_tables.h"

#include "capacity/standin.h"
#include "guardian/jobs.h"
#include "journal.h"
#include "policies.h"

/* --- what several have --- */

static const struct record_row backoff_rows[] = {UPTO(struct backoff, first_ms, INT64_MAX),
	UPTO(struct backoff, cap_ms, INT32_MAX), UPTO(struct backoff, attempt, 62)};
static const struct record_table backoff_table = RECORD_TABLE(struct backoff, backoff_rows);

static const struct record_row seen_rows[] = {MEMBER(struct journal_seen, current),
	MEMBER(struct journal_seen, learnt), POINTER(struct journal_seen, pod, pod_table)};
const struct record_table journal_seen_table = RECORD_TABLE(struct journal_seen, seen_rows);

/* --- what comes in --- */

static const struct record_row head_rows[] = {MEMBER(struct journal_head, number),
	MEMBER(struct journal_head, whole), MEMBER(struct journal_head, records_before),
	MEMBER(struct journal_head, seed), MEMBER(struct journal_head, config.idle_grace_ms),
	MEMBER(struct journal_head, config.open_timeout_ms),
	MEMBER(struct journal_head, config.lost_ms), MEMBER(struct journal_head, config.held_ms),
	MEMBER(struct journal_head, config.partial_ms),
	MEMBER(struct journal_head, config.evictions_per_minute),
	MEMBER(struct journal_head, config.patience_ms),
	MEMBER(struct journal_head, config.stuck_ms), MEMBER(struct journal_head, config.lacks_ms),
	MEMBER(struct journal_head, config.scale_up_ms),
	MEMBER(struct journal_head, config.serve_ms),
	MEMBER(struct journal_head, config.context_mib),
	MEMBER(struct journal_head, config.warm_gpus),
	MEMBER(struct journal_head, config.runtime_class),
	MEMBER(struct journal_head, config.injection),
	ASIDE(struct journal_head, config.check_every)};
const struct record_table journal_head_table = RECORD_TABLE(struct journal_head, head_rows);

static const struct record_row step_rows[] = {MEMBER(struct journal_step, now.mono_ms),
	MEMBER(struct journal_step, now.policy_ms), MEMBER(struct journal_step, budget),
	MEMBER(struct journal_step, records), MEMBER(struct journal_step, actions),
	MEMBER(struct journal_step, hash)};
const struct record_table journal_step_table = RECORD_TABLE(struct journal_step, step_rows);

static const struct record_row outcome_rows[] = {MEMBER(struct journal_outcome, now.mono_ms),
	MEMBER(struct journal_outcome, now.policy_ms), MEMBER(struct journal_outcome, action_id),
	ENUM(struct journal_outcome, outcome.fault.kind, FAULT_FATAL + 1),
	MEMBER(struct journal_outcome, outcome.fault.status),
	MEMBER(struct journal_outcome, outcome.fault.retry_after_ms),
	MEMBER(struct journal_outcome, outcome.fault.unknown_outcome),
	MEMBER(struct journal_outcome, outcome.spares),
	CHARS(struct journal_outcome, outcome.fault.message),
	POINTER(struct journal_outcome, outcome.pod, pod_table),
	/* answers to the sizer's actions */
	ASIDE(struct journal_outcome, outcome.standing),
	ASIDE(struct journal_outcome, outcome.found), ASIDE(struct journal_outcome, outcome.exists),
	ASIDE(struct journal_outcome, outcome.seen)};
const struct record_table journal_outcome_table =
	RECORD_TABLE(struct journal_outcome, outcome_rows);

/* --- who waits --- */

static const struct record_row landing_rows[] = {NAME(struct landing, uuid),
	NAME(struct landing, node), NAME(struct landing, version), MEMBER(struct landing, milli),
	MEMBER(struct landing, mem_mib), MEMBER(struct landing, flight),
	MEMBER(struct landing, open), ASIDE(struct landing, at), ASIDE(struct landing, out_milli),
	ASIDE(struct landing, out_mib), ASIDE(struct landing, out_whole)};
static const struct record_table landing_table = RECORD_TABLE(struct landing, landing_rows);

static const struct record_row waiter_rows[] = {MEMBER(struct waiter, flight),
	MEMBER(struct waiter, seen), MEMBER(struct waiter, placed_rv),
	MEMBER(struct waiter, refusal), MEMBER(struct waiter, flight_rv),
	MEMBER(struct waiter, word_from), MEMBER(struct waiter, word_rv),
	PART(struct waiter, backoff, backoff_table), MEMBER(struct waiter, placed_until),
	MEMBER(struct waiter, retry_at), MEMBER(struct waiter, first_seen),
	ENUM(struct waiter, reason, REASON_COUNT), MEMBER(struct waiter, asked.milli),
	MEMBER(struct waiter, asked.mem_mib), MEMBER(struct waiter, asked.max_milli),
	MEMBER(struct waiter, asked.max_mib), MEMBER(struct waiter, asked.context_mib),
	MEMBER(struct waiter, asked.max_tenants), MEMBER(struct waiter, asked.company),
	MEMBER(struct waiter, miss.best_milli), MEMBER(struct waiter, miss.best_mib),
	MEMBER(struct waiter, condition_at), ENUM(struct waiter, condition_reason, REASON_COUNT),
	MEMBER(struct waiter, refused_until), MEMBER(struct waiter, preempt_at),
	MEMBER(struct waiter, hold.milli), MEMBER(struct waiter, hold.mem_mib),
	MEMBER(struct waiter, hold.until), MEMBER(struct waiter, hold.uuid),
	MEMBER(struct waiter, passed.lacks_since), MEMBER(struct waiter, passed.waits_since),
	MEMBER(struct waiter, passed.by), MEMBER(struct waiter, passed.vain_until),
	MEMBER(struct waiter, granting_from), MEMBER(struct waiter, vain_since),
	VEC(struct waiter, landings, landing_table), MEMBER(struct waiter, group.partial_since),
	MEMBER(struct waiter, group.partial_set), VEC(struct waiter, group.gives, u64_table),
	/* its key, and what comes with it */
	ASIDE(struct waiter, uid), ASIDE(struct waiter, arena), ASIDE(struct waiter, pod),
	ASIDE(struct waiter, stamp), ASIDE(struct waiter, at),
	/* of a step; of the structs also what has no row above */
	ASIDE(struct waiter, judged), ASIDE(struct waiter, crowded), ASIDE(struct waiter, asked),
	ASIDE(struct waiter, miss), ASIDE(struct waiter, ranked), ASIDE(struct waiter, rank),
	ASIDE(struct waiter, pod_slot), ASIDE(struct waiter, granted_by),
	ASIDE(struct waiter, granted_index), ASIDE(struct waiter, granted_step),
	ASIDE(struct waiter, group), ASIDE(struct waiter, hold), ASIDE(struct waiter, quota_milli),
	ASIDE(struct waiter, passed), ASIDE(struct waiter, asked_for_s)};
const struct record_table waiter_table = RECORD_TABLE(struct waiter, waiter_rows);

static const struct record_row whole_rows[] = {MEMBER(struct whole, since),
	MEMBER(struct whole, offered_at), MEMBER(struct whole, rest_until),
	UPTO(struct whole, rests, WHOLE_RESTS_MAX), MEMBER(struct whole, told),
	MEMBER(struct whole, lacks_since), MEMBER(struct whole, preempt_at),
	MEMBER(struct whole, hold_until), MEMBER(struct whole, hold), ASIDE(struct whole, row),
	ASIDE(struct whole, uid), ASIDE(struct whole, fits),
	/* unpacked anew, from the world */
	ASIDE(struct whole, arena), ASIDE(struct whole, pod), ASIDE(struct whole, stamp)};
const struct record_table whole_table = RECORD_TABLE(struct whole, whole_rows);

/* --- capacity pods, and what is known of GPUs and nodes --- */

static const struct record_row holder_rows[] = {MEMBER(struct holder, uid),
	MEMBER(struct holder, node), MEMBER(struct holder, in_world),
	MEMBER(struct holder, asked_holds), MEMBER(struct holder, asked_keeps),
	MEMBER(struct holder, asked_movable), MEMBER(struct holder, deleted),
	MEMBER(struct holder, has_grace), MEMBER(struct holder, search),
	MEMBER(struct holder, told_doubled), MEMBER(struct holder, mps),
	MEMBER(struct holder, told_held), MEMBER(struct holder, trust.sure),
	MEMBER(struct holder, trust.strikes), MEMBER(struct holder, flight),
	ENUM(struct holder, flight_type, ACTION_EVENT + 1), MEMBER(struct holder, seen),
	MEMBER(struct holder, wanted), MEMBER(struct holder, acked_rv),
	MEMBER(struct holder, avoid_rv), MEMBER(struct holder, refusal),
	MEMBER(struct holder, flight_rv), PART(struct holder, backoff, backoff_table),
	MEMBER(struct holder, avoid_until), MEMBER(struct holder, expires_at),
	MEMBER(struct holder, idle_since), MEMBER(struct holder, opened_at),
	MEMBER(struct holder, lost_at), MEMBER(struct holder, retry_at),
	MEMBER(struct holder, grace_ms), MEMBER(struct holder, acked_at),
	MEMBER(struct holder, mend_at), MEMBER(struct holder, companion_gone_at),
	MEMBER(struct holder, refused_at), MEMBER(struct holder, told_from),
	MEMBER(struct holder, going_at),
	LIST_UPTO(struct holder, asked.items, asked.count, grant_table, MODEL_GRANTS_MAX),
	ASIDE(struct holder, asked_arena),
	/* its key, and what comes with it */
	ASIDE(struct holder, name), ASIDE(struct holder, at), ASIDE(struct holder, pod),
	ASIDE(struct holder, arena), ASIDE(struct holder, stamp), ASIDE(struct holder, grace_stamp),
	/* of a step */
	ASIDE(struct holder, node_at), ASIDE(struct holder, snap_at),
	ASIDE(struct holder, snap_step), ASIDE(struct holder, amiss),
	/* found again from what is above */
	ASIDE(struct holder, place), ASIDE(struct holder, node_known),
	ASIDE(struct holder, told_anew), ASIDE(struct holder, unpinned),
	ASIDE(struct holder, label_movable), ASIDE(struct holder, label_stamp),
	ASIDE(struct holder, kept)};
const struct record_table holder_table = RECORD_TABLE(struct holder, holder_rows);

static const struct record_row memo_rows[] = {NAME(struct node_memo, name),
	MEMBER(struct node_memo, until), MEMBER(struct node_memo, last_failure),
	MEMBER(struct node_memo, usable_mib), PART(struct node_memo, backoff, backoff_table),
	MEMBER(struct node_memo, why), ASIDE(struct node_memo, node)};
const struct record_table node_memo_table = RECORD_TABLE(struct node_memo, memo_rows);

static const struct record_row ailment_rows[] = {NAME(struct ailment, uuid),
	NAME(struct ailment, node), MEMBER(struct ailment, why), MEMBER(struct ailment, heard_by),
	MEMBER(struct ailment, node_boot), MEMBER(struct ailment, node_reset),
	MEMBER(struct ailment, last_at), MEMBER(struct ailment, well_since),
	MEMBER(struct ailment, told), MEMBER(struct ailment, ill)};
const struct record_table ailment_table = RECORD_TABLE(struct ailment, ailment_rows);

static const struct record_row orphan_rows[] = {NAME(struct orphan, uuid),
	NAME(struct orphan, node), MEMBER(struct orphan, since), MEMBER(struct orphan, retry_at),
	MEMBER(struct orphan, seen), MEMBER(struct orphan, leaving), MEMBER(struct orphan, amiss),
	MEMBER(struct orphan, asked_mps), PART(struct orphan, backoff, backoff_table),
	VEC(struct orphan, told, owned_text_table), ASIDE(struct orphan, searched),
	ASIDE(struct orphan, mps)};
const struct record_table orphan_table = RECORD_TABLE(struct orphan, orphan_rows);

static const struct record_row doubt_rows[] = {{.name = "doubt",
	.size = sizeof(enum inject_doubt),
	.kind = ROW_NUMBER,
	.most = DOUBTS - 1}};
static const struct record_table doubt_table = RECORD_TABLE(enum inject_doubt, doubt_rows);

static const struct record_row try_rows[] = {MEMBER(struct inject_try, uid),
	MEMBER(struct inject_try, since), MEMBER(struct inject_try, taken),
	MEMBER(struct inject_try, conflicts), MEMBER(struct inject_try, sent_at),
	MEMBER(struct inject_try, gone_at), MEMBER(struct inject_try, flight),
	MEMBER(struct inject_try, name)};
static const struct record_table try_table = RECORD_TABLE(struct inject_try, try_rows);

static const struct record_row inject_rows[] = {NAME(struct inject_memo, node),
	MEMBER(struct inject_memo, class), MEMBER(struct inject_memo, ended_why),
	MEMBER(struct inject_memo, ended), MEMBER(struct inject_memo, wanted_at),
	MEMBER(struct inject_memo, subject), MEMBER(struct inject_memo, failed),
	MEMBER(struct inject_memo, refusal), MEMBER(struct inject_memo, boot),
	MEMBER(struct inject_memo, runtime), MEMBER(struct inject_memo, until),
	MEMBER(struct inject_memo, seen_at), MEMBER(struct inject_memo, retry_at),
	PART(struct inject_memo, backoff, backoff_table),
	PART(struct inject_memo, again, backoff_table),
	ARRAY(struct inject_memo, doubts, doubt_table), ARRAY(struct inject_memo, tries, try_table),
	ASIDE(struct inject_memo, probed), ASIDE(struct inject_memo, asked),
	ASIDE(struct inject_memo, next)};
const struct record_table inject_memo_table = RECORD_TABLE(struct inject_memo, inject_rows);

/* --- tenants that are gone, start, or have to go --- */

static const struct record_row absence_rows[] = {NAME(struct absence, uid),
	NAME(struct absence, holder), MEMBER(struct absence, since), MEMBER(struct absence, seen),
	MEMBER(struct absence, told), MEMBER(struct absence, ended)};
const struct record_table absence_table = RECORD_TABLE(struct absence, absence_rows);

static const struct record_row startup_rows[] = {
	NAME(struct startup, uid), MEMBER(struct startup, since)};
const struct record_table startup_table = RECORD_TABLE(struct startup, startup_rows);

static const struct record_row eviction_rows[] = {NAME(struct eviction, uid),
	MEMBER(struct eviction, owner), MEMBER(struct eviction, refusal),
	MEMBER(struct eviction, flight), MEMBER(struct eviction, evicted),
	MEMBER(struct eviction, told_refusal), MEMBER(struct eviction, by_budget),
	ENUM(struct eviction, reason, REASON_COUNT), MEMBER(struct eviction, retry_at),
	MEMBER(struct eviction, asked_at), PART(struct eviction, backoff, backoff_table)};
const struct record_table eviction_table = RECORD_TABLE(struct eviction, eviction_rows);

static const struct record_row stuck_rows[] = {
	NAME(struct stuck, uid), MEMBER(struct stuck, since), MEMBER(struct stuck, seen)};
static const struct record_table stuck_table = RECORD_TABLE(struct stuck, stuck_rows);

static const struct record_row recycled_rows[] = {NAME(struct recycled, owner),
	MEMBER(struct recycled, rounds), MEMBER(struct recycled, round_at),
	MEMBER(struct recycled, last_at)};
static const struct record_table recycled_table = RECORD_TABLE(struct recycled, recycled_rows);

static const struct record_row job_rows[] = {NAME(struct job, uid), MEMBER(struct job, flight),
	ENUM(struct job, says, JOB_SAYS_MAX), MEMBER(struct job, retry_at),
	PART(struct job, backoff, backoff_table), MEMBER(struct job, seen)};
static const struct record_table job_table = RECORD_TABLE(struct job, job_rows);

/* --- who uses more memory than its share: amounts are added and compared --- */

static const struct record_row overuse_rows[] = {NAME(struct overuse, uid),
	NAME(struct overuse, uuid), UPTO(struct overuse, share_mib, INT64_MAX / 4),
	UPTO(struct overuse, used_mib, INT64_MAX / 4), MEMBER(struct overuse, seen_ms),
	MEMBER(struct overuse, looks), MEMBER(struct overuse, over), MEMBER(struct overuse, known),
	MEMBER(struct overuse, told_at), ASIDE(struct overuse, sum_mib),
	ASIDE(struct overuse, next), ASIDE(struct overuse, visit), ASIDE(struct overuse, stamp),
	ASIDE(struct overuse, resized_ms)};
static const struct record_table overuse_table = RECORD_TABLE(struct overuse, overuse_rows);

static const struct record_row crowd_rows[] = {NAME(struct crowd, uuid),
	MEMBER(struct crowd, members), MEMBER(struct crowd, changed_at),
	MEMBER(struct crowd, failed_at), MEMBER(struct crowd, victim), MEMBER(struct crowd, met),
	ASIDE(struct crowd, visit), ASIDE(struct crowd, leaving), ASIDE(struct crowd, sum),
	ASIDE(struct crowd, first)};
static const struct record_table crowd_table = RECORD_TABLE(struct crowd, crowd_rows);

static const struct record_row failure_rows[] = {NAME(struct failure, uid),
	MEMBER(struct failure, at_ms), MEMBER(struct failure, seen_at),
	MEMBER(struct failure, judged), MEMBER(struct failure, contended_at),
	MEMBER(struct failure, told_at), MEMBER(struct failure, met)};
static const struct record_table failure_table = RECORD_TABLE(struct failure, failure_rows);

static const struct record_row remark_rows[] = {
	NAME(struct remark, uid), MEMBER(struct remark, at)};
static const struct record_table remark_table = RECORD_TABLE(struct remark, remark_rows);

/* --- shares that change, GPUs that are avoided, nodes that are asked for --- */

static const struct record_row resize_rows[] = {NAME(struct resize, uid), MEMBER(struct resize, rv),
	UPTO(struct resize, want.milli, MODEL_GPU_MILLI),
	UPTO(struct resize, want.mib, RESIZE_MIB_MAX), MEMBER(struct resize, memory_stays),
	ENUM(struct resize, state, SHARE_STATES), MEMBER(struct resize, flight),
	PART(struct resize, sent, share_table), PART(struct resize, most, share_table),
	MEMBER(struct resize, sealed), MEMBER(struct resize, follows),
	MEMBER(struct resize, behind_since), MEMBER(struct resize, rest_until),
	PART(struct resize, backoff, backoff_table),
	/* found anew by the next step */
	ASIDE(struct resize, quota)};
const struct record_table resize_table = RECORD_TABLE(struct resize, resize_rows);

static const struct record_row avoidance_rows[] = {MEMBER(struct gpu_avoidance, workload),
	NAME(struct gpu_avoidance, what), MEMBER(struct gpu_avoidance, is_node),
	MEMBER(struct gpu_avoidance, until)};
const struct record_table avoidance_table = RECORD_TABLE(struct gpu_avoidance, avoidance_rows);

static const struct record_row rest_rows[] = {
	MEMBER(struct scale_rest, key), MEMBER(struct scale_rest, until)};
const struct record_table scale_rest_table = RECORD_TABLE(struct scale_rest, rest_rows);

static const struct record_row standin_rows[] = {CHARS(struct standin, name),
	MEMBER(struct standin, since), MEMBER(struct standin, sent_at), CHARS(struct standin, node),
	MEMBER(struct standin, landed_at), MEMBER(struct standin, free_at),
	MEMBER(struct standin, gone_at), MEMBER(struct standin, nodes),
	MEMBER(struct standin, wanted), MEMBER(struct standin, yields),
	MEMBER(struct standin, served), MEMBER(struct standin, flight),
	CHARS(struct standin, refusal)};
const struct record_table standin_table = RECORD_TABLE(struct standin, standin_rows);

/* --- the pass over policies, and the engine itself --- */

static const struct record_row tally_rows[] = {MEMBER(struct policy_tally, matched),
	MEMBER(struct policy_tally, automated), MEMBER(struct policy_tally, overlapping)};
static const struct record_table tally_table = RECORD_TABLE(struct policy_tally, tally_rows);

static const struct record_row told_rows[] = {
	MEMBER(struct told_pod, hash), MEMBER(struct told_pod, at)};
static const struct record_table told_table = RECORD_TABLE(struct told_pod, told_rows);

static const struct record_row pass_rows[] = {MEMBER(struct policies_pass, running),
	MEMBER(struct policies_pass, started_at), MEMBER(struct policies_pass, asked_at),
	MEMBER(struct policies_pass, at), VEC(struct policies_pass, cells, tally_table),
	VEC(struct policies_pass, met, u64_table), VEC(struct policies_pass, told, told_table),
	ASIDE(struct policies_pass, met_index), ASIDE(struct policies_pass, arena),
	ASIDE(struct policies_pass, told_index)};
const struct record_table policies_pass_table = RECORD_TABLE(struct policies_pass, pass_rows);

static const struct record_row versions_rows[] = {
	MEMBER(struct journal_versions, decided), MEMBER(struct journal_versions, policies)};
const struct record_table journal_versions_table =
	RECORD_TABLE(struct journal_versions, versions_rows);

/* What is not here has records of its own, or is of a step. */
static const struct record_row engine_rows[] = {ARRAY(struct engine, rng.s, u64_table),
	MEMBER(struct engine, leads), MEMBER(struct engine, time.dirty),
	MEMBER(struct engine, evictions.reached), MEMBER(struct engine, evictions.unsure),
	MEMBER(struct engine, scale.answered), MEMBER(struct engine, emitter.next_action),
	MEMBER(struct engine, time.step), MEMBER(struct engine, time.deadline),
	MEMBER(struct engine, time.now), MEMBER(struct engine, time.round),
	MEMBER(struct engine, scheduling.resume), MEMBER(struct engine, report.steps),
	MEMBER(struct engine, report.decisions), MEMBER(struct engine, wholes.told_at),
	MEMBER(struct engine, resizes.awake), MEMBER(struct engine, preempting.next_at),
	MEMBER(struct engine, preempting.from), VEC(struct engine, evictions.sent, i64_table),
	VEC(struct engine, evictions.stuck, stuck_table),
	VEC(struct engine, evictions.recycled, recycled_table),
	VEC(struct engine, evictions.jobs, job_table), MEMBER(struct engine, overuses.next_at),
	ENUM(struct engine, overuses.pass.stage, OVERUSE_STAGES),
	MEMBER(struct engine, overuses.pass.at), MEMBER(struct engine, overuses.pass.slot),
	MEMBER(struct engine, overuses.pass.pass), MEMBER(struct engine, overuses.pass.over),
	MEMBER(struct engine, overuses.pass.contended),
	UPTO(struct engine, overuses.pass.over_mib, INT64_MAX / 4),
	VEC(struct engine, overuses.items, overuse_table),
	VEC(struct engine, overuses.crowds, crowd_table),
	VEC(struct engine, overuses.failures, failure_table),
	VEC(struct engine, overuses.remarks, remark_table)};
const struct record_table engine_table = RECORD_TABLE(struct engine, engine_rows);
