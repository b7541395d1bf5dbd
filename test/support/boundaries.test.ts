import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Each is one careless line in a place where it must not stand, and a word of the rule that has to catch it. */
const VIOLATIONS = [
  { file: 'src/domain/planted.ts', code: `import '../db/client.js'`, caught: 'The domain is pure' },
  { file: 'src/domain/planted.ts', code: `import '../errors.js'`, caught: 'The domain is pure' },
  { file: 'src/domain/planted.ts', code: `import 'pg'`, caught: 'The domain is pure' },
  { file: 'src/domain/planted.ts', code: `import 'node:fs'`, caught: 'The domain is pure' },
  { file: 'src/domain/planted.ts', code: `export const now = Date.now()`, caught: 'The domain has no clock' },
  { file: 'src/domain/planted.ts', code: `export const now = performance.now()`, caught: 'The domain has no clock' },
  { file: 'src/domain/planted.ts', code: `export const dice = Math.random()`, caught: 'The domain has no dice' },
  { file: 'src/db/planted.ts', code: `import '../engine/loop.js'`, caught: 'nothing above itself' },
  { file: 'src/db/planted.ts', code: `import '../operations/examine.js'`, caught: 'nothing above itself' },
  { file: 'src/db/embedded/planted.ts', code: `import '../../engine/loop.js'`, caught: 'nothing above itself' },
  { file: 'src/db/planted.ts', code: `import '../compose.js'`, caught: 'nothing above itself' },
  { file: 'src/operations/planted.ts', code: `import '../engine/loop.js'`, caught: 'operations import domain and db' },
  {
    file: 'src/operations/planted.ts',
    code: `import '../cli/exit-codes.js'`,
    caught: 'operations import domain and db',
  },
  { file: 'src/csv/planted.ts', code: `import '../db/client.js'`, caught: 'csv imports domain only' },
  { file: 'src/mime/planted.ts', code: `import '../db/client.js'`, caught: 'mime imports domain only' },
  { file: 'src/mime/planted.ts', code: `import '../operations/send-emails.js'`, caught: 'mime imports domain only' },
  { file: 'src/templates/planted.ts', code: `import '../db/client.js'`, caught: 'templates import domain and mime' },
  { file: 'src/providers/planted.ts', code: `import '../db/client.js'`, caught: 'import domain only' },
  { file: 'src/brokers/planted.ts', code: `import '../engine/loop.js'`, caught: 'import domain only' },
  { file: 'src/engine/planted.ts', code: `import '../compose.js'`, caught: 'only compose sees implementations' },
  { file: 'src/engine/planted.ts', code: `import '../providers/smtp.js'`, caught: 'only compose sees implementations' },
  { file: 'src/engine/planted.ts', code: `import '../brokers/bullmq.js'`, caught: 'only compose sees implementations' },
  { file: 'src/cli/planted.ts', code: `import '../engine/loop.js'`, caught: 'what compose has wired' },
  { file: 'src/cli/commands/planted.ts', code: `import '../../engine/loop.js'`, caught: 'what compose has wired' },
  { file: 'src/http/planted.ts', code: `import '../providers/smtp.js'`, caught: 'what compose has wired' },
  { file: 'src/demo/planted.ts', code: `import '../db/emails.js'`, caught: 'The demo is a client' },
  { file: 'src/demo/planted.ts', code: `import '../operations/senders.js'`, caught: 'The demo is a client' },
  { file: 'src/engine/planted.ts', code: `console.log('hello')`, caught: 'no-console' },
  { file: 'src/engine/planted.ts', code: `const lost = async () => 1\nlost()`, caught: 'no-floating-promises' },
  {
    file: 'src/engine/planted.ts',
    code: `import { connect } from '../db/client.js'\nconnect({ connection: {}, maxConnections: 1 }).query('select 1')`,
    caught: 'no-floating-promises',
  },
  { file: 'src/engine/planted.ts', code: `export const x = (y: any) => y`, caught: 'no-explicit-any' },
] as const

interface Found {
  readonly filename: string
  readonly message: string
  readonly code: string
  /** What the rule says to do instead. */
  readonly help?: string
}

// Linting the tree takes seconds: all lines are planted at once, each in a file of its own.
const planted = VIOLATIONS.map(({ file, ...rest }, i) => ({ ...rest, file: file.replace('planted', `planted-${i}`) }))

describe('a line that crosses a boundary is caught', () => {
  let copy: string
  let found: readonly Found[]

  const plant = (file: string, code: string) => {
    const path = join(copy, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${code}\n`)
  }
  const lint = () => {
    const oxlint = join(root, 'node_modules/.bin/oxlint')
    const { status, stdout, stderr } = spawnSync(oxlint, ['--type-aware', '--deny-warnings', '--format=json', 'src'], {
      cwd: copy,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
    if (!stdout.startsWith('{')) throw new Error(`oxlint said: ${stdout}${stderr}`)
    return { status, ...(JSON.parse(stdout) as { diagnostics: Found[]; number_of_files: number }) }
  }

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'postrider-boundaries-'))
    for (const entry of ['src', 'package.json', 'tsconfig.json', '.oxlintrc.json'])
      cpSync(join(root, entry), join(copy, entry), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  })
  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  it('and the tree as it is crosses none, nor what is allowed', () => {
    const allowed = {
      'src/domain/allowed.ts': `import './states.js'\nimport 'temporal-polyfill'`,
      'src/engine/allowed.ts': `import '../providers/provider.js'\nimport '../brokers/broker.js'\nimport '../db/client.js'`,
    }
    for (const [file, code] of Object.entries(allowed)) plant(file, code)
    const { status, diagnostics, number_of_files } = lint()
    expect(diagnostics).toEqual([])
    expect(status).toBe(0)
    expect(number_of_files).toBeGreaterThan(100)
  })

  describe('when it is planted:', () => {
    beforeAll(() => {
      for (const { file, code } of planted) plant(file, code)
      const { status, diagnostics } = lint()
      expect(status).not.toBe(0)
      found = diagnostics
    })

    it.each(planted)('$file: $code', ({ file, caught }) => {
      const here = found.filter(({ filename }) => filename === file)
      expect(here.map(({ code, message, help = '' }) => `${code} ${message} ${help}`).join('\n')).toContain(caught)
    })
  })
})
