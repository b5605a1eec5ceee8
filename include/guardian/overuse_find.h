/* The four tables of the watchdog. */
#ifndef GUARDIAN_OVERUSE_FIND_H
#define GUARDIAN_OVERUSE_FIND_H

#include <stdbool.h>
#include <stddef.h>

struct crowd;
struct failure;
struct overuse;
struct overuses;
struct remark;

void overuses_init(struct overuses *all);
/* What was put into the lists by itself is found from now on. False: one is there twice. */
bool overuses_index(struct overuses *all);
void overuse_forget(struct overuses *all);
/* Found by key, NULL: there is none. What is added must not be there, and its texts are taken; a
 * pointer dies when another one is added or dropped. */
struct overuse *overuse_find(struct overuses *all, const char *uid, const char *uuid);
struct overuse *overuse_add(struct overuses *all, const struct overuse *made);
void overuse_drop(struct overuses *all, size_t i);
struct crowd *crowd_find(struct overuses *all, const char *uuid);
struct crowd *crowd_add(struct overuses *all, const struct crowd *made);
void crowd_drop(struct overuses *all, size_t i);
struct failure *failure_find(struct overuses *all, const char *uid);
struct failure *failure_add(struct overuses *all, const struct failure *made);
void failure_drop(struct overuses *all, size_t i);
struct remark *remark_find(struct overuses *all, const char *uid);
struct remark *remark_add(struct overuses *all, const struct remark *made);
void remark_drop(struct overuses *all, size_t i);

#endif
