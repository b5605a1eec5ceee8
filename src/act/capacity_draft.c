/* The capacity pod (C9, C10, C15): small, Guaranteed, without rights, token or port, and fit for a
 * namespace that enforces the restricted profile. Its init container tells which GPU the device
 * plugin gave, its main container holds it.
 *
 * In mode MPS the main container runs NVIDIA's daemon beside that, and has what this takes (C28):
 * the processes of the node, because the daemon knows its clients by them; root with a few
 * capabilities, because those clients are of any user; and two directories of the node, through
 * which they meet. The init container stays as it is. */
#include "capacity_draft.h"

#include <stdio.h>

#include "act/restricted.h"
#include "json/fields.h"
#include "make.h"
#include "model/names.h"
#include "model/uids.h"

#define IDENTITY_DIR "/run/aliquot"
/* There the directory of MPS is mounted in the other mode, and nothing is mounted in what is
 * mounted read-only. */
#define IDENTITY_DIR_MPS  "/run/aliquot-identity"
#define IDENTITY_FILE_MPS "--identity-file=" IDENTITY_DIR_MPS "/identity"
#define VOLUME		  "identity"
#define TOLD_VOLUME	  "told"
#define TOLD_DIR	  "/run/aliquot-told"
/* The program, as docs/operating.md builds the image. */
#define PROGRAM "/usr/bin/aliquot"

/* The directories of the node that `hold` gets in mode MPS. */
static const struct {
	const char *volume, *host, *path;
} mps_dirs[] = {{"mps", MPS_ROOT, MPS_ROOT}, {"mps-shm", MPS_SHM_ROOT, "/dev/shm"}};

static const struct toleration tolerates_gpu = {.key = NAME_GPU_RESOURCE, .operator= "Exists" };

/* The ConfigMap that owns capacity pods and companions, if it is known. */
static int pods_owner(const struct draft *d, struct owner *ret_owner, struct fault *ret_fault)
{
	if (text_empty(d->settings->owner_uid)) {
		return fault_set(ret_fault, FAULT_TRANSIENT,
			"the ConfigMap %s, which owns capacity pods, was not found yet",
			NAME_CAPACITY);
	}
	*ret_owner = (struct owner){"v1", "ConfigMap", NAME_CAPACITY, d->settings->owner_uid};
	return 0;
}

/* --- the capacity pod --- */

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

/* SYS_ADMIN sets the GPU's compute mode; SYS_PTRACE and KILL are for processes of other users, the
 * rest for directories and sockets that those must reach. */
static void write_mps_security(struct build *b)
{
	build_object_at(b, "securityContext");
	build_bool_at(b, "runAsNonRoot", false);
	build_i64_at(b, "runAsUser", 0);
	build_i64_at(b, "runAsGroup", 0);
	build_bool_at(b, "allowPrivilegeEscalation", false);
	build_bool_at(b, "readOnlyRootFilesystem", true);
	build_object_at(b, "capabilities");
	draft_texts(b, "drop", WORDS("ALL"));
	draft_texts(b, "add",
		WORDS("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID", "SYS_ADMIN",
			"SYS_PTRACE"));
	draft_close(b, 2);
}

