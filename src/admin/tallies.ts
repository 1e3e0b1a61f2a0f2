// Counters and histograms of every response to every proxy. prom-client checks and hashes the labels of each single
// observation, which was a tenth of what an endpoint change cost a proxy; here labels are given once (`of`), and an
// observation is an addition.
//
// The registry asks every metric for its values by `get`, which is all that these have in common with prom-client's
// own.

import type { Metric, Registry } from 'prom-client';

type Labels = Readonly<Record<string, string>>;

interface Value {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export interface TallyOptions {
  readonly registry: Registry;
  readonly name: string;
  readonly help: string;
}

/** A metric with one cell for each set of labels in use. */
abstract class Tally<Cell> {
  readonly name: string;
  readonly help: string;
  readonly aggregator = 'sum';
  protected readonly cells = new Map<string, { readonly labels: Labels; readonly cell: Cell }>();

  constructor({ registry, name, help }: TallyOptions) {
    this.name = name;
    this.help = help;
    registry.registerMetric(this as unknown as Metric);
  }

  abstract readonly type: 'counter' | 'histogram';
  protected abstract make(): Cell;
  protected abstract valuesOf(cell: Cell, labels: Labels): readonly Value[];

  /** The cell of these labels, always the same one. Callers that observe often keep it. */
  of(labels: Labels = {}): Cell {
    const key = Object.entries(labels).join('\n');
    let known = this.cells.get(key);
    if (known === undefined) {
      known = { labels, cell: this.make() };
      this.cells.set(key, known);
    }
    return known.cell;
  }

  /** The values for the registry. */
  async get() {
    const { name, help, type, aggregator } = this;
    const values = [...this.cells.values()].flatMap(({ cell, labels }) => this.valuesOf(cell, labels));
    return { name, help, type, aggregator, values };
  }
}

export class CountCell {
  value = 0;

  inc(): void {
    this.value++;
  }
}

export class CountTally extends Tally<CountCell> {
  readonly type = 'counter';

  protected make(): CountCell {
    return new CountCell();
  }

  protected valuesOf({ value }: CountCell, labels: Labels): readonly Value[] {
    return [{ metricName: this.name, labels, value }];
  }
}

export class HistogramCell {
  readonly #bounds: readonly number[];
  /** The last bucket is for values above every bound. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let at = 0;
    while (at < this.#bounds.length && value > this.#bounds[at]!) at++;
    this.counts[at]!++;
    this.sum += value;
  }
}

export class HistogramTally extends Tally<HistogramCell> {
  readonly type = 'histogram';
  readonly #bounds: readonly number[];

  /** `bounds` ascending: a value counts in every bucket whose bound it does not exceed. */
  constructor(options: TallyOptions, bounds: readonly number[]) {
    super(options);
    this.#bounds = bounds;
  }

  protected make(): HistogramCell {
    return new HistogramCell(this.#bounds);
  }

  protected valuesOf({ counts, sum }: HistogramCell, labels: Labels): readonly Value[] {
    let count = 0;
    const buckets = counts.map((inBucket, at): Value => {
      count += inBucket;
      return {
        metricName: `${this.name}_bucket`,
        labels: { le: this.#bounds[at] ?? '+Inf', ...labels },
        value: count,
      };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
