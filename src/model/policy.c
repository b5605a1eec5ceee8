/* The words of a policy. */
#include "model/policy.h"

#include "base/cleanup.h"
#include "base/str.h"

static const char *const mode_names[] = {"Recommend", "Automate", "Disabled"};

bool policy_mode_parse(const char *text, enum policy_mode *ret_mode)
{
	size_t i = texts_find(mode_names, COUNT_OF(mode_names), text);
	*ret_mode = i < COUNT_OF(mode_names) ? (enum policy_mode)i : *ret_mode;
	return i < COUNT_OF(mode_names);
}
