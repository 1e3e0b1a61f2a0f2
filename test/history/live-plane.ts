// A control plane on loopback over a folder of its own, for commands that ask a running one.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultSettings } from '../../src/core/mesh/settings.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type ControlPlane, startControlPlane } from '../../src/runtime/control-plane.ts';
import { periplus, type Ran } from './running.ts';

export class LivePlane {
  readonly plane: ControlPlane;
  /** The folder of YAML that it serves. */
  readonly mesh: string;
  readonly #folder: string;

  private constructor(plane: ControlPlane, folder: string, mesh: string) {
    this.plane = plane;
    this.#folder = folder;
    this.mesh = mesh;
  }

  /** `yaml`: what `mesh.yaml` holds at the start. */
  static async start(yaml: string): Promise<LivePlane> {
    const folder = mkdtempSync(join(tmpdir(), 'periplus-live-'));
    const mesh = join(folder, 'mesh');
    mkdirSync(mesh);
    writeFileSync(join(mesh, 'mesh.yaml'), yaml);
    const loopback = { host: '127.0.0.1', port: 0 };
    const plane = await startControlPlane(
      {
        configDir: mesh,
        grpcAddr: loopback,
        httpAddr: loopback,
        monitoringAddr: loopback,
        settings: defaultSettings,
        journal: join(folder, 'journal.db'),
        journalDurability: 'off',
        journalStrict: false,
        shutdownMs: 500,
      },
      systemClock,
      () => undefined,
    );
    return new LivePlane(plane, folder, mesh);
  }

  write(file: string, yaml: string): void {
    writeFileSync(join(this.mesh, file), yaml);
  }

  /** Runs a command of the CLI that asks this control plane. */
  ask(...args: readonly string[]): Promise<Ran> {
    return periplus(...args, '--address', `127.0.0.1:${this.plane.ports.monitoring}`);
  }

  async stop(): Promise<void> {
    await this.plane.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
