/* Sentences. One row a reason: a template whose {words} are filled from the facts. A part between [
 * and ] is left out where one of its words is not known. What pods are told is here, to be
 * read and corrected in one place; GPURecommendations are told by src/sizer. */
#include "size/explain.h"

#include "explain_fit.h"
#include "model/quantity.h"

/* Text from outside is shown, never more of it than helps. */
#define QUOTE_MAX 80

/* Ends the sentence of a pod for which an autoscaler was asked for a node. */
#define FOR_A_NODE                                                                                 \
	"[; a pod that stands in for it waits for a node since {asked} s]"                         \
	"[; the admission policy {refuser} refuses the pod that would ask for one more node]"
/* Ends that of one that was changed before it was switched off: by itself it never becomes whole.
 */
#define ON_WAITING "[; it waits since {waited} s, and is whole once it is deleted and made anew]"

static const char *const templates[REASON_COUNT] = {
	[REASON_NONE] = "nothing to say",
	[REASON_NO_GPU] = "left as it is: no container asks for " NAME_GPU_RESOURCE,
	[REASON_NO_RECOMMENDATION] =
		"left whole: there is no recommendation for this workload yet; ask for a share now "
		"with the annotation " NOTE_GPU_FRACTION,
	[REASON_NOT_AUTOMATED] =
		"left whole: [policy {name} ]only recommends; set mode Automate to act on it",
	[REASON_NEVER_SIZED] = "left whole: strategy Never for pods of its kind[, policy {name}]",
	[REASON_DISABLED] = "gets no share: mode Disabled[, policy {name}]" ON_WAITING,
	[REASON_EXCLUDED] = "gets no share: excluded by the annotation " NOTE_EXCLUDE
			    " of the pod or by its namespace's default" ON_WAITING,
	[REASON_POLICY_NOT_FOUND] = "gets no share: GPUPolicy[ {name}] does not exist, and no "
				    "other one stands in for it",
	[REASON_OWNER_UNKNOWN] = "left whole: the owner of the pod is not known",
	[REASON_BARE_POD] = "left whole: the pod has no controller, and only its own annotation "
			    "gpu-fraction or gpu-memory asks for a share then",
	[REASON_SCHEDULER] = "left whole: scheduler[ {name}] is not one that we leave placing to",
	[REASON_NODE_NAME] = "left whole: the pod names its node[ {name}] itself",
	[REASON_STATIC_POD] = "left whole: a static pod belongs to its kubelet",
	[REASON_GANG] = "left whole: the pod is part of a group that starts together[ ({name})]",
	[REASON_QUEUE] = "left whole: a queue counts what the pod asks for[ ({name})]",
	[REASON_RANK] = "left whole: a rank of a parallel job[ ({name})] shares no GPU with others",
	[REASON_DECLARED] = "left whole: its manifest is applied again[, as {name} tells]",
	[REASON_PRIVILEGED] = "left whole: container[ {name}] is privileged and sees every GPU",
	[REASON_OWN_DEVICES] =
		"left whole: [{name} ]chooses devices by itself; remove NVIDIA_VISIBLE_DEVICES or "
		"the device annotation to get a share",
	[REASON_GPU_INIT_CONTAINER] = "left whole: init container[ {name}] asks for a GPU",
	[REASON_SEVERAL_GPU_CONTAINERS] =
		"left whole: more than one container asks for a GPU[, {name} too]",
	[REASON_MIG] = "left whole: [container {name} ]asks for a MIG device",
	[REASON_RESOURCE_CLAIMS] = "left whole: [container {name} ]uses resource claims",
	[REASON_PREALLOCATES] =
		"left whole: [{name} ]takes a GPU's memory at start whatever its share is, and "
		"nothing here would stop it, for it cannot be told its share",
	[REASON_USER_PINNED] =
		"left whole: the pod sets[ {name},] how much GPU memory[ {expected}] takes at "
		"start; without it Aliquot tells the share",
	[REASON_LIMIT_RANGE] =
		"left whole: a LimitRange of the namespace sets bounds for " NAME_GPU_RESOURCE,
	[REASON_BAD_VALUE] = "left whole: an annotation cannot be read[, {name}: {value}]"
			     "[; write {expected}]",
	[REASON_COUNT_MISMATCH] =
		"left whole: " NOTE_GPU_COUNT
		"[ is {limit} and] must equal the pod's " NAME_GPU_RESOURCE "[, {count}]",
	[REASON_MULTI_GPU] =
		"left whole: a share of[ {count}] GPUs at once is not possible[, {limit} at most]",
	[REASON_WHOLE] = "left whole: the share is a whole GPU",
	[REASON_CONTROLLER_AWAY] = "left whole: no controller is there to place it",
	[REASON_BACKLOG] = "left whole: other pods have waited too long for their share",
	[REASON_CONVERTED_REFUSED] = "left whole: something of the cluster does not let in what "
				     "Aliquot makes of such pods",
	[REASON_NOT_SYNCED] = "left whole: the cluster is not fully known here yet",
	[REASON_CONVERTED] = "gets a share[ of {want}]",
	[REASON_NOT_OURS] = "carries our gate, but " NOTE_ORIGINAL
			    " is missing or unreadable; delete the pod and create it anew",
	[REASON_OTHER_GATES] = "waits for another scheduling gate[, {name}]",
	[REASON_NO_GPU_NODE] =
		"needs[ {want}], no node has a GPU that may be used[; {count} nodes looked at]"
		"[: {nodes}]" FOR_A_NODE,
	[REASON_SHORT_COMPUTE] =
		"short of compute[: needs {want}]"
		"[, the best GPU has {best} free][ on {node}][; {lacks}][; {nodes}]" FOR_A_NODE,
	[REASON_SHORT_MEMORY] =
		"short of GPU memory[: needs {want}]"
		"[, the best GPU has {best} free][ on {node}][; {lacks}][; {nodes}]" FOR_A_NODE,
	[REASON_MAX_TENANTS] = "needs[ {want}], the GPUs with room have their[ {limit}] tenants"
			       "[ already, the first on {node}][; {lacks}][; {nodes}]" FOR_A_NODE,
	[REASON_NODE_UNFIT] = "needs[ {want}], the nodes with a free share do not fit the pod"
			      "[: {nodes}]" FOR_A_NODE,
	[REASON_NO_SCALE_UP] =
		"needs[ {want}], and no node that serves it has come although one was asked for"
		"[ for {asked} s][; {lacks}][; {nodes}]",
	[REASON_RUNTIME_CLASS] = "needs[ {want}], but the RuntimeClass of capacity pods rules out "
				 "the nodes[: {nodes}]" FOR_A_NODE,
	[REASON_OTHER_SHARING] =
		"needs[ {want}], but somebody else gives out the GPUs of the nodes "
		"that are left[: {nodes}]",
	[REASON_GPU_UNHEALTHY] = "needs[ {want}], but the GPU that has most free is not healthy"
				 "[, on {node}][; {lacks}][; {nodes}]",
	[REASON_REACQUIRING] = "needs[ {want}], the GPU that has most free is held while one that "
			       "lost its capacity pod is looked for[, on {node}][; {lacks}]"
			       "[; {nodes}]",
	[REASON_MPS_HELD_OFF] =
		"needs[ {want}], but the GPU that has most free takes no new client of MPS"
		"[: {value}][, on {node}][; {lacks}][; {nodes}]",
	[REASON_READING_VOLUMES] = "where its volumes are is being read",
	[REASON_VOLUME_NOT_READY] = "waits for a volume[: {claim}]",
	[REASON_WAITING_FOR_CAPACITY] =
		"needs[ {want}], a GPU is being opened for it[ on {node}][ since {waited} s]",
	[REASON_GRANTING] = "is being given[ {want}][ on {node}]",
	[REASON_PLACED] = "is placed[ with {want}][ on each of {count}][ on {gpu}][ of node {node}]"
			  "[; {value}][; left to the scheduler: {left}]",
	[REASON_CAPACITY_FAILED] = "needs[ {want}], but capacity pods do not come up[ on {node}]"
				   "[: {value}][; next try in {next} s]",
	[REASON_NO_INJECTION] =
		"needs[ {want}], but no container[ of RuntimeClass {name}] gets a GPU by its name"
		"[ on {node}]"
		"[: {value}][; next try in {next} s]",
	[REASON_PROVING] =
		"needs[ {want}], and how a container[ of RuntimeClass {name}] gets a GPU "
		"by its name is being tried[ on {node}][: {value}]",
	[REASON_PROBE_ENDED] =
		"needs[ {want}], but each probe of a container[ of RuntimeClass {name}] with a GPU "
		"is ended[ on {node}][, {limit} in a row][: {value}][; next try in {next} s]",
	[REASON_STARTS_IN_TURN] =
		"has its share, and starts once[ {name}] on the same GPU is Ready, for both look "
		"at their start how much memory is free[; at the latest in {next} s]",
	[REASON_API_REFUSED] =
		"the API server refused our write[: {value}][; next try in {next} s]",
	[REASON_POLICY_REFUSED] =
		"needs[ {want}], but the admission policy[ {name}] refuses what Aliquot writes for "
		"that[: {value}][; next try in {next} s]",
	[REASON_TOO_COMPLEX] = "has more node selectors, affinity terms, their values, tolerations "
			       "and gates than are looked at, 256 in all before it is created, or "
			       "more than 32 resources, 128 host ports or 32 volume claims, "
			       "or says more than is kept of a pod or of a namespace",
	[REASON_BAD_AMOUNT] =
		"left as it is:[ container {name}:] limits of " NAME_GPU_RESOURCE
		" must be set to a whole number, and requests to the same one or not at all",
	[REASON_LARGER_THAN_ANY_GPU] = "needs[ {want}], no GPU that it may use is so large[: the "
				       "largest has {best}][, on {node}]",
	[REASON_SHORT_GPUS] = "short of GPUs[: needs {want}][ on each of {count}] of one node"
			      "[, {node} has room on {limit}][; {lacks}][; {nodes}]" FOR_A_NODE,
	[REASON_EXCLUSIVE] = "needs[ {want}][ with {name}], the GPUs with room have tenants[ with "
			     "{value}][, the first on {node}][; {lacks}][; {nodes}]",
	/* test/model/claims/claim_text.c reads this one back. */
	[REASON_QUOTA] = "needs[ {want}][ on each of {count}], more than a ResourceQuota of the "
			 "namespace has left"
			 "[: {name} allows {allowed}][, {used} of it taken]",
	[REASON_QUOTA_ZERO] =
		"left whole: ResourceQuota[ {name}] allows no " NAME_GPU_RESOURCE " at all",
	[REASON_NO_SHARE_NODE] =
		"left whole: of the nodes that it may use none could give it a share[: {nodes}]",
	[REASON_NEIGHBOURS] =
		"left whole: its required pod affinity or topology spread may be about "
		"pods without a GPU, or has a form that is not judged here",
	[REASON_RECYCLED] =
		"evicted so that its owner makes another one: the scheduler has not bound it[ to "
		"{node}] since it was placed there[, for {waited} s]",
	[REASON_NODE_LEAVES] = "evicted, as far as its disruption budgets allow: [{node} ]is "
			       "taken out of service[ ({value})]",
	[REASON_PREEMPTED] = "evicted, as far as its disruption budgets allow: [{name} needs "
			     "its share, ]has a higher priority[, {limit},] and fits nowhere else",
	[REASON_CAPACITY_LOST] = "evicted, as far as its disruption budgets allow: nobody holds "
				 "its GPU[ {gpu}] any more",
	[REASON_MEMORY_OVERUSE] =
		"evicted, as far as its disruption budgets allow: it uses[ on GPU {gpu} {value}]"
		"[, and {name}]",
	[REASON_GIVEN_BACK] =
		"evicted, as no GPU could be given to it as a share, and the pod would "
		"have one whole: the next one is left whole",
	[REASON_RIGHTSIZED] = "evicted, as far as its disruption budgets allow, so that the next "
			      "pod gets the new share",
	[REASON_WITHIN_SHARE] = "uses no more GPU memory than its share any longer",
	[REASON_CONTENTION] = "a GPU had no memory left for it because of others",
	[REASON_NO_CONTENTION] = "has not been short of GPU memory through others for a while",
	[REASON_PINNED_UNSCHEDULABLE] =
		"has[ {want}][ on node {node}] and keeps it, but the scheduler does not bind it "
		"there[, for {waited} s]; PodScheduled says why[; the Job {name} would count an "
		"eviction as a failure]; delete the pod to have it placed anew",
	[REASON_WHOLE_POD_FIRST] =
		"needs[ {want}], what is left[ on {node}] is kept for a pod that asks for whole "
		"GPUs and comes first[: {name}]",
	[REASON_RESERVED] =
		"needs[ {want}], what is left on the GPU[ of {node}] is kept for a pod that comes "
		"first and has waited too long[: {name}]",
	[REASON_LONG_NAME] =
		"left whole: [container {name} ]has a name too long for the annotation "
		"by which some nodes give a container its GPU[, {limit} characters at "
		"most]",
	[REASON_TOO_LARGE] =
		"left whole: the pod, or what would have to be written on it, is too large",
};

