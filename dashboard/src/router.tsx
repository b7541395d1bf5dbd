import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { BASE } from './api/client'
import { Layout } from './shell/layout'
import { NotFound, ScreenError } from './shell/screen-error'
import { sessionQuery } from './shell/session'
import { Loading } from './ui/spinner'

interface RouterContext {
  readonly queryClient: QueryClient
}

const root = createRootRouteWithContext<RouterContext>()({ component: Outlet })

/** What the address bar may say after the question mark: short texts, kept as they are. */
export type Search = Readonly<Record<string, string | undefined>>
const readSearch = (raw: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(raw).filter((pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== ''),
  )

const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Layout,
  validateSearch: readSearch,
  async beforeLoad({ context, location }) {
    const session = await context.queryClient.ensureQueryData(sessionQuery)
    // Its type would depend on the routes that depend on this one.
    if (!session) throw redirect({ to: '/login', search: { next: location.href } as never })
  },
})

type Screens = Parameters<typeof lazyRouteComponent>[0]
// Every screen is fetched when it is first looked at, so that the first one is there at once.
const screen = <const Path extends string>(path: Path, file: Screens, name: string) =>
  createRoute({ getParentRoute: () => inside, path, component: lazyRouteComponent(file, name) })
const outside = <const Path extends string>(path: Path, file: Screens, name: string) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: readSearch,
    component: lazyRouteComponent(file, name),
  })

const routes = root.addChildren([
  outside('/login', () => import('./screens/login/login'), 'Login'),
  outside('/setup', () => import('./screens/login/setup'), 'Setup'),
  inside.addChildren([
    screen('/', () => import('./screens/overview/overview'), 'Overview'),
    screen('/email-queue', () => import('./screens/emails/email-queue'), 'EmailQueue'),
    screen('/emails/$id', () => import('./screens/emails/email-detail'), 'EmailDetail'),
    screen('/inbox', () => import('./screens/inbox/inbox'), 'InboxList'),
    screen('/inbox/$id', () => import('./screens/inbox/captured-email'), 'CapturedEmail'),
    screen('/campaigns', () => import('./screens/campaigns/campaign-list'), 'CampaignList'),
    screen('/campaigns/new', () => import('./screens/campaigns/campaign-edit'), 'NewCampaign'),
    screen('/campaigns/$id', () => import('./screens/campaigns/campaign-detail'), 'CampaignDetail'),
    screen('/campaigns/$id/edit', () => import('./screens/campaigns/campaign-edit'), 'EditCampaign'),
    screen('/sequences', () => import('./screens/sequences/sequence-list'), 'SequenceList'),
    screen('/sequences/new', () => import('./screens/sequences/sequence-edit'), 'NewSequence'),
    screen('/sequences/$id', () => import('./screens/sequences/sequence-detail'), 'SequenceDetail'),
    screen('/sequences/$id/edit', () => import('./screens/sequences/sequence-edit'), 'EditSequence'),
    screen('/enrollments/$id', () => import('./screens/sequences/enrollment-detail'), 'EnrollmentDetail'),
    screen('/calendar', () => import('./screens/sequences/calendar'), 'Calendar'),
    screen('/templates', () => import('./screens/templates/template-list'), 'TemplateList'),
    screen('/templates/new', () => import('./screens/templates/template-edit'), 'NewTemplate'),
    screen('/templates/$id', () => import('./screens/templates/template-edit'), 'EditTemplate'),
    screen('/contacts', () => import('./screens/audience/contact-list'), 'ContactList'),
    screen('/contacts/$id', () => import('./screens/audience/contact-detail'), 'ContactDetail'),
    screen('/lists', () => import('./screens/audience/list-list'), 'ListList'),
    screen('/lists/$id', () => import('./screens/audience/list-detail'), 'ListDetail'),
    screen('/imports/$id', () => import('./screens/audience/import-detail'), 'ImportDetail'),
    screen('/suppressions', () => import('./screens/audience/suppressions'), 'Suppressions'),
    screen('/senders', () => import('./screens/senders/sender-list'), 'SenderList'),
    screen('/senders/$id', () => import('./screens/senders/sender-detail'), 'SenderDetail'),
    screen('/settings', () => import('./screens/settings/settings'), 'SettingsScreen'),
    screen('/settings/keys', () => import('./screens/settings/api-keys'), 'ApiKeys'),
    screen('/settings/people', () => import('./screens/settings/people'), 'People'),
    screen('/settings/audit', () => import('./screens/settings/audit'), 'Audit'),
  ]),
])

export const createAppRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree: routes,
    basepath: BASE,
    context: { queryClient },
    defaultPreload: 'intent',
    defaultPendingComponent: () => <Loading />,
    defaultErrorComponent: ScreenError,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
    // Plain words in the address bar instead of JSON in quotes.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const pairs = Object.entries(search).filter(
        (pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '',
      )
      return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
    },
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
