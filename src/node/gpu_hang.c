/* See gpu_hang.h. */
#include "gpu_hang.h"

#include <sys/wait.h>

void hangs_init(struct hangs *h, int64_t first_ms, uint64_t seed)
{
	*h = (struct hangs){.tried = HANG_NO_DEVICE};
	rng_seed(&h->rng, seed);
	for (uint32_t i = 0; i < PROBE_DEVICES_MAX; i++) {
		h->devices[i].backoff =
			(struct backoff){.first_ms = first_ms, .cap_ms = HANG_CAP_MS};
	}
}

static bool has_stuck_child(struct hang *d)
{
	if (d->stuck > 0 && waitpid(d->stuck, NULL, WNOHANG) != 0) {
		d->stuck = 0;
	}
	return d->stuck > 0;
}

uint64_t hangs_begin(struct hangs *h, int64_t now_ms, bool may_try)
{
	uint64_t left_out = 0;
	h->tried = HANG_NO_DEVICE;
	for (uint32_t i = 0; i < PROBE_DEVICES_MAX; i++) {
		struct hang *d = &h->devices[i];
		if (!d->hangs) {
			continue;
		}
		bool due = !has_stuck_child(d) && may_try && now_ms >= d->try_at_ms;
		if (due && h->tried == HANG_NO_DEVICE) {
			h->tried = i;
		} else {
			left_out |= UINT64_C(1) << i;
		}
	}
	return left_out;
}

void hangs_done(struct hangs *h)
{
	if (h->tried != HANG_NO_DEVICE) {
		h->devices[h->tried].hangs = false;
		h->devices[h->tried].backoff.attempt = 0;
	}
	h->tried = HANG_NO_DEVICE;
}

void hangs_note(struct hangs *h, uint32_t index, int64_t now_ms)
{
	struct hang *d = &h->devices[index];
	d->hangs = true;
	d->try_at_ms = now_ms + backoff_next(&d->backoff, &h->rng);
	h->tried = HANG_NO_DEVICE;
}

bool hangs_keep(struct hangs *h, uint32_t index, pid_t pid)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < PROBE_DEVICES_MAX; i++) {
		count += has_stuck_child(&h->devices[i]);
	}
	if (count >= HANG_STUCK_MAX || h->devices[index].stuck > 0) {
		return false;
	}
	h->devices[index].stuck = pid;
	return true;
}
