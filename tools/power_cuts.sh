#!/usr/bin/env bash
# tools/power_cuts.sh CUTS SEED TEST_BINARY
# Runs the kill test on a file system of its own (ext4 on a loop device) whose power fails: whatever
# is not on disk at that moment is lost, as on a real machine. Needs root and xfs_io (xfsprogs); where
# a loop mount is refused it says so and does nothing.
#
# The test calls this file back: with `cut` to make the file system stop, with `back` to mount what
# is left.
set -euo pipefail

case ${1:-} in
cut)
    # Without -f: what is only in the journal's memory is lost as well.
    exec xfs_io -x -c shutdown "$SAP_POWER_MOUNT"
    ;;
back)
    umount "$SAP_POWER_MOUNT"
    exec mount -o loop "$SAP_POWER_IMAGE" "$SAP_POWER_MOUNT"
    ;;
esac

cuts=$1 seed=$2 binary=$3
work=$(mktemp -d)
export SAP_POWER_IMAGE=$work/image SAP_POWER_MOUNT=$work/mount
cleanup() {
    umount "$SAP_POWER_MOUNT" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

mkdir "$SAP_POWER_MOUNT"
truncate -s 1G "$SAP_POWER_IMAGE"
mkfs.ext4 -q -F "$SAP_POWER_IMAGE"
if ! command -v xfs_io >/dev/null || ! mount -o loop "$SAP_POWER_IMAGE" "$SAP_POWER_MOUNT"; then
    echo "power cuts: skipped: they need root, loop devices and xfs_io (package xfsprogs)" >&2
    exit 0
fi
SAP_POWER_CUT="$(realpath "$0")" SAP_KILLS=$cuts SAP_TEST_SEED=$seed TMPDIR=$SAP_POWER_MOUNT \
    SAP_TEST_ON_DISK=1 "$binary"
