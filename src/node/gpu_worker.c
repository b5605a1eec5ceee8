/* One child, one question at a time. */
#include "node/gpu_worker.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/rand.h"
#include "gpu/frame.h"
#include "gpu_child.h"
#include "gpu_hang.h"
#include "gpu_recall.h"
#include "io/watch.h"

#define START_FIRST_MS 500
#define START_CAP_MS   60000
#define REAP_EVERY_MS  20
#define REAP_FINAL_MS  200
#define KEEP_AFTER_MS  1000
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
	struct hangs hangs;
	uint32_t marks;	     /* of the look that is under way */
	uint32_t at;	     /* the device that is being asked; or HANG_NO_DEVICE */
	int64_t at_since_ms; /* when that was heard */
	uint32_t hung_on;    /* what the child that was ended did not come back from, or the same */
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
	hangs_init(&w->hangs, w->config.try_ms > 0 ? w->config.try_ms : HANG_FIRST_MS,
		rng_system_seed());
	w->at = w->hung_on = HANG_NO_DEVICE;
	return w;
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
	metric_count(w->config.metrics, "aliquot_agent_probe_ends_total",
		"Processes that asked the driver and have ended, by why.", labels, 1);
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
	if (now_ms - w->ended_ms >= KEEP_AFTER_MS && w->hung_on != HANG_NO_DEVICE &&
		hangs_keep(&w->hangs, w->hung_on, w->child.pid)) {
		log_warn("a process hangs in the kernel and could not be ended, another one asks",
			LOG_I("pid", w->child.pid), LOG_I("device", w->hung_on));
		w->child.pid = 0;
		w->state = STATE_NONE;
		return;
	}
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

/* Where the look was for the larger part of its time, unless it only wanted to see whether that
 * device still hangs. A machine that stood still is no device's fault. */
static uint32_t hung_on(const struct gpu_worker *w, int64_t now_ms)
{
	bool long_there = 2 * (now_ms - w->at_since_ms) >= now_ms - w->began_ms;
	return long_there || w->at == w->hangs.tried ? w->at : HANG_NO_DEVICE;
}

static void look_late(struct gpu_worker *w, int64_t now_ms)
{
	struct fault why;
	w->hung_on = w->at != HANG_NO_DEVICE ? hung_on(w, now_ms) : HANG_NO_DEVICE;
	if (w->hung_on != HANG_NO_DEVICE) {
		log_warn("a device hangs and is left out", LOG_I("device", w->hung_on));
		hangs_note(&w->hangs, w->hung_on, now_ms);
	}
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
	hangs_done(&w->hangs);
	w->sample = frame.sample;
	w->shown = next;
	recall_merge(&w->recall, &w->sample, &w->arenas[next]);
	w->config.on_sample(w->config.data, &w->sample);
	arena_reset(&w->arenas[1 - next]);
}

/* What comes before the answer. */
static void marks_take(struct gpu_worker *w)
{
	uint32_t index;
	while (w->marks < PROBE_DEVICES_MAX &&
		frame_read_mark((struct view){str_text(&w->answer), w->answer.len}, &index)) {
		w->answer.len -= FRAME_MARK_BYTES;
		memmove(w->answer.p, w->answer.p + FRAME_MARK_BYTES, w->answer.len + 1);
		w->marks++;
		w->at = index;
		w->at_since_ms = clock_mono(w->config.clock);
	}
}

/* Reads what there is: 1, the answer is whole; 0, more is to come; -1, the child closed its end. */
static int worker_answer_read(struct gpu_worker *w, struct fault *ret_fault)
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
		marks_take(w);
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

static void on_child_ready(void *data, unsigned ready)
{
	struct gpu_worker *w = data;
	struct fault fault = {0};
	int64_t now_ms = clock_mono(w->config.clock);
	(void)ready;
	int rc = worker_answer_read(w, &fault);
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
	metric_count(w->config.metrics, "aliquot_agent_probe_starts_total",
		"Processes that were started to ask the driver.", NULL, 1);
	w->watch = watch_create(w->config.loop, w->child.fd, WATCH_READ, on_child_ready, w);
	w->state = STATE_IDLE;
}

static uint32_t use_every_ms(const struct gpu_worker *w)
{
	int64_t every_ms = w->config.interval_ms - USE_SLACK_MS;
	if (w->config.interval_ms < 2 * USE_SLACK_MS) {
		every_ms = w->config.interval_ms / 2;
	}
	return (uint32_t)(every_ms < UINT32_MAX ? every_ms : UINT32_MAX);
}

/* The socket takes the few bytes of a question, unless the child is gone: then its end says so. */
static void worker_ask(struct gpu_worker *w, int64_t now_ms)
{
	char bytes[FRAME_REQUEST_BYTES];
	struct frame_request request = {.use_every_ms = use_every_ms(w),
		.left_out = hangs_begin(&w->hangs, now_ms, w->met)};
	frame_write_request(bytes, &request);
	(void)send(w->child.fd, bytes, sizeof bytes, MSG_NOSIGNAL);
	w->state = STATE_ASKED;
	w->marks = 0;
	w->at = w->hung_on = HANG_NO_DEVICE;
	w->began_ms = now_ms;
	w->next_at_ms = now_ms + w->config.interval_ms;
	int64_t timeout_ms = w->met ? w->config.deadline_ms : w->config.first_deadline_ms;
	/* A first look brings the devices up, and is no time to try one that hung. */
	bool tries = w->hangs.tried != HANG_NO_DEVICE;
	w->answer_by_ms = now_ms + (tries ? time_min(timeout_ms, HANG_TRY_MS) : timeout_ms);
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
		worker_ask(w, now_ms);
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
