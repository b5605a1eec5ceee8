/* Certificates: an authority of our own, leaves issued by it, and the identity that a server shows.
 *
 * ECDSA P-256 with SHA-256; random serials; not-before lies five minutes back, since clocks differ.
 * PEM texts from outside are limited to TLS_PEM_MAX bytes and TLS_CHAIN_MAX certificates. Private
 * keys are never logged. Owner: every pair and identity belongs to whoever asked for it. Fails with
 * FAULT_INVALID for texts that do not parse or do not fit together, FAULT_DENIED where a
 * certificate does not verify, FAULT_FATAL where OpenSSL itself fails. */
#ifndef IO_TLS_H
#define IO_TLS_H

#include "io/tls_issue.h"
#include "io/tls_pem.h"

#endif
