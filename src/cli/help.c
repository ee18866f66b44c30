#include "cli/help.h"

#include "node/nearest.h"
#include "sapling/version.h"

#include <stdio.h>
#include <string.h>

#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

enum { OPTION_COLUMN = 22 };

static void heading(const Ui *ui, const char *text)
{
    (void)printf("%s%s%s\n", ui->color_out ? BOLD : "", text, ui->color_out ? PLAIN : "");
}

void help_version(const Ui *ui)
{
    if (ui->json) {
        (void)printf("{\"version\":\"%s\"}\n", SAPLING_VERSION);
    } else {
        (void)printf("sapling %s\n", SAPLING_VERSION);
    }
}

bool help_is_group(const char *name)
{
    const Command *command;

    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (command->group != NULL && strcmp(command->group, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool in_overview(const Command *command, const char *group)
{
    return group == NULL || (command->group != NULL && strcmp(command->group, group) == 0);
}

typedef struct Group {
    const char *name; /* NULL: all */
    const char *summary;
    const char *operand; /* of all its commands */
    const char *first;   /* something to try */
    const char *more;
} Group;

static const Group groups[] = {
    {"db", "look into database files, change them, keep them safe", "FILE",
     "sapling db put shop.db apple 3 && sapling db scan shop.db", "db load"},
    {"config", "see how a node would be configured", "", "sapling config show", "config show"},
    {"queue", "durable message queues in a file", "FILE",
     "sapling queue push work.db hello && sapling queue pop work.db", "queue pop"},
    {"store", "make and check stores, in a file or on a PostgreSQL server", "URL",
     "sapling store init sapling:orders.db --tables 16-18 --schema orders@1", "store check"},
    {"module", "the programs that run worlds", "NAME", "sapling module list", "module put"},
    {"world", "durable objects: a name, a state, a handler, one message at a time", "WORLD",
     "sapling world send hello '{\"n\":1}' --module ./hello.py --wait", "world send"},
    {"effect", "calls to the outside that worlds asked for", "WORLD", "sapling effect list",
     "effect list"},
    {"receipt", "outcomes of such calls", "WORLD HASH",
     "sapling receipt inject order-1 charge '{\"paid\":true}'", "receipt inject"},
    {"timer", "timers of worlds", "WORLD", "sapling timer list", "timer list"},
    {"dlq", "dead letters of worlds", "WORLD", "sapling dlq list", "dlq replay"},
    {"lease", "which worker holds which world", "", "sapling lease list", "lease list"},
    {"worker", "the workers that run worlds", "", "sapling worker list", "worker list"},
    {"token", "credentials of a node", "", "sapling token list", "token create"},
    {NULL, "durable worlds, queues and rows, from the command line", NULL,
     "sapling world send hello '{\"n\":1}' --module ./hello.py --wait", "world send"},
};

static const Group *group_of(const char *name)
{
    const Group *group = groups;

    while (group->name != NULL && (name == NULL || strcmp(group->name, name) != 0)) {
        group++;
    }
    return group;
}

/* Those of the bare command. */
static const char *const first_ten[] = {"up",        "status",     "world send", "world show",
                                        "world log", "queue push", "queue pop",  "db put",
                                        "db scan",   "db backup"};

static bool is_first(const char *name)
{
    for (size_t i = 0; i < sizeof first_ten / sizeof first_ten[0]; i++) {
        if (strcmp(first_ten[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* The commands of a group, or of all with NULL; `first`: only the ten to begin with. */
static void list_by_task(const Ui *ui, const char *group, bool first)
{
    const char *task = NULL;
    const Command *command;

    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        char name[64];

        (void)snprintf(name, sizeof name, "%s%s%s", command->group != NULL ? command->group : "",
                       command->group != NULL ? " " : "", command->name);
        if (!in_overview(command, group) || (first && !is_first(name))) {
            continue;
        }
        if (task == NULL || strcmp(task, command->task) != 0) {
            task = command->task;
            (void)putchar('\n');
            heading(ui, task);
        }
        (void)printf("  %-18s %s\n", name, command->summary);
    }
}

void help_first(const Ui *ui)
{
    const Group *about = group_of(NULL);

    (void)printf("sapling - %s\n", about->summary);
    list_by_task(ui, NULL, true);
    (void)printf("\nTry: %s\nAll commands: sapling help; one of them: sapling help %s\n",
                 about->first, about->more);
}

void help_overview(const Ui *ui, const char *group)
{
    const Group *about = group_of(group);

    if (group == NULL) {
        (void)printf("sapling - %s\n\nUsage: sapling COMMAND [OPTION]... [ARGUMENT]...\n",
                     about->summary);
    } else {
        (void)printf("sapling %s - %s\n\n"
                     "Usage: sapling %s COMMAND [OPTION]... %s [ARGUMENT]...\n",
                     group, about->summary, group, about->operand);
    }
    list_by_task(ui, group, false);
    (void)printf("\nTry: %s\nMore: sapling help %s; all of it: man sapling\n", about->first,
                 about->more);
}

static void print_option(const Option *option)
{
    char left[64];

    (void)snprintf(left, sizeof left, "%c%c%c --%s%s%s", option->letter != 0 ? '-' : ' ',
                   option->letter != 0 ? option->letter : ' ', option->letter != 0 ? ',' : ' ',
                   option->name, option_needs_value(option) ? " " : "",
                   option->value != NULL ? option->value : "");
    (void)printf("  %-*s ", OPTION_COLUMN, left);
    if (strlen(left) > OPTION_COLUMN) {
        (void)printf("\n  %-*s ", OPTION_COLUMN, "");
    }
    (void)puts(option->help);
}

static void print_options(const Ui *ui, const Command *command, bool common)
{
    bool any = !common;

    for (const Option *o = command->options; o->id != OPTION_NONE; o++) {
        any = any || o->common == common;
    }
    if (!any) {
        return;
    }
    (void)putchar('\n');
    heading(ui, common ? "Common options:" : "Other options:");
    for (const Option *o = command->options; o->id != OPTION_NONE; o++) {
        if (o->common == common) {
            print_option(o);
        }
    }
    for (const Option *o = global_options; !common && o->id != OPTION_NONE; o++) {
        print_option(o);
    }
}

static void print_usage(const Command *command)
{
    (void)printf("sapling %s%s%s [OPTION]... %s", command->group != NULL ? command->group : "",
                 command->group != NULL ? " " : "", command->name, command->operands);
}

void help_command(const Ui *ui, const Command *command)
{
    (void)printf("sapling %s%s%s - %s\n\nUsage: ", command->group != NULL ? command->group : "",
                 command->group != NULL ? " " : "", command->name, command->summary);
    print_usage(command);
    (void)puts("\n");
    heading(ui, "Examples:");
    for (size_t i = 0; i < 4 && command->examples[i] != NULL; i++) {
        (void)printf("  %s\n", command->examples[i]);
    }
    print_options(ui, command, true);
    print_options(ui, command, false);
    (void)putchar('\n');
    heading(ui, "Exit codes:");
    for (int code = 0; code <= 2; code++) {
        (void)printf("  %-4d %s\n", code, exit_text(code));
    }
    for (size_t i = 0; i < sizeof command->exits && command->exits[i] != 0; i++) {
        (void)printf("  %-4d %s\n", command->exits[i], exit_text(command->exits[i]));
    }
    if (command->notes != NULL) {
        (void)putchar('\n');
        heading(ui, "Notes:");
        (void)fputs(command->notes, stdout);
    }
}

int help_no_such(const Ui *ui, const char *group, const char *name)
{
    Nearest nearest;
    char hint[128];
    const Group *elsewhere = groups;

    while (elsewhere->name != NULL &&
           (group != NULL || command_find(elsewhere->name, name) == NULL)) {
        elsewhere++;
    }
    nearest_start(&nearest, name, strlen(name));
    const Command *command;
    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (in_overview(command, group)) {
            nearest_try(&nearest,
                        group == NULL && command->group != NULL ? command->group : command->name);
        }
    }
    if (elsewhere->name != NULL) {
        (void)snprintf(hint, sizeof hint, "did you mean: sapling %s %s", elsewhere->name, name);
    } else if (nearest.name != NULL) {
        (void)snprintf(hint, sizeof hint, "did you mean: sapling %s%s%s",
                       group != NULL ? group : "", group != NULL ? " " : "", nearest.name);
    } else {
        (void)snprintf(hint, sizeof hint, "see: sapling %s%s--help", group != NULL ? group : "",
                       group != NULL ? " " : "");
    }
    return ui_fail(ui, EXIT_USAGE, hint, "no such command: %s%s%s", group != NULL ? group : "",
                   group != NULL ? " " : "", name);
}

/* ---- The man page ---------------------------------------------------------------------------- */

/* Text with what troff would take for its own made harmless. */
static void man_text(const char *text)
{
    bool line_start = true;

    for (; *text != '\0'; text++) {
        if (*text == '\\') {
            (void)fputs("\\e", stdout);
        } else if (*text == '-') {
            (void)fputs("\\-", stdout);
        } else if (line_start && (*text == '.' || *text == '\'')) {
            (void)printf("\\&%c", *text);
        } else {
            (void)putchar(*text);
        }
        line_start = *text == '\n';
    }
}

static void man_options(const Option *options)
{
    for (; options->id != OPTION_NONE; options++) {
        (void)fputs(".TP\n\\fB", stdout);
        if (options->letter != 0) {
            (void)printf("\\-%c\\fR, \\fB", options->letter);
        }
        (void)fputs("\\-\\-", stdout);
        man_text(options->name);
        (void)fputs("\\fR", stdout);
        if (options->value != NULL) {
            (void)printf("%s\\fI%s\\fR", option_needs_value(options) ? " " : "", options->value);
        }
        (void)putchar('\n');
        man_text(options->help);
        (void)putchar('\n');
    }
}

static void man_command(const Command *command)
{
    (void)fputs(".SS ", stdout);
    print_usage(command);
    (void)putchar('\n');
    man_text(command->summary);
    (void)puts(".\n.PP\n.nf");
    for (size_t i = 0; i < 4 && command->examples[i] != NULL; i++) {
        (void)fputs("    ", stdout);
        man_text(command->examples[i]);
        (void)putchar('\n');
    }
    (void)puts(".fi");
    man_options(command->options);
    if (command->notes != NULL) {
        (void)puts(".PP\n.nf");
        man_text(command->notes);
        (void)puts(".fi");
    }
}

static void help_man(void)
{
    (void)puts(
        ".\\\" Made by `sapling help --man`.\n"
        ".TH SAPLING 1 \"\" \"sapling " SAPLING_VERSION "\" \"Sapling\"\n"
        ".SH NAME\nsapling \\- durable worlds, queues and rows, from the command line\n"
        ".SH SYNOPSIS\n\\fBsapling\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... "
        "[\\fIARGUMENT\\fR]...\n"
        ".SH DESCRIPTION\n"
        "Data goes to standard output, everything else to standard error. Where another\n"
        "process owns a database file and serves FILE.sock, the command works through it.\n"
        ".PP\n"
        "Keys and values in arguments are text in which \\et, \\en, \\er, \\e\\e and \\exHH\n"
        "stand for bytes, as \\fBscan\\fR prints them; with \\fB\\-\\-hex\\fR they are "
        "hexadecimal digits.\n"
        ".PP\n"
        "With \\fB\\-\\-json\\fR a result is one JSON object (a list: one per line) and an "
        "error is one on\nstandard error. Fields are only ever added.\n"
        ".SH COMMANDS");
    const Command *command;
    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        man_command(command);
    }
    (void)puts(".SH OPTIONS OF ALL COMMANDS");
    man_options(global_options);
    (void)puts(".SH EXIT STATUS");
#define EXIT_PRINT(name, number, json, text)   \
    (void)printf(".TP\n\\fB%d\\fR\n", number); \
    man_text(text);                            \
    (void)putchar('\n');
    EXIT_TABLE(EXIT_PRINT)
#undef EXIT_PRINT
    (void)puts(
        ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nIf it is not empty, no colour.\n"
        ".TP\n\\fBSAPLING_NODE\\fR\nThe node, where \\fB\\-\\-node\\fR is not given.\n"
        ".TP\n\\fBSAPLING_TOKEN_FILE\\fR\nIts token, where \\fB\\-\\-token\\-file\\fR is not "
        "given.\n"
        ".SH FILES\n.TP\n\\fI~/.local/state/sapling/nodes/ADDRESS.json\\fR\n"
        "Written by a node while it runs: how it is found.");
}

int run_help(const Call *call)
{
    const char *first = call_operand(call, 0);
    const char *second = call_operand(call, 1);

    if (call_has(call, OPTION_MAN)) {
        help_man();
        return EXIT_DONE;
    }
    if (first == NULL || (help_is_group(first) && second == NULL)) {
        help_overview(call->ui, first);
        return EXIT_DONE;
    }
    const char *third = call_operand(call, 2);
    const char *group = second != NULL ? first : NULL;
    const char *name = second != NULL ? second : first;
    char both[64];
    if (third != NULL) {
        (void)snprintf(both, sizeof both, "%.20s %.40s", second, third);
        name = both;
    } else if (second != NULL && command_is_first_word(group, second)) {
        help_overview(call->ui, group);
        return EXIT_DONE;
    }
    const Command *command = command_find(group, name);
    if (command == NULL) {
        return help_no_such(call->ui, group, name);
    }
    help_command(call->ui, command);
    return EXIT_DONE;
}

int run_completion(const Call *call)
{
    const char *shell = call_operand(call, 0);

    if (!completion_print(shell)) {
        return call_usage(call, "no completion for '%s': it is bash, zsh or fish", shell);
    }
    return EXIT_DONE;
}
