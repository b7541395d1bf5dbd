import { createInterface } from 'node:readline'
import { CommandError, USAGE } from './command-error.js'

/** Before something is done to many at once. Where nobody can be asked, it has to be said beforehand. */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new CommandError(USAGE, `${question} Nobody can be asked here: add --yes to do it, or --dry-run to see.`)
  const answer = await ask(`${question} [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError(1, 'Nothing was changed.')
}

/** Ctrl-C and Ctrl-D close the terminal, which is an answer too. */
function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  return new Promise((resolve) => {
    terminal.once('close', () => resolve(''))
    terminal.question(question, (answer) => {
      resolve(answer)
      terminal.close()
    })
  })
}
