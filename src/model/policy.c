/* The words of a policy. */
#include "model/policy.h"

#include "base/cleanup.h"
#include "base/str.h"

static const char *const mode_names[] = {"Recommend", "Automate", "Disabled"};

bool policy_mode_parse(const char *text, enum policy_mode *ret_mode)
{
	for (size_t i = 0; i < COUNT_OF(mode_names); i++) {
		if (text_equals(text, mode_names[i])) {
			*ret_mode = (enum policy_mode)i;
			return true;
		}
	}
	return false;
}
