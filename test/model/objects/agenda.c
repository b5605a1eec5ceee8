/* A binary heap ordered by time, then by the order of arrival. */
#include "agenda.h"

static bool item_is_before(const struct agenda_item *a, const struct agenda_item *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void swap_items(struct agenda_item *a, struct agenda_item *b)
{
	struct agenda_item keep = *a;
	*a = *b;
	*b = keep;
}

void agenda_add(struct agenda *a, int64_t at, agenda_run run, void *data, uint64_t arg)
{
	struct agenda_item item = {at > a->now ? at : a->now, a->order++, run, data, arg};
	VEC_PUSH(&a->heap, item);
	size_t i = a->heap.count - 1;
	while (i > 0 && item_is_before(&a->heap.items[i], &a->heap.items[(i - 1) / 2])) {
		swap_items(&a->heap.items[i], &a->heap.items[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
}

static struct agenda_item agenda_take_first(struct agenda *a)
{
	struct agenda_item first = a->heap.items[0];
	a->heap.items[0] = a->heap.items[--a->heap.count];
	size_t i = 0;
	for (;;) {
		size_t least = i;
		for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++) {
			if (child < a->heap.count &&
				item_is_before(&a->heap.items[child], &a->heap.items[least])) {
				least = child;
			}
		}
		if (least == i) {
			return first;
		}
		swap_items(&a->heap.items[i], &a->heap.items[least]);
		i = least;
	}
}

bool agenda_step(struct agenda *a, int64_t until)
{
	if (a->heap.count == 0 || a->heap.items[0].at > until) {
		return false;
	}
	struct agenda_item item = agenda_take_first(a);
	a->now = item.at;
	a->done++;
	item.run(item.data, item.arg);
	return true;
}

void agenda_finish(struct agenda *a)
{
	VEC_FINISH(&a->heap);
}
