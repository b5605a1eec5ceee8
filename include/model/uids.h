/* As whom our processes run. A process may read the environment, the memory and the root directory
 * of another one of its own uid, and an agent shares the processes of its node: so each kind has a
 * uid, and a group of the same number, that no other kind and hardly anybody else has. 65532, which
 * images without a distribution have by default, is not one of them.
 *
 * They lie between the ranges that systemd keeps for itself, below those that are given to user
 * namespaces. manifests/ has them too, and a test compares the two. */
#ifndef MODEL_UIDS_H
#define MODEL_UIDS_H

#define UID_CONTROLLER 60810
#define UID_AGENT      60811
#define UID_CAPACITY   60812
#define UID_PROBE      60813
#define UID_COMPANION  60814
#define UID_CANARY     60815 /* in dry runs only */

#endif
