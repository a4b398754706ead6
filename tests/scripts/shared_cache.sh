#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Caches on servers (--remote-cache), with the servers that farms run: nginx and Redis, and processes
# as of two machines, with folders and paths of their own. What one machine compiled the other does
# not compile again, though its compiler does not work; whatever becomes of the server, outputs are
# those without a cache. And the installed C++ component, over TLS, too.
set -euo pipefail

# shellcheck source=tests/scripts/support/toolkit.sh
. "$DEVLINK_SOURCE/tests/scripts/support/toolkit.sh"
module="$DEVLINK_BUILD/lib/libdevlink_network_cache.so"
[[ -e $module ]] || { echo "built without libcurl or hiredis: there is no $module"; exit 77; }
PATH="$PATH:/usr/sbin"
for needed in nginx redis-server openssl python3; do
  command -v $needed >/dev/null ||
    { echo "no $needed (Debian: nginx-light, redis-server, openssl, python3)"; exit 77; }
done
failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}
# stop_server PID: nginx's workers look after themselves when their master is gone.
stop_server() {
  local workers
  workers="$(cat /proc/"$1"/task/*/children 2>/dev/null || true)"
  # shellcheck disable=SC2086
  kill -KILL "$1" $workers 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}
nginx=
redis=
stop_all() {
  [[ -z $nginx ]] || stop_server "$nginx"
  [[ -z $redis ]] || stop_server "$redis"
}
trap stop_all EXIT

# --- Servers ------------------------------------------------------------------------------------------

mapfile -t ports < <(python3 - <<'PYTHON'
import socket
sockets = [socket.socket() for _ in range(4)]
for one in sockets:
    one.bind(("127.0.0.1", 0))
for one in sockets:
    print(one.getsockname()[1])
PYTHON
)
mkdir -p server/files server/redis
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
  -keyout server/key.pem -out server/certificate.pem 2>/dev/null
