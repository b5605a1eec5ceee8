/* What stands in for tenants and asks for a node (C14): the GPUs, CPU and memory that they and
 * their capacity pods will need. Anybody displaces it; it holds nothing that matters and goes when
 * the GPUs are opened. It belongs to whom capacity pods belong to. */
#include "companion_draft.h"

#include "act/restricted.h"
#include "make.h"
#include "model/names.h"
#include "model/uids.h"

static void companion_metadata(
	struct build *b, const struct act_settings *s, const struct action *x)
{
	make_metadata(b, x, NAME_COMPANION);
	build_text_at(b, LABEL_COMPANION, "true");
	make_owner(b, "ConfigMap", make_owner_name(s), s->owner_uid);
}

static void write_amount(struct build *b, const char *key, int64_t n, const char *unit)
{
	char amount[32];
	snprintf(amount, sizeof amount, "%lld%s", (long long)n, unit);
	build_text_at(b, key, amount);
}

static void companion_container(
	struct build *b, const struct act_settings *s, const struct action *x)
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
	build_object_at(b, "limits");
	write_amount(b, NAME_GPU_RESOURCE, x->gpus, "");
	build_end(b);
	build_end(b);
	restricted_container(b);
	build_end(b);
	build_end(b);
}

static void companion_spec(struct build *b, const struct act_settings *s, const struct action *x)
{
	make_spec(b, "Always", NAME_COMPANION, 1, UID_COMPANION);
	if (!text_empty(x->runtime_class)) {
		build_text_at(b, "runtimeClassName", x->runtime_class);
	}
	build_array_at(b, "tolerations");
	const struct toleration gpu = {.key = NAME_GPU_RESOURCE, .operator= "Exists" };
	make_toleration(b, &gpu);
	for (uint32_t i = 0; i < x->toleration_count; i++) {
		make_toleration(b, &x->tolerations[i]);
	}
	build_end(b);
	make_where(b, x);
	companion_container(b, s, x);
	build_end(b);
}

int companion_draft(const struct act_settings *s, const struct action *x, struct draft *ret_draft,
	struct fault *ret_fault)
{
	struct build b = build_into(&ret_draft->body);
	if (make_check_owner(s, ret_fault) < 0 || make_pod(s, x, ret_draft, &b, ret_fault) < 0) {
		return -1;
	}
	companion_metadata(&b, s, x);
	companion_spec(&b, s, x);
	build_end(&b);
	return draft_end(&b, ret_draft, ret_fault);
}
