// Pods without a cluster: each is a network namespace with one interface, joined by a namespace that plays the node and
// routes between them. Nothing of it touches the machine's own network, and nothing stays: a namespace lives as long as
// the process that holds it, which ends when its standard input does.

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { whyNoNamespaces } from '../namespaces.ts';

const APT_MS_MAX = 300_000;
const RUN_MS_MAX = 30_000;
/**
 * The group a sidecar runs as: istio-proxy's. It stays root, since the Envoy of these tests may lie where only root can
 * read.
 */
export const SIDECAR_GID = 1337;

/** Why pods cannot be made here; undefined: they can. Installs iproute2 and iptables, where apt is there to do it. */
export function whyNoPods(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return whyNoNamespaces();
  for (const [tool, name] of [['ip', 'iproute2'] as const, ['iptables', 'iptables'] as const]) {
    if (isThere(tool)) continue;
    try {
      const options = {
        stdio: 'pipe',
        timeout: APT_MS_MAX,
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      } as const;
      execFileSync('apt-get', ['update', '-qq'], options);
      execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], options);
    } catch (error) {
      return `${tool} is not there, and apt could not install ${name}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return whyNoNamespaces();
}

function isThere(tool: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${tool}`], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

export class Pod {
  readonly name: string;
  readonly address: string;
  readonly #holder: ChildProcess;
  readonly #children: ChildProcess[] = [];

  private constructor(name: string, address: string, holder: ChildProcess) {
    this.name = name;
    this.address = address;
    this.#holder = holder;
  }

  static async make(name: string, address: string): Promise<Pod> {
    const held = ['--net', 'sh', '-ec', 'ip link set lo up; echo made; exec cat'];
    const holder = spawn('unshare', held, { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(holder.stdout, 'data');
    return new Pod(name, address, holder);
  }

  get pid(): number {
    return this.#holder.pid ?? 0;
  }

  /** Its output. Rejects with what it said if it fails. */
  async run(...command: readonly string[]): Promise<string> {
    const [program, args] = this.#inside(command, undefined);
    return (await promisify(execFile)(program, args, { timeout: RUN_MS_MAX })).stdout;
  }

  /** Runs until the pod ends. `output`: a file descriptor. */
  start(command: readonly string[], options: { readonly gid?: number; readonly output: number }): ChildProcess {
    const [program, args] = this.#inside(command, options.gid);
    const child = spawn(program, args, { stdio: ['ignore', options.output, options.output] });
    this.#children.push(child);
    return child;
  }

  /** Ends everything that was started in it, and the namespace. */
  async end(): Promise<void> {
    const children = [...this.#children, this.#holder].filter(
      child => child.exitCode === null && child.signalCode === null,
    );
    const ended = children.map(child => once(child, 'exit'));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(ended);
  }

  #inside(command: readonly string[], gid: number | undefined): [string, string[]] {
    const group = gid === undefined ? [] : ['--setgid', String(gid)];
    return ['nsenter', [`--net=/proc/${this.pid}/ns/net`, ...group, '--', ...command]];
  }
}

export class Node {
  readonly pods: Pod[] = [];
  readonly here: Pod;

  private constructor(here: Pod) {
    this.here = here;
  }

  static async make(): Promise<Node> {
    const here = await Pod.make('node', '');
    await here.run('sh', '-ec', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
    return new Node(here);
  }

  /** A pod with the address `NET.2` of a /24; the node is its `NET.1`, and its way to everywhere. */
  async pod(name: string, net: string): Promise<Pod> {
    const pod = await Pod.make(name, `${net}.2`);
    this.pods.push(pod);
    const own = `pod${this.pods.length}`;
    await this.here.run('ip', 'link', 'add', own, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pod.pid));
    await this.here.run('ip', 'address', 'add', `${net}.1/24`, 'dev', own);
    await this.here.run('ip', 'link', 'set', own, 'up');
    await pod.run('ip', 'address', 'add', `${pod.address}/24`, 'dev', 'eth0');
    await pod.run('ip', 'link', 'set', 'eth0', 'up');
    await pod.run('ip', 'route', 'add', 'default', 'via', `${net}.1`);
    return pod;
  }

  async end(): Promise<void> {
    for (const pod of [...this.pods, this.here]) await pod.end();
  }
}
