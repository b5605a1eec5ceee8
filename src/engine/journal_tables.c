/* The rows, struct by struct. */
#include "journal_tables.h"

#include "policies.h"

/* --- what several have --- */

static const struct record_row backoff_rows[] = {UPTO(struct backoff, first_ms, INT64_MAX),
	UPTO(struct backoff, cap_ms, INT32_MAX), UPTO(struct backoff, attempt, 62)};
static const struct record_table backoff_table = RECORD_TABLE(struct backoff, backoff_rows);

static const struct record_row seen_rows[] = {FIELD(struct journal_seen, current),
	FIELD(struct journal_seen, learnt), POINTER(struct journal_seen, pod, pod_table)};
const struct record_table journal_seen_table = RECORD_TABLE(struct journal_seen, seen_rows);

/* --- what comes in --- */

static const struct record_row head_rows[] = {FIELD(struct journal_head, number),
	FIELD(struct journal_head, whole), FIELD(struct journal_head, records_before),
	FIELD(struct journal_head, seed), FIELD(struct journal_head, config.idle_grace_ms),
	FIELD(struct journal_head, config.open_timeout_ms),
	FIELD(struct journal_head, config.lost_ms), FIELD(struct journal_head, config.held_ms),
	FIELD(struct journal_head, config.partial_ms),
	FIELD(struct journal_head, config.evictions_per_minute),
	FIELD(struct journal_head, config.patience_ms), FIELD(struct journal_head, config.stuck_ms),
	FIELD(struct journal_head, config.lacks_ms), FIELD(struct journal_head, config.scale_up_ms),
	FIELD(struct journal_head, config.serve_ms), FIELD(struct journal_head, config.context_mib),
	FIELD(struct journal_head, config.warm_gpus),
	FIELD(struct journal_head, config.runtime_class),
	FIELD(struct journal_head, config.injection)};
const struct record_table journal_head_table = RECORD_TABLE(struct journal_head, head_rows);

static const struct record_row step_rows[] = {FIELD(struct journal_step, now.mono_ms),
	FIELD(struct journal_step, now.policy_ms), FIELD(struct journal_step, budget),
	FIELD(struct journal_step, records), FIELD(struct journal_step, actions),
	FIELD(struct journal_step, hash)};
const struct record_table journal_step_table = RECORD_TABLE(struct journal_step, step_rows);

static const struct record_row outcome_rows[] = {FIELD(struct journal_outcome, now.mono_ms),
	FIELD(struct journal_outcome, now.policy_ms), FIELD(struct journal_outcome, action_id),
	ENUM(struct journal_outcome, outcome.fault.kind, FAULT_FATAL + 1),
	FIELD(struct journal_outcome, outcome.fault.status),
	FIELD(struct journal_outcome, outcome.fault.retry_after_ms),
	FIELD(struct journal_outcome, outcome.fault.unknown_outcome),
	FIELD(struct journal_outcome, outcome.spares),
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
	NAME(struct landing, node), NAME(struct landing, version), FIELD(struct landing, milli),
	FIELD(struct landing, mem_mib), FIELD(struct landing, flight), FIELD(struct landing, open),
	ASIDE(struct landing, at), ASIDE(struct landing, out_milli), ASIDE(struct landing, out_mib),
	ASIDE(struct landing, out_whole)};
static const struct record_table landing_table = RECORD_TABLE(struct landing, landing_rows);

