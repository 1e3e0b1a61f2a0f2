// A generator that takes the reader instead of inputs.
import type { ProxyReader } from '../../core/query/reader.ts';

export const made = (reader: ProxyReader): string => reader.asks;
