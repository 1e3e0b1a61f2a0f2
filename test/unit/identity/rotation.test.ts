import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Authority } from '../../../src/identity/authority.ts';
import { signingBundle } from '../../../src/identity/bundle.ts';
import { combinedRoots } from '../../../src/identity/root-store.ts';
import { Rotation } from '../../../src/identity/rotation.ts';
import { certificateBlocks } from '../../../src/identity/x509/pem.ts';
import { DAY_MS, NOW, selfSignedBundle, type TestRoot, testRoot } from './authority-of-tests.ts';
import { signingRequest } from './signing-request.ts';

interface Rig {
  readonly authority: Authority;
  readonly rotation: Rotation;
  readonly behind: string[];
  readonly lines: string[];
  /** Lets so much time pass, a look at a time. */
  elapse(ms: number): void;
}

function rig(root: TestRoot, settleMs = 0): Rig {
  let now = NOW;
  const timers: { readonly at: number; readonly run: () => void; isCancelled: boolean }[] = [];
  const [behind, lines]: [string[], string[]] = [[], []];
  const authority = new Authority(selfSignedBundle(root), {
    now: () => now,
    defaultTtlMs: DAY_MS,
    maxTtlMs: 90 * DAY_MS,
  });
  const rotation = new Rotation({
    now: () => now,
    after: (ms, run) => {
      const timer = { at: now + ms, run, isCancelled: false };
      timers.push(timer);
      return {
        cancel: () => {
          timer.isCancelled = true;
        },
      };
    },
    log: (level, message) => void lines.push(`${level} ${message}`),
    behind: () => behind,
    settleMs,
    waitMsMax: 10_000,
  });
  const elapse = (ms: number): void => {
    const end = now + ms;
    for (;;) {
      const due = timers.filter(({ at, isCancelled }) => !isCancelled && at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      due.isCancelled = true;
      now = due.at;
      due.run();
    }
    now = end;
  };
  return { authority, rotation, behind, lines, elapse };
}

/** The bundle of `root` as an operator plugs it in: its roots and those of before. */
const following = (root: TestRoot, before: TestRoot) =>
  signingBundle(
    {
      ...{ mode: 'plugged-in', chain: root.certificate, certificate: root.certificate, key: root.key },
      roots: combinedRoots(root.certificate, before.certificate),
    },
    NOW,
  );

const rootsOf = ({ authority }: Rig): number => certificateBlocks(authority.bundle.roots).length;

async function isSignedBy({ authority }: Rig, root: TestRoot): Promise<boolean> {
  const { certChain } = await authority.sign((await signingRequest()).pem, ['spiffe://td/ns/a/sa/b'], 0);
  return new X509Certificate(certChain[0]!).verify(root.signer.certificate.publicKey);
}

describe('a new bundle of the authority', () => {
  it('signs only when every connected proxy trusts its roots, which are handed out at once', async () => {
    const [old, young] = [await testRoot('old'), await testRoot('young')];
    const all = rig(old);
    all.behind.push('web.shop', 'api.shop');
    all.rotation.take(all.authority, following(young, old));
    expect(rootsOf(all)).toBe(2);
    all.elapse(3_000);
    expect(await isSignedBy(all, old)).toBe(true);
    all.behind.shift();
    all.elapse(3_000);
    expect(await isSignedBy(all, old)).toBe(true);
    all.behind.shift();
    all.elapse(1_000);
    expect(await isSignedBy(all, young)).toBe(true);
    expect(rootsOf(all)).toBe(2);
    expect(all.rotation.since).toBeUndefined();
  });

  it('waits no longer than workload certificates live, and says for whom it did not wait', async () => {
    const [old, young] = [await testRoot('old'), await testRoot('young')];
    const all = rig(old);
    all.behind.push('gone.shop');
    all.rotation.take(all.authority, following(young, old));
    all.elapse(9_000);
    expect(await isSignedBy(all, old)).toBe(true);
    all.elapse(2_000);
    expect(await isSignedBy(all, young)).toBe(true);
    expect(all.lines.at(-2)).toBe('warn the new bundle signs, though gone.shop may not trust it');
  });

  it('gives mounted files their time, even if no proxy is connected', async () => {
    const [old, young] = [await testRoot('old'), await testRoot('young')];
    const all = rig(old, 5_000);
    all.rotation.take(all.authority, following(young, old));
    all.elapse(4_000);
    expect(await isSignedBy(all, old)).toBe(true);
    all.elapse(2_000);
    expect(await isSignedBy(all, young)).toBe(true);
  });

  it('is given up for a newer one', async () => {
    const [old, young, newest] = [await testRoot('old'), await testRoot('young'), await testRoot('newest')];
    const all = rig(old);
    all.behind.push('web.shop');
    all.rotation.take(all.authority, following(young, old));
    all.rotation.take(all.authority, following(newest, old));
    all.behind.shift();
    all.elapse(2_000);
    expect(await isSignedBy(all, newest)).toBe(true);
    expect(rootsOf(all)).toBe(3);
  });

  it('is used at once if only its roots differ, or if it has the same key', async () => {
    const [old, other] = [await testRoot('old'), await testRoot('other')];
    const all = rig(old);
    all.behind.push('web.shop');
    const more = combinedRoots(old.certificate, other.certificate);
    all.rotation.take(all.authority, { ...selfSignedBundle(old), roots: more });
    expect(all.authority.bundle.roots).toBe(more);
    expect(all.rotation.since).toBeUndefined();
  });
});
