// Policies of ztunnel from what was selected for them, attribute by attribute.
// Source of the rules: Istio pilot/pkg/serviceregistry/ambient/authorization.go.

import { describe, expect, it } from 'vitest';
import type { Condition, Operation, Rule, Source } from '../../../../../src/core/schema/istio-types.gen.ts';
import type { PortLevels } from '../../../../../src/core/select/ambient/peer-authentications.ts';
import { authorization } from '../../../../../src/xds/generate/workload/authorization.ts';
import {
  portLevelAuthorization,
  staticStrict,
  waypointAllowance,
} from '../../../../../src/xds/generate/workload/peer-authentication.ts';
import { SecurityAction, SecurityScope } from '../../../../../src/xds/proto/types.gen.ts';

const ip = (...bytes: readonly number[]): Uint8Array => Uint8Array.from(bytes);

function groupsOf(action: 'ALLOW' | 'DENY', ...rules: readonly Rule[]): unknown {
  const policy = { namespace: 'shop', name: 'p', scope: 'NAMESPACE', action, dryRun: false, rules } as const;
  return authorization.run({ policy }).message.groups;
}
/** The only match that a rule with this one part comes to. */
function matchOf(rule: Rule): unknown {
  const groups = groupsOf('DENY', rule) as readonly { rules: readonly { matches: readonly unknown[] }[] }[];
  expect(groups.map(group => group.rules.map(({ matches }) => matches.length))).toEqual([[1]]);
  return groups[0]!.rules[0]!.matches[0];
}
const from = (source: Source) => matchOf({ from: [{ source }] });
const to = (operation: Operation) => matchOf({ to: [{ operation }] });
const when = (condition: Condition) => matchOf({ when: [condition] });

describe('a policy of ztunnel', () => {
  it('is named by its namespace and name, and reports nothing', () => {
    const policy = { namespace: 'shop', name: 'p', scope: 'GLOBAL', action: 'DENY', dryRun: true, rules: [] } as const;
    expect(authorization.run({ policy })).toEqual({
      name: 'shop/p',
      problems: [],
      message: {
        name: 'p',
        namespace: 'shop',
        scope: SecurityScope.GLOBAL,
        action: SecurityAction.DENY,
        groups: undefined,
        dryRun: true,
      },
    });
  });

  it('has a group for each rule, also for one without parts, which matches everything', () => {
    const ports = { to: [{ operation: { ports: ['80'] } }] };
    expect(groupsOf('ALLOW', {}, ports)).toEqual([
      { rules: undefined },
      { rules: [{ matches: [{ destinationPorts: [80] }] }] },
    ]);
  });

  it('matches one of the alternatives of a part, and all of its parts', () => {
    const rule = {
      from: [{ source: { namespaces: ['a'] } }, { source: { principals: ['b'] } }],
      when: [
        { key: 'source.namespace', values: ['c'] },
        { key: 'destination.port', values: ['1'] },
      ],
    };
    expect(groupsOf('ALLOW', rule)).toEqual([
      {
        rules: [
          { matches: [{ namespaces: [{ exact: 'a' }] }, { principals: [{ exact: 'b' }] }] },
          { matches: [{ namespaces: [{ exact: 'c' }] }] },
          { matches: [{ destinationPorts: [1] }] },
        ],
      },
    ]);
  });

  it.each<[Source, object]>([
    [{ namespaces: ['a'] }, { namespaces: [{ exact: 'a' }] }],
    [{ notNamespaces: ['abc*'] }, { notNamespaces: [{ prefix: 'abc' }] }],
    [{ principals: ['*a'] }, { principals: [{ suffix: 'a' }] }],
    [{ notPrincipals: ['*'] }, { notPrincipals: [{ presence: {} }] }],
    [{ ipBlocks: ['10.0.0.1'] }, { sourceIps: [{ address: ip(10, 0, 0, 1), length: 32 }] }],
    [{ notIpBlocks: ['10.1.0.0/16'] }, { notSourceIps: [{ address: ip(10, 1, 0, 0), length: 16 }] }],
    [{ ipBlocks: ['10.1.2.3/16'] }, { sourceIps: [{ address: ip(10, 1, 2, 3), length: 16 }] }],
    [{ ipBlocks: ['::1'] }, { sourceIps: [{ address: ip(...Array<number>(15).fill(0), 1), length: 128 }] }],
    [{ ipBlocks: ['nowhere', '10.0.0.0/99'] }, {}],
    [{ serviceAccounts: ['sa'] }, { serviceAccounts: [{ namespace: 'shop', serviceAccount: 'sa' }] }],
    [{ notServiceAccounts: ['ns/sa'] }, { notServiceAccounts: [{ namespace: 'ns', serviceAccount: 'sa' }] }],
    [{ serviceAccounts: ['/sa'] }, { serviceAccounts: [{ namespace: '', serviceAccount: 'sa' }] }],
  ])('matches the source %j as %j', (source, expected) => {
    expect(from(source)).toEqual(expected);
  });

  it.each<[Operation, object]>([
    [{ ports: ['80', '65535'] }, { destinationPorts: [80, 65_535] }],
    [{ notPorts: ['0'] }, { notDestinationPorts: [0] }],
    [{ ports: ['65536', '-1', '1x', 'x1', '', '1.5'] }, {}],
  ])('matches the operation %j as %j', (operation, expected) => {
    expect(to(operation)).toEqual(expected);
  });

  it.each<[string, string, object, object]>([
    ['source.namespace', 'a', { namespaces: [{ exact: 'a' }] }, { notNamespaces: [{ exact: 'a' }] }],
    ['source.principal', 'a', { principals: [{ exact: 'a' }] }, { notPrincipals: [{ exact: 'a' }] }],
    [
      'source.ip',
      '1.2.3.4',
      { sourceIps: [{ address: ip(1, 2, 3, 4), length: 32 }] },
      { notSourceIps: [{ address: ip(1, 2, 3, 4), length: 32 }] },
    ],
    [
      'destination.ip',
      '1.2.3.0/24',
      { destinationIps: [{ address: ip(1, 2, 3, 0), length: 24 }] },
      { notDestinationIps: [{ address: ip(1, 2, 3, 0), length: 24 }] },
    ],
    ['destination.port', '80', { destinationPorts: [80] }, { notDestinationPorts: [80] }],
    ['request.headers[x]', 'a', {}, {}],
  ])('matches the condition %s on %s as %j, and its opposite as %j', (key, value, positive, negative) => {
    expect(when({ key, values: [value] })).toEqual(positive);
    expect(when({ key, notValues: [value] })).toEqual(negative);
  });
});

