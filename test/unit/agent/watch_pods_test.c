/* The node's pods through lists and watches, and through an API server that goes away. */
#include "watch_pods.h"

#include "../kube/fake_wire.h"

#define POD(uid, name)                                                                             \
	"{\"metadata\":{\"uid\":\"" uid "\",\"namespace\":\"a\",\"name\":\"" name                  \
	"\",\"resourceVersion\":\"5\"}}"
#define LIST(items) "{\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[" items "]}"
#define ADDED(pod)  "{\"type\":\"ADDED\",\"object\":" pod "}\n"
#define END                                                                                        \
	"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\","              \
	"\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"

struct bed {
	struct fake_clock clock;
	struct fake_wire *wire;
	struct kube_cred *cred;
	struct kube *kube;
	struct node_pods *pods;
	struct watch_pods *watch;
};

static void begin(struct bed *b)
{
	*b = (struct bed){.clock = fake_clock_make(), .wire = fake_wire_create()};
	b->cred = kube_cred_create_plain("https://api", NULL, &b->clock.clock);
	b->kube = kube_create(&b->wire->wire, b->cred, &b->clock.clock, NULL);
	b->pods = node_pods_create();
	b->watch = watch_pods_create(b->kube, "node-7", b->pods, 1);
	watch_pods_step(b->watch, b->clock.mono);
}

static void end(struct bed *b)
{
	watch_pods_destroy(b->watch);
	node_pods_destroy(b->pods);
	kube_destroy(b->kube);
	kube_cred_destroy(b->cred);
	fake_wire_destroy(b->wire);
}

static void pass(struct bed *b, int64_t ms)
{
	for (int64_t t = 0; t < ms; t += 500) {
		fake_pass(&b->clock, 500);
		watch_pods_step(b->watch, b->clock.mono);
	}
}

Test(watch_pods, only_this_nodes_are_asked_for_and_changes_are_followed)
{
	struct bed b;
	begin(&b);
	struct fake_call *c = fake_last(b.wire);
	fake_expect_path(c, "fieldSelector=spec.nodeName%3Dnode-7");
	cr_expect_not(watch_pods_synced(b.watch));
	fake_data(c, ADDED(POD("u1", "p")) ADDED(POD("u2", "q")) END);
	watch_pods_step(b.watch, b.clock.mono);
	cr_expect(watch_pods_synced(b.watch) && !watch_pods_stale(b.watch));
	cr_expect_eq(node_pods_count(b.pods), 2);
	fake_data(c, "{\"type\":\"DELETED\",\"object\":" POD("u1", "p") "}\n");
	cr_expect_null(node_pods_find(b.pods, "u1"));
	cr_expect_not_null(node_pods_find(b.pods, "u2"));
	end(&b);
}

/* Silence deletes nobody; what was missed meanwhile goes with the next complete picture. */
Test(watch_pods, while_the_api_server_is_away_pods_stay)
{
	struct bed b;
	begin(&b);
	fake_data(fake_last(b.wire), ADDED(POD("u1", "p")) ADDED(POD("u2", "q")) END);
	watch_pods_step(b.watch, b.clock.mono);
	fake_fail(fake_last(b.wire), false);
	for (int i = 0; i < 30; i++) {
		pass(&b, 2000);
		if (fake_last(b.wire)->open) {
			fake_fail(fake_last(b.wire), false);
		}
	}
	cr_expect(watch_pods_stale(b.watch) && watch_pods_synced(b.watch));
	cr_expect_eq(node_pods_count(b.pods), 2);
	for (int i = 0; i < 100 && !fake_last(b.wire)->open; i++) {
		pass(&b, 1000);
	}
	struct fake_call *c = fake_last(b.wire);
	fake_answer(c, 410, "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}");
	for (int i = 0; i < 100 && !fake_last(b.wire)->open; i++) {
		pass(&b, 1000);
	}
	fake_data(fake_last(b.wire), ADDED(POD("u2", "q")) END);
	watch_pods_step(b.watch, b.clock.mono);
	cr_expect_null(node_pods_find(b.pods, "u1"));
	cr_expect_not_null(node_pods_find(b.pods, "u2"));
	cr_expect_not(watch_pods_stale(b.watch));
	end(&b);
}

/* One that cannot be read any more keeps what was known of it. */
Test(watch_pods, a_pod_that_cannot_be_read_is_kept_as_it_was)
{
	struct bed b;
	begin(&b);
	struct fake_call *c = fake_last(b.wire);
	fake_data(c, ADDED(POD("u1", "p")) END);
	fake_data(c,
		"{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"uid\":\"u1\",\"namespace\":"
		"\"a\",\"name\":\"p\",\"resourceVersion\":\"6\",\"labels\":3}}}\n");
	cr_expect_not_null(node_pods_find(b.pods, "u1"));
	end(&b);
}
