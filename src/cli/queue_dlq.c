/* queue_dlq.c - dead letters: messages that failed too often, listed, shown, replayed, dropped. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/db.h"
#include "cli/progress.h"
#include "cli/queue.h"

enum { BATCH_MOST = 1000 }; /* of one commit */

/* "orders", or "worker 7" where no queue is. */
static void owner_text(const AccessLetter *letter, char text[QUEUE_SHOWN])
{
    if (letter->queue.len > 0) {
        (void)queue_shown(letter->queue, text);
    } else {
        (void)snprintf(text, QUEUE_SHOWN, "worker %" PRIu64, letter->worker);
    }
}

/* False: what is kept is not a message. */
static bool decode(const AccessLetter *letter, SapRunnerV0Message *message)
{
    return sap_runner_wire_v0_decode_message(letter->frame.data, (uint32_t)letter->frame.len,
                                             message) == SAP_RUNNER_WIRE_OK;
}

static Slice payload_of(const AccessLetter *letter, const SapRunnerV0Message *message, bool decoded)
{
    return decoded ? (Slice){message->payload, message->payload_len} : letter->frame;
}

/* The file, and --queue if it is given. EXIT_DONE: open. */
static int letters_open(const Call *call, unsigned flags, Access **access_out)
{
    const char *path = call_operand(call, 0);
    const char *name = NULL;
    int code = queue_name(call, &name);

    if (code == EXIT_DONE) {
        code = file_open(call, path, &(AccessOptions){.flags = flags}, access_out);
    }
    if (code == EXIT_DONE && call_has(call, OPTION_QUEUE)) {
        code = queue_find(call, path, *access_out, name);
        if (code != EXIT_DONE) {
            code = file_close(call, path, *access_out, code);
        }
    }
    return code;
}

/* ---- list and show ----------------------------------------------------------------------------- */

typedef struct Show {
    const Call *call;
    uint64_t left; /* how many more; 0 from the beginning: all */
    bool limited;
    bool headed;
    uint64_t number; /* show: the one that is meant */
    bool found;
    Buf text;
    int code; /* what ended it, if not EXIT_DONE */
} Show;

