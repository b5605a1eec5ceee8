/* See use.h for what rows mean. */
#include "use.h"

#include "look.h"
#include "sampler_parts.h"

#define SECOND_US     1000000ull
#define HOUR_US	      (3600 * SECOND_US)
#define FULL	      100  /* percent */
#define PERCENT	      1000 /* in the thousandths of a process's figures */
#define ATTEMPTS      4
#define ROWS_FIRST    256
#define ROWS_MAX      16384
#define SAMPLE_MAX_US SECOND_US
/* How late rows may come, and by how much a driver's clock may differ. */
#define LATE_US (2 * SECOND_US)
/* A clock that is slewed does less between two looks. */
#define STEP_US (SECOND_US / 2)

/* --- rows ------------------------------------------------------------------------------------- */

static bool row_is_plausible(const struct nvml_use *row)
{
	return row->pid != 0 && row->sm <= FULL && row->memory <= FULL && row->encoder <= FULL &&
	       row->decoder <= FULL;
}

static int by_process_and_time(const void *a, const void *b)
{
	const struct nvml_use *x = a, *y = b;
	if (x->pid != y->pid) {
		return x->pid > y->pid ? 1 : -1;
	}
	return (x->time_us > y->time_us) - (x->time_us < y->time_us);
}

uint32_t use_clean(struct use_rows *r, uint64_t after_us, uint64_t latest_us)
{
	uint32_t dropped = 0;
	size_t kept = 0;
	for (size_t i = 0; i < r->count; i++) {
		const struct nvml_use *row = &r->rows[i];
		if (!row_is_plausible(row)) {
			dropped++;
		} else if (row->time_us > after_us && row->time_us <= latest_us) {
			r->rows[kept++] = *row;
		}
	}
	r->count = kept;
	if (kept > 1) {
		qsort(r->rows, kept, sizeof *r->rows, by_process_and_time);
	}
	return dropped;
}

static uint64_t newest_row_us(const struct use_rows *r)
{
	uint64_t time_us = 0;
	for (size_t i = 0; i < r->count; i++) {
		time_us = r->rows[i].time_us > time_us ? r->rows[i].time_us : time_us;
	}
	return time_us;
}

struct use_span use_span_of(
	const struct use_rows *r, uint64_t after_us, uint64_t now_us, uint64_t interval_us)
{
	struct use_span span = {.until_us = newest_row_us(r)};
	/* Much further away it is not the same clock. */
	if (now_us > span.until_us + SECOND_US && now_us < span.until_us + HOUR_US) {
		span.until_us = now_us - SECOND_US;
	}
	span.from_us = span.until_us > interval_us ? span.until_us - interval_us : 0;
	if (span.from_us < after_us && after_us < span.until_us) {
		span.from_us = after_us;
	}
	for (size_t i = 1; i < r->count; i++) {
		span.sampled = span.sampled || r->rows[i].pid == r->rows[i - 1].pid;
	}
	return span;
}

/* --- shares ----------------------------------------------------------------------------------- */

struct total {
	uint64_t sm, memory, encoder, decoder; /* percent times microseconds */
};

static int32_t mean_share(uint64_t total, uint64_t length_us)
{
	uint64_t thousandths = (total * PERCENT + length_us / 2) / length_us;
	return (int32_t)(thousandths < FULL * PERCENT ? thousandths : FULL * PERCENT);
}

void use_share(const struct use_rows *r, const struct use_span *span, struct gpu_process *processes,
	uint32_t count)
{
	uint64_t length_us = span->until_us > span->from_us ? span->until_us - span->from_us : 1;
	size_t at = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct gpu_process *p = &processes[i];
		struct total total = {0};
		uint64_t since_us = span->from_us;
		while (at < r->count && r->rows[at].pid < p->pid) {
			at++; /* it has ended since: there is nobody to charge */
		}
		for (; at < r->count && r->rows[at].pid == p->pid; at++) {
			const struct nvml_use *row = &r->rows[at];
			uint64_t us = row->time_us > since_us ? row->time_us - since_us : 0;
			us = us < SAMPLE_MAX_US ? us : SAMPLE_MAX_US;
			/* The only row of a process is a mean already, of all the time that was
			 * asked for. */
			us = span->sampled ? us : length_us;
			total.sm += row->sm * us;
			total.memory += row->memory * us;
			total.encoder += row->encoder * us;
			total.decoder += row->decoder * us;
			since_us = row->time_us > since_us ? row->time_us : since_us;
		}
		p->sm = mean_share(total.sm, length_us);
		p->mem_util = mean_share(total.memory, length_us);
		p->enc = mean_share(total.encoder, length_us);
		p->dec = mean_share(total.decoder, length_us);
	}
}

/* --- the look --------------------------------------------------------------------------------- */

static void use_unknown(struct look *l)
{
	for (uint32_t i = 0; i < l->reading->process_count; i++) {
		struct gpu_process *p = &l->reading->processes[i];
		p->sm = p->mem_util = p->enc = p->dec = -1;
	}
}

