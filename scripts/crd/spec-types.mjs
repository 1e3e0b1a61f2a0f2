// TypeScript interfaces of specs whose defaults are filled in: a member is optional if it is neither required nor has a default.
// Equal structures are one interface, named after the place where the first one stands, or by a name of its own where several kinds share it.

import { literal, memberName } from './writer.mjs';

/** Member → name of its type, where kinds share it; a different structure under the same member is named after its kind. */
const SHARED = {
  add: 'HeaderValue',
  backendRef: 'BackendReference',
  certificateRefs: 'ObjectReference',
  cookieConfig: 'CookieConfig',
  cors: 'CorsFilter',
  extensionRef: 'LocalObjectReference',
  externalAuth: 'ExternalAuth',
  filters: 'RouteFilter',
  fraction: 'Fraction',
  headers: 'HeaderMatch',
  listeners: 'GatewayListener',
  parametersRef: 'ParametersReference',
  parentRef: 'ParentReference',
  parentRefs: 'ParentReference',
  path: 'PathModifier',
  queryParams: 'QueryParamMatch',
  requestHeaderModifier: 'HeaderModifier',
  requestMirror: 'RequestMirror',
  requestRedirect: 'RequestRedirect',
  responseHeaderModifier: 'HeaderModifier',
  sessionPersistence: 'SessionPersistence',
  targetRefs: 'PolicyTarget',
  urlRewrite: 'UrlRewrite',
};

export function makeTypes() {
  /** Structure → name. */
  const known = new Map();
  const taken = new Set();
  const texts = [];

  /** `label` is what the member adds to a name: singular for the elements of a list. */
  const typeOf = (schema, owner, member, label = pascal(member)) => {
    if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
    switch (schema.type) {
      case 'string':
      case 'boolean':
        return schema.type;
      case 'integer':
      case 'number':
        return 'number';
      case 'array': {
        const item = typeOf(schema.items, owner, member, singular(pascal(member)));
        return `readonly ${/[ |]/.test(item) ? `(${item})` : item}[]`;
      }
      case 'object':
        if (schema.additionalProperties !== undefined) {
          return `Readonly<Record<string, ${typeOf(schema.additionalProperties, owner, member, label)}>>`;
        }
        return structure(schema, `${owner}${label}`, member);
      default:
        throw new Error(`${owner} ${member}: no type ${schema.type}`);
    }
  };
  /** `name`: that of the place. */
  const structure = (schema, name, member) => {
    const { properties = {}, required = [] } = schema;
    const owner = member === 'spec' ? name.slice(0, -'Spec'.length) : name;
    const lines = Object.entries(properties).map(([key, property]) => {
      const always = required.includes(key) || property.default !== undefined;
      return `  readonly ${memberName(key)}${always ? '' : '?'}: ${typeOf(property, owner, key)};`;
    });
    const text = lines.sort().join('\n');
    const same = known.get(text);
    if (same !== undefined) return same;
    const chosen = SHARED[member];
    const own = chosen !== undefined && !taken.has(chosen) ? chosen : name;
    if (taken.has(own)) throw new Error(`two structures want the name ${own}`);
    taken.add(own);
    known.set(text, own);
    texts.push(`export interface ${own} {\n${text}\n}`);
    return own;
  };
  return {
    add(kind, spec) {
      const name = kind === 'Gateway' ? 'KubernetesGateway' : kind;
      const structured = structure(spec, `${name}Spec`, 'spec');
      if (structured !== `${name}Spec`) texts.push(`export type ${name}Spec = ${structured};`);
    },
    text: () => `${texts.join('\n\n')}\n`,
  };
}

function pascal(member) {
  return member.replace(/^./, first => first.toUpperCase());
}

function singular(name) {
  return /(ss|x|ch)es$/.test(name) ? name.replace(/es$/, '') : name.replace(/s$/, '');
}
