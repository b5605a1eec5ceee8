/* Pods by their cgroups, in trees as kubelets make them. */
#include "cgroups.h"

#include <unistd.h>

#include "folder.h"

#define UID_A  "aaaaaaaa-4e5f-6071-8293-a4b5c6d7e8f9"
#define UID_B  "bbbbbbbb-4e5f-6071-8293-a4b5c6d7e8f9"
#define UID_C  "cccccccc-4e5f-6071-8293-a4b5c6d7e8f9"
#define SLICE  "aaaaaaaa_4e5f_6071_8293_a4b5c6d7e8f9.slice"
#define SLICEB "bbbbbbbb_4e5f_6071_8293_a4b5c6d7e8f9.slice"
#define HASH   "0123456789abcdef0123456789abcdef"

struct tree {
	const char *what;
	bool unified;
	const char *dirs[6];
	const char *pods[4]; /* sorted */
};

static const struct tree trees[] = {
	{"systemd", true,
		{"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" SLICE
		 "/cri-x.scope",
			"kubepods.slice/kubepods-pod" SLICEB, "system.slice/containerd.service",
			"user.slice"},
		{UID_A, UID_B}},
	{"cgroupfs", true,
		{"kubepods/besteffort/pod" UID_A "/inner", "kubepods/pod" UID_B,
			"kubepods/burstable/pod" UID_C},
		{UID_A, UID_B, UID_C}},
	{"kind", true,
		{"kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
		 "kubelet-kubepods-besteffort-pod" SLICE,
			"kubelet.slice/kubelet.service"},
		{UID_A}},
	{"a static pod", true, {"kubepods/burstable/pod" HASH}, {HASH}},
	{"v1", false,
		{"memory/kubepods/pod" UID_A, "pids/kubepods/pod" UID_A, "pids/other", "blkio/x"},
		{UID_A}},
	/* A pod inside a pod is the outer one's. */
	{"nested", true, {"kubepods/pod" UID_A "/kubepods/pod" UID_B}, {UID_A}},
	/* Not the kubelet's: whoever runs on the node may call his own directories so. */
	{"elsewhere", true, {"mine/pod-a", "mine/kubepods/podx", "kubepods/pod" UID_C}, {UID_C}},
};

static bool all_found(const struct cgroup_pods *pods, const struct tree *t)
{
	uint32_t count = 0;
	for (; count < COUNT_OF(t->pods) && t->pods[count] != NULL; count++) {
		if (!cgroups_have(pods, t->pods[count])) {
			return false;
		}
	}
	return count == pods->count;
}

Test(cgroups, pods_of_every_kind_of_tree)
{
	for (size_t i = 0; i < COUNT_OF(trees); i++) {
		CLEANUP(folder_finish) struct folder root = folder_make();
		CLEANUP(arena_finish) struct arena arena = {0};
		struct cgroup_pods pods = {0};
		struct fault f = {0};
		if (trees[i].unified) {
			folder_file(&root, "cgroup.controllers", "cpu memory\n");
		}
		for (size_t d = 0; d < COUNT_OF(trees[i].dirs) && trees[i].dirs[d] != NULL; d++) {
			folder_dir(&root, trees[i].dirs[d]);
		}
		cr_assert_eq(cgroups_scan(root.path, &arena, &pods, &f), 0, "%s: %s", trees[i].what,
			f.message);
		cr_expect(all_found(&pods, &trees[i]), "%s: %u found", trees[i].what, pods.count);
	}
}

Test(cgroups, a_link_is_not_followed_and_a_file_is_no_pod)
{
	CLEANUP(folder_finish) struct folder root = folder_make();
	CLEANUP(arena_finish) struct arena arena = {0};
	struct cgroup_pods pods = {0};
	char to[128];
	folder_file(&root, "cgroup.controllers", "");
	folder_dir(&root, "kubepods/pod" UID_A);
	folder_dir(&root, "away/kubepods/pod" UID_B);
	folder_file(&root, "kubepods/pod" UID_C, "");
	snprintf(to, sizeof to, "%s/kubepods/kube-link", root.path);
	cr_assert_eq(symlink("../away", to), 0);
	cr_assert_eq(cgroups_scan(root.path, &arena, &pods, NULL), 0);
	cr_expect(pods.count == 1 && cgroups_have(&pods, UID_A));
}

/* No pod at all is no node: a wrong root must not pass for a node whose pods have all ended. */
Test(cgroups, nothing_and_no_root_are_faults)
{
	CLEANUP(folder_finish) struct folder root = folder_make();
	CLEANUP(arena_finish) struct arena arena = {0};
	struct cgroup_pods pods;
	struct fault f = {0};
	folder_file(&root, "cgroup.controllers", "");
	folder_dir(&root, "kubepods/besteffort");
	cr_expect_eq(cgroups_scan(root.path, &arena, &pods, &f), -1);
	cr_expect_eq(f.kind, FAULT_NOT_FOUND);
	cr_expect_not_null(strstr(f.message, root.path));
	cr_expect_eq(cgroups_scan("/nowhere/at/all", &arena, &pods, &f), -1);
	cr_expect_not_null(strstr(f.message, "/nowhere/at/all"));
}

Test(cgroups, more_pods_than_are_told_apart)
{
	CLEANUP(folder_finish) struct folder root = folder_make();
	CLEANUP(arena_finish) struct arena arena = {0};
	struct cgroup_pods pods;
	struct fault f = {0};
	char name[96];
	folder_file(&root, "cgroup.controllers", "");
	for (int i = 0; i <= CGROUPS_PODS_MAX; i++) {
		snprintf(name, sizeof name, "kubepods/pod%08x-4e5f-6071-8293-a4b5c6d7e8f9",
			(unsigned)i);
		folder_dir(&root, name);
	}
	cr_expect_eq(cgroups_scan(root.path, &arena, &pods, &f), -1);
	cr_expect_eq(f.kind, FAULT_LIMIT);
}
