/** Standard output is for the data that was asked for; everything else a person may want to know is a note. */
export const print = (text: string): void => void process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)

export const printJson = (value: unknown): void => print(JSON.stringify(value))

export const note = (text: string): void => void process.stderr.write(`${text}\n`)

/** Whoever reads only the first lines (`| head`) has not made a mistake. */
export function allowClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
}
