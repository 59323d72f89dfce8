#!/bin/sh
# Runs programs on a processor with AVX-512, on any machine: Bochs emulates the processor.
#
#   scripts/machine.sh SECONDS COMMAND...
#
# A COMMAND is one word: a program of this system and its arguments, 'target/debug/deps/ecdsa-01 --test-threads 1'.
# The commands run one after the other, as root of a Linux that has nothing else: a Debian kernel, a shell, the programs
# and the shared libraries that they are linked to. MACHINE_FILES lists further files to take along, with the libraries that
# those need. MACHINE_ENV lists variables, NAME=VALUE.
#
# Their output comes out here. The exit status is 0 if all commands ended with 0. After SECONDS the machine is
# ended, and so is everything in it. The emulation is 50 to 200 times slower than a processor: it tells what is right, not
# what is fast.
#
# The emulated processor is Intel's Ice Lake: AVX-512 with IFMA, VBMI, VBMI2, VNNI, VAES. Bochs 2.7 reports a few of
# its features wrongly, so the kernel must not use them:
#   515, 516  protection keys: their state has no size
#   321, 323  XSAVEC, XSAVES: the size of their state is that of XSAVE
#   580       fast short rep mov: with it but without fast rep mov, which Bochs switches off, memmove of Linux 6.1 never ends
# AWS-LC and OpenSSL give wrong results on curves there, we suppose for adcx and adox. OPENSSL_ia32cap has OpenSSL leave those alone;
# AWS-LC, as Outboard builds it, reads no environment: vectors can be tested here, and OpenSSL can be compared with, but not AWS-LC.
set -eu

seconds=$1
shift
scripts/need.sh bochs bochsbios vgabios bochs-term busybox-static cpio isolinux syslinux-common xorriso
cache=target/machine
mkdir -p "$cache"

# The kernel of this system's Debian, unpacked and not installed. apt checks its signature.
if ! [ -e "$cache/linux" ]; then
    package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [ -n "$package" ] || { echo "no kernel linux-image-cloud-amd64: run 'apt-get update' on Debian" >&2; exit 1; }
    echo "fetching $package" >&2
    fetched=$(mktemp -d "$cache/kernel.XXXXXX")
    (cd "$fetched" && apt-get -qq -o Acquire::Retries=5 -o APT::Sandbox::User=root download "$package")
    dpkg -x "$fetched"/*.deb "$fetched"
    mv "$fetched"/boot/vmlinuz-* "$cache/linux"
    rm -rf "$fetched"
fi

work=$(mktemp -d "$cache/run.XXXXXX")
machine=
ended() {
    # timeout passes it on.
    [ -z "$machine" ] || kill "$machine" 2>/dev/null || true
    rm -rf "$work"
}
trap ended EXIT
trap 'exit 1' HUP INT TERM

# A file at its own place, without debugging information, and what it is linked to.
take() {
    [ -e "$work/root$2" ] && return
    mkdir -p "$work/root$(dirname "$2")"
    strip --strip-debug -o "$work/root$2" "$1" 2>/dev/null || cp "$1" "$work/root$2"
    ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
        take "$(readlink -f "$library")" "$library"
    done
}

mkdir -p "$work/root/proc" "$work/root/sys" "$work/root/dev" "$work/root/tmp" "$work/iso"
take "$(command -v busybox)" /bin/busybox
for file in ${MACHINE_FILES:-}; do
    take "$(readlink -f "$file")" "$file"
done
number=0
{
    cat <<'INIT'
#!/bin/busybox sh
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
busybox mkdir /dev/shm
busybox mount -t tmpfs shm /dev/shm
busybox ip link set lo up 2>/dev/null
export PATH=/bin HOME=/tmp TMPDIR=/tmp OPENSSL_ia32cap=~0:~0x80000
failed=0
run() {
    echo "machine: $name"
    "$@" </dev/null 2>&1 && return
    echo "machine: $name ended with $?"
    failed=1
}
INIT
    for variable in ${MACHINE_ENV:-}; do
        echo "export '$variable'"
    done
    for command in "$@"; do
        number=$((number + 1))
        program=${command%% *}
        inside=/bin/$number/$(basename "$program" | sed 's/-[0-9a-f]\{16\}$//')
        take "$program" "$inside" >&2
        arguments=${command#"$program"}
        echo "name='${inside##*/}$arguments'"
        echo "run $inside$arguments"
    done
    cat <<'INIT'
echo "machine: all ran, $failed"
busybox sleep 1
busybox poweroff -f
INIT
} >"$work/root/init"
chmod +x "$work/root/init"
(cd "$work/root" && find . | cpio -o -H newc --quiet) >"$work/iso/initrd"
ln "$cache/linux" "$work/iso/linux" 2>/dev/null || cp "$cache/linux" "$work/iso/linux"
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$work/iso"
cat >"$work/iso/isolinux.cfg" <<'BOOT'
default machine
prompt 0
label machine
kernel linux
initrd initrd
append console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=reliable edd=off lsm=yama clearcpuid=515,516,321,323,580
BOOT
xorriso -as mkisofs -quiet -o "$work/boot.iso" -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 \
    -boot-info-table "$work/iso" 2>/dev/null
rm -rf "$work/root" "$work/iso"

cat >"$work/bochsrc" <<BOCHS
cpu: model=corei7_icelake_u, count=1, ips=20000000
memory: guest=1536, host=1536
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
ata0-master: type=cdrom, path=$work/boot.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$work/serial
clock: sync=none
speaker: enabled=0
display_library: term
log: $work/log
panic: action=fatal
error: action=ignore
info: action=ignore
debug: action=ignore
BOCHS
# Debian's Bochs waits at its debugger's prompt.
echo c >"$work/go"
: >"$work/serial"
TERM=vt100 timeout -k 5 "$seconds" bochs -q -f "$work/bochsrc" -rc "$work/go" </dev/null >/dev/null 2>"$work/errors" &
machine=$!
# Shows what the machine says while it runs.
tail -q -n +1 -s 1 -f --pid="$machine" "$work/serial" | sed -u -e 's/\r$//' -e '/^\[ *[0-9.]*\] /d' &
shown=$!
status=0
wait "$machine" || status=$?
machine=
wait "$shown" || true
case $(tr -d '\r' <"$work/serial" | sed -n 's/^machine: all ran, //p') in
    0) exit 0 ;;
    1) exit 1 ;;
esac
if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    echo "the machine did not finish in $seconds seconds: give it more time" >&2
else
    echo "the machine broke down: bochs ended with $status" >&2
    tail -n 5 "$work/errors" "$work/log" >&2 || true
fi
exit 1
