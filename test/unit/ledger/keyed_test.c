/* Records by their key: whatever comes and goes, each is found where it is. */
#include "ledger/keyed.h"

#include <criterion/criterion.h>
#include <stdio.h>

struct named {
	const char *name, *place;
	int number;
};

struct named_list {
	KEYED_FIELDS(struct named);
};

Test(keyed, the_last_takes_the_place_of_one_that_goes)
{
	char names[40][8];
	struct named_list list;
	keyed_init(KEYED(&list), sizeof(struct named), 2);
	for (int i = 0; i < 40; i++) {
		snprintf(names[i], sizeof names[i], "n%d", i / 2);
		struct named made = {names[i], i % 2 == 0 ? "a" : "b", i};
		cr_expect_eq(keyed_find(KEYED(&list), made.name, made.place), NULL);
		cr_expect_eq(((struct named *)keyed_add(KEYED(&list), &made))->number, i);
	}
	keyed_drop(KEYED(&list), 3);
	cr_expect_eq(list.count, 39);
	cr_expect_eq(list.items[3].number, 39);
	cr_expect_eq(keyed_find(KEYED(&list), "n1", "b"), NULL);
	keyed_drop(KEYED(&list), 38);
	for (size_t i = 0; i < list.count; i++) {
		cr_expect_eq(keyed_find(KEYED(&list), list.items[i].name, list.items[i].place),
			&list.items[i]);
	}
	keyed_finish(KEYED(&list));
}

Test(keyed, an_index_is_made_anew)
{
	struct named_list list;
	keyed_init(KEYED(&list), sizeof(struct named), 1);
	VEC_PUSH(&list, ((struct named){"n1", NULL, 1}));
	VEC_PUSH(&list, ((struct named){"n2", NULL, 2}));
	cr_expect(keyed_index(KEYED(&list)));
	cr_expect_eq(keyed_find(KEYED(&list), "n2", NULL), &list.items[1]);
	VEC_PUSH(&list, ((struct named){"n1", NULL, 3}));
	cr_expect_not(keyed_index(KEYED(&list)));
	keyed_finish(KEYED(&list));
	cr_expect_eq(keyed_find(KEYED(&list), "n1", NULL), NULL);
}
