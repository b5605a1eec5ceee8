/* Every way in which kubelets and runtimes are known to name a pod and a container, and what must
 * name none. */
#include "node/cgroup.h"

#include <criterion/criterion.h>

#include "base/alloc.h"
#include "base/str.h"

#define UID	"0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
#define UID_	"0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9"
#define OTHER	"ffffffff-4e5f-6071-8293-a4b5c6d7e8f9"
#define OTHER_	"ffffffff_4e5f_6071_8293_a4b5c6d7e8f9"
#define HASH	"0123456789abcdef0123456789abcdef"
#define ID	"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define ID2	"ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define SYSTEMD "/kubepods.slice/kubepods-"

struct row {
	const char *what, *text, *pod, *container; /* pod NULL: none is named */
};

static void check(const struct row *r)
{
	struct cgroup_name name = {"kept", "kept"};
	bool found = cgroup_find(r->text, strlen(r->text), &name);
	cr_assert_eq(found, r->pod != NULL, "%s", r->what);
	cr_assert_str_eq(name.pod, text_or(r->pod, "kept"), "%s", r->what);
	cr_assert_str_eq(name.container, r->pod != NULL ? r->container : "kept", "%s", r->what);
}

Test(cgroup, every_driver_and_runtime)
{
	static const struct row rows[] = {
		{"cgroupfs, Guaranteed", "0::/kubepods/pod" UID "/" ID "\n", UID, ID},
		{"cgroupfs, Burstable", "0::/kubepods/burstable/pod" UID "/" ID "\n", UID, ID},
		{"cgroupfs, BestEffort", "0::/kubepods/besteffort/pod" UID "/" ID "\n", UID, ID},
		{"systemd, containerd, Guaranteed",
			"0::" SYSTEMD "pod" UID_ ".slice/cri-containerd-" ID ".scope\n", UID, ID},
		{"systemd, containerd, Burstable",
			"0::" SYSTEMD "burstable.slice/kubepods-burstable-pod" UID_
			".slice/cri-containerd-" ID ".scope\n",
			UID, ID},
		{"systemd, containerd, BestEffort",
			"0::" SYSTEMD "besteffort.slice/kubepods-besteffort-pod" UID_
			".slice/cri-containerd-" ID ".scope\n",
			UID, ID},
		{"systemd, CRI-O", "0::" SYSTEMD "pod" UID_ ".slice/crio-" ID ".scope\n", UID, ID},
		{"CRI-O with crun", "0::" SYSTEMD "pod" UID_ ".slice/crio-" ID ".scope/container\n",
			UID, ID},
		{"CRI-O's monitor", "0::" SYSTEMD "pod" UID_ ".slice/crio-conmon-" ID ".scope\n",
			UID, ID},
		{"systemd, docker", "0::" SYSTEMD "pod" UID_ ".slice/docker-" ID ".scope\n", UID,
			ID},
		{"kind, systemd",
			"0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
			"kubelet-kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID
			".scope\n",
			UID, ID},
		{"kind, cgroupfs", "0::/kubelet/kubepods/besteffort/pod" UID "/" ID "\n", UID, ID},
		{"kind, seen from its machine",
			"0::/system.slice/docker-" ID2 ".scope/kubelet/kubepods/pod" UID "/" ID
			"\n",
			UID, ID},
		{"drivers that do not match",
			"0::/system.slice/containerd.service/kubepods-burstable-pod" UID
			".slice:cri-containerd:" ID "\n",
			UID, ID},
		{"a static pod, systemd",
			"0::" SYSTEMD "burstable.slice/kubepods-burstable-pod" HASH
			".slice/cri-containerd-" ID ".scope\n",
			HASH, ID},
		{"a static pod, cgroupfs", "0::/kubepods/burstable/pod" HASH "/" ID "\n", HASH, ID},
		{"from a cgroup namespace",
			"0::/../../../kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
			".slice/cri-containerd-" ID ".scope\n",
			UID, ID},
		{"from the neighbour's cgroup namespace", "0::/../../pod" UID "/" ID "\n", UID, ID},
		{"systemd in the container",
			"0::" SYSTEMD "pod" UID_ ".slice/cri-containerd-" ID ".scope/init.scope\n",
			UID, ID},
		{"a unit in the container",
			"0::/kubepods/pod" UID "/" ID "/system.slice/sshd.service\n", UID, ID},
		{"the pod itself", "0::/kubepods/pod" UID "\n", UID, ""},
		{"a name that is no container's", "0::/kubepods/pod" UID "/kata_overhead\n", UID,
			""},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		check(&rows[i]);
	}
}

