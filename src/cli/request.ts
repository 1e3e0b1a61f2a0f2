// periplus request: a page of the process on this machine. `istioctl bug-report` runs `pilot-discovery request GET …`
// in the container of the control plane; the image has this program under that name too.

import { Argument, Command } from 'commander';
import { CliError, EXIT, print } from './output.ts';

const ANSWER_MS_MAX = 60_000;

export function requestCommand(): Command {
  return new Command('request')
    .description('ask the control plane on this machine for a page')
    .addArgument(new Argument('<method>', 'of HTTP').choices(['GET', 'get']))
    .argument('<path>', 'e.g. debug/syncz, metrics or version')
    .option('--monitoringPort <port>', 'where it answers', '15014')
    .addHelpText('after', '\nExample:\n  periplus request GET debug/syncz')
    .action(async (_method: string, path: string, { monitoringPort }: { readonly monitoringPort: string }) => {
      const url = `http://127.0.0.1:${monitoringPort}/${path.replace(/^\/+/, '')}`;
      const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) }).catch((error: unknown) => {
        const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new CliError(`${url}: ${why}; is a control plane running here?`, EXIT.failed);
      });
      const body = await response.text();
      if (response.status > 399 && response.status !== 404) {
        throw new CliError(`${url}: ${response.status} ${body.trim()}`, EXIT.failed);
      }
      print(body.trimEnd());
    });
}
