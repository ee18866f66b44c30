/* births.h - the rows with which a world begins, whoever creates it. */
#ifndef SAPLING_UNIVERSE_BIRTHS_H
#define SAPLING_UNIVERSE_BIRTHS_H

#include "universe/ingress.h"

/* In a transaction that guards lease and meta of first->world exclusively, and has found that the world may be
 * created: puts its meta row, which goes on at the head of one before it, and its first item. */
int world_birth_put(UniverseTxn *txn, uint32_t universe, WitUniverseDbi21WorldMetaValue *meta,
                    IngressRequest *first);

#endif