/* Whole characters only: a cut in the middle of one would not be UTF-8 any more. */
static size_t cut_at(const char *text, size_t max)
{
	size_t n = strlen(text);
	if (n <= max) {
		return n;
	}
	n = max;
	while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) {
		n--;
	}
	return n;
}

/* Control characters are written out: the API server drops a warning that holds one, and a sentence
 * is one line. Returns how many bytes of the text were taken, 0 where they are no control
 * character.
 */
static size_t put_control(struct str *out, const char *text)
{
	unsigned char c = (unsigned char)text[0], next = (unsigned char)text[1];
	static const char names[] = "tn\0\0r";
	if (c >= '\t' && c <= '\r' && names[c - '\t'] != '\0') {
		str_append_format(out, "\\%c", names[c - '\t']);
		return 1;
	}
	if (c < 0x20 || c == 0x7f) {
		str_append_format(out, "\\u%04x", c);
		return 1;
	}
	/* U+0080 to U+009F */
	if (c == 0xC2 && next >= 0x80 && next < 0xA0) {
		str_append_format(out, "\\u%04x", next);
		return 2;
	}
	return 0;
}

bool explain_text(struct str *out, const char *text)
{
	if (text_empty(text)) {
		return false;
	}
	size_t n = cut_at(text, QUOTE_MAX), from = out->len, i = 0;
	while (i < n && out->len - from < QUOTE_MAX + 1) {
		size_t taken = put_control(out, text + i);
		if (taken == 0) {
			str_append_char(out, text[i]);
		}
		i += taken > 0 ? taken : 1;
	}
	while (((unsigned char)text[i] & 0xC0) == 0x80) {
		str_append_char(out, text[i++]);
	}
	if (text[i] != '\0') {
		str_append_text(out, "...");
	}
	return true;
}

