/* A number in a file. */
#include "ahead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define AHEAD_MAX (INT64_C(400) * 86400 * 1000)

void ahead_look(struct clock *c)
{
	char text[32] = "";
	int64_t ms = 0;
	const char *path = getenv("ALIQUOT_AHEAD");
	FILE *file = path != NULL ? fopen(path, "re") : NULL;
	if (file == NULL) {
		return;
	}
	bool told = fgets(text, sizeof text, file) != NULL;
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	if (told && parse_i64(view_of(text), 0, AHEAD_MAX, &ms)) {
		c->policy_offset_ms = ms;
	}
}
