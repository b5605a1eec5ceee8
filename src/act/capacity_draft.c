/* The capacity pod (C9, C10, C15): small, Guaranteed, without rights, token or port, and fit for a
 * namespace that enforces the restricted profile. Its init container tells which GPU the device
 * plugin gave, its main container holds it.
 *
 * In mode MPS the main container runs NVIDIA's daemon beside that, and has what this takes (C28):
 * the processes of the node, because the daemon knows its clients by them; root with a few
 * capabilities, because those clients are of any user; and two directories of the node, through
 * which they meet. The init container stays as it is. */
#include "capacity_draft.h"

#include "act/restricted.h"
#include "make.h"
#include "model/names.h"
#include "model/uids.h"

#define IDENTITY_DIR "/run/aliquot"
/* There the directory of MPS is mounted in the other mode, and nothing is mounted in what is
 * mounted read-only. */
#define IDENTITY_DIR_MPS "/run/aliquot-identity"
#define IDENTITY_FILE	 "/identity"
#define VOLUME		 "identity"
#define TOLD_VOLUME	 "told"
#define TOLD_DIR	 "/run/aliquot-told"
/* As docs/operating.md builds the image. */
#define PROGRAM "/usr/bin/aliquot"

/* The directories of the node that `hold` gets in mode MPS. */
static const struct {
	const char *volume, *host, *path;
} mps_dirs[] = {{"mps", MPS_ROOT, MPS_ROOT}, {"mps-shm", MPS_SHM_ROOT, "/dev/shm"}};

/* SYS_ADMIN sets the GPU's compute mode; SYS_PTRACE and KILL are for processes of other users, the
 * rest for directories and sockets that those must reach. */
static const char *const mps_capabilities[] = {
	"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID", "SYS_ADMIN", "SYS_PTRACE"};

static void write_labels(struct build *b)
{
	build_text_at(b, LABEL_CAPACITY, "true");
	build_text_at(b, LABEL_IN_USE, IN_USE_NO);
}

static void capacity_metadata(struct build *b, const struct act_settings *s, const struct action *x)
{
	make_metadata(b, x, NAME_CAPACITY);
	write_labels(b);
	make_owner(b, "ConfigMap", make_owner_name(s), s->owner_uid);
}

static void write_mount(struct build *b, const char *volume, const char *path, bool read_only)
{
	build_begin_object(b);
	build_text_at(b, "name", volume);
	build_text_at(b, "mountPath", path);
	if (read_only) {
		build_bool_at(b, "readOnly", true);
	}
	build_end(b);
}

static void write_mps_security(struct build *b)
{
	build_object_at(b, "securityContext");
	build_bool_at(b, "runAsNonRoot", false);
	build_i64_at(b, "runAsUser", 0);
	build_i64_at(b, "runAsGroup", 0);
	build_bool_at(b, "allowPrivilegeEscalation", false);
	build_bool_at(b, "readOnlyRootFilesystem", true);
	build_object_at(b, "capabilities");
	build_array_at(b, "drop");
	build_text(b, "ALL");
	build_end(b);
	build_array_at(b, "add");
	for (size_t i = 0; i < COUNT_OF(mps_capabilities); i++) {
		build_text(b, mps_capabilities[i]);
	}
	build_end(b);
	build_end(b);
	build_end(b);
}

static void write_container_surroundings(struct build *b, bool init, bool mps)
{
	bool serves = mps && !init;
	/* NVML is all that is needed of the driver, and for the daemon what CUDA needs. */
	build_array_at(b, "env");
	build_begin_object(b);
	build_text_at(b, "name", "NVIDIA_DRIVER_CAPABILITIES");
	build_text_at(b, "value", serves ? "compute,utility" : "utility");
	build_end(b);
	build_end(b);
	/* The scheduler counts the larger of the two containers. */
	restricted_resources(b, serves ? "200m" : "10m", serves ? "512Mi" : "32Mi");
	build_array_at(b, "volumeMounts");
	write_mount(b, VOLUME, mps ? IDENTITY_DIR_MPS : IDENTITY_DIR, !init);
	if (!init) {
		write_mount(b, TOLD_VOLUME, TOLD_DIR, true);
	}
	for (size_t i = 0; serves && i < COUNT_OF(mps_dirs); i++) {
		write_mount(b, mps_dirs[i].volume, mps_dirs[i].path, false);
	}
	build_end(b);
	if (serves) {
		write_mps_security(b);
	} else {
		restricted_container(b);
	}
}

