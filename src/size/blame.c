/* Whose an out-of-memory is: the victim's own, or that of tenants over their share. */
#include "size/blame.h"

#include "base/number.h"

#define SHORT_MIB     512
#define SHORT_PERCENT 2

int64_t blame_tolerance(int64_t share_mib)
{
	return larger_of(BLAME_TOLERANCE_MIB, share_mib / 100 * BLAME_TOLERANCE_PERCENT);
}

int64_t blame_excess(const struct blame_user *u)
{
	if (u->used_mib < 0 || u->share_mib < 0) {
		return 0;
	}
	int64_t over = u->used_mib - u->share_mib;
	return over > blame_tolerance(u->share_mib) ? over : 0;
}

enum blame blame_out_of_memory(const struct blame_user *users, uint32_t count, uint32_t victim)
{
	bool known = true;
	for (uint32_t i = 0; i < count; i++) {
		if (i == victim) {
			continue;
		}
		if (blame_excess(&users[i]) > 0) {
			return BLAME_OTHERS;
		}
		known = known && users[i].used_mib >= 0 && users[i].share_mib >= 0;
	}
	return known ? BLAME_OWN : BLAME_UNKNOWN;
}

bool blame_charges(enum blame verdict, const struct blame_user *user, bool is_victim)
{
	switch (verdict) {
	case BLAME_OWN:
		return is_victim;
	case BLAME_OTHERS:
		return blame_excess(user) > 0;
	case BLAME_UNKNOWN:
		break;
	}
	return false;
}

bool blame_is_short(int64_t total_mib, int64_t used_mib)
{
	if (total_mib <= 0 || used_mib < 0) {
		return false;
	}
	return total_mib - used_mib < larger_of(SHORT_MIB, total_mib / 100 * SHORT_PERCENT);
}
