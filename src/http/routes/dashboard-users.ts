import { z } from '@hono/zod-openapi'
import { type DashboardUser, listDashboardUsers } from '../../db/dashboard-users.js'
import { DASHBOARD_ROLES } from '../../domain/dashboard-role.js'
import { PostriderError } from '../../errors.js'
import { showId } from '../../id.js'
import { inviteUser, type MadeLink, makeUserLink, setUpUrl } from '../../operations/dashboard-links.js'
import { disableUser } from '../../operations/dashboard-users.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { asList, listOf, pageOf, pageQuery, readPage } from '../pagination.js'
import { fields, text } from '../read-input.js'

const userShape = {
  object: z.literal('dashboard_user'),
  id: z.string(),
  name: z.string(),
  role: z.enum(DASHBOARD_ROLES),
  has_password: z.boolean().openapi({ description: 'False until they have used their link.' }),
  created_at: z.iso.datetime(),
  seen_at: z.iso.datetime().nullable().openapi({ description: 'In a session that is not over, if there is one.' }),
  disabled_at: z.iso.datetime().nullable(),
}
const userSchema = z.strictObject(userShape).openapi('DashboardUser')

const linkedSchema = z
  .strictObject({
    ...userShape,
    setup_url: z
      .string()
      .openapi({ description: 'For this person only: whoever opens it first chooses the password.' }),
    setup_token: z.string().openapi({ description: 'What follows the # in it.' }),
    setup_expires_at: z.iso.datetime(),
  })
  .openapi('LinkedDashboardUser')

const common = { tag: 'Dashboard', scope: 'admin' } as const

export const dashboardUserEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    method: 'get',
    path: '/api/admin/users',
    summary: 'List who may log in',
    description:
      'Also those who were disabled. Whoever logs in with POSTRIDER_ADMIN_PASSWORD is in the settings, and not here.',
    query: pageQuery({}),
    answers: 'A page of users.',
    answer: listOf(userSchema),
    async run({ options, caller, query }) {
      const page = readPage(query, 'usr')
      const users = await listDashboardUsers(options.context.db, caller.workspaceId)
      return asList(pageOf(users, page).map(toUser), page)
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/admin/users',
    summary: 'Let somebody log in',
    description: 'The answer has a link for them, which works once and for 24 hours.',
    body: fields({ name: text(1_000), role: z.enum(DASHBOARD_ROLES) }).openapi('NewDashboardUser'),
    example: { name: 'ada', role: 'viewer' },
    status: 201,
    answers: 'The user, and the link.',
    answer: linkedSchema,
    problems: ['user_invalid', 'user_conflict'],
    async run({ options: { context }, caller, body }) {
      return toLinked(await inviteUser(context.db, caller.workspaceId, body), context.publicUrl)
    },
  }),
  keyed({
    ...common,
    method: 'post',
    path: '/api/admin/users/{id}/link',
    summary: 'Make a link to choose a new password',
    description:
      'Works once and for 24 hours; an older one is void. The password they have works until they choose another. Who was disabled may log in again.',
    answers: 'The user, and the link.',
    answer: linkedSchema,
    problems: ['user_not_found'],
    async run(call) {
      const { db, publicUrl } = call.options.context
      return toLinked(await makeUserLink(db, call.caller.workspaceId, call.id('usr')), publicUrl)
    },
  }),
  keyed({
    ...common,
    method: 'delete',
    path: '/api/admin/users/{id}',
    summary: 'Disable a user',
    description: 'Their sessions are over at once, and their password is forgotten.',
    answers: 'The user, disabled.',
    answer: userSchema,
    problems: ['user_not_found', 'user_conflict'],
    async run(call) {
      const { caller, options } = call
      const id = call.id('usr')
      if (caller.session?.userId === id)
        throw new PostriderError(
          'user_conflict',
          'This is you. Somebody else has to do it, or "postrider admin disable".',
        )
      return toUser(await disableUser(options.context.db, caller.workspaceId, id))
    },
  }),
]

const toUser = (user: DashboardUser): z.input<typeof userSchema> => ({
  object: 'dashboard_user',
  id: showId('usr', user.id),
  name: user.name,
  role: user.role,
  has_password: user.hasPassword,
  created_at: user.createdAt.toISOString(),
  seen_at: user.seenAt?.toISOString() ?? null,
  disabled_at: user.disabledAt?.toISOString() ?? null,
})

const toLinked = ({ user, token, expiresAt }: MadeLink, publicUrl: string): z.input<typeof linkedSchema> => ({
  ...toUser(user),
  setup_url: setUpUrl(publicUrl, token),
  setup_token: token,
  setup_expires_at: expiresAt.toISOString(),
})
