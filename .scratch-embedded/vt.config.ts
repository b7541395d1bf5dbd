import { defineConfig } from 'vitest/config'
export default defineConfig({ root: '/work/main', test: { include: ['test/promises/embedded-*.test.ts', '.scratch-embedded/*.test.ts'], pool: 'forks', fileParallelism: false, testTimeout: 60000, hookTimeout: 60000 } })
