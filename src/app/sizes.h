/* Rightsizing: hands what is known of use to the sizer, and what the sizer wants written to act. */
#ifndef APP_SIZES_H
#define APP_SIZES_H

#include "act/act.h"
#include "base/clock.h"
#include "kube/feeds.h"
#include "meter/latest.h"
#include "meter/prometheus.h"
#include "sizer/sizer.h"

struct sizes;
struct sizes_config { /* all borrowed */
	struct kube *kube;
	const struct clock *clock;
	const struct world *world;
	const struct groups *groups;
	const struct owner_port *owners;
	const struct around *around;
	const struct podgroups *pod_groups;
	const char *const *schedulers; /* as admission's */
	uint32_t scheduler_count;
	struct sizer_admission admission;
	const struct feeds *feeds; /* NULL: all is known */
	const struct latest *latest;
	struct act *act;
	struct prometheus *prometheus; /* that knows the past; NULL: nobody does */
	/* the engine's door, and what became of what it was told */
	bool (*tell)(void *data, const struct change *c);
	void (*fate)(void *data, const char *uid, struct share_fate *ret);
	bool (*evicts)(void *data, const char *uid);
	void *data;
	struct bill_config bill;
	int64_t round_ms; /* of the sizer, */
	int64_t checkpoint_ms;
	int64_t context_mib; /* as admission's */
	int64_t use_ms;	     /* and how often it is told what is used */
};

struct sizes *sizes_create(const struct sizes_config *config);
void sizes_destroy(struct sizes *z);
bool sizes_observe(struct sizes *z, const struct change *c);
/* The world has taken that. Nobody measures a pod that ended, and the next one may be made soon. */
void sizes_look(struct sizes *z, const struct change *c);
void sizes_step(struct sizes *z, int64_t now_mono_ms, bool leads);
/* Is the webhook reached, and when was that seen last (C3)? Monotonic; 0: never. */
void sizes_reach(struct sizes *z, bool reached, int64_t seen_mono_ms);
/* May a pod be made beside another one (C24)? */
void sizes_may_surge(struct sizes *z, enum sizer_surge right);
/* False: it is none of the sizer's. */
bool sizes_settle(struct sizes *z, const struct action *action, const struct outcome *outcome);
/* The process is about to end; then: has all been written that must not be lost? */
void sizes_end(struct sizes *z);
bool sizes_ended(const struct sizes *z, bool leads);
int64_t sizes_deadline(const struct sizes *z, bool leads);
/* What GPUs cost, for /metrics; a leader's alone. */
void sizes_write_bill(const struct sizes *z, struct str *out);
/* Who has GPUs and is not recognized, for /metrics; a leader's alone. */
void sizes_write_strangers(const struct sizes *z, struct str *out);
bool sizes_gathers(const struct sizes *z, const char *group, struct sizer_gathered *ret);
void sizes_sum(const struct sizes *z, struct sizer_totals *ret);

#endif
