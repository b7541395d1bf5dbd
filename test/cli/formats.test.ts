import { describe, expect, test } from 'vitest'
import { cut, oneLine, severalLines, widthOf, wrap } from '../../src/cli/safe-text.js'
import { formatTable } from '../../src/cli/table.js'

describe('text of strangers', () => {
  test.each([
    ['an escape sequence', 'a\u001b[31mb', 'a[31mb'],
    ['line breaks', 'a\r\nb\u2028c', 'a b c'],
    ['a turn of direction', 'a\u202eb\u200bc', 'abc'],
  ])('loses %s', (_, text, safe) => expect(oneLine(text)).toBe(safe))

  test('keeps its lines where lines are wanted', () => expect(severalLines('a\tb\r\nc\u0007')).toBe('a  b\nc'))

  test('is cut between characters, and counted as wide as it is shown', () => {
    expect(widthOf('日本')).toBe(4)
    expect(cut('日本語', 4)).toBe('日…')
    expect(cut('👩‍👩‍👧 family', 4)).toBe('👩‍👩‍👧 …')
    expect(cut('short', 5)).toBe('short')
  })

  test('is wrapped at spaces; a word that is longer than a line stays whole', () => {
    expect(wrap('  one two three', 9, '    ')).toBe('  one two\n    three')
    expect(wrap('x averyveryverylongword y', 8, '  ')).toBe('x\n  averyveryverylongword\n  y')
  })
})

describe('a table', () => {
  const columns = [
    { title: 'ID', cell: ([id]: readonly string[]) => id! },
    { title: 'TO', cell: ([, to]: readonly string[]) => to!, mayBeCut: true as const },
    { title: 'SUBJECT', cell: ([, , subject]: readonly string[]) => subject!, mayBeCut: true as const },
  ]

  test('is as narrow as its cells allow', () => {
    expect(formatTable([['em_1', 'a@b.c', 'Hi']], columns, 80)).toBe('ID    TO     SUBJECT\nem_1  a@b.c  Hi\n')
  })

  test('takes from the widest column that may be cut, and never from an id', () => {
    const rows = [['em_1234567890', 'ada@example.com', 'A subject that is a good deal longer']]
    const table = formatTable(rows, columns, 50)
    expect(table).toBe('ID             TO               SUBJECT\nem_1234567890  ada@example.com  A subject that is…\n')
    expect(formatTable(rows, columns, 20)).toContain('em_1234567890')
  })
})
