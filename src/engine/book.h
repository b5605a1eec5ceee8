/* The engine's tables: who waits, which capacity pods there are or will be, what is known of nodes
 * beside their objects, who is gone. The engine owns them; what a step did not meet is swept.
 * Nothing here fails. */
#ifndef ENGINE_BOOK_H
#define ENGINE_BOOK_H

#include <stdint.h>

struct absence;
struct arena;
struct engine;
struct holder;
struct ledger;
struct node_memo;
struct waiter;

struct waiter *waiter_touch(struct engine *e, const char *uid, int64_t now);
struct waiter *waiter_find(const struct engine *e, const char *uid);
struct holder *holder_touch(struct engine *e, const char *name, int64_t now);
struct holder *holder_find(const struct engine *e, const char *name);
void holder_drop_asked(struct holder *h);
void book_sweep(struct engine *e); /* forgets what this step did not meet */
void book_init(struct engine *e);
void book_finish(struct engine *e);
void book_new_term(struct engine *e);
struct node_memo *memo_find(struct engine *e, const char *node);
struct node_memo *memo_touch(struct engine *e, const char *node);
void trouble_note(struct engine *e, const char *node, int64_t now);
struct absence *absence_of(struct engine *e, const char *uid, int64_t now);
void text_set(char **slot, const char *value); /* owned copy replaces the old one */
void ledger_copy(struct arena *a, const struct ledger *from, struct ledger *ret);

#endif
