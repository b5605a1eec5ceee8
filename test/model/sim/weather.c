/* What goes wrong. The seed draws how often each fault happens in its run, many of them never, so
 * that a run is about a few faults and not about noise; spells (a partition, a crash, a lost node)
 * come now and then. In the calm at the end nothing goes wrong any more. */
#include <stdlib.h>

#include "cluster/appetite.h"
#include "cluster/machines.h"
#include "cluster/node_agent.h"
#include "cluster/replica.h"
#include "cluster/works.h"
#include "crowd.h"
#include "network_link.h"
#include "objects/dice.h"
#include "objects/trace.h"
#include "weather.h"

#define SPELL_EVERY_MS 1000
#define WIDE_GPUS      8

/* Off in half of the runs, and what this run is about in some. */
static uint32_t weather_rate(struct sim *s, uint32_t most)
{
	if (sim_chance(s, 500)) {
		return 0;
	}
	return (uint32_t)sim_between(s, 1, sim_chance(s, 200) ? 5 * most : most);
}

/* Some runs are about tenants of several GPUs, about pods that outrank all of them, about work that
 * does not end, about deletions that linger, or about one tenant that is passed over. Drawn apart,
 * so that what else a seed draws does not depend on it. */
static void draw_work(struct sim *s)
{
	struct weather *w = &s->weather;
	struct dice back = dice_enter(s, dice_key("kinds of work", NULL, 0));
	bool grouped = sim_chance(s, 350);
	w->grouped = grouped ? 700 : 200;
	w->halved = grouped ? (uint32_t)sim_between(s, 400, 1000) : 0;
	w->haughty = sim_chance(s, 500) ? 700 : 0;
	w->lasting = sim_chance(s, 250);
	w->mortal = w->lasting ? w->mortal / 2 : w->mortal;
	w->narrow = sim_chance(s, 150);
	w->crowded = sim_chance(s, s->config.small ? 60 : 100) || s->config.crowded;
	w->linger = sim_chance(s, 300) ? (uint32_t)sim_between(s, 200, 1000) : 0;
	w->exclusive = sim_chance(s, 250) ? 600 : 0;
	w->greedy = sim_chance(s, 300) ? (uint32_t)sim_between(s, 50, 600) : 0;
	w->walled = sim_chance(s, 250) ? (uint32_t)sim_between(s, 100, 900) : 0;
	w->probed = (sim_chance(s, 350) || s->config.probed) && s->config.scenario == NULL;
	w->faulty = w->walled > 0 && sim_chance(s, 500) ? (uint32_t)sim_between(s, 20, 200) : 0;
	dice_leave(s, back);
}

void weather_draw(struct sim *s)
{
	struct weather *w = &s->weather;
	w->lost_request = weather_rate(s, 40);
	w->lost_answer = weather_rate(s, 80);
	w->late = weather_rate(s, 60);
	w->twice = weather_rate(s, 80);
	w->refused = weather_rate(s, 40);
	w->busy = weather_rate(s, 40);
	w->broken = weather_rate(s, 40);
	w->conflict = weather_rate(s, 150);
	w->duplicate = weather_rate(s, 100);
	w->stream_break = weather_rate(s, 60);
	w->stream_lag = weather_rate(s, 200);
	w->stall = weather_rate(s, 400);
	w->kubelet_refusal = weather_rate(s, 120);
	w->slow_start = weather_rate(s, 100);
	w->crash_at_write = weather_rate(s, 20);
	w->partition = weather_rate(s, 12);
	w->pause = weather_rate(s, 12);
	w->crash = weather_rate(s, 8);
	w->leave = weather_rate(s, 8);
	w->server_restart = weather_rate(s, 8);
	w->compaction = weather_rate(s, 60);
	w->clock_jump = weather_rate(s, 40);
	w->node_loss = weather_rate(s, 10);
	w->cordon = weather_rate(s, 40);
	w->node_change = weather_rate(s, 15);
	w->upgrade = weather_rate(s, 15);
	w->doubled = sim_chance(s, 200) ? 500 : 0;
	w->hand_delete = weather_rate(s, 40);
	w->snatch = weather_rate(s, 300);
	w->sick = weather_rate(s, 10);
	w->cached = weather_rate(s, 300);
	w->latency_ms = sim_between(s, 1, 200);
	w->lag_ms = sim_chance(s, 300) ? sim_between(s, 9000, 40000) : sim_between(s, 100, 9000);
	w->late_ms = sim_chance(s, 500) ? sim_between(s, 2000, 60000) : 20000;
	w->pace_ms = sim_between(s, 200, 4000);
	w->whole = sim_chance(s, 400) ? 400 : 40;
	/* A run is about whole pods or about what keeps them from being made. */
	w->quota = w->whole > 40 ? 0 : weather_rate(s, 30);
	w->mortal = (uint32_t)sim_between(s, 500, 980);
	w->life_ms = sim_between(s, 3000, 60000);
	draw_work(s);
	if (w->crowded) {
		w->probed = w->probed && s->config.probed;
		crowd_weather(w, s->config.seed);
	}
	w->node_change = w->narrow ? 0 : w->node_change;
	/* Not drawn, so that it changes no other draw. */
	uint64_t wide = dice_key("wide", NULL, s->config.seed);
	bool is_wide = !w->narrow && !s->config.small && wide % 4 == 0;
	w->wide = !is_wide ? 0 : wide % 32 == 0 ? SIM_GPUS_MOST : WIDE_GPUS;
	w->wish = dice_key("wish", NULL, s->config.seed) % 2 == 0 ? 600 : 0;
	w->paged = dice_key("pages", NULL, s->config.seed) % 8 == 0 && !s->config.plain &&
		   !s->config.rolled && s->config.scenario == NULL;
	bool rolls = s->config.rolled || dice_key("rolls", NULL, s->config.seed) % 4 == 0;
	if (rolls && !s->config.plain && s->config.scenario == NULL) {
		works_weather(s);
	}
}

