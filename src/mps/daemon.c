/* One step at a time: each step sends one command, and its answer leads to the next. */
#include "mps/daemon.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rand.h"
#include "daemon_log.h"
#include "io/watch.h"
#include "leftover.h"
#include "mps/mps_control.h"
#include "mps/folder.h"
#include "mps/reply.h"

#define RETRY_CAP_MS   60000
#define FORGET_MS      60000 /* of health, after which earlier failures are forgotten */
#define SILENT_MAX     2
#define POLL_MS	       100
#define BEGIN_MS       10000 /* after its start, until it takes commands */
#define QUIT_MS	       5000
#define END_MS	       2000
#define START_LOG      "/start.log"
#define HEALTH_COMMAND "get_default_active_thread_percentage"
#define DEFAULTS       "set_default_active_thread_percentage 100"

enum step {
	STEP_IDLE,   /* waits for the time to start */
	STEP_ADOPT,  /* asks the one that is there */
	STEP_LAUNCH, /* starts one, by one word for multi-user or the other */
	STEP_LAUNCH_AGAIN,
	STEP_DEFAULTS,
	STEP_HEALTH, /* for the first time */
	STEP_RUN,    /* asks now and then */
	STEP_QUIT,
	STEP_END, /* waits for its processes to go */
};

struct mps_daemon {
	struct mps_daemon_options o;
	struct mps_folder folder;
	int lock; /* owned */
	enum step step;
	enum mps_state state;
	struct mps_call *call; /* owned; NULL: none under way */
	struct loop_timer timer;
	int pidfd;	     /* owned; -1: its PID is not known */
	struct watch *death; /* owned, of pidfd */
	struct daemon_log log;
	struct backoff backoff;
	struct rng rng;
	int64_t since_ms; /* when the step, or its health, began */
	int silent;	  /* health commands in a row that failed */
	bool exclusive;	  /* the compute mode was set */
	loop_fn done;	  /* of stop; NULL: it goes on */
};

const char *mps_state_name(enum mps_state state)
{
	static const char *const names[MPS_STATES] = {[MPS_UNSAID] = "Unsaid",
		[MPS_STARTING] = "Starting",
		[MPS_ACTIVE] = "Active",
		[MPS_FAULT] = "Fault",
		[MPS_DOWN] = "Down"};
	return names[state];
}

static void daemon_on_reply(void *data, struct view reply, const struct fault *fault);

static void state_set(struct mps_daemon *d, enum mps_state state, const char *why)
{
	if (d->state != state) {
		d->state = state;
		d->o.changed(d->o.data, state, why);
	}
}

/* --- commands --------------------------------------------------------------------------------- */

static void daemon_command(
	struct mps_daemon *d, enum step step, const char *line, int64_t timeout_ms)
{
	d->step = step;
	d->call = mps_call_start(d->o.loop,
		&(struct mps_command){.program = d->o.program,
			.pipe_dir = d->folder.pipe,
			.log_dir = d->folder.log,
			.line = line,
			.timeout_ms = timeout_ms},
		daemon_on_reply, d);
}

static void daemon_launch(struct mps_daemon *d, enum step step, const char *multi_user)
{
	char output[MPS_PATH_MAX + sizeof START_LOG];
	(void)snprintf(output, sizeof output, "%s" START_LOG, d->folder.log);
	d->step = step;
	d->since_ms = loop_now_ms();
	d->call = mps_call_start(d->o.loop,
		&(struct mps_command){.program = d->o.program,
			.pipe_dir = d->folder.pipe,
			.log_dir = d->folder.log,
			.args = (const char *const[]){"-d", multi_user, NULL},
			.output_path = output,
			.timeout_ms = BEGIN_MS},
		daemon_on_reply, d);
}

static void forget_process(struct mps_daemon *d)
{
	watch_destroy(d->death);
	d->death = NULL;
	cleanup_fd(&d->pidfd);
}

static void daemon_cancel(struct mps_daemon *d)
{
	mps_call_cancel(d->call);
	d->call = NULL;
	loop_timer_stop(&d->timer);
}

/* --- failing ---------------------------------------------------------------------------------- */