void explain_filled(struct str *out, const char *template, const char *const texts[])
{
	const char *hole;
	for (; (hole = strstr(template, "{}")) != NULL; template = hole + 2) {
		str_append(out, template, (size_t)(hole - template));
		(void)explain_text(out, *texts++);
	}
	str_append_text(out, template);
}

/* What cannot be read is shown between quotes, even where it is nothing. */
static bool put_value(struct str *out, enum reason reason, const char *text)
{
	if (reason != REASON_BAD_VALUE || text == NULL) {
		return explain_text(out, text);
	}
	explain_filled(out, "\"{}\"", (const char *const[]){text});
	return true;
}

/* "0.25 GPU", "8Gi GPU memory", "0.25 GPU and 8Gi GPU memory" */
static bool put_share(struct str *out, int64_t milli, int64_t mib)
{
	char text[QUANTITY_TEXT_MAX];
	if (milli > 0) {
		str_append_format(out, "%s GPU", share_format(milli, text));
	}
	if (mib > 0) {
		str_append_format(
			out, "%s%s GPU memory", milli > 0 ? " and " : "", memory_format(mib, text));
	}
	return milli > 0 || mib > 0;
}

/* The best GPU may have nothing free in the dimension that matters: zero is said, not left out. */
static bool put_best(struct str *out, enum reason reason, const struct explain_facts *f)
{
	char text[QUANTITY_TEXT_MAX];
	if (text_empty(f->best_node)) {
		return false;
	}
	if (reason == REASON_SHORT_MEMORY || reason == REASON_LARGER_THAN_ANY_GPU) {
		str_append_format(out, "%s GPU memory", memory_format(f->best_mib, text));
	} else {
		str_append_format(out, "%s GPU", share_format(f->best_milli, text));
	}
	return true;
}

