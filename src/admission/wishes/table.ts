// Everything that Periplus wishes to be written: what the core wishes, and what needs templates or serves webhooks.

import type { Query } from '../../core/query/reader.ts';
import { tableOf, type WishFeature, type WishTable, wishFeatures } from '../../core/wishes/table.ts';
import { caBundles } from './ca-bundles.ts';
import { gatewayDeployments } from './gateway-deployments.ts';

export const allWishFeatures: readonly WishFeature[] = [...wishFeatures, caBundles, gatewayDeployments];

export const allWishes: Query<'', WishTable> = tableOf('all-wishes', allWishFeatures);