/* What does not answer is ended before another one is started beside it; one that was never asked
 * is not: its clients may be well. */
static void daemon_fall(struct mps_daemon *d, const struct fault *why)
{
	daemon_cancel(d);
	forget_process(d);
	d->silent = 0;
	mps_folder_clear_ready(&d->folder);
	int killed = d->step != STEP_IDLE ? leftover_signal(d->folder.pipe, SIGKILL) : 0;
	int64_t wait_ms = backoff_next(&d->backoff, &d->rng);
	log_error("lost the MPS daemon", LOG_F(why), LOG_S("uuid", d->o.uuid),
		LOG_I("killed", killed), LOG_I("retry_ms", wait_ms),
		LOG_I("attempt", d->backoff.attempt));
	d->step = STEP_IDLE;
	state_set(d, MPS_DOWN, why->message);
	loop_timer_start_ms(&d->timer, wait_ms);
}

static void on_death(void *data, unsigned ready)
{
	struct mps_daemon *d = data;
	struct fault why;
	(void)ready;
	(void)fault_set(&why, FAULT_GONE, "the MPS daemon has ended");
	daemon_fall(d, &why);
}

/* It cannot be told what is there, so nothing is ended and nothing is started. */
static void fall_blind(struct mps_daemon *d)
{
	struct fault why;
	(void)fault_set(&why, FAULT_FATAL, "list the processes of this node: %s", strerror(errno));
	d->step = STEP_IDLE;
	daemon_fall(d, &why);
}

/* --- the compute mode ------------------------------------------------------------------------- */

static int exclude_others(struct mps_daemon *d, struct fault *ret_fault)
{
	if (!d->exclusive && d->o.set_exclusive(d->o.data, true, ret_fault) != 0) {
		return -1;
	}
	d->exclusive = true;
	return 0;
}

/* --- health ----------------------------------------------------------------------------------- */

static void enter_run(struct mps_daemon *d)
{
	struct fault fault;
	int failures = daemon_log_poll(&d->log, d->folder.log, loop_now_ms());
	if (failures >= DAEMON_LOG_FAILURES) {
		(void)fault_set(&fault, FAULT_GONE,
			"the MPS server exits again and again: %d times within a minute, see "
			"%s/server.log",
			failures, d->folder.log);
		daemon_fall(d, &fault);
		return;
	}
	/* Then the pod is not ready, which is so. Its tenants lose nothing by that. */
	if (mps_folder_set_ready(&d->folder, &fault) != 0) {
		log_warn("could not say that MPS is ready", LOG_F(&fault));
	}
	/* One that was taken over is not ended for a driver's sake. */
	if (exclude_others(d, &fault) != 0) {
		log_warn("could not set the compute mode yet", LOG_F(&fault),
			LOG_S("uuid", d->o.uuid));
	}
	if (loop_now_ms() - d->since_ms >= FORGET_MS) {
		d->backoff.attempt = 0;
	}
	d->silent = 0;
	d->step = STEP_RUN;
	loop_timer_start_ms(&d->timer, d->o.health_ms);
	state_set(d, MPS_ACTIVE, "");
}

static void is_healthy(struct mps_daemon *d)
{
	log_info("started the MPS daemon", LOG_S("uuid", d->o.uuid),
		LOG_I("pid", mps_folder_pid(&d->folder)));
	/* Without a PID its end is noticed as silence. */
	d->pidfd = leftover_open(mps_folder_pid(&d->folder), d->folder.pipe);
	if (d->pidfd >= 0) {
		d->death = watch_create(d->o.loop, d->pidfd, WATCH_READ, on_death, d);
	}
	daemon_log_begin(&d->log, d->folder.log);
	d->since_ms = loop_now_ms();
	enter_run(d);
}

static int health_judge(struct view reply, const struct fault *fault, struct fault *ret_fault)
{
	int64_t milli;
	if (fault != NULL) {
		fault_copy(ret_fault, fault);
		return -1;
	}
	return mps_reply_percentage(reply, &milli, ret_fault);
}

/* --- starting --------------------------------------------------------------------------------- */

