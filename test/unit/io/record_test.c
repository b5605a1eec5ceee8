/* Records against the published trace (RFC 8448, 3), and against each other. */
#include <criterion/criterion.h>

#include "base/alloc.h"
#include "record.h"

static const unsigned char secret[RECORD_SECRET_BYTES] = {0x9e, 0x40, 0x64, 0x6c, 0xe7, 0x9a, 0x7f,
	0x9d, 0xc0, 0x5a, 0xf8, 0x88, 0x9b, 0xce, 0x65, 0x52, 0x87, 0x5a, 0xfa, 0x0b, 0x06, 0xdf,
	0x00, 0x87, 0xf7, 0x92, 0xeb, 0xb7, 0xc1, 0x75, 0x04, 0xa5};
static const unsigned char key[16] = {0x17, 0x42, 0x2d, 0xda, 0x59, 0x6e, 0xd5, 0xd9, 0xac, 0xd8,
	0x90, 0xe3, 0xc6, 0x3f, 0x50, 0x51};
static const unsigned char iv[12] = {
	0x5b, 0x78, 0x92, 0x3d, 0xee, 0x08, 0x57, 0x90, 0x33, 0xe5, 0x23, 0xd9};

Test(record, keys_are_those_of_the_trace)
{
	struct record_way w;
	record_way_set(&w, secret);
	cr_expect_arr_eq(w.key, key, sizeof key);
	cr_expect_arr_eq(w.iv, iv, sizeof iv);
	cr_expect_eq(w.sequence, 0);
}

/* The client's 50 bytes 0, 1, 2 and on, its first record. */
Test(record, a_record_is_that_of_the_trace)
{
	static const unsigned char wanted[] = {
		0x17, 0x03, 0x03, 0x00, 0x43, 0xa2, 0x3f, 0x70, 0x54, 0xb6, 0x2c, 0x94};
	struct record_way w;
	struct str out CLEANUP(str_finish) = STR_INIT(1024);
	char text[50];
	EVP_CIPHER_CTX *cipher = record_cipher_create();
	for (size_t i = 0; i < sizeof text; i++) {
		text[i] = (char)i;
	}
	record_way_set(&w, secret);
	cr_assert(record_seal(cipher, &w, RECORD_DATA, (struct view){text, sizeof text}, &out));
	cr_expect_eq(out.len, 5 + 0x43);
	cr_expect_arr_eq(out.p, wanted, sizeof wanted);
	EVP_CIPHER_CTX_free(cipher);
}

Test(record, what_was_sealed_opens_once_and_in_order)
{
	static char text[RECORD_TEXT_MAX];
	static const size_t sizes[] = {0, 1, 50, 16383, 16384};
	struct record_way out, in;
	struct record_text r;
	EVP_CIPHER_CTX *cipher = record_cipher_create();
	record_way_set(&out, secret);
	record_way_set(&in, secret);
	memset(text, 'x', sizeof text);
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		struct str s CLEANUP(str_finish) = STR_INIT(RECORD_MAX);
		struct str again CLEANUP(str_finish) = STR_INIT(RECORD_MAX);
		cr_assert(
			record_seal(cipher, &out, RECORD_DATA, (struct view){text, sizes[i]}, &s));
		str_append(&again, s.p, s.len);
		cr_assert_eq(record_length(s.p, s.len), (int)s.len);
		cr_assert(record_open(cipher, &in, s.p, s.len, &r));
		cr_expect(r.type == RECORD_DATA && r.text.n == sizes[i] &&
			  memcmp(r.text.p, text, sizes[i]) == 0);
		cr_expect_not(record_open(cipher, &in, again.p, again.len, &r), "a second time");
		in.sequence--;
	}
	EVP_CIPHER_CTX_free(cipher);
}

Test(record, padding_goes_and_a_record_of_nothing_else_is_refused)
{
	struct record_way out, in;
	struct record_text r;
	struct str s CLEANUP(str_finish) = STR_INIT(RECORD_MAX);
	EVP_CIPHER_CTX *cipher = record_cipher_create();
	record_way_set(&out, secret);
	record_way_set(&in, secret);
	/* The type that is given is the last byte: padding, and the real one before it. */
	cr_assert(record_seal(cipher, &out, 0, VIEW("well\x17\0\0"), &s));
	cr_assert(record_open(cipher, &in, s.p, s.len, &r));
	cr_expect(r.type == RECORD_DATA && r.text.n == 4);
	str_reset(&s);
	cr_assert(record_seal(cipher, &out, 0, VIEW("\0\0\0"), &s));
	cr_expect_not(record_open(cipher, &in, s.p, s.len, &r));
	EVP_CIPHER_CTX_free(cipher);
}

Test(record, one_bit_or_another_number_and_it_does_not_open)
{
	EVP_CIPHER_CTX *cipher = record_cipher_create();
	for (size_t i = 0; i < 5 + 4 + 1 + RECORD_TAG; i++) {
		struct record_way out, in;
		struct record_text r;
		struct str s CLEANUP(str_finish) = STR_INIT(RECORD_MAX);
		record_way_set(&out, secret);
		record_way_set(&in, secret);
		cr_assert(record_seal(cipher, &out, RECORD_DATA, VIEW("well"), &s));
		s.p[i] = (char)(s.p[i] ^ 1);
		cr_expect_not(record_open(cipher, &in, s.p, s.len, &r), "%zu", i);
	}
	EVP_CIPHER_CTX_free(cipher);
}

Test(record, lengths_are_told_as_soon_as_they_can_be)
{
	cr_expect_eq(record_length("", 0), 0);
	cr_expect_eq(record_length("\x17\x03\x03\x40", 4), 0);
	cr_expect_eq(record_length("\x17\x03\x03\x00\x11", 5), 22);
	cr_expect_eq(record_length("\x17\x03\x03\x41\x00", 5), (int)RECORD_MAX);
	cr_expect_eq(record_length("\x17\x03\x03\x41\x01", 5), -1);
	cr_expect_eq(record_length("\x17\x03\x03\x00\x10", 5), -1, "a tag and nothing in it");
	cr_expect_eq(record_length("\x15", 1), -1);
	cr_expect_eq(record_length("\x17\x03\x01", 3), -1);
}

Test(record, too_much_is_not_sealed)
{
	static char text[RECORD_TEXT_MAX + 1];
	struct record_way w;
	struct str s CLEANUP(str_finish) = STR_INIT(2 * RECORD_MAX);
	EVP_CIPHER_CTX *cipher = record_cipher_create();
	record_way_set(&w, secret);
	cr_expect_not(record_seal(cipher, &w, RECORD_DATA, (struct view){text, sizeof text}, &s));
	s.limit = 8;
	cr_expect_not(record_seal(cipher, &w, RECORD_DATA, VIEW("well"), &s));
	w.sequence = UINT32_MAX;
	s.limit = 1024;
	s.overflow = false;
	cr_expect_not(record_seal(cipher, &w, RECORD_DATA, VIEW("well"), &s));
	cr_expect_eq(s.len, 0);
	EVP_CIPHER_CTX_free(cipher);
}
