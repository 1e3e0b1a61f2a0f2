// Who may import whom: one rule for each sentence of "Boundaries" in ARCHITECTURE.md. test/house/imports.test.ts proves that they bite.

const pureLibraries = '(^|/)node_modules/(fp-ts|immer|sorted-btree|ipaddr\\.js|re2js|yaml)/';

/** Nothing but `allowed` (paths inside the project or in node_modules; node's own modules never). */
const only = (name, comment, from, allowed) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { pathNot: [from, ...allowed] },
});

/**
 * The floors of src/core, lowest first: a folder imports itself and the floors below it. The files at the root of src/core (event, effect,
 * push-request, table) lie beside `model`; `state` above `mesh`, where type imports bring it to the queries; `reduce` on top. Kinds and objects
 * name each other without an import: each kind adds itself to the model's KindTypes by declaration merging (model/kind.ts).
 */
const coreFloors = [
  ['base', 'schema'],
  ['model'],
  ['kinds'],
  ['mesh'],
  ['query'],
  ['registry'],
  ['translate'],
  ['select'],
  ['wishes', 'handlers'],
  ['fold'],
  ['stores', 'clusters', 'registration'],
];

const coreFloorRules = coreFloors
  .map((floor, i) => ({
    name: `core-floors-${floor[0]}`,
    comment: `src/core/${floor.join(' and ')} import nothing of the floors above`,
    severity: 'error',
    from: { path: `^src/core/(${floor.join('|')})/` },
    to: {
      path: `^src/core/(${coreFloors
        .slice(i + 1)
        .flat()
        .join('|')})/`,
    },
  }))
  .slice(0, -1);

