/* completion.c - scripts for shells. Each lists commands, options and their choices, and names of worlds and
 * modules, which it asks the node for: once, for NODE_NAMES at most, without a word if there is no
 * node. Where none of these can stand, files are completed. */
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

/* Words that can follow `sapling`, a group, or the first word of a name in a group, stand together in
 * the table: the first of each kind is where it differs from the one before. */
static bool first_of_group(uint32_t i)
{
    return i == 0 || strcmp(group_of(command_at(i - 1)), group_of(command_at(i))) != 0;
}

static size_t first_word_len(const Command *command)
{
    return strcspn(command->name, " ");
}

static bool first_of_word(uint32_t i)
{
    size_t len = first_word_len(command_at(i));

    return first_of_group(i) || first_word_len(command_at(i - 1)) != len ||
           strncmp(command_at(i - 1)->name, command_at(i)->name, len) != 0;
}

static bool has_two_words(const Command *command)
{
    return command->name[first_word_len(command)] == ' ';
}

/* The words that can follow `sapling`, each once. */
static void print_groups(void)
{
    const Command *command;

    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (command->group == NULL || first_of_group(i)) {
            (void)printf("%s ", command->group != NULL ? command->group : command->name);
        }
    }
}

/* The words that can follow the group of a command. */
static void print_verbs(const Command *of)
{
    const Command *command;

    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (strcmp(group_of(of), group_of(command)) == 0 && first_of_word(i)) {
            (void)printf("%.*s ", (int)first_word_len(command), command->name);
        }
    }
}

/* The words that can follow the first word of a command's name. */
static void print_second_words(const Command *of)
{
    size_t len = first_word_len(of);
    const Command *command;

    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (strcmp(group_of(of), group_of(command)) == 0 && has_two_words(command) &&
            first_word_len(command) == len && strncmp(of->name, command->name, len) == 0) {
            (void)printf("%s ", command->name + len + 1);
        }
    }
}

/* Prints for each group, and for each first word of a name of two in a group. */
static void each_group(void (*print)(const Command *))
{
    const Command *command;

    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (command->group != NULL && first_of_group(i)) {
            print(command);
        }
    }
}

static void each_first_word(void (*print)(const Command *))
{
    const Command *command;

    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (has_two_words(command) && first_of_word(i)) {
            print(command);
        }
    }
}

static void print_choices(const char *choices)
{
    for (; *choices != '\0'; choices++) {
        (void)putchar(*choices == '|' ? ' ' : *choices);
    }
}

/* What the command prints for names: "world" or "module" follows `sapling`. */
#define NODE_NAMES "list --names --limit 100 --quiet --give-up 500ms"

/* The group whose list has what the first operand names: "world", "module"; NULL: a file, or something else. */
static const char *names_of_operand(const Command *command)
{
    const char *operands = command->operands + (command->operands[0] == '[' ? 1 : 0);

    return strncmp(operands, "WORLD", 5) == 0    ? "world"
           : strncmp(operands, "MODULE", 6) == 0 ? "module"
                                                 : NULL;
}

static bool option_names_module(const Option *option)
{
    return option->value != NULL && strcmp(option->value, "MODULE") == 0;
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
    } else if (option_names_module(option)) {
        (void)printf("    '%s %s --%s') names=module ;;\n", group_of(command), command->name,
                     option->name);
    } else if (option_needs_value(option)) {
        (void)printf("    '%s %s --%s') return ;;\n", group_of(command), command->name,
                     option->name);
    }
}

static void bash_group(const Command *command)
{
    (void)printf("    '%s ') words='", command->group);
    print_verbs(command);
    (void)puts("--help' ;;");
}

static void bash_first_word(const Command *command)
{
    (void)printf("    '%s %.*s ') words='", command->group, (int)first_word_len(command),
                 command->name);
    print_second_words(command);
    (void)puts("--help' ;;");
}

static void bash_group_name(const Command *command)
{
    (void)printf("%s|", command->group);
}

static void bash_word_name(const Command *command)
{
    (void)printf(" '%s %.*s') verb=\"$verb ${COMP_WORDS[at]}\"; at=$((at + 1)) ;;", command->group,
                 (int)first_word_len(command), command->name);
}

/* Whether a command before number `end` has an option of this name that needs a value. */
static bool has_value_before(uint32_t end, const char *name)
{
    for (uint32_t i = 0; i < end; i++) {
        const Option *option = command_option(command_at(i), name, strlen(name));
        if (option != NULL && option_needs_value(option)) {
            return true;
        }
    }
    return false;
}