Test(cgroup, several_hierarchies)
{
	static const struct row rows[] = {
		{"cgroup v1",
			"12:pids:/kubepods/burstable/pod" UID "/" ID "\n"
			"11:cpu,cpuacct:/kubepods/burstable/pod" UID "/" ID "\n"
			"1:name=systemd:/kubepods/burstable/pod" UID "/" ID "\n",
			UID, ID},
		{"hybrid: the unified one says nothing",
			"4:memory:" SYSTEMD "pod" UID_ ".slice/docker-" ID ".scope\n"
			"1:name=systemd:" SYSTEMD "pod" UID_ ".slice/docker-" ID ".scope\n"
			"0::/system.slice/containerd.service\n",
			UID, ID},
		{"only one of them is the kubelet's",
			"13:misc:/\n12:rdma:/\n3:memory:/../../pod" UID "/" ID "\n2:freezer:/\n",
			UID, ID},
		{"one tells of the container, another of the pod alone",
			"3:memory:/kubepods/pod" UID "\n2:pids:/kubepods/pod" UID "/" ID "\n", UID,
			ID},
		{"two pods",
			"3:memory:/kubepods/pod" UID "/" ID "\n2:pids:/kubepods/pod" OTHER "/" ID
			"\n",
			NULL, NULL},
		{"two containers",
			"3:memory:/kubepods/pod" UID "/" ID "\n2:pids:/kubepods/pod" UID "/" ID2
			"\n",
			NULL, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		check(&rows[i]);
	}
}

/* A tenant with cgroups of its own names them as it likes. */
Test(cgroup, names_below_a_pod_are_not_believed)
{
	static const struct row rows[] = {
		{"another pod below the container",
			"0::/kubepods/pod" UID "/" ID "/kubepods/pod" OTHER "/" ID2 "\n", UID, ID},
		{"the same with systemd",
			"0::" SYSTEMD "pod" UID_ ".slice/cri-containerd-" ID ".scope" SYSTEMD
			"pod" OTHER_ ".slice/cri-containerd-" ID2 ".scope\n",
			UID, ID},
		{"directly below the pod", "0::/kubepods/pod" UID "/pod" OTHER "/" ID2 "\n", UID,
			""},
		{"another container's id below its own",
			"0::/kubepods/pod" UID "/" ID "/cri-containerd-" ID2 ".scope\n", UID, ID},
		{"in one part", "0::/kubepods/pod" UID ".slice:cri-containerd-pod" OTHER "\n", UID,
			""},
		{"a static pod", "0::/kubepods/pod" UID "/" ID "/pod" HASH "\n", UID, ID},
		{"in one hierarchy only",
			"3:memory:/kubepods/pod" UID "/" ID "/pod" OTHER
			"\n2:pids:/kubepods/pod" UID "/" ID "\n",
			UID, ID},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		check(&rows[i]);
	}
}

Test(cgroup, what_is_no_pod)
{
	static const struct row rows[] = {
		{"empty", "", NULL, NULL},
		{"the root", "0::/\n", NULL, NULL},
		{"a process of the host", "0::/user.slice/user-0.slice/session-1.scope\n", NULL,
			NULL},
		{"a container of docker", "0::/system.slice/docker-" ID ".scope\n", NULL, NULL},
		{"a container of podman", "0::/machine.slice/libpod-" ID ".scope\n", NULL, NULL},
		{"a pod of podman", "0::/machine.slice/machine-libpod_pod_" ID ".slice\n", NULL,
			NULL},
		{"the slice of all pods", "0::/kubepods.slice/kubepods-burstable.slice\n", NULL,
			NULL},
		{"a uid that is too long", "0::/kubepods/pod" UID "0/" ID "\n", NULL, NULL},
		{"a uid that is too short", "0::/kubepods/pod0a1b2c3d-4e5f-6071-8293-a4b5\n", NULL,
			NULL},
		{"a hash that is too long", "0::/kubepods/pod" HASH "0/" ID "\n", NULL, NULL},
		{"capitals", "0::/kubepods/pod0A1B2C3D-4e5f-6071-8293-a4b5c6d7e8f9/x\n", NULL,
			NULL},
		{"in the middle of a word", "0::/tripod" UID "/" ID "\n", NULL, NULL},
		{"no colons", "/kubepods/pod" UID "/" ID "\n", NULL, NULL},
		{"no number", "x::/kubepods/pod" UID "/" ID "\n", NULL, NULL},
		{"no path", "0::\n0:\n0\n:\n", NULL, NULL},
		{"a relative path", "0::kubepods/pod" UID "/" ID "\n", NULL, NULL},
		{"no line's end", "0::/kubepods/pod" UID "/" ID, NULL, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		check(&rows[i]);
	}
}

Test(cgroup, bytes_that_are_no_text)
{
	static const struct row rows[] = {
		{"invalid UTF-8 beside it", "0::/\xff\xfe/kubepods/pod" UID "/" ID "\n", UID, ID},
		{"invalid UTF-8 in it", "0::/kubepods/pod\xff" UID "/" ID "\n", NULL, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		check(&rows[i]);
	}
	static const char zero[] = "1:a\0b:/kubepods/pod" UID "/" ID "\n";
	struct cgroup_name name;
	cr_assert(cgroup_find(zero, sizeof zero - 1, &name));
	cr_assert_str_eq(name.pod, UID);
	cr_assert_not(cgroup_find(NULL, 0, &name));
}

static struct str long_line(size_t blanks, const char *end)
{
	struct str text = STR_INIT(2 * CGROUP_BYTES_MAX);
	str_append_text(&text, "0::/");
	for (size_t i = 0; i < blanks; i++) {
		str_append_char(&text, 'x');
	}
	str_append_text(&text, end);
	return text;
}

Test(cgroup, a_line_of_64_kib)
{
	static const char end[] = "/pod" UID "/" ID "\n";
	CLEANUP(str_finish)
	struct str fits = long_line(CGROUP_BYTES_MAX - 4 - (sizeof end - 1), end);
	CLEANUP(str_finish)
	struct str over = long_line(CGROUP_BYTES_MAX - 3 - (sizeof end - 1), end);
	struct cgroup_name name;
	cr_assert_eq(fits.len, CGROUP_BYTES_MAX);
	cr_assert(cgroup_find(str_text(&fits), fits.len, &name));
	cr_assert_str_eq(name.container, ID);
	cr_assert_not(cgroup_find(str_text(&over), over.len, &name));
	/* What was read before the cut still counts. */
	CLEANUP(str_finish) struct str two = STR_INIT(4 * CGROUP_BYTES_MAX);
	str_append_text(&two, "1:memory:/kubepods/pod" UID "/" ID "\n");
	str_append(&two, str_text(&over), over.len);
	cr_assert(cgroup_find(str_text(&two), two.len, &name));
}