/* An amount of a quota: 0 is one. A negative one, of a quota that somebody wrote so, is left out.
 */
static bool put_charge(struct str *out, const struct explain_facts *f, int64_t milli)
{
	char text[QUANTITY_TEXT_MAX];
	if (text_empty(f->name) || milli < 0) {
		return false;
	}
	str_append_format(out, "%s GPU", share_format(milli, text));
	return true;
}

/* What is not judged before the pin. */
static bool put_left(struct str *out, const struct pod *p)
{
	if (p == NULL || (!p->has_pod_affinity && !p->has_spread)) {
		return false;
	}
	str_append_text(out, !p->has_spread	   ? "its pod affinity"
			     : p->has_pod_affinity ? "its pod affinity and topology spread"
						   : "its topology spread");
	return true;
}

static bool put_claim(struct str *out, const struct volume_claim *c)
{
	static const char *const states[CLAIM_STATES] = {
		[CLAIM_UNBOUND] = "is not bound to a volume",
		[CLAIM_MISSING] = "does not exist",
		[CLAIM_LEAVING] = "is being deleted",
		[CLAIM_LOST] = "has lost its volume",
	};
	if (c == NULL || states[c->state] == NULL) {
		return false;
	}
	str_append_text(out, "claim ");
	(void)explain_text(out, c->name);
	str_append_format(out, " %s", states[c->state]);
	return true;
}

