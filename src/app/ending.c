/* The end in good order: what was measured is written down, the Lease is given back, every
 * admission is answered. None of them may take long. */
#include <signal.h>

#include "base/log.h"
#include "parts.h"

#define DRAIN_MS	10000
#define SAVE_WAIT_MS	5000
#define RELEASE_WAIT_MS 3000

static void on_drained(void *data)
{
	struct controller *c = data;
	c->drained = true;
}

void ending_on_signal(void *data, int signo)
{
	struct controller *c = data;
	if (signo == SIGHUP) {
		return;
	}
	if (c->stopping) {
		loop_stop(c->loop);
		return;
	}
	log_info("stopping", LOG_I("signal", signo));
	c->stopping = true;
	c->release_by = clock_mono(c->clock) + SAVE_WAIT_MS;
	sizes_end(c->sizes);
	if (c->webhook == NULL) {
		c->drained = true;
		return;
	}
	server_drain(c->webhook, DRAIN_MS, on_drained, c);
}

void ending_step(struct controller *c, int64_t now)
{
	if (!c->stopping) {
		return;
	}
	bool late = now >= c->release_by;
	if (!c->releasing && (late || sizes_ended(c->sizes, election_leads(c->election)))) {
		c->releasing = true;
		c->release_by = now + RELEASE_WAIT_MS;
		election_release(c->election);
	} else if (c->releasing && c->drained && (late || election_is_released(c->election))) {
		loop_stop(c->loop);
	}
}
