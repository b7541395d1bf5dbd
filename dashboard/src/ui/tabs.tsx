import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

export interface Tab {
  readonly id: string
  readonly label: ReactNode
  readonly content: ReactNode
}

export function Tabs({
  label,
  tabs,
  value,
  onChange,
}: {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly value?: string
  readonly onChange?: (id: string) => void
}) {
  const chosen = value === undefined ? { defaultValue: tabs[0]?.id ?? '' } : { value }
  return (
    <Radix.Root {...chosen} {...(onChange && { onValueChange: onChange })}>
      <Radix.List aria-label={label} className="flex gap-1 overflow-x-auto border-b px-2">
        {tabs.map(({ id, label: name }) => (
          <Radix.Trigger
            key={id}
            value={id}
            className="-mb-px border-b-2 border-transparent px-3 py-2 text-sm -outline-offset-2 whitespace-nowrap text-soft hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
          >
            {name}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(({ id, content }) => (
        <Radix.Content key={id} value={id} className="p-4">
          {content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
