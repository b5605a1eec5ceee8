/* SHA-256 (FIPS 180-4), for names that must differ where what they are made of differs. Nothing
 * secret goes through it. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32

void sha256(const void *p, size_t n, uint8_t ret_digest[SHA256_BYTES]);

#endif
