/* The way to the API server, as far as it goes without one. */
#include "link/link.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char kubeconfig[] = "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
				 "contexts: [{name: c, context: {cluster: a, user: u}}]\n"
				 "clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]\n"
				 "users: [{name: u, user: {token: t}}]\n";

struct answer {
	struct loop *loop;
	enum fault_kind kind;
	int count;
};

static void on_answer(void *data, const struct kube_answer *answer)
{
	struct answer *a = data;
	a->kind = answer->fault.kind;
	a->count++;
	loop_stop(a->loop);
}

static struct wire *wrap(void *data, struct wire *inner)
{
	*(struct wire **)data = inner;
	return inner;
}

Test(link, requests_leave_through_what_it_was_wrapped_in)
{
	char path[] = "/tmp/aliquot-link-XXXXXX";
	struct wire *seen = NULL;
	struct fault f = {0};
	int fd = mkstemp(path);
	cr_assert(fd >= 0 && write(fd, kubeconfig, sizeof kubeconfig - 1) == sizeof kubeconfig - 1);
	close(fd);
	struct answer a = {.loop = loop_create()};
	struct link_config config = {.loop = a.loop,
		.clock = &clock_system,
		.kubeconfig = path,
		.user_agent = "test",
		.wrap = wrap,
		.data = &seen};
	struct link *l = link_create(&config, &f);
	cr_assert_not_null(l, "%s", f.message);
	cr_expect_str_eq(link_server(l), "https://127.0.0.1:1");
	cr_expect_not_null(seen);
	struct kube_path where = {
		.group_version = "v1", .resource = "pods", .ns = "a", .name = "b"};
	(void)kube_get(link_kube(l), &where, on_answer, &a);
	loop_run(a.loop);
	cr_expect(a.count == 1 && a.kind == FAULT_TRANSIENT, "nobody listens there");
	link_step(l, clock_mono(&clock_system));
	cr_expect_gt(link_deadline(l), clock_mono(&clock_system));
	link_destroy(l);
	loop_destroy(a.loop);
	unlink(path);
}

Test(link, without_credentials_there_is_none)
{
	struct fault f = {0};
	struct loop *loop = loop_create();
	struct link_config config = {
		.loop = loop, .clock = &clock_system, .kubeconfig = "/nowhere/config"};
	cr_expect_null(link_create(&config, &f));
	cr_expect_not_null(strstr(f.message, "/nowhere/config"), "%s", f.message);
	link_destroy(NULL);
	loop_destroy(loop);
}
