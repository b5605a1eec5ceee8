/* C26. How a container that asks for no device is given one by name. There are three forms, and
 * which of them a node honours is tried, not assumed: a probe names a GPU in one form and tells
 * what it sees. What was tried, and on what machine, is a claim; a claim is proven when exactly the
 * GPU that it names was seen. The table of forms is in model/injection.c and nowhere else. */
#ifndef MODEL_INJECTION_H
#define MODEL_INJECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"
#include "model/labels.h"

enum inject_form {
	INJECT_ENV, /* NVIDIA_VISIBLE_DEVICES has the UUID */
	INJECT_CDI, /* it has a CDI name, for a runtime that makes the specification itself */
	INJECT_NRI, /* an annotation has a CDI name, for NVIDIA's NRI plugin; the variable is void
		     */
	INJECT_FORMS,
};

const char *inject_form_name(enum inject_form form); /* "env", "cdi", "nri" */
bool inject_form_parse(struct view name, enum inject_form *ret_form);
/* Appends the value of NVIDIA_VISIBLE_DEVICES for these UUIDs, joined by commas. */
void inject_write_value(struct str *out, enum inject_form form, const char *uuids);
/* The same of the annotation of the container; false, and nothing: the form has none. */
bool inject_write_note(struct str *out, enum inject_form form, const char *uuids);
/* A container with a longer name can have none: "container." stands before it in the key, of which
 * the API server takes 63 characters. */
#define INJECT_NOTED_NAME_MAX 53

/* What else is proven of the same machine: the form under another RuntimeClass. */
#define INJECT_CLASSES_MAX 8
struct inject_class {
	const char *class;
	enum inject_form form;
};

/* A RuntimeClass under which no container of a node gets a GPU. */
struct inject_void {
	const char *class; /* borrowed; "": none */
	const struct inject_void *next;
};

/* What was tried, and on what. What is not known is "". All text is borrowed. */
struct inject_claim {
	enum inject_form form;
	const char *node, *uuid;
	const char *driver;		   /* of the GPU */
	const char *boot;		   /* the node's boot id */
	const char *runtime;		   /* name and version of its container runtime */
	const char *class;		   /* RuntimeClass of the pod that tried */
	const struct inject_class *others; /* borrowed; of other classes, on capacity pods only */
	uint32_t other_count;
};

/* What they say of other classes aside. */
bool inject_claim_equals(const struct inject_claim *a, const struct inject_claim *b);

/* What a probe saw: so many devices, and which if it was one. */
#define INJECT_DEVICES_MAX 1024
struct inject_sight {
	int64_t devices;
	const char *uuid; /* of the only one; "" */
};

/* Exactly the one GPU, and no other. */
bool inject_is_proven(const struct inject_claim *claim, const struct inject_sight *sight);

/* What keeps a form from being the one. */
enum inject_doubt {
	DOUBT_NONE,
	DOUBT_SEES_NONE,   /* the container has no GPU */
	DOUBT_SEES_OTHERS, /* it has another one, or more */
	DOUBT_REFUSED,	   /* it was not started, or ended without a word */
	DOUBT_SILENT,	   /* it has told nothing for too long */
	DOUBTS,
};

/* What an admin says: rules separated by commas, `WAY` or `LABEL=VALUE:WAY`, the first that matches
 * a node counts. A way is a form, which is then taken at the admin's word, or `probe`. */
#define INJECT_RULES_MAX 32
#define INJECT_BY_PROBE	 INJECT_FORMS

struct inject_rule {
	const char *key, *value; /* NULL: every node */
	int way;		 /* a form, or INJECT_BY_PROBE */
};

struct inject_rules {
	struct inject_rule items[INJECT_RULES_MAX];
	uint32_t count;
};

/* Texts go into the arena. A node that no rule matches is probed. */
MUST_CHECK int inject_rules_parse(const char *text, struct arena *arena,
	struct inject_rules *ret_rules, struct fault *ret_fault);
int inject_rules_way(const struct inject_rules *rules, const struct pairs *labels);
/* Some node may be one whose containers need an annotation. */
bool inject_rules_may_note(const struct inject_rules *rules);

#endif
