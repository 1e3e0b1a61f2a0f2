// The texts of mesh ConfigMaps, parsed outside the event loop's thread within a budget of time and memory, as files
// are. A text past the budget is refused with the reason, and the configuration in force stays.

import { FileParser } from '../adapters/file/file-parser.ts';
import type { ParsedText } from '../adapters/file/parse.ts';
import type { MeshText, ReadMeshText } from '../offline/mesh-config-map.ts';

export class MeshTexts {
  readonly #parser: Pick<FileParser, 'documents' | 'isClosed' | 'close'>;

  constructor(parser: Pick<FileParser, 'documents' | 'isClosed' | 'close'> = new FileParser()) {
    this.#parser = parser;
  }

  /** What the texts are; rejects once this is closed. */
  async read(texts: readonly MeshText[]): Promise<ReadMeshText> {
    const known = new Map<string, ParsedText>();
    for (const { file, text } of texts) known.set(text, await this.#parser.documents(file, text));
    if (this.#parser.isClosed) throw new Error('the control plane is stopping');
    return ({ file, text }) => known.get(text) ?? { origin: { file }, reason: 'was not parsed' };
  }

  close(): Promise<void> {
    return this.#parser.close();
  }
}
