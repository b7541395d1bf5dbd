import { openEmbedded } from '../src/db/embedded/open-embedded.js'
import pg from 'pg'
let t = performance.now()
const db = await openEmbedded({ directory: process.argv[2]!, log: (m, d) => console.log('LOG', m, d) })
console.log('open', Math.round(performance.now() - t), db.socket, db.durability)
db.onNotify((c) => console.log('notified', c))
const pool = new pg.Pool({ ...db.socket, user: 'postgres', database: 'postgres', max: 8 })
await pool.query('create table if not exists b (id int, s text, at timestamptz default now())')
await pool.query('notify postrider_wake')
const one = await pool.connect()
const run = async (label: string, n: number, f: (i: number) => Promise<unknown>, par = 1) => {
  const t = performance.now(); let i = 0
  await Promise.all(Array.from({ length: par }, async () => { while (i < n) await f(i++) }))
  const s = (performance.now() - t) / 1000
  console.log(label, Math.round(n / s), '/s')
}
await run('warm', 300, (i) => one.query('insert into b values ($1,$2)', [i, 'x'.repeat(200)]))
await run('single commits, 1 connection', 3000, (i) => one.query('insert into b values ($1,$2)', [i, 'x'.repeat(200)]))
await run('select 1, 1 connection', 5000, (i) => one.query('select $1::int', [i]))
one.release()
await run('single commits, 8 connections', 5000, (i) => pool.query('insert into b values ($1,$2)', [i, 'x'.repeat(200)]), 8)
await run('tx of 3 statements, 8 connections', 800, async (i) => { const c = await pool.connect(); try { await c.query('begin'); await c.query('insert into b values ($1,$2)', [i, 'y']); await c.query('commit') } finally { c.release() } }, 8)
const rows = JSON.stringify(Array.from({ length: 500 }, (_, i) => ({ id: i, s: 'z'.repeat(300) })))
console.log('json bytes', rows.length)
await run('bulk 500 rows json (x500 = rows/s)', 100, () => pool.query('insert into b(id,s) select id,s from json_to_recordset($1) as r(id int, s text)', [rows]))
const small = JSON.stringify(Array.from({ length: 5000 }, (_, i) => ({ id: i, s: 'z'.repeat(20) })))
await run('bulk 5000 rows json (x5000 = rows/s)', 20, () => pool.query('insert into b(id,s) select id,s from json_to_recordset($1) as r(id int, s text)', [small]))
await run('read 500 rows', 300, () => pool.query('select * from b limit 500'))
console.log('rss', Math.round(process.memoryUsage().rss / 1e6))
await pool.end()
t = performance.now(); await db.close(); console.log('close', Math.round(performance.now() - t))
