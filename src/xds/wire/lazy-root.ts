// Protobuf types loaded when they are asked for, each with the types that its fields refer to: a command that shows
// clusters needs 90 of 1,200, and making all of them takes as long as folding some thousand events. A server needs some
// hundreds, most of them for its first views; all of them would be 5 MiB of its memory.
//
// Invariant: a type that was handed out can be resolved in full, because every type that it reaches is in the root.
// Each type is made once, so identity is preserved whatever is loaded after it.

import protobuf from 'protobufjs/light.js';

/** As the bundle has a message or an enum. */
interface TypeJson {
  readonly fields?: Readonly<Record<string, { readonly type: string }>>;
  readonly nested?: Readonly<Record<string, TypeJson>>;
}

/** A message or an enum that is not nested in another one. */
interface Outer {
  readonly namespace: string;
  readonly name: string;
  readonly json: TypeJson;
}

type Found = protobuf.ReflectionObject | null;

export class LazyRoot extends protobuf.Root {
  /** By full name; what was loaded is no longer there. */
  readonly #unloaded = new Map<string, Outer>();

  constructor(bundle: protobuf.INamespace) {
    super();
    this.#list('', bundle);
  }

  /** The message of that full name; undefined if there is none. */
  find(name: string): protobuf.Type | undefined {
    const found = name === '' ? null : this.lookup(name.split('.'), [protobuf.Type]);
    // lookup() also searches outer scopes, but only the exact name counts.
    return found instanceof protobuf.Type && found.fullName === `.${name}` ? found : undefined;
  }

  /** As protobufjs asks, also for the content of an Any. */
  override lookup(path: string | string[], kinds: unknown, isParentChecked?: boolean): Found;
  override lookup(path: string | string[], isParentChecked?: boolean): Found;
  override lookup(path: string | string[], kinds?: unknown, isParentChecked?: boolean): Found {
    const name = typeof path === 'string' ? path : path.join('.');
    if (this.#load(name.startsWith('.') ? name.slice(1) : name)) this.resolveAll();
    return super.lookup(path, kinds, isParentChecked);
  }

  #list(namespace: string, { nested = {} }: protobuf.INamespace): void {
    for (const [name, json] of Object.entries(nested)) {
      const full = namespace === '' ? name : `${namespace}.${name}`;
      if ('fields' in json || 'values' in json) this.#unloaded.set(full, { namespace, name, json: json as TypeJson });
      else this.#list(full, json as protobuf.INamespace);
    }
  }

  /** With all that it reaches. False: it was loaded before, or there is no such type. */
  #load(name: string): boolean {
    const waiting = [name];
    let isNew = false;
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const outer = this.#take(next);
      if (outer === undefined) continue;
      isNew = true;
      this.define(outer.namespace, { [outer.name]: outer.json as protobuf.AnyNestedObject });
      waiting.push(...namesIn(outer.json, `${outer.namespace}.${outer.name}`));
    }
    return isNew;
  }

  /** The outermost type around that name, if it is not loaded. */
  #take(name: string): Outer | undefined {
    for (let full = name; full !== ''; full = full.slice(0, Math.max(0, full.lastIndexOf('.')))) {
      const outer = this.#unloaded.get(full);
      if (outer === undefined) continue;
      this.#unloaded.delete(full);
      return outer;
    }
    return undefined;
  }
}

/** What the fields may refer to. `scope`: its full name; a reference without a leading dot is searched outwards. */
function namesIn({ fields = {}, nested = {} }: TypeJson, scope: string): readonly string[] {
  const own = Object.values(fields).flatMap(({ type }) => {
    if (type.startsWith('.')) return [type.slice(1)];
    return type in protobuf.types.basic ? [] : inScopes(type, scope);
  });
  return [...own, ...Object.entries(nested).flatMap(([name, json]) => namesIn(json, `${scope}.${name}`))];
}

function inScopes(name: string, scope: string): readonly string[] {
  const parts = scope.split('.');
  return [...parts.map((_, i) => [...parts.slice(0, parts.length - i), name].join('.')), name];
}