cat >server/nginx.conf <<NGINX
daemon off;
worker_processes 2;
user $(id -un) $(id -gn);
pid $PWD/server/nginx.pid;
error_log $PWD/server/error.log;
events {}
http {
  access_log $PWD/server/access.log;
  client_body_temp_path $PWD/server/body;
  proxy_temp_path $PWD/server/proxy;
  fastcgi_temp_path $PWD/server/fastcgi;
  uwsgi_temp_path $PWD/server/uwsgi;
  scgi_temp_path $PWD/server/scgi;
  server {
    listen 127.0.0.1:${ports[0]};
    listen 127.0.0.1:${ports[1]} ssl;
    ssl_certificate $PWD/server/certificate.pem;
    ssl_certificate_key $PWD/server/key.pem;
    root $PWD/server/files;
    client_max_body_size 256m;
    location /cuda/ {
      dav_methods PUT;
      create_full_put_path on;
    }
  }
}
NGINX
await() { # PORT
  for _ in {1..100}; do
    (: </dev/tcp/127.0.0.1/"$1") 2>/dev/null && return
    sleep 0.1
  done
  cat server/*.log
  echo "a server does not start"
  exit 1
}
start_nginx() {
  nginx -c "$PWD/server/nginx.conf" -p "$PWD/server" -e "$PWD/server/error.log" 2>server/nginx.log &
  nginx=$!
  await "${ports[0]}"
}
start_redis() {
  redis-server --port "${ports[2]}" --bind 127.0.0.1 --unixsocket "$PWD/server/redis.sock" \
    --requirepass secret --save '' --dir "$PWD/server/redis" --tls-port "${ports[3]}" \
    --tls-cert-file "$PWD/server/certificate.pem" --tls-key-file "$PWD/server/key.pem" \
    --tls-ca-cert-file "$PWD/server/certificate.pem" --tls-auth-clients no >server/redis.log &
  redis=$!
  await "${ports[2]}"
}
start_nginx
start_redis

# --- Programs, and machines ---------------------------------------------------------------------------

# Each program has a text of its own and two that all have.
readonly programs=6
mkdir texts
cat >texts/common.cu <<'CUDA'
extern "C" __device__ float common(float x) { return sqrtf(x) * 3; }
CUDA
cat >texts/more.cu <<'CUDA'
extern "C" __device__ float common(float);
extern "C" __device__ float more(float x) { return common(x) + sinf(x); }
CUDA
nvcc -arch=sm_90 -rdc=true -ptx -o texts/common.ptx texts/common.cu
nvcc -arch=sm_90 -rdc=true -ptx -o texts/more.ptx texts/more.cu
cat >texts/kernel.cu <<'CUDA'
extern "C" __device__ float more(float);
extern "C" __global__ void kernel(float* p) { *p = more(*p) + 12345; }
CUDA
nvcc -arch=sm_90 -rdc=true -ptx -o texts/kernel.ptx texts/kernel.cu
number="$(python3 -c 'import struct; print(struct.pack(">f", 12345).hex().upper())')"
grep -q "0f$number" texts/kernel.ptx || { echo "nvcc writes numbers in another way"; exit 1; }
# new_programs SERIES: texts that nobody has compiled yet.
new_programs() {
  for ((i = 0; i < programs; ++i)); do
    sed "s/0f$number/0f41$(printf '%06X' $((1000 * $1 + i)))/" texts/kernel.ptx >"texts/k$i.ptx"
  done
  for ((i = 0; i < programs; ++i)); do
    "$DEVLINK" -arch=sm_90 --ptx-backend=ptxas -o "plain$i.cubin" texts/{common,more,"k$i"}.ptx
  done
}

# machine NAME works|broken: a folder with all that a machine has of its own. The compiler of both
# kinds is the same file, which calls the real one (by the name that it leaves in its output); that
# of the second kind does not work.
machine() {
  mkdir -p "$1"/{home,temporary,bin/real,checkout/"$1"}
  # shellcheck disable=SC2016
  printf '#!/bin/sh\nexec "${0%%/*}/real/ptxas" "$@"\n' >"$1/bin/ptxas"
  if [[ $2 == works ]]; then
    ln -sf "$CUDA_HOME/bin/ptxas" "$1/bin/real/ptxas"
  else
    printf '#!/bin/sh\nexit 1\n' >"$1/bin/real/ptxas"
    chmod +x "$1/bin/real/ptxas"
  fi
  chmod +x "$1/bin/ptxas"
}

# build MACHINE OPTION...: all programs on that machine at once; its outputs and logs are in its
# folder.
build() {
  local machine="$1" i jobs=()
  shift
  local here="$PWD/$machine/checkout/$machine"
  cp texts/*.ptx "$here"
  for ((i = 0; i < programs; ++i)); do
    (cd "$here" && rm -f "p$i.cubin" && exec env -i PATH="$PWD/$machine/bin:/usr/bin:/bin" \
      HOME="$PWD/../../home" TMPDIR="$PWD/../../temporary" LC_ALL=C.UTF-8 \
      "$DEVLINK" -arch=sm_90 --ptx-backend=ptxas --ptxas-path="$PWD/../../bin/ptxas" --log "$@" \
      -o "p$i.cubin" common.ptx more.ptx "k$i.ptx" 2>"log$i") &
    jobs+=($!)
  done
  for i in "${jobs[@]}"; do wait "$i" || true; done
}
# check WHAT MACHINE [PATTERN]: its outputs are those without a cache, and every log has a line that
# fits the pattern.
check() {
  local i here="$2/checkout/$2"
  for ((i = 0; i < programs; ++i)); do
    if ! cmp "plain$i.cubin" "$here/p$i.cubin"; then
      fail "$1: on $2 another output: $(cat "$here/log$i")"
    elif [[ -n ${3-} ]] && ! grep -Eq "$3" "$here/log$i"; then
      fail "$1: on $2 no line '$3' in: $(grep cache "$here/log$i" || true)"
    fi
  done
}
readonly found_all='cache: 3 found, 0 compiled, 0 stored, 0 faults'
readonly no_faults='cache: .*, 0 faults'

# --- What one machine compiles, the other finds --------------------------------------------------------

declare -A addresses=(
  [http]="http://127.0.0.1:${ports[0]}/cuda"
  [redis]="redis://:secret@localhost:${ports[2]}/3"
  [socket]="redis+unix://secret@localhost$PWD/server/redis.sock?db=4"
)
series=1
new_programs $series
for kind in http redis socket; do
  machine "$kind-one" works
  machine "$kind-two" broken
  build "$kind-one" --remote-cache="${addresses[$kind]}"
  check "$kind, first" "$kind-one" "$no_faults"
  build "$kind-two" --remote-cache="${addresses[$kind]}"
  check "$kind, second" "$kind-two" "$found_all"
done
[[ -n $(ls server/files/cuda/ac) ]] || fail "nothing lies where the documentation says"

# Both build the same new programs at the same time.
machine three works
new_programs $((++series))
build three --remote-cache="${addresses[http]}" &
building=$!
build http-one --remote-cache="${addresses[http]}"
wait $building
check "both at once" three "$no_faults"
check "both at once" http-one "$no_faults"
build http-two --remote-cache="${addresses[http]}"
check "after both" http-two "$found_all"

# LTO IR, where there is something that compiles it.
if [[ -n $nvvm ]]; then
  for unit in common more kernel; do
    nvcc -arch=sm_90 -rdc=true -dlto -c -o texts/$unit.o texts/$unit.cu
  done
  lto=("$DEVLINK" -arch=sm_90 -lto "-nvvmpath=$nvvm" texts/{common,more,kernel}.o)
  "${lto[@]}" -o plain-lto.cubin
  for pass in compiled found; do
    mkdir $pass
    cp -r texts $pass
    (cd $pass && HOME="$PWD" "${lto[@]}" -o p.cubin --log --remote-cache="${addresses[redis]}" 2>log)
    cmp plain-lto.cubin $pass/p.cubin
  done
  grep -q 'cache: 2 found, 0 compiled, 0 stored, 0 faults' found/log ||
    fail "LTO: $(grep cache found/log)"
fi

# --- A folder in front --------------------------------------------------------------------------------

machine four broken
build four --cache=cache --remote-cache="${addresses[http]}"
check "folder in front" four "$found_all"

# --- Damage on the server is noticed, and mended by whoever compiles -------------------------------------

python3 - server/files/cuda/ac <<'PYTHON'
import pathlib, sys
entries = sorted(p for p in pathlib.Path(sys.argv[1]).iterdir() if p.is_file())
contents = [p.read_bytes() for p in entries]
for i, (entry, content) in enumerate(zip(entries, contents)):
    half = len(content) // 2
    entry.write_bytes([content[:half], b"", content[:half] + b"!" + content[half + 1 :],
                       contents[i - 1], b"<html>", content + b"x"][i % 6])
PYTHON
build http-one --remote-cache="${addresses[http]}"
check "damaged" http-one 'cache: .*[1-9][0-9]* faults'
build http-one --remote-cache="${addresses[http]}"
build http-two --remote-cache="${addresses[http]}"
check "mended" http-two "$found_all"

# --- TLS: only whom the caller trusts --------------------------------------------------------------------

build http-one --remote-cache="https://localhost:${ports[1]}/cuda"
check "a certificate that nobody trusts" http-one 'certificate'
cmake --install "$DEVLINK_BUILD" --prefix "$PWD/prefix" >install.log
mkdir host
cat >host/main.cc <<'CPP'
#include <devlink/experimental/network_cache.h>

#include <iostream>

// URL CERTIFICATE: keeps something there and gets it back.
int main(int, char** argv) {
  const auto store = devlink::CreateNetworkCache({.url = argv[1], .certificate_file = argv[2]});
  if (!store.ok()) return 2;
  const auto key = devlink::CacheKeyBuilder("test").Text("url", argv[1]).Build();
  const std::vector<std::uint8_t> value(1'000'000, 7);
  const absl::Status stored = (*store)->Store(key, value);
  const auto found = (*store)->Find(key);
  if (stored.ok() && found.ok() && found->has_value() && **found == value) return 0;
  std::cerr << stored.ToString() << "\n" << found.status().ToString() << "\n";
  return 1;
}
CPP
cat >host/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.21)
project(host CXX)
find_package(devlink REQUIRED CONFIG COMPONENTS network_cache)
add_executable(host main.cc)
target_link_libraries(host PRIVATE devlink::network_cache)
CMAKE
sanitize="$(sed -n 's/^DEVLINK_SANITIZE:[A-Z]*=//p' "$DEVLINK_BUILD/CMakeCache.txt")"
{
  cmake -S host -B host/build -DCMAKE_PREFIX_PATH="$PWD/prefix" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER="$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$DEVLINK_BUILD/CMakeCache.txt")" \
    -DCMAKE_CXX_FLAGS="${sanitize:+-fsanitize=$sanitize}"
  cmake --build host/build
} >host.log 2>&1 || { cat host.log; exit 1; }
for url in "https://localhost:${ports[1]}/cuda" "rediss://secret@localhost:${ports[3]}"; do
  host/build/host "$url" "$PWD/server/certificate.pem" || fail "$url does not work"
  ! host/build/host "$url" /etc/hostname 2>message.txt || fail "$url is trusted without a reason"
done

# --- The server goes ---------------------------------------------------------------------------------

# In the middle of links that compile.
new_programs $((++series))
for kind in http redis; do
  build "$kind-one" --remote-cache="${addresses[$kind]}" &
  building=$!
  sleep 0.2
  if [[ $kind == http ]]; then
    stop_server "$nginx"
    nginx=
  else
    stop_server "$redis"
    redis=
  fi
  wait $building
  check "$kind killed" "$kind-one"
done
# And for good: what a folder has needs no server, the rest is compiled.
begin=$SECONDS
for kind in http redis socket; do
  build "$kind-one" --remote-cache="${addresses[$kind]}"
  check "$kind gone" "$kind-one" 'it is left alone from here on'
done
build three --cache=cache --remote-cache="${addresses[http]}"
check "gone behind a folder, first" three
cp -r three/checkout/three/cache four/checkout/four/other
build four --cache=other --remote-cache="${addresses[http]}"
check "gone behind a folder" four "$found_all"
((SECONDS - begin < 30)) || fail "links with a server that is gone took $((SECONDS - begin)) s"

# It accepts and says nothing more.
start_nginx
workers="$(cat /proc/"$nginx"/task/*/children)"
# shellcheck disable=SC2086
kill -STOP $workers
begin=$SECONDS
build http-one --remote-cache="${addresses[http]}"
check "stopped" http-one 'it is left alone from here on'
((SECONDS - begin < 25)) || fail "links with a server that hangs took $((SECONDS - begin)) s"

[[ $failures -eq 0 ]]
