/* The companion of a capacity pod that asks for a node (C14): it needs the CPU and memory that the
 * tenants planned there will need, must run beside the capacity pod, and so makes an autoscaler
 * choose a node with room for both. Anybody displaces it; it goes once the GPU is open. It belongs
 * to its capacity pod, so that it never outlives it. */
#include "act_parts.h"
#include "model/names.h"

static void write_metadata(struct build *b, const struct action *x)
{
	build_object_at(b, "metadata");
	build_text_at(b, "name", x->name);
	build_text_at(b, "namespace", x->ns);
	build_object_at(b, "labels");
	build_text_at(b, "app.kubernetes.io/name", NAME_COMPANION);
	build_text_at(b, "app.kubernetes.io/part-of", "aliquot");
	build_text_at(b, LABEL_COMPANION, "true");
	build_end(b);
	build_object_at(b, "annotations");
	build_text_at(b, NOTE_SAFE_TO_EVICT, "true");
	build_end(b);
	build_array_at(b, "ownerReferences");
	build_begin_object(b);
	build_text_at(b, "apiVersion", "v1");
	build_text_at(b, "kind", "Pod");
	build_text_at(b, "name", x->capacity_pod);
	build_text_at(b, "uid", x->uid);
	build_bool_at(b, "controller", true);
	build_end(b);
	build_end(b);
	build_end(b);
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

static void write_container(struct build *b, const struct act_settings *s, const struct action *x)
{
	char amount[32];
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
	snprintf(amount, sizeof amount, "%lldm", (long long)x->cpu_milli);
	build_text_at(b, "cpu", amount);
	snprintf(amount, sizeof amount, "%lld", (long long)x->mem_bytes);
	build_text_at(b, "memory", amount);
	build_end(b);
	build_end(b);
	make_container_security(b);
	build_end(b);
	build_end(b);
}

static void write_spec(struct build *b, const struct act_settings *s, const struct action *x)
{
	build_object_at(b, "spec");
	build_text_at(b, "restartPolicy", "Always");
	build_i64_at(b, "terminationGracePeriodSeconds", 1);
	build_text_at(b, "priorityClassName", NAME_COMPANION);
	build_text_at(b, "serviceAccountName", NAME_CAPACITY);
	build_bool_at(b, "automountServiceAccountToken", false);
	build_bool_at(b, "enableServiceLinks", false);
	make_security(b);
	build_array_at(b, "tolerations");
	const struct toleration gpu = {.key = NAME_GPU_RESOURCE, .operator= "Exists" };
	make_toleration(b, &gpu);
	for (uint32_t i = 0; i < x->toleration_count; i++) {
		make_toleration(b, &x->tolerations[i]);
	}
	build_end(b);
	write_affinity(b, x);
	write_container(b, s, x);
	build_end(b);
}

int companion_draft(const struct act_settings *s, const struct action *x, struct draft *ret_draft,
	struct fault *ret_fault)
{
	if (text_empty(s->image)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "no image for capacity pods is configured");
	}
	ret_draft->method = WIRE_POST;
	ret_draft->path =
		(struct kube_path){.group_version = "v1", .ns = x->ns, .resource = "pods"};
	ret_draft->content_type = KUBE_JSON;
	struct build b = build_into(&ret_draft->body);
	build_begin_object(&b);
	build_text_at(&b, "apiVersion", "v1");
	build_text_at(&b, "kind", "Pod");
	write_metadata(&b, x);
	write_spec(&b, s, x);
	build_end(&b);
	return draft_end(&b, ret_draft, ret_fault);
}
