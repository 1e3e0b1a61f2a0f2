// Where a client asks an Envoy, and every address behind it answers: network namespaces that touch nothing of the
// machine's own network. Need root, Linux, iproute2 and iptables.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { targetPort } from '../../property/mesh/world.ts';

const HERE = import.meta.dirname;
const CLIENT_GID = 4_242;
const OUTBOUND = 15_001;
const INBOUND = 15_006;
/** Whole ranges that are addresses of the server's namespace: pods, services, what is elsewhere. */
const RANGES = ['10.0.0.0/8', '240.0.0.0/8', '198.51.100.0/24', '203.0.113.0/24'];
const SERVICE_PORTS = [80, 443, 5432, 7070, 9000, 27_017, 8080];
const SERVER_PORTS = [...new Set([...SERVICE_PORTS, ...SERVICE_PORTS.map(targetPort), 15_432])];
const ASKING_MS_MAX = 120_000;
/** Of the wire between a gateway and what is behind it. */
const NEAR = '192.168.250.1';
const FAR = '192.168.250.2';

export interface Place {
  /** A command of the Envoy's. */
  inside(command: readonly string[]): readonly [string, readonly string[]];
  /** What client.mjs prints when it is given the file. */
  ask(file: string): Promise<string>;
  end(): Promise<void>;
}

/** A network namespace; it lives as long as the process that holds it. */
class Space {
  readonly #holder: ChildProcess;
  readonly #children: ChildProcess[] = [];

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
  }

  static async make(): Promise<Space> {
    const holder = spawn('unshare', ['--net', 'sh', '-ec', 'ip link set lo up; echo made; exec cat'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    return new Space(holder);
  }

  get pid(): number {
    return this.#holder.pid ?? 0;
  }

  inside(command: readonly string[], group?: number): readonly [string, readonly string[]] {
    const gid = group === undefined ? [] : ['--setgid', String(group)];
    return ['nsenter', [`--net=/proc/${this.pid}/ns/net`, ...gid, '--', ...command]];
  }

  async run(command: readonly string[], group?: number): Promise<string> {
    const [program, args] = this.inside(command, group);
    return (await promisify(execFile)(program, [...args], { timeout: ASKING_MS_MAX, maxBuffer: 1 << 24 })).stdout;
  }

  /** From here on every address of the ranges answers. */
  async answerEverywhere(ranges: readonly string[] = RANGES, ports: readonly number[] = SERVER_PORTS): Promise<void> {
    await this.run(['sh', '-ec', ranges.map(range => `ip route add local ${range} dev lo`).join('; ')]);
    const [command, args] = this.inside([process.execPath, join(HERE, 'server.mjs'), ...ports.map(String)]);
    const server = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#children.push(server);
    await once(server.stdout, 'data');
  }

  async end(): Promise<void> {
    for (const child of [...this.#children, this.#holder]) {
      if (child.exitCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  }
}

function client(file: string): readonly string[] {
  return [process.execPath, join(HERE, 'client.mjs'), file];
}

/** What the client sends there goes to a port of the Envoy. Some kernels have only one of the two tables. */
async function redirect(space: Space, to: string, port: number): Promise<void> {
  const rule = `-t nat -A OUTPUT -p tcp ${to} -m owner --gid-owner ${CLIENT_GID} -j REDIRECT --to-ports ${port}`;
  const tools = ['iptables', 'iptables-nft', 'iptables-legacy'].map(tool => `${tool} ${rule}`);
  await space.run(['sh', '-c', tools.join(' || ')]);
}

/**
 * A workload of this address and ports behind its sidecar, clients of every private address, and external authorizers:
 * policy-client.mjs plays the latter two.
 */
export async function beforeWorkload(address: string, ports: readonly number[]): Promise<Place> {
  const space = await Space.make();
  await redirect(space, `-d ${address}`, INBOUND);
  await space.answerEverywhere(['10.0.0.0/8', '192.168.0.0/16'], ports);
  return {
    inside: command => space.inside(command),
    ask: file => space.run([process.execPath, join(HERE, 'policy-client.mjs'), file], CLIENT_GID),
    end: () => space.end(),
  };
}

/** One namespace; iptables sends the client's connections to the sidecar. */
export async function besideSidecar(): Promise<Place> {
  const space = await Space.make();
  await redirect(space, '', OUTBOUND);
  await space.answerEverywhere();
  return {
    inside: command => space.inside(command),
    ask: file => space.run(client(file), CLIENT_GID),
    end: () => space.end(),
  };
}

/**
 * The client and a gateway in one namespace, which has the gateway's address and ports for itself; all that answers in
 * another.
 */
export async function atGateway(address: string): Promise<Place> {
  const [near, far] = [await Space.make(), await Space.make()];
  await near.run(['ip', 'link', 'add', 'out', 'type', 'veth', 'peer', 'name', 'in', 'netns', String(far.pid)]);
  const ways = RANGES.map(range => `ip route add ${range} via ${FAR}`);
  const setUp = [`ip address add ${NEAR}/30 dev out`, 'ip link set out up', `ip address add ${address}/32 dev lo`];
  // A request to a missing server, such as one for DNS, fails every time.
  const prompt = 'echo 0 > /proc/sys/net/ipv4/icmp_ratelimit';
  await far.run(['sh', '-ec', `ip address add ${FAR}/30 dev in; ip link set in up; ${prompt}`]);
  await near.run(['sh', '-ec', [...setUp, ...ways].join('; ')]);
  await far.answerEverywhere();
  return {
    inside: command => near.inside(command),
    ask: file => near.run(client(file)),
    end: async () => {
      await near.end();
      await far.end();
    },
  };
}
