/* One child, one question at a time. */
#include "node/gpu_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/rand.h"
#include "base/vec.h"
#include "gpu/frame.h"
#include "gpu_child.h"
#include "gpu_recall.h"
#include "io/watch.h"

#define START_FIRST_MS 500
#define START_CAP_MS   60000
#define REAP_EVERY_MS  20
#define REAP_FINAL_MS  200
#define KEEP_BYTES     (64 * 1024)
/* Use is read anew a little before its interval is over: timers are not that exact. */
#define USE_SLACK_MS 500

enum state {
	STATE_NONE,  /* no child; one is started at start_at_ms */
	STATE_IDLE,  /* it waits for a question */
	STATE_ASKED, /* until answer_by_ms */
	STATE_ENDED, /* it was told to end, or has closed its end, and is not gone yet */
};

struct gpu_worker {
	struct gpu_worker_config config;
	enum state state;
	struct gpu_child child;
	struct watch *watch; /* owned; on the child's socket */
	bool met;	     /* this child has answered once */
	bool told;	     /* why this child ended was told */
	int64_t next_at_ms;  /* the next look, or word that there is none */
	int64_t began_ms;    /* the last look */
	int64_t answer_by_ms, start_at_ms, reap_at_ms;
	int64_t ended_ms; /* when the child was told to end */
	struct backoff backoff;
	struct rng rng;
	struct str answer;
	struct arena arenas[2]; /* the sample that is shown, and the next */
	int shown;
	struct gpu_sample sample;
	struct recall recall;
};

struct gpu_worker *gpu_worker_create(const struct gpu_worker_config *config)
{
	struct gpu_worker *w = xcalloc(1, sizeof *w);
	w->config = *config;
	if (w->config.program == NULL) {
		w->config.program = "/proc/self/exe";
	}
	if (w->config.deadline_ms == 0) {
		w->config.deadline_ms = GPU_WORKER_DEADLINE_MS;
	}
	if (w->config.first_deadline_ms == 0) {
		w->config.first_deadline_ms = GPU_WORKER_FIRST_DEADLINE_MS;
	}
	w->child.fd = -1;
	w->backoff = (struct backoff){.first_ms = START_FIRST_MS, .cap_ms = START_CAP_MS};
	w->answer = (struct str)STR_INIT(FRAME_BYTES_MAX + FRAME_HEAD_BYTES);
	w->began_ms = INT64_MIN / 2;
	rng_seed(&w->rng, rng_system_seed());
	return w;
}

static void count(struct gpu_worker *w, const char *name, const char *help, const char *labels)
{
	if (w->config.metrics != NULL) {
		metric_add(metric_get(w->config.metrics, METRIC_COUNTER, name, help, labels), 1);
	}
}

/* --- the end of a child ----------------------------------------------------------------------- */

static void tell_fault(struct gpu_worker *w, const struct fault *why)
{
	w->told = true;
	w->config.on_fault(w->config.data, why);
}

static void child_end(struct gpu_worker *w, int64_t now_ms, const char *labels)
{
	watch_destroy(w->watch);
	w->watch = NULL;
	gpu_child_kill(&w->child);
	str_reset(&w->answer);
	w->state = STATE_ENDED;
	w->ended_ms = now_ms;
	w->reap_at_ms = now_ms;
	w->start_at_ms = now_ms + backoff_next(&w->backoff, &w->rng);
	count(w, "aliquot_agent_probe_ends_total",
		"Processes that asked the driver and have ended, by why.", labels);
}

/* It is gone. Why it went is told where nobody has told it yet. */
static void child_gone(struct gpu_worker *w, int64_t now_ms, int status)
{
	char how[96];
	struct fault why = {0};
	w->state = STATE_NONE;
	gpu_child_explain(status, how, sizeof how);
	log_warn("the process that asks the driver is gone", LOG_S("how", how),
		LOG_I("again_in_ms", w->start_at_ms > now_ms ? w->start_at_ms - now_ms : 0));
	if (!w->told) {
		(void)fault_set(&why, FAULT_TRANSIENT,
			"the process that asks the NVIDIA driver %s; another one is started in "
			"%lld ms",
			how, (long long)(w->start_at_ms > now_ms ? w->start_at_ms - now_ms : 0));
		tell_fault(w, &why);
	}
}