/* "--node|--table|...": the options behind which a value stands, in any command. */
static void bash_options_with_values(void)
{
    const Command *command;

    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        for (const Option *o = command->options; o->id != OPTION_NONE; o++) {
            if (option_needs_value(o) && !has_value_before(i, o->name)) {
                (void)printf("--%s|", o->name);
            }
        }
    }
    (void)fputs("--color", stdout);
}

/* Adds names of the node to COMPREPLY. What has been typed may have backslashes before odd letters. */
static void bash_names(void)
{
    (void)puts("_sapling_names() {\n"
               "    local name typed=${2//\\\\/} prefix=()\n"
               "    [ \"$1\" = world ] && prefix=(--prefix \"$typed\")\n"
               "    compopt +o filenames 2> /dev/null\n"
               "    while IFS= read -r name; do\n"
               "        [[ $name == \"$typed\"* ]] && COMPREPLY+=(\"$(printf %q \"$name\")\")\n"
               "    done < <(\"${COMP_WORDS[0]}\" \"$1\" " NODE_NAMES
               " \"${prefix[@]}\" 2> /dev/null < /dev/null)\n"
               "}");
}

/* Counts the operands before the word at the cursor. */
static void bash_operands(void)
{
    (void)fputs("    for ((i = at; i < COMP_CWORD; i++)); do\n"
                "        case \"${COMP_WORDS[i-1]}\" in ",
                stdout);
    bash_options_with_values();
    (void)puts(") continue ;; esac\n"
               "        [[ ${COMP_WORDS[i]} == -* ]] || operands=$((operands + 1))\n"
               "    done");
}

/* $group and $verb are what stands before the word at the cursor; at is where the rest begins. */
static void print_bash(void)
{
    bash_names();
    (void)puts("_sapling() {\n"
               "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
               "    local group= verb=${COMP_WORDS[1]} words= names= operands=0 i at=2\n"
               "    COMPREPLY=()");
    (void)fputs("    case $verb in ", stdout);
    each_group(bash_group_name);
    (void)puts("-) group=$verb; verb=${COMP_WORDS[2]}; at=3 ;; esac");
    (void)fputs("    case \"$group $verb\" in", stdout);
    each_first_word(bash_word_name);
    (void)puts(" esac\n"
               "    [ \"$at\" -gt \"$COMP_CWORD\" ] && verb=${verb%\"$cur\"}");
    bash_operands();
    (void)puts("    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    (void)fputs("        words='", stdout);
    print_groups();
    (void)puts("--help --version'\n"
               "    elif [ \"$at\" -gt \"$COMP_CWORD\" ]; then\n"
               "    case \"$group $verb\" in");
    each_group(bash_group);
    each_first_word(bash_first_word);
    (void)puts("    esac\n    else\n    case \"$group $verb $prev\" in");
    const Command *command;
    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        each_option(command, bash_choices);
    }
    (void)puts("    *) case \"$group $verb\" in");
    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        (void)printf("    '%s %s') [[ $cur == -* ]] && words='", group_of(command), command->name);
        each_option(command, bash_name);
        (void)fputs("'", stdout);
        if (names_of_operand(command) != NULL) {
            (void)printf(" || { [ $operands -eq 0 ] && names=%s; }", names_of_operand(command));
        }
        (void)puts(" ;;");
    }
    (void)puts("    esac ;;\n    esac\n    fi\n"
               "    if [ -n \"$names\" ]; then\n"
               "        _sapling_names \"$names\" \"$cur\"\n"
               "        [[ $prev == --module && $cur == *[./]* ]] &&\n"
               "            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\")\n"
               "    elif [ -n \"$words\" ]; then\n"
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
    } else if (option_names_module(option)) {
        (void)fputs(":module:_sapling_modules", stdout);
    } else if (may) {
        (void)fputs("::file:_files", stdout);
    } else if (option->value != NULL) {
        (void)printf(":%s: ", option->value);
    }
    (void)puts("' \\");
}

static void zsh_group(const Command *command)
{
    (void)printf("    %s)\n        if (( CURRENT == 3 )); then compadd ", command->group);
    print_verbs(command);
    (void)puts("-- --help; return; fi\n"
               "        group=$verb; verb=$words[3]; shift words; (( CURRENT-- )) ;;");
}

static void zsh_first_word(const Command *command)
{
    (void)printf("    '%s %.*s')\n        if (( CURRENT == 3 )); then compadd ", command->group,
                 (int)first_word_len(command), command->name);
    print_second_words(command);
    (void)puts("-- --help; return; fi\n"
               "        verb=\"$verb $words[3]\"; shift words; (( CURRENT-- )) ;;");
}

