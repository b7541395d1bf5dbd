/**
 * PGlite's files on disk, with the two things PGlite leaves out: fsync, and a first start that is all or nothing.
 *
 * fsync: emscripten asks a file system's `stream_ops.fsync` and takes its absence for success, so PostgreSQL believes
 * every commit is on disk while none is. We supply it. A failure is reported as EIO: PostgreSQL then panics, as it
 * must, because after a failed fsync nobody knows what reached the disk.
 *
 * First start: a new cluster is written to `data.new`, flushed, and renamed to `data`. A crash before the rename
 * leaves a `data.new` that the next start throws away; a crash after it leaves a whole cluster.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'

type EmscriptenOptions = Parameters<NodeFS['init']>[1]

/** The part of emscripten's NODEFS we rely on; asserted at boot by the fsync probe. */
interface NodeFileSystem {
  stream_ops: { fsync?: (stream: { nfd: number }) => number }
}

/** EIO as WASI numbers it. */
const EIO = 29

export class DurableNodeFs extends NodeFS {
  /** How many flushes the disk has confirmed. */
  fsyncs = 0
  readonly #directory: string
  #creating: boolean

  /** Only for whoever holds the directory's lock: it deletes what a crashed first start left behind. */
  constructor(directory: string) {
    const data = join(directory, 'data')
    const creating = !existsSync(data)
    const unfinished = join(directory, 'data.new')
    rmSync(unfinished, { recursive: true, force: true })
    if (creating) mkdirSync(unfinished, { mode: 0o700 })
    super(creating ? unfinished : data)
    this.#directory = directory
    this.#creating = creating
  }

  override async init(pg: PGlite, options: EmscriptenOptions): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options)
    emscriptenOpts.preRun?.push((module) => {
      const { filesystems } = module.FS as unknown as { filesystems: { NODEFS: NodeFileSystem } }
      filesystems.NODEFS.stream_ops.fsync = ({ nfd }) => {
        try {
          fsyncSync(nfd)
        } catch {
          return EIO
        }
        this.fsyncs++
        return 0
      }
    })
    return { emscriptenOpts }
  }

  /** PGlite calls this once the new cluster's files are all written and before PostgreSQL opens the first of them. */
  override async syncToFs(): Promise<void> {
    if (!this.#creating) return
    this.#creating = false
    const data = join(this.#directory, 'data')
    flushTree(this.rootDir)
    renameSync(this.rootDir, data)
    flush(this.#directory)
    flush(dirname(this.#directory))
    this.rootDir = data
    // NODEFS derives every path from its mount's root at the time of the call, so moving the root moves them all.
    const { node } = this.pg!.Module.FS.lookupPath(PGlite.paths.PGDATA, {}) as unknown as {
      node: { mount: { opts: { root: string } } }
    }
    node.mount.opts.root = data
  }
}

/** Files before the directory that names them, so that a name never survives its content. */
function flushTree(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) flushTree(path)
    else flush(path)
  }
  flush(directory)
}

function flush(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
