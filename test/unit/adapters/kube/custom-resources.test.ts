import { expect, it } from 'vitest';
import { type CustomResource, customs } from '../../../../src/adapters/kube/custom-resources.ts';

const definition = (plural: string, established: boolean): CustomResource => ({
  group: 'networking.istio.io',
  kind: 'VirtualService',
  plural,
  versions: ['v1'],
  established,
});

it.each([
  ['after', [definition('virtualservices', true), definition('zz', false)]],
  ['before', [definition('aa', false), definition('virtualservices', true)]],
])('a kind is read by its established definition, also if one without effect comes %s it', (_where, definitions) => {
  const { resources, unserved } = customs(definitions);
  expect(resources.filter(({ kind }) => kind === 'VirtualService').map(({ path }) => path)).toEqual([
    '/apis/networking.istio.io/v1/virtualservices',
  ]);
  expect(unserved).toEqual([]);
});
