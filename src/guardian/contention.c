/* C29: a tenant that ends because a GPU had no memory left, where nothing enforces shares, and
 * whether that was through others. It ends before anybody measures again, so its neighbours are
 * looked at for some seconds before it is taken for its own fault. */
#include "contention.h"

#include "guardian/overuse.h"
#include "guardian/overuse_find.h"
#include "ledger/ledger.h"
#include "model/names.h"
#include "size/blame.h"
#include "size/explain_gpus.h"
#include "overuse_report.h"

/* Two looks of an agent, and an answer. */
#define JUDGE_FOR_MS 5000
/* What ended longer ago than this when it was first seen was seen by another process. */
#define NEWS_FOR_MS 60000
/* So long it counts as contended. */
#define CONTENDED_MS 600000
#define SENTENCE_MAX 1024

struct verdict {
	enum blame blame;
	char uuid[GPU_UUID_MAX]; /* of the GPU, where others were over */
	const char *names[EXPLAIN_NAMES_MAX];
	uint32_t name_count, others;
};

/* --- judging --- */

/* Tenants of one GPU, the victim among them. */
struct bench {
	const struct world_pod *pods[MODEL_GRANTS_MAX];
	struct blame_user users[MODEL_GRANTS_MAX];
	uint32_t count, victim;
};

static void sit(
	struct picture *picture, struct bench *b, const struct world_pod *p, const char *uuid)
{
	b->pods[b->count] = p;
	b->users[b->count++] =
		(struct blame_user){p->gpu->mem_mib, overuse_measured(picture, p, uuid)};
}

static void bench_fill(
	struct picture *picture, struct bench *b, const struct world_pod *victim, const char *uuid)
{
	b->count = b->victim = 0;
	sit(picture, b, victim, uuid);
	const struct world_node *n = world_node_at(picture->world, victim->node);
	for (size_t i = 0; i < n->tenants.count; i++) {
		const struct world_pod *p = world_pod_at(picture->world, n->tenants.items[i]);
		if (p != victim && !p->gpu->gated && p->gpu->uuid != NULL &&
			!world_pod_terminal(p) && gpu_list_has(p->gpu->uuid, uuid) &&
			b->count < MODEL_GRANTS_MAX) {
			sit(picture, b, p, uuid);
		}
	}
}

/* Of other namespaces nobody is named. */
static void name_charged(struct verdict *v, const struct bench *b)
{
	for (uint32_t i = 0; i < b->count; i++) {
		if (i == b->victim || !blame_charges(v->blame, &b->users[i], false)) {
			continue;
		}
		/* Namespaces are interned: equal texts are one pointer. */
		bool near = b->pods[i]->ns == b->pods[b->victim]->ns;
		if (near && v->name_count < EXPLAIN_NAMES_MAX) {
			v->names[v->name_count++] = world_pod_name(b->pods[i]);
		} else {
			v->others++;
		}
	}
}

/* Of several GPUs one with somebody over is enough. */
static void judge(struct picture *picture, const struct world_pod *p, struct verdict *ret)
{
	*ret = (struct verdict){.blame = BLAME_OWN};
	struct told t = told_of(p->gpu->uuid, NULL);
	while (told_next(&t) && ret->blame != BLAME_OTHERS) {
		struct bench b;
		bench_fill(picture, &b, p, t.uuid);
		enum blame blame = blame_out_of_memory(b.users, b.count, b.victim);
		ret->blame = blame != BLAME_OWN ? blame : ret->blame;
		if (blame == BLAME_OTHERS) {
			memcpy(ret->uuid, t.uuid, sizeof ret->uuid);
			name_charged(ret, &b);
		}
	}
}

/* --- what is remembered --- */

static struct failure *failure_touch(
	struct overuses *all, const struct world_pod *p, int64_t policy_ms)
{
	struct failure *f = failure_find(all, world_pod_uid(p));
	int64_t age = policy_ms - p->gpu->gpu_oom_ms;
	if (f == NULL) {
		/* What the condition says, another leader has judged. */
		bool told = p->gpu->contention_shown && age >= 0 && age < CONTENDED_MS;
		struct failure made = {.uid = xstrdup(world_pod_uid(p)),
			.contended_at = told ? all->picture->time->now - age : -1,
			.told_at = told ? all->picture->time->now - age : -1,
			.judged = told,
			.at_ms = told ? p->gpu->gpu_oom_ms : 0};
		f = failure_add(all, &made);
	}
	if (f->at_ms != p->gpu->gpu_oom_ms) {
		f->at_ms = p->gpu->gpu_oom_ms;
		f->seen_at = all->picture->time->now;
		f->judged = age > NEWS_FOR_MS || age < -NEWS_FOR_MS;
	}
	f->met = all->pass.pass;
	return f;
}

static void tell(struct overuses *overuses, struct failure *f, const struct world_pod *p,
	const struct verdict *v, struct emitter *out)
{
	CLEANUP(str_finish) struct str text = STR_INIT(SENTENCE_MAX);
	const struct explain_contention facts = {.gpu = v->uuid,
		.names = v->names,
		.name_count = v->name_count,
		.others = v->others};
	bool due = f->told_at < 0 ||
		   overuses->picture->time->now - f->told_at >= OVERUSE_REPORT_EVERY_MS;
	explain_contention(&text, &facts);
	if (due) {
		f->told_at = overuses->picture->time->now;
		emit_pod_warning(p, REASON_CONTENTION, str_text(&text), out);
	}
	if (!p->gpu->contention_shown) {
		emit_pod_condition(overuses, p,
			&(struct action){.condition = NAME_CONTENTION,
				.is_true = true,
				.reason = REASON_CONTENTION,
				.message = str_text(&text)},
			out);
	}
}

static void consider(struct overuses *overuses, struct failure *f, const struct world_pod *p,
	struct emitter *out)
{
	struct picture *picture = overuses->picture;
	struct verdict v;
	if (f->judged) {
		return;
	}
	judge(picture, p, &v);
	if (v.blame == BLAME_OTHERS) {
		f->judged = true;
		f->contended_at = picture->time->now;
		struct crowd *c = crowd_touch(overuses, v.uuid);
		c->failed_at = picture->time->now;
		text_set(&c->victim, f->uid);
		tell(overuses, f, p, &v, out);
	} else if (picture->time->now - f->seen_at >= JUDGE_FOR_MS) {
		f->judged = true;
	}
}

/* The condition is asked for as long as it does not say what is so. */
static void keep_condition(struct overuses *overuses, const struct failure *f,
	const struct world_pod *p, struct emitter *out)
{
	bool contended = f->contended_at >= 0 &&
			 overuses->picture->time->now - f->contended_at < CONTENDED_MS;
	overuses->pass.contended += contended ? 1 : 0;
	if (contended != p->gpu->contention_shown && f->judged) {
		emit_pod_condition(overuses, p,
			&(struct action){.condition = NAME_CONTENTION,
				.is_true = contended,
				.reason = contended ? REASON_CONTENTION : REASON_NO_CONTENTION},
			out);
	}
}

bool failure_look(struct overuses *overuses, const struct world_pod *p, int64_t policy_ms,
	struct emitter *out)
{
	bool failed = p->gpu->gpu_oom_ms != 0 || p->gpu->contention_shown;
	if (!failed || !overuse_concerns(p)) {
		return false;
	}
	struct failure *f = failure_touch(overuses, p, policy_ms);
	consider(overuses, f, p, out);
	keep_condition(overuses, f, p, out);
	return true;
}