describe('a rule with an attribute of HTTP', () => {
  const operations = ['hosts', 'notHosts', 'methods', 'notMethods', 'paths', 'notPaths'].map(
    (field): Rule => ({ to: [{ operation: { ports: ['1'] } }, { operation: { [field]: ['x'] } }] }),
  );
  const sources = ['remoteIpBlocks', 'notRemoteIpBlocks', 'requestPrincipals', 'notRequestPrincipals'].map(
    (field): Rule => ({ from: [{ source: { namespaces: ['a'] } }, { source: { [field]: ['1.1.1.1'] } }] }),
  );
  const conditions: readonly Rule[] = [
    {
      when: [
        { key: 'source.namespace', values: ['a'] },
        { key: 'request.headers[x]', values: ['a'] },
      ],
    },
  ];

  it.each([...operations, ...sources, ...conditions])('is left out of an ALLOW policy, and kept for DENY: %j', rule => {
    expect(groupsOf('ALLOW', rule)).toBeUndefined();
    expect(groupsOf('DENY', rule)).toHaveLength(1);
  });

  it('is none if the list of the attribute is empty', () => {
    const rule: Rule = { to: [{ operation: { paths: [] } }], from: [{ source: { requestPrincipals: [] } }] };
    expect(groupsOf('ALLOW', rule)).toHaveLength(1);
  });

  it.each(['source.ip', 'source.namespace', 'source.principal', 'destination.ip', 'destination.port'])(
    'is none for the condition %s',
    key => {
      expect(groupsOf('ALLOW', { when: [{ key, values: ['1'] }] })).toHaveLength(1);
    },
  );
});

