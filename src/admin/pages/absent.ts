// Pages of istiod about parts that Periplus does not have, answered 404 with where to look instead: `istioctl
// bug-report` takes a 404 for a page that is not there, and a person reads why. Neither `/debug/list` nor the index
// names them.
// Source: Istio pilot/pkg/xds/debug.go (InitDebug, addDebugHandler of krtz and pprof).

import { type Route, text } from '../http.ts';

const KRTZ =
  'Periplus has no krt collections. /debug/configz has the objects, /debug/registryz the services,\n' +
  '/debug/holdingsz?proxyID=… what a proxy holds; `periplus explain` says what each resource was made of.\n';
const PPROF =
  'Periplus is no Go program. /metrics has its memory and event loop (nodejs_*, process_*, periplus_loop_*);\n' +
  'for a profile start it with NODE_OPTIONS=--cpu-prof or --heap-prof, which write a file when it ends.\n';
const PROFILES = 'allocs block cmdline goroutine heap mutex profile symbol threadcreate trace';

const absent =
  (why: string): Route =>
  () =>
    text(why, 404);

export const absentPages: readonly (readonly [string, Route])[] = [
  ['/debug/krtz', absent(KRTZ)],
  ...['', '/', ...PROFILES.split(' ').map(name => `/${name}`)].map((path): readonly [string, Route] => [
    `/debug/pprof${path}`,
    absent(PPROF),
  ]),
];
