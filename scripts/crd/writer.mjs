// Writes constraints as TypeScript: each distinct part once, as a constant that others refer to, children first.

export function makeWriter() {
  const names = new Map();
  const declarations = [];
  /** The name of the constant of a constraint. */
  const write = constraint => {
    const members = Object.entries(constraint).map(([key, value]) => {
      if (key === 'properties') {
        const inner = Object.keys(value)
          .sort()
          .map(name => `${memberName(name)}: ${write(value[name])}`);
        return `properties: { ${inner.join(', ')} }`;
      }
      if (key === 'items' || key === 'values') return `${key}: ${write(value)}`;
      return `${key}: ${literal(key === 'atMostOne' ? dedupe(value) : value)}`;
    });
    const text = `{ ${members.join(', ')} }`;
    const known = names.get(text);
    if (known !== undefined) return known;
    const name = `c${names.size}`;
    names.set(text, name);
    declarations.push(`const ${name}: Constraint = ${text};`);
    return name;
  };
  return { write, declarations };
}

export function memberName(name) {
  return /^[A-Za-z_]\w*$/.test(name) ? name : literal(name);
}

export function literal(value) {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value).map(([name, one]) => `${memberName(name)}: ${literal(one)}`);
    return `{ ${members.join(', ')} }`;
  }
  if (typeof value !== 'string') return String(value);
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}

function dedupe(groups) {
  return [...new Map(groups.map(group => [group.join(), group])).values()];
}
