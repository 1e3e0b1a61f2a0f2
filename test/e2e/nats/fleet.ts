// Three replicas as processes of their own on one NATS cluster and one folder of configuration, and what a test asks
// them.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openJournal } from '../../../src/journal/open.ts';
import { foldHistory } from '../../../src/offline/load-state.ts';
import { worldDigest } from '../../../src/replicas/world-digest.ts';
import { Plane } from '../kube/plane.ts';
import { until } from '../kube/until.ts';
import type { NatsCluster } from './cluster.ts';

export const MESH = 'chaos';
const FLEET_MS_MAX = 120_000;

interface Row {
  readonly id: string;
  readonly position: number;
  readonly chain: string;
  readonly term?: number;
  readonly digest?: { readonly position: number; readonly hash: string };
}

export class Fleet {
  readonly folder: string;
  readonly #nats: NatsCluster;
  readonly #planes: (Plane | undefined)[] = [];
  readonly #hosts: string[] = [];

  constructor(nats: NatsCluster) {
    this.#nats = nats;
    this.folder = mkdtempSync(join(tmpdir(), 'periplus-fleet-'));
    mkdirSync(join(this.folder, 'config'));
  }

  get size(): number {
    return this.#planes.length;
  }

  get hosts(): readonly string[] {
    return this.#hosts;
  }

  get address(): string {
    return `nats://${this.#nats.servers}/${MESH}`;
  }

  get key(): string {
    return join(this.folder, 'mesh.key');
  }

  plane(i: number): Plane {
    const plane = this.#planes[i];
    if (plane === undefined) throw new Error(`replica ${i} does not run`);
    return plane;
  }

  mirror(i: number): string {
    return join(this.folder, `mirror-${i}`, 'journal.db');
  }

  async start(i: number): Promise<Plane> {
    const plane = await Plane.serve([
      ...['--journal', this.address, '--journal-mirror', this.mirror(i), '--journalKey', this.key],
      ...['--replica-id', `replica-${i}`, '--configDir', join(this.folder, 'config')],
    ]);
    this.#planes[i] = plane;
    return plane;
  }

  async kill(i: number): Promise<void> {
    await this.#planes[i]?.end('SIGKILL');
    this.#planes[i] = undefined;
  }

  async stop(): Promise<void> {
    for (const [i, plane] of this.#planes.entries()) {
      await plane?.end();
      this.#planes[i] = undefined;
    }
  }

  /** Writes one more service with a name of its own. */
  change(host: string, address?: string): void {
    this.#hosts.push(host);
    const endpoint = address ?? `10.0.0.${this.#hosts.length % 250}`;
    const text = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${host.split('.')[0]}, namespace: shop }
spec:
  hosts: [${host}]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: ${endpoint} }]
`;
    writeFileSync(join(this.folder, 'config', `${host}.yaml`), text);
  }

  /** Every replica runs, has folded the newest change, and stands at the same position with the same chain. */
  async agree(): Promise<void> {
    const newest = this.#hosts.at(-1) ?? '';
    let seen = '';
    const isSo = async (): Promise<boolean> => {
      const found = await Promise.all(
        this.#planes.map(async plane => {
          const page = await plane?.page('/debug/configz').catch(() => undefined);
          return page?.text.includes(newest) === true ? this.#row(plane) : undefined;
        }),
      );
      seen = JSON.stringify(found);
      const [first] = found;
      return first !== undefined && found.every(row => row?.position === first.position && row.chain === first.chain);
    };
    await until(`replicas that agree on ${newest}`, isSo, FLEET_MS_MAX).catch((error: unknown) => {
      const logs = this.#planes.map((plane, i) => `replica ${i}: ${plane?.log.slice(-3_000)}`).join('\n');
      throw new Error(`${String(error)}: ${seen}\n${logs}`);
    });
  }

  /** The replica that leads. */
  async leader(): Promise<number> {
    let leader = -1;
    await until('a leader', async () => {
      const rows = await Promise.all(this.#planes.map(plane => this.#row(plane).catch(() => undefined)));
      leader = rows.findIndex(row => row?.term !== undefined);
      return leader >= 0;
    });
    return leader;
  }

  /** Stops the leader until another one leads: a term begins, and every replica takes the digest of its state. */
  async nextTerm(): Promise<void> {
    const before = await this.leader();
    const { pid } = this.plane(before);
    const others = this.#planes.filter((_, i) => i !== before);
    process.kill(pid, 'SIGSTOP');
    try {
      await until('another leader', async () => {
        const rows = await Promise.all(others.map(plane => this.#row(plane).catch(() => undefined)));
        return rows.some(row => row?.term !== undefined);
      });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }

  /** Whether each replica has a digest of its state, of the same position, and all are equal. */
  async isEqual(): Promise<boolean> {
    const rows = await Promise.all(this.#planes.map(plane => this.#row(plane)));
    const digests = new Set(rows.map(row => JSON.stringify(row?.digest)));
    return digests.size === 1 && rows[0]?.digest !== undefined;
  }

  /** Its own row of `/debug/replicasz`, which stands first. */
  async #row(plane: Plane | undefined): Promise<Row | undefined> {
    const page = await plane?.page('/debug/replicasz');
    return page === undefined ? undefined : (JSON.parse(page.text) as readonly Row[])[0];
  }

  async ready(): Promise<void> {
    for (const plane of this.#planes) await plane?.ready();
  }

  /** The digest of the world in a mirror, and how often each host was added to it. Nothing may run. */
  async world(i: number): Promise<{ readonly digest: string; readonly added: ReadonlyMap<string, number> }> {
    const journal = await openJournal(this.mirror(i), { keyFile: this.key, readonly: true });
    try {
      const verdict = await journal.verify();
      if (!verdict.ok) throw new Error(`mirror ${i}: ${verdict.findings.map(({ message }) => message).join('; ')}`);
      const added = new Map<string, number>();
      for await (const page of journal.records({ from: 1 })) {
        for (const { kind, body } of page) {
          if (kind !== 'Add' && kind !== 'Update') continue;
          for (const host of this.#hosts) if (body.includes(`"${host}"`)) added.set(host, (added.get(host) ?? 0) + 1);
        }
      }
      const { state } = await foldHistory(journal, { fromSnapshot: false });
      return { digest: worldDigest(state), added };
    } finally {
      await journal.close();
    }
  }

  async close(): Promise<void> {
    for (let i = 0; i < this.#planes.length; i++) await this.kill(i);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
