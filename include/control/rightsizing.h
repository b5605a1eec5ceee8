/* Rightsizing: hands what is known of use to the sizer, what the sizer wants written to act, and
 * whom it wants to have another share to the engine. */
#ifndef CONTROL_RIGHTSIZING_H
#define CONTROL_RIGHTSIZING_H

#include "base/clock.h"
#include "base/part.h"
#include "kube/feeds.h"
#include "meter/latest.h"
#include "meter/prometheus.h"
#include "sizer/sizer.h"

struct rightsizing;

/* Where it stands among the others; all borrowed. */
struct rightsizing_port {
	struct kube *kube;
	const struct clock *clock;
	const struct world *world;
	const struct feeds *feeds; /* NULL: all is known */
	void *data;
	bool (*observe)(void *data, const struct change *c); /* the engine's door */
	void (*submit)(void *data, struct action *a);
};

struct rightsizing_config {	       /* all borrowed */
	struct sizer_config sizer;     /* no checkpoint_ms: no checkpoint is waited for either */
	struct prometheus *prometheus; /* that knows the past; NULL: nobody does */
	const struct latest *latest;   /* what is used */
	int64_t use_ms;		       /* and how often the sizer is told of it */
	/* Instead of `latest`: who tells the sizer what is used, once the views are whole */
	const struct part *measure;
	void *measure_self;
};

struct rightsizing *rightsizing_create(
	const struct rightsizing_config *config, const struct rightsizing_port *port);
extern const struct part rightsizing_part;
/* The world has taken that. */
void rightsizing_look(struct rightsizing *z, const struct change *c);
/* Is the webhook reached, and when was that seen last (C3)? Monotonic; 0: never. */
void rightsizing_reach(struct rightsizing *z, bool reached, int64_t seen_mono_ms);
void rightsizing_settle(
	struct rightsizing *z, const struct action *action, const struct outcome *outcome);
/* The process is about to end; then: has all been written that must not be lost? */
void rightsizing_end(struct rightsizing *z);
bool rightsizing_ended(const struct rightsizing *z, bool leads);
/* Lives as long. */
struct sizer *rightsizing_sizer(const struct rightsizing *z);

#endif
