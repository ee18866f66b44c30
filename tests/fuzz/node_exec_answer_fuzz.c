/* Lines that programs write, made up by the fuzzer: applied to a world, read as the answer of a
 * task, and as the words of a runner. Whatever they are, they are taken or refused with a text that
 * can be shown, and what was refused has changed nothing once its transaction is over; what a state
 * says of itself can be read again. */
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "node/exec_answer.h"
#include "node/exec_program.h"
#include "support/expect.h"
#include "universe/handler.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char id[] = "w@7#1";

static void expect_text(const ExecError *error)
{
    size_t len = strlen(error->text);
    EXPECT(len > 0 && utf8_valid(error->text, len), "a refusal without a text");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)error->text[i];
        EXPECT(c >= ' ' && c != 0x7f, "byte %u in a message", c);
    }
}

/* The state as text is JSON, and the event that has it is one line. */
static void expect_event(SapWorld *world)
{
    Buf members = {0};
    Buf line = {0};
    ExecError error = {""};
    EXPECT_RC(buf_append_u8(&members, '{'), SAP_OK);
    EXPECT_RC(exec_state_members(world, (Slice){"", 0}, EXEC_LINE_MOST, &members, &error), SAP_OK);
    EXPECT_RC(buf_append_u8(&members, '}'), SAP_OK);
    ExecEvent event = {.id = id, .type = "message", .state = {members.data, members.len}};
    EXPECT_RC(exec_event_line(&event, &line, &error), SAP_OK);
    EXPECT(memchr(line.data, '\n', line.len) == line.data + line.len - 1,
           "an event of several lines");
    json_t *again = exec_parse_kept(line.data, line.len);
    EXPECT(again != NULL, "the event is not JSON: %.*s", (int)line.len, (char *)line.data);
    json_decref(again);
    buf_release(&members);
    buf_release(&line);
}

static void apply_line(const char *line, size_t len, bool query, bool may_ask)
{
    const ExecAsked asked = {.id = id, .reply_to = "outside:1", .query = query, .may_ask = may_ask};
    UniverseName name;
    WorldBirth birth = {0};
    WorldState *state = NULL;
    SapWorld world;
    Buf more = {0};
    ExecAnswer answer;
    ExecError error = {""};
    EXPECT_RC(universe_name_set(&name, "w"), SAP_OK);
    EXPECT_RC(state_open(&state), SAP_OK);
    EXPECT_RC(state_begin(state), SAP_OK);
    handler_init(&world, 1, &name, &birth, state);
    world.read_only = query;
    handler_begin(&world, 7, 1);
    int rc = exec_answer_apply(&world, &asked, line, len, &more, &answer, &error);
    EXPECT(rc == SAP_OK || rc == SAP_INVALID, "answered %d", rc);
    if (rc == SAP_INVALID) {
        expect_text(&error);
    } else if (answer.verdict == EXEC_DONE) {
        EXPECT(!query || handler_intent_count(&world) <= 1, "a query that does something");
        expect_event(&world);
    } else if (answer.verdict == EXEC_ASKED) {
        EXPECT(may_ask && more.len > 0 && more.data[more.len - 1] == '\n',
               "a question without an answer");
    }
    handler_release(&world);
    state_close(state);
    buf_release(&more);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ExecTaskAnswer task = {0};
    ExecError error = {""};
    ExecProgram program;
    if (size < 1) {
        return -1;
    }
    const char *line = (const char *)data + 1;
    size_t len = size - 1;
    apply_line(line, len, (data[0] & 1) != 0, (data[0] & 2) != 0);
    if (exec_task_answer_read(id, line, len, &task, &error) == SAP_INVALID) {
        expect_text(&error);
    }
    buf_release(&task.payload);
    char *words = strndup(line, len);
    EXPECT(words != NULL, "no memory");
    if (exec_program_parse(words, &program, &error) == SAP_INVALID) {
        expect_text(&error);
    }
    exec_program_release(&program);
    free(words);
    return 0;
}
