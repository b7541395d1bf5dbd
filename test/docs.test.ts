import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SETTINGS } from '../src/settings.js'
import { ERROR_CODES } from '../src/errors.js'

const rowsOf = (file: string) =>
  readFileSync(new URL(`../docs/${file}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll(/^`|`$/g, '')),
    )

describe('the docs say what the code says', () => {
  it('lists every error code with its meaning, and no other', () => {
    expect(rowsOf('errors.md')).toEqual(Object.entries(ERROR_CODES))
  })

  it('lists every setting with its default and its sentence, and no other', () => {
    const settings = Object.entries(SETTINGS).map(([name, { fallback, help }]) => [name, fallback || 'none', help])
    expect(rowsOf('settings.md')).toEqual(settings)
  })
})
