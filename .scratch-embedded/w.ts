import { Worker } from 'node:worker_threads'
console.log(process.execArgv)
const target = new URL('../src/db/embedded/embedded-worker.ts', import.meta.url).href
const tries: Record<string, () => Worker> = {
  js: () => new Worker(new URL('../src/db/embedded/embedded-worker.js', import.meta.url), { workerData: { directory: '/tmp/e3' } }),
  evalApi: () => new Worker(`import('tsx/esm/api').then(({ tsImport }) => tsImport(${JSON.stringify(target)}, ${JSON.stringify(import.meta.url)}))`, { eval: true, workerData: { directory: '/tmp/e3' } }),
  evalRegister: () => new Worker(`import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(target)}) })`, { eval: true, workerData: { directory: '/tmp/e3' } }),
}
for (const [k, f] of Object.entries(tries)) {
  await new Promise<void>((r) => { const w = f(); w.on('message', (m) => { console.log(k, m); void w.terminate() }); w.on('error', (e) => console.log(k, 'ERR', String(e).slice(0, 150))); w.on('exit', () => r()) })
}
