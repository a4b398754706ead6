#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# devlink in nvlink's place, for nvcc, CMake, clang, make and Meson: every build is made twice, once
# with nvlink and once with devlink in the same toolkit, and leaves the same files. First what
# devlink-toolkit makes and takes away.
# DEVLINK_LONG_BUILDS=1, as scripts/builds sets it: the larger program in every way, some minutes;
# DEVLINK_BUILDS="toolkit nvcc cmake clang examples": some of it.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"

# All of it: two halves at a time, each in a folder of its own.
if [[ -z ${DEVLINK_BUILDS-} ]]; then
  self="$DEVLINK_SOURCE/tests/scripts/drop_in.sh"
  status=0
  mkdir first second
  (cd first && DEVLINK_BUILDS="toolkit nvcc" bash "$self") >first.txt 2>&1 &
  (cd second && DEVLINK_BUILDS="cmake clang examples" bash "$self") >second.txt 2>&1 || status=1
  wait $! || status=1
  cat first.txt second.txt
  exit $status
fi

sources="$DEVLINK_SOURCE/tests/builds"
make_toolkit="$(dirname "$DEVLINK")/devlink-toolkit"
long="${DEVLINK_LONG_BUILDS-}"
parts=" $DEVLINK_BUILDS "
wanted() { [[ $parts == *" $1 "* ]]; }
failures=0
comparisons=0

# The linker's lines; of an entry's stack nvlink warns for every call (docs/compatibility.md).
lines_of() { awk '/^nvlink/ && (!/cannot be statically determined/ || !seen[$0]++)' "$1"; }

complain() {
  printf '%s\n' "$*"
  failures=$((failures + 1))
}

# refused WORDS MESSAGE...: devlink-toolkit ends with status 1 and says so.
refused() {
  local message="$1" status=0
  shift
  "$make_toolkit" "$@" >said.txt 2>&1 || status=$?
  [[ $status -eq 1 ]] || complain "devlink-toolkit $*: status $status"
  grep -qF -- "$message" said.txt || complain "devlink-toolkit $*: $(<said.txt)"
}

