/* A policy's name, out of an answer of the API server. */
#include "model/refusal.h"

#include <stdio.h>

#include "base/str.h"

/* The name follows, up to the quote or, where the message was cut, its end. */
struct wording {
	const char *before;
	char quote;
	const char *shown; /* before the name */
	const char *said;  /* before the policy's own words */
};

static const struct wording wordings[] = {
	{"admission webhook \"", '"', "", "denied the request: "},
	{"ValidatingAdmissionPolicy '", '\'', "", "denied request: "},
	{"violates PodSecurity \"", '"', "PodSecurity ", "\": "},
};

const char *refusal_words(const char *message)
{
	for (size_t i = 0; i < COUNT_OF(wordings); i++) {
		const struct wording *w = &wordings[i];
		const char *by = message != NULL ? strstr(message, w->before) : NULL;
		const char *said = by != NULL ? strstr(by + strlen(w->before), w->said) : NULL;
		if (said != NULL) {
			return said + strlen(w->said);
		}
	}
	return message;
}

bool refusal_by_policy(const char *message, char ret_name[REFUSAL_NAME_MAX])
{
	ret_name[0] = '\0';
	for (size_t i = 0; i < COUNT_OF(wordings); i++) {
		const struct wording *w = &wordings[i];
		const char *found = message != NULL ? strstr(message, w->before) : NULL;
		if (found == NULL) {
			continue;
		}
		size_t n = (size_t)snprintf(ret_name, REFUSAL_NAME_MAX, "%s", w->shown);
		const char *c = found + strlen(w->before);
		for (; *c != '\0' && *c != w->quote && n < REFUSAL_NAME_MAX - 1; c++) {
			ret_name[n++] = *c > ' ' && *c < 0x7f ? *c : '?';
		}
		ret_name[n] = '\0';
		return true;
	}
	return false;
}

enum reason refusal_reason(const char *message)
{
	char name[REFUSAL_NAME_MAX];
	return refusal_by_policy(message, name) ? REASON_POLICY_REFUSED : REASON_API_REFUSED;
}
