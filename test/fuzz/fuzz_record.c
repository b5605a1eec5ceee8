/* Records of TLS: bytes as they may come, and records that a peer may seal. The first byte chooses
 * which: even, the rest is what comes; odd, the rest is sealed under the key that it is opened
 * with, padding and type included. Nothing is read beyond a record, and only what was sealed opens.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const unsigned char secret[RECORD_SECRET_BYTES] = "a secret that everybody knows";

static void open_one(EVP_CIPHER_CTX *cipher, const char *p, size_t n, bool sealed)
{
	struct record_way in;
	struct record_text r;
	/* A copy of exactly this size, so that a read or a write beyond it is seen. */
	char *copy = xmemdup(p, n);

	record_way_set(&in, secret);
	bool opened = record_open(cipher, &in, copy, n, &r);
	ENSURE(!opened || sealed);
	if (opened) {
		ENSURE(r.type > 0 && r.type < 256 && r.text.n <= RECORD_TEXT_MAX);
		ENSURE(r.text.n == 0 || (r.text.p > copy && r.text.p + r.text.n <= copy + n));
	}
	free(copy);
}

static void bytes_come(EVP_CIPHER_CTX *cipher, const char *p, size_t n)
{
	int length;

	for (size_t i = 0; i <= n && i <= 16; i++) {
		char *copy = xmemdup(p, i);
		int part = record_length(copy, i), whole = record_length(p, n);
		/* What was told of a part is so of the whole. */
		ENSURE(part == 0 || part == whole);
		free(copy);
	}
	while ((length = record_length(p, n)) > 0 && (size_t)length <= n) {
		ENSURE((size_t)length <= RECORD_MAX && length > RECORD_HEAD_BYTES + RECORD_TAG);
		open_one(cipher, p, (size_t)length, false);
		p += length;
		n -= (size_t)length;
	}
}

static void records_come(EVP_CIPHER_CTX *cipher, const char *p, size_t n)
{
	struct record_way out;
	struct str s CLEANUP(str_finish) = STR_INIT(2 * RECORD_MAX);

	record_way_set(&out, secret);
	bool sealed = record_seal(cipher, &out, p[n - 1], (struct view){p, n - 1}, &s);
	ENSURE(sealed == (n - 1 <= RECORD_TEXT_MAX));
	if (sealed) {
		ENSURE(record_length(s.p, s.len) == (int)s.len);
		open_one(cipher, s.p, s.len, true);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2) {
		return 0;
	}
	EVP_CIPHER_CTX *cipher = record_cipher_create();
	if (data[0] % 2 == 0) {
		bytes_come(cipher, (const char *)data + 1, size - 1);
	} else {
		records_come(cipher, (const char *)data + 1, size - 1);
	}
	EVP_CIPHER_CTX_free(cipher);
	return 0;
}