# --- devlink-toolkit -----------------------------------------------------------------------------
# nvlink links LTO IR where it finds libNVVM as in NVIDIA's installers; wheels have it elsewhere.
home="$(cd "$CUDA_HOME" && pwd -P)"
if [[ ! -e $home/nvvm/lib64/libnvvm.so && -n $nvvm ]]; then
  mkdir -p home/nvvm
  for entry in "$home"/*; do [[ $entry == */nvvm ]] || ln -s "$entry" home/; done
  ln -s "$home"/nvvm/* home/nvvm/
  ln -s "$(readlink -f "$nvvm/lib64")" home/nvvm/lib64
  home="$PWD/home"
fi
test_toolkit() {
  listing() { find "$home/" -maxdepth 3 -printf '%p %y %l %s %T@\n' | sort; }
  listing >before.txt
  "$make_toolkit" toolkit --toolkit "$home" >/dev/null
  [[ $(readlink toolkit/bin/nvlink) -ef $DEVLINK ]] || complain "nvlink is not a link to devlink"
  [[ -L toolkit/bin/ptxas && -L toolkit/include && ! -L toolkit/bin ]] || complain "not a folder of links"
  "$make_toolkit" toolkit --toolkit "$home" >/dev/null || complain "cannot be made anew"
  "$make_toolkit" again --toolkit toolkit >/dev/null
  [[ $(readlink again/bin/nvcc) == "$home/bin/nvcc" ]] || complain "a toolkit of ours leads to another"
  touch again/mine again/bin/mine
  ln -sfn "$home/bin" again/include
  refused "left in '$PWD/again'" --remove again
  [[ -f again/mine && -f again/bin/mine && -L again/include ]] || complain "removed what is not ours"
  rm again/mine again/bin/mine again/include
  "$make_toolkit" --remove again >/dev/null
  [[ ! -e again ]] || complain "something is left of a toolkit"
  ln -s toolkit link
  refused "is a link" --remove link
  refused "is a link" link
  mkdir other other/bin
  touch other/bin/nvcc
  refused "was not made by devlink-toolkit" --remove other
  refused "this did not make it" other
  refused "no CUDA toolkit" new --toolkit other
  refused "is in the toolkit itself" "$home/new" --toolkit "$home"
  refused "there is no" --remove nothing
  [[ $("$make_toolkit" 2>&1 || echo $?) == *2 ]] || complain "without words: no status 2"
  # One that lists what is not in it.
  "$make_toolkit" crafted --toolkit "$home" >/dev/null
  echo keep >kept
  printf 'file\t../kept\t%s\n' "$(cksum <kept)" >>crafted/.devlink-toolkit
  refused "which this does not make" --remove crafted
  [[ -f kept ]] || complain "removed a file elsewhere"
  rm -r crafted
  listing | cmp before.txt - || complain "the toolkit itself has changed"

  # As wheels leave it in site-packages: lib and no lib64, no targets, libraries without short names.
  wheel="site-packages/nvidia/cu13"
  mkdir -p $wheel/lib $wheel/nvvm
  ln -s "$home/bin" "$home/include" $wheel/
  ln -s "$home"/nvvm/{bin,libdevice} $wheel/nvvm/
  ln -s "$home"/lib64/lib*.a "$home"/lib64/lib*.so.* $wheel/lib/
  "$make_toolkit" wheel-toolkit --toolkit $wheel >/dev/null
  [[ $(readlink wheel-toolkit/lib64) == "$PWD/$wheel/lib" ]] || complain "no lib64 for a toolkit of wheels"
  mkdir objects
  (
    cd objects
    nvcc -gencode "arch=compute_80,code=[sm_80,lto_80]" -rdc=true -dc "$sources"/small/*.cu
  )
  "$PWD/wheel-toolkit/bin/nvcc" -arch=sm_80 -dlink -o wheel.o objects/*.o
  grep -q 'libdevlink' wheel.o || complain "nvcc of wheels does not link with devlink"

  # The link is what nvcc finds.
  "$PWD/toolkit/bin/nvcc" -arch=sm_80 -dlink -o linked.o objects/*.o
  grep -q 'libdevlink' linked.o || complain "nvcc of the toolkit does not link with devlink"

  # By a relative name, with no toolkit on PATH: nvcc tells where libNVVM and its neighbours are.
  if [[ -e $home/lib64/libnvJitLink.so.13 ]]; then
    PATH=/usr/bin:/bin toolkit/bin/nvcc -arch=sm_80 -dlto -dlink -o linked.o objects/*.o || complain "nvcc -dlto by a relative name does not link"
  fi
}
! wanted toolkit || test_toolkit

# --- Two builds ----------------------------------------------------------------------------------
# A program that notes each call stands in nvlink's place.
[[ -d toolkit ]] || "$make_toolkit" toolkit --toolkit "$home" >/dev/null
toolkit="$PWD/toolkit"
rm toolkit/bin/nvlink
cat >toolkit/bin/nvlink <<'SCRIPT_OF_LINKER'
#!/usr/bin/env bash
echo call >>"$LINKER_CALLS"
exec -a nvlink "$LINKER" "$@"
SCRIPT_OF_LINKER
chmod +x toolkit/bin/nvlink
REAL_NVLINK="$home/bin/nvlink"
export PATH="$toolkit/bin:$PATH" LINKER LINKER_CALLS="$PWD/calls" CUDA_PATH="$toolkit"
nvcc="$toolkit/bin/nvcc"

# twice NAME FILES COMMAND...: runs the command with each linker, in the current folder; it makes
# FILES, which are removed before.
twice() {
  local name="$1" files="$2" which
  shift 2
  local folder="$top/compared/$name"
  for which in wanted found; do
    LINKER="$REAL_NVLINK"
    [[ $which == wanted ]] || LINKER="$DEVLINK"
    : >"$LINKER_CALLS"
    # shellcheck disable=SC2086 # a list of patterns
    rm -rf $files
    if ! "$@" >"$top/said.$which" 2>&1; then
      complain "$name fails with $which: $(tail -n 5 "$top/said.$which")"
      return
    fi
    [[ -s $LINKER_CALLS ]] || complain "$name calls no nvlink"
    cp "$LINKER_CALLS" "$top/calls.$which"
    mkdir -p "$folder/$which"
    # shellcheck disable=SC2086
    cp -L $files "$folder/$which/"
  done
  cmp -s "$top/calls.wanted" "$top/calls.found" || complain "$name links more often with one"
  python3 "$DEVLINK_SOURCE/tests/scripts/support/same_builds.py" "$folder/wanted" "$folder/found" \
    >"$top/difference" || complain "$name: $(<"$top/difference")"
  # What the linker says goes through nvcc.
  diff <(lines_of "$top/said.wanted") <(lines_of "$top/said.found") ||
    complain "$name: other messages"
  comparisons=$((comparisons + 1))
}
top="$PWD"
host=(-Xcompiler -fPIC)
same=(-Xlinker --build-id=none)

# --- nvcc ----------------------------------------------------------------------------------------
# objects FOLDER OPTION...: every unit of it, in the current folder.
objects() {
  local folder="$1"
  shift
  printf '%s\n' "$folder"/*.cu | xargs -P 2 -n 1 \
    "$nvcc" -std=c++17 --extended-lambda -rdc=true -dc "${host[@]}" "$@"
}

# links KINDS OPTION...: outputs of these kinds, of the objects in the current folder.
links() {
  local name="${PWD##*/}" kinds="$1" parts=(library_*.o) units=()
  shift
  rm -f libparts.a linked.o
  for unit in *.o; do [[ $unit == library_* ]] || units+=("$unit"); done
  "$nvcc" -lib -o libparts.a "${parts[@]}"
  twice "$name.program" program "$nvcc" "$@" "${same[@]}" -o program "${units[@]}" -L. -lparts
  [[ $kinds != *shared* ]] || twice "$name.shared" libwhole.so \
    "$nvcc" "$@" "${same[@]}" -shared -o libwhole.so "${units[@]}" "${parts[@]}"
  [[ $kinds != *dlink* ]] || twice "$name.dlink" linked.o \
    "$nvcc" "$@" -dlink -o linked.o "${units[@]}" libparts.a
  rm -f linked.o
}

