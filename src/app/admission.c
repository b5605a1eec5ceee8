/* What admission sees of the world. */
#include "admission.h"

#include "model/names.h"
#include "world/sightings.h"

/* The namespace itself; NULL: it is not known. */
static const struct namespace *noun_of(const struct world_namespace *n)
{
	return n != NULL && n->known ? &n->noun : NULL;
}

static void view_place(void *data, struct admit_input *in)
{
	const struct controller *c = data;
	const struct world_namespace *ns = world_namespace_find(c->world, in->pod->ns);
	in->ns = noun_of(ns);
	in->home = noun_of(world_namespace_find(c->world, NAME_NAMESPACE));
	in->policies.items = world_policies(c->world, &in->policies.count);
	in->limits_gpus = ns != NULL && ns->gpu_limits > 0;
	in->zero_quota = world_zero_quota(c->world, in->pod);
}

static const struct groups *view_groups(void *data)
{
	const struct controller *c = data;
	return c->control.groups;
}

static bool view_basic_group(void *data, const struct pod *pod)
{
	const struct controller *c = data;
	return podgroups_frees(c->control.pod_groups, pod);
}

static const struct advised *view_recommendation(void *data, const struct workload_key *workload)
{
	const struct controller *c = data;
	return advice_find(c->control.advice, workload);
}

static bool view_meets_others(void *data, const struct pod *pod)
{
	struct controller *c = data;
	return world_meets_others(c->world, pod);
}

static bool view_unshared(
	void *data, const struct pod *pod, const struct pairs *class, struct unfit_tally *ret_why)
{
	struct controller *c = data;
	return pools_refuse(c->pools, c->world, pod, class, ret_why);
}

static enum reason view_may_convert(void *data, const char *ns)
{
	struct controller *c = data;
	return gate_may_convert(&c->gate, ns);
}

static bool view_refused(void *data, const struct pod *pod)
{
	struct controller *c = data;
	return !unseen_may_convert(&c->unseen, pod, clock_mono(c->clock));
}

static void view_converted(void *data, const struct pod *pod)
{
	struct controller *c = data;
	gate_converted(&c->gate, pod->ns);
	unseen_converted(&c->unseen, pod, clock_mono(c->clock));
}

static enum reason port_may_replace(void *data, const char *ns)
{
	struct controller *c = data;
	enum reason reason = gate_may_replace(&c->gate, ns);
	bool refuses = unseen_refuses_some(&c->unseen, ns, clock_mono(c->clock));
	return reason == REASON_NONE && refuses ? REASON_CONVERTED_REFUSED : reason;
}

static void port_replaced(void *data)
{
	struct controller *c = data;
	gate_replaced(&c->gate);
}

static bool port_sees(void *data, const struct namespace *ns)
{
	const struct controller *c = data;
	return certs_sees(c->certs, &ns->labels);
}

static bool port_unshared(void *data, const struct pod *pod, struct unfit_tally *ret_why)
{
	return view_unshared(data, pod, NULL, ret_why);
}

struct sizer_admission admission_port(struct controller *c)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	struct inject_rules rules;
	/* The options were checked when they were read. */
	bool read = inject_rules_parse(c->options.injection, &arena, &rules, NULL) == 0;
	return (struct sizer_admission){.data = c,
		.sees = port_sees,
		.may_convert = port_may_replace,
		.replaced = port_replaced,
		.unshared = port_unshared,
		.context_mib = c->options.context_memory_mib,
		.mps_unlabelled = c->options.mps_unlabelled,
		.notes_names = !read || inject_rules_may_note(&rules)};
}

struct hook_view admission_view(struct controller *c)
{
	return (struct hook_view){.data = c,
		.place_of = view_place,
		.groups = view_groups,
		.owners = owners_known(c->owners),
		.recommendation = view_recommendation,
		.unshared = view_unshared,
		.meets_others = view_meets_others,
		.may_convert = view_may_convert,
		.refused = view_refused,
		.converted = view_converted,
		.basic_group = view_basic_group};
}