static int rows_ask(struct look *l, uint64_t after_us, struct use_rows *ret_rows)
{
	unsigned room = ROWS_FIRST;
	for (int attempt = 0;; attempt++) {
		unsigned count = room;
		struct nvml_use *rows = sampler_rows(l->s, room, sizeof *rows);
		int code = l->calls->use(l->handle, rows, &count, after_us);
		if (code == NVML_SUCCESS && count <= room) {
			*ret_rows = (struct use_rows){rows, count};
			return code;
		}
		bool grew =
			count > room && (code == NVML_INSUFFICIENT_SIZE || code == NVML_SUCCESS);
		if (!grew || attempt + 1 == ATTEMPTS || count > ROWS_MAX) {
			return code == NVML_SUCCESS ? NVML_INSUFFICIENT_SIZE : code;
		}
		l->sample->retries += attempt > 0;
		room = count + count / 4 + 16;
	}
}

/* Where the wall's clock was set between two looks, the time of the newest row is set with it: else
 * the rows to come would all seem old, or would seem to cover the step. */
static void follow_clock(struct device *d, int64_t wall_us, int64_t mono_us)
{
	int64_t offset_us = wall_us - mono_us, step_us = offset_us - d->offset_us;
	if (d->use_asked_us != 0 && (step_us > (int64_t)STEP_US || step_us < -(int64_t)STEP_US)) {
		int64_t moved_us = (int64_t)d->use_us + step_us;
		d->use_us = moved_us > 0 ? (uint64_t)moved_us : 0;
	}
	d->offset_us = offset_us;
}

/* What was read last, for who was there then. */
static void use_again(struct look *l)
{
	struct gpu_reading *r = l->reading;
	const struct device *d = l->device;
	size_t at = 0;
	use_unknown(l);
	r->process_use = d->process_use;
	for (uint32_t i = 0; i < r->process_count; i++) {
		struct gpu_process *p = &r->processes[i];
		while (at < d->used.count && d->used.items[at].pid < p->pid) {
			at++;
		}
		if (at < d->used.count && d->used.items[at].pid == p->pid) {
			const struct gpu_process *then = &d->used.items[at];
			p->sm = then->sm;
			p->mem_util = then->mem_util;
			p->enc = then->enc;
			p->dec = then->dec;
		}
	}
}

static void use_keep(struct look *l)
{
	struct device *d = l->device;
	size_t count = l->reading->process_count;
	VEC_CLEAR(&d->used);
	VEC_RESERVE(&d->used, count);
	if (count > 0) {
		memcpy(d->used.items, l->reading->processes, count * sizeof *d->used.items);
	}
	d->used.count = count;
	d->process_use = l->reading->process_use;
}

/* From when rows are wanted, which is a little before the look before: they may have come late. */
static uint64_t wanted_after(const struct device *d, uint64_t now_us, uint64_t interval_us)
{
	uint64_t reach_us = interval_us + (d->use_asked_us == 0 ? 0 : LATE_US);
	uint64_t after_us = now_us > reach_us ? now_us - reach_us : 0;
	return d->use_us > after_us ? d->use_us : after_us;
}

static void use_read(struct look *l, int64_t mono_us, int64_t wall_us)
{
	struct device *d = l->device;
	struct gpu_reading *r = l->reading;
	struct use_rows rows = {0};
	uint64_t now_us = wall_us > 0 ? (uint64_t)wall_us : 0;
	uint64_t interval_us =
		d->use_asked_us == 0 ? LATE_US : (uint64_t)(mono_us - d->use_asked_us);
	uint64_t after_us = wanted_after(d, now_us, interval_us);
	int code = rows_ask(l, after_us, &rows);
	/* Nothing found has a meaning of its own here: nobody ran. */
	if (code != NVML_NOT_FOUND && !look_took(l, code, "read the processes' utilisation")) {
		r->process_use = r->answered && nvml_meaning(code) == MEANS_TROUBLE;
		return;
	}
	r->process_use = true;
	/* The driver may have taken its time, and told of that too. */
	uint64_t took_us = (uint64_t)(clock_mono(l->s->clock) * 1000 - mono_us);
	l->sample->dropped += use_clean(&rows, after_us, now_us + took_us + LATE_US);
	struct use_span span = use_span_of(&rows, after_us, now_us, interval_us);
	use_share(&rows, &span, r->processes, r->process_count);
	uint64_t last_us = newest_row_us(&rows);
	d->use_us = last_us > d->use_us ? last_us : d->use_us;
	d->use_asked_us = mono_us;
}

void look_use(struct look *l)
{
	struct device *d = l->device;
	int64_t mono_us = clock_mono(l->s->clock) * 1000, wall_us = clock_wall(l->s->clock) * 1000;
	if (d->use_asked_us != 0 && mono_us - d->use_asked_us < l->use_every_ms * 1000) {
		use_again(l);
		return;
	}
	use_unknown(l);
	if (l->calls->use == NULL || d->told.mig) {
		return;
	}
	follow_clock(d, wall_us, mono_us);
	use_read(l, mono_us, wall_us);
	use_keep(l);
}