static json_t *letter_json(const AccessLetter *letter)
{
    SapRunnerV0Message m;
    bool decoded = decode(letter, &m);
    char error[UI_TEXT];
    json_t *object = json_object();
    bool ok =
        object != NULL &&
        (letter->queue.len == 0 || json_set_bytes(object, "queue", letter->queue) == 0) &&
        json_set_int(object, "worker", (int64_t)letter->worker) == 0 &&
        json_set_int(object, "seq", (int64_t)queue_number(letter->seq)) == 0 &&
        json_object_set_new(object, "priority",
                            json_string(queue_is_high(letter->seq) ? "high" : "normal")) == 0 &&
        json_set_int(object, "rc", letter->rc) == 0 &&
        json_object_set_new(object, "error", json_text(queue_error(letter->rc, error))) == 0 &&
        json_set_int(object, "attempts", letter->attempts) == 0 &&
        json_set_bytes(object, decoded ? "payload" : "frame", payload_of(letter, &m, decoded)) == 0;

    if (ok && decoded) {
        ok = json_set_bytes(object, "id", (Slice){m.message_id, m.message_id_len}) == 0 &&
             json_set_int(object, "sent_ms", m.route_timestamp) == 0 &&
             (m.trace_id == NULL ||
              json_set_bytes(object, "trace_id", (Slice){m.trace_id, m.trace_id_len}) == 0);
    }
    if (!ok) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int print_buf(const Show *show, int rc)
{
    if (rc != SAP_OK) {
        return ui_no_memory(show->call->ui);
    }
    return fwrite(show->text.data, 1, show->text.len, stdout) == show->text.len
               ? EXIT_DONE
               : ui_finish(show->call->ui);
}

static int list_text(Show *show, const AccessLetter *letter)
{
    SapRunnerV0Message m;
    bool decoded = decode(letter, &m);
    char owner[QUEUE_SHOWN];
    char age[UI_TEXT];
    char error[UI_TEXT];

    if (!show->headed) {
        (void)printf("%-16s %8s  %8s  %10s  %-32s  %-24s  %s\n", "QUEUE", "SEQ", "ATTEMPTS", "AGE",
                     "ID", "PAYLOAD", "ERROR");
        show->headed = true;
    }
    owner_text(letter, owner);
    buf_clear(&show->text);
    int rc = buf_printf(&show->text, "%-16s %8" PRIu64 "  %8" PRIu32 "  %10s  ", owner,
                        queue_number(letter->seq), letter->attempts,
                        queue_age(decoded ? m.route_timestamp : 0, age));
    size_t start = show->text.len;
    if (rc == SAP_OK) {
        rc = decoded ? queue_id_text(&show->text, (Slice){m.message_id, m.message_id_len})
                     : buf_append_str(&show->text, "(not a message)");
    }
    rc = rc == SAP_OK ? queue_pad(&show->text, start, 32) : rc;
    start = show->text.len;
    rc = rc == SAP_OK ? queue_preview(&show->text, payload_of(letter, &m, decoded)) : rc;
    rc = rc == SAP_OK ? queue_pad(&show->text, start, 24) : rc;
    rc = rc == SAP_OK ? buf_printf(&show->text, "%s\n", queue_error(letter->rc, error)) : rc;
    return print_buf(show, rc);
}

static int list_letter(const AccessLetter *letter, void *ctx)
{
    Show *show = (Show *)ctx;

    if (show->limited && show->left-- == 0) {
        show->found = true;
        return SAP_NOTFOUND; /* enough */
    }
    show->code = show->call->ui->json ? ui_object(show->call->ui, letter_json(letter))
                                      : list_text(show, letter);
    return show->code == EXIT_DONE ? SAP_OK : SAP_IO;
}

int queue_dlq_list_verb(const Call *call)
{
    const char *path = call_operand(call, 0);
    Show show = {.call = call, .limited = call_has(call, OPTION_LIMIT)};
    Access *access = NULL;
    int code = call_number(call, OPTION_LIMIT, 1, UINT64_MAX, 0, &show.left);

    code = code == EXIT_DONE ? letters_open(call, db_reading.flags, &access) : code;
    if (code != EXIT_DONE) {
        return code;
    }
    int rc = access_letters(access, call_value(call, OPTION_QUEUE), list_letter, &show);
    code = show.code != EXIT_DONE       ? show.code
           : rc == SAP_OK || show.found ? EXIT_DONE
                                        : db_failed(call, path, access, rc);
    if (code == EXIT_DONE && rc == SAP_OK && !show.headed && !call->ui->json) {
        ui_note(call->ui, "there are no dead letters");
    }
    buf_release(&show.text);
    return file_close(call, path, access, code);
}

/* A number as an operand. */
static int parse_number(const Call *call, const char *text, uint64_t *number_out)
{
    char *end = NULL;

    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number >> 63 != 0) {
        return call_usage(call, "'%s' is not the number of a dead letter, as dlq list shows it",
                          text);
    }
    *number_out = number;
    return EXIT_DONE;
}

static int show_text(Show *show, const AccessLetter *letter)
{
    SapRunnerV0Message m;
    bool decoded = decode(letter, &m);
    char owner[QUEUE_SHOWN];
    char age[UI_TEXT];
    char error[UI_TEXT];

    owner_text(letter, owner);
    (void)printf("queue:    %s\nseq:      %" PRIu64 "%s\nerror:    %s (%" PRId32
                 ")\nattempts: %" PRIu32 "\n",
                 owner, queue_number(letter->seq), queue_is_high(letter->seq) ? " (high)" : "",
                 queue_error(letter->rc, error), letter->rc, letter->attempts);
    buf_clear(&show->text);
    int rc = SAP_OK;
    if (decoded) {
        (void)printf("age:      %s\n", queue_age(m.route_timestamp, age));
        rc = buf_append_str(&show->text, "id:       ");
        rc =
            rc == SAP_OK ? queue_id_text(&show->text, (Slice){m.message_id, m.message_id_len}) : rc;
        if (m.trace_id != NULL && rc == SAP_OK) {
            rc = buf_append_str(&show->text, "\ntrace:    ");
            rc =
                rc == SAP_OK ? queue_id_text(&show->text, (Slice){m.trace_id, m.trace_id_len}) : rc;
        }
        rc = rc == SAP_OK ? buf_append_u8(&show->text, '\n') : rc;
    }
    rc = rc == SAP_OK
             ? buf_printf(&show->text, "%s\n", decoded ? "payload:" : "not a message; its bytes:")
             : rc;
    Slice payload = payload_of(letter, &m, decoded);
    int code = print_buf(show, rc);
    return code != EXIT_DONE                                   ? code
           : ui_write(stdout, payload) && putchar('\n') != EOF ? EXIT_DONE
                                                               : ui_finish(show->call->ui);
}

