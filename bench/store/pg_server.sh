#!/bin/sh
# bench/store/pg_server.sh start|stop DIR: a PostgreSQL server of the benchmark's own in DIR, which is
# an absolute path on a disk. It listens on a socket in DIR only. Exit status 3: there is none here.
set -eu
dir=$2
bin=
for found in /usr/lib/postgresql/*/bin; do
    [ -x "$found/initdb" ] && bin=$found
done
[ -n "$bin" ] || exit 3

# The server refuses to run as root.
as_server() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid=postgres --regid=postgres --init-groups "$@"
    else
        "$@"
    fi
}

case $1 in
start)
    mkdir -p "$dir"
    [ "$(id -u)" -ne 0 ] || chown postgres "$dir"
    cd "$dir"
    as_server "$bin/initdb" -k -A trust -U postgres -D "$dir/data" >"$dir/initdb.log" 2>&1
    cat >>"$dir/data/postgresql.conf" <<SETTINGS
listen_addresses = ''
unix_socket_directories = '$dir'
max_connections = 200
shared_buffers = 256MB
max_wal_size = 4GB
SETTINGS
    as_server "$bin/pg_ctl" -D "$dir/data" -l "$dir/data/log" -w start >/dev/null
    ;;
stop)
    cd "$dir"
    as_server "$bin/pg_ctl" -D "$dir/data" -m fast -w stop >/dev/null
    ;;
esac