static void clear_and_launch(struct mps_daemon *d)
{
	struct fault fault;
	if (leftover_signal(d->folder.pipe, SIGKILL) < 0) {
		fall_blind(d);
		return;
	}
	d->exclusive = false;
	if (exclude_others(d, &fault) != 0 || mps_folder_clear(&d->folder, &fault) != 0) {
		daemon_fall(d, &fault);
		return;
	}
	daemon_log_trim(d->folder.log);
	daemon_launch(d, STEP_LAUNCH, "-M");
}

/* Clients make their own segments there, whoever they are. */
static int shm_open_up(const char *shm, struct fault *ret_fault)
{
	struct stat at;
	if (shm == NULL || (stat(shm, &at) == 0 && (at.st_mode & 07777) == 01777)) {
		return 0;
	}
	return chmod(shm, 01777) == 0
		       ? 0
		       : fault_set(ret_fault, FAULT_FATAL, "make %s writable by everybody: %s", shm,
				 strerror(errno));
}

static void daemon_start(struct mps_daemon *d)
{
	struct fault fault;
	state_set(d, MPS_STARTING, "");
	if (mps_folder_prepare(&d->folder, &fault) != 0 || shm_open_up(d->o.shm, &fault) != 0) {
		daemon_fall(d, &fault);
		return;
	}
	int left = leftover_signal(d->folder.pipe, 0);
	if (left < 0) {
		fall_blind(d);
	} else if (left > 0) {
		daemon_command(d, STEP_ADOPT, HEALTH_COMMAND, d->o.timeout_ms);
	} else {
		clear_and_launch(d);
	}
}

/* --- stopping --------------------------------------------------------------------------------- */

static void daemon_cleared(struct mps_daemon *d)
{
	struct fault fault;
	(void)leftover_signal(d->folder.pipe, SIGKILL);
	if (mps_folder_clear(&d->folder, &fault) != 0) {
		log_warn("could not empty the pipe directory", LOG_F(&fault));
	}
	if (d->o.set_exclusive(d->o.data, false, &fault) != 0) {
		log_error("could not set the compute mode back to DEFAULT", LOG_F(&fault),
			LOG_S("uuid", d->o.uuid));
	}
	d->step = STEP_IDLE;
	d->done(d->o.data);
}

static void end_await(struct mps_daemon *d)
{
	bool there = leftover_signal(d->folder.pipe, 0) != 0;
	if (there && loop_now_ms() - d->since_ms < END_MS) {
		loop_timer_start_ms(&d->timer, POLL_MS);
	} else {
		daemon_cleared(d);
	}
}

void mps_daemon_stop(struct mps_daemon *d, loop_fn done)
{
	daemon_cancel(d);
	forget_process(d);
	mps_folder_clear_ready(&d->folder);
	d->done = done;
	if (leftover_signal(d->folder.pipe, 0) != 0) {
		daemon_command(d, STEP_QUIT, "quit", QUIT_MS);
	} else {
		d->step = STEP_END;
		d->since_ms = loop_now_ms();
		loop_timer_start_ms(&d->timer, 0);
	}
}

/* --- the story -------------------------------------------------------------------------------- */

/* A daemon that has just been started may not take commands yet. */
static void try_later(struct mps_daemon *d, const struct fault *fault)
{
	if (loop_now_ms() - d->since_ms >= BEGIN_MS) {
		daemon_fall(d, fault);
	} else {
		loop_timer_start_ms(&d->timer, POLL_MS);
	}
}

static bool was_asked(const struct fault *fault)
{
	return fault->kind != FAULT_NOT_FOUND && fault->kind != FAULT_FATAL;
}

/* False: it has been silent for too long. What could not be asked has not been silent. */
static bool bears_silence(struct mps_daemon *d, const struct fault *fault)
{
	if (was_asked(fault) && ++d->silent >= SILENT_MAX) {
		return false;
	}
	log_warn("got no health from the MPS daemon", LOG_F(fault));
	if (!was_asked(fault)) {
		state_set(d, MPS_DOWN, fault->message);
	}
	loop_timer_start_ms(&d->timer, d->o.health_ms);
	return true;
}

