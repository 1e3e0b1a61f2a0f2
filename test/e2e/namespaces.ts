// Linux network namespaces for the tests: an Envoy in one of its own can bind every port and address that a proxy of
// its kind binds in a pod, beside others that bind the same. Needs root and iproute2.

import { execFileSync } from 'node:child_process';

/** Why there can be none here; undefined: there can. */
export function whyNoNamespaces(): string | undefined {
  if (process.platform !== 'linux') return `network namespaces are Linux's, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  try {
    execFileSync('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `no network namespaces: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * A command, and what stands before it, that runs in a new network namespace with a loopback interface. Addresses that
 * the namespace does not have can be bound: a proxy's pod has them, and a listener that wants one is not to fail for
 * that. What lies below `files` is seen by the command over the file system (`files/etc/x` as /etc/x), and for no other
 * process.
 */
export function inNewNamespace(command: readonly string[], files?: string): readonly [string, readonly string[]] {
  const prepare = [
    'ip link set lo up',
    'echo 1 > /proc/sys/net/ipv4/ip_nonlocal_bind',
    'test ! -e /proc/sys/net/ipv6/ip_nonlocal_bind || echo 1 > /proc/sys/net/ipv6/ip_nonlocal_bind',
    'files="$1"; shift',
    'test -z "$files" || for top in $(ls "$files"); do',
    '  mount -t overlay overlay -o "lowerdir=$files/$top:/$top" "/$top"',
    'done',
    'exec "$@"',
  ];
  return ['unshare', ['--net', '--mount', 'sh', '-ec', prepare.join('\n'), 'sh', files ?? '', ...command]];
}
