// Assembling that looks at who asks for it.
import { engine } from '../engine/engine.ts';

export const assembled = engine;
