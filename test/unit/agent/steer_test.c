/* From the node's pods to commands: a shell script plays the control program, a folder plays
 * /proc. */
#include "steer.h"

#include <sys/stat.h>

#include "base/clock.h"
#include "folder.h"
#include "model/names.h"
#include "mps/folder.h"
#include "mps/relay.h"

#define UUID  "GPU-0123abcd-0000-1111-2222-333344445555"
#define OTHER "GPU-99999999-0000-1111-2222-333344445555"
#define ONE   "11111111-2222-3333-4444-555555555555"
#define TWO   "66666666-2222-3333-4444-555555555555"

static const char script[] = "#!/bin/sh\n"
			     "read -r line\n"
			     "echo \"$line\" >> \"${0%/*}/asked\"\n"
			     "case \"$line\" in\n"
			     "get_server_list) echo 41;;\n"
			     "get_server_status*) echo ACTIVE;;\n"
			     "get_client_list*) printf '101\\n102\\n103\\n104\\n';;\n"
			     "*) echo 0;;\n"
			     "esac\n";

struct bed {
	struct folder dir;
	struct loop *loop;
	struct metric_registry *metrics;
	struct node_pods *pods;
	struct procs *procs;
	struct mps_relay *relay;
	struct steer *steer;
	struct loop_timer poll;
	char control[128], root[128], proc[128];
	const char *awaited; /* a line of what was asked */
	bool unsteered;	     /* or that the other GPU was asked in vain */
};

