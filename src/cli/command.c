#include "cli/command.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "cli/interrupt.h"
#include "common/fd.h"
#include "node/nearest.h"
#include "node/units.h"

/* ---- Finding --------------------------------------------------------------------------------- */

static bool same_group(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

const Command *command_at(uint32_t index)
{
    const Command *part = node_commands;

    for (uint32_t i = 0;; i++) {
        if (part[i].name == NULL && part == node_commands) {
            part = file_commands;
            index -= i;
            i = 0;
        }
        if (part[i].name == NULL) {
            return NULL;
        }
        if (i == index) {
            return &part[i];
        }
    }
}

const Command *command_find(const char *group, const char *name)
{
    const Command *command;

    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (same_group(command->group, group) && strcmp(command->name, name) == 0) {
            return command;
        }
    }
    return NULL;
}

bool command_is_first_word(const char *group, const char *word)
{
    size_t len = strlen(word);
    const Command *command;

    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (same_group(command->group, group) && strncmp(command->name, word, len) == 0 &&
            command->name[len] == ' ') {
            return true;
        }
    }
    return false;
}

static const Option *option_in(const Option *options, const char *name, size_t name_len)
{
    for (; options != NULL && options->id != OPTION_NONE; options++) {
        if (strlen(options->name) == name_len && memcmp(options->name, name, name_len) == 0) {
            return options;
        }
    }
    return NULL;
}

const Option *command_option(const Command *command, const char *name, size_t name_len)
{
    const Option *option = option_in(command->options, name, name_len);
    return option != NULL ? option : option_in(global_options, name, name_len);
}

static const Option *option_by_letter(const Command *command, char letter)
{
    for (const Option *o = command->options; o != NULL && o->id != OPTION_NONE; o++) {
        if (o->letter == letter) {
            return o;
        }
    }
    for (const Option *o = global_options; o->id != OPTION_NONE; o++) {
        if (o->letter == letter) {
            return o;
        }
    }
    return NULL;
}

/* ---- A call ---------------------------------------------------------------------------------- */

const char *call_operand(const Call *call, uint32_t index)
{
    return index < call->operand_count ? call->operands[index] : NULL;
}

bool call_has(const Call *call, OptionId id)
{
    for (uint32_t i = 0; i < call->given_count; i++) {
        if (call->given[i].id == id) {
            return true;
        }
    }
    return false;
}

const char *call_value(const Call *call, OptionId id)
{
    const char *value = NULL;

    for (uint32_t i = 0; i < call->given_count; i++) {
        if (call->given[i].id == id) {
            value = call->given[i].value;
        }
    }
    return value;
}

/* The command as one types it: "db scan". */
static const char *full_name(const Command *command, char *text, size_t size)
{
    (void)snprintf(text, size, "%s%s%s", command->group != NULL ? command->group : "",
                   command->group != NULL ? " " : "", command->name);
    return text;
}

int call_usage(const Call *call, const char *format, ...)
{
    char name[64];
    char hint[128];
    va_list args;

    (void)snprintf(hint, sizeof hint, "see: sapling %s --help",
                   full_name(call->command, name, sizeof name));
    va_start(args, format);
    (void)ui_fail_v(call->ui, EXIT_USAGE, hint, format, args);
    va_end(args);
    return EXIT_USAGE;
}

static const char *option_name(const Call *call, OptionId id)
{
    for (const Option *o = call->command->options; o->id != OPTION_NONE; o++) {
        if (o->id == id) {
            return o->name;
        }
    }
    return "?";
}

int call_number(const Call *call, OptionId id, uint64_t least, uint64_t most, uint64_t otherwise,
                uint64_t *number_out)
{
    const char *text = call_value(call, id);
    char *end = NULL;

    if (text == NULL) {
        *number_out = otherwise;
        return EXIT_DONE;
    }
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number < least ||
        number > most) {
        if (most == UINT64_MAX) {
            return call_usage(call, "--%s %s is not a number from %" PRIu64 " on",
                              option_name(call, id), text, least);
        }
        return call_usage(call, "--%s %s is not a number from %" PRIu64 " to %" PRIu64,
                          option_name(call, id), text, least, most);
    }
    *number_out = number;
    return EXIT_DONE;
}

