#!/usr/bin/env bash
# tools/power_cuts.sh CUTS SEED TEST_BINARY FILE_SYSTEM...
# Runs the kill test on file systems of its own (each ext4 or xfs, on a loop device) whose power
# fails: whatever is not on disk at that moment is lost, as on a real machine. Needs root and xfs_io
# (xfsprogs); where a loop mount is refused it says so and does nothing.
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
shift 3
work=$(mktemp -d)
export SAP_POWER_IMAGE=$work/image SAP_POWER_MOUNT=$work/mount
cleanup() {
    umount "$SAP_POWER_MOUNT" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

mkdir "$SAP_POWER_MOUNT"
for kind in "$@"; do
    rm -f "$SAP_POWER_IMAGE"
    truncate -s 1G "$SAP_POWER_IMAGE"
    case $kind in
    ext4) mkfs.ext4 -q -F "$SAP_POWER_IMAGE" ;;
    xfs) mkfs.xfs -q -f "$SAP_POWER_IMAGE" ;;
    *)
        echo "power cuts: no such file system: $kind (ext4 or xfs)" >&2
        exit 1
        ;;
    esac
    if ! command -v xfs_io >/dev/null || ! mount -o loop "$SAP_POWER_IMAGE" "$SAP_POWER_MOUNT"; then
        echo "power cuts: $kind skipped: they need root, loop devices and xfs_io (package xfsprogs)" >&2
        continue
    fi
    echo "power cuts: $kind"
    SAP_POWER_CUT="$(realpath "$0")" SAP_KILLS=$cuts SAP_TEST_SEED=$seed TMPDIR=$SAP_POWER_MOUNT \
        SAP_TEST_ON_DISK=1 "$binary"
    umount "$SAP_POWER_MOUNT"
done
