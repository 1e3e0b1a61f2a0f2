#!/bin/sh
# Starts ZooKeeper (Debian: apt-get install zookeeper; elsewhere set ZOOKEEPER_HOME) and registers two instances of the
# service "reviews" as Curator's ServiceDiscovery does. Ends with ZooKeeper.
set -eu
bin="${ZOOKEEPER_HOME:-/usr/share/zookeeper}/bin"
data="$(mktemp -d)"
printf 'tickTime=2000\nclientPort=2181\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\ndataDir=%s\n' "$data" >"$data/zoo.cfg"
"$bin/zkServer.sh" start-foreground "$data/zoo.cfg" >"$data/log" 2>&1 &
zookeeper=$!
trap 'kill $zookeeper; rm -rf "$data"' INT TERM
sleep 5
"$bin/zkCli.sh" -server 127.0.0.1:2181 <<'COMMANDS'
create /services
create /services/reviews
create /services/reviews/one {"name":"reviews","id":"one","address":"10.12.0.1","port":9080,"payload":{"metadata":{"protocol":"http","version":"v1"}}}
create /services/reviews/two {"name":"reviews","id":"two","address":"10.12.0.2","port":9080,"payload":{"metadata":{"protocol":"http","version":"v2"}}}
quit
COMMANDS
wait $zookeeper