/* --- spells --- */

static void start_again(void *data, uint64_t index)
{
	struct sim *s = data;
	if (s->slots[index].replica == NULL) {
		sim_trace(s, "r%d starts", (int)index);
		replica_create(s, (int)index);
	}
}

static void pick_up_the_fallen(struct sim *s)
{
	for (int i = 0; i < s->replicas; i++) {
		if (s->slots[i].replica == NULL) {
			agenda_add(&s->agenda, sim_now(s) + sim_between(s, 0, 8000), start_again, s,
				(uint64_t)i);
		}
	}
}

static void controller_spells(struct sim *s)
{
	struct slot *slot = &s->slots[sim_between(s, 0, s->replicas - 1)];
	const struct weather *w = &s->weather;
	if (slot->replica == NULL) {
		return;
	}
	if (dice_falls(s, "partition", w->partition)) {
		slot->link.cut_until = sim_now(s) + sim_between(s, 1000, 40000);
		dice_say(s, "r%d is cut off until %lld", slot->link.replica,
			(long long)slot->link.cut_until);
		sim_trace(s, "r%d is cut off until %lld", slot->link.replica,
			(long long)slot->link.cut_until);
		s->report->faults++;
		if (sim_chance(s, 500)) {
			link_break_streams(&slot->link);
		}
	}
	if (dice_falls(s, "stop", w->pause)) {
		slot->paused_until = sim_now(s) + sim_between(s, 500, 30000);
		dice_say(s, "r%d is stopped until %lld", slot->link.replica,
			(long long)slot->paused_until);
		sim_trace(s, "r%d is stopped until %lld", slot->link.replica,
			(long long)slot->paused_until);
		s->report->faults++;
	}
	if (dice_falls(s, "crash", w->crash)) {
		dice_say(s, "r%d crashes", slot->link.replica);
		sim_trace(s, "r%d crashes", slot->link.replica);
		replica_doom(slot->replica);
	} else if (dice_falls(s, "leave", w->leave)) {
		dice_say(s, "r%d is told to leave", slot->link.replica);
		sim_trace(s, "r%d is told to leave", slot->link.replica);
		replica_leave(slot->replica);
	}
	/* What is measured and planned goes by it: hours would be what such a run is about. */
	int64_t most = w->rolled ? 60000 : 3600000;
	if (dice_falls(s, "clock jump", w->clock_jump)) {
		replica_jump(slot->replica, sim_between(s, -most, most));
	}
}

static void server_spells(struct sim *s)
{
	const struct weather *w = &s->weather;
	if (dice_falls(s, "compaction", w->compaction)) {
		store_compact(&s->store);
		sim_trace(s, "history is compacted up to %lld", (long long)s->store.compacted);
	}
	if (dice_falls(s, "new cache", w->stall / 10)) {
		/* The server's cache is made anew, which is when pictures are slow. */
		sim_trace(s, "every watch ends and its history is gone");
		store_compact(&s->store);
		for (int i = 0; i < s->replicas; i++) {
			link_break_streams(&s->slots[i].link);
		}
	}
	if (dice_falls(s, "server restart", w->server_restart)) {
		s->server_down_until = sim_now(s) + sim_between(s, 500, 10000);
		sim_trace(s, "the API server is down until %lld", (long long)s->server_down_until);
		s->report->faults++;
		for (int i = 0; i < s->replicas; i++) {
			link_break_streams(&s->slots[i].link);
		}
	}
}

static void spells(void *data, uint64_t turn)
{
	struct sim *s = data;
	struct dice back = dice_enter(s, dice_key("spells", NULL, turn));
	pick_up_the_fallen(s);
	if (!s->calm) {
		controller_spells(s);
		server_spells(s);
		agent_spells(s);
		appetite_spells(s);
		works_spells(s);
	}
	dice_leave(s, back);
	agenda_add(&s->agenda, sim_now(s) + SPELL_EVERY_MS, spells, s, turn + 1);
}

void weather_start(struct sim *s)
{
	agenda_add(&s->agenda, sim_now(s) + SPELL_EVERY_MS, spells, s, 0);
}

void weather_calm(struct sim *s)
{
	const struct weather *had = &s->weather;
	s->calm = true;
	s->calm_at = sim_now(s);
	s->weather = (struct weather){.latency_ms = had->latency_ms,
		.mortal = had->mortal,
		.life_ms = had->life_ms,
		.lasting = had->lasting,
		.probed = had->probed,
		.paged = had->paged,
		.rolled = had->rolled};
	works_calm(s);
	s->server_down_until = 0;
	for (int i = 0; i < s->replicas; i++) {
		s->slots[i].paused_until = 0;
		s->slots[i].link.cut_until = 0;
		replica_wake(s->slots[i].replica, sim_now(s));
	}
	fleet_repair(s);
	sim_trace(s, "calm");
}
