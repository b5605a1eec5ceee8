/* Rightsizing: hands what is known of use to the sizer, and what the sizer wants written to act. */
#ifndef APP_SIZES_H
#define APP_SIZES_H

#include "act/act.h"
#include "base/clock.h"
#include "meter/latest.h"
#include "sizer/sizer.h"

struct sizes;
struct sizes_config { /* all borrowed */
	struct kube *kube;
	const struct clock *clock;
	const struct world *world;
	const struct groups *groups;
	const struct latest *latest;
	struct act *act;
	/* the engine's door */
	bool (*tell)(void *data, const struct change *c);
	void *data;
	int64_t round_ms; /* of the sizer, */
	int64_t checkpoint_ms;
	int64_t use_ms; /* and how often it is told what is used */
};

struct sizes *sizes_create(const struct sizes_config *config);
void sizes_destroy(struct sizes *z);
bool sizes_observe(struct sizes *z, const struct change *c);
void sizes_step(struct sizes *z, int64_t now_mono_ms, bool leads);
/* False: it is none of the sizer's. */
bool sizes_settle(struct sizes *z, const struct action *action, const struct outcome *outcome);
/* The process is about to end; then: has all been written that must not be lost? */
void sizes_end(struct sizes *z);
bool sizes_ended(const struct sizes *z, bool leads);
int64_t sizes_deadline(const struct sizes *z, bool leads);
void sizes_sum(const struct sizes *z, struct sizer_totals *ret);

#endif
