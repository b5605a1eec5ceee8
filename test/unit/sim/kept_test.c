/* From the bytes of a watch to what the world keeps: pods as large as an API server takes them. */
#include <criterion/criterion.h>
#include <malloc.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/rand.h"
#include "base/str.h"
#include "pods/pod_decode.h"
#include "json/slice.h"
#include "codec/meta.h"
#include "model/names.h"
#include "record/change.h"
#include "world/world.h"
#include "../world_check.h"

#define PODS	   100
#define PIECE	   60000 /* of a list of numbered words */
#define KEPT_LIMIT ((size_t)12 << 20)

struct bed {
	struct world *world;
	struct arena arena;
	struct rng rng;
	int pods;
};

static bool take(void *data, struct view type, const char *json, size_t n)
{
	struct bed *b = data;
	struct pod pod;
	struct fault fault;
	(void)type;
	cr_assert_eq(pod_decode(json, n, &b->arena, &pod, &fault), 0, "%s", fault.message);
	struct change c = {.type = CHANGE_SET, .kind = KIND_POD, .pod = &pod};
	cr_assert(change_fits(&c));
	world_apply(b->world, &c);
	arena_reset(&b->arena);
	b->pods++;
	return true;
}

/* Nothing that a good memory for repetitions makes small. */
static void put_word(struct str *out, struct rng *rng, size_t n)
{
	static char letters[8 * PIECE];
	for (size_t i = 0; letters[COUNT_OF(letters) - 1] == '\0' && i < COUNT_OF(letters); i++) {
		letters[i] = (char)('a' + rng_below(rng, 26));
	}
	str_append(out, letters + rng_below(rng, COUNT_OF(letters) - n), n);
}

/* {"PREFIXnumber":"word",…} */
static void put_pairs(struct str *out, struct rng *rng, const char *prefix, size_t bytes)
{
	str_append_char(out, '{');
	size_t end = out->len + bytes;
	for (int i = 0; out->len < end; i++) {
		str_append_format(out, "%s\"%s%d\":\"", i > 0 ? "," : "", prefix, i);
		put_word(out, rng, 63);
		str_append_char(out, '"');
	}
	str_append_char(out, '}');
}

static void put_tolerations(struct str *out, struct rng *rng, int count, size_t length)
{
	for (int i = 0; i < count; i++) {
		str_append_text(out, i > 0 ? ",{\"key\":\"" : "{\"key\":\"");
		put_word(out, rng, length);
		str_append_text(out, "\"}");
	}
}

static void put_terms(struct str *out, struct rng *rng)
{
	str_append_text(out,
		"{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
		"\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"k\","
		"\"operator\":\"In\",\"values\":[\"");
	put_word(out, rng, 4 * PIECE);
	str_append_text(out, "\"]}]}]}}}");
}

static void put_claims(struct str *out, struct rng *rng)
{
	for (int i = 0; i < 32; i++) {
		str_append_format(out,
			"%s{\"name\":\"v%d\",\"persistentVolumeClaim\":{\"claimName\":\"",
			i > 0 ? "," : "", i);
		put_word(out, rng, 253);
		str_append_text(out, "\"}}");
	}
}

/* About 1.2 MB, gated by us, everything as large as it may be. */
static void put_pod(struct str *out, struct rng *rng, int number)
{
	str_append_format(out,
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"namespace\":\"team\",\"name\":\"p%"
		"d\","
		"\"uid\":\"uid-%d\",\"labels\":",
		number, number);
	put_pairs(out, rng, "l", 5 * PIECE);
	str_append_text(out, ",\"annotations\":");
	put_pairs(out, rng, NAME_PREFIX "n", 4 * PIECE);
	str_append_text(out, "},\"spec\":{\"schedulingGates\":[{\"name\":\"" NAME_GATE "\"}],"
			     "\"schedulerName\":\"");
	put_word(out, rng, 2 * PIECE);
	str_append_text(out, "\",\"tolerations\":[");
	/* Half of them few and long, half of them too many. */
	put_tolerations(out, rng, number % 2 == 0 ? 8 : 600, number % 2 == 0 ? PIECE / 2 : 60);
	str_append_text(out, "],\"affinity\":");
	put_terms(out, rng);
	str_append_text(out, ",\"volumes\":[");
	put_claims(out, rng);
	str_append_text(out, "],\"containers\":[{\"name\":\"main\",\"image\":\"");
	put_word(out, rng, 2 * PIECE);
	str_append_text(out, "\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}}\n");
}

static void tell_large(struct bed *b, int count)
{
	static const struct slice_events events = {take, NULL};
	CLEANUP(str_finish) struct str text = STR_INIT(4 << 20);
	struct fault fault;
	for (int i = 0; i < count; i++) {
		struct slice s;
		str_reset(&text);
		put_pod(&text, &b->rng, i);
		cr_assert_not(text.overflow);
		slice_init(&s, SLICE_WATCH, meta_projection(&pod_shape), &events, b);
		cr_assert_eq(
			slice_push(&s, str_text(&text), text.len, &fault), 0, "%s", fault.message);
		slice_finish(&s);
	}
}

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

Test(kept, a_hundred_pods_of_more_than_a_megabyte_take_little)
{
	struct bed b = {.world = world_create()};
	rng_seed(&b.rng, 7);
	tell_large(&b, 1);
	arena_finish(&b.arena);
	size_t before = in_use();
	tell_large(&b, PODS);
	arena_finish(&b.arena);
	size_t after = in_use();
	cr_assert_eq(b.pods, 1 + PODS);
	cr_expect_lt(after - before, KEPT_LIMIT, "%zu bytes for %d pods", after - before, PODS);
	cr_expect_eq(world_cut_count(b.world), PODS);
	cr_expect_null(world_check(b.world));
	/* They are there, and told apart from what can be placed. */
	struct pod pod;
	for (int i = 0; i < 2; i++) {
		char name[8];
		snprintf(name, sizeof name, "p%d", i);
		const struct world_pod *p = world_pod_find(b.world, "team", name);
		cr_assert(world_pod_unpack(p, &b.arena, &pod));
		cr_expect(pod_has_gate(&pod, NAME_GATE));
		cr_expect(pod.too_complex);
		cr_expect_eq(p->gpu->class, WORLD_TENANT);
	}
	arena_finish(&b.arena);
	world_destroy(b.world);
}