in_folder() {
  mkdir -p "$1"
  cd "$1"
}

# by_nvcc NAME FOLDER KINDS OPTION...: the program in FOLDER, compiled and linked with the options.
by_nvcc() {
  local name="$1" folder="$2" kinds="$3"
  shift 3
  in_folder "$name"
  if objects "$sources/$folder" "$@" >"$top/$name.log" 2>&1; then
    links "$kinds" "$@"
  else
    complain "$name cannot be compiled: $(tail -n 5 "$top/$name.log")"
  fi
  cd "$top"
}

program=small
[[ -z $long ]] || program=program
several=(-gencode "arch=compute_75,code=sm_75" -gencode "arch=compute_90,code=[sm_90,compute_90]")
test_nvcc() {
  # CUB's headers take five times as long as all others.
  local most=()
  [[ -n $long ]] || most=(-DWITHOUT_CUB)
  by_nvcc sm_80 program "program dlink ${long:+shared}" -arch=sm_80 ${most[@]+"${most[@]}"}
  cd sm_80
  twice verbose linked.o "$nvcc" -arch=sm_80 -dlink -res-usage -Xnvlink -v -o linked.o ./*.o
  rm linked.o
  twice script.program program "$nvcc" -arch=sm_80 -hls=use-lcs "${same[@]}" -o program ./*.o
  cd "$top"
  in_folder scripts
  local mode
  for mode in "" -shared -r; do
    # shellcheck disable=SC2086 # nothing, where there is none
    twice "script$mode" x.lds "$nvcc" -hls=gen-lcs $mode -o x.lds
    # shellcheck disable=SC2086
    twice "script.augmenting$mode" x.lds "$nvcc" -hls=gen-lcs -aug-hls $mode -o x.lds
  done
  cd "$top"
  by_nvcc several $program program "${several[@]}"
  by_nvcc all-major small dlink -arch=all-major
  if [[ -n $nvvm ]]; then by_nvcc dlto $program "shared dlink" -dlto -arch=sm_80; fi
  [[ -n $long ]] || return 0
  by_nvcc several.more program "shared dlink" "${several[@]}" -gencode arch=compute_100,code=sm_100
  # With -g the linker's record names files; those of --keep have the same names every time. Images
  # for the debugger would be compressed, the record with them.
  mkdir keep
  by_nvcc debug program "shared dlink" -G -g -arch=sm_80 --no-compress --keep --keep-dir "$top/keep"
  in_folder ptx
  objects "$sources/program" -arch=compute_80 >"$top/ptx.log" 2>&1 || complain "ptx: $(<"$top/ptx.log")"
  links "shared dlink" -arch=sm_86
  cd "$top"
  by_nvcc default-target program "shared dlink"
}
[[ -n $nvvm ]] || echo "no libNVVM where nvlink looks for it: links of LTO IR are left out"
! wanted nvcc || test_nvcc

# --- CMake ---------------------------------------------------------------------------------------
# again FOLDER: links once more what is built.
again() {
  find "$1" -name cmake_device_link.o -delete
  cmake --build "$1" --parallel 2
}

# by_cmake GENERATOR IPO TARGETS
by_cmake() {
  local build
  build="$top/cmake-${1// /-}-ipo-$2-${3//;/-}"
  LINKER="$REAL_NVLINK"
  if ! { cmake -G "$1" -S "$sources" -B "$build" "-DFOLDER=$sources/$program" "-DWITH_IPO=$2" \
      "-DCMAKE_CUDA_COMPILER=$nvcc" "-DCMAKE_CUDA_ARCHITECTURES=$3" &&
    cmake --build "$build" --parallel 2; } >"$build.log" 2>&1; then
    complain "CMake with $1, IPO $2: $(tail -n 20 "$build.log")"
    return
  fi
  twice "${build##*/}" "$build/program $build/libwhole.so $build/libresolved.a" again "$build"
}

