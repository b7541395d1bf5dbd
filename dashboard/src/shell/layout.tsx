import { useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import {
  CalendarClock,
  FileText,
  Gauge,
  Inbox,
  ListChecks,
  LogOut,
  Mail,
  Menu as MenuIcon,
  Megaphone,
  Moon,
  Route,
  Send,
  Settings,
  ShieldBan,
  Sun,
  Users,
} from 'lucide-react'
import { type ReactNode, Suspense, useEffect, useState } from 'react'
import { api, ask } from '../api/client'
import { LiveMark } from '../live/live-mark'
import { useLive } from '../live/use-live'
import { IconButton } from '../ui/button'
import { Loading } from '../ui/spinner'
import { ZoneSwitch } from '../ui/time'
import { complain } from '../ui/toasts'
import { useSession } from './session'

interface Place {
  readonly to: string
  readonly label: string
  readonly icon: ReactNode
}
const PLACES: readonly (readonly [string, readonly Place[]])[] = [
  [
    '',
    [
      { to: '/', label: 'Overview', icon: <Gauge /> },
      { to: '/email-queue', label: 'Email queue', icon: <Mail /> },
      { to: '/inbox', label: 'Inbox', icon: <Inbox /> },
    ],
  ],
  [
    'Bulk and outreach',
    [
      { to: '/campaigns', label: 'Campaigns', icon: <Megaphone /> },
      { to: '/sequences', label: 'Sequences', icon: <Route /> },
      { to: '/calendar', label: 'Calendar', icon: <CalendarClock /> },
      { to: '/templates', label: 'Templates', icon: <FileText /> },
    ],
  ],
  [
    'Audience',
    [
      { to: '/contacts', label: 'Contacts', icon: <Users /> },
      { to: '/lists', label: 'Lists', icon: <ListChecks /> },
      { to: '/suppressions', label: 'Suppressions', icon: <ShieldBan /> },
    ],
  ],
  [
    'Set-up',
    [
      { to: '/senders', label: 'Senders', icon: <Send /> },
      { to: '/settings', label: 'Settings', icon: <Settings /> },
    ],
  ],
]

/** Everything behind the login. */
export function Layout() {
  useLive()
  const [open, setOpen] = useState(false)
  const path = useRouterState({ select: (state) => state.location.pathname })
  useEffect(() => setOpen(false), [path])
  return (
    <div className="min-h-screen lg:grid lg:grid-cols-[14rem_1fr]">
      <a
        // The page's base would lead it elsewhere; where it leads to is done by hand.
        href="#main"
        onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}
        className="sr-only focus:not-sr-only focus:fixed focus:z-50 focus:bg-panel focus:p-3"
      >
        Skip to what this page is about
      </a>
      <header className="sticky top-0 z-30 flex h-12 items-center justify-between border-b bg-panel px-3 lg:hidden">
        <Brand />
        <div className="flex items-center gap-2">
          <LiveMark />
          <IconButton
            label={open ? 'Close the menu' : 'Open the menu'}
            aria-expanded={open}
            icon={<MenuIcon />}
            onClick={() => setOpen(!open)}
          />
        </div>
      </header>
      <aside
        className={`${open ? 'block' : 'hidden'} border-r bg-panel lg:sticky lg:top-0 lg:flex lg:h-screen lg:flex-col lg:overflow-y-auto`}
      >
        <div className="hidden h-14 items-center justify-between px-4 lg:flex">
          <Brand />
          <LiveMark />
        </div>
        <nav aria-label="Screens" className="flex-1 px-2 pb-4">
          {PLACES.map(([group, places]) => (
            <div key={group} className="mt-3">
              {group && (
                <h2 className="px-2 pb-1 text-[0.7rem] font-semibold tracking-wide text-soft uppercase">{group}</h2>
              )}
              <ul>
                {places.map(({ to, label, icon }) => (
                  <li key={to}>
                    <Link
                      to={to}
                      activeOptions={{ exact: to === '/' }}
                      className="flex items-center gap-2.5 rounded-md px-2 py-1.5 text-sm text-soft hover:bg-sunken hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-ink [&_svg]:size-4"
                    >
                      {icon}
                      {label}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        <Foot />
      </aside>
      <main id="main" tabIndex={-1} className="mx-auto w-full max-w-[90rem] min-w-0 px-4 py-5 outline-none sm:px-6">
        <Suspense fallback={<Loading />}>
          <Outlet />
        </Suspense>
      </main>
    </div>
  )
}

const Brand = () => (
  <Link to="/" className="flex shrink-0 items-center gap-2 font-semibold tracking-tight">
    <img src="./icon.svg" alt="" className="size-6" />
    Postrider
  </Link>
)

function Foot() {
  const session = useSession()
  const client = useQueryClient()
  const navigate = useNavigate()
  const leave = async () => {
    try {
      await ask(api.POST('/api/admin/logout'))
      client.clear()
      await navigate({ to: '/login' })
    } catch (error) {
      complain(error)
    }
  }
  return (
    <div className="flex flex-col gap-2 border-t p-3 text-xs text-soft">
      <ZoneSwitch />
      <div className="flex items-center justify-between gap-1">
        <span className="min-w-0 truncate">
          {session?.name} · {session?.role}
        </span>
        <span className="flex">
          <ThemeSwitch />
          <IconButton label="Log out" icon={<LogOut />} onClick={() => void leave()} />
        </span>
      </div>
    </div>
  )
}

export function ThemeSwitch() {
  const root = document.documentElement
  const [dark, setDark] = useState(root.dataset['theme'] === 'dark')
  const turn = () => {
    const chosen = dark ? 'light' : 'dark'
    root.dataset['theme'] = chosen
    localStorage.setItem('postrider.theme', chosen)
    setDark(!dark)
  }
  return <IconButton label={dark ? 'Light colours' : 'Dark colours'} icon={dark ? <Sun /> : <Moon />} onClick={turn} />
}
