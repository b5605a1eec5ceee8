/* Keys from a secret, a nonce from a number, and one record sealed or opened. */
#include "record.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/alloc.h"

/* HKDF-Expand-Label for what is no longer than one hash (RFC 8446, 7.1). */
static void hkdf_expand(const unsigned char secret[RECORD_SECRET_BYTES], const char *label,
	unsigned char *out, size_t n)
{
	unsigned char info[32], block[EVP_MAX_MD_SIZE];
	size_t label_n = strlen(label), at = 0;
	info[at++] = 0;
	info[at++] = (unsigned char)n;
	info[at++] = (unsigned char)label_n;
	memcpy(info + at, label, label_n);
	at += label_n;
	info[at++] = 0; /* no context */
	info[at++] = 1; /* the first block */
	ENSURE(HMAC(EVP_sha256(), secret, RECORD_SECRET_BYTES, info, at, block, NULL) != NULL);
	memcpy(out, block, n);
	OPENSSL_cleanse(block, sizeof block);
}

void record_way_set(struct record_way *w, const unsigned char secret[RECORD_SECRET_BYTES])
{
	hkdf_expand(secret, "tls13 key", w->key, sizeof w->key);
	hkdf_expand(secret, "tls13 iv", w->iv, sizeof w->iv);
	w->sequence = 0;
}

EVP_CIPHER_CTX *record_cipher_create(void)
{
	EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
	ENSURE(cipher != NULL &&
		EVP_CipherInit_ex(cipher, EVP_aes_128_gcm(), NULL, NULL, NULL, 1) == 1);
	return cipher;
}

static bool cipher_begin(EVP_CIPHER_CTX *cipher, struct record_way *w, int seals, const char *head)
{
	unsigned char nonce[sizeof w->iv];
	int n;
	memcpy(nonce, w->iv, sizeof nonce);
	for (size_t i = 0; i < sizeof w->sequence; i++) {
		nonce[sizeof nonce - 1 - i] ^= (unsigned char)(w->sequence >> (8 * i));
	}
	/* No number is used twice under one key. */
	return w->sequence++ < UINT32_MAX &&
	       EVP_CipherInit_ex(cipher, NULL, NULL, w->key, nonce, seals) == 1 &&
	       EVP_CipherUpdate(cipher, NULL, &n, (const unsigned char *)head, RECORD_HEAD_BYTES) ==
		       1;
}

bool record_seal(
	EVP_CIPHER_CTX *cipher, struct record_way *w, int type, struct view text, struct str *out)
{
	size_t inner = text.n + 1, sealed = inner + RECORD_TAG;
	const char head[RECORD_HEAD_BYTES] = {
		RECORD_DATA, 3, 3, (char)(sealed >> 8), (char)(sealed & 0xff)};
	int n, last;
	if (text.n > RECORD_TEXT_MAX) {
		return false;
	}
	char *to = str_reserve(out, RECORD_HEAD_BYTES + sealed);
	if (to == NULL || !cipher_begin(cipher, w, 1, head)) {
		return false;
	}
	memcpy(to, head, RECORD_HEAD_BYTES);
	unsigned char *at = (unsigned char *)to + RECORD_HEAD_BYTES;
	memcpy(at, text.p, text.n);
	at[text.n] = (unsigned char)type;
	if (EVP_CipherUpdate(cipher, at, &n, at, (int)inner) != 1 ||
		EVP_CipherFinal_ex(cipher, at + n, &last) != 1 ||
		EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, RECORD_TAG, at + inner) != 1) {
		return false;
	}
	str_added(out, RECORD_HEAD_BYTES + sealed);
	return true;
}

int record_length(const char *p, size_t n)
{
	static const char head[] = {RECORD_DATA, 3, 3};
	size_t known = n < sizeof head ? n : sizeof head;
	if (known > 0 && memcmp(p, head, known) != 0) {
		return -1;
	}
	if (n < RECORD_HEAD_BYTES) {
		return 0;
	}
	int length = (unsigned char)p[3] << 8 | (unsigned char)p[4];
	bool good = length > RECORD_TAG && length <= (int)(RECORD_MAX - RECORD_HEAD_BYTES);
	return good ? RECORD_HEAD_BYTES + length : -1;
}

bool record_open(EVP_CIPHER_CTX *cipher, struct record_way *w, char *p, size_t n,
	struct record_text *ret_text)
{
	size_t inner = n - RECORD_HEAD_BYTES - RECORD_TAG;
	unsigned char *at = (unsigned char *)p + RECORD_HEAD_BYTES;
	int got, last;
	if (!cipher_begin(cipher, w, 0, p) ||
		EVP_CipherUpdate(cipher, at, &got, at, (int)inner) != 1 ||
		EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, RECORD_TAG, at + inner) != 1 ||
		EVP_CipherFinal_ex(cipher, at + got, &last) != 1) {
		return false;
	}
	/* The type is the last byte that is no padding. */
	while (inner > 0 && at[inner - 1] == 0) {
		inner--;
	}
	if (inner == 0 || inner - 1 > RECORD_TEXT_MAX) {
		return false;
	}
	*ret_text = (struct record_text){at[inner - 1], {(const char *)at, inner - 1}};
	return true;
}
