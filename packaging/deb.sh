#!/bin/sh
# Builds three Debian packages: darkfiber (program, manual pages, completions, docs, examples, unit, user, polkit rule, prolog
# hook), darkfiber-blocks and darkfiber-opensm-plugin.
#
#   cargo build --release && packaging/deb.sh [BINARY] [FOLDER]
#
# Needs dpkg-deb, binutils, and for the plugin gcc, make, libopensm-dev and libibumad-dev: its package depends on the very OpenSM that it
# was built for.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
binary=${1:-$root/target/release/darkfiber}
out=${2:-$root/target/deb}
version=$("$binary" --version | awk '{print $2; exit}')
architecture=$(dpkg --print-architecture)
# The newest version of glibc whose symbols the program uses.
glibc=$(objdump -p "$binary" | sed -n 's/.* GLIBC_\([0-9.]*\)$/\1/p' | sort -uV | tail -1)
umask 022
mkdir -p "$out"

# copyright NAME FOLDER: what Debian wants beside every package.
papers() {
    doc=$2/usr/share/doc/$1
    mkdir -p "$doc"
    {
        echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
        echo "Upstream-Name: darkfiber"
        echo
        echo "Files: *"
        echo "Copyright: the authors of darkfiber"
        echo "License: Apache-2.0 or Expat"
        echo
        echo "License: Apache-2.0"
        echo " On Debian systems the text is in /usr/share/common-licenses/Apache-2.0."
        echo
        echo "License: Expat"
        sed 's/^$/./;s/^/ /' "$root/LICENSE-MIT"
    } > "$doc/copyright"
    {
        echo "$1 ($version) unstable; urgency=medium"
        echo
        echo "  * See CHANGELOG.md of the project."
        echo
        echo " -- The authors of darkfiber <darkfiber@example.org>  Wed, 25 Nov 2026 00:00:00 +0000"
    } | gzip -9n > "$doc/changelog.gz"
}

# control NAME FOLDER DEPENDS SUMMARY, and the description on standard input.
control() {
    mkdir -p "$2/DEBIAN"
    {
        echo "Package: $1"
        echo "Version: $version"
        echo "Architecture: $architecture"
        echo "Maintainer: The authors of darkfiber <darkfiber@example.org>"
        echo "Section: net"
        echo "Priority: optional"
        echo "Depends: $3"
        echo "Installed-Size: $(du -sk "$2" | cut -f1)"
        echo "Description: $4"
        sed 's/^/ /'
    } > "$2/DEBIAN/control"
}

build() {
    dpkg-deb --root-owner-group --build "$2" "$out/$1_${version}_$architecture.deb" > /dev/null
    echo "$out/$1_${version}_$architecture.deb"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

p=$work/darkfiber
mkdir -p "$p/usr/bin" "$p/usr/lib/systemd/system" "$p/usr/lib/darkfiber" "$p/usr/share/polkit-1/rules.d" \
    "$p/usr/share/doc/darkfiber/examples" "$p/usr/share/man/man1" "$p/usr/lib/sysusers.d" \
    "$p/usr/share/bash-completion/completions" "$p/usr/share/zsh/vendor-completions" "$p/usr/share/fish/vendor_completions.d"
install -m 755 "$binary" "$p/usr/bin/darkfiber"
strip --strip-unneeded "$p/usr/bin/darkfiber"
install -m 644 "$here/darkfiber-operate.service" "$p/usr/lib/systemd/system/"
install -m 755 "$here/prolog-slurmctld" "$p/usr/lib/darkfiber/"
install -m 644 "$here/50-darkfiber.rules" "$p/usr/share/polkit-1/rules.d/"
install -m 644 "$here/operate.toml" "$here/operate-plugin.toml" "$here/grafana-operate.json" "$p/usr/share/doc/darkfiber/examples/"
echo 'u darkfiber - "darkfiber operate" /var/lib/darkfiber' > "$p/usr/lib/sysusers.d/darkfiber.conf"
cp -r "$root"/examples/. "$p/usr/share/doc/darkfiber/examples/"
install -m 644 "$root/README.md" "$root/LIMITS.md" "$root"/docs/*.md "$p/usr/share/doc/darkfiber/"
cp -r "$root/docs/reference" "$p/usr/share/doc/darkfiber/"
chmod -R u=rwX,go=rX "$p/usr/share/doc/darkfiber"
# Debian compresses what is long.
find "$p/usr/share/doc/darkfiber" -name '*.md' -size +4k -exec gzip -9n {} +
# A page names those of the commands that its command has.
page() {
    "$binary" man ${1:+"$1"} > "$work/page.1"
    gzip -9n < "$work/page.1" > "$p/usr/share/man/man1/darkfiber${1:+-$1}.1.gz"
    sed -n 's/.*darkfiber\\-\([a-z\\-]*\)(1).*/\1/p' "$work/page.1" | tr -d '\\' | grep -v 'help$' | sort -u || true
}
page '' | while read -r command; do
    page "$command" | { grep "^$command-" || true; } | while read -r part; do page "$part" > "$work/none"; done
