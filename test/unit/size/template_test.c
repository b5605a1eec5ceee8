/* What a template alone tells of what admission will say of its pods. */
#include <criterion/criterion.h>

#include "model/names.h"
#include "size/admit.h"

struct scene {
	struct container main;
	struct pair label;
	struct pod pod;
};

static void plain(struct scene *s)
{
	(void)s;
}
static void scheduler(struct scene *s)
{
	s->pod.scheduler = "other";
}
static void privileged(struct scene *s)
{
	s->main.privileged = true;
}
static void own_devices(struct scene *s)
{
	s->main.visible_devices = ENV_OTHER;
}
static void gang(struct scene *s)
{
	s->label = (struct pair){"volcano.sh/job-name", "x"};
	s->pod.labels = (struct pairs){&s->label, 1};
}
static void pinned(struct scene *s)
{
	static const char *args[] = {"serve", "--gpu-memory-utilization=0.9"};
	s->main.image = "vllm/vllm-openai:v0.11.0";
	s->main.args = args;
	s->main.arg_count = COUNT_OF(args);
}
static void several(struct scene *s)
{
	s->main.gpus = 2;
}
static void asks_for_all(struct scene *s)
{
	s->label = (struct pair){NOTE_GPU_FRACTION, "1"};
	s->pod.notes = (struct pairs){&s->label, 1};
}
static void asks_oddly(struct scene *s)
{
	s->label = (struct pair){NOTE_GPU_MEMORY, "much"};
	s->pod.notes = (struct pairs){&s->label, 1};
}
static void excluded(struct scene *s)
{
	s->label = (struct pair){NOTE_EXCLUDE, "true"};
	s->pod.notes = (struct pairs){&s->label, 1};
}
static void no_gpu(struct scene *s)
{
	s->main.gpus = 0;
	s->main.privileged = true;
}

/* The last ones are for others to judge: the share, the policy, nobody. */
Test(template, what_is_its_own_is_told)
{
	static const struct {
		void (*change)(struct scene *s);
		enum reason reason;
	} rows[] = {{plain, REASON_NONE}, {scheduler, REASON_SCHEDULER},
		{privileged, REASON_PRIVILEGED}, {own_devices, REASON_OWN_DEVICES},
		{gang, REASON_GANG}, {pinned, REASON_USER_PINNED}, {several, REASON_NONE},
		{asks_for_all, REASON_WHOLE}, {asks_oddly, REASON_BAD_VALUE},
		{excluded, REASON_NONE}, {no_gpu, REASON_NONE}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct explain_facts facts;
		struct scene s = {.main = {.name = "main", .gpus = 1, .image = "web"}};
		s.pod = (struct pod){.ns = "",
			.name = "",
			.uid = "",
			.containers = &s.main,
			.container_count = 1};
		rows[i].change(&s);
		struct admit_input in = {.pod = &s.pod};
		cr_expect_eq(
			admit_template(&in, ISOLATION_NONE, &facts), rows[i].reason, "row %zu", i);
	}
}

/* Behind a wall no framework takes its memory at start, though it could be told. */
Test(template, a_wall_is_another_question)
{
	struct explain_facts facts;
	const char *args[] = {"serve"};
	struct container main = {.name = "main",
		.gpus = 1,
		.image = "vllm/vllm-openai:v0.11.0",
		.args = args,
		.arg_count = 1};
	struct pod pod = {.containers = &main, .container_count = 1};
	struct admit_input in = {.pod = &pod};
	cr_expect_eq(admit_template(&in, ISOLATION_NONE, &facts), REASON_NONE);
	cr_expect_eq(admit_template(&in, ISOLATION_MPS, &facts), REASON_PREALLOCATES);
}

Test(template, the_schedulers_are_those_of_admission)
{
	static const char *const list[] = {"default-scheduler", "other"};
	struct explain_facts facts;
	struct container main = {.name = "main", .gpus = 1};
	struct pod pod = {.scheduler = "other", .containers = &main, .container_count = 1};
	struct admit_input in = {.pod = &pod, .schedulers = list, .scheduler_count = 2};
	cr_expect_eq(admit_template(&in, ISOLATION_NONE, &facts), REASON_NONE);
}