static int show_letter(const AccessLetter *letter, void *ctx)
{
    Show *show = (Show *)ctx;

    if (queue_number(letter->seq) != show->number) {
        return SAP_OK;
    }
    show->found = true;
    show->code = show->call->ui->json ? ui_object(show->call->ui, letter_json(letter))
                                      : show_text(show, letter);
    return show->code == EXIT_DONE ? SAP_OK : SAP_IO;
}

static int no_such_letter(const Call *call, uint64_t number)
{
    char hint[256];

    (void)snprintf(hint, sizeof hint, "see which there are: sapling queue dlq list %.200s",
                   call_operand(call, 0));
    return ui_fail(call->ui, EXIT_NOT_FOUND, hint, "there is no dead letter %" PRIu64, number);
}

int queue_dlq_show_verb(const Call *call)
{
    const char *path = call_operand(call, 0);
    Show show = {.call = call};
    Access *access = NULL;
    int code = parse_number(call, call_operand(call, 1), &show.number);

    code = code == EXIT_DONE ? letters_open(call, db_reading.flags, &access) : code;
    if (code != EXIT_DONE) {
        return code;
    }
    int rc = access_letters(access, NULL, show_letter, &show);
    code = show.code != EXIT_DONE ? show.code
           : rc != SAP_OK         ? db_failed(call, path, access, rc)
           : show.found           ? EXIT_DONE
                                  : no_such_letter(call, show.number);
    buf_release(&show.text);
    return file_close(call, path, access, code);
}

/* ---- replay and drop --------------------------------------------------------------------------- */

typedef struct Choice {
    const Call *call;
    uint64_t *wanted; /* numbers; those that were found are marked */
    bool *found;
    uint32_t wanted_count; /* 0: all */
    Buf chosen;            /* AccessLetterEnd after AccessLetterEnd */
    Buf owners;            /* for each the name of its queue, ended by NUL */
} Choice;

static int choose(const AccessLetter *letter, void *ctx)
{
    Choice *choice = (Choice *)ctx;
    AccessLetterEnd end = {.worker = letter->worker, .seq = letter->seq};
    bool wanted = choice->wanted_count == 0;
    char owner[QUEUE_SHOWN];

    for (uint32_t i = 0; i < choice->wanted_count; i++) {
        if (choice->wanted[i] == queue_number(letter->seq)) {
            wanted = choice->found[i] = true;
        }
    }
    if (!wanted) {
        return SAP_OK;
    }
    owner_text(letter, owner);
    int rc = buf_append(&choice->chosen, &end, sizeof end);
    return rc == SAP_OK ? buf_append(&choice->owners, owner, strlen(owner) + 1) : rc;
}

static int read_choice(const Call *call, Choice *choice)
{
    bool all = call_has(call, OPTION_ALL);
    uint32_t count = call->operand_count - 1;
    int code = EXIT_DONE;

    if (all == (count > 0)) {
        return call_usage(call, all ? "--all goes without numbers"
                                    : "which? Their numbers behind FILE, or --all");
    }
    choice->wanted = (uint64_t *)calloc(count + 1, sizeof *choice->wanted);
    choice->found = (bool *)calloc(count + 1, sizeof *choice->found);
    if (choice->wanted == NULL || choice->found == NULL) {
        return ui_no_memory(call->ui);
    }
    choice->wanted_count = count;
    for (uint32_t i = 0; i < count && code == EXIT_DONE; i++) {
        code = parse_number(call, call_operand(call, i + 1), &choice->wanted[i]);
    }
    return code;
}

static int letter_done(const Call *call, AccessLetterOp op, const AccessLetterEnd *end,
                       const char *owner, bool dry_run)
{
    json_t *object;
    bool replay = op == ACCESS_LETTER_REPLAY;

    if (!call->ui->json) {
        if (replay && !dry_run) {
            (void)printf("%" PRIu64 "\n", queue_number(end->new_seq));
        }
        return EXIT_DONE;
    }
    object = json_object();
    if (object == NULL || json_set_bytes(object, "queue", slice_from_str(owner)) != 0 ||
        json_set_int(object, "dead_letter", (int64_t)queue_number(end->seq)) != 0 ||
        (replay && !dry_run &&
         json_set_int(object, "seq", (int64_t)queue_number(end->new_seq)) != 0) ||
        (dry_run && json_object_set_new(object, "dry_run", json_true()) != 0)) {
        json_decref(object);
        return ui_no_memory(call->ui);
    }
    return ui_object(call->ui, object);
}

