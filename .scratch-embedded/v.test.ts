import { test, expect } from 'vitest'
import { openEmbedded } from '../src/db/embedded/open-embedded.js'
test('x', async () => { const db = await openEmbedded({ directory: '/tmp/e2' }); expect(db.durability).toEqual({ fsync: true }); await db.close() })