static void write_container_surroundings(struct build *b, bool init, bool mps)
{
	bool serves = mps && !init;
	/* NVML is all that is needed of the driver, and for the daemon what CUDA needs. */
	build_array_at(b, "env");
	make_variable(b, "NVIDIA_DRIVER_CAPABILITIES", serves ? "compute,utility" : "utility");
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

static void write_containers(struct build *b, const struct draft *d, bool mps)
{
	const char *file = mps ? IDENTITY_FILE_MPS : "--identity-file=" IDENTITY_DIR "/identity";
	/* The compute mode of that GPU is hold's to set. */
	const char *const identify[] = {"capacity", "identify", file,
		"--termination-log=/dev/termination-log", mps ? "--mps" : NULL, NULL};
	const char *const hold[] = {"capacity", "hold", file, "--told-dir=" TOLD_DIR,
		mps ? "--mps" : NULL, "--mps-root=" MPS_ROOT, "--mps-sweep=/dev/shm", NULL};
	build_array_at(b, "initContainers");
	make_container(b, d, CAPACITY_INIT_CONTAINER, identify);
	write_container_surroundings(b, true, mps);
	draft_close(b, 2);
	build_array_at(b, "containers");
	make_container(b, d, CAPACITY_MAIN_CONTAINER, hold);
	if (mps) {
		/* Ready is a daemon that answers, so that no tenant comes before it does. */
		build_object_at(b, "readinessProbe");
		build_object_at(b, "exec");
		draft_texts(b, "command",
			WORDS(PROGRAM, "capacity", "ready", IDENTITY_FILE_MPS, "--mps",
				"--mps-root=" MPS_ROOT));
		build_end(b);
		build_i64_at(b, "periodSeconds", 3);
		build_i64_at(b, "failureThreshold", 1);
		build_end(b);
	}
	write_container_surroundings(b, false, mps);
	draft_close(b, 2);
}

static void write_told_item(struct build *b, const char *path, const char *field)
{
	build_begin_object(b);
	build_text_at(b, "path", path);
	build_object_at(b, "fieldRef");
	build_text_at(b, "fieldPath", field);
	draft_close(b, 2);
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
	draft_close(b, 3);
}

static void write_volumes(struct build *b, bool mps)
{
	build_array_at(b, "volumes");
	build_begin_object(b);
	build_text_at(b, "name", VOLUME);
	build_object_at(b, "emptyDir");
	build_text_at(b, "medium", "Memory");
	build_text_at(b, "sizeLimit", "1Mi");
	draft_close(b, 2);
	write_told(b, mps);
	for (size_t i = 0; mps && i < COUNT_OF(mps_dirs); i++) {
		build_begin_object(b);
		build_text_at(b, "name", mps_dirs[i].volume);
		build_object_at(b, "hostPath");
		build_text_at(b, "path", mps_dirs[i].host);
		build_text_at(b, "type", "DirectoryOrCreate");
		draft_close(b, 2);
	}
	build_end(b);
}

/* A capacity pod is there because a tenant goes to that node or runs there, and leaves after the
 * last. Each of them tolerates something else, those that come later too, and no toleration can be
 * counted on to be added later: so no taint takes it away. What keeps new pods off keeps it off as
 * well, unless its first tenant tolerates that. */
static const struct toleration stays = {.operator= "Exists", .effect = "NoExecute"};

int create_capacity_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	struct build b;
	struct owner owner;
	if (pods_owner(d, &owner, ret_fault) < 0 || make_pod(x, &owner, d, &b, ret_fault) < 0) {
		return -1;
	}
	make_labels(&b, NAME_CAPACITY);
	build_text_at(&b, LABEL_CAPACITY, "true");
	build_text_at(&b, LABEL_IN_USE, IN_USE_NO);
	/* Always: a main container that was killed finds its device again. It compares identities
	 * first, so a pod that came back with another GPU holds nothing. */
	make_spec(&b, "Always", NAME_CAPACITY, CAPACITY_LINGER_S, UID_CAPACITY);
	if (x->mps) {
		build_bool_at(&b, "hostPID", true);
	}
	make_runtime(&b, x, (const struct toleration *const[]){&tolerates_gpu, &stays, NULL});
	make_pin(&b, x->node);
	write_containers(&b, d, x->mps);
	write_volumes(&b, x->mps);
	return draft_end(&b, ret_fault);
}

bool create_capacity_is_ours(const struct act_settings *s, const struct pod *pod)
{
	return pod_is_capacity(pod) && text_equals(pod->owner.uid, s->owner_uid) &&
	       pod->deleting_ms == 0 && !pod_is_terminal(pod);
}

/* A pod that is deleted has nobody left, whatever its kubelet has written down for it to read: it
 * has nothing to wait for but, under MPS, the end of its daemon. */
#define DELETE_GRACE_S	   1
#define DELETE_GRACE_MPS_S 15

/* A capacity pod goes only as we saw it: whoever was granted a share on it meanwhile has changed
 * its version. Of a companion only the uid counts: nothing is written on it. */
int delete_capacity_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	const struct kube_path path = draft_pod_path(x, NULL);
	bool versioned = !text_empty(x->resource_version);
	if (text_empty(x->uid) || (!versioned && !x->companion)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "a delete needs uid and resourceVersion");
	}
	return draft_delete(x, &path, x->mps ? DELETE_GRACE_MPS_S : DELETE_GRACE_S, d, ret_fault);
}

/* --- the companion --- */

/* A companion stands in for tenants and asks for the GPUs, CPU and memory that they and their
 * capacity pods will need. Anybody displaces it; it holds nothing that matters and goes when the
 * GPUs are opened. It belongs to whom capacity pods belong to. */
int companion_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	struct build b;
	struct owner owner;
	char cpu[32], memory[32], gpus[32];
	if (pods_owner(d, &owner, ret_fault) < 0 || make_pod(x, &owner, d, &b, ret_fault) < 0) {
		return -1;
	}
	make_labels(&b, NAME_COMPANION);
	build_text_at(&b, LABEL_COMPANION, "true");
	make_spec(&b, "Always", NAME_COMPANION, 1, UID_COMPANION);
	make_runtime(&b, x, (const struct toleration *const[]){&tolerates_gpu, NULL});
	make_where(&b, x);
	snprintf(cpu, sizeof cpu, "%lldm", (long long)x->cpu_milli);
	snprintf(memory, sizeof memory, "%lld", (long long)x->mem_bytes);
	snprintf(gpus, sizeof gpus, "%lld", (long long)x->gpus);
	build_array_at(&b, "containers");
	make_container(&b, d, "pause", WORDS("capacity", "pause"));
	build_object_at(&b, "resources");
	restricted_amounts(&b, "requests", cpu, memory, NULL);
	restricted_amounts(&b, "limits", NULL, NULL, gpus);
	build_end(&b);
	restricted_container(&b);
	return draft_end(&b, ret_fault);
}