test_cmake() {
  local generators=("Unix Makefiles")
  if command -v ninja >/dev/null; then generators+=(Ninja); else echo "no ninja: left out"; fi
  local ipo=ON
  [[ -n $nvvm ]] || ipo=OFF
  by_cmake "Unix Makefiles" $ipo 80-real
  # tests/scripts/builds.sh has Ninja without IPO.
  [[ -n $long ]] || return 0
  by_cmake "Unix Makefiles" OFF 90-real
  [[ ${#generators[@]} -gt 1 ]] || return 0
  by_cmake Ninja $ipo 90-real
  by_cmake Ninja OFF "75-real;90"
}
! wanted cmake || test_cmake

# --- clang ---------------------------------------------------------------------------------------
test_clang() {
  local clang
  clang="$(command -v clang++-19 || true)"
  if [[ -z $clang ]]; then
    echo "no clang++-19: left out"
    return
  fi
  in_folder clang
  # Headers and fatbinary of CUDA 13 are not what clang 19 expects.
  cp "$sources"/clang/*.cu "$sources"/clang/declarations.h .
  cp --remove-destination "$sources/clang/fatbinary" "$toolkit/bin/"
  export REAL_FATBINARY="$home/bin/fatbinary"
  cuda=(-x cuda -nocudainc -nocudalib "--cuda-path=$toolkit" -Wno-unknown-cuda-version -fgpu-rdc
    --cuda-gpu-arch=sm_80 -O2 -fPIC -Xclang -target-sdk-version=12.3)
  host_libraries=("-L$toolkit/lib64" -lcudart_static -ldl -lrt -lpthread "-Wl,--build-id=none")
  # The driver of today: clang-linker-wrapper and clang-nvlink-wrapper call nvlink.
  for unit in *.cu; do
    "$clang" "${cuda[@]}" --offload-new-driver --cuda-gpu-arch=sm_90 -c -o "${unit%.cu}.o" "$unit"
  done
  ar rc libparts.a library_member.o
  twice clang.program program "$clang" "--cuda-path=$toolkit" --offload-link -o program main.o callee.o \
    -L. -lparts "${host_libraries[@]}"
  twice clang.shared program "$clang" "--cuda-path=$toolkit" --offload-link -shared -o program main.o \
    callee.o library_member.o "${host_libraries[@]}"
  # The one before: whoever links calls nvlink, as CMake does for clang, and fatbinary.
  for unit in *.cu; do
    "$clang" "${cuda[@]}" --no-offload-new-driver -c -o "${unit%.cu}.old.o" "$unit"
  done
  twice clang.old "x.cubin reg.c" nvlink -arch=sm_80 --register-link-binaries=reg.c -o=x.cubin \
    main.old.o callee.old.o library_member.old.o
  # Device code alone.
  for unit in callee library_member; do
    "$clang" "${cuda[@]}" --no-offload-new-driver --cuda-device-only -c -o "$unit.cubin" "$unit.cu"
  done
  twice clang.device x.cubin "$clang" --target=nvptx64-nvidia-cuda -march=sm_80 "--cuda-path=$toolkit" \
    -nogpulib -o x.cubin callee.cubin library_member.cubin
  cd "$top"
}
! wanted clang || test_clang

# --- Examples ------------------------------------------------------------------------------------
# as_nvlink CUBIN WORDS...: what a build left is what nvlink makes with these words.
as_nvlink() {
  local cubin="$1" folder="$top/compared/${1//\//.}"
  shift
  mkdir -p "$folder/wanted" "$folder/found"
  "$REAL_NVLINK" -o "$folder/wanted/x.cubin" "$@"
  cp -L "$cubin" "$folder/found/x.cubin"
  python3 "$DEVLINK_SOURCE/tests/scripts/support/same_builds.py" "$folder/wanted" "$folder/found" \
    >"$top/difference" || complain "$cubin: $(<"$top/difference")"
  comparisons=$((comparisons + 1))
}

make_again() {
  rm -f nbody.fatbin.c device_code.o
  make "SOURCES=$sources/$program" "NVCC=$nvcc --extended-lambda" "CUDA_HOME=$toolkit" "DEVLINK=$toolkit/bin/nvlink" "CXX=g++ -Wl,--build-id=none"
}

test_examples() {
  mkdir examples
  cp -r "$DEVLINK_SOURCE"/examples/{bazel,make,meson,nbody} examples/
  cd examples/make
  if command -v make >/dev/null; then
    twice make "nbody nbody.cubin nbody.reg.c" make_again
  else
    echo "no make: left out"
  fi
  if ! command -v meson >/dev/null || ! command -v ninja >/dev/null; then
    echo "no meson or no ninja: left out"
  else
    cd ../meson
    LINKER="$DEVLINK"
    if meson setup build "-Ddevlink=$DEVLINK" >meson.log 2>&1 && ninja -C build >>meson.log 2>&1; then
      as_nvlink build/nbody.cubin -arch=sm_80 build/{energy,forces,main,params}.cubin
      [[ $(ninja -C build) == *"no work to do"* ]] || complain "Meson builds what is built"
    else
      complain "meson: $(tail -n 10 meson.log)"
    fi
    # CUDA as one of Meson's own languages.
    cp -r "$sources/small" ../language
    cd ../language
    cat >meson.build <<'MESON'
project('language', 'cpp', 'cuda', default_options: ['buildtype=release'])
executable('program', 'main.cu', 'callee.cu', 'library_member.cu',
  cuda_args: ['-rdc=true', '-arch=sm_80'],
  link_args: ['-arch=sm_80', '-Xlinker', '--build-id=none'])
MESON
    if meson setup build >meson.log 2>&1 && ninja -C build >>meson.log 2>&1; then
      twice meson.language build/program ninja -C build
    else
      complain "CUDA by meson: $(tail -n 10 meson.log)"
    fi
  fi
  if ! command -v bazel >/dev/null; then
    echo "no bazel: left out"
  else
    cd "$top/examples/bazel"
    mkdir program
    ln -s "$DEVLINK" program/devlink
    sed -i "s|/usr/local/bin|$PWD/program|" WORKSPACE
    # Its server goes with it.
    if bazel "--output_user_root=$top/bazel" --max_idle_secs=5 build --action_env=PATH //:program >bazel.log 2>&1; then
      as_nvlink bazel-bin/program.cubin -arch=sm_80 bazel-bin/{callee,kernel}.cubin
    else
      complain "bazel: $(tail -n 10 bazel.log)"
    fi
    bazel "--output_user_root=$top/bazel" shutdown >/dev/null 2>&1 || true
    chmod -R u+w "$top/bazel"
  fi
  cd "$top"
}
! wanted examples || test_examples

echo "$comparisons builds are the same with nvlink and with devlink"
[[ $failures -eq 0 ]]
