import type { ReactNode } from 'react'
import { ThemeSwitch } from './layout'

/** What is seen before anybody is known, and where nothing is. */
export const BareFrame = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <main className="flex min-h-screen flex-col items-center justify-center gap-6 p-4">
    <div className="flex items-center gap-2 text-lg font-semibold">
      <img src="./icon.svg" alt="" className="size-8" />
      Postrider
    </div>
    <section className="w-full max-w-sm rounded-xl border bg-panel p-6">
      <h1 className="mb-4 text-base font-semibold">{title}</h1>
      {children}
    </section>
    <ThemeSwitch />
  </main>
)
