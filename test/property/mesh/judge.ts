// The oracle's predictions for a configuration, held against what the Istio API says, question by question.

import { explain } from '../../../src/oracle/explain.ts';
import type { Connection, ProxyConfig } from '../../../src/oracle/question.ts';
import type { Mesh } from './http-route.ts';
import { asked, lines, shares } from './predicted.ts';

export interface Comparison<Q> {
  /** What the API says; undefined: the model has no opinion. */
  expected(mesh: Mesh, question: Q): ReadonlyMap<string, number> | undefined;
  connection(question: Q): Connection;
  /** Kinds of answers in what is expected, for the census. */
  kinds(wanted: readonly string[], question: Q): readonly string[];
}

export interface Judged {
  readonly silent: number;
  readonly different: readonly string[];
  readonly kinds: readonly string[];
}

export interface Asking<Q> {
  readonly mesh: Mesh;
  readonly config: ProxyConfig;
  readonly questions: readonly Q[];
}

export type Judge<Q> = (asking: Asking<Q>) => Judged;

export function judgeBy<Q>({ expected, connection, kinds }: Comparison<Q>): Judge<Q> {
  return ({ mesh, config, questions }) => {
    const oracle = asked(config);
    let silent = 0;
    const different: string[] = [];
    const found: string[] = [];
    for (const question of questions) {
      const said = expected(mesh, question);
      if (said === undefined) {
        silent++;
        continue;
      }
      const prediction = oracle.predict(connection(question));
      const [want, got] = [lines(said), lines(shares(prediction))];
      found.push(...kinds(want, question));
      if (want.join('\n') === got.join('\n')) continue;
      different.push(
        `${JSON.stringify(question)}\nthe API: ${want.join('\n')}\nEnvoy: ${got.join('\n')}\n${explain(prediction)}`,
      );
    }
    return { silent, different, kinds: found };
  };
}

export interface Census {
  readonly asked: number;
  /** Questions that the model has no opinion on. */
  readonly silent: number;
  readonly different: readonly string[];
  readonly kinds: ReadonlyMap<string, number>;
}

export function censusOf<Q>(cases: Iterable<Asking<Q>>, judge: Judge<Q>): Census {
  const kinds = new Map<string, number>();
  const different: string[] = [];
  let [all, silent] = [0, 0];
  for (const one of cases) {
    const judged = judge(one);
    all += one.questions.length;
    silent += judged.silent;
    different.push(...judged.different);
    for (const kind of judged.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return { asked: all, silent, different, kinds };
}

/** Whether a generator that errs so is seen in one of the cases. */
export function isCaught<Q>(
  cases: Iterable<Asking<Q>>,
  judge: Judge<Q>,
  mutate: (config: ProxyConfig) => ProxyConfig,
): boolean {
  for (const { mesh, config, questions } of cases) {
    if (judge({ mesh, config: mutate(config), questions }).different.length > 0) return true;
  }
  return false;
}
