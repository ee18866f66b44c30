#include "json/number.h"

#include "common/assert.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_DIGITS = 17, /* enough to tell any two doubles apart */
    SURE_DIGITS = 15, /* so many survive a normal double: if fewer digits suffice, these end in 0 */
    FIRST_EXPONENT = -330, /* a number below 10^-330 is 0, one from 10^310 on is infinite */
    LAST_EXPONENT = 310,
};

_Static_assert(DBL_DIG == SURE_DIGITS && DBL_DECIMAL_DIG == MOST_DIGITS, "doubles are IEEE 754's");

/* The value is 0.d1d2d3... times 10^point; the last digit is not 0 unless it is the only one. */
typedef struct Decimal {
    char digits[MOST_DIGITS + 1]; /* ends with a NUL */
    int count;
    int point;
} Decimal;

/* The digits of v, which is positive, rounded to `count` of them. */
static void round_decimal(double v, int count, Decimal *out)
{
    char text[NUMBER_TEXT_SIZE];
    int len = snprintf(text, sizeof text, "%.*e", count - 1, v);
    const char *p = text;

    SAP_ASSERT(len > 0 && (size_t)len < sizeof text);
    out->count = 0;
    for (; *p != 'e'; p++) {
        if (*p >= '0' && *p <= '9') {
            SAP_ASSERT(out->count < count);
            out->digits[out->count++] = *p;
        }
    }
    SAP_ASSERT(out->count == count);
    out->digits[count] = '\0';
    out->point = (int)strtol(p + 1, NULL, 10) + 1;
}

static bool reads_back(const Decimal *decimal, double v)
{
    char text[NUMBER_TEXT_SIZE];
    int len =
        snprintf(text, sizeof text, "%se%d", decimal->digits, decimal->point - decimal->count);

    SAP_ASSERT(len > 0 && (size_t)len < sizeof text);
    return strtod(text, NULL) == v;
}

/* The next decimal with as many digits. */
static void next_decimal(Decimal *decimal)
{
    int i = decimal->count - 1;

    while (i >= 0 && decimal->digits[i] == '9') {
        decimal->digits[i--] = '0';
    }
    if (i >= 0) {
        decimal->digits[i]++;
    } else {
        decimal->digits[0] = '1';
        decimal->point++;
    }
}

static void shorten_decimal(double v, Decimal *out)
{
    int exponent;
    /* A double keeps fewer digits below the least normal one. */
    int count = v < DBL_MIN ? 1 : SURE_DIGITS;
    bool power_of_two = frexp(v, &exponent) == 0.5;

    for (;; count++) {
        SAP_ASSERT(count <= MOST_DIGITS);
        round_decimal(v, count, out);
        if (reads_back(out, v)) {
            break;
        }
        /* Below a power of two the doubles are twice as close as above it: the nearest decimal may
         * be below and already belong to the double there, while the next one, above, is still
         * nearest to v. Everywhere else the nearest decimal is the one that reads back if any. */
        if (power_of_two) {
            next_decimal(out);
            if (reads_back(out, v)) {
                break;
            }
        }
    }
    while (out->count > 1 && out->digits[out->count - 1] == '0') {
        out->digits[--out->count] = '\0';
    }
}

/* The layout of Number::toString: `text` has room for NUMBER_TEXT_SIZE. */
static int lay_out_decimal(const Decimal *d, char *text)
{
    int count = d->count;
    int point = d->point;

    if (count <= point && point <= 21) {
        return snprintf(text, NUMBER_TEXT_SIZE, "%s%.*s", d->digits, point - count,
                        "00000000000000000000");
    }
    if (0 < point && point < count) {
        return snprintf(text, NUMBER_TEXT_SIZE, "%.*s.%s", point, d->digits, d->digits + point);
    }
    if (-6 < point && point <= 0) {
        return snprintf(text, NUMBER_TEXT_SIZE, "0.%.*s%s", -point, "00000", d->digits);
    }
    return snprintf(text, NUMBER_TEXT_SIZE, "%c%s%se%+d", d->digits[0], count > 1 ? "." : "",
                    d->digits + 1, point - 1);
}

/* Such a number may also have come as an integer, with all its digits: equal numbers have one text. */
static bool is_integer_of_64_bits(double v)
{
    double magnitude = fabs(v);
    bool in_range = v < 0 ? magnitude <= 9223372036854775808.0 : magnitude < 18446744073709551616.0;
    return in_range && (double)(uint64_t)magnitude == magnitude;
}

int number_append(Buf *out, double v)
{
    char text[NUMBER_TEXT_SIZE + 1];
    Decimal decimal;

    SAP_ASSERT(isfinite(v));
    if (v == 0) {
        return buf_append_u8(out, '0');
    }
    if (is_integer_of_64_bits(v)) {
        return buf_printf(out, v < 0 ? "-%llu" : "%llu", (unsigned long long)fabs(v));
    }
    text[0] = '-';
    shorten_decimal(fabs(v), &decimal);
    int len = lay_out_decimal(&decimal, text + 1);
    SAP_ASSERT(len > 0 && len < NUMBER_TEXT_SIZE);
    return v < 0 ? buf_append(out, text, (size_t)len + 1) : buf_append(out, text + 1, (size_t)len);
}

/* The digits after e or E, with their sign. More than any text can make up for counts as a limit
 * of its own. */
static int64_t read_exponent(const uint8_t *p, const uint8_t *end)
{
    static const int64_t MOST = INT64_C(1) << 60;
    int64_t v = 0;
    bool negative = *p == '-';

    p += *p == '-' || *p == '+';
    for (; p < end; p++) {
        v = v > MOST / 10 ? MOST : v * 10 + (*p - '0');
    }
    return negative ? -v : v;
}

int number_read(const uint8_t *text, size_t len, Buf *scratch, double *out)
{
    const uint8_t *end = text + len;
    bool negative = *text == '-';
    bool fraction = false;
    int64_t exponent = 0; /* of the last digit in scratch */
    int rc = SAP_OK;

    buf_clear(scratch);
    for (const uint8_t *p = text + negative; p < end && rc == SAP_OK; p++) {
        if (*p == '.') {
            fraction = true;
        } else if (*p == 'e' || *p == 'E') {
            exponent += read_exponent(p + 1, end);
            break;
        } else {
            exponent -= fraction;
            if (scratch->len > 0 || *p != '0') {
                rc = buf_append_u8(scratch, *p);
            }
        }
    }
    if (rc != SAP_OK) {
        return rc;
    }
    int64_t point = exponent + (int64_t)scratch->len;
    double v = 0;
    if (scratch->len > 0 && point > LAST_EXPONENT) {
        v = HUGE_VAL;
    } else if (scratch->len > 0 && point > FIRST_EXPONENT) {
        rc = buf_printf(scratch, "e%lld", (long long)exponent);
        rc = rc == SAP_OK ? buf_append_u8(scratch, '\0') : rc;
        if (rc != SAP_OK) {
            return rc;
        }
        v = strtod((const char *)scratch->data, NULL);
    }
    *out = negative ? -v : v;
    return SAP_OK;
}