static void child_reap(struct gpu_worker *w, int64_t now_ms)
{
	int status;
	if (gpu_child_reap(&w->child, &status)) {
		child_gone(w, now_ms, status);
		return;
	}
	w->reap_at_ms = now_ms + REAP_EVERY_MS;
	if (now_ms < w->next_at_ms || now_ms - w->ended_ms < 1000) {
		return;
	}
	struct fault why;
	(void)fault_set(&why, FAULT_TRANSIENT,
		"the process that asks the NVIDIA driver hangs in the kernel and could not be "
		"ended "
		"for %lld s: the driver or a GPU does not answer any more",
		(long long)((now_ms - w->ended_ms) / 1000));
	w->reap_at_ms = now_ms + 1000;
	w->next_at_ms = now_ms + w->config.interval_ms;
	tell_fault(w, &why);
}

static void look_late(struct gpu_worker *w, int64_t now_ms)
{
	struct fault why;
	child_end(w, now_ms, "reason=\"hung\"");
	(void)fault_set(&why, FAULT_TRANSIENT,
		"the NVIDIA driver does not answer: a look at the GPUs took more than %lld ms; the "
		"process that asked is ended and another one asks in %lld ms",
		(long long)(w->answer_by_ms - w->began_ms), (long long)(w->start_at_ms - now_ms));
	tell_fault(w, &why);
}

/* --- the answer ------------------------------------------------------------------------------- */

static void answer_take(struct gpu_worker *w, int64_t now_ms)
{
	struct frame frame;
	struct fault fault = {0};
	int next = 1 - w->shown;
	arena_reset(&w->arenas[next]);
	int rc = frame_read((struct view){str_text(&w->answer), w->answer.len}, &w->arenas[next],
		&frame, &fault);
	str_reset(&w->answer);
	str_trim_capacity(&w->answer, KEEP_BYTES);
	if (rc != 0) {
		child_end(w, now_ms, "reason=\"nonsense\"");
		tell_fault(w, &fault);
		return;
	}
	w->state = STATE_IDLE;
	w->met = true;
	w->backoff.attempt = 0;
	if (!frame.looked) {
		w->config.on_fault(w->config.data, &frame.why);
		return;
	}
	w->sample = frame.sample;
	w->shown = next;
	recall_merge(&w->recall, &w->sample, &w->arenas[next]);
	w->config.on_sample(w->config.data, &w->sample);
	arena_reset(&w->arenas[1 - next]);
}

/* Reads what there is: 1, the answer is whole; 0, more is to come; -1, the child closed its end. */
static int answer_read(struct gpu_worker *w, struct fault *ret_fault)
{
	for (;;) {
		char piece[8192];
		ssize_t n = read(w->child.fd, piece, sizeof piece);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0 && errno == EAGAIN) {
			return 0;
		}
		if (n <= 0) {
			return -1;
		}
		if (!str_append(&w->answer, piece, (size_t)n)) {
			return fault_set(ret_fault, FAULT_LIMIT, "the answer is too large");
		}
		int64_t size =
			frame_size((struct view){str_text(&w->answer), w->answer.len}, ret_fault);
		if (size < 0) {
			return -1;
		}
		if (size > 0 && w->answer.len >= (size_t)size) {
			return 1;
		}
	}
}

static void on_ready(void *data, unsigned ready)
{
	struct gpu_worker *w = data;
	struct fault fault = {0};
	int64_t now_ms = clock_mono(w->config.clock);
	(void)ready;
	int rc = answer_read(w, &fault);
	if (rc == 0) {
		return;
	}
	if (rc > 0 && w->state == STATE_ASKED) {
		answer_take(w, now_ms);
		return;
	}
	if (rc > 0) {
		(void)fault_set(&fault, FAULT_INVALID,
			"the process that asks the driver answered without being asked");
	}
	bool nonsense = fault.kind != FAULT_NONE;
	child_end(w, now_ms, nonsense ? "reason=\"nonsense\"" : "reason=\"died\"");
	if (nonsense) {
		tell_fault(w, &fault);
	}
}

