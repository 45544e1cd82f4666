#!/bin/sh
# Measures first contact: from a clean system to the first result, for each way to install what `cargo run -p xtask -- dist` made.
#
#   debootstrap --variant=minbase bookworm CHROOT && packaging/first-contact.sh CHROOT [FOLDER]
#
# With CARGO_TOO=1 the program is built from source as well, which takes ten minutes and more; WAYS chooses ways: `archive static`.
# Needs root. Prints for each way the commands, wall and CPU time, bytes that it takes from elsewhere, and bytes on the disk. Every way
# begins with a copy of the chroot as it is; archives of packages are fetched over the network that this machine has, and the
# certificates and the settings of pip and cargo are those of this machine. Cargo builds what is committed, with this machine's
# toolchain: what rustup would fetch for that is not counted.
set -eu
clean=$1
root=$(cd "$(dirname "$0")/.." && pwd)
parts=${2:-$root/target/distribution}
result='darkfiber route @slimfly-eth --fail-links 5 -e updn -e dfsssp'

# measure NAME FILE COMMANDS...: copies the file to / of a fresh chroot, and runs the commands there.
measure() {
    name=$1 file=$2
    shift 2
    case " ${WAYS:-$name} " in *" $name "*) ;; *) return 0 ;; esac
    at=$clean.$name
    cp -a "$clean" "$at"
    cp "$file" "$at/"
    cp /etc/resolv.conf "$at/etc/" 2>/dev/null || true
    cp -L /etc/ssl/certs/ca-certificates.crt "$at/certificates.pem"
    mount -t proc proc "$at/proc"
    if [ "$name" = cargo ]; then
        mkdir -p "$at/toolchain" "$at/home/.cargo"
        mount --bind "$(rustc --print sysroot)" "$at/toolchain"
        cp "${CARGO_HOME:-$HOME/.cargo}"/config.toml "$at/home/.cargo/" 2>/dev/null || true
    fi
    before=$(du -skx --exclude=proc --exclude=toolchain "$at" | cut -f1)
    printf 'set -e\ncd /\n' > "$at/way.sh"
    for command; do printf '%s\n' "$command" >> "$at/way.sh"; done
    received=$(($(cat /proc/net/dev | awk 'NR > 2 && $1 != "lo:" { s += $2 } END { printf "%.0f", s }')))
    status=0
    # The shell's own `times` knows no child of chroot: GNU time does.
    /usr/bin/env time -f '%e %U %S' -o "$at/time" chroot "$at" /usr/bin/env -i PATH=/toolchain/bin:/home/.cargo/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/home \
        DEBIAN_FRONTEND=noninteractive PIP_CERT=/certificates.pem SSL_CERT_FILE=/certificates.pem CARGO_HTTP_CAINFO=/certificates.pem \
        sh /way.sh > "$at/out" 2>&1 || status=$?
    received=$(($(cat /proc/net/dev | awk 'NR > 2 && $1 != "lo:" { s += $2 } END { printf "%.0f", s }') - received))
    after=$(du -skx --exclude=proc --exclude=toolchain "$at" | cut -f1)
    umount "$at/proc"
    [ "$name" != cargo ] || umount "$at/toolchain"
    read -r wall user system <<TIMES
$(tail -1 "$at/time")
TIMES
    cpu=$(echo "$user $system" | awk '{ print $1 + $2 }')
    echo "$name: exit $status, $# commands, $wall s, CPU $cpu s, file $(stat -c %s "$file") B, received $received B, disk $((after - before)) KB"
    for command; do echo "    $command"; done
    tail -4 "$at/out" | sed 's/^/    | /'
    rm -rf "$at"
}

for file in "$parts"/darkfiber-*-linux-*.tar.gz; do
    [ -e "$file" ] || continue
    folder=$(basename "$file" .tar.gz)
    case $folder in *static) name=static ;; *) name=archive ;; esac
    measure "$name" "$file" "tar -xzf $(basename "$file")" "$folder/$result"
done
for file in "$parts"/darkfiber_*.deb; do
    [ -e "$file" ] || continue
    measure debian "$file" "dpkg -i $(basename "$file")" "$result"
done
for file in "$parts"/darkfiber-*.rpm; do
    [ -e "$file" ] || continue
    # Here on Debian's own rpm, which knows of no package that is installed.
    measure rpm "$file" "apt-get update -q && apt-get install -qy --no-install-recommends rpm" \
        "rpm -i --nodeps $(basename "$file")" "$result"
done
if [ -n "${CARGO_TOO:-}" ]; then
    sources=$(mktemp -d)/darkfiber.tar.gz
    git -C "$root" archive --format=tar.gz --prefix=darkfiber/ -o "$sources" HEAD
    measure cargo "$sources" "apt-get update -q && apt-get install -qy --no-install-recommends gcc libc6-dev" \
        "tar -xzf darkfiber.tar.gz && cd darkfiber" "cargo install --quiet --locked --path crates/cli" "cd / && $result"
    rm "$sources"
fi
for file in "$parts"/darkfiber-*.whl; do
    [ -e "$file" ] || continue
    measure python "$file" "apt-get update -q && apt-get install -qy --no-install-recommends python3-venv" \
        "python3 -m venv env && env/bin/pip install -q ./$(basename "$file")" \
        "env/bin/python -c 'import darkfiber as d; print(d.check(d.route(d.Fabric(\"@slimfly-eth\", fail_links=5), \"dfsssp\")))'"
done
