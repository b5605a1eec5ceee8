/* One look at a time and GPU: the servers, then of each its state, its clients, and the end of
 * those that go. What fails is told and left; the look goes on. */
#include "mps/fleet.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/vec.h"
#include "mps/daemon.h"
#include "mps/folder.h"
#include "mps/question.h"
#include "mps/relay.h"
#include "mps/reply.h"
#include "relay_client.h"

#define GPUS_MAX     64
#define DOOMED_MAX   64
#define SERVERS_MAX  4 /* multi-user has one */
#define FAILURES_MAX 2
#define START_MS     60000  /* a daemon that is expected may take so long */
#define DOOM_OLD_MS  600000 /* and a tenant that goes so long to go */

struct doom {
	char pod_uid[MPS_UID_MAX];
	int64_t due_ms; /* monotonic: its contexts end */
};

struct gpu {
	struct mps_fleet *fleet; /* borrowed */
	char uuid[96];
	struct mps_folder folder;
	struct mps_status status;
	struct loop_timer timer;
	int64_t since_ms; /* expected */
	bool expected, answered;
	int failures; /* looks in a row */
	VEC_OF(struct doom) doomed;
	struct mps_pids ended; /* processes whose contexts were ended, while they are clients */
	/* The look under way. */
	struct mps_ask *call; /* owned; NULL: none */
	enum mps_question_kind ask;
	int64_t began_ms;
	struct fault problem; /* the first of it; none: it went well */
	struct mps_pids servers, going, seen;
	struct mps_question limits; /* of clients of one server whose pods are known */
	uint32_t server, next;	    /* of servers, of going */
	struct mps_status found;
};

struct mps_fleet {
	struct mps_fleet_options o;
	VEC_OF(struct gpu *) gpus; /* owned */
};

static void gpu_on_reply(void *data, struct view reply, const struct fault *fault);

static void pids_add(struct mps_pids *pids, int32_t pid)
{
	if (pids->count < MPS_PIDS_MAX && !mps_pids_contain(pids, pid)) {
		pids->items[pids->count++] = pid;
	}
}

/* --- tenants that go -------------------------------------------------------------------------- */

static struct doom *doom_find(struct gpu *g, const char *pod_uid)
{
	vec_for_each (struct doom, d, &g->doomed) {
		if (text_equals(d->pod_uid, pod_uid)) {
			return d;
		}
	}
	return NULL;
}

/* --- the end of a look ------------------------------------------------------------------------ */

static void status_set(struct gpu *g, const struct mps_status *now)
{
	struct mps_status before = g->status;
	g->status = *now;
	if (before.state != now->state && now->state == MPS_UNSAID) {
		log_warn("cannot steer the MPS daemon", LOG_S("uuid", g->uuid),
			LOG_S("why", now->why));
	} else if (before.state != now->state) {
		log_info("found MPS in another state", LOG_S("uuid", g->uuid),
			LOG_S("state", mps_state_name(now->state)), LOG_S("why", now->why),
			LOG_I("contexts", now->contexts));
	}
	bool same = before.state == now->state && before.contexts == now->contexts &&
		    before.pending == now->pending && before.unread == now->unread &&
		    text_equals(before.why, now->why);
	if (!same && g->fleet->o.changed != NULL) {
		g->fleet->o.changed(g->fleet->o.data, g->uuid);
	}
}

/* The next look comes at the usual time, or earlier where somebody is due that the last one may
 * have missed. */
static void look_over(struct gpu *g, const struct mps_status *now)
{
	int64_t now_ms = loop_now_ms(), at_ms = now_ms + g->fleet->o.ask_ms;
	for (size_t i = g->doomed.count; i-- > 0;) {
		if (now_ms - g->doomed.items[i].due_ms > DOOM_OLD_MS) {
			VEC_REMOVE_SWAP(&g->doomed, i);
		}
	}
	vec_for_each (struct doom, d, &g->doomed) {
		if (d->due_ms > g->began_ms) {
			at_ms = time_min(at_ms, d->due_ms);
		}
	}
	loop_timer_start_ms(&g->timer, at_ms - now_ms);
	status_set(g, now);
}