done
"$binary" completions bash > "$p/usr/share/bash-completion/completions/darkfiber"
"$binary" completions zsh > "$p/usr/share/zsh/vendor-completions/_darkfiber"
"$binary" completions fish > "$p/usr/share/fish/vendor_completions.d/darkfiber.fish"
papers darkfiber "$p"
control darkfiber "$p" "libc6 (>= $glibc), libgcc-s1 (>= 4.2)" "routing and analysis of InfiniBand and HPC fabrics" << 'END'
Computes, proves and simulates routes of InfiniBand and other fabrics, and
operates beside a running OpenSM and SLURM. The service darkfiber-operate is
neither enabled nor started: it needs /etc/darkfiber/operate.toml, of which
/usr/share/doc/darkfiber/examples has two.
END
cat > "$p/DEBIAN/postinst" << 'END'
#!/bin/sh
set -e
if [ "$1" = configure ]; then
    # Whoever only plans has no systemd, and needs no user; an image that is put together from outside makes its users at its start.
    if [ -z "${DPKG_ROOT:-}" ] && command -v systemd-sysusers > /dev/null; then
        systemd-sysusers darkfiber.conf
    fi
fi
END
chmod 755 "$p/DEBIAN/postinst"
build darkfiber "$p"

if [ ! -e /usr/include/infiniband/umad.h ]; then
    echo "libibumad-dev is not installed: no packages of what is in plugin" >&2
    exit 0
fi
hardening="-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2"
p=$work/blocks
mkdir -p "$p/usr/lib/darkfiber" "$p/DEBIAN"
make --quiet -C "$root/plugin/blocks" OUT="$p/usr/lib/darkfiber/darkfiber-blocks" CFLAGS="$hardening -fPIE" LDFLAGS="-pie -Wl,-z,relro,-z,now"
strip --strip-unneeded "$p/usr/lib/darkfiber/darkfiber-blocks"
papers darkfiber-blocks "$p"
control darkfiber-blocks "$p" "libc6, libibumad3" "writes forwarding tables into InfiniBand switches" << 'END'
Writes blocks of linear forwarding tables into switches by directed
management packets, and reads them back, for `darkfiber operate`.
END
build darkfiber-blocks "$p"

opensm=$(dpkg-query -W -f '${Version}' libopensm-dev 2> /dev/null || true)
if [ -z "$opensm" ]; then
    echo "libopensm-dev is not installed: no package of the plugin" >&2
    exit 0
fi
p=$work/plugin
triplet=$(gcc -dumpmachine | sed 's/-pc-/-/;s/-unknown-/-/')
lib=$p/usr/lib/$triplet
mkdir -p "$lib" "$p/usr/share/doc/darkfiber-opensm-plugin"
make --quiet -C "$root/plugin" OUT="$lib/libdfosm.so" CFLAGS="$hardening" LDFLAGS="-Wl,-z,relro,-z,now"
strip --strip-unneeded "$lib/libdfosm.so"
chmod 644 "$lib/libdfosm.so"
install -m 644 "$root/plugin/README.md" "$p/usr/share/doc/darkfiber-opensm-plugin/"
# OpenSM loads it by its bare name, from where libraries are.
mkdir -p "$p/usr/share/lintian/overrides" "$p/DEBIAN"
printf '%s\n' "darkfiber-opensm-plugin: package-name-doesnt-match-sonames" "darkfiber-opensm-plugin: shared-library-lacks-version *" \
    > "$p/usr/share/lintian/overrides/darkfiber-opensm-plugin"
echo "activate-noawait ldconfig" > "$p/DEBIAN/triggers"
papers darkfiber-opensm-plugin "$p"
control darkfiber-opensm-plugin "$p" "opensm (= $opensm), libc6" "routing engine for OpenSM that takes plans of darkfiber" << 'END'
An event plugin of OpenSM that asks `darkfiber operate` for tables at each
heavy sweep, and leaves what it cannot answer to the next routing engine.
Nothing changes before opensm.conf names it.
END
build darkfiber-opensm-plugin "$p"
