#!/usr/bin/env bash
# Runs one command on N emulated hosts of this machine, joined by a switch whose links have a rate.
#
#   hosts.sh [-n HOSTS] [-S SERVERS] [-r RATE] [-s RANK:RATE]... [-q [RANK:]PERCENT]... [-p] [-b]
#            [-t SECONDS] -- COMMAND [ARGUMENT...]
#
#   -n HOSTS      how many (default 2)
#   -S SERVERS    as many more, behind them, for a plan's servers (default 0)
#   -r RATE       each link's rate, both ways, as tc writes it: 1gbit, 200mbit (default: not limited)
#   -s RANK:RATE  one host's link has another rate; may be repeated
#   -q PERCENT    each host computes for so much of the time, of one processor, in slices of at most
#                 2.5 ms; -q RANK:PERCENT says it of one host; may be repeated
#   -p            pin host i to processor i modulo the number of processors
#   -b            at the end, a line a host: 'host RANK rx BYTES tx BYTES', what its link has moved,
#                 frames with their headers
#   -t SECONDS    end every host after this long (default 600)
#
# A host is a network namespace with one link, eth0, 10.98.0.(rank+1). COMMAND sees RANK,
# WORLD_SIZE (HOSTS + SERVERS), LOCAL_RANK, MASTER_ADDR, MASTER_PORT and GLOO_SOCKET_IFNAME, as
# under torchrun. Rank 0's output is shown, the others' where they fail. Exit code: the first
# failing host's, else 0.
# Needs root and iproute2, and for -q the cpu controller of cgroups. Everything made here is removed
# when it ends.
set -u

hosts=2 servers=0 rate='' rates=() quota='' quotas=() pin='' counts='' limit=600
while getopts n:S:r:s:q:pbt: flag; do
  case $flag in
    n) hosts=$OPTARG ;;
    S) servers=$OPTARG ;;
    r) rate=$OPTARG ;;
    s) rates+=("$OPTARG") ;;
    q) [[ $OPTARG == *:* ]] && quotas+=("$OPTARG") || quota=$OPTARG ;;
    p) pin=yes ;;
    b) counts=yes ;;
    t) limit=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