module.exports = {
  forbidden: [
    ...coreFloorRules,
    only('core-is-pure', 'core imports a short list of pure libraries and nothing of ours', '^src/core/', [
      pureLibraries,
    ]),
    only('generate-is-pure', 'generators import the core and proto types', '^src/xds/generate/', [
      '^src/core/',
      '^src/xds/proto/',
    ]),
    {
      name: 'generate-reads-nothing',
      comment: 'of the query engine generators know the type of a generator alone: no reader, no query, no tracker',
      severity: 'error',
      from: { path: '^src/xds/generate/' },
      to: { path: '^src/core/query/', pathNot: '^src/core/query/memo\\.ts$' },
    },
    only('assemble-joins', 'assemble joins selections of the core with generators', '^src/xds/assemble/', [
      '^src/core/',
      '^src/xds/generate/',
      '^src/xds/proto/',
    ]),
    only('analysis-is-pure', 'analyzers import the core and its pure libraries', '^src/analysis/', [
      '^src/core/',
      pureLibraries,
    ]),
    only('session-is-pure', 'the session imports the core and proto types', '^src/xds/session/', [
      '^src/core/',
      '^src/xds/proto/',
    ]),
    only('push-is-pure', 'the push schedule imports the core', '^src/xds/push/', ['^src/core/']),
    only('ports-know-node', 'what servers of all ports share imports nothing but node', '^src/net/', [
      '(^|/)node_modules/@types/node/',
      '^[a-z_/]+$',
    ]),
    only('journal-knows-the-core-alone', 'the journal imports the core, better-sqlite3 and node', '^src/journal/', [
      '^src/core/',
      '(^|/)node_modules/(better-sqlite3|@types/better-sqlite3|@types/node)/',
      '^[a-z_/]+$',
    ]),
    {
      name: 'replicas-know-the-journal',
      comment: 'replicas follow a log into a journal: they know the core and the journal, not who serves from it',
      severity: 'error',
      from: { path: '^src/replicas/' },
      to: { path: '^src/', pathNot: ['^src/(core|journal|replicas)/'] },
    },
    {
      name: 'only-one-folder-knows-nats',
      comment: 'the SDK of NATS is known where the world log is kept in it',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/replicas/nats/' },
      to: { path: '(^|/)node_modules/@nats-io/' },
    },
    only(
      'oracle-knows-nobody',
      'the oracle models Envoy: it imports the generated proto types, RE2 and IP addresses alone',
      '^src/oracle/',
      ['^src/xds/proto/[^/]+\\.gen\\.ts$', '(^|/)node_modules/(ipaddr\\.js|re2js)/'],
    ),
    only(
      'templates-are-pure',
      'the template engine imports the base of the core and pure libraries',
      '^src/admission/template/',
      ['^src/core/base/', pureLibraries],
    ),
    only(
      'injection-is-pure',
      'injection and its templates import the core and the template engine',
      '^src/admission/(inject|templates|wishes)/',
      ['^src/core/', '^src/admission/', pureLibraries],
    ),
    {
      name: 'adapters-are-thin',
      comment:
        'an adapter imports the core, the kit and its own SDK; never another adapter, the journal, xds or the runtime',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      to: {
        path: '^src/',
        pathNot: ['^src/core/', '^src/adapters/adapter\\.ts$', '^src/adapters/kit/', '^src/adapters/$1/'],
      },
    },
    {
      name: 'offline-serves-nobody',
      comment:
        'what replays and inspects without a server knows the core, analysis, the journal, xds and how files are parsed',
      severity: 'error',
      from: { path: '^src/offline/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/(core|offline|journal|analysis)/',
          '^src/oracle/question\\.ts$',
          '^src/admission/(?!webhook/)',
          '^src/xds/(?!grpc/|serve/)',
          '^src/adapters/file/',
        ],
      },
    },
    {
      name: 'history-asks',
      comment:
        'history reads journals and generates; it knows the core, the journal, xds, offline and the oracle, never a server',
      severity: 'error',
      from: { path: '^src/history/' },
      to: { path: '^src/', pathNot: ['^src/(core|history|journal|offline|oracle)/', '^src/xds/(?!grpc/|serve/)'] },
    },
    {
      name: 'admin-shows',
      comment: 'admin pages show what the runtime gives them; the runtime knows admin, not the other way round',
      severity: 'error',
      from: { path: '^src/admin/' },
      to: { path: '^src/(runtime|cli|demo|adapters)/' },
    },
    {
      name: 'ui-asks-over-http',
      comment: 'the page knows its own files, its libraries, and of the program the types of the HTTP API alone',
      severity: 'error',
      from: { path: '^ui/' },
      to: {
        pathNot: [
          '^ui/',
          '^src/admin/explorer/api(-questions)?\\.ts$',
          '(^|/)node_modules/(preact|uplot|@codemirror|@lezer)/',
        ],
      },
    },
    only(
      'answers-are-data',
      "types of answers are data: the explorer's API declares them for the page, and history what it shares with it",
      '^src/(history/(proxy-)?answers|admin/explorer/api(-questions)?)\\.ts$',
      ['^src/core/base/json\\.ts$'],
    ),
    {
      name: 'nobody-imports-the-page',
      comment: 'the page is bundled by itself; the program serves its files',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^ui/' },
    },
    {
      name: 'grpc-is-glue',
      comment: 'grpc-js is known where it is glued and to adapters with a protocol of their own, nowhere else in xds',
      severity: 'error',
      from: { path: '^src/xds/', pathNot: '^src/xds/grpc/' },
      to: { path: '(^|/)node_modules/@grpc/|^src/xds/grpc/' },
    },
    {
      name: 'only-the-journal-opens-sqlite',
      severity: 'error',
      from: { pathNot: '^src/journal/' },
      to: { path: '(^|/)node_modules/better-sqlite3/' },
    },
    {
      name: 'xds-does-not-wire',
      comment: 'xds knows the core; the runtime, adapters, journal and CLI know it',
      severity: 'error',
      from: { path: '^src/xds/' },
      to: { path: '^src/(runtime|cli|admin|adapters|journal|offline|history)/' },
    },
    {
      name: 'nobody-imports-the-entry',
      comment: 'src/index.ts is for embedders; inside, a file imports what it needs from where it is',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/index\\.ts$' },
    },
    {
      name: 'nobody-imports-the-cli',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli/' },
      to: { path: '^src/cli/' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
