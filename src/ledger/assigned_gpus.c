/* What a tenant was told, GPU by GPU. */
#include "ledger/assigned_gpus.h"

#include <string.h>

struct told told_of(const char *uuids, const char *capacity_pods)
{
	return (struct told){
		view_of(text_or(uuids, "")), view_of(text_or(capacity_pods, "")), "", ""};
}

/* What is too long for a name is nobody's. */
static bool take_next(struct view *rest, char *to, size_t room)
{
	struct view part = {"", 0};
	bool any = rest->n > 0 && view_next(rest, ',', &part);
	size_t n = part.n < room ? part.n : 0;
	memcpy(to, part.p, n);
	to[n] = '\0';
	return any;
}

bool told_next(struct told *t)
{
	bool uuid = take_next(&t->uuids, t->uuid, sizeof t->uuid);
	bool name = take_next(&t->names, t->capacity_pod, sizeof t->capacity_pod);
	return uuid || name;
}
