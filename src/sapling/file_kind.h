/* file_kind.h - whether a file is a database at all. */
#ifndef SAPLING_SAPLING_FILE_KIND_H
#define SAPLING_SAPLING_FILE_KIND_H

/* Reads the places where a data file has its headers, and changes nothing. SAP_INVALID: none of them
 * begins as a header does; damage may have other answers. SAP_NOTFOUND: there is no file. SAP_IO,
 * SAP_NOMEM: errno tells. */
int file_kind_check(const char *path);

#endif
