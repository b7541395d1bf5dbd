import { useLiveState } from './use-live'

const WORDS = {
  connecting: ['connecting', 'bg-soft', 'The live connection is being made.'],
  live: ['live', 'bg-good', 'What happens is shown as it happens.'],
  resting: ['resting', 'bg-soft', 'Nobody looks, so nothing is asked for.'],
  lost: ['lost', 'bg-bad', 'The connection is lost. It is tried again, and what was missed is shown then.'],
} as const

export function LiveMark() {
  const [word, colour, title] = WORDS[useLiveState()]
  return (
    <span role="status" className="inline-flex shrink-0 items-center gap-1.5 text-xs text-soft" title={title}>
      <span aria-hidden className={`size-2 shrink-0 rounded-full ${colour}`} />
      {word}
    </span>
  )
}
