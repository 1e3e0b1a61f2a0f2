// All kinds of messages, for lists and for checking codes that users name.

import './ist-0001-0145.ts';
import './ist-0146-0176.ts';
import './per.ts';
import { declaredKinds, type MessageKind } from './wording.ts';

export const messageKinds: readonly MessageKind[] = declaredKinds;
