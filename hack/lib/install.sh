# Installs what this tree needs on Debian 12, and only what is missing. Source it, then:
#
#     install_packages build test fuzz
#
# Works as root or with sudo that asks nothing; elsewhere it says what is missing and fails.

packages_build="build-essential meson ninja-build pkg-config libcurl4-openssl-dev libev-dev libjansson-dev
	libyaml-dev libssl-dev ca-certificates"
packages_test="ccache libcriterion-dev clang-format-14 python3 python3-venv git curl ca-certificates xz-utils
	iproute2 procps openssl"
packages_demo="python3 python3-venv openssl"
packages_fuzz="clang-14 libclang-rt-14-dev llvm-14"

# Prints those of the named packages that dpkg does not have installed.
missing_packages() {
	local name
	for name in "$@"; do
		if [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" != installed ]; then
			printf '%s ' "$name"
		fi
	done
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -n "$@"
	else
		echo "neither root nor sudo: cannot run: $*" >&2
		return 1
	fi
}

install_packages() {
	local group names="" missing
	for group in "$@"; do
		local variable="packages_$group"
		names="$names ${!variable}"
	done
	if ! command -v dpkg-query >/dev/null; then
		echo "install: this is not Debian; please provide: $names" >&2
		return 0
	fi
	# shellcheck disable=SC2086
	missing=$(missing_packages $names)
	if [ -z "$missing" ]; then
		return 0
	fi
	echo "install: $missing" >&2
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q update </dev/null >&2 || return 1
	# shellcheck disable=SC2086
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q -y \
		--no-install-recommends install $missing </dev/null >&2
}
