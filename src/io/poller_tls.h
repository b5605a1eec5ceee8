/* The handshake is OpenSSL's: the certificate, the name and the secrets. */
#ifndef IO_POLLER_TLS_H
#define IO_POLLER_TLS_H

#include "poller_internal.h"

SSL_CTX *poller_tls_create(const char *ca_pem, struct fault *ret_fault);
/* The handshake of this connection can go on: it does, in its turn. */
void poller_tls_later(struct poller_conn *c);
void poller_tls_leave(struct poller_conn *c);
/* Once in a turn of the loop: one step of one handshake. */
void poller_tls_turn(void *data);

#endif
