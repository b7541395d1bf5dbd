/**
 * Preloaded, by `--import`, into every process of the tests and from there into the threads and processes they start,
 * so that all of them can load TypeScript, and find `x.ts` where the source says `x.js`. JavaScript, because it comes
 * before the thing that loads TypeScript.
 *
 * On Node 20 every thread needs to register the loader for itself, and tsx does so only in the main one.
 */
import 'tsx'
import { isMainThread } from 'node:worker_threads'
import { register } from 'tsx/esm/api'

if (!isMainThread) register()
