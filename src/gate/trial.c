/* When a closed door lets somebody through. */
#include "gate/trial.h"

#include "base/number.h"

/* What was wrong may come and go with what is told of it, at most once a minute. */
#define HOLD_MS 60000
/* A door that closes again so soon goes on where it was. */
#define CALM_MS 600000

static uint32_t first_seats(const struct trial *t)
{
	return t->first_seats > 0 ? t->first_seats : 1;
}

static void close_door(struct trial *t, int64_t sign, int64_t now)
{
	bool calm = t->opened_at == 0 || now - t->opened_at >= CALM_MS;
	if (calm) {
		t->wait_ms = TRIAL_WAIT_MS;
		t->seats = first_seats(t);
		t->in_vain = false;
	}
	t->closed = true;
	t->well_since = -1;
	t->sign = sign;
	t->began_at = 0;
	t->taken = 0;
	/* It was opened by somebody who arrived: the next ones need not wait for that. */
	t->next_at = calm || t->in_vain ? now + t->wait_ms : now;
}

static void end_trial(struct trial *t, bool arrived, int64_t now)
{
	if (arrived) {
		t->seats = (uint32_t)smaller_of(t->seats * 2, TRIAL_SEATS_MOST);
		t->wait_ms = TRIAL_WAIT_MS;
	} else {
		t->wait_ms = smaller_of(t->wait_ms * 2, TRIAL_WAIT_MOST_MS);
		t->seats = first_seats(t);
	}
	t->in_vain = !arrived;
	t->began_at = 0;
	t->taken = 0;
	t->next_at = arrived ? now : now + t->wait_ms;
}

void trial_step(struct trial *t, bool wrong, int64_t sign, int64_t now)
{
	if (!t->closed) {
		if (wrong) {
			close_door(t, sign, now);
		}
		return;
	}
	bool arrived = sign > t->sign;
	if (t->began_at != 0 && (arrived || now - t->began_at >= TRIAL_LASTS_MS)) {
		end_trial(t, arrived, now);
	}
	t->sign = arrived ? sign : t->sign;
	if (wrong) {
		t->well_since = -1;
		return;
	}
	if (t->well_since < 0) {
		t->well_since = now;
	}
	if (arrived || now - t->well_since >= HOLD_MS) {
		t->closed = false;
		t->opened_at = now;
		t->began_at = 0;
	}
}

bool trial_is_open(const struct trial *t, int64_t now)
{
	return !t->closed || (now >= t->next_at && t->taken < t->seats);
}

void trial_take(struct trial *t, int64_t now)
{
	if (!t->closed) {
		return;
	}
	if (t->began_at == 0) {
		t->began_at = now;
	}
	t->taken++;
}
