/* TLS 1.3's records (RFC 8446, 5.2) under TLS_AES_128_GCM_SHA256, once OpenSSL has made the
 * handshake: what is left of a connection that waits is two keys and two numbers, 72 bytes, where
 * OpenSSL keeps 17 KiB. Pure but for OpenSSL's cipher: bytes in, bytes out.
 *
 * No rekeying, no early data: whoever sends such a thing is hung up on. */
#ifndef IO_RECORD_H
#define IO_RECORD_H

#include <openssl/evp.h>
#include <stdbool.h>

#include "base/str.h"

#define RECORD_SECRET_BYTES 32
#define RECORD_HEAD_BYTES   5
/* What a record may carry, and how long it then is: the type, padding and the tag beside. */
#define RECORD_TEXT_MAX ((size_t)16384)
#define RECORD_MAX	(RECORD_HEAD_BYTES + RECORD_TEXT_MAX + 256)
#define RECORD_TAG	16

/* The types that may come or go. */
enum { RECORD_ALERT = 21, RECORD_HANDSHAKE = 22, RECORD_DATA = 23 };

/* One direction. */
struct record_way {
	unsigned char key[16], iv[12];
	uint32_t sequence; /* of the next record */
};

/* A cipher for all connections, and all that is kept of a connection is in its ways. */
EVP_CIPHER_CTX *record_cipher_create(void);
void record_way_set(struct record_way *w, const unsigned char secret[RECORD_SECRET_BYTES]);
/* Appends one record. False: text is longer than one holds, or out is full. */
bool record_seal(
	EVP_CIPHER_CTX *cipher, struct record_way *w, int type, struct view text, struct str *out);
/* How long the record at p is, head included; 0: it cannot be told yet; -1: it is none. */
int record_length(const char *p, size_t n);
/* Opens the whole record of n bytes at p, as record_length told, in place. False: it is none of
 * this connection. */
struct record_text {
	int type;
	struct view text; /* in the record */
};
bool record_open(EVP_CIPHER_CTX *cipher, struct record_way *w, char *p, size_t n,
	struct record_text *ret_text);

#endif