int call_duration(const Call *call, OptionId id, uint64_t least_ms, uint64_t most_ms,
                  uint64_t otherwise_ms, uint64_t *ms_out)
{
    const char *text = call_value(call, id);
    uint64_t ms = 0;

    if (text == NULL) {
        *ms_out = otherwise_ms;
        return EXIT_DONE;
    }
    if (!units_read_time(text, &ms) || ms > most_ms || ms < least_ms) {
        return call_usage(call,
                          "--%s %s is not a time such as 500ms, 30s, 5m, 2h or 1d, from %" PRIu64
                          " ms to %" PRIu64 " d",
                          option_name(call, id), text, least_ms, most_ms / 86400000);
    }
    *ms_out = ms;
    return EXIT_DONE;
}

/* ---- Parsing --------------------------------------------------------------------------------- */

typedef struct Parse {
    Call call;
    Ui ui;
    const char **operands; /* room for argc of each */
    GivenOption *given;
    int argc;
    char **argv;
    int at;
} Parse;

static bool is_choice(const char *choices, const char *value)
{
    size_t len = strlen(value);

    for (const char *at = choices; at != NULL; at = strchr(at, '|')) {
        at += at == choices ? 0 : 1;
        if (strncmp(at, value, len) == 0 && (at[len] == '|' || at[len] == '\0')) {
            return true;
        }
    }
    return false;
}

static int unknown_option(const Parse *parse, const char *shown, const char *name, size_t name_len)
{
    Nearest nearest;
    char hint[128];

    nearest_start(&nearest, name, name_len);
    for (const Option *o = parse->call.command->options; o->id != OPTION_NONE; o++) {
        nearest_try(&nearest, o->name);
    }
    for (const Option *o = global_options; o->id != OPTION_NONE; o++) {
        nearest_try(&nearest, o->name);
    }
    if (nearest.name == NULL) {
        return call_usage(&parse->call, "no such option: %s", shown);
    }
    (void)snprintf(hint, sizeof hint, "did you mean --%s?", nearest.name);
    return ui_fail(parse->call.ui, EXIT_USAGE, hint, "no such option: %s", shown);
}

static int give(Parse *parse, const Option *option, const char *value)
{
    if (option_needs_value(option) && value == NULL) {
        if (parse->at >= parse->argc) {
            return call_usage(&parse->call, "--%s needs a value: --%s %s", option->name,
                              option->name, option->value);
        }
        value = parse->argv[parse->at++];
    }
    if (option->value == NULL && value != NULL) {
        return call_usage(&parse->call, "--%s takes no value", option->name);
    }
    if (option->choices != NULL && value != NULL && !is_choice(option->choices, value)) {
        return call_usage(&parse->call, "--%s %s: it is one of %s", option->name, value,
                          option->choices);
    }
    parse->given[parse->call.given_count++] = (GivenOption){option->id, value};
    return EXIT_DONE;
}

static int parse_option(Parse *parse, const char *word)
{
    if (word[1] == '-') {
        const char *name = word + 2;
        const char *equals = strchr(name, '=');
        size_t len = equals != NULL ? (size_t)(equals - name) : strlen(name);
        const Option *option = command_option(parse->call.command, name, len);

        return option == NULL ? unknown_option(parse, word, name, len)
                              : give(parse, option, equals != NULL ? equals + 1 : NULL);
    }
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const Option *option = option_by_letter(parse->call.command, *letter);
        if (option == NULL) {
            return unknown_option(parse, word, letter, 1);
        }
        bool rest = option_needs_value(option) && letter[1] != '\0';
        int code = give(parse, option, rest ? letter + 1 : NULL);
        if (code != EXIT_DONE || rest) {
            return code;
        }
    }
    return EXIT_DONE;
}

static int parse_words(Parse *parse)
{
    bool options = true;

    while (parse->at < parse->argc) {
        const char *word = parse->argv[parse->at++];

        if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (options && word[0] == '-' && word[1] != '\0') {
            int code = parse_option(parse, word);
            if (code != EXIT_DONE) {
                return code;
            }
        } else {
            parse->operands[parse->call.operand_count++] = word;
        }
    }
    return EXIT_DONE;
}

static int check_operands(const Call *call)
{
    const Command *command = call->command;

    if (call->operand_count < command->operands_least) {
        return call_usage(call, "something is missing: %s", command->operands);
    }
    if (call->operand_count > command->operands_most) {
        return call_usage(call,
                          "too many arguments: '%s' (a key that begins with - comes behind --)",
                          call->operands[command->operands_most]);
    }
    return EXIT_DONE;
}

