#include "support/orders.h"

#include "common/bytes.h"
#include "support/expect.h"

static const OrderKind contexts[ORDER_COUNT] = {ORDER_BYTES, ORDER_REVERSE, ORDER_FOLDED,
                                                ORDER_LENGTH};

static void expect_own_context(const void *ctx, OrderKind kind)
{
    EXPECT(ctx == &contexts[kind], "the comparator of order %d got another's context", (int)kind);
}

static int compare_reverse(const void *a, uint32_t a_len, const void *b, uint32_t b_len, void *ctx)
{
    expect_own_context(ctx, ORDER_REVERSE);
    return -bytes_compare(a, a_len, b, b_len);
}

static int fold(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte;
}

static int compare_folded(const void *a, uint32_t a_len, const void *b, uint32_t b_len, void *ctx)
{
    const uint8_t *pa = a;
    const uint8_t *pb = b;

    expect_own_context(ctx, ORDER_FOLDED);
    for (uint32_t i = 0; i < a_len && i < b_len; i++) {
        int diff = fold(pa[i]) - fold(pb[i]);
        if (diff != 0) {
            return diff;
        }
    }
    if (a_len != b_len) {
        return a_len < b_len ? -7 : 7;
    }
    return bytes_compare(a, a_len, b, b_len);
}

static int compare_length(const void *a, uint32_t a_len, const void *b, uint32_t b_len, void *ctx)
{
    expect_own_context(ctx, ORDER_LENGTH);
    if (a_len != b_len) {
        return a_len < b_len ? -1000000 : 1000000;
    }
    return bytes_compare(a, a_len, b, b_len);
}

sap_keycmp_fn order_cmp(OrderKind kind)
{
    static const sap_keycmp_fn functions[ORDER_COUNT] = {NULL, compare_reverse, compare_folded,
                                                         compare_length};
    return functions[kind];
}

void *order_ctx(OrderKind kind)
{
    return kind == ORDER_BYTES ? NULL : (void *)&contexts[kind];
}