static void daemon_launched(struct mps_daemon *d, const struct fault *fault)
{
	if (fault == NULL) {
		daemon_command(d, STEP_DEFAULTS, DEFAULTS, d->o.timeout_ms);
	} else if (d->step == STEP_LAUNCH && fault->kind != FAULT_NOT_FOUND) {
		log_debug("took another word for multi-user", LOG_F(fault));
		daemon_launch(d, STEP_LAUNCH_AGAIN, "-multiuser-server");
	} else {
		daemon_fall(d, fault);
	}
}

static void daemon_on_reply(void *data, struct view reply, const struct fault *fault)
{
	struct mps_daemon *d = data;
	struct fault ill;

	d->call = NULL; /* it is gone when its callback returns */
	switch (d->step) {
	case STEP_ADOPT:
		if (health_judge(reply, fault, &ill) == 0) {
			is_healthy(d);
		} else if (!bears_silence(d, &ill)) {
			d->silent = 0; /* its clients would die with it */
			clear_and_launch(d);
		}
		break;
	case STEP_LAUNCH:
	case STEP_LAUNCH_AGAIN:
		daemon_launched(d, fault);
		break;
	case STEP_DEFAULTS:
		if (fault == NULL) {
			daemon_command(d, STEP_HEALTH, HEALTH_COMMAND, d->o.timeout_ms);
		} else {
			try_later(d, fault);
		}
		break;
	case STEP_HEALTH:
		if (health_judge(reply, fault, &ill) == 0) {
			is_healthy(d);
		} else {
			try_later(d, &ill);
		}
		break;
	case STEP_RUN:
		if (health_judge(reply, fault, &ill) == 0) {
			enter_run(d);
		} else if (!bears_silence(d, &ill)) {
			daemon_fall(d, &ill);
		}
		break;
	case STEP_QUIT:
		if (fault != NULL) {
			log_warn("could not tell the MPS daemon to quit", LOG_F(fault));
		}
		d->step = STEP_END;
		d->since_ms = loop_now_ms();
		end_await(d);
		break;
	case STEP_IDLE:
	case STEP_END:
		BUG("a reply in step %d", (int)d->step);
	}
}

static void daemon_on_timer(void *data)
{
	struct mps_daemon *d = data;

	switch (d->step) {
	case STEP_IDLE:
		daemon_start(d);
		break;
	case STEP_DEFAULTS:
		daemon_command(d, STEP_DEFAULTS, DEFAULTS, d->o.timeout_ms);
		break;
	case STEP_ADOPT:
	case STEP_HEALTH:
	case STEP_RUN:
		daemon_command(d, d->step, HEALTH_COMMAND, d->o.timeout_ms);
		break;
	case STEP_END:
		end_await(d);
		break;
	case STEP_LAUNCH:
	case STEP_LAUNCH_AGAIN:
	case STEP_QUIT:
		BUG("a timer in step %d", (int)d->step);
	}
}

int mps_daemon_create(const struct mps_daemon_options *options, struct mps_daemon **ret_daemon,
	struct fault *ret_fault)
{
	struct mps_folder folder;
	int lock = -1;
	if (mps_folder_name(&folder, options->root, options->uuid, ret_fault) != 0 ||
		mps_folder_lock(&folder, &lock, ret_fault) != 0) {
		return -1;
	}
	struct mps_daemon *d = xcalloc(1, sizeof *d);
	d->o = *options;
	d->folder = folder;
	d->lock = lock;
	d->pidfd = -1;
	d->backoff = (struct backoff){.first_ms = options->retry_ms, .cap_ms = RETRY_CAP_MS};
	rng_seed(&d->rng, rng_system_seed());
	mps_folder_clear_ready(&d->folder);
	loop_timer_init(&d->timer, options->loop, daemon_on_timer, d);
	loop_timer_start_ms(&d->timer, 0);
	*ret_daemon = d;
	return 0;
}

void mps_daemon_destroy(struct mps_daemon *d)
{
	if (d != NULL) {
		daemon_cancel(d);
		forget_process(d);
		(void)close(d->lock);
		free(d);
	}
}
