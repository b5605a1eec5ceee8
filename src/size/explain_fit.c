/* "3 nodes lack CPU, 2 are cordoned", "3 GPUs lack memory, 1 is not healthy": why nodes do not suit
 * a pod, and what the GPUs lack that the sentence is not about. */
#include "explain_fit.h"

#include "base/str.h"
#include "model/lack.h"
#include "size/explain.h"

/* One row a cause: what one node does, what several do, and the same where more things than the one
 * that is named are in the way. {} is the thing. */
static const struct {
	const char *one, *many, *of_several;
} causes[UNFIT_COUNT] = {
	[UNFIT_RUNTIME] = {"is not for the RuntimeClass of capacity pods",
		"are not for the RuntimeClass of capacity pods", NULL},
	[UNFIT_SHARED] = {"shares its GPUs already (time-slicing or MPS)",
		"share their GPUs already (time-slicing or MPS)", NULL},
	[UNFIT_MIG] = {"gives out its GPUs as MIG partitions",
		"give out their GPUs as MIG partitions", NULL},
	[UNFIT_DRA] = {"publishes its GPUs through DRA", "publish their GPUs through DRA", NULL},
	[UNFIT_HAMI] = {"serves its GPUs to HAMi", "serve their GPUs to HAMi", NULL},
	[UNFIT_KAI] = {"serves its GPUs to KAI", "serve their GPUs to KAI", NULL},
	[UNFIT_SELECTOR] = {"does not match the node selector or affinity",
		"do not match the node selector or affinity", NULL},
	[UNFIT_TAINT] = {"has the untolerated taint {}", "have the untolerated taint {}",
		"have untolerated taints, {} among them"},
	[UNFIT_VOLUME] = {"cannot have the volume of claim {}",
		"cannot have the volume of claim {}",
		"cannot have the volumes, that of claim {} among them"},
	[UNFIT_CLASS] = {"gives containers of RuntimeClass {} no GPU",
		"give containers of RuntimeClass {} no GPU", NULL},
	[UNFIT_CORDONED] = {"is cordoned", "are cordoned", NULL},
	[UNFIT_NOT_READY] = {"is not ready", "are not ready", NULL},
	[UNFIT_DRAINING] = {"is being drained", "are being drained", NULL},
	[UNFIT_NEIGHBOUR] = {"has a pod that anti-affinity keeps apart",
		"have pods that anti-affinity keeps apart", NULL},
	[UNFIT_ALONE] = {"has no pod near that its affinity asks for",
		"have no pod near that its affinity asks for", NULL},
	[UNFIT_SPREAD] = {"would break its topology spread", "would break its topology spread",
		NULL},
	[UNFIT_REFUSED] = {"was refused to a pod of this workload by the scheduler a while ago",
		"were refused to a pod of this workload by the scheduler a while ago", NULL},
	[UNFIT_PORT] = {"has the host port taken", "have the host port taken", NULL},
	[UNFIT_RESOURCE] = {"lacks {}", "lack {}", "lack {} or other resources"},
	[UNFIT_SLOTS] = {"has no room for one more pod", "have no room for one more pod", NULL},
	[UNFIT_CPU] = {"lacks CPU", "lack CPU", NULL},
	[UNFIT_MEMORY] = {"lacks memory", "lack memory", NULL},
};

/* "3 nodes lack CPU, 2 have the untolerated taint x": the nearest causes first, for that most nodes
 * are not selected is what a selector is for; no more of them than a person reads. */
#define CAUSES_TOLD 4

bool explain_nodes(struct str *out, const struct unfit_tally *t)
{
	uint32_t left = t != NULL ? t->nodes : 0;
	int told = 0;
	if (left == 0) {
		return false;
	}
	for (int i = UNFIT_COUNT - 1; i > UNFIT_NONE && told < CAUSES_TOLD; i--) {
		const struct unfit_count *c = &t->by[i];
		if (c->nodes == 0) {
			continue;
		}
		const char *nodes = told > 0 ? "" : c->nodes == 1 ? " node" : " nodes";
		str_append_format(out, "%s%u%s ", told > 0 ? ", " : "", c->nodes, nodes);
		const char *text = c->nodes == 1 ? causes[i].one : causes[i].many;
		if (c->whats > 1 && causes[i].of_several != NULL) {
			text = causes[i].of_several;
		}
		explain_filled(out, text, (const char *const[]){text_or(c->what, "?")});
		told++;
		left -= c->nodes;
	}
	if (left > 0) {
		str_append_format(out, ", %u more do not suit it either", left);
	}
	return true;
}

static const struct {
	const char *one, *many;
	enum reason reason; /* that says so already */
} lacks[LACK_COUNT] = {
	[LACK_MEMORY] = {"lacks memory", "lack memory", REASON_SHORT_MEMORY},
	[LACK_COMPUTE] = {"lacks compute", "lack compute", REASON_SHORT_COMPUTE},
	[LACK_TENANTS] = {"has as many tenants as it may", "have as many tenants as they may",
		REASON_MAX_TENANTS},
	[LACK_COMPANY] = {"has tenants that it may not join", "have tenants that it may not join",
		REASON_EXCLUSIVE},
	[LACK_HEALTH] = {"is not healthy", "are not healthy", REASON_NONE},
	[LACK_USE] = {"is out of use", "are out of use", REASON_NONE},
	[LACK_KEPT] = {"is kept for a pod before it", "are kept for pods before it", REASON_NONE},
};

bool explain_lacks(struct str *out, enum reason reason, const struct lack_tally *t)
{
	bool told = false;
	for (int i = 0; t != NULL && i < LACK_COUNT; i++) {
		uint32_t n = t->by[i];
		if (n == 0 || lacks[i].reason == reason) {
			continue;
		}
		const char *gpus = told ? "" : n == 1 ? " GPU" : " GPUs";
		str_append_format(out, "%s%u%s %s", told ? ", " : "", n, gpus,
			n == 1 ? lacks[i].one : lacks[i].many);
		told = true;
	}
	return told;
}
