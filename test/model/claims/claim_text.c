/* Reads the sentences back. They are made for people; what the checker needs of them stands in few
 * fixed turns of phrase. */
#include "claim_text.h"

#include <stdio.h>
#include <string.h>

#include "claim_lack.h"
#include "objects/facts.h"
#include "objects/sim_parts.h"

/* "0.25 GPU", "8Gi GPU memory"; moves past it. */
static bool read_told_amount(const char **at, struct amount_told *a)
{
	size_t n = strcspn(*at, " ");
	struct view number = {*at, n};
	const char *rest = *at + n;
	bool memory = strncmp(rest, " GPU memory", 11) == 0;
	if (!memory && strncmp(rest, " GPU", 4) != 0) {
		return false;
	}
	*at = rest + (memory ? 11 : 4);
	int64_t amount = 0;
	if (!facts_amount(number, &amount)) {
		return false;
	}
	*(memory ? &a->mib : &a->milli) = memory ? amount / 1000 / (1 << 20) : amount;
	return true;
}

bool claim_wants(const char *message, struct amount_told *ret_wanted)
{
	struct amount_told a = {0};
	const char *at = strstr(message, "needs ");
	if (at == NULL) {
		return false;
	}
	at += strlen("needs ");
	if (!read_told_amount(&at, &a)) {
		return false;
	}
	if (strncmp(at, " and ", 5) == 0) {
		at += 5;
		if (!read_told_amount(&at, &a)) {
			return false;
		}
	}
	*ret_wanted = a;
	return true;
}

bool claim_best(const char *message, struct amount_told *ret_free, char *node, size_t room)
{
	static const char start[] = "the best GPU has ", on[] = " free on ";
	struct amount_told a = {0};
	const char *at = strstr(message, start);
	if (at == NULL) {
		return false;
	}
	at += strlen(start);
	if (!read_told_amount(&at, &a) || strncmp(at, on, strlen(on)) != 0) {
		return false;
	}
	at += strlen(on);
	snprintf(node, room, "%.*s", (int)strcspn(at, ",; "), at);
	*ret_free = a;
	return true;
}

int64_t claim_nodes(const char *message, const char *one, const char *many)
{
	message = claim_past_gpus(message);
	const char *at = strstr(message, one);
	at = at != NULL ? at : strstr(message, many);
	if (at == NULL) {
		return -1;
	}
	/* "3 nodes lack CPU, 2 are cordoned" */
	const char *begin = at;
	while (begin > message && (begin[-1] == ' ' || (begin[-1] >= 'a' && begin[-1] <= 'z'))) {
		begin--;
	}
	while (begin > message && begin[-1] >= '0' && begin[-1] <= '9') {
		begin--;
	}
	struct view number = {begin, strspn(begin, "0123456789")};
	int64_t n = -1;
	return parse_i64(number, 0, 1000000, &n) ? n : -1;
}

bool claim_quota(const char *message, char *name, size_t room, int64_t *ret_allowed_milli,
	int64_t *ret_taken_milli)
{
	static const char has[] = " has left: ", allows[] = " allows ", of_it[] = " of it taken";
	struct amount_told allowed = {0}, taken = {0};
	const char *at = strstr(message, has);
	const char *end = at != NULL ? strstr(at, allows) : NULL;
	if (end == NULL) {
		return false;
	}
	at += strlen(has);
	snprintf(name, room, "%.*s", (int)(end - at), at);
	at = end + strlen(allows);
	if (!read_told_amount(&at, &allowed) || strncmp(at, ", ", 2) != 0) {
		return false;
	}
	at += 2;
	if (!read_told_amount(&at, &taken) || strncmp(at, of_it, strlen(of_it)) != 0) {
		return false;
	}
	*ret_allowed_milli = allowed.milli;
	*ret_taken_milli = taken.milli;
	return true;
}
