/* wit_universe_samples.c - its types, for tests.
 *
 * Generated from schemas/wit/universe-schema.wit by tools/wit_codegen: change the schema. */
#include "wit_universe_samples.h"

#include "wit_universe_json.h"

static void wit_universe_dbi16_lease_key_random(Choice *choice, WitUniverseDbi16LeaseKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi16_lease_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi16LeaseKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi16_lease_key, WitUniverseDbi16LeaseKey)

static void wit_universe_dbi16_lease_value_random(Choice *choice, WitUniverseDbi16LeaseValue *v)
{
    sample_string(choice, &v->holder);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->holder, 128);
        break;
    case 1:
        sample_length(&v->holder, 127);
        break;
    default:
        sample_length(&v->holder, 128);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->nonce);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->nonce, 0);
        break;
    case 1:
        sample_length(&v->nonce, 16);
        break;
    default:
        sample_length(&v->nonce, 0);
        break;
    case 15:
        break;
    }
    v->epoch = (uint64_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->epoch = (uint64_t)UINT64_C(1);
        break;
    case 1:
        v->epoch = (uint64_t)UINT64_C(2);
        break;
    default:
        v->epoch = (uint64_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi16_lease_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi16LeaseValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) <= 128";
        sample_length(&v->holder, 128);
        return true;
    case 1:
        *refinement = "len(value) <= 128";
        sample_length(&v->holder, 127);
        return true;
    case 2:
        *refinement = "len(value) <= 128";
        sample_length(&v->holder, 129);
        return false;
    case 3:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 0);
        return true;
    case 4:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 1);
        return false;
    case 5:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 16);
        return true;
    case 6:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 15);
        return false;
    case 7:
        *refinement = "len(value) == 0 || len(value) == 16";
        sample_length(&v->nonce, 17);
        return false;
    case 8:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(1);
        return true;
    case 9:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(0);
        return false;
    case 10:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(2);
        return true;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi16_lease_value, WitUniverseDbi16LeaseValue)

static void wit_universe_dbi17_sessions_key_random(Choice *choice, WitUniverseDbi17SessionsKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->worker);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->worker, 1);
        break;
    case 1:
        sample_length(&v->worker, 2);
        break;
    case 2:
        sample_length(&v->worker, 128);
        break;
    case 3:
        sample_length(&v->worker, 127);
        break;
    default:
        sample_length(&v->worker, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi17_sessions_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi17SessionsKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->worker, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi17_sessions_key, WitUniverseDbi17SessionsKey)

static void wit_universe_dbi17_sessions_value_random(Choice *choice, WitUniverseDbi17SessionsValue *v)
{
    sample_bytes(choice, &v->nonce);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->nonce, 16);
        break;
    default:
        sample_length(&v->nonce, 16);
        break;
    case 15:
        break;
    }
    v->expires_ns = (uint64_t)sample_number(choice);
}

static bool wit_universe_dbi17_sessions_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi17SessionsValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 16);
        return true;
    case 1:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 15);
        return false;
    case 2:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 17);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi17_sessions_value, WitUniverseDbi17SessionsValue)

static void wit_universe_dbi18_held_key_random(Choice *choice, WitUniverseDbi18HeldKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_bytes(choice, &v->nonce);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->nonce, 16);
        break;
    default:
        sample_length(&v->nonce, 16);
        break;
    case 15:
        break;
    }
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi18_held_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi18HeldKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 16);
        return true;
    case 1:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 15);
        return false;
    case 2:
        *refinement = "len(value) == 16";
        sample_length(&v->nonce, 17);
        return false;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 6:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 7:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 8:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi18_held_key, WitUniverseDbi18HeldKey)

static void wit_universe_dbi18_held_value_random(Choice *choice, WitUniverseDbi18HeldValue *v)
{
    sample_bytes(choice, &v->value);
}

SAMPLE_TYPE(wit_universe_dbi18_held_value, WitUniverseDbi18HeldValue)

static void wit_universe_dbi19_head_key_random(Choice *choice, WitUniverseDbi19HeadKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi19_head_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi19HeadKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi19_head_key, WitUniverseDbi19HeadKey)

static void wit_universe_dbi19_head_value_random(Choice *choice, WitUniverseDbi19HeadValue *v)
{
    v->height = (uint64_t)sample_number(choice);
    sample_bytes(choice, &v->digest);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->digest, 32);
        break;
    default:
        sample_length(&v->digest, 32);
        break;
    case 15:
        break;
    }
}

static bool wit_universe_dbi19_head_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi19HeadValue *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) == 32";
        sample_length(&v->digest, 32);
        return true;
    case 1:
        *refinement = "len(value) == 32";
        sample_length(&v->digest, 31);
        return false;
    case 2:
        *refinement = "len(value) == 32";
        sample_length(&v->digest, 33);
        return false;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi19_head_value, WitUniverseDbi19HeadValue)

