// Names of network interfaces in annotations. They become arguments of the program that writes the rules of iptables,
// so nothing but a name may pass. Source: Istio pkg/util/net/ip.go (ValidateInterfaceNames).

import { quoted } from '../report.ts';

/** Linux's IFNAMSIZ without the zero byte at the end. */
const NAME_LENGTH_MAX = 15;
const NAME = /^[a-zA-Z][a-zA-Z0-9_.-]*$/;

/** Undefined: the text is empty, or names between commas, with blanks around them. */
export function interfaceNamesProblem(text: string): string | undefined {
  if (text === '') return undefined;
  for (const part of text.split(',')) {
    const name = part.trim();
    if (name === '') return 'the name of an interface is empty';
    if (name.length > NAME_LENGTH_MAX) return `interface ${quoted(name)} has more than ${NAME_LENGTH_MAX} characters`;
    if (!NAME.test(name)) return `${quoted(name)} is no name of an interface`;
  }
  return undefined;
}