static const char *letters_text(uint64_t count, char text[UI_TEXT])
{
    char digits[UI_TEXT];

    (void)snprintf(text, UI_TEXT, "%.20s dead letter%s", ui_count(count, digits),
                   count == 1 ? "" : "s");
    return text;
}

typedef struct Done {
    uint64_t count;
    uint64_t bad; /* those that are not messages */
} Done;

static int end_letters(const Call *call, const char *path, Access *access, AccessLetterOp op,
                       const Choice *choice, Done *done)
{
    AccessLetterEnd *letters = (AccessLetterEnd *)(void *)choice->chosen.data;
    uint64_t count = choice->chosen.len / sizeof *letters;
    bool dry_run = call_has(call, OPTION_DRY_RUN);
    const char *owner = (const char *)choice->owners.data;
    Progress progress;
    int code = EXIT_DONE;

    progress_start(&progress, call->ui, op == ACCESS_LETTER_REPLAY ? "replay" : "drop", false,
                   count);
    for (uint64_t at = 0; at < count && code == EXIT_DONE; at += BATCH_MOST) {
        uint32_t some = (uint32_t)(count - at < BATCH_MOST ? count - at : BATCH_MOST);
        int rc = dry_run ? SAP_OK : access_letters_end(access, op, letters + at, some);
        if (rc != SAP_OK) {
            code = db_failed(call, path, access, rc);
        }
        for (uint32_t i = 0; i < some && code == EXIT_DONE; i++) {
            const AccessLetterEnd *end = &letters[at + i];
            if (end->rc == SAP_OK) {
                code = letter_done(call, op, end, owner, dry_run);
                done->count++;
            } else if (end->rc == SAP_INVALID) {
                (void)ui_fail(call->ui, EXIT_FAILED, "look at it with dlq show, then dlq drop",
                              "dead letter %" PRIu64 " is not a message: no queue can have it",
                              queue_number(end->seq));
                done->bad++;
            }
            owner += strlen(owner) + 1;
        }
        progress_at(&progress, at + some);
    }
    progress_end(&progress);
    return code;
}

static int act(const Call *call, const char *path, Access *access, AccessLetterOp op,
               const Choice *choice)
{
    bool drop = op == ACCESS_LETTER_DROP;
    bool dry_run = call_has(call, OPTION_DRY_RUN);
    uint64_t count = choice->chosen.len / sizeof(AccessLetterEnd);
    Done done = {0};
    char text[UI_TEXT];
    char question[400];

    for (uint32_t i = 0; i < choice->wanted_count; i++) {
        if (!choice->found[i]) {
            return no_such_letter(call, choice->wanted[i]);
        }
    }
    (void)snprintf(question, sizeof question, "drop %s of %.300s for ever",
                   letters_text(count, text), path);
    int code = drop && !dry_run && count > 0
                   ? ui_confirm(call->ui, call_has(call, OPTION_YES), question)
                   : EXIT_DONE;
    if (code == EXIT_DONE) {
        code = end_letters(call, path, access, op, choice, &done);
    }
    if (code == EXIT_DONE) {
        ui_note(call->ui, "%s %s%s", letters_text(done.count, text), dry_run ? "would be " : "",
                drop      ? "dropped"
                : dry_run ? "put back"
                          : "put back into the queue");
    }
    return code == EXIT_DONE && done.bad > 0 ? EXIT_FAILED : code;
}

static int end_verb(const Call *call, AccessLetterOp op)
{
    const char *path = call_operand(call, 0);
    Choice choice = {.call = call};
    Access *access = NULL;
    int code = read_choice(call, &choice);

    code = code == EXIT_DONE ? letters_open(call, 0, &access) : code;
    if (code == EXIT_DONE) {
        int rc = access_letters(access, call_value(call, OPTION_QUEUE), choose, &choice);
        code =
            rc == SAP_OK ? act(call, path, access, op, &choice) : db_failed(call, path, access, rc);
        code = file_close(call, path, access, code);
    }
    free(choice.wanted);
    free(choice.found);
    buf_release(&choice.chosen);
    buf_release(&choice.owners);
    return code;
}

int queue_dlq_replay_verb(const Call *call)
{
    return end_verb(call, ACCESS_LETTER_REPLAY);
}

int queue_dlq_drop_verb(const Call *call)
{
    return end_verb(call, ACCESS_LETTER_DROP);
}