static void process(struct bed *b, int pid, const char *uid)
{
	char path[64], text[256];
	(void)snprintf(path, sizeof path, "proc/%d", pid);
	folder_dir(&b->dir, path);
	(void)snprintf(path, sizeof path, "proc/%d/cgroup", pid);
	(void)snprintf(text, sizeof text, "0::/kubepods.slice/pod%s/%064d\n", uid, 7);
	folder_file(&b->dir, path, text);
	(void)snprintf(path, sizeof path, "proc/%d/environ", pid);
	folder_file(&b->dir, path, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25");
}

static void know_on(struct bed *b, struct node_pod pod, const char *uuid)
{
	const char *uuids[] = {uuid};
	pod.ns = "a";
	pod.name = pod.uid;
	pod.phase = POD_RUNNING;
	pod.uuids = uuids;
	pod.uuid_count = 1;
	cr_assert(node_pods_set(b->pods, &pod));
}

static void know(struct bed *b, struct node_pod pod)
{
	know_on(b, pod, UUID);
}

static void begin(struct bed *b)
{
	struct mps_folder f;
	*b = (struct bed){.dir = folder_make(), .loop = loop_create()};
	(void)snprintf(b->control, sizeof b->control, "%s/control", b->dir.path);
	(void)snprintf(b->root, sizeof b->root, "%s/root", b->dir.path);
	(void)snprintf(b->proc, sizeof b->proc, "%s/proc", b->dir.path);
	folder_file(&b->dir, "control", script);
	cr_assert_eq(chmod(b->control, 0755), 0);
	folder_dir(&b->dir, "root/" UUID);
	cr_assert_eq(mps_folder_name(&f, b->root, UUID, NULL), 0);
	cr_assert_eq(mps_folder_prepare(&f, NULL), 0);
	b->metrics = metric_registry_create();
	b->pods = node_pods_create();
	b->procs = procs_create(b->proc);
	const struct mps_relay_options relay = {.loop = b->loop,
		.program = b->control,
		.root = b->root,
		.uuid = UUID,
		.proc_root = b->proc,
		.timeout_ms = 5000};
	cr_assert_eq(mps_relay_create(&relay, &b->relay, NULL), 0);
	b->steer = steer_create(&(struct steer_config){.loop = b->loop,
		.pods = b->pods,
		.procs = b->procs,
		.metrics = b->metrics,
		.root = b->root,
		.look_ms = 20});
}

static void end(struct bed *b)
{
	steer_destroy(b->steer);
	mps_relay_destroy(b->relay);
	procs_destroy(b->procs);
	node_pods_destroy(b->pods);
	metric_registry_destroy(b->metrics);
	loop_destroy(b->loop);
	folder_finish(&b->dir);
}

static bool was_asked(const struct bed *b, const char *line)
{
	char path[128], text[8192];
	(void)snprintf(path, sizeof path, "%s/asked", b->dir.path);
	FILE *f = fopen(path, "r");
	size_t n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
	text[n] = '\0';
	if (f != NULL) {
		(void)fclose(f);
	}
	return strstr(text, line) != NULL;
}

static void on_poll(void *data)
{
	struct bed *b = data;
	const struct mps_status *s = mps_fleet_status(steer_fleet(b->steer), UUID);
	const struct mps_status *other = mps_fleet_status(steer_fleet(b->steer), OTHER);
	bool active = b->unsteered ? other != NULL && other->state == MPS_UNSAID
				   : s != NULL && s->state == MPS_ACTIVE;
	if (b->awaited != NULL ? was_asked(b, b->awaited) : active) {
		loop_stop(b->loop);
	}
}

/* A line that is asked; NULL: the daemon is found to be well. */
static void await(struct bed *b, const char *line)
{
	b->awaited = line;
	loop_timer_init(&b->poll, b->loop, on_poll, b);
	loop_timer_repeat_ms(&b->poll, 5);
	loop_run(b->loop);
	loop_timer_stop(&b->poll);
}

static bool shows(struct bed *b, const char *line)
{
	CLEANUP(str_finish) struct str text = STR_INIT(16384);
	steer_gauges(b->steer);
	steer_gauge_unsteered(b->steer, b->pods, b->metrics);
	metric_write(b->metrics, &text);
	return strstr(str_text(&text), line) != NULL;
}

Test(steer, a_tenant_that_goes_loses_its_clients_and_nobody_else)
{
	struct bed b;
	begin(&b);
	process(&b, 101, ONE);
	process(&b, 102, TWO);
	process(&b, 103, "77777777-2222-3333-4444-555555555555"); /* a pod that nobody knows */
	know(&b, (struct node_pod){.uid = ONE, .tenant = true, .mps = true, .mps_threads = "25"});
	know(&b, (struct node_pod){.uid = TWO, .tenant = true, .mps = true, .mps_threads = "50"});
	know(&b, (struct node_pod){.uid = "capacity", .capacity = true, .mps = true});
	await(&b, NULL);
	cr_expect_eq(mps_fleet_status(steer_fleet(b.steer), UUID)->contexts, 4);
	cr_expect(shows(&b, "aliquot_agent_mps_clients 4\n"));
	cr_expect(shows(&b, "aliquot_agent_mps_pending_restart 1\n"), "one has other limits");
	cr_expect(shows(&b, "aliquot_agent_mps_daemons{state=\"Active\"} 1\n"));
	cr_expect(shows(&b, "aliquot_agent_mps_unread_limits 0\n"));
	cr_expect(shows(&b, "aliquot_agent_mps_unsteered 0\n"));
	cr_expect_not(was_asked(&b, "terminate_client"));
	know(&b, (struct node_pod){.uid = ONE,
			 .tenant = true,
			 .mps = true,
			 .deleting_ms = clock_wall(&clock_system)});
	await(&b, "terminate_client 41 101\n");
	cr_expect_not(was_asked(&b, "terminate_client 41 102"));
	cr_expect_not(was_asked(&b, "terminate_client 41 103"));
	cr_expect_not(was_asked(&b, "terminate_client 41 104"));
	cr_expect_not(was_asked(&b, "set_"));
	end(&b);
}

/* Whatever lies in the directories: the mode of the capacity pod counts. */
Test(steer, nobody_is_asked_without_a_capacity_pod_in_that_mode)
{
	struct bed b;
	begin(&b);
	know(&b, (struct node_pod){.uid = "capacity", .capacity = true});
	know(&b, (struct node_pod){.uid = ONE, .tenant = true, .mps = true, .deleting_ms = 1});
	/* One that is in that mode shows that the pods were looked at. It has no relay. */
	know_on(&b, (struct node_pod){.uid = "other", .capacity = true, .mps = true}, OTHER);
	b.unsteered = true;
	await(&b, NULL);
	cr_expect(shows(&b, "aliquot_agent_mps_unsteered 1\n"));
	cr_expect_null(mps_fleet_status(steer_fleet(b.steer), UUID));
	cr_expect_not(was_asked(&b, "g"));
	cr_expect(shows(&b, "aliquot_agent_mps_daemons{state=\"Active\"} 0\n"));
	end(&b);
}

Test(steer, an_agent_that_does_not_steer_says_so)
{
	CLEANUP(str_finish) struct str text = STR_INIT(16384);
	struct bed b;
	begin(&b);
	know(&b, (struct node_pod){.uid = "capacity", .capacity = true, .mps = true});
	steer_gauge_unsteered(NULL, b.pods, b.metrics);
	metric_write(b.metrics, &text);
	cr_expect_not_null(strstr(str_text(&text), "aliquot_agent_mps_unsteered 1\n"));
	end(&b);
}
