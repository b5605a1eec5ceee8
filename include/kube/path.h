/* Request paths: /api/v1/namespaces/a/pods/b/status?fieldManager=... with everything escaped that a
 * name, a selector or a version could smuggle in. */
#ifndef KUBE_PATH_H
#define KUBE_PATH_H

#include <stdbool.h>

#include "base/str.h"

#define KUBE_PATH_MAX 4096

#define KUBE_JSON	     "application/json"
#define KUBE_MERGE_PATCH     "application/merge-patch+json"
#define KUBE_STRATEGIC_PATCH "application/strategic-merge-patch+json"
#define KUBE_APPLY_PATCH     "application/apply-patch+yaml" /* JSON is YAML */

struct kube_path {
	const char *group_version; /* "v1", "events.k8s.io/v1" */
	const char *ns;		   /* NULL or "": cluster-scoped, or all namespaces */
	const char *resource;	   /* "pods" */
	const char *name;	   /* NULL or "": the collection */
	const char *subresource;   /* NULL or "": none */
};

/* A DNS label: what a namespace may be called, and nothing that means more in a path. */
bool kube_is_label(const char *name);
void kube_path_append(struct str *out, const struct kube_path *path);
/* '?' or '&', key, '=', the value escaped. */
void kube_query_append(struct str *out, const char *key, const char *value);

/* Options of writes. */
#define KUBE_DRY_RUN (1u << 0) /* dryRun=All */
#define KUBE_FORCE   (1u << 1) /* force=true, server-side apply only */
void kube_write_query_append(
	struct str *out, unsigned options); /* fieldManager=aliquot and the options */

#endif
