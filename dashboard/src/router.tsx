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
const screen = <const Path extends string>(path: Path, title: string, file: Screens, name: string) =>
  createRoute({
    getParentRoute: () => inside,
    path,
    staticData: { title },
    component: lazyRouteComponent(file, name),
  })
const outside = <const Path extends string>(path: Path, title: string, file: Screens, name: string) =>
  createRoute({
    getParentRoute: () => root,
    path,
    staticData: { title },
    validateSearch: readSearch,
    component: lazyRouteComponent(file, name),
  })

const routes = root.addChildren([
  outside('/login', 'Log in', () => import('./screens/login/login'), 'Login'),
  outside('/setup', 'Choose a password', () => import('./screens/login/setup'), 'Setup'),
  inside.addChildren([
    screen('/', 'Overview', () => import('./screens/overview/overview'), 'Overview'),
    screen('/email-queue', 'Email queue', () => import('./screens/emails/email-queue'), 'EmailQueue'),
    screen('/emails/$id', 'Email', () => import('./screens/emails/email-detail'), 'EmailDetail'),
    screen('/inbox', 'Inbox', () => import('./screens/inbox/inbox'), 'InboxList'),
    screen('/inbox/$id', 'Captured email', () => import('./screens/inbox/captured-email'), 'CapturedEmail'),
    screen('/campaigns', 'Campaigns', () => import('./screens/campaigns/campaign-list'), 'CampaignList'),
    screen('/campaigns/new', 'New campaign', () => import('./screens/campaigns/campaign-edit'), 'NewCampaign'),
    screen('/campaigns/$id', 'Campaign', () => import('./screens/campaigns/campaign-detail'), 'CampaignDetail'),
    screen('/campaigns/$id/edit', 'Edit campaign', () => import('./screens/campaigns/campaign-edit'), 'EditCampaign'),
    screen('/sequences', 'Sequences', () => import('./screens/sequences/sequence-list'), 'SequenceList'),
    screen('/sequences/new', 'New sequence', () => import('./screens/sequences/sequence-edit'), 'NewSequence'),
    screen('/sequences/$id', 'Sequence', () => import('./screens/sequences/sequence-detail'), 'SequenceDetail'),
    screen('/sequences/$id/edit', 'Edit sequence', () => import('./screens/sequences/sequence-edit'), 'EditSequence'),
    screen('/enrollments/$id', 'Enrollment', () => import('./screens/sequences/enrollment-detail'), 'EnrollmentDetail'),
    screen('/calendar', 'Calendar', () => import('./screens/sequences/calendar'), 'Calendar'),
    screen('/templates', 'Templates', () => import('./screens/templates/template-list'), 'TemplateList'),
    screen('/templates/new', 'New template', () => import('./screens/templates/template-edit'), 'NewTemplate'),
    screen('/templates/$id', 'Template', () => import('./screens/templates/template-edit'), 'EditTemplate'),
    screen('/contacts', 'Contacts', () => import('./screens/audience/contact-list'), 'ContactList'),
    screen('/contacts/$id', 'Contact', () => import('./screens/audience/contact-detail'), 'ContactDetail'),
    screen('/lists', 'Lists', () => import('./screens/audience/list-list'), 'ListList'),
    screen('/lists/$id', 'List', () => import('./screens/audience/list-detail'), 'ListDetail'),
    screen('/imports/$id', 'Import', () => import('./screens/audience/import-detail'), 'ImportDetail'),
    screen('/suppressions', 'Suppressions', () => import('./screens/audience/suppressions'), 'Suppressions'),
    screen('/senders', 'Senders', () => import('./screens/senders/sender-list'), 'SenderList'),
    screen('/senders/$id', 'Sender', () => import('./screens/senders/sender-detail'), 'SenderDetail'),
    screen('/settings', 'Settings', () => import('./screens/settings/settings'), 'SettingsScreen'),
    screen('/settings/keys', 'API keys', () => import('./screens/settings/api-keys'), 'ApiKeys'),
    screen('/settings/people', 'People', () => import('./screens/settings/people'), 'People'),
    screen('/settings/audit', 'Audit', () => import('./screens/settings/audit'), 'Audit'),
  ]),
])

/** So that ten tabs of it can be told apart, and a history read. */
export function createAppRouter(queryClient: QueryClient) {
  const router = createRoutes(queryClient)
  router.subscribe('onResolved', () => {
    const title = router.state.matches.at(-1)?.staticData.title
    document.title = title === undefined ? 'Postrider' : `${title} · Postrider`
  })
  return router
}

const createRoutes = (queryClient: QueryClient) =>
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
    router: ReturnType<typeof createRoutes>
  }
  interface StaticDataRouteOption {
    readonly title?: string
  }
}
