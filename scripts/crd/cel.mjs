// Parses the part of CEL that rules of CRDs use into a tree that src/core/schema/cel.ts evaluates: nested arrays, the operation first.
// What it does not know is an error, so that a newer CRD cannot lose a rule in silence.

const TOKEN =
  /\s*(?:(?<raw>r"""(?:[^"]|"(?!""))*"""|r"[^"]*"|r'[^']*')|(?<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<number>\d+)|(?<word>[A-Za-z_]\w*)|(?<sign>&&|\|\||[!=<>]=|[-!<>?:.,+()[\]]))/uy;
const COMPARISONS = ['==', '!=', '<', '<=', '>', '>=', 'in'];
const MACROS = ['all', 'exists', 'exists_one', 'filter'];
/** Function or method → number of arguments, the receiver counted. */
const CALLS = {
  contains: 2,
  duration: 1,
  endsWith: 2,
  isIP: 1,
  matches: 2,
  size: 1,
  split: 2,
  startsWith: 2,
  substring: 2,
};

export function parseCel(text) {
  const tokens = tokenize(text);
  let at = 0;
  const fail = () => {
    throw new Error(`CEL that is not understood, at ${JSON.stringify(tokens[at]?.text ?? 'the end')}: ${text}`);
  };
  const is = sign => tokens[at]?.kind !== 'text' && tokens[at]?.text === sign;
  const take = sign => {
    if (!is(sign)) return false;
    at += 1;
    return true;
  };
  const expect = sign => take(sign) || fail();

  const ternary = () => {
    const condition = or();
    if (!take('?')) return condition;
    const then = ternary();
    expect(':');
    return ['if', condition, then, ternary()];
  };
  const chain = (sign, next) => () => {
    let left = next();
    while (take(sign)) left = [sign, left, next()];
    return left;
  };
  const comparison = () => {
    const left = sum();
    const sign = COMPARISONS.find(one => is(one));
    if (sign === undefined) return left;
    at += 1;
    return [sign, left, sum()];
  };
  const unary = () => (take('!') ? ['!', unary()] : postfix(primary()));
  const sum = chain('+', unary);
  const and = chain('&&', comparison);
  const or = chain('||', and);

  const postfix = value => {
    if (take('[')) {
      const index = ternary();
      expect(']');
      return postfix(['index', value, index]);
    }
    if (!take('.')) return value;
    const name = word();
    if (!take('(')) return postfix(['member', value, unescaped(name)]);
    if (MACROS.includes(name)) {
      const variable = word();
      expect(',');
      return postfix([name, value, variable, closed(ternary())]);
    }
    return postfix(call(name, [value]));
  };
  const primary = () => {
    const token = tokens[at];
    if (token === undefined) return fail();
    at += 1;
    if (token.kind === 'text') return ['value', token.text];
    if (token.kind === 'number') return ['value', Number(token.text)];
    if (token.text === '(') return closed(ternary(), ')');
    if (token.text === '[') return ['list', ...elements(']')];
    if (token.kind !== 'word') return fail();
    if (token.text === 'true' || token.text === 'false') return ['value', token.text === 'true'];
    if (!take('(')) return ['variable', token.text];
    if (token.text !== 'has') return call(token.text, []);
    const [operation, object, name] = closed(ternary());
    return operation === 'member' ? ['has', object, name] : fail();
  };
  const call = (name, receiver) => {
    const args = [...receiver, ...elements(')')];
    if (CALLS[name] !== args.length) fail();
    if (name !== 'matches') return ['call', name, ...args];
    const [kind, pattern] = args[1];
    if (kind !== 'value') fail();
    const flags = pattern.includes('(?i)') ? 'iu' : 'u';
    const plain = pattern.replace('(?i)', '');
    new RegExp(plain, flags);
    return ['matches', args[0], plain, flags];
  };
  const elements = end => {
    const found = [];
    while (!take(end)) {
      if (found.length > 0) expect(',');
      found.push(ternary());
    }
    return found;
  };
  const closed = value => {
    expect(')');
    return value;
  };
  const word = () => (tokens[at]?.kind === 'word' ? tokens[at++].text : fail());

  const tree = ternary();
  if (at < tokens.length) fail();
  return tree;
}

/** Names that are words of CEL are written between underscores. */
function unescaped(name) {
  return /^__\w+__$/.test(name) ? name.slice(2, -2) : name;
}

function tokenize(text) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const groups = TOKEN.exec(text)?.groups;
    if (groups === undefined) throw new Error(`CEL that is not understood, at ${text.slice(at, at + 20)}: ${text}`);
    const { raw, text: quoted, number, word, sign } = groups;
    if (raw !== undefined)
      tokens.push({ kind: 'text', text: raw.replace(/^r("""|"|')/, '').replace(/("""|"|')$/, '') });
    else if (quoted !== undefined) tokens.push({ kind: 'text', text: quoted.slice(1, -1).replace(/\\(.)/g, '$1') });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else tokens.push({ kind: word === undefined ? 'sign' : 'word', text: word ?? sign });
  }
  return tokens;
}
