/* A ring of the last minutes. */
#include "recent.h"

#include "hours.h"

#define UNIT	     (METERED_FULL / 10000)
#define FULL	     (METERED_FULL / UNIT)
#define REPLICAS_MAX UINT16_MAX

static struct recent_minute *recent_slot(struct recent *r, int32_t minute)
{
	return &r->minutes[(uint32_t)minute % HISTORY_RECENT];
}

void recent_add(struct recent *r, int64_t compute, int32_t minute)
{
	if (minute - r->last >= HISTORY_RECENT) {
		memset(r->minutes, 0, sizeof r->minutes);
		r->last = minute;
	}
	while (r->last < minute) {
		*recent_slot(r, ++r->last) = (struct recent_minute){0};
	}
	if (r->last - minute >= HISTORY_RECENT) {
		return;
	}
	struct recent_minute *m = recent_slot(r, minute);
	uint16_t value = (uint16_t)(compute / UNIT);
	if (m->count < REPLICAS_MAX) {
		m->count++;
		m->sum += value;
	}
	m->high = value > m->high ? value : m->high;
}

int64_t recent_median(const struct recent *r, int32_t percentile, int64_t now_ms)
{
	int32_t sorted[HISTORY_RECENT], count = 0, now = (int32_t)(now_ms / MINUTE_MS);
	for (int32_t i = 0; i < HISTORY_RECENT; i++) {
		const struct recent_minute *m = &r->minutes[i];
		int32_t minute = r->last - (int32_t)((uint32_t)(r->last - i) % HISTORY_RECENT);
		if (m->count == 0 || now - minute > HISTORY_RECENT) {
			continue;
		}
		bool few = m->count * (100 - percentile) < 100;
		int32_t value = few ? m->high : (int32_t)(m->sum / m->count), k = count++;
		for (; k > 0 && sorted[k - 1] > value; k--) {
			sorted[k] = sorted[k - 1];
		}
		sorted[k] = value;
	}
	return count < HISTORY_RECENT_MIN ? -1 : (int64_t)sorted[(count - 1) / 2] * UNIT;
}

void recent_pack(const struct recent *r, struct str *out)
{
	pack_i64(out, r->last);
	for (int32_t i = 0; i < HISTORY_RECENT; i++) {
		pack_u64(out, r->minutes[i].count);
		pack_u64(out, r->minutes[i].high);
		pack_u64(out, r->minutes[i].sum);
	}
}

void recent_unpack(struct recent *r, struct unpack *u)
{
	int64_t last = unpack_i64(u);
	u->bad |= last < 0 || last > INT32_MAX;
	r->last = u->bad ? 0 : (int32_t)last;
	for (int32_t i = 0; i < HISTORY_RECENT; i++) {
		uint64_t count = unpack_u64(u), high = unpack_u64(u), sum = unpack_u64(u);
		u->bad |= count > REPLICAS_MAX || high > FULL || sum > count * high;
		u->bad |= (count == 0 && high > 0) || (last == 0 && count > 0);
		if (!u->bad) {
			r->minutes[i] = (struct recent_minute){
				(uint16_t)count, (uint16_t)high, (uint32_t)sum};
		}
	}
}
