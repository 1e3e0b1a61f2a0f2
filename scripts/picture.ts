// Renews the picture in README.md: a proxy of the recorded outage in the explorer, as a browser shows it. Run it after
// a change of the page's looks: npm run build && npx tsx scripts/picture.ts [FILE]. Needs Chromium.
//
// The journal is a fixture and the window has a fixed size, so the picture changes only when the page does.

import { join } from 'node:path';
import { chromiumOrSkip, ExplorerPage, launch } from '../test/e2e/explorer/browser.ts';
import { ServedExplorer } from '../test/e2e/explorer/served-explorer.ts';

const ROOT = join(import.meta.dirname, '..');
const VIEW =
  process.argv[3] ??
  '#/proxy/productpage-v1.shop?at=131&why=cluster%20outbound%7C9080%7Cv3%7Creviews.shop.svc.cluster.local';
/** The view below this line is empty. */
const HEIGHT_PX = 600;

const program = await chromiumOrSkip('the picture of README.md');
if (program === undefined) process.exit(1);
const explorer = await ServedExplorer.open(join(ROOT, 'journal/fixtures/subset-outage.jsonl'));
const browser = await launch(program);
try {
  const shown = await ExplorerPage.open(browser, explorer.address, { width: 1440, scheme: 'light' });
  await shown.goTo(VIEW);
  const path = process.argv[2] ?? join(ROOT, 'docs/images/explorer.png');
  await shown.page.screenshot({ path, clip: { x: 0, y: 0, width: 1440, height: HEIGHT_PX } });
} finally {
  await browser.close();
  await explorer.close();
}
