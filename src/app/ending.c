/* The end in good order: what was measured is written down, the Lease is given back, every
 * admission is answered. None of them may take long.
 *
 * Whoever tells us to stop tells the Service at the same time, and for some seconds connections
 * still come here. A review that finds nobody lets its pod start whole, and so does one where
 * nobody leads (C2). So a controller lingers before all of this: it leads, places and answers as
 * before, and is only not ready. */
#include "ending.h"

#include <signal.h>

#include "base/log.h"

#define DRAIN_MS	10000
#define SAVE_WAIT_MS	5000
#define RELEASE_WAIT_MS 3000

static void on_webhook_drained(void *data)
{
	struct controller *c = data;
	c->drained = true;
}

static void on_ending_signal(void *data, int signo)
{
	struct controller *c = data;
	if (signo == SIGHUP) {
		return;
	}
	if (c->ending != ENDING_NOT) {
		loop_stop(c->loop);
		return;
	}
	log_info("stopping", LOG_I("signal", signo));
	c->ending = ENDING_LINGERS;
	c->ending_by = clock_mono(c->clock) + c->options.linger_s * 1000;
	if (c->webhook != NULL) {
		server_leave(c->webhook);
	}
}

void ending_on_signals(struct controller *c)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
	for (size_t i = 0; i < COUNT_OF(signals); i++) {
		loop_on_signal(c->loop, signals[i], on_ending_signal, c);
	}
}

static void ending_step(void *self, const struct turn *turn)
{
	struct controller *c = self;
	int64_t now = turn->now;
	if (c->ending == ENDING_LINGERS && now >= c->ending_by) {
		c->ending = ENDING_DRAINS;
		c->ending_by = now + SAVE_WAIT_MS;
		rightsizing_end(c->control.rightsizing);
		c->drained = c->webhook == NULL;
		if (c->webhook != NULL) {
			server_drain(c->webhook, DRAIN_MS, on_webhook_drained, c);
		}
	}
	bool late = now >= c->ending_by;
	if (c->ending == ENDING_DRAINS &&
		(late || rightsizing_ended(c->control.rightsizing, control_leads(&c->control)))) {
		c->ending = ENDING_RELEASES;
		c->ending_by = now + RELEASE_WAIT_MS;
		election_release(c->control.election);
	} else if (c->ending == ENDING_RELEASES && c->drained &&
		   (late || election_is_released(c->control.election))) {
		loop_stop(c->loop);
	}
}

static int64_t ending_deadline(const void *self, const struct turn *turn)
{
	const struct controller *c = self;
	(void)turn;
	bool waits = c->ending == ENDING_LINGERS || c->ending == ENDING_DRAINS;
	return waits ? c->ending_by : TIME_NEVER;
}

const struct part ending_part = {ending_step, ending_deadline, NULL};
