/* Paths and queries of the Kubernetes API. */
#include "kube/path.h"

#include "model/names.h"

#define LABEL_MAX 63

bool kube_is_label(const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < n; i++) {
		bool word =
			(name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9');
		bool inner = name[i] == '-' && i > 0 && i + 1 < n;
		if (!word && !inner) {
			return false;
		}
	}
	return n > 0 && n <= LABEL_MAX;
}

static void segment_append(struct str *out, const char *text)
{
	if (!text_empty(text)) {
		str_append_char(out, '/');
		str_append_escaped(out, text);
	}
}

void kube_path_append(struct str *out, const struct kube_path *path)
{
	/* The core group alone has no slash and lives under /api. */
	bool core = strchr(path->group_version, '/') == NULL;
	str_append_format(out, core ? "/api/%s" : "/apis/%s", path->group_version);
	if (!text_empty(path->ns)) {
		str_append_text(out, "/namespaces");
		segment_append(out, path->ns);
	}
	segment_append(out, path->resource);
	segment_append(out, path->name);
	segment_append(out, path->subresource);
}

void kube_query_append(struct str *out, const char *key, const char *value)
{
	str_append_char(out, strchr(str_text(out), '?') == NULL ? '?' : '&');
	str_append_text(out, key);
	str_append_char(out, '=');
	str_append_escaped(out, value);
}

void kube_write_query_append(struct str *out, unsigned options)
{
	kube_query_append(out, "fieldManager", NAME_FIELD_MANAGER);
	if ((options & KUBE_FORCE) != 0) {
		kube_query_append(out, "force", "true");
	}
	if ((options & KUBE_DRY_RUN) != 0) {
		kube_query_append(out, "dryRun", "All");
	}
}