if [[ $# == 0 ]]; then
  sed -n '2,/^set/{s/^# \{0,1\}//p;}' "$0" >&2
  exit 2
fi
hosts=$((hosts + servers))
declare -A rate_of=() quota_of=()
for one in "${rates[@]}"; do
  if ! [[ $one =~ ^([0-9]+):(.+)$ ]] || ((BASH_REMATCH[1] >= hosts)); then
    echo "hosts.sh: -s: expected RANK:RATE with a rank from 0 to $((hosts - 1)), got '$one'" >&2
    exit 2
  fi
  rate_of[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
done
for one in "${quotas[@]}" ${quota:+"0:$quota"}; do
  if ! [[ $one =~ ^([0-9]+):([1-9][0-9]?|100)$ ]] || ((BASH_REMATCH[1] >= hosts)); then
    echo "hosts.sh: -q: expected RANK:PERCENT with a rank from 0 to $((hosts - 1)) and per cent" \
      "from 1 to 100, got '$one'" >&2
    exit 2
  fi
done
for ((i = 0; i < hosts; i++)); do [[ -z $quota ]] || quota_of[$i]=$quota; done
for one in "${quotas[@]}"; do quota_of[${one%%:*}]=${one#*:}; done
if [[ $EUID != 0 ]] || ! command -v ip >/dev/null; then
  echo "hosts.sh: needs root and iproute2, to make network namespaces" >&2
  exit 2
fi

name=syncline$$ logs=$(mktemp -d) children=()

remove() {
  local child i
  for child in "${children[@]}"; do kill -TERM -- "-$child" 2>/dev/null; done
  for ((i = 0; i < hosts; i++)); do ip netns del "$name-$i" 2>/dev/null; done
  ip netns del "$name" 2>/dev/null
  for ((i = 0; i < hosts; i++)); do
    [[ -z ${quota_of[$i]:-} ]] || rmdir "$groups/$name-$i" 2>/dev/null
  done
  rm -rf "$logs"
}
trap remove EXIT
trap 'exit 130' HUP INT PIPE TERM

# A token bucket of 5 ms at 1 Gb/s, as a switch port's queue: longer bursts would hide the rate.
limit_rate() { # namespace, device, rate
  [[ -z $3 ]] || tc -n "$1" qdisc add dev "$2" root tbf rate "$3" burst 512kb latency 20ms
}

connect() { # host
  local host=$name-$1 own=${rate_of[$1]:-$rate}
  ip netns add "$host" &&
    ip link add eth0 netns "$host" type veth peer name "port$1" netns "$name" &&
    ip -n "$host" addr add "10.98.0.$(($1 + 1))/24" dev eth0 &&
    ip -n "$host" link set lo up &&
    ip -n "$host" link set eth0 up &&
    ip -n "$name" link set "port$1" master switch up &&
    limit_rate "$host" eth0 "$own" &&
    limit_rate "$name" "port$1" "$own"
}

# Where cgroups have their cpu controller: version 2, else version 1.
groups=/sys/fs/cgroup
[[ -e $groups/cgroup.controllers ]] || groups=/sys/fs/cgroup/cpu

# Short slices let a host compute evenly at its part of a processor's speed; the kernel wants 1 ms.
limit_processor() { # host, percent
  local group=$groups/$name-$1 period=$(($2 < 40 ? 100000 / $2 + 1 : 2500))
  if ! mkdir "$group" 2>/dev/null; then
    echo "hosts.sh: -q: cannot make a cgroup in $groups" >&2
    return 1
  fi
  if [[ $groups == */cpu ]]; then
    echo $period >"$group/cpu.cfs_period_us" &&
      echo $((period * $2 / 100)) >"$group/cpu.cfs_quota_us"
  else
    echo "$((period * $2 / 100)) $period" >"$group/cpu.max"
  fi
}

# nproc takes OMP_NUM_THREADS for the number of processors: with 1, all hosts would share the first.
processors=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)

ip netns add "$name" && ip -n "$name" link add switch type bridge &&
  ip -n "$name" link set switch up || exit 1
for ((i = 0; i < hosts; i++)); do
  connect "$i" || exit 1
  [[ -z ${quota_of[$i]:-} ]] || limit_processor "$i" "${quota_of[$i]}" || exit 1
done

for ((i = 0; i < hosts; i++)); do
  cpu=()
  [[ -z $pin ]] || cpu=(taskset -c $((i % processors)))
  group=/dev/null
  [[ -z ${quota_of[$i]:-} ]] || group=$groups/$name-$i/cgroup.procs
  # shellcheck disable=SC2016 # the inner shell expands these
  setsid bash -c 'echo $$ >"$0" && exec "$@"' "$group" ip netns exec "$name-$i" \
    env RANK=$i WORLD_SIZE="$hosts" LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 \
    MASTER_ADDR=10.98.0.1 MASTER_PORT=29501 GLOO_SOCKET_IFNAME=eth0 \
    "${cpu[@]}" timeout -k 5 "$limit" "$@" >"$logs/$i" 2>&1 &
  children+=($!)
done

code=0
for ((i = 0; i < hosts; i++)); do
  wait "${children[i]}" && result=0 || result=$?
  if ((i == 0)); then
    cat "$logs/0"
  elif ((result)); then
    sed "s/^/rank $i: /" "$logs/$i" >&2
  fi
  ((code)) || code=$result
done
children=()
if [[ -n $counts ]]; then
  for ((i = 0; i < hosts; i++)); do
    ip netns exec "$name-$i" bash -c 'cd /sys/class/net/eth0/statistics &&
      echo "host '"$i"' rx $(<rx_bytes) tx $(<tx_bytes)"'
  done
fi
exit $code