static bool sentence_put_word(
	struct str *out, struct view word, enum reason reason, const struct explain_facts *f)
{
	const struct {
		const char *word;
		int64_t number;
	} numbers[] = {{"count", f->count}, {"limit", f->limit}, {"waited", f->waited_s},
		{"asked", f->asked_s}, {"next", f->next_s}};
	const struct {
		const char *word;
		const char *text;
	} texts[] = {{"name", f->name}, {"gpu", f->gpu}, {"node", f->best_node},
		{"expected", f->expected}, {"refuser", f->refuser}};
	if (view_equals(word, "limit") && reason == REASON_SHORT_GPUS && f->limit == 0) {
		str_append_text(out, "none"); /* that is an answer too */
		return true;
	}
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		if (!view_equals(word, numbers[i].word)) {
			continue;
		}
		if (numbers[i].number > 0) {
			str_append_format(out, "%lld", (long long)numbers[i].number);
		}
		return numbers[i].number > 0;
	}
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		if (view_equals(word, texts[i].word)) {
			return explain_text(out, texts[i].text);
		}
	}
	if (view_equals(word, "value")) {
		return put_value(out, reason, f->value);
	}
	if (view_equals(word, "want")) {
		return put_share(out, f->want_milli, f->want_mib);
	}
	if (view_equals(word, "left")) {
		return put_left(out, f->left);
	}
	if (view_equals(word, "claim")) {
		return put_claim(out, f->claim);
	}
	if (view_equals(word, "nodes")) {
		return explain_nodes(out, f->unfit);
	}
	if (view_equals(word, "lacks")) {
		return explain_lacks(out, reason, f->lacks);
	}
	if (view_equals(word, "allowed")) {
		return put_charge(out, f, f->quota_milli);
	}
	if (view_equals(word, "used")) {
		return put_charge(out, f, f->quota_used_milli);
	}
	if (view_equals(word, "best")) {
		return put_best(out, reason, f);
	}
	BUG("no such word in a sentence: %.*s", (int)word.n, word.p);
}

/* Appends text up to the end or the next ']'; false if a word in it is not known. */
static bool put_part(
	struct str *out, const char **at, enum reason reason, const struct explain_facts *f)
{
	bool known = true;
	for (; **at != '\0' && **at != '[' && **at != ']'; (*at)++) {
		if (**at != '{') {
			str_append_char(out, **at);
			continue;
		}
		const char *end = strchr(*at, '}');
		struct view word = {*at + 1, (size_t)(end - *at) - 1};
		known = sentence_put_word(out, word, reason, f) && known;
		*at = end;
	}
	return known;
}