/* One failure may be a daemon that is started again this moment. */
static void look_failed(struct gpu *g, const struct fault *fault)
{
	struct mps_status now = g->status;
	bool late = loop_now_ms() - g->since_ms >= START_MS;
	g->failures++;
	if (g->found.state == MPS_FAULT) {
		now = (struct mps_status){.state = MPS_FAULT, .contexts = now.contexts};
	} else if (!g->answered &&
		   (fault->kind == FAULT_NOT_FOUND || fault->kind == FAULT_DENIED)) {
		/* Its capacity pod is of another version than the agent, or the agent may not come
		 * near. Nothing is known of the daemon then. */
		now = (struct mps_status){.state = MPS_UNSAID};
	} else if (g->answered || late) {
		if (g->failures >= FAILURES_MAX) {
			now = (struct mps_status){.state = MPS_DOWN};
		}
	} else {
		now = (struct mps_status){.state = MPS_STARTING};
	}
	(void)snprintf(now.why, sizeof now.why, "%.*s", (int)sizeof now.why - 1, fault->message);
	look_over(g, &now);
}

static void look_ended(struct gpu *g)
{
	struct mps_status *found = &g->found;
	if (g->problem.kind != FAULT_NONE) {
		look_failed(g, &g->problem);
		return;
	}
	g->failures = 0;
	g->answered = true;
	/* A process that is no client any more may come back under its number as somebody else. */
	for (uint32_t i = g->ended.count; i-- > 0;) {
		if (!mps_pids_contain(&g->seen, g->ended.items[i])) {
			g->ended.items[i] = g->ended.items[--g->ended.count];
		}
	}
	if (found->state == MPS_FAULT) {
		(void)snprintf(found->why, sizeof found->why,
			"a client's fault reached all %u processes on this GPU: no new ones until "
			"they have gone",
			(unsigned)found->contexts);
	} else if (found->contexts >= MPS_CONTEXTS_MAX) {
		(void)snprintf(found->why, sizeof found->why,
			"%u processes are clients, and a GPU takes %d", (unsigned)found->contexts,
			MPS_CONTEXTS_MAX);
	}
	look_over(g, found);
}

/* --- a look ----------------------------------------------------------------------------------- */

/* The longest of what the other side may need: a command that is not answered, and its end. */
#define RELAY_MS 3000

static void gpu_ask(struct gpu *g, const struct mps_question *q)
{
	CLEANUP(str_finish) struct str line = STR_INIT(MPS_RELAY_LINE_MAX);
	mps_question_write(q, &line);
	g->ask = q->kind;
	g->call = mps_ask_start(g->fleet->o.loop,
		&(struct mps_asked){.folder = g->folder.base,
			.line = str_text(&line),
			.timeout_ms = g->fleet->o.timeout_ms + RELAY_MS},
		gpu_on_reply, g);
}

static void ask_of_server(struct gpu *g, enum mps_question_kind what)
{
	gpu_ask(g, &(struct mps_question){
			   .kind = what, .count = 1, .numbers = {g->servers.items[g->server]}});
}

static void next_server(struct gpu *g)
{
	if (g->server < g->servers.count && g->server < SERVERS_MAX) {
		ask_of_server(g, MPS_ASK_STATUS);
	} else {
		look_ended(g);
	}
}

/* A client's pod, while its contexts are to be ended: asked anew each time, for between a list and
 * its last line a number may have become somebody else's. */
static bool client_goes(struct gpu *g, int32_t pid, const struct mps_owner *owner)
{
	const struct doom *d = doom_find(g, owner->pod_uid);
	return d != NULL && d->due_ms <= loop_now_ms() && !mps_pids_contain(&g->ended, pid);
}

static bool client_owner(struct gpu *g, int32_t pid, struct mps_owner *ret_owner)
{
	*ret_owner = (struct mps_owner){.pod_uid = ""};
	return g->fleet->o.owner(g->fleet->o.data, pid, ret_owner);
}

static void next_end(struct gpu *g)
{
	for (; g->next < g->going.count; g->next++) {
		struct mps_owner owner;
		int32_t pid = g->going.items[g->next];
		if (client_owner(g, pid, &owner) && client_goes(g, pid, &owner)) {
			gpu_ask(g, &(struct mps_question){.kind = MPS_ASK_END,
					   .count = 2,
					   .numbers = {g->servers.items[g->server], pid}});
			return;
		}
	}
	if (g->limits.count > 0) {
		gpu_ask(g, &g->limits);
		return;
	}
	g->server++;
	next_server(g);
}

