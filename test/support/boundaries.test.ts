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
  { file: 'src/engine/planted.ts', code: `console.log('hello')`, caught: 'no-console' },
  { file: 'src/engine/planted.ts', code: `const lost = async () => 1\nlost()`, caught: 'no-floating-promises' },
  {
    file: 'src/engine/planted.ts',
    code: `import { connect } from '../db/client.js'\nconnect({ connection: {}, maxConnections: 1 }).query('select 1')`,
    caught: 'no-floating-promises',
  },
  { file: 'src/engine/planted.ts', code: `export const x = (y: any) => y`, caught: 'no-explicit-any' },
] as const

describe('a line that crosses a boundary is caught', () => {
  let copy: string

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'postrider-boundaries-'))
    for (const entry of ['src', 'package.json', 'tsconfig.json', '.oxlintrc.json'])
      cpSync(join(root, entry), join(copy, entry), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  })
  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  const lint = () => {
    const oxlint = join(root, 'node_modules/.bin/oxlint')
    const { status, stdout, stderr } = spawnSync(oxlint, ['--type-aware', '--deny-warnings', 'src'], {
      cwd: copy,
      encoding: 'utf8',
    })
    return { status, output: stdout + stderr }
  }

  it('and the tree as it is crosses none', () => {
    const { status, output } = lint()
    expect(output).toContain('Found 0 warnings and 0 errors')
    expect(status).toBe(0)
  })

  it('and what is allowed is not refused', () => {
    const allowed = {
      'src/domain/planted.ts': `import './states.js'\nimport 'temporal-polyfill'`,
      'src/engine/planted.ts': `import '../providers/provider.js'\nimport '../brokers/broker.js'\nimport '../db/client.js'`,
    }
    for (const [file, code] of Object.entries(allowed)) writeFileSync(join(copy, file), `${code}\n`)
    const { output } = lint()
    for (const file of Object.keys(allowed)) rmSync(join(copy, file))
    expect(output).toContain('Found 0 warnings and 0 errors')
  })

  it.each(VIOLATIONS)('$file: $code', ({ file, code, caught }) => {
    const path = join(copy, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${code}\n`)
    try {
      const { status, output } = lint()
      expect(output).toContain(caught)
      expect(output).toContain(file)
      expect(status).not.toBe(0)
    } finally {
      rmSync(path)
    }
  })
})
