// ZooKeeper's encoding of packets (zookeeper-jute/src/main/resources/zookeeper.jute): big-endian numbers, and buffers
// with their length before them, where -1 stands for none. Only what reading needs.

export class JuteWriter {
  readonly #parts: Buffer[] = [];

  int(value: number): this {
    const part = Buffer.alloc(4);
    part.writeInt32BE(value);
    return this.#add(part);
  }

  long(value: bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigInt64BE(value);
    return this.#add(part);
  }

  bool(value: boolean): this {
    return this.#add(Buffer.from([value ? 1 : 0]));
  }

  buffer(value: Buffer): this {
    return this.int(value.length).#add(value);
  }

  text(value: string): this {
    return this.buffer(Buffer.from(value, 'utf8'));
  }

  /** The packet with its length before it. */
  packet(): Buffer {
    const body = Buffer.concat(this.#parts);
    const head = Buffer.alloc(4);
    head.writeInt32BE(body.length);
    return Buffer.concat([head, body]);
  }

  #add(part: Buffer): this {
    this.#parts.push(part);
    return this;
  }
}

/** Throws a RangeError where the packet is shorter than what is read. */
export class JuteReader {
  readonly #packet: Buffer;
  #at = 0;

  constructor(packet: Buffer) {
    this.#packet = packet;
  }

  int(): number {
    this.#at += 4;
    return this.#packet.readInt32BE(this.#at - 4);
  }

  long(): bigint {
    this.#at += 8;
    return this.#packet.readBigInt64BE(this.#at - 8);
  }

  buffer(): Buffer {
    const length = this.int();
    if (length <= 0) return Buffer.alloc(0);
    if (length > this.#packet.length - this.#at) throw new RangeError('a buffer is longer than its packet');
    this.#at += length;
    return this.#packet.subarray(this.#at - length, this.#at);
  }

  text(): string {
    return this.buffer().toString('utf8');
  }

  texts(): readonly string[] {
    const found: string[] = [];
    for (let left = this.int(); left > 0; left--) found.push(this.text());
    return found;
  }
}
