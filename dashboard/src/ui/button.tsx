import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Spinner } from './spinner'

export type Tone = 'plain' | 'primary' | 'danger' | 'quiet'

const TONES: Record<Tone, string> = {
  plain: 'border bg-panel text-ink hover:bg-sunken',
  primary: 'border border-transparent bg-accent text-accent-ink hover:brightness-110',
  danger: 'border border-bad/40 bg-panel text-bad hover:bg-bad-soft',
  quiet: 'border border-transparent text-soft hover:bg-sunken hover:text-ink',
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly tone?: Tone
  readonly small?: boolean
  /** Under way: shown, and not to be pressed again. */
  readonly busy?: boolean
  readonly icon?: ReactNode
}

export function Button({ tone = 'plain', small, busy, icon, className = '', children, ...rest }: ButtonProps) {
  const size = small ? 'h-7 px-2 text-xs gap-1' : 'h-9 px-3 text-sm gap-1.5'
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled || busy}
      aria-busy={busy || undefined}
      className={`inline-flex items-center justify-center rounded-md font-medium whitespace-nowrap transition disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0 ${size} ${TONES[tone]} ${className}`}
    >
      {busy ? <Spinner /> : icon}
      {children}
    </button>
  )
}

/** A button that is only a picture: its name is for those who cannot see it, and for the tooltip. */
export function IconButton({ label, icon, ...rest }: Omit<ButtonProps, 'children'> & { readonly label: string }) {
  return <Button tone="quiet" small {...rest} aria-label={label} title={label} icon={icon} />
}
