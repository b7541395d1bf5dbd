import { connect } from '../src/db/client.js'
import { migrate } from '../src/db/migrate.js'
import { createDispatcher } from '../src/engine/dispatcher.js'
import { scheduleActions } from '../src/operations/schedule-actions.js'
import { RETRY_POLICIES } from '../src/domain/retry.js'
import { DEFAULT_WORKSPACE, newId } from '../src/id.js'
import { createLog } from '../src/log.js'
const log = createLog('warn')
const embedded = process.argv[2] === 'embedded'
let emb: any
if (embedded) { const { openEmbedded } = await import('../src/db/embedded/open-embedded.js'); emb = await openEmbedded({ directory: '/tmp/lab/emb', log: (m: string, d: any) => console.log(m, d) }); console.log(emb.durability) }
const db = connect({ connection: embedded ? { ...emb.socket, user: 'postgres', database: 'postgres' } : { connectionString: 'postgres://root@127.0.0.1/lab' }, maxConnections: 8, embedded })
await db.query('drop schema if exists postrider cascade')
console.log(await migrate(db), await migrate(db))
const N = Number(process.env.N ?? 60000)
const lanes = [newId(), newId()]
let t = performance.now()
const jobs: (() => Promise<unknown>)[] = []
for (let i = 0; i < N; i += 1000) jobs.push(() => scheduleActions({ sql: db, log }, DEFAULT_WORKSPACE, Array.from({ length: 1000 }, (_, k) => ({ type: 'noop', laneId: lanes[k % 2]!, dedupeKey: `k${i + k}`, payload: { n: i + k } }))))
await Promise.all([0, 1].map(async () => { for (let j; (j = jobs.pop()); ) await j() }))
console.log('schedule/s', Math.round(N / ((performance.now() - t) / 1000)))
const d = createDispatcher({ db, handlers: { noop: { kind: 'hand-over', retryPolicy: 'standard', handOver: async (_a, grip) => (await grip.arm()) ? { kind: 'done' } : { kind: 'release' } } }, policies: RETRY_POLICIES, worker: 'bench', log, concurrency: Number(process.env.C ?? 1000), leaseMs: 60000 })
t = performance.now()
await d.drain()
console.log('drain/s', Math.round(d.counts.done / ((performance.now() - t) / 1000)), d.counts)
await scheduleActions({ sql: db, log }, DEFAULT_WORKSPACE, Array.from({ length: N }, (_, k) => ({ type: 'noop', laneId: lanes[k % 2]!, dedupeKey: `z${k}`, payload: { n: k } })))
t = performance.now(); const base = d.counts.done
d.start(); while (d.counts.done - base < N) await new Promise(r => setTimeout(r, 5))
console.log('run/s', Math.round(N / ((performance.now() - t) / 1000)))
await d.stop()
console.log((await db.query('select state, count(*) from postrider.scheduled_actions group by 1')).rows, (await db.query('select count(*) from postrider.leases')).rows, (await db.query('select count(*) from postrider.ready_actions')).rows)
await db.close(); await emb?.close()