static void clients_judge(struct gpu *g, const struct mps_pids *clients)
{
	g->found.contexts += clients->count;
	for (uint32_t i = 0; i < clients->count; i++) {
		struct mps_owner owner;
		int32_t pid = clients->items[i];
		pids_add(&g->seen, pid);
		if (!client_owner(g, pid, &owner)) {
			continue;
		}
		g->found.unread++; /* until they are told */
		if (g->limits.count < MPS_RELAY_NUMBERS_MAX) {
			g->limits.numbers[g->limits.count++] = pid;
		}
		if (client_goes(g, pid, &owner)) {
			pids_add(&g->going, pid);
		}
	}
}

/* PID, threads, memory; - for none. */
static void limits_judge(struct gpu *g, struct view line)
{
	struct view rest = line, pid, threads = VIEW("");
	struct mps_owner owner;
	int64_t number;
	bool good = view_next(&rest, ' ', &pid) && view_next(&rest, ' ', &threads) &&
		    parse_i64(pid, 1, MPS_PID_LARGEST, &number);
	if (!good || g->found.unread == 0 || !client_owner(g, (int32_t)number, &owner)) {
		return;
	}
	g->found.unread--;
	g->found.pending +=
		!view_equals(threads, text_empty(owner.threads) ? "-" : owner.threads) ||
		!view_equals(rest, text_empty(owner.memory) ? "-" : owner.memory);
}

/* A server may end between two questions; the others are asked all the same. */
static void note_problem(struct gpu *g, const struct fault *fault)
{
	if (g->problem.kind == FAULT_NONE) {
		fault_copy(&g->problem, fault);
	}
}

static void servers_told(struct gpu *g, struct view reply, const struct fault *fault)
{
	struct fault ill;
	if (fault == NULL && mps_reply_pids(reply, &g->servers, &ill) != 0) {
		fault = &ill;
	}
	if (fault != NULL) {
		look_failed(g, fault);
		return;
	}
	g->server = 0;
	next_server(g);
}

static void state_told(struct gpu *g, struct view reply, const struct fault *fault)
{
	struct fault ill;
	enum mps_server_state state = MPS_SERVER_ACTIVE;
	if (fault == NULL && mps_reply_server_state(reply, &state, &ill) != 0) {
		fault = &ill;
	}
	if (fault != NULL) {
		note_problem(g, fault);
	}
	if (state == MPS_SERVER_FAULT) {
		g->found.state = MPS_FAULT;
	}
	ask_of_server(g, MPS_ASK_CLIENTS);
}

static void clients_told(struct gpu *g, struct view reply, const struct fault *fault)
{
	struct fault ill;
	struct mps_pids clients;
	if (fault == NULL && mps_reply_pids(reply, &clients, &ill) != 0) {
		fault = &ill;
	}
	g->going.count = g->next = 0;
	g->limits = (struct mps_question){.kind = MPS_ASK_LIMITS};
	if (fault != NULL) {
		note_problem(g, fault);
	} else {
		clients_judge(g, &clients);
	}
	next_end(g);
}

/* One that could not be ended is asked for again at the next look. */
static void end_told(struct gpu *g, struct view reply, const struct fault *fault)
{
	struct fault ill;
	int32_t pid = g->going.items[g->next++];
	if (fault == NULL && mps_reply_done(reply, &ill) != 0) {
		fault = &ill;
	}
	if (fault == NULL) {
		pids_add(&g->ended, pid);
		log_info("ended a client of MPS before its pod is killed", LOG_S("uuid", g->uuid),
			LOG_I("pid", pid));
	} else {
		log_warn("could not end a client of MPS", LOG_F(fault), LOG_S("uuid", g->uuid),
			LOG_I("pid", pid));
	}
	next_end(g);
}

/* What is not told stays unread. */
static void limits_told(struct gpu *g, struct view reply, const struct fault *fault)
{
	struct view rest = reply, line;
	while (fault == NULL && rest.n > 0 && view_next(&rest, '\n', &line)) {
		limits_judge(g, line);
	}
	g->server++;
	next_server(g);
}

static void gpu_on_reply(void *data, struct view reply, const struct fault *fault)
{
	static void (*const told[])(struct gpu *, struct view, const struct fault *) = {
		[MPS_ASK_SERVERS] = servers_told,
		[MPS_ASK_STATUS] = state_told,
		[MPS_ASK_CLIENTS] = clients_told,
		[MPS_ASK_END] = end_told,
		[MPS_ASK_LIMITS] = limits_told,
	};
	struct gpu *g = data;
	g->call = NULL; /* it is gone when its callback returns */
	told[g->ask](g, reply, fault);
}

