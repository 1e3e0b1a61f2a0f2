// periplus withdraw: takes back what only Periplus writes into objects of a cluster, so that an istiod that goes on
// there finds nothing that it does not know. Objects of Periplus itself belong to the chart that made them.

import { Command } from 'commander';
import { failureOf } from '../adapters/kube/failure.ts';
import type { Resource } from '../adapters/kube/resource.ts';
import { MERGE_PATCH, objectPath } from '../adapters/kube/write/requests.ts';
import { textsOf } from '../analysis/objects.ts';
import type { JsonObject } from '../core/base/json.ts';
import { DISTRIBUTION_MANAGER, distributedKinds } from '../core/wishes/distribution.ts';
import { withdrawalOf } from '../core/wishes/withdrawal.ts';
import { type ClusterFlags, type ListedCluster, listCluster, objectsAt } from './cluster-state.ts';
import { CliError, EXIT, parseFormat, print, printData, printTable } from './output.ts';

const WRITE_MS_MAX = 30_000;

interface Flags extends Omit<ClusterFlags, 'cluster'> {
  readonly dryRun: boolean;
  readonly output: string;
}

interface Row {
  /** `VirtualService shop/reviews` */
  readonly object: string;
  readonly result: 'found' | 'withdrawn' | 'refused';
  readonly reason?: string;
}

export function withdrawCommand(): Command {
  return new Command('withdraw')
    .description('take back what only Periplus writes into objects of a cluster, before istiod goes on there')
    .requiredOption('--kubeconfig <file>', 'the cluster')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--dry-run', 'list what would be taken back, and write nothing', false)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      `
That is what it writes into statuses of Istio's objects: the condition Reconciled (PILOT_ENABLE_STATUS) and messages of analysis
(PILOT_ENABLE_ANALYSIS). Everything else that Periplus writes has istiod's names, forms and field managers: roots, CA bundles of
webhooks, managed Gateways, statuses of the Gateway API. istiod keeps writing it.
Stop Periplus first, or it writes them again. Exit code 1: something could not be taken back.

Example:
  helm uninstall periplus -n istio-system && periplus withdraw --kubeconfig ~/.kube/config`,
    )
    .action(async (flags: Flags) => {
      const format = parseFormat(flags.output);
      const rows = await withdrawn(flags);
      if (rows.some(({ result }) => result === 'refused')) process.exitCode = EXIT.failed;
      if (format !== 'table')
        return printData(
          rows.map(row => ({ ...row })),
          format,
        );
      if (rows.length === 0) return print('nothing of Periplus is left in objects of others');
      printTable(
        ['OBJECT', 'RESULT', 'REASON'],
        rows.map(({ object, result, reason = '' }) => [object, result, reason]),
      );
    });
}

async function withdrawn({ kubeconfig, context, dryRun }: Flags): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const { missing } = await listCluster({ kubeconfig, context, cluster: 'Kubernetes' }, async cluster => {
    for (const kind of distributedKinds) {
      const resource = cluster.resource(kind);
      if (resource === undefined) continue;
      for await (const object of objectsAt(cluster, resource.path)) {
        const patch = withdrawalOf(object);
        if (patch !== undefined) rows.push(await withdraw(resource, object, patch, dryRun ? undefined : cluster));
      }
    }
  });
  if (missing.length > 0) throw new CliError(`not everything could be listed: ${missing.join('; ')}`);
  return rows;
}

async function withdraw(
  resource: Resource,
  { metadata }: JsonObject,
  patch: JsonObject,
  cluster: ListedCluster | undefined,
): Promise<Row> {
  const { namespace = '', name = '' } = textsOf(metadata);
  const object = `${resource.objectKind} ${namespace}/${name}`;
  if (cluster === undefined) return { object, result: 'found' };
  const path = objectPath(resource, namespace, name, 'status');
  const query = { fieldManager: DISTRIBUTION_MANAGER };
  const request = { method: 'PATCH', path, query, body: patch, contentType: MERGE_PATCH } as const;
  try {
    await cluster.api.write(request, { signal: AbortSignal.timeout(WRITE_MS_MAX) });
    return { object, result: 'withdrawn' };
  } catch (error) {
    return { object, result: 'refused', reason: failureOf(error).message };
  }
}
