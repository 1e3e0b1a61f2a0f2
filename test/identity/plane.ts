// A control plane with a secure port for tests: files, tokens verified with a key set of the test, every port any free
// one.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultSettings, type Settings } from '../../src/core/mesh/settings.ts';
import { identitySettings } from '../../src/identity/settings.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type ControlPlane, startControlPlane } from '../../src/runtime/control-plane.ts';
import type { IdentityOptions } from '../../src/runtime/identity-options.ts';
import type { ServeOptions } from '../../src/runtime/serve-options.ts';
import { ISSUER, type TokenMaker, tokenMaker } from './tokens.ts';

export interface TestPlane {
  readonly folder: string;
  readonly plane: ControlPlane;
  readonly tokens: TokenMaker;
  readonly lines: string[];
  /** PEM. */
  readonly roots: () => string;
  stop(): Promise<void>;
}

export interface TestPlaneOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** File name → YAML. */
  readonly config?: Readonly<Record<string, string>>;
  readonly folder?: string;
  readonly tokens?: TokenMaker;
  readonly identity?: Partial<IdentityOptions>;
  readonly settings?: Settings;
  /** Serves the webhooks too. */
  readonly webhooks?: true;
  readonly serve?: Partial<ServeOptions>;
}

const LOOPBACK = { host: '127.0.0.1', port: 0 };

export async function testPlane(options: TestPlaneOptions = {}): Promise<TestPlane> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'periplus-identity-')));
  await mkdir(join(folder, 'config'), { recursive: true });
  const tokens = options.tokens ?? tokenMaker();
  await writeFile(join(folder, 'keys.json'), tokens.jwks);
  for (const [name, text] of Object.entries(options.config ?? {})) await writeFile(join(folder, 'config', name), text);
  const lines: string[] = [];
  const settings = identitySettings({ ROOT_CA_DIR: join(folder, 'cacerts'), ...options.env });
  const plane = await startControlPlane(
    {
      settings: options.settings ?? defaultSettings,
      configDir: join(folder, 'config'),
      journal: join(folder, 'journal.db'),
      journalDurability: 'off',
      journalStrict: false,
      shutdownMs: 500,
      grpcAddr: LOOPBACK,
      httpAddr: LOOPBACK,
      monitoringAddr: LOOPBACK,
      ...(options.webhooks ? { httpsAddr: LOOPBACK } : {}),
      ...options.serve,
      identity: {
        settings,
        secureGrpcAddr: LOOPBACK,
        tls: { minVersion: 'TLSv1.2' },
        servingFiles: {},
        caFolder: join(folder, 'ca'),
        tokenCheck: 'keys',
        tokenKeys: { file: join(folder, 'keys.json'), issuer: ISSUER },
        readOnly: false,
        ...options.identity,
      },
    },
    systemClock,
    (level, message) => void lines.push(`${level} ${message}`),
  );
  await until(() => plane.world.state.objects.TrustAnchors.size > 0 && plane.world.state.objects.TokenIssuer.size > 0);
  return {
    folder,
    plane,
    tokens,
    lines,
    roots: () => {
      const [anchors] = [...plane.world.state.objects.TrustAnchors.values()];
      return (anchors!.spec as { readonly roots: string }).roots;
    },
    stop: async () => {
      await plane.stop();
      if (options.folder === undefined) await rm(folder, { recursive: true });
    },
  };
}

const UNTIL_MS_MAX = 30_000;

/** Resolves when it holds; rejects after a while. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + UNTIL_MS_MAX;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not within ${UNTIL_MS_MAX} ms: ${holds.toString()}`);
    await new Promise(resolve => setTimeout(resolve, 10));
  }
}
