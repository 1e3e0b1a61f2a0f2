// How TypeScript types are named after protobuf ones: by the simple name, Outer_Inner when nested; where packages share a simple name, the
// preferred package keeps it and the others get a prefix taken from their package.
import protobuf from 'protobufjs';

const { Type, Enum } = protobuf;

export const fullName = object => object.fullName.slice(1);
export const byFullName = (a, b) => (a.fullName < b.fullName ? -1 : 1);
const isVersion = segment => /^v\d+((alpha|beta)\d*)?$/.test(segment);
const pascal = text => text.replace(/(^|_)([a-z0-9])/g, (_, __, letter) => letter.toUpperCase());

/** Messages and enums that stand directly in a package at or below `namespace`. */
export function collectTop(namespace, into = []) {
  for (const object of namespace.nestedArray) {
    if (object instanceof Type || object instanceof Enum) into.push(object);
    else collectTop(object, into);
  }
  return into.sort(byFullName);
}

/** `preferred`: packages, first wins; `chosen`: full name to type name. Gives the name of every type and the list of names that are not obvious. */
export function nameAll(top, preferred, chosen) {
  const groups = new Map();
  for (const object of top) groups.set(object.name, [...(groups.get(object.name) ?? []), object]);
  const names = new Map();
  const renamed = [];
  for (const [simple, group] of groups) {
    const keeper = preferred.map(p => group.find(o => fullName(o.parent) === p)).find(o => o !== undefined);
    const rest = group.filter(o => group.length > 1 && o !== keeper);
    for (const object of group) {
      const name = rest.includes(object) ? (chosen.get(fullName(object)) ?? prefixed(object, rest, groups)) : simple;
      if (group.length > 1) renamed.push([name, fullName(object)]);
      nameNested(object, name, names);
    }
  }
  const seen = new Map();
  for (const [object, name] of names) {
    if (seen.has(name)) throw new Error(`${name} is both ${fullName(object)} and ${fullName(seen.get(name))}`);
    seen.set(name, object);
  }
  renamed.sort(([a], [b]) => (a < b ? -1 : 1));
  return { names, renamed };
}

function nameNested(object, name, names) {
  names.set(object, name);
  if (!(object instanceof Type)) return;
  for (const nested of object.nestedArray) nameNested(nested, `${name}_${nested.name}`, names);
}

/** As few segments of the package, from the right, as tell the members of the group apart; for xds, udpa and cel that word alone if it does. */
function prefixed(object, group, groups) {
  const candidates = candidateNames(object);
  const others = count => group.filter(o => o !== object).map(o => candidateNames(o)[count]);
  const found = candidates.findIndex((name, count) => !groups.has(name) && !others(count).includes(name));
  if (found < 0) throw new Error(`no name for ${fullName(object)}`);
  return candidates[found];
}

function candidateNames(object) {
  const segments = fullName(object.parent)
    .split('.')
    .filter(s => !isVersion(s));
  const doubled = pascal(segments.at(-1)).toLowerCase() === object.name.toLowerCase();
  const used = (doubled ? segments.slice(0, -1) : segments).map(pascal);
  const short = ['xds', 'udpa', 'cel'].includes(segments[0]) ? [pascal(segments[0]) + object.name] : [];
  return [...short, ...used.map((_, i) => used.slice(-(i + 1)).join('') + object.name)];
}
