import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from './button'

/** Something to be copied into a terminal or a file. */
export function Code({ text, tall }: { readonly text: string; readonly tall?: boolean }) {
  return (
    <div className="relative">
      <pre
        tabIndex={0}
        className={`overflow-auto rounded-lg border bg-sunken p-3 pr-11 font-mono text-xs whitespace-pre-wrap break-words ${tall ? 'max-h-[65vh]' : 'max-h-72'}`}
      >
        {text}
      </pre>
      <span className="absolute top-1.5 right-1.5">
        <CopyButton text={text} />
      </span>
    </div>
  )
}

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1_500)
  }
  return (
    <IconButton label={copied ? 'Copied' : label} icon={copied ? <Check /> : <Copy />} onClick={() => void copy()} />
  )
}
