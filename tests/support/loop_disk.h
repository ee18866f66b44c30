/* loop_disk.h - a small file system of its own for a test, that can be filled to the last block.
 *
 * Needs root, loop devices and the file system's mkfs: where they are missing, the test says so and is
 * left out. The mount is private to the process: one that is killed leaves an empty directory in /tmp and
 * nothing else. */
#ifndef SAPLING_TESTS_LOOP_DISK_H
#define SAPLING_TESTS_LOOP_DISK_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { LOOP_EXT4, LOOP_XFS, LOOP_BTRFS, LOOP_KINDS } LoopKind;

typedef struct LoopDisk {
    LoopKind kind;
    char image[64];
    char mount[64];
} LoopDisk;

const char *loop_disk_name(LoopKind kind);

/* False, and a notice on standard error: there can be none here. Tests that make their files by
 * file_bed_start() make them on the new disk from now on, until loop_disk_end(). */
bool loop_disk_start(LoopDisk *disk, LoopKind kind);
void loop_disk_end(LoopDisk *disk);

/* Takes all room there is, and gives it back. */
void loop_disk_fill(const LoopDisk *disk);
void loop_disk_unfill(const LoopDisk *disk);

/* Runs a command of the shell, which must succeed. */
void loop_disk_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
