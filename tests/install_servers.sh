#!/usr/bin/env bash
# Installs the server programs and documentation sites that tests use, where they are missing (Debian 12).
# Without root it says what to install and goes on: tests that need them are skipped, or fail under CI=true.
set -euo pipefail

PYTHON="${PYTHON:-python3}"
POLICY=/usr/sbin/policy-rc.d

has_program() { PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v "$1" >/dev/null; }

missing() {
    has_program nginx || echo nginx-light
    has_program wget || echo wget
    has_program tinyproxy || echo tinyproxy-bin
    has_program squid || echo squid
    has_program slapd || echo slapd
    has_program dovecot || echo dovecot-imapd
    has_program smbd || echo samba
    [[ -x /usr/lib/postgresql/15/bin/postgres ]] || echo postgresql-15
    has_program mariadbd || echo mariadb-server-core
    [[ -f /usr/lib/apache2/modules/mod_auth_digest.so ]] || echo apache2-bin
    has_program chromium || has_program google-chrome || echo chromium
    has_program npm || echo npm
    has_program mvn || echo maven
    [[ -f /usr/share/doc/postgresql-doc-15/html/index.html ]] || echo postgresql-doc-15
    [[ -f /usr/share/doc/python3.11/html/index.html ]] || echo python3.11-doc
    [[ -f /usr/share/doc/debian-policy/policy.epub && -f /usr/share/doc/debian-policy/policy.pdf.gz ]] || echo debian-policy
    [[ -f /usr/share/doc/installation-guide-amd64/vi/index.html ]] || echo installation-guide-amd64
    [[ -d /usr/share/doc/libspreadsheet-parseexcel-perl/examples ]] || echo libspreadsheet-parseexcel-perl
    local language
    for language in de fr ko ru zh-cn; do
        [[ -d /usr/share/doc/debian/FAQ/$language ]] || echo "debian-faq-$language"
    done
    "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
}

# A package that brings a server would start it at once; this policy keeps it from doing so.
forbid_starting() {
    [[ -e $POLICY ]] && return
    printf '#!/bin/sh\nexit 101\n' >"$POLICY"
    chmod 755 "$POLICY"
    trap 'rm -f -- "$POLICY"' EXIT
}

# Slim images leave /usr/share/doc out, hence --path-include, and --reinstall for packages that came without it.
install_package() {
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 --no-install-recommends --reinstall \
        -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 -o Dpkg::Options::='--path-include=/usr/share/doc/*' "$1" >/dev/null
}

# A node of NAME with what it needs, from Maven Central, if there is no jar that begins as JAR.
install_node() {
    local name=$1 jar=$2 folder=var/servers/$1
    compgen -G "$folder/$jar" >/dev/null && return
    has_program mvn || return 0
    echo "Fetching $name for the tests"
    timeout 600 mvn --quiet --batch-mode --file "tests/support/$name.xml" dependency:copy-dependencies \
        -DoutputDirectory="$PWD/$folder" >/dev/null 2>&1 || echo "could not fetch $name; the tests that need it will say so" >&2
}

main() {
    local packages package
    mapfile -t packages < <(missing)
    ((${#packages[@]})) || return 0
    if ((EUID != 0)) || ! has_program apt-get; then
        echo "Some tests need programs that are not here. To have them run, install as root: ${packages[*]}" >&2
        return 0
    fi
    echo "Installing for the tests: ${packages[*]}"
    forbid_starting
    apt-get update --quiet=2 -o DPkg::Lock::Timeout=120 || echo "apt-get update failed; trying with the lists at hand" >&2
    for package in "${packages[@]}"; do
        install_package "$package" || echo "could not install $package; the tests that need it will say so" >&2
    done
}

main "$@"
install_node opensearch 'opensearch-[0-9]*.jar' # 71 MB; it needs Java 21, which Debian 12 does not have
install_node solr 'solr-core-*.jar'             # 84 MB
