/* hello.c - the world of hello.py as a program in C: it counts what it is sent.
 *
 * Build: cc hello.c -ljansson -o hello
 * Run:   sapling world send hello '{"n":1}' --module exec:./hello --wait */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* The member `name` of `object` as a number; 0 if there is none. */
static json_int_t number_of(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

/* The answer to one event, which the caller owns; NULL: there is no memory. */
static json_t *answer_event(const json_t *event)
{
    const json_t *state = json_object_get(event, "state");
    const json_t *body = json_object_get(event, "body");
    json_int_t n = number_of(state, "n");
    json_int_t more = number_of(body, "n");

    if (__builtin_add_overflow(n, more, &n)) {
        return json_pack("{s:O, s:{s:s, s:b}}", "id", json_object_get(event, "id"), "fail",
                         "message", "the sum has more than 64 bits", "retry", 0);
    }
    return json_pack("{s:O, s:{s:I}, s:{s:I}}", "id", json_object_get(event, "id"), "put", "n", n,
                     "reply", "n", n);
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    int status = 0;

    while (status == 0 && (len = getline(&line, &size, stdin)) > 0) {
        json_error_t error;
        json_t *event = json_loadb(line, (size_t)len, JSON_ALLOW_NUL, &error);
        json_t *answer = event == NULL ? NULL : answer_event(event);
        if (answer == NULL || json_dumpf(answer, stdout, JSON_COMPACT) != 0 ||
            putchar('\n') == EOF ||
            fflush(stdout) != 0) { /* a node waits for each line: flush it */
            fprintf(stderr, "hello: %s\n",
                    event == NULL ? error.text : "no answer could be written");
            status = 1;
        }
        json_decref(answer);
        json_decref(event);
    }
    free(line);
    return status;
}
