import { defineConfig } from 'vitest/config';

// PERIPLUS_UPDATE_GOLDENS=1 rewrites every golden file, those of toMatchFileSnapshot too.
const update = process.env.PERIPLUS_UPDATE_GOLDENS === '1';

export default defineConfig({
  test: {
    ...(update ? { update } : {}),
    projects: [
      {
        test: {
          name: 'default',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/long/**', 'node_modules/**', 'dist/**'],
          // Only what hangs is to fail: on a machine that others use as well, seconds of work take minutes.
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          name: 'long',
          include: ['test/long/**/*.test.ts'],
          testTimeout: 21_600_000,
        },
      },
      {
        test: {
          name: 'e2e',
          globalSetup: ['test/e2e/build.ts'],
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