/* The options that decide how errors are told are looked for first, whatever else is wrong. */
static void scan_ui(Parse *parse)
{
    const char *color = NULL;

    for (int i = 1; i < parse->argc && strcmp(parse->argv[i], "--") != 0; i++) {
        const char *word = parse->argv[i];
        if (strcmp(word, "--json") == 0) {
            parse->ui.json = true;
        } else if (strcmp(word, "--quiet") == 0 || strcmp(word, "-q") == 0) {
            parse->ui.quiet = true;
        } else if (strncmp(word, "--color=", 8) == 0) {
            color = word + 8;
        } else if (strcmp(word, "--color") == 0 && i + 1 < parse->argc) {
            color = parse->argv[++i];
        }
    }
    ui_colors(&parse->ui, color);
}

static int run(Parse *parse)
{
    int code = parse_words(parse);

    if (call_has(&parse->call, OPTION_HELP)) {
        help_command(&parse->ui, parse->call.command);
        return ui_finish(&parse->ui);
    }
    if (code == EXIT_DONE) {
        code = check_operands(&parse->call);
    }
    if (code == EXIT_DONE) {
        code = parse->call.command->run(&parse->call);
    }
    int written = ui_finish(&parse->ui);
    return code != EXIT_DONE ? code : written;
}

/* What the first words name; *at is behind them. NULL: *code_out is the exit status. */
static const Command *find_command(const Parse *parse, int *at, int *code_out)
{
    const Ui *ui = &parse->ui;
    const char *word = NULL;
    const char *group = NULL;

    while (*at < parse->argc && parse->argv[*at][0] == '-') {
        word = parse->argv[(*at)++];
        if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
            help_version(ui);
            *code_out = ui_finish(ui);
            return NULL;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            help_overview(ui, NULL);
            *code_out = ui_finish(ui);
            return NULL;
        }
        const Option *option =
            word[1] == '-' ? option_in(global_options, word + 2, strcspn(word + 2, "=")) : NULL;
        if (option == NULL && strcmp(word, "-q") != 0) {
            *code_out = ui_fail(ui, EXIT_USAGE, "see: sapling --help", "no such option: %s", word);
            return NULL;
        }
        if (option != NULL && option_needs_value(option) && strchr(word, '=') == NULL) {
            (*at)++;
        }
    }
    if (*at >= parse->argc) {
        help_first(ui);
        *code_out = ui_finish(ui);
        return NULL;
    }
    word = parse->argv[(*at)++];
    if (strcmp(word, "version") == 0) {
        help_version(ui);
        *code_out = ui_finish(ui);
        return NULL;
    }
    if (help_is_group(word)) {
        group = word;
        if (*at >= parse->argc || strcmp(parse->argv[*at], "--help") == 0 ||
            strcmp(parse->argv[*at], "-h") == 0) {
            help_overview(ui, group);
            *code_out = ui_finish(ui);
            return NULL;
        }
        word = parse->argv[(*at)++];
    }
    char both[64];
    if (command_is_first_word(group, word)) {
        const char *second = *at < parse->argc ? parse->argv[(*at)++] : "--help";
        if (strcmp(second, "--help") == 0 || strcmp(second, "-h") == 0) {
            help_overview(ui, group);
            *code_out = ui_finish(ui);
            return NULL;
        }
        (void)snprintf(both, sizeof both, "%.20s %.40s", word, second);
        word = both;
    }
    const Command *command = command_find(group, word);
    if (command == NULL) {
        *code_out = help_no_such(ui, group, word);
    }
    return command;
}

static int run_words(int argc, char **argv)
{
    Parse parse = {.argc = argc, .argv = argv, .at = 1};
    int code = EXIT_DONE;

    ui_hold_output();
    scan_ui(&parse);
    interrupt_install(parse.ui.json);
    parse.call.ui = &parse.ui;
    parse.call.command = find_command(&parse, &parse.at, &code);
    if (parse.call.command == NULL) {
        return code;
    }
    /* Letters in one word can be more than words: each is one byte of an argument. */
    size_t most = 1;
    for (int i = 0; i < argc; i++) {
        most += strlen(argv[i]) + 1;
    }
    parse.operands = (const char **)calloc((size_t)argc + 1, sizeof *parse.operands);
    parse.given = (GivenOption *)calloc(most, sizeof *parse.given);
    parse.call.operands = parse.operands;
    parse.call.given = parse.given;
    code = parse.operands == NULL || parse.given == NULL ? ui_no_memory(&parse.ui) : run(&parse);
    free(parse.operands);
    free(parse.given);
    return code;
}

int command_main(int argc, char **argv)
{
    if (!fd_fill_standard()) {
        return EXIT_FAILED; /* there may be nowhere to say why */
    }
    int code = run_words(argc, argv);
    if (code == EXIT_READER_GONE) {
        (void)signal(SIGPIPE, SIG_DFL);
        (void)raise(SIGPIPE);
    }
    return code;
}
