/* numbers.h - rows that map a number to a number, for tests that keep accounts. */
#ifndef SAPLING_TESTS_NUMBERS_H
#define SAPLING_TESTS_NUMBERS_H

#include "sapling/sapling.h"

#include <stdint.h>

enum { NUMBERS_MAX_PAD = 9000 };

/* 0 where there is no row. Aborts on errors. */
uint64_t numbers_read(SapTxnCtx *txn, uint32_t dbi, uint32_t number);
/* The row's value is the number and `pad` bytes, at most NUMBERS_MAX_PAD, each the number modulo
 * 251. */
void numbers_write(SapTxnCtx *txn, uint32_t dbi, uint32_t number, uint64_t value, uint32_t pad);

#endif