static void print_zsh(void)
{
    (void)puts("#compdef sapling\n"
               "_sapling_names() {\n"
               "    local -a names\n"
               "    names=(${(f)\"$(sapling $1 " NODE_NAMES " 2> /dev/null < /dev/null)\"})\n"
               "    compadd -a names\n"
               "}\n"
               "_sapling_worlds() { _sapling_names world }\n"
               "_sapling_modules() { _sapling_names module; _files }\n"
               "_sapling() {\n"
               "    local group= verb=$words[2]\n"
               "    if (( CURRENT == 2 )); then");
    (void)fputs("        compadd ", stdout);
    print_groups();
    (void)puts("-- --help --version; return\n    fi\n    case $verb in");
    each_group(zsh_group);
    (void)puts("    esac\n    case \"$group $verb\" in");
    each_first_word(zsh_first_word);
    (void)puts("    esac\n"
               "    shift words; (( CURRENT-- ))\n"
               "    case \"$group $verb\" in");
    const Command *command;
    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        (void)printf("    '%s %s') _arguments \\\n", group_of(command), command->name);
        each_option(command, zsh_option);
        if (names_of_operand(command) != NULL) {
            (void)printf("            '1:name:_sapling_%ss' \\\n", names_of_operand(command));
        }
        (void)puts("            '*:file:_files' ;;");
    }
    (void)puts("    esac\n}\n"
               "if [ \"$funcstack[1]\" = _sapling ]; then _sapling \"$@\"; "
               "else compdef _sapling sapling; fi");
}

/* True when the words of the command have been typed. */
static void fish_seen(const Command *command)
{
    size_t len = first_word_len(command);

    (void)fputs("complete -c sapling -n '", stdout);
    if (command->group != NULL) {
        (void)printf("__fish_seen_subcommand_from %s; and ", command->group);
    }
    if (has_two_words(command)) {
        (void)printf("__fish_seen_subcommand_from %.*s; and ", (int)len, command->name);
    }
    (void)printf("__fish_seen_subcommand_from %s' ",
                 has_two_words(command) ? command->name + len + 1 : command->name);
}

static void fish_option(const Command *command, const Option *option)
{
    fish_seen(command);
    (void)printf("-l %s ", option->name);
    if (option->choices != NULL) {
        (void)fputs("-x -a '", stdout);
        print_choices(option->choices);
        (void)fputs("' ", stdout);
    } else if (option_names_module(option)) {
        (void)fputs("-r -a '(sapling module " NODE_NAMES " 2> /dev/null)' ", stdout);
    } else if (option_needs_value(option)) {
        (void)fputs("-x ", stdout);
    }
    /* Double quotes: fish reads ' as little else does, and help has neither " nor $. */
    (void)printf("-d \"%s\"\n", option->help);
}

/* Names of the node, for the first word behind those of the command. */
static void fish_names(const Command *command)
{
    int words = command->group != NULL ? 3 : 2;

    if (names_of_operand(command) != NULL) {
        (void)printf("complete -c sapling -n '");
        if (command->group != NULL) {
            (void)printf("__fish_seen_subcommand_from %s; and ", command->group);
        }
        (void)printf("__fish_seen_subcommand_from %s; and test (count (commandline -opc)) -eq %d' "
                     "-a '(sapling %s " NODE_NAMES " 2> /dev/null)'\n",
                     command->name, words, names_of_operand(command));
    }
}

static void fish_after(const char *word, int words, const char *name, int name_len)
{
    (void)printf("complete -c sapling -n '__fish_seen_subcommand_from %s; and test (count "
                 "(commandline -opc)) -eq %d' -f -a %.*s",
                 word, words, name_len, name);
}

static void print_fish(void)
{
    (void)fputs("complete -c sapling -n __fish_use_subcommand -f -a '", stdout);
    print_groups();
    (void)puts("'");
    const Command *command;
    for (uint32_t i = 0; (command = command_at(i)) != NULL; i++) {
        size_t len = first_word_len(command);
        char first[64];

        if (command->group != NULL && first_of_word(i)) {
            fish_after(command->group, 2, command->name, (int)len);
            (void)printf(" -d \"%s\"\n", has_two_words(command) ? command->task : command->summary);
        }
        if (has_two_words(command)) {
            (void)snprintf(first, sizeof first, "%.*s", (int)len, command->name);
            fish_after(first, 3, command->name + len + 1, (int)strlen(command->name));
            (void)printf(" -d \"%s\"\n", command->summary);
        }
        fish_names(command);
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
