/* completion.c - scripts for shells. Each lists commands, options and their choices; where none of
 * these can stand, files are completed. */
#include <stdio.h>
#include <string.h>

#include "cli/help.h"

/* Prints for the options of a command, and those of all commands. */
static void each_option(const Command *command, void (*print)(const Command *, const Option *))
{
    for (const Option *o = command->options; o->id != OPTION_NONE; o++) {
        print(command, o);
    }
    for (const Option *o = global_options; o->id != OPTION_NONE; o++) {
        print(command, o);
    }
}

static const char *group_of(const Command *command)
{
    return command->group != NULL ? command->group : "";
}

/* The words that can follow `sapling` (group NULL) or a group, each once. */
static void print_names(const char *group)
{
    for (uint32_t i = 0; i < command_count; i++) {
        const Command *command = &commands[i];
        bool first_of_group = i == 0 || commands[i - 1].group == NULL;

        if (group != NULL && command->group != NULL && strcmp(group, command->group) == 0) {
            (void)printf("%s ", command->name);
        } else if (group == NULL && (command->group == NULL || first_of_group)) {
            (void)printf("%s ", command->group != NULL ? command->group : command->name);
        }
    }
}

static void print_choices(const char *choices)
{
    for (; *choices != '\0'; choices++) {
        (void)putchar(*choices == '|' ? ' ' : *choices);
    }
}

/* ---- bash ------------------------------------------------------------------------------------- */

static void bash_name(const Command *command, const Option *option)
{
    (void)command;
    (void)printf("--%s ", option->name);
}

static void bash_choices(const Command *command, const Option *option)
{
    if (option->choices != NULL) {
        (void)printf("    '%s %s --%s') words='", group_of(command), command->name, option->name);
        print_choices(option->choices);
        (void)puts("' ;;");
    } else if (option_needs_value(option)) {
        (void)printf("    '%s %s --%s') return ;;\n", group_of(command), command->name,
                     option->name);
    }
}

static void print_bash(void)
{
    (void)puts("_sapling() {\n"
               "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
               "    local group= verb=${COMP_WORDS[1]} words=\n"
               "    COMPREPLY=()\n"
               "    if [ \"$verb\" = db ]; then group=db; verb=${COMP_WORDS[2]}; fi\n"
               "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    (void)fputs("        words='", stdout);
    print_names(NULL);
    (void)puts("--help --version'\n"
               "    elif [ \"$COMP_CWORD\" -eq 2 ] && [ \"$group\" = db ]; then");
    (void)fputs("        words='", stdout);
    print_names("db");
    (void)puts("--help'\n    else\n    case \"$group $verb $prev\" in");
    for (uint32_t i = 0; i < command_count; i++) {
        each_option(&commands[i], bash_choices);
    }
    (void)puts("    *) case \"$group $verb\" in");
    for (uint32_t i = 0; i < command_count; i++) {
        (void)printf("    '%s %s') [[ $cur == -* ]] && words='", group_of(&commands[i]),
                     commands[i].name);
        each_option(&commands[i], bash_name);
        (void)puts("' ;;");
    }
    (void)puts("    esac ;;\n    esac\n    fi\n"
               "    if [ -n \"$words\" ]; then\n"
               "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
               "    else\n"
               "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
               "    fi\n"
               "}\n"
               "complete -o filenames -F _sapling sapling");
}

/* ---- zsh and fish ------------------------------------------------------------------------------ */

/* Help in single quotes, in which zsh also reads brackets and colons. */
static void print_quoted(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            (void)fputs("'\\''", stdout);
        } else if (*text == '[' || *text == ']' || *text == ':') {
            (void)printf("\\%c", *text);
        } else {
            (void)putchar(*text);
        }
    }
}

static void zsh_option(const Command *command, const Option *option)
{
    bool may = option->value != NULL && !option_needs_value(option);

    (void)command;
    (void)printf("            '*--%s%s[", option->name, may ? "=-" : "");
    print_quoted(option->help);
    (void)putchar(']');
    if (option->choices != NULL) {
        (void)printf(":%s:(", option->value);
        print_choices(option->choices);
        (void)putchar(')');
    } else if (may) {
        (void)fputs("::file:_files", stdout);
    } else if (option->value != NULL) {
        (void)printf(":%s: ", option->value);
    }
    (void)puts("' \\");
}

static void print_zsh(void)
{
    (void)puts("#compdef sapling\n"
               "_sapling() {\n"
               "    local group= verb=$words[2]\n"
               "    if (( CURRENT == 2 )); then");
    (void)fputs("        compadd ", stdout);
    print_names(NULL);
    (void)puts("-- --help --version; return\n    fi\n"
               "    if [[ $verb == db ]]; then\n"
               "        if (( CURRENT == 3 )); then");
    (void)fputs("            compadd ", stdout);
    print_names("db");
    (void)puts("-- --help; return\n        fi\n"
               "        group=db; verb=$words[3]; shift words; (( CURRENT-- ))\n"
               "    fi\n"
               "    shift words; (( CURRENT-- ))\n"
               "    case \"$group $verb\" in");
    for (uint32_t i = 0; i < command_count; i++) {
        (void)printf("    '%s %s') _arguments \\\n", group_of(&commands[i]), commands[i].name);
        each_option(&commands[i], zsh_option);
        (void)puts("            '*:file:_files' ;;");
    }
    (void)puts("    esac\n}\n"
               "if [ \"$funcstack[1]\" = _sapling ]; then _sapling \"$@\"; "
               "else compdef _sapling sapling; fi");
}

static void fish_option(const Command *command, const Option *option)
{
    (void)printf("complete -c sapling -n '__fish_seen_subcommand_from %s' -l %s ", command->name,
                 option->name);
    if (option->choices != NULL) {
        (void)fputs("-x -a '", stdout);
        print_choices(option->choices);
        (void)fputs("' ", stdout);
    } else if (option_needs_value(option)) {
        (void)fputs("-x ", stdout);
    }
    /* Double quotes: fish reads ' as little else does, and help has neither " nor $. */
    (void)printf("-d \"%s\"\n", option->help);
}

static void print_fish(void)
{
    (void)fputs("complete -c sapling -n __fish_use_subcommand -f -a '", stdout);
    print_names(NULL);
    (void)puts("'");
    for (uint32_t i = 0; i < command_count; i++) {
        const Command *command = &commands[i];
        if (command->group != NULL) {
            (void)printf("complete -c sapling -n '__fish_seen_subcommand_from %s; and test (count "
                         "(commandline -opc)) -eq 2' -f -a %s -d \"%s\"\n",
                         command->group, command->name, command->summary);
        }
        each_option(command, fish_option);
    }
}

bool completion_print(const char *shell)
{
    if (strcmp(shell, "bash") == 0) {
        print_bash();
    } else if (strcmp(shell, "zsh") == 0) {
        print_zsh();
    } else if (strcmp(shell, "fish") == 0) {
        print_fish();
    } else {
        return false;
    }
    return true;
}