static void write_identity_file(struct build *b, bool mps)
{
	build_text(b, mps ? "--identity-file=" IDENTITY_DIR_MPS IDENTITY_FILE
			  : "--identity-file=" IDENTITY_DIR IDENTITY_FILE);
}

static void write_mps_options(struct build *b)
{
	build_text(b, "--mps");
	build_text(b, "--mps-root=" MPS_ROOT);
}

/* Ready is a daemon that answers, so that no tenant comes before it does. */
static void write_readiness(struct build *b, const struct act_settings *s)
{
	build_object_at(b, "readinessProbe");
	build_object_at(b, "exec");
	build_array_at(b, "command");
	build_text(b, text_empty(s->command) ? PROGRAM : s->command);
	build_text(b, "capacity");
	build_text(b, "ready");
	write_identity_file(b, true);
	write_mps_options(b);
	build_end(b);
	build_end(b);
	build_i64_at(b, "periodSeconds", 3);
	build_i64_at(b, "failureThreshold", 1);
	build_end(b);
}

static void capacity_container(
	struct build *b, const struct act_settings *s, const struct action *x, bool init)
{
	build_begin_object(b);
	build_text_at(b, "name", init ? CAPACITY_INIT_CONTAINER : CAPACITY_MAIN_CONTAINER);
	make_image(b, s);
	build_array_at(b, "args");
	build_text(b, "capacity");
	build_text(b, init ? "identify" : "hold");
	write_identity_file(b, x->mps);
	build_text(b, init ? "--termination-log=/dev/termination-log" : "--told-dir=" TOLD_DIR);
	if (init && x->mps) {
		/* The compute mode of that GPU is hold's to set. */
		build_text(b, "--mps");
	} else if (x->mps) {
		write_mps_options(b);
		build_text(b, "--mps-sweep=/dev/shm");
	}
	build_end(b);
	if (x->mps && !init) {
		write_readiness(b, s);
	}
	write_container_surroundings(b, init, x->mps);
	build_end(b);
}

static void write_told_item(struct build *b, const char *path, const char *field)
{
	build_begin_object(b);
	build_text_at(b, "path", path);
	build_object_at(b, "fieldRef");
	build_text_at(b, "fieldPath", field);
	build_end(b);
	build_end(b);
}

/* The kubelet writes down what they say for as long as the pod is not being ended. Who the tenants
 * are only a daemon needs to know. */
static void write_told(struct build *b, bool mps)
{
	build_begin_object(b);
	build_text_at(b, "name", TOLD_VOLUME);
	build_object_at(b, "downwardAPI");
	build_array_at(b, "items");
	write_told_item(b, "in-use", "metadata.labels['" LABEL_IN_USE "']");
	if (mps) {
		write_told_item(b, "grants", "metadata.annotations['" NOTE_GRANTS "']");
	}
	build_end(b);
	build_end(b);
	build_end(b);
}

static void write_volumes(struct build *b, const struct action *x)
{
	build_array_at(b, "volumes");
	build_begin_object(b);
	build_text_at(b, "name", VOLUME);
	build_object_at(b, "emptyDir");
	build_text_at(b, "medium", "Memory");
	build_text_at(b, "sizeLimit", "1Mi");
	build_end(b);
	build_end(b);
	write_told(b, x->mps);
	for (size_t i = 0; x->mps && i < COUNT_OF(mps_dirs); i++) {
		build_begin_object(b);
		build_text_at(b, "name", mps_dirs[i].volume);
		build_object_at(b, "hostPath");
		build_text_at(b, "path", mps_dirs[i].host);
		build_text_at(b, "type", "DirectoryOrCreate");
		build_end(b);
		build_end(b);
	}
	build_end(b);
}

