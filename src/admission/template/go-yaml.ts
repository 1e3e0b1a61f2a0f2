// YAML as sigs.k8s.io/yaml writes it, near enough for what is read as YAML again: members sorted, lists at the
// indentation of their key, no line folded, texts quoted that YAML 1.1 would take for something else.

import { stringify } from 'yaml';
import type { Json } from '../../core/base/json.ts';

export function goYaml(value: Json): string {
  return stringify(value, {
    version: '1.1',
    indentSeq: false,
    lineWidth: 0,
    sortMapEntries: true,
    aliasDuplicateObjects: false,
    nullStr: 'null',
  });
}
