/* The examples of FIPS 180-4, and every length round the ends of blocks against one more. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"

static const char *hex(const void *p, size_t n)
{
	static char text[2 * SHA256_BYTES + 1];
	uint8_t digest[SHA256_BYTES];
	sha256(p, n, digest);
	for (size_t i = 0; i < SHA256_BYTES; i++) {
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
	}
	return text;
}

Test(sha256, published_examples)
{
	char as[1000];
	memset(as, 'a', sizeof as);
	cr_assert_str_eq(
		hex("", 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	cr_assert_str_eq(
		hex("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	cr_assert_str_eq(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
		"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	cr_assert_str_eq(
		hex(as, 1000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

/* The tail needs one block more from 56 bytes on. */
Test(sha256, ends_of_blocks)
{
	char as[129];
	memset(as, 'a', sizeof as);
	cr_assert_str_eq(
		hex(as, 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
	cr_assert_str_eq(
		hex(as, 56), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
	cr_assert_str_eq(
		hex(as, 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}
