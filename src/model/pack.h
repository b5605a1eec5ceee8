/* Parts that several nouns have, as bytes. */
#ifndef MODEL_PACK_INSIDE_H
#define MODEL_PACK_INSIDE_H

#include "model/pack.h"

uint32_t unpack_count(struct unpack *u);
void pack_pairs(struct str *out, const struct pairs *p);
struct pairs unpack_pairs(struct unpack *u);
void pack_texts(struct str *out, const char **texts, uint32_t count);
const char **unpack_texts(struct unpack *u, uint32_t *ret_count);
void pack_terms(struct str *out, const struct terms *t);
struct terms unpack_terms(struct unpack *u);
void pack_node_terms(struct str *out, const struct node_term *terms, uint32_t count);
struct node_term *unpack_node_terms(struct unpack *u, uint32_t *ret_count);
void pack_selector(struct str *out, const struct selector *s);
struct selector unpack_selector(struct unpack *u);
void pack_amounts(struct str *out, const struct amounts *a);
struct amounts unpack_amounts(struct unpack *u);

#endif