static const struct record_row waiter_rows[] = {FIELD(struct waiter, flight),
	FIELD(struct waiter, seen), FIELD(struct waiter, placed_rv), FIELD(struct waiter, refusal),
	FIELD(struct waiter, flight_rv), FIELD(struct waiter, word_from),
	FIELD(struct waiter, word_rv), PART(struct waiter, backoff, backoff_table),
	FIELD(struct waiter, placed_until), FIELD(struct waiter, retry_at),
	FIELD(struct waiter, first_seen), ENUM(struct waiter, reason, REASON_COUNT),
	FIELD(struct waiter, asked.milli), FIELD(struct waiter, asked.mem_mib),
	FIELD(struct waiter, asked.max_milli), FIELD(struct waiter, asked.max_mib),
	FIELD(struct waiter, asked.context_mib), FIELD(struct waiter, asked.max_tenants),
	FIELD(struct waiter, asked.company), FIELD(struct waiter, miss.best_milli),
	FIELD(struct waiter, miss.best_mib), FIELD(struct waiter, condition_at),
	ENUM(struct waiter, condition_reason, REASON_COUNT), FIELD(struct waiter, refused_until),
	FIELD(struct waiter, preempt_at), FIELD(struct waiter, hold.milli),
	FIELD(struct waiter, hold.mem_mib), FIELD(struct waiter, hold.until),
	FIELD(struct waiter, hold.uuid), FIELD(struct waiter, passed.lacks_since),
	FIELD(struct waiter, passed.waits_since), FIELD(struct waiter, passed.by),
	FIELD(struct waiter, passed.vain_until), FIELD(struct waiter, granting_from),
	FIELD(struct waiter, vain_since), VEC(struct waiter, landings, landing_table),
	FIELD(struct waiter, group.partial_since), FIELD(struct waiter, group.partial_set),
	VEC(struct waiter, group.gives, u64_table),
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

static const struct record_row whole_rows[] = {FIELD(struct whole, since),
	FIELD(struct whole, offered_at), FIELD(struct whole, rest_until),
	UPTO(struct whole, rests, WHOLE_RESTS_MAX), FIELD(struct whole, told),
	FIELD(struct whole, seen), FIELD(struct whole, lacks_since),
	FIELD(struct whole, preempt_at), FIELD(struct whole, hold_until), FIELD(struct whole, hold),
	ASIDE(struct whole, uid), ASIDE(struct whole, fits),
	/* unpacked anew, from the world */
	ASIDE(struct whole, arena), ASIDE(struct whole, pod), ASIDE(struct whole, stamp)};
const struct record_table whole_table = RECORD_TABLE(struct whole, whole_rows);

/* --- capacity pods, and what is known of GPUs and nodes --- */

static const struct record_row holder_rows[] = {FIELD(struct holder, uid),
	FIELD(struct holder, node), FIELD(struct holder, in_world),
	FIELD(struct holder, asked_holds), FIELD(struct holder, asked_keeps),
	FIELD(struct holder, asked_movable), FIELD(struct holder, deleted),
	FIELD(struct holder, has_grace), FIELD(struct holder, search),
	FIELD(struct holder, told_doubled), FIELD(struct holder, mps),
	FIELD(struct holder, told_held), FIELD(struct holder, trust.sure),
	FIELD(struct holder, trust.strikes), FIELD(struct holder, flight),
	ENUM(struct holder, flight_type, ACTION_EVENT + 1), FIELD(struct holder, seen),
	FIELD(struct holder, wanted), FIELD(struct holder, acked_rv),
	FIELD(struct holder, avoid_rv), FIELD(struct holder, refusal),
	FIELD(struct holder, flight_rv), PART(struct holder, backoff, backoff_table),
	FIELD(struct holder, avoid_until), FIELD(struct holder, expires_at),
	FIELD(struct holder, idle_since), FIELD(struct holder, opened_at),
	FIELD(struct holder, lost_at), FIELD(struct holder, retry_at),
	FIELD(struct holder, grace_ms), FIELD(struct holder, acked_at),
	FIELD(struct holder, mend_at), FIELD(struct holder, companion_gone_at),
	FIELD(struct holder, refused_at), FIELD(struct holder, told_from),
	FIELD(struct holder, going_at),
	LIST_UPTO(struct holder, asked.items, asked.count, grant_table, MODEL_GRANTS_MAX),
	ASIDE(struct holder, asked_arena),
	/* its key, and what comes with it */
	ASIDE(struct holder, name), ASIDE(struct holder, at), ASIDE(struct holder, pod),
	ASIDE(struct holder, arena), ASIDE(struct holder, stamp), ASIDE(struct holder, grace_stamp),
	/* of a step */
	ASIDE(struct holder, node_at), ASIDE(struct holder, snap_at),
	ASIDE(struct holder, snap_step), ASIDE(struct holder, amiss)};
const struct record_table holder_table = RECORD_TABLE(struct holder, holder_rows);

static const struct record_row memo_rows[] = {NAME(struct node_memo, name),
	FIELD(struct node_memo, until), FIELD(struct node_memo, last_failure),
	FIELD(struct node_memo, usable_mib), PART(struct node_memo, backoff, backoff_table),
	FIELD(struct node_memo, why)};
const struct record_table node_memo_table = RECORD_TABLE(struct node_memo, memo_rows);

static const struct record_row ailment_rows[] = {NAME(struct ailment, uuid),
	NAME(struct ailment, node), FIELD(struct ailment, why), FIELD(struct ailment, heard_by),
	FIELD(struct ailment, node_boot), FIELD(struct ailment, node_reset),
	FIELD(struct ailment, last_at), FIELD(struct ailment, well_since),
	FIELD(struct ailment, told), FIELD(struct ailment, ill)};
const struct record_table ailment_table = RECORD_TABLE(struct ailment, ailment_rows);

static const struct record_row orphan_rows[] = {NAME(struct orphan, uuid),
	NAME(struct orphan, node), FIELD(struct orphan, since), FIELD(struct orphan, retry_at),
	FIELD(struct orphan, seen), FIELD(struct orphan, leaving), FIELD(struct orphan, amiss),
	FIELD(struct orphan, asked_mps), PART(struct orphan, backoff, backoff_table),
	VEC(struct orphan, told, owned_text_table), ASIDE(struct orphan, searched),
	ASIDE(struct orphan, mps)};
const struct record_table orphan_table = RECORD_TABLE(struct orphan, orphan_rows);

static const struct record_row doubt_rows[] = {{.name = "doubt",
	.size = sizeof(enum inject_doubt),
	.kind = ROW_NUMBER,
	.most = DOUBTS - 1}};
static const struct record_table doubt_table = RECORD_TABLE(enum inject_doubt, doubt_rows);

static const struct record_row try_rows[] = {FIELD(struct inject_try, uid),
	FIELD(struct inject_try, since), FIELD(struct inject_try, taken),
	FIELD(struct inject_try, conflicts), FIELD(struct inject_try, sent_at),
	FIELD(struct inject_try, gone_at), FIELD(struct inject_try, flight),
	FIELD(struct inject_try, name)};
static const struct record_table try_table = RECORD_TABLE(struct inject_try, try_rows);

static const struct record_row inject_rows[] = {NAME(struct inject_memo, node),
	FIELD(struct inject_memo, class), FIELD(struct inject_memo, ended_why),
	FIELD(struct inject_memo, ended), FIELD(struct inject_memo, wanted_at),
	FIELD(struct inject_memo, subject), FIELD(struct inject_memo, failed),
	FIELD(struct inject_memo, refusal), FIELD(struct inject_memo, boot),
	FIELD(struct inject_memo, runtime), FIELD(struct inject_memo, until),
	FIELD(struct inject_memo, seen_at), FIELD(struct inject_memo, retry_at),
	PART(struct inject_memo, backoff, backoff_table),
	PART(struct inject_memo, again, backoff_table),
	ARRAY(struct inject_memo, doubts, doubt_table), ARRAY(struct inject_memo, tries, try_table),
	ASIDE(struct inject_memo, probed), ASIDE(struct inject_memo, asked),
	ASIDE(struct inject_memo, next)};
const struct record_table inject_memo_table = RECORD_TABLE(struct inject_memo, inject_rows);

/* --- tenants that are gone, start, or have to go --- */

static const struct record_row absence_rows[] = {NAME(struct absence, uid),
	NAME(struct absence, holder), FIELD(struct absence, since), FIELD(struct absence, seen),
	FIELD(struct absence, told), FIELD(struct absence, ended)};
const struct record_table absence_table = RECORD_TABLE(struct absence, absence_rows);

static const struct record_row turn_rows[] = {NAME(struct turn, uid), FIELD(struct turn, since)};
const struct record_table turn_table = RECORD_TABLE(struct turn, turn_rows);

static const struct record_row eviction_rows[] = {NAME(struct eviction, uid),
	FIELD(struct eviction, owner), FIELD(struct eviction, refusal),
	FIELD(struct eviction, flight), FIELD(struct eviction, evicted),
	FIELD(struct eviction, told_refusal), FIELD(struct eviction, by_budget),
	ENUM(struct eviction, reason, REASON_COUNT), FIELD(struct eviction, retry_at),
	FIELD(struct eviction, asked_at), PART(struct eviction, backoff, backoff_table)};
const struct record_table eviction_table = RECORD_TABLE(struct eviction, eviction_rows);

static const struct record_row stuck_rows[] = {
	NAME(struct stuck, uid), FIELD(struct stuck, since), FIELD(struct stuck, seen)};
static const struct record_table stuck_table = RECORD_TABLE(struct stuck, stuck_rows);

static const struct record_row recycled_rows[] = {NAME(struct recycled, owner),
	FIELD(struct recycled, rounds), FIELD(struct recycled, round_at),
	FIELD(struct recycled, last_at)};
static const struct record_table recycled_table = RECORD_TABLE(struct recycled, recycled_rows);

static const struct record_row job_rows[] = {NAME(struct job, uid), FIELD(struct job, flight),
	ENUM(struct job, says, JOB_SAYS_MAX), FIELD(struct job, retry_at),
	PART(struct job, backoff, backoff_table), FIELD(struct job, seen)};
static const struct record_table job_table = RECORD_TABLE(struct job, job_rows);

/* --- who uses more memory than its share: amounts are added and compared --- */

static const struct record_row overuse_rows[] = {NAME(struct overuse, uid),
	NAME(struct overuse, uuid), UPTO(struct overuse, share_mib, INT64_MAX / 4),
	UPTO(struct overuse, used_mib, INT64_MAX / 4), FIELD(struct overuse, seen_ms),
	FIELD(struct overuse, looks), FIELD(struct overuse, over), FIELD(struct overuse, known),
	FIELD(struct overuse, told_at), ASIDE(struct overuse, sum_mib), ASIDE(struct overuse, next),
	ASIDE(struct overuse, visit), ASIDE(struct overuse, stamp),
	ASIDE(struct overuse, resized_ms)};
static const struct record_table overuse_table = RECORD_TABLE(struct overuse, overuse_rows);

static const struct record_row crowd_rows[] = {NAME(struct crowd, uuid),
	FIELD(struct crowd, members), FIELD(struct crowd, changed_at),
	FIELD(struct crowd, failed_at), FIELD(struct crowd, victim), FIELD(struct crowd, met),
	ASIDE(struct crowd, visit), ASIDE(struct crowd, leaving), ASIDE(struct crowd, sum),
	ASIDE(struct crowd, first)};
static const struct record_table crowd_table = RECORD_TABLE(struct crowd, crowd_rows);

static const struct record_row failure_rows[] = {NAME(struct failure, uid),
	FIELD(struct failure, at_ms), FIELD(struct failure, seen_at), FIELD(struct failure, judged),
	FIELD(struct failure, contended_at), FIELD(struct failure, told_at),
	FIELD(struct failure, met)};
static const struct record_table failure_table = RECORD_TABLE(struct failure, failure_rows);

static const struct record_row remark_rows[] = {NAME(struct remark, uid), FIELD(struct remark, at)};
static const struct record_table remark_table = RECORD_TABLE(struct remark, remark_rows);

/* --- shares that change, GPUs that are shunned, nodes that are asked for --- */

static const struct record_row resize_rows[] = {NAME(struct resize, uid), FIELD(struct resize, rv),
	UPTO(struct resize, want.milli, MODEL_GPU_MILLI),
	UPTO(struct resize, want.mib, RESIZE_MIB_MAX), FIELD(struct resize, memory_stays),
	ENUM(struct resize, state, SHARE_STATES), FIELD(struct resize, flight),
	PART(struct resize, sent, share_table), PART(struct resize, most, share_table),
	FIELD(struct resize, sealed), FIELD(struct resize, follows),
	FIELD(struct resize, behind_since), FIELD(struct resize, rest_until),
	PART(struct resize, backoff, backoff_table),
	/* found anew by the next step */
	ASIDE(struct resize, quota)};
const struct record_table resize_table = RECORD_TABLE(struct resize, resize_rows);

static const struct record_row shun_rows[] = {FIELD(struct shun, workload), NAME(struct shun, what),
	FIELD(struct shun, is_node), FIELD(struct shun, until)};
const struct record_table shun_table = RECORD_TABLE(struct shun, shun_rows);

static const struct record_row rest_rows[] = {
	FIELD(struct scale_rest, key), FIELD(struct scale_rest, until)};
const struct record_table scale_rest_table = RECORD_TABLE(struct scale_rest, rest_rows);

static const struct record_row standin_rows[] = {CHARS(struct standin, name),
	FIELD(struct standin, since), FIELD(struct standin, sent_at), CHARS(struct standin, node),
	FIELD(struct standin, landed_at), FIELD(struct standin, free_at),
	FIELD(struct standin, gone_at), FIELD(struct standin, nodes), FIELD(struct standin, wanted),
	FIELD(struct standin, yields), FIELD(struct standin, served), FIELD(struct standin, flight),
	CHARS(struct standin, refusal)};
const struct record_table standin_table = RECORD_TABLE(struct standin, standin_rows);

/* --- the pass over policies, and the engine itself --- */

static const struct record_row tally_rows[] = {FIELD(struct policy_tally, matched),
	FIELD(struct policy_tally, automated), FIELD(struct policy_tally, overlapping)};
static const struct record_table tally_table = RECORD_TABLE(struct policy_tally, tally_rows);

static const struct record_row told_rows[] = {
	FIELD(struct told_pod, hash), FIELD(struct told_pod, at)};
static const struct record_table told_table = RECORD_TABLE(struct told_pod, told_rows);

static const struct record_row pass_rows[] = {FIELD(struct policies_pass, running),
	FIELD(struct policies_pass, started_at), FIELD(struct policies_pass, asked_at),
	FIELD(struct policies_pass, at), VEC(struct policies_pass, cells, tally_table),
	VEC(struct policies_pass, met, u64_table), VEC(struct policies_pass, told, told_table),
	ASIDE(struct policies_pass, met_index), ASIDE(struct policies_pass, arena),
	ASIDE(struct policies_pass, told_index)};
const struct record_table policies_pass_table = RECORD_TABLE(struct policies_pass, pass_rows);

static const struct record_row versions_rows[] = {
	FIELD(struct journal_versions, decided), FIELD(struct journal_versions, policies)};
const struct record_table journal_versions_table =
	RECORD_TABLE(struct journal_versions, versions_rows);

/* What is not here has records of its own, or is of a step. */
static const struct record_row engine_rows[] = {ARRAY(struct engine, rng.s, u64_table),
	FIELD(struct engine, leads), FIELD(struct engine, time.dirty),
	FIELD(struct engine, evictions.reached), FIELD(struct engine, evictions.unsure),
	FIELD(struct engine, scale.answered), FIELD(struct engine, emitter.next_action),
	FIELD(struct engine, time.step), FIELD(struct engine, time.deadline),
	FIELD(struct engine, time.now), FIELD(struct engine, time.round),
	FIELD(struct engine, scheduling.resume), FIELD(struct engine, report.steps),
	FIELD(struct engine, report.decisions), FIELD(struct engine, wholes.told_at),
	FIELD(struct engine, resizes.awake), FIELD(struct engine, preempting.next_at),
	FIELD(struct engine, preempting.from), VEC(struct engine, evictions.sent, i64_table),
	VEC(struct engine, evictions.stuck, stuck_table),
	VEC(struct engine, evictions.recycled, recycled_table),
	VEC(struct engine, evictions.jobs, job_table),
	FIELD(struct engine, evictions.overuses.next_at),
	ENUM(struct engine, evictions.overuses.pass.stage, OVERUSE_STAGES),
	FIELD(struct engine, evictions.overuses.pass.at),
	FIELD(struct engine, evictions.overuses.pass.slot),
	FIELD(struct engine, evictions.overuses.pass.pass),
	FIELD(struct engine, evictions.overuses.pass.over),
	FIELD(struct engine, evictions.overuses.pass.contended),
	UPTO(struct engine, evictions.overuses.pass.over_mib, INT64_MAX / 4),
	VEC(struct engine, evictions.overuses.items, overuse_table),
	VEC(struct engine, evictions.overuses.crowds, crowd_table),
	VEC(struct engine, evictions.overuses.failures, failure_table),
	VEC(struct engine, evictions.overuses.remarks, remark_table)};
const struct record_table engine_table = RECORD_TABLE(struct engine, engine_rows);
