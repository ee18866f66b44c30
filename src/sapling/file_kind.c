/* file_kind.c - see file_kind.h. */
#include "sapling/file_kind.h"

#include <errno.h>

#include "sapling/disk.h"
#include "sapling/error.h"
#include "sapling/file_format.h"

int file_kind_check(const char *path)
{
    DiskFile file = DISK_FILE_NONE;
    uint64_t size = 0;
    MetaState best = META_FOREIGN;
    int rc = disk_open_read(path, &file);
    if (rc == SAP_OK) {
        rc = disk_size(&file, &size);
    }
    for (uint64_t at = 0; at < FILE_HEADER && rc == SAP_OK && size >= at + META_SIZE;
         at += FILE_BLOCK) {
        uint8_t block[META_SIZE];
        uint32_t version = 0;
        Meta meta;
        rc = disk_read(&file, at, block, sizeof block);
        MetaState state = rc == SAP_OK ? meta_decode(block, &meta, &version) : META_FOREIGN;
        best = state > best ? state : best;
    }
    int err = errno;
    disk_close(&file);
    errno = err;
    if (rc != SAP_OK) {
        return rc == SAP_CORRUPT ? SAP_OK : rc; /* cut meanwhile: whoever opens it finds out */
    }
    return best == META_FOREIGN ? SAP_INVALID : SAP_OK;
}