static void write_containers(struct build *b, const struct act_settings *s, const struct action *x)
{
	build_array_at(b, "initContainers");
	capacity_container(b, s, x, true);
	build_end(b);
	build_array_at(b, "containers");
	capacity_container(b, s, x, false);
	build_end(b);
	write_volumes(b, x);
}

/* It is there because a tenant goes to that node or runs there, and leaves after
 * the last. Each of them tolerates something else, those that come later too, and no toleration can
 * be counted on to be added later: so no taint takes it away. What keeps new pods off keeps it off
 * as well, unless its first tenant tolerates that. */
static void write_tolerations(struct build *b, const struct action *x)
{
	static const struct toleration gpu = {.key = NAME_GPU_RESOURCE, .operator= "Exists" };
	static const struct toleration stays = {.operator= "Exists", .effect = "NoExecute"};
	build_array_at(b, "tolerations");
	make_toleration(b, &gpu);
	make_toleration(b, &stays);
	for (uint32_t i = 0; i < x->toleration_count; i++) {
		make_toleration(b, &x->tolerations[i]);
	}
	build_end(b);
}

static void capacity_spec(struct build *b, const struct act_settings *s, const struct action *x)
{
	/* Always: a main container that was killed finds its device again. It compares identities
	 * first, so a pod that came back with another GPU holds nothing. */
	make_spec(b, "Always", NAME_CAPACITY, CAPACITY_LINGER_S, UID_CAPACITY);
	if (x->mps) {
		build_bool_at(b, "hostPID", true);
	}
	if (!text_empty(x->runtime_class)) {
		build_text_at(b, "runtimeClassName", x->runtime_class);
	}
	write_tolerations(b, x);
	make_pin(b, x->node);
	write_containers(b, s, x);
	build_end(b);
}

int create_capacity_draft(const struct act_settings *s, const struct action *x,
	struct draft *ret_draft, struct fault *ret_fault)
{
	struct build b = build_into(&ret_draft->body);
	if (make_check_owner(s, ret_fault) < 0 || make_pod(s, x, ret_draft, &b, ret_fault) < 0) {
		return -1;
	}
	capacity_metadata(&b, s, x);
	capacity_spec(&b, s, x);
	build_end(&b);
	return draft_end(&b, ret_draft, ret_fault);
}

bool create_capacity_is_ours(const struct act_settings *s, const struct pod *pod)
{
	return pod_is_capacity(pod) && text_equals(pod->owner.uid, s->owner_uid) &&
	       pod->deleting_ms == 0 && !pod_is_terminal(pod);
}

/* Nobody is left, whatever its kubelet has written down for it to read: it has nothing to wait for
 * but, under MPS, the end of its daemon. */
#define DELETE_GRACE_S	   1
#define DELETE_GRACE_MPS_S 15

/* A capacity pod goes only as we saw it: whoever was granted a share on it meanwhile has changed
 * its version. Of a companion only the uid counts: nothing is written on it. */
int delete_capacity_draft(const struct action *x, struct draft *ret_draft, struct fault *ret_fault)
{
	bool versioned = !text_empty(x->resource_version);
	if (text_empty(x->uid) || (!versioned && !x->companion)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "a delete needs uid and resourceVersion");
	}
	const struct kube_path path = {
		.group_version = "v1", .ns = x->ns, .resource = "pods", .name = x->name};
	return draft_delete(
		x, &path, x->mps ? DELETE_GRACE_MPS_S : DELETE_GRACE_S, ret_draft, ret_fault);
}
