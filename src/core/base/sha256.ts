// SHA-256 (FIPS 180-4) with nothing but the language, for names that other programs derive from a digest. The pure core
// has no crypto module; what is hashed here is short and no secret.

const ROUNDS = 64;
const BLOCK_BYTES = 64;

/** The first bits of the fractional parts of the square and cube roots of the first primes. */
function fraction(value: number): number {
  return Math.floor((value - Math.floor(value)) * 2 ** 32) | 0;
}

function primes(count: number): readonly number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every(prime => n % prime !== 0)) found.push(n);
  return found;
}

const K = primes(ROUNDS).map(prime => fraction(Math.cbrt(prime)));
const START = primes(8).map(prime => fraction(Math.sqrt(prime)));

/** In hexadecimal. */
export function sha256Hex(bytes: readonly number[]): string {
  const padded = [...bytes, 0x80];
  while (padded.length % BLOCK_BYTES !== BLOCK_BYTES - 8) padded.push(0);
  const bits = bytes.length * 8;
  padded.push(0, 0, 0, 0, (bits >>> 24) & 255, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255);
  let state: readonly number[] = START;
  for (let at = 0; at < padded.length; at += BLOCK_BYTES) state = compress(state, padded.slice(at, at + BLOCK_BYTES));
  return state.map(word => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function compress(state: readonly number[], block: readonly number[]): readonly number[] {
  const w: number[] = [];
  for (let i = 0; i < 16; i++) {
    const [a = 0, b = 0, c = 0, d = 0] = block.slice(i * 4, i * 4 + 4);
    w.push((a << 24) | (b << 16) | (c << 8) | d);
  }
  for (let i = 16; i < ROUNDS; i++) {
    const early = w[i - 15]!;
    const late = w[i - 2]!;
    const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    w.push((w[i - 16]! + s0 + w[i - 7]! + s1) | 0);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < ROUNDS; i++) {
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const first = (h + sum1 + ((e & f) ^ (~e & g)) + K[i]! + w[i]!) | 0;
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const second = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
  }
  const added = [a, b, c, d, e, f, g, h];
  return state.map((word, i) => (word + added[i]!) | 0);
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