static void wit_universe_dbi20_journal_key_random(Choice *choice, WitUniverseDbi20JournalKey *v)
{
    v->universe = (uint32_t)sample_number(choice);
    sample_string(choice, &v->world);
    switch (choice_below(choice, 16)) {
    case 0:
        sample_length(&v->world, 1);
        break;
    case 1:
        sample_length(&v->world, 2);
        break;
    case 2:
        sample_length(&v->world, 128);
        break;
    case 3:
        sample_length(&v->world, 127);
        break;
    default:
        sample_length(&v->world, 1);
        break;
    case 15:
        break;
    }
    v->height = (uint64_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->height = (uint64_t)UINT64_C(1);
        break;
    case 1:
        v->height = (uint64_t)UINT64_C(2);
        break;
    default:
        v->height = (uint64_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
    v->part = (uint32_t)sample_number(choice);
}

static bool wit_universe_dbi20_journal_key_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi20JournalKey *v = any;

    switch (i) {
    case 0:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 1);
        return true;
    case 1:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 0);
        return false;
    case 2:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 2);
        return true;
    case 3:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 128);
        return true;
    case 4:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 127);
        return true;
    case 5:
        *refinement = "len(value) >= 1 && len(value) <= 128";
        sample_length(&v->world, 129);
        return false;
    case 6:
        *refinement = "value >= 1";
        v->height = (uint64_t)UINT64_C(1);
        return true;
    case 7:
        *refinement = "value >= 1";
        v->height = (uint64_t)UINT64_C(0);
        return false;
    case 8:
        *refinement = "value >= 1";
        v->height = (uint64_t)UINT64_C(2);
        return true;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi20_journal_key, WitUniverseDbi20JournalKey)

static void wit_universe_dbi20_journal_value_random(Choice *choice, WitUniverseDbi20JournalValue *v)
{
    v->epoch = (uint64_t)sample_number(choice);
    switch (choice_below(choice, 16)) {
    case 0:
        v->epoch = (uint64_t)UINT64_C(1);
        break;
    case 1:
        v->epoch = (uint64_t)UINT64_C(2);
        break;
    default:
        v->epoch = (uint64_t)UINT64_C(1);
        break;
    case 15:
        break;
    }
    sample_bytes(choice, &v->content);
    switch (choice_below(choice, 16)) {
    default:
        break;
    }
}

static bool wit_universe_dbi20_journal_value_edge(void *any, size_t i, const char **refinement)
{
    WitUniverseDbi20JournalValue *v = any;

    switch (i) {
    case 0:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(1);
        return true;
    case 1:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(0);
        return false;
    case 2:
        *refinement = "value >= 1";
        v->epoch = (uint64_t)UINT64_C(2);
        return true;
    default:
        return true;
    }
}

SAMPLE_TYPE(wit_universe_dbi20_journal_value, WitUniverseDbi20JournalValue)

const SampleType wit_universe_samples[] = {
    SAMPLE_ENTRY("dbi16-lease-key", wit_universe_dbi16_lease_key, WitUniverseDbi16LeaseKey, false, wit_universe_dbi16_lease_key_edge, 6),
    SAMPLE_ENTRY("dbi16-lease-value", wit_universe_dbi16_lease_value, WitUniverseDbi16LeaseValue, true, wit_universe_dbi16_lease_value_edge, 11),
    SAMPLE_ENTRY("dbi17-sessions-key", wit_universe_dbi17_sessions_key, WitUniverseDbi17SessionsKey, false, wit_universe_dbi17_sessions_key_edge, 6),
    SAMPLE_ENTRY("dbi17-sessions-value", wit_universe_dbi17_sessions_value, WitUniverseDbi17SessionsValue, true, wit_universe_dbi17_sessions_value_edge, 3),
    SAMPLE_ENTRY("dbi18-held-key", wit_universe_dbi18_held_key, WitUniverseDbi18HeldKey, false, wit_universe_dbi18_held_key_edge, 9),
    SAMPLE_ENTRY("dbi18-held-value", wit_universe_dbi18_held_value, WitUniverseDbi18HeldValue, false, NULL, 0),
    SAMPLE_ENTRY("dbi19-head-key", wit_universe_dbi19_head_key, WitUniverseDbi19HeadKey, false, wit_universe_dbi19_head_key_edge, 6),
    SAMPLE_ENTRY("dbi19-head-value", wit_universe_dbi19_head_value, WitUniverseDbi19HeadValue, true, wit_universe_dbi19_head_value_edge, 3),
    SAMPLE_ENTRY("dbi20-journal-key", wit_universe_dbi20_journal_key, WitUniverseDbi20JournalKey, false, wit_universe_dbi20_journal_key_edge, 9),
    SAMPLE_ENTRY("dbi20-journal-value", wit_universe_dbi20_journal_value, WitUniverseDbi20JournalValue, true, wit_universe_dbi20_journal_value_edge, 3),
};

const size_t wit_universe_sample_count =
    sizeof wit_universe_samples / sizeof wit_universe_samples[0];
