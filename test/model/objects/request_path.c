/* The path and the query of a request, taken apart again. */
#include "request_path.h"

#include <string.h>

static bool copy_segment(char *to, size_t room, struct view v)
{
	if (v.n >= room) {
		return false;
	}
	memcpy(to, v.p, v.n);
	to[v.n] = '\0';
	return true;
}

static bool next_segment(struct view *rest, char *to, size_t room)
{
	struct view part;
	to[0] = '\0';
	return !view_next(rest, '/', &part) || copy_segment(to, room, part);
}

bool api_path_parse(const char *path, struct api_path *ret_path)
{
	struct api_path p = {.query = strchr(path, '?')};
	struct view rest = {
		path + 1, p.query != NULL ? (size_t)(p.query - path - 1) : strlen(path) - 1};
	char word[128];
	p.query = p.query != NULL ? p.query + 1 : "";
	if (!next_segment(&rest, word, sizeof word)) {
		return false;
	}
	if (strcmp(word, "apis") == 0 && !next_segment(&rest, p.group, sizeof p.group)) {
		return false;
	}
	/* the version */
	if (!next_segment(&rest, word, sizeof word) ||
		!next_segment(&rest, p.resource, sizeof p.resource)) {
		return false;
	}
	if (strcmp(p.resource, "namespaces") == 0 && rest.n > 0) {
		if (!next_segment(&rest, p.ns, sizeof p.ns) ||
			!next_segment(&rest, p.resource, sizeof p.resource)) {
			return false;
		}
	}
	*ret_path = p;
	return next_segment(&rest, ret_path->name, sizeof p.name) &&
	       next_segment(&rest, ret_path->sub, sizeof p.sub);
}

bool api_query(const char *query, const char *key, char *value, size_t room)
{
	struct view rest = view_of(query), pair;
	size_t n = strlen(key);
	while (view_next(&rest, '&', &pair)) {
		if (pair.n > n && memcmp(pair.p, key, n) == 0 && pair.p[n] == '=') {
			return copy_segment(
				value, room, (struct view){pair.p + n + 1, pair.n - n - 1});
		}
	}
	return false;
}

bool api_resource(const struct api_path *p, enum resource *ret_resource)
{
	for (int r = 0; r < RES_COUNT; r++) {
		if (strcmp(resource_name((enum resource)r), p->resource) == 0) {
			*ret_resource = (enum resource)r;
			return true;
		}
	}
	return false;
}