void explain(struct str *out, enum reason reason, const struct explain_facts *facts)
{
	ENSURE((unsigned)reason < REASON_COUNT && templates[reason] != NULL);
	CLEANUP(str_finish) struct str part = STR_INIT(768);
	const char *at = templates[reason];
	while (*at != '\0') {
		bool optional = *at == '[';
		at += optional || *at == ']' ? 1 : 0;
		str_reset(&part);
		bool known = put_part(&part, &at, reason, facts);
		if (known || !optional) {
			str_append(out, str_text(&part), part.len);
		}
	}
}

void explain_bad_note(struct str *out, const char *key, const char *value, const char *expected)
{
	explain_filled(out, "{}: \"{}\" cannot be read; write {}",
		(const char *const[]){key, text_or(value, ""), expected});
}

void explain_clamped(
	struct str *out, const struct explain_facts *asked, const struct explain_facts *given)
{
	str_append_text(out, "asked for ");
	(void)put_share(out, asked->want_milli, asked->want_mib);
	str_append_text(out, ", gets ");
	(void)put_share(out, given->want_milli, given->want_mib);
	bool named = !text_empty(given->name);
	str_append_text(out, named ? ", the bounds of GPUPolicy " : ", the least that one CUDA");
	(void)explain_text(out, named ? given->name : "");
	str_append_text(out, named ? " and of one CUDA context" : " context takes");
}

void explain_put_right(struct str *out)
{
	str_append_text(out, "was left whole when it was made; what is written on it can be read "
			     "now, and counts for the pod that replaces it");
}

void explain_in_the_way(struct str *out, const struct explain_way *way, uint32_t names_max)
{
	uint32_t named = way->shares < names_max ? way->shares : names_max;
	str_append_format(out, "waits for %lld whole GPU%s; on ", (long long)way->gpus,
		way->gpus == 1 ? "" : "s");
	(void)explain_text(out, way->node);
	str_append_format(out,
		", the node nearest to it, %u share%s on GPUs %s in the way: ", way->shares,
		way->shares == 1 ? "" : "s", way->shares == 1 ? "is" : "are");
	for (uint32_t i = 0; i < named; i++) {
		str_append_text(out, i > 0 ? ", " : "");
		(void)explain_text(out, way->names[i].ns);
		str_append_char(out, '/');
		(void)explain_text(out, way->names[i].name);
	}
	if (way->shares > named) {
		str_append_format(out, " and %u more", way->shares - named);
	}
	str_append_text(out, "; whoever ranks lower gets no new share there until it fits");
}

void explain_given_up(struct str *out, const char *ns, const char *name, int64_t after_s)
{
	explain_filled(out, text_empty(ns) ? "the share of {}{}" : "the share of {}/{}",
		(const char *const[]){ns, name});
	str_append_format(out,
		" is given to others: the pod is gone since %lld s and nobody said that its "
		"containers have ended",
		(long long)after_s);
}

void explain_unhealthy(struct str *out, const char *uuid, const char *node, const char *why)
{
	explain_filled(out,
		"the GPU {} of {} is not healthy ({}): it gets no new tenants until it was healthy "
		"for a while; who runs on it stays",
		(const char *const[]){uuid, node, why});
}

void explain_no_mps(struct str *out, const char *policy, const char *level, bool home)
{
	explain_filled(out, "GPUPolicy {} asks for isolation MPS, but the namespace ",
		(const char *const[]){policy});
	str_append_text(out, home ? NAME_NAMESPACE ", where capacity pods are, " : "");
	explain_filled(out,
		text_empty(level) ? "has no label " LABEL_POD_SECURITY "=privileged, without which "
				    "the directories that MPS takes may be forbidden"
				  : "enforces Pod Security {}, which forbids the directories that "
				    "MPS takes",
		(const char *const[]){level});
	str_append_text(out, ": isolation is None, the share is only accounted");
}

/* To share a process namespace (targetContainerName) is not to see its devices. */
void explain_debugged(struct str *out, const char *container, const char *gpu_in)
{
	explain_filled(out,
		"container {} sees no GPU: NVIDIA_VISIBLE_DEVICES is void in what is added to a "
		"pod that shares one; run nvidia-smi in its container",
		(const char *const[]){container});
	explain_filled(out, gpu_in != NULL ? " {} (kubectl exec -c)" : " (kubectl exec -c)",
		(const char *const[]){gpu_in});
}
