/* What asking agents costs: the shipped reader of states and the shipped client, in a process of
 * their own, and played agents in another one, over TLS on the loopback.
 *
 *     aliquot-bench-agents AGENTS SECONDS [CLIENT [KEPT]]
 *
 * CLIENT is poller, as shipped, or curl, what was there before, which keeps KEPT connections. All
 * are asked every two seconds. Measured is, after each was heard once, so many seconds of it. The
 * bench is agents.py. */
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents_played.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rand.h"
#include "base/str.h"
#include "io/http.h"
#include "io/loop.h"
#include "io/poller.h"
#include "meter/states.h"
#include "model/names.h"

#define FOLLOW_EVERY_MS 500 /* as the controller's */
#define WARM_MS		120000
#define AGENTS_MAX	10000

struct bed {
	int agents;
	int64_t seconds;
	bool curl;
	int kept;
	struct played *played;
	struct tls_pair ca;
	struct loop *loop;
	struct states *states;
	struct poller *poller;
	struct http_client *http;
	struct metric_registry *metrics;
	int64_t follow_at, warm_until, steady_at, told;
	int64_t cpu_us, warm_ms, warm_cpu_us;
	long questions, handshakes, anon_kib;
	int64_t began_ms;
	bool late;
};

static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static long memory_kib(const char *key)
{
	char line[256];
	int64_t kib = 0;
	FILE *file = fopen("/proc/self/status", "r");

	ENSURE(file != NULL);
	while (fgets(line, sizeof line, file) != NULL) {
		struct view rest = view_of(line), name;
		if (view_next(&rest, ':', &name) && view_equals(name, key)) {
			rest = view_trim(rest);
			ENSURE(view_next(&rest, ' ', &name) && parse_i64(name, 0, INT64_MAX, &kib));
		}
	}
	fclose(file);
	return (long)kib;
}

static bool on_tell(void *data, const struct change *c)
{
	struct bed *b = data;

	b->told += c->type == CHANGE_SET;
	return true;
}

static void client_make(struct bed *b)
{
	struct fault f = {0};
	struct poller_config poller = {
		.ca_pem = b->ca.cert_pem, .name = NAME_AGENT_TLS, .connections = b->kept};
	struct http_client_config http = {.base_url = "https://" NAME_AGENT_TLS,
		.ca_pem = b->ca.cert_pem,
		.connect_timeout_ms = 2000,
		.connections = b->kept};

	if (b->curl) {
		b->http = http_client_create(b->loop, &http, &f);
	} else {
		b->poller = poller_create(b->loop, &poller, &f);
	}
	ENSURE(f.kind == FAULT_NONE);
	states_use(b->states, b->curl ? http_client_wire(b->http) : poller_wire(b->poller));
}

static void agents_come(struct bed *b)
{
	struct pair label = {LABEL_AGENT, "true"};

	for (int i = 0; i < b->agents; i++) {
		char node[32], address[32], name[48];
		played_node(i, node);
		played_address(i, address);
		snprintf(name, sizeof name, "aliquot-agent-%05d", i);
		struct pod p = {.ns = NAME_NAMESPACE,
			.name = name,
			.uid = name,
			.labels = {&label, 1},
			.node = node,
			.phase = POD_RUNNING,
			.address = address,
			.port = atomic_load(&b->played->port)};
		states_observe(b->states,
			&(struct change){.type = CHANGE_SET, .kind = KIND_POD, .pod = &p});
	}
}

static void all_wanted(struct bed *b)
{
	states_want_begin(b->states);
	for (int i = 0; i < b->agents; i++) {
		char node[32];
		played_node(i, node);
		states_want(b->states, node);
	}
	states_want_end(b->states);
}

static uint32_t known(const struct bed *b)
{
	uint32_t wanted, heard;

	states_count(b->states, &wanted, &heard);
	return heard;
}

static void steady_begin(struct bed *b, int64_t now)
{
	b->steady_at = now;
	b->warm_ms = now - b->began_ms;
	b->warm_cpu_us = cpu_us();
	b->cpu_us = b->warm_cpu_us;
	b->questions = atomic_load(&b->played->questions);
	b->handshakes = atomic_load(&b->played->handshakes);
}

static void on_turn(void *data)
{
	struct bed *b = data;
	int64_t now = clock_mono(&clock_system);

	if (now >= b->follow_at) {
		b->follow_at = now + FOLLOW_EVERY_MS;
		all_wanted(b);
		if (b->steady_at == 0 && known(b) == (uint32_t)b->agents) {
			steady_begin(b, now);
		}
	}
	states_step(b->states, now, true);
	b->late = b->steady_at == 0 && now > b->warm_until;
	if (b->late || (b->steady_at != 0 && now >= b->steady_at + b->seconds * 1000)) {
		loop_stop(b->loop);
	}
	loop_wake_at(b->loop, time_min(b->follow_at, states_deadline(b->states, true)));
}