/* --- the question ----------------------------------------------------------------------------- */

static void child_start(struct gpu_worker *w, int64_t now_ms)
{
	struct fault why;
	w->told = false;
	w->met = false;
	if (gpu_child_start(&w->child, w->config.program, w->config.library, &why) != 0) {
		w->start_at_ms = now_ms + backoff_next(&w->backoff, &w->rng);
		tell_fault(w, &why);
		return;
	}
	count(w, "aliquot_agent_probe_starts_total",
		"Processes that were started to ask the driver.", NULL);
	w->watch = watch_create(w->config.loop, w->child.fd, WATCH_READ, on_ready, w);
	w->state = STATE_IDLE;
}

/* The socket takes the few bytes of a question, unless the child is gone: then its end says so. */
static void ask(struct gpu_worker *w, int64_t now_ms)
{
	char request[FRAME_REQUEST_BYTES];
	int64_t every_ms = w->config.interval_ms - USE_SLACK_MS;
	if (w->config.interval_ms < 2 * USE_SLACK_MS) {
		every_ms = w->config.interval_ms / 2;
	}
	frame_write_request(request, (uint32_t)(every_ms < UINT32_MAX ? every_ms : UINT32_MAX));
	(void)send(w->child.fd, request, sizeof request, MSG_NOSIGNAL);
	w->state = STATE_ASKED;
	w->began_ms = now_ms;
	w->next_at_ms = now_ms + w->config.interval_ms;
	w->answer_by_ms = now_ms + (w->met ? w->config.deadline_ms : w->config.first_deadline_ms);
}

void gpu_worker_step(struct gpu_worker *w, int64_t now_ms)
{
	if (w->state == STATE_ENDED && now_ms >= w->reap_at_ms) {
		child_reap(w, now_ms);
	}
	if (w->state == STATE_ASKED && now_ms >= w->answer_by_ms) {
		look_late(w, now_ms);
	}
	if (w->state == STATE_NONE && now_ms >= w->start_at_ms) {
		child_start(w, now_ms);
		w->next_at_ms = w->state == STATE_IDLE ? now_ms : w->next_at_ms;
	}
	if (w->state == STATE_IDLE && now_ms >= w->next_at_ms) {
		ask(w, now_ms);
	}
}

int64_t gpu_worker_deadline(const struct gpu_worker *w)
{
	switch (w->state) {
	case STATE_NONE:
		return w->start_at_ms;
	case STATE_IDLE:
		return w->next_at_ms;
	case STATE_ASKED:
		return w->answer_by_ms;
	case STATE_ENDED:
		return w->reap_at_ms;
	}
	return TIME_NEVER;
}

void gpu_worker_refresh(struct gpu_worker *w)
{
	int64_t fresh_until_ms = w->began_ms + GPU_WORKER_FRESH_MS;
	if (w->state == STATE_IDLE) {
		w->next_at_ms = time_min(w->next_at_ms, fresh_until_ms);
	}
}

void gpu_worker_destroy(struct gpu_worker *w)
{
	if (w == NULL) {
		return;
	}
	static const struct timespec moment = {.tv_nsec = 1000000};
	int status;
	watch_destroy(w->watch);
	gpu_child_kill(&w->child);
	/* One that hangs in the kernel is left to it. */
	for (int i = 0; w->child.pid > 0 && i < REAP_FINAL_MS; i++) {
		if (!gpu_child_reap(&w->child, &status)) {
			(void)nanosleep(&moment, NULL);
		}
	}
	str_finish(&w->answer);
	arena_finish(&w->arenas[0]);
	arena_finish(&w->arenas[1]);
	recall_finish(&w->recall);
	free(w);
}
