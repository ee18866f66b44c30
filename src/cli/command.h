/* command.h - what the command can do, as one table, and a call of it.
 *
 * The table (commands_node.c, then commands.c) is the only place that knows verbs, operands, options, examples and exit
 * codes. Parsing, help, completion and the man page are all made from it, so they cannot disagree.
 *
 * Options may stand before, between and behind operands, as `--name VALUE` or `--name=VALUE`; `--`
 * ends them. An option that is given twice counts the last time, unless the command asks for all. */
#ifndef SAPLING_CLI_COMMAND_H
#define SAPLING_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/output.h"

typedef enum OptionId {
    OPTION_NONE,
    OPTION_ADDRESS,
    OPTION_AFTER,
    OPTION_ALL,
    OPTION_BATCH,
    OPTION_CODE,
    OPTION_COLOR,
    OPTION_CONFIG,
    OPTION_CORRELATION,
    OPTION_COUNT,
    OPTION_COUNT_ONLY,
    OPTION_CURL,
    OPTION_DEDUPE,
    OPTION_DELAY,
    OPTION_DELIMITER,
    OPTION_DETACH,
    OPTION_DRY_RUN,
    OPTION_DUPSORT,
    OPTION_EXEC,
    OPTION_FOLLOW,
    OPTION_FORCE,
    OPTION_FORMAT,
    OPTION_FROM,
    OPTION_FROM_LINE,
    OPTION_GIVE_UP,
    OPTION_HEADER,
    OPTION_HELP,
    OPTION_HEX,
    OPTION_ID,
    OPTION_JOIN,
    OPTION_JSON,
    OPTION_KEY,
    OPTION_KEYS,
    OPTION_KIND,
    OPTION_LEASE,
    OPTION_LIMIT,
    OPTION_MAN,
    OPTION_MESSAGE,
    OPTION_MODULE,
    OPTION_NAME,
    OPTION_NAMES,
    OPTION_NEW,
    OPTION_ON_FAILURE,
    OPTION_PAGE_SIZE,
    OPTION_PREFIX,
    OPTION_PRIORITY,
    OPTION_QUEUE,
    OPTION_QUIET,
    OPTION_RANGE,
    OPTION_RAW,
    OPTION_REASON,
    OPTION_RETRY_DELAY,
    OPTION_MAX_ATTEMPTS,
    OPTION_REVERSE,
    OPTION_SCHEMA,
    OPTION_SCOPE,
    OPTION_SEED,
    OPTION_SEEDS,
    OPTION_SETTINGS,
    OPTION_SKIP,
    OPTION_SKIP_BAD,
    OPTION_STATE,
    OPTION_STATUS,
    OPTION_STEP,
    OPTION_STEPS,
    OPTION_STRONG,
    OPTION_TABLE,
    OPTION_TABLES,
    OPTION_TAG,
    OPTION_TIMEOUT,
    OPTION_TO,
    OPTION_TOKEN_FILE,
    OPTION_TRACE,
    OPTION_UNIVERSE,
    OPTION_VALUE,
    OPTION_WAIT,
    OPTION_YES,
    OPTION_NODE_FIRST, /* those of a node, by the keys of its configuration */
} OptionId;

/* The option of a ConfigKey. */
#define OPTION_NODE(key) ((OptionId)(OPTION_NODE_FIRST + (int)(key)))

typedef struct Option {
    OptionId id; /* OPTION_NONE ends a list */
    char letter; /* 0: none */
    const char *name;
    const char *value; /* what help calls its value; NULL: it takes none; "[=X]": only behind '=' */
    const char *choices; /* the values it may have, separated by '|'; NULL: any */
    bool common;         /* listed before the others */
    const char *help;
} Option;

/* Whether the next word is its value, where there is none behind '='. */
static inline bool option_needs_value(const Option *option)
{
    return option->value != NULL && option->value[0] != '[';
}

typedef struct Call Call;

typedef struct Command {
    const char *group; /* NULL: stands alone */
    const char *name;  /* of one word, or of two with a space */
    const char *task;  /* the heading under which it is listed */
    const char *summary;
    const char *operands; /* as usage shows them; "[X]" may be left out */
    uint32_t operands_least;
    uint32_t operands_most;
    const Option *options;   /* besides those that all commands have */
    const char *examples[4]; /* at least two, then NULL */
    const char *notes;       /* further lines of help; NULL: none */
    uint8_t exits[6];        /* besides 0, 1 and 2; ends with 0 */
    int (*run)(const Call *call);
} Command;

/* The two parts of the table: what talks to a node, and what works on files and on its own. Each ends with
 * a command that has no name. */
extern const Command node_commands[];
extern const Command file_commands[];
/* The commands of both, in the order of help; NULL: there are no more. */
const Command *command_at(uint32_t index);
/* Those that all commands have. */
extern const Option global_options[];

typedef struct GivenOption {
    OptionId id;
    const char *value; /* NULL: it takes none */
} GivenOption;

struct Call {
    const Command *command;
    const Ui *ui;
    const char *const *operands;
    uint32_t operand_count;
    const GivenOption *given;
    uint32_t given_count;
};

/* Runs what the arguments ask for; the exit status. */
int command_main(int argc, char **argv);

/* NULL: no such operand. */
const char *call_operand(const Call *call, uint32_t index);
bool call_has(const Call *call, OptionId id);
/* The last value given; NULL: none. */
const char *call_value(const Call *call, OptionId id);
/* A value as a number of least to most, `otherwise` if it is not given. EXIT_DONE, or EXIT_USAGE
 * after saying so. */
int call_number(const Call *call, OptionId id, uint64_t least, uint64_t most, uint64_t otherwise,
                uint64_t *number_out);
/* A value as a time in milliseconds: a number with ms, s, m, h or d behind it, without one seconds. As
 * call_number(). */
int call_duration(const Call *call, OptionId id, uint64_t least_ms, uint64_t most_ms,
                  uint64_t otherwise_ms, uint64_t *ms_out);
/* Says what is wrong with the arguments and where help is; EXIT_USAGE. */
int call_usage(const Call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The command of that name in that group; NULL: none. */
const Command *command_find(const char *group, const char *name);
/* Whether commands of the group have names of two words of which this is the first. */
bool command_is_first_word(const char *group, const char *word);
/* The option of a command, or one of all commands, by name; NULL: none. */
const Option *command_option(const Command *command, const char *name, size_t name_len);

#endif
