/* The companion of a capacity pod that asks for a node (C14): it needs the CPU and memory that the
 * tenants planned there will need, must run beside the capacity pod, and so makes an autoscaler
 * choose a node with room for both. Anybody displaces it; it goes once the GPU is open. It belongs
 * to its capacity pod, so that it never outlives it.
 *
 * One that stands in for tenants of several GPUs asks for those too, has no capacity pod beside it,
 * and belongs to whom capacity pods belong to. */
#include "act_parts.h"
#include "model/names.h"

static void write_metadata(struct build *b, const struct act_settings *s, const struct action *x)
{
	make_metadata(b, x, NAME_COMPANION);
	build_text_at(b, LABEL_COMPANION, "true");
	if (x->gpus > 0) {
		make_owner(b, "ConfigMap", make_owner_name(s), s->owner_uid);
	} else {
		make_owner(b, "Pod", x->capacity_pod, x->uid);
	}
}

static void write_affinity(struct build *b, const struct action *x)
{
	build_object_at(b, "affinity");
	build_object_at(b, "podAffinity");
	build_array_at(b, "requiredDuringSchedulingIgnoredDuringExecution");
	build_begin_object(b);
	build_text_at(b, "topologyKey", "kubernetes.io/hostname");
	build_object_at(b, "labelSelector");
	build_object_at(b, "matchLabels");
	build_text_at(b, LABEL_PAIR, x->capacity_pod);
	for (int i = 0; i < 6; i++) {
		build_end(b);
	}
}

static void write_amount(struct build *b, const char *key, int64_t n, const char *unit)
{
	char amount[32];
	snprintf(amount, sizeof amount, "%lld%s", (long long)n, unit);
	build_text_at(b, key, amount);
}

static void write_container(struct build *b, const struct act_settings *s, const struct action *x)
{
	build_array_at(b, "containers");
	build_begin_object(b);
	build_text_at(b, "name", "pause");
	make_image(b, s);
	build_array_at(b, "args");
	build_text(b, "capacity");
	build_text(b, "pause");
	build_end(b);
	build_object_at(b, "resources");
	build_object_at(b, "requests");
	write_amount(b, "cpu", x->cpu_milli, "m");
	write_amount(b, "memory", x->mem_bytes, "");
	build_end(b);
	if (x->gpus > 0) {
		build_object_at(b, "limits");
		write_amount(b, NAME_GPU_RESOURCE, x->gpus, "");
		build_end(b);
	}
	build_end(b);
	make_container_security(b);
	build_end(b);
	build_end(b);
}

static void write_spec(struct build *b, const struct act_settings *s, const struct action *x)
{
	make_spec(b, "Always", NAME_COMPANION, 1);
	if (x->gpus > 0 && !text_empty(x->runtime_class)) {
		build_text_at(b, "runtimeClassName", x->runtime_class);
	}
	build_array_at(b, "tolerations");
	const struct toleration gpu = {.key = NAME_GPU_RESOURCE, .operator= "Exists" };
	make_toleration(b, &gpu);
	for (uint32_t i = 0; i < x->toleration_count; i++) {
		make_toleration(b, &x->tolerations[i]);
	}
	build_end(b);
	if (x->gpus > 0) {
		make_where(b, x);
	} else {
		write_affinity(b, x);
	}
	write_container(b, s, x);
	build_end(b);
}

int companion_draft(const struct act_settings *s, const struct action *x, struct draft *ret_draft,
	struct fault *ret_fault)
{
	struct build b = build_into(&ret_draft->body);
	if (x->gpus > 0 && make_check_owner(s, ret_fault) < 0) {
		return -1;
	}
	if (make_pod(s, x, ret_draft, &b, ret_fault) < 0) {
		return -1;
	}
	write_metadata(&b, s, x);
	write_spec(&b, s, x);
	build_end(&b);
	return draft_end(&b, ret_draft, ret_fault);
}
