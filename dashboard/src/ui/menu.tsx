import { Ellipsis } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { IconButton } from './button'

export interface MenuItem {
  readonly label: string
  readonly icon?: ReactNode
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly onSelect: () => void
}

export function Menu({
  trigger,
  items,
  defaultOpen = false,
}: {
  readonly trigger: ReactNode
  readonly items: readonly MenuItem[]
  readonly defaultOpen?: boolean
}) {
  return (
    <DropdownMenu.Root defaultOpen={defaultOpen} modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-w-[calc(100vw-1rem)] min-w-44 rounded-lg border bg-panel p-1 text-sm shadow-lg"
        >
          {items.map(({ label, icon, danger, disabled, onSelect }) => (
            <DropdownMenu.Item
              key={label}
              disabled={disabled ?? false}
              onSelect={onSelect}
              className={`flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 outline-none select-none data-disabled:cursor-not-allowed data-disabled:opacity-50 data-highlighted:bg-sunken [&_svg]:size-4 ${danger ? 'text-bad' : ''}`}
            >
              {icon}
              {label}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

/** The menu of a row: a mere button until somebody presses it, because a table makes many of them while it is scrolled. */
export function RowMenu({ label, items }: { readonly label: string; readonly items: () => readonly MenuItem[] }) {
  const [isWanted, setWanted] = useState(false)
  const button = <IconButton label={label} icon={<Ellipsis />} aria-haspopup="menu" onClick={() => setWanted(true)} />
  return isWanted ? <Menu trigger={button} items={items()} defaultOpen /> : button
}
