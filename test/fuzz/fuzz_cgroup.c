/* The text of /proc/PID/cgroup: what is found is well formed and stands in the text, and nothing
 * that is added below a path changes whose it is. */
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "node/cgroup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BELOW                                                                                      \
	"/kubepods/podffffffff-ffff-ffff-ffff-ffffffffffff/"                                       \
	"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"

static bool is_hex(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\0' || strchr("0123456789abcdef", p[i]) == NULL) {
			return false;
		}
	}
	return true;
}

static bool is_uid(const char *p)
{
	return strlen(p) == 36 && is_hex(p, 8) && p[8] == '-' && is_hex(p + 9, 4) && p[13] == '-' &&
	       is_hex(p + 14, 4) && p[18] == '-' && is_hex(p + 19, 4) && p[23] == '-' &&
	       is_hex(p + 24, 12);
}

static void check_shape(const struct cgroup_name *name)
{
	ENSURE(is_uid(name->pod) || (strlen(name->pod) == 32 && is_hex(name->pod, 32)));
	size_t n = strlen(name->container);
	ENSURE(n == 0 || (n == 64 && is_hex(name->container, n)));
}

static void check_stands_there(const char *text, size_t n, const struct cgroup_name *name)
{
	size_t id = strlen(name->container);
	/* The first part of a uid stands as it is, whatever the dashes were. */
	ENSURE(memmem(text, n, name->pod, 8) != NULL);
	ENSURE(id == 0 || memmem(text, n, name->container, id) != NULL);
}

/* The same lines with something below each path. */
static struct str deepen(const char *text, size_t n)
{
	struct str deeper = STR_INIT((size_t)64 << 20);
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\n') {
			str_append_text(&deeper, BELOW);
		}
		str_append_char(&deeper, text[i]);
	}
	return deeper;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct cgroup_name name = {{0}, {0}}, again = {{0}, {0}};
	bool found = cgroup_find(text, size, &name);
	if (!found) {
		ENSURE(name.pod[0] == '\0' && name.container[0] == '\0');
		return 0;
	}
	check_shape(&name);
	check_stands_there(text, size, &name);
	/* A path that named nobody does now, and is another's word: one line is enough to see. */
	bool single = memchr(text, '\n', size) == text + size - 1;
	CLEANUP(str_finish) struct str deeper = deepen(text, size);
	if (single && deeper.len <= CGROUP_BYTES_MAX) {
		ENSURE(cgroup_find(str_text(&deeper), deeper.len, &again));
		ENSURE(text_equals(again.pod, name.pod));
		ENSURE(text_equals(again.container, name.container));
	}
	return 0;
}
