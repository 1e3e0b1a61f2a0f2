#!/bin/sh
# usage: redirect.sh GID
#
# What takes a pod's TCP traffic to its sidecar, in the network namespace this runs in: what leaves goes to 15001, what arrives goes to 15006.
# The sidecar's own traffic is told from the application's by the group it runs as. Needs root and iptables.
set -eu
sidecar="$1"
out=15001
in=15006

# Some kernels have only one of the two tables.
for tool in iptables iptables-nft iptables-legacy; do
  if "$tool" -t nat -L -n >/dev/null 2>&1; then break; fi
done
rule() { "$tool" -t nat "$@"; }

rule -N SIDECAR_IN
rule -A PREROUTING -p tcp -j SIDECAR_IN
# Scrapes and probes of the sidecar itself.
for port in 15008 15020 15021 15090; do rule -A SIDECAR_IN -p tcp --dport "$port" -j RETURN; done
rule -A SIDECAR_IN -p tcp -j REDIRECT --to-ports "$in"

rule -N SIDECAR_OUT
rule -A OUTPUT -p tcp -j SIDECAR_OUT
# From the sidecar to its application: it has been through.
rule -A SIDECAR_OUT -s 127.0.0.6/32 -o lo -j RETURN
# An application that calls itself by its service: the sidecar sends it to the pod's own address, where it comes in as any other does.
rule -A SIDECAR_OUT -p tcp -o lo ! -d 127.0.0.1/32 -m owner --gid-owner "$sidecar" -j REDIRECT --to-ports "$in"
rule -A SIDECAR_OUT -o lo -m owner ! --gid-owner "$sidecar" -j RETURN
rule -A SIDECAR_OUT -m owner --gid-owner "$sidecar" -j RETURN
rule -A SIDECAR_OUT -d 127.0.0.1/32 -j RETURN
rule -A SIDECAR_OUT -p tcp -j REDIRECT --to-ports "$out"
