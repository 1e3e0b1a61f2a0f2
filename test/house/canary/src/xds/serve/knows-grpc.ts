// Deliberately wrong: streams are served whatever transport carries them.
import { server } from '../grpc/server.ts';

export const wrong = server;
