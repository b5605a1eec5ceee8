/* "3 GPUs lack memory, 1 is not healthy": what the GPUs lack that the sentence is not about. */
#include "explain_parts.h"

static const struct {
	const char *one, *many;
	enum reason reason; /* that says so already */
} lacks[LACK_COUNT] = {
	[LACK_MEMORY] = {"lacks memory", "lack memory", REASON_SHORT_MEMORY},
	[LACK_COMPUTE] = {"lacks compute", "lack compute", REASON_SHORT_COMPUTE},
	[LACK_TENANTS] = {"has as many tenants as it may", "have as many tenants as they may",
		REASON_MAX_TENANTS},
	[LACK_COMPANY] = {"has tenants that it may not join", "have tenants that it may not join",
		REASON_EXCLUSIVE},
	[LACK_HEALTH] = {"is not healthy", "are not healthy", REASON_NONE},
	[LACK_USE] = {"is out of use", "are out of use", REASON_NONE},
	[LACK_KEPT] = {"is kept for a pod before it", "are kept for pods before it", REASON_NONE},
};

bool explain_lacks(struct str *out, enum reason reason, const struct lack_tally *t)
{
	bool told = false;
	for (int i = 0; t != NULL && i < LACK_COUNT; i++) {
		uint32_t n = t->by[i];
		if (n == 0 || lacks[i].reason == reason) {
			continue;
		}
		const char *gpus = told ? "" : n == 1 ? " GPU" : " GPUs";
		str_append_format(out, "%s%u%s %s", told ? ", " : "", n, gpus,
			n == 1 ? lacks[i].one : lacks[i].many);
		told = true;
	}
	return told;
}