static void gpu_look(void *data)
{
	struct gpu *g = data;
	g->found = (struct mps_status){.state = MPS_ACTIVE};
	g->seen.count = 0;
	g->problem.kind = FAULT_NONE;
	g->began_ms = loop_now_ms();
	gpu_ask(g, &(struct mps_question){.kind = MPS_ASK_SERVERS});
}

/* --- which ------------------------------------------------------------------------------------ */

static struct gpu *gpu_find(const struct mps_fleet *f, const char *uuid)
{
	for (size_t i = 0; i < f->gpus.count; i++) {
		if (text_equals(f->gpus.items[i]->uuid, uuid)) {
			return f->gpus.items[i];
		}
	}
	return NULL;
}

static struct gpu *fleet_gpu_create(struct mps_fleet *f, const char *uuid)
{
	struct mps_folder folder;
	struct fault fault;
	if (f->gpus.count >= GPUS_MAX) {
		log_error("expects more MPS daemons than a node has GPUs", LOG_S("uuid", uuid));
		return NULL;
	}
	if (mps_folder_name(&folder, f->o.root, uuid, &fault) != 0) {
		log_error("could not tell the place of an MPS daemon", LOG_F(&fault));
		return NULL;
	}
	struct gpu *g = xcalloc(1, sizeof *g);
	g->fleet = f;
	g->folder = folder;
	(void)snprintf(g->uuid, sizeof g->uuid, "%s", uuid);
	g->since_ms = loop_now_ms();
	g->status.state = MPS_STARTING;
	loop_timer_init(&g->timer, f->o.loop, gpu_look, g);
	loop_timer_start_ms(&g->timer, 0);
	VEC_PUSH(&f->gpus, g);
	return g;
}

struct mps_fleet *mps_fleet_create(const struct mps_fleet_options *options)
{
	struct mps_fleet *f = xcalloc(1, sizeof *f);
	f->o = *options;
	return f;
}

void mps_fleet_destroy(struct mps_fleet *f)
{
	if (f == NULL) {
		return;
	}
	mps_fleet_expect(f, NULL, 0);
	VEC_FINISH(&f->gpus);
	free(f);
}

void mps_fleet_expect(struct mps_fleet *f, const char *const *uuids, uint32_t count)
{
	for (size_t i = 0; i < f->gpus.count; i++) {
		f->gpus.items[i]->expected = false;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct gpu *g = gpu_find(f, uuids[i]);
		g = g != NULL ? g : fleet_gpu_create(f, uuids[i]);
		if (g != NULL) {
			g->expected = true;
		}
	}
	for (size_t i = f->gpus.count; i-- > 0;) {
		struct gpu *g = f->gpus.items[i];
		if (!g->expected) {
			mps_ask_cancel(g->call);
			loop_timer_stop(&g->timer);
			VEC_FINISH(&g->doomed);
			free(g);
			VEC_REMOVE_SWAP(&f->gpus, i);
		}
	}
}

void mps_fleet_doom(struct mps_fleet *f, const char *uuid, const char *pod_uid, int64_t wall_ms)
{
	struct gpu *g = gpu_find(f, uuid);
	if (g == NULL || text_empty(pod_uid) || strlen(pod_uid) >= MPS_UID_MAX) {
		return;
	}
	int64_t now_ms = loop_now_ms();
	int64_t left_ms = wall_ms - clock_wall(&clock_system) - MPS_MARGIN_MS;
	struct doom *d = doom_find(g, pod_uid);
	if (d != NULL && d->due_ms <= now_ms) {
		return; /* it is under way */
	}
	if (d == NULL && g->doomed.count < DOOMED_MAX) {
		VEC_PUSH(&g->doomed, ((struct doom){.due_ms = 0}));
		d = &g->doomed.items[g->doomed.count - 1];
		(void)snprintf(d->pod_uid, sizeof d->pod_uid, "%s", pod_uid);
	}
	if (d == NULL) {
		log_warn("cannot keep another tenant that goes", LOG_S("uuid", uuid));
		return;
	}
	d->due_ms = now_ms + (left_ms > 0 ? left_ms : 0);
	/* A look that is under way arranges the next one itself. */
	if (g->call == NULL && d->due_ms < g->timer.at_ms) {
		loop_timer_start_ms(&g->timer, d->due_ms - now_ms);
	}
}

const struct mps_status *mps_fleet_status(const struct mps_fleet *f, const char *uuid)
{
	const struct gpu *g = gpu_find(f, uuid);
	return g != NULL ? &g->status : NULL;
}