/* Since the start: questions that nobody answered in time. */
static int64_t failed(const struct bed *b)
{
	return metric_value(metric_get(b->metrics, METRIC_COUNTER, "aliquot_agent_reads_total", "",
		"result=\"unreachable\""));
}

static void report(struct bed *b, int64_t now)
{
	long questions = atomic_load(&b->played->questions) - b->questions;
	long handshakes = atomic_load(&b->played->handshakes) - b->handshakes;
	int64_t cpu = cpu_us() - b->cpu_us, ms = now - b->steady_at;
	long connections = atomic_load(&b->played->connections);
	long grown = memory_kib("RssAnon") - b->anon_kib;

	printf("{\"agents\": %d, \"client\": \"%s\", \"kept\": %d, \"warm_s\": %.2f, "
	       "\"warm_cpu_s\": %.2f, \"seconds\": %.2f, \"questions\": %ld, "
	       "\"questions_per_s\": %.1f, \"handshakes\": %ld, \"handshakes_a_question\": %.4f, "
	       "\"cpu_us_a_question\": %.1f, \"cpu_percent\": %.2f, \"connections\": %ld, "
	       "\"grown_kib\": %ld, \"known\": %u, \"failed\": %" PRId64 ", "
	       "\"peak_kib\": %ld}\n",
		b->agents, b->curl ? "curl" : "poller", b->kept, (double)b->warm_ms / 1000,
		(double)b->warm_cpu_us / 1e6, (double)ms / 1000, questions,
		(double)questions * 1000 / (double)ms, handshakes,
		(double)handshakes / (double)(questions > 0 ? questions : 1),
		(double)cpu / (double)(questions > 0 ? questions : 1),
		(double)cpu / 10 / (double)ms, connections, grown, known(b), failed(b),
		memory_kib("VmHWM"));
}

static int run(struct bed *b)
{
	struct states_config config = {.clock = &clock_system,
		.metrics = b->metrics = metric_registry_create(),
		.seed = rng_system_seed(),
		.tell = on_tell,
		.data = b};

	b->loop = loop_create();
	b->states = states_create(&config);
	agents_come(b);
	all_wanted(b);
	client_make(b);
	malloc_trim(0);
	b->anon_kib = memory_kib("RssAnon");
	b->began_ms = clock_mono(&clock_system);
	b->warm_until = b->began_ms + WARM_MS;
	loop_on_turn(b->loop, on_turn, b);
	loop_run(b->loop);
	if (b->late) {
		printf("{\"agents\": %d, \"error\": \"%u of them were heard in %d s\"}\n",
			b->agents, known(b), WARM_MS / 1000);
	} else {
		report(b, clock_mono(&clock_system));
	}
	states_destroy(b->states);
	poller_destroy(b->poller);
	http_client_destroy(b->http);
	metric_registry_destroy(b->metrics);
	loop_destroy(b->loop);
	return b->late ? 1 : 0;
}

static struct tls_pair authority(struct tls_pair *ret_leaf)
{
	static const char *const names[] = {NAME_AGENT_TLS};
	struct tls_pair ca = {0};
	struct tls_spec spec = {.common_name = "bench",
		.names = names,
		.name_count = 1,
		.days = 2,
		.wall_ms = clock_wall(&clock_system)};

	ENSURE(tls_authority_create(&spec, &ca, NULL) == 0);
	ENSURE(tls_leaf_issue(&ca, &spec, ret_leaf, NULL) == 0);
	return ca;
}

static int64_t number(int argc, char **argv, int at, int64_t otherwise)
{
	int64_t value = otherwise;

	ENSURE(at >= argc || parse_i64(view_of(argv[at]), 1, AGENTS_MAX, &value));
	return value;
}

int main(int argc, char **argv)
{
	struct bed b = {.agents = (int)number(argc, argv, 1, 1000),
		.seconds = number(argc, argv, 2, 10),
		.curl = argc > 3 && text_equals(argv[3], "curl")};
	struct tls_pair leaf = {0};
	struct rlimit files;

	log_setup(LOG_ERROR, STDERR_FILENO);
	b.kept = (int)number(argc, argv, 4, AGENTS_MAX);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	b.ca = authority(&leaf);
	b.played = mmap(
		NULL, sizeof *b.played, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ENSURE(b.played != MAP_FAILED);
	pid_t agents = fork();
	ENSURE(agents >= 0);
	if (agents == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		played_serve(b.played, &leaf, b.agents);
	}
	while (atomic_load(&b.played->port) == 0 && waitpid(agents, NULL, WNOHANG) == 0) {
		usleep(1000);
	}
	int status = atomic_load(&b.played->port) != 0 ? run(&b) : 1;
	kill(agents, SIGKILL);
	waitpid(agents, NULL, 0);
	tls_pair_finish(&leaf);
	tls_pair_finish(&b.ca);
	return status;
}
