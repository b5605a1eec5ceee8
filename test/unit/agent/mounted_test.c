/* A Secret's directory, as the kubelet fills and changes it. */
#include "mounted.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "folder.h"
#include "io/tls_issue.h"

static struct tls_pair leaf_make(const struct tls_pair *authority)
{
	static const char *const names[] = {"agent.example"};
	struct tls_spec spec = {.common_name = "agent",
		.names = names,
		.name_count = 1,
		.days = 10,
		.wall_ms = clock_wall(&clock_system)};
	struct tls_pair leaf = {0};
	cr_assert_eq(tls_leaf_issue(authority, &spec, &leaf, NULL), 0);
	return leaf;
}

static struct tls_pair authority_make(void)
{
	struct tls_spec spec = {
		.common_name = "a", .days = 100, .wall_ms = clock_wall(&clock_system)};
	struct tls_pair pair = {0};
	cr_assert_eq(tls_authority_create(&spec, &pair, NULL), 0);
	return pair;
}

static void put(const struct folder *dir, const struct tls_pair *pair)
{
	folder_file(dir, "tls.crt", pair->cert_pem);
	folder_file(dir, "tls.key", pair->key_pem);
}

/* Was something new taken a minute later? */
static bool takes(struct mounted *m, int64_t *now)
{
	*now += 60000;
	struct tls_identity *identity = mounted_look(m, *now);
	bool taken = identity != NULL;
	tls_identity_destroy(identity);
	return taken;
}

Test(mounted, what_is_new_is_taken_once)
{
	CLEANUP(folder_finish) struct folder dir = folder_make();
	CLEANUP(tls_pair_finish) struct tls_pair authority = authority_make();
	CLEANUP(tls_pair_finish) struct tls_pair first = leaf_make(&authority);
	CLEANUP(tls_pair_finish) struct tls_pair next = leaf_make(&authority);
	CLEANUP(mounted_finish) struct mounted m = {.dir = dir.path};
	int64_t now = 0;
	cr_expect_not(takes(&m, &now), "shipped empty");
	put(&dir, &first);
	cr_expect(takes(&m, &now));
	cr_expect_not(takes(&m, &now));
	put(&dir, &next);
	cr_expect(takes(&m, &now));
	cr_expect_not(takes(&m, &now));
}

/* What cannot be used takes nothing away, and the next that can is taken. */
Test(mounted, half_and_garbage_are_waited_out)
{
	static const char *const garbage[] = {"", "no certificate",
		"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"};
	CLEANUP(folder_finish) struct folder dir = folder_make();
	CLEANUP(tls_pair_finish) struct tls_pair authority = authority_make();
	CLEANUP(tls_pair_finish) struct tls_pair first = leaf_make(&authority);
	CLEANUP(tls_pair_finish) struct tls_pair next = leaf_make(&authority);
	CLEANUP(mounted_finish) struct mounted m = {.dir = dir.path};
	CLEANUP(cleanup_free) char *large = xmalloc(65537);
	int64_t now = 0;
	put(&dir, &first);
	cr_expect(takes(&m, &now));
	folder_file(&dir, "tls.crt", next.cert_pem);
	cr_expect_not(takes(&m, &now), "the key is still the former one's");
	for (size_t i = 0; i < COUNT_OF(garbage); i++) {
		folder_file(&dir, "tls.crt", garbage[i]);
		cr_expect_not(takes(&m, &now), "%s", garbage[i]);
	}
	memset(large, 'a', 65536);
	large[65536] = '\0';
	folder_file(&dir, "tls.crt", large);
	cr_expect_not(takes(&m, &now), "too large");
	put(&dir, &next);
	cr_expect(takes(&m, &now));
}

Test(mounted, it_is_not_read_at_every_turn)
{
	CLEANUP(folder_finish) struct folder dir = folder_make();
	CLEANUP(tls_pair_finish) struct tls_pair authority = authority_make();
	CLEANUP(tls_pair_finish) struct tls_pair first = leaf_make(&authority);
	CLEANUP(mounted_finish) struct mounted m = {.dir = dir.path};
	cr_expect_null(mounted_look(&m, 1000));
	put(&dir, &first);
	cr_expect_null(mounted_look(&m, m.next_at - 1));
	struct tls_identity *identity = mounted_look(&m, m.next_at);
	cr_expect_not_null(identity);
	tls_identity_destroy(identity);
	cr_expect_gt(m.next_at, 2000);
}
