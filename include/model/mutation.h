/* What the webhook does to a pod that becomes a tenant, as a value: size decides it, codec turns it into
 * a JSON patch, a simulated API server may apply it to its own pods. All text is borrowed. */
#ifndef MODEL_MUTATION_H
#define MODEL_MUTATION_H

#include <stdbool.h>
#include <stdint.h>

enum env_rule {
	ENV_RULE_SET,     /* replaced where it stands, else appended; doubles go */
	ENV_RULE_REPLACE, /* replaced where it stands, never appended */
	ENV_RULE_DEFAULT, /* appended where the container has none */
	ENV_RULE_DROP,    /* every variable whose name begins like this goes */
};

/* One row; the first row that fits a variable's name counts. */
struct env_edit {
	const char *name;
	enum env_rule rule;
	const char *value; /* a literal, or */
	const char *note;  /* the annotation that the container reads through fieldRef */
};

struct mutation {
	const char *container; /* the one that had the GPUs: its requests and limits lose them */
	int64_t milli;         /* annotation `share`; 0: follows from the memory, no annotation */
	int64_t mem_mib;       /* annotation `memory`; 0: follows from the share, no annotation */
	const char *policy_applied; /* NAME@GENERATION */
	const char *recommendation; /* NAME@REVISION; NULL: by a person's annotation alone */
	const char *runtime_class;  /* set if the pod names none; NULL: left alone */
	const struct env_edit *env; /* of that container */
	uint32_t env_count;
	const struct env_edit *other_env; /* of every other container, init ones too */
	uint32_t other_env_count;
};

#endif