describe('a PeerAuthentication with port levels', () => {
  type Mode = PortLevels['mode'];
  const anonymous = { notPrincipals: [{ presence: {} }] };
  const alone = (...matches: readonly object[]) => ({ rules: matches.map(match => ({ matches: [match] })) });
  const open = (port: number) => ({ notDestinationPorts: [port] });
  const closed = (port: number) => alone({ ...anonymous, destinationPorts: [port] });
  const made = (
    mode: Mode,
    ofNamespace: Mode | undefined,
    ofMesh: Mode | undefined,
    ports: PortLevels['ports'],
  ): unknown =>
    portLevelAuthorization.run({ levels: { namespace: 'shop', name: 'p', mode, ofNamespace, ofMesh, ports } })?.message
      .groups;

  it.each<[Mode, Mode | undefined, Mode | undefined, Mode, readonly object[] | undefined]>([
    // A strict port
    ['PERMISSIVE', undefined, undefined, 'STRICT', [closed(1)]],
    ['DISABLE', 'PERMISSIVE', 'STRICT', 'STRICT', [closed(1)]],
    ['UNSET', undefined, 'PERMISSIVE', 'STRICT', [closed(1)]],
    ['UNSET', 'PERMISSIVE', 'STRICT', 'STRICT', [closed(1)]],
    ['PERMISSIVE', 'STRICT', undefined, 'STRICT', [closed(1)]],
    ['STRICT', undefined, undefined, 'STRICT', undefined],
    ['UNSET', 'STRICT', undefined, 'STRICT', undefined],
    ['UNSET', undefined, 'STRICT', 'STRICT', undefined],
    ['UNSET', 'UNSET', 'STRICT', 'STRICT', undefined],
    // The slip of istiod: strict by the mesh alone, and a laxer workload
    ['PERMISSIVE', undefined, 'STRICT', 'STRICT', undefined],
    ['PERMISSIVE', 'UNSET', 'STRICT', 'STRICT', undefined],
    // An open port
    ['STRICT', undefined, undefined, 'PERMISSIVE', [alone(anonymous, open(1))]],
    ['STRICT', undefined, undefined, 'DISABLE', [alone(anonymous, open(1))]],
    ['STRICT', 'STRICT', undefined, 'PERMISSIVE', [alone(anonymous, open(1), anonymous)]],
    ['STRICT', undefined, 'STRICT', 'DISABLE', [alone(anonymous, open(1), anonymous)]],
    ['STRICT', 'PERMISSIVE', 'STRICT', 'DISABLE', [alone(anonymous, open(1))]],
    ['UNSET', 'STRICT', undefined, 'PERMISSIVE', [alone(open(1), anonymous)]],
    ['UNSET', 'STRICT', 'PERMISSIVE', 'DISABLE', [alone(open(1), anonymous)]],
    ['UNSET', undefined, 'STRICT', 'PERMISSIVE', [alone(open(1), anonymous)]],
    ['UNSET', 'UNSET', 'STRICT', 'PERMISSIVE', undefined],
    ['UNSET', 'PERMISSIVE', 'STRICT', 'PERMISSIVE', undefined],
    ['UNSET', undefined, undefined, 'PERMISSIVE', undefined],
    ['PERMISSIVE', 'STRICT', undefined, 'DISABLE', undefined],
    ['DISABLE', undefined, 'STRICT', 'PERMISSIVE', undefined],
    // A port without a mode
    ['STRICT', undefined, undefined, 'UNSET', undefined],
    ['PERMISSIVE', undefined, undefined, 'UNSET', undefined],
  ])('of mode %s, with namespace %s and mesh %s and a port of mode %s, is %j', (mode, space, mesh, port, expected) => {
    expect(made(mode, space, mesh, [[1, port]])).toEqual(expected);
  });

  it('has a group for each strict port, and one for all that are open', () => {
    const mixed: PortLevels['ports'] = [
      [1, 'STRICT'],
      [2, 'STRICT'],
      [3, 'PERMISSIVE'],
    ];
    expect(made('PERMISSIVE', undefined, undefined, mixed)).toEqual([closed(1), closed(2)]);
    const opened: PortLevels['ports'] = [
      [1, 'STRICT'],
      [3, 'PERMISSIVE'],
      [4, 'DISABLE'],
    ];
    expect(made('STRICT', undefined, undefined, opened)).toEqual([alone(anonymous, open(3), open(4))]);
  });

  it('denies for the workloads that it selects', () => {
    const ports: PortLevels['ports'] = [[1, 'STRICT']];
    const levels = {
      namespace: 'shop',
      name: 'p',
      mode: 'PERMISSIVE',
      ofNamespace: undefined,
      ofMesh: undefined,
    } as const;
    expect(portLevelAuthorization.run({ levels: { ...levels, ports } })).toEqual({
      name: 'shop/p',
      problems: [],
      message: {
        name: 'p',
        namespace: 'shop',
        scope: SecurityScope.WORKLOAD_SELECTOR,
        action: SecurityAction.DENY,
        groups: [closed(1)],
      },
    });
  });
});

it('the policy of strict workloads denies what has no identity', () => {
  expect(staticStrict.run({ rootNamespace: 'root' }).message).toEqual({
    name: 'istio_converted_static_strict',
    namespace: 'root',
    scope: SecurityScope.WORKLOAD_SELECTOR,
    action: SecurityAction.DENY,
    groups: [{ rules: [{ matches: [{ notPrincipals: [{ presence: {} }] }] }] }],
  });
});

it('the policy of a waypoint allows its accounts', () => {
  const allowance = { namespace: 'shop', name: 'w', principals: ['a', 'b'] };
  expect(waypointAllowance.run({ allowance }).message).toEqual({
    name: 'w',
    namespace: 'shop',
    scope: SecurityScope.WORKLOAD_SELECTOR,
    action: SecurityAction.ALLOW,
    groups: [{ rules: [{ matches: [{ principals: [{ exact: 'a' }, { exact: 'b' }] }] }] }],
  });
});
