// What single functions give: sprig's, and Istio's where they replace them.

import { describe, expect, it } from 'vitest';
import { parseTemplate, runTemplate } from '../../../../src/admission/template/template.ts';
import { StructView } from '../../../../src/admission/template/views.ts';

const data = {
  Meta: new StructView({ annotations: { a: '1' }, labels: {} }),
  Config: new StructView({
    statusPort: 15020,
    concurrency: 2,
    proxyMetadata: { B: 'x', A: 'y' },
    discoveryAddress: 'other:15012',
  }),
  Unset: new StructView({ controlPlaneAuthPolicy: 'NONE', fileFlushMinSizeKb: 0, tracing: { sampling: 0 } }),
  Usual: new StructView({ statusPort: 15020, drainDuration: '45s', interceptionMode: 'REDIRECT', proxyMetadata: {} }),
  Port: new StructView({ protocol: 'TCP', name: 'http', containerPort: 80 }),
  Values: { a: { none: null, b: { gone: null } }, list: [1, 'x', null] },
};

function rendered(expression: string): string {
  const parsed = parseTemplate(`{{ ${expression} }}`);
  if (parsed._tag === 'Left') return parsed.left;
  const run = runTemplate(parsed.right, data);
  return run._tag === 'Left' ? run.left : run.right;
}

describe('The function', () => {
  it.each([
    ['annotation .Meta `a` "d"', '1'],
    ['annotation .Meta `b` .Values.a.none', '<nil>'],
    ['isset .Meta.Annotations `a`', 'true'],
    ['index .Meta.Annotations `b` | default "x"', 'x'],
    ['indent 2 "a\\nb"', 'a\n  b'],
    ['nindent 2 "a\\nb"', '\n  a\n  b'],
    ['quote 1 nil "a\\"b"', '"1" "a\\"b"'],
    ['excludeInboundPort 15020 "80, 90"', '80,90,15020'],
    ['excludeInboundPort 0 "80"', '80'],
    ['excludeInboundPort "80" "80"', '80'],
    [
      'appendMultusNetwork `[{"name":"a"}]` "default/istio-cni"',
      '[{"name":"a"}, {"name": "istio-cni", "namespace": "default"}]',
    ],
    [
      'appendMultusNetwork `[{"name":"istio-cni","namespace":"default"}]` "default/istio-cni"',
      '[{"name":"istio-cni","namespace":"default"}]',
    ],
    ['appendMultusNetwork "a" "b"', 'a, b'],
    ['appendMultusNetwork "[a" "b"', '[a, b'],
    ['directory "/a/b/c"', '/a/b/'],
    ['protoToJSON .Config', '{"discoveryAddress":"other:15012","concurrency":2,"proxyMetadata":{"A":"y","B":"x"}}'],
    ['protoToJSON .Usual', '{}'],
    ['protoToJSON .Unset', '{"tracing":{"sampling":0},"fileFlushMinSizeKb":0}'],
    ['structToJSON .Port', '{"name":"http","containerPort":80,"protocol":"TCP"}'],
    ['toYaml (omitNil .Values)', 'list:\n- 1\n- x\n'],
    ['toJsonMap (strdict "b" "1") (strdict "a" "2" "b" "3")', '{"a":"2","b":"3"}'],
    ['omit .Meta.Annotations "a" | toJson', '{}'],
    ['valueOrDefault .Values.nothing "d"', 'd'],
    ['fromJSON "{" ', '{}'],
    ['contains "/" "a/b"', 'true'],
    ['list 1 2 | join ","', '1,2'],
    ['trunc 3 "abcdef" | trimSuffix "c"', 'ab'],
    ['b64enc "hé" | b64dec', 'hé'],
    ['regexReplaceAll "a+" "caaat" "o"', 'cot'],
    ['toJson (dict "a" (list 1 "<"))', '{"a":[1,"\\u003c"]}'],
    ['add 1 2 | mul 3', '9'],
    ['div 1 0', 'line 1: error calling div: integer divide by zero'],
    ['default "d" false', 'd'],
    ['ternary "y" "n" true', 'y'],
    ['keys (dict "b" 1 "a" 2)', '[a b]'],
    ['dig "a" "b" "x" (dict "a" (dict "b" 1))', '1'],
    ['printf "%-5s|%5d|%x" "a" 7 255', 'a    |    7|ff'],
    ['env "HOME" "none"', 'none'],
    ['len "é"', '2'],
  ])('%s gives %j', (expression, expected) => {
    expect(rendered(expression)).toBe(expected);
  });
});
