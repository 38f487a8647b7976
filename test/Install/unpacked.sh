#!/usr/bin/env bash
# Makes the Debian package of the build, has dpkg install it into a temporary folder, works with nothing but what is in
# there, and has dpkg remove it again.
#   unpacked.sh SOURCE BUILD
# Where mount namespaces are allowed, an empty file system covers the sources and the build meanwhile.
set -euo pipefail
source=$1 build=$2
# Not below the sources, which are to be out of sight.
folder=$(mktemp -d /var/tmp/par-package.XXXXXX)
trap 'rm -rf "$folder"' EXIT
(cd "$build" && cpack -G DEB -B "$folder/made") >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
deb=$(ls "$folder"/made/*.deb)
dpkg-deb --field "$deb" Depends Package
dpkg-deb --contents "$deb" | awk '{ print $6 }' | sort | grep -xE './usr/bin/par-compile|.*/copyright'
# What it depends on is on this machine, not in that folder.
dpkg_there() { dpkg --root="$folder/root" --force-not-root --force-depends --log=/dev/null "$@" 2>/dev/null; }
mkdir -p "$folder"/root/var/lib/dpkg/{info,updates}
touch "$folder/root/var/lib/dpkg/status"
dpkg_there -i "$deb" | grep -E '^Setting up'
dpkg_there --verify par-compiler

cat >"$folder/work.sh" <<'WORK'
set -euo pipefail
usr=$1/usr
cd "$2"
"$usr/share/par/examples/quickstart/run.sh" 2
echo "quickstart: exit code $?"
# The two commands themselves, and the launcher of what they made.
"$usr/bin/par-compile" "$usr/share/par/examples/quickstart/gpt2.json" -o gpt2.par --seq 16 --batch 4 --mesh tp=2
gpt2.par/rank --steps 2
# A Hugging Face folder: text, training on four ranks that is resumed, the folder that comes out, and what it says.
PATH=$usr/bin:/usr/bin:/bin
par-data corpus/train.txt --tokenizer model --append-eos -o train.bin
par-compile model -o tuned.par --seq 32 --batch 8 --mesh dp=2,tp=2 --zero 1 >compiled
for epochs in 1 2; do
  par-run tuned.par --weights model --data train.bin --epochs $epochs --lr 1e-2 --checkpoint ck --resume latest
done
par-export tuned.par --checkpoint ck -o tuned
par-compile tuned -o again.par --seq 32 --batch 8 >compiled
par-generate again.par --weights tuned --prompt "He has" --tokens 3
par-plan model --cluster dgx-h100 --ranks 2 --batch 8 --seq 32 --top 1
WORK
python3 -c "import sys; sys.path.insert(0, '$source/test/Docs'); from guide_model import make_model; make_model('$source/test/Golden', 'llama', '$folder/model')"
cp -r "$source/test/Golden/corpus" "$folder"
work=(bash "$folder/work.sh" "$folder/root" "$folder")
if unshare -rm true 2>/dev/null; then
  unshare -rm bash -c 'mount -t tmpfs none "$0" && [ -z "$(ls -A "$0")" ] && exec "$@"' "$source" "${work[@]}"
else
  "${work[@]}"
fi
dpkg_there --remove par-compiler >"$folder/removed"
echo "files that are left: $(find "$folder/root/usr" -type f 2>/dev/null | wc -l)"
