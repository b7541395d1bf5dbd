import { findAttachment } from '../../db/deliveries.js'
import { PostriderError } from '../../errors.js'
import { composeEmail } from '../../operations/compose-email.js'
import { download } from '../download.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { RequestError } from '../problem.js'

/** What an email is made of, to be kept: its bytes, and the files that came with it. */
const common = { method: 'get', tag: 'Emails', scope: 'read', problems: ['email_not_found'] } as const

export const emailPartEndpoints: readonly Endpoint[] = [
  keyed({
    ...common,
    path: '/api/emails/{id}/raw',
    summary: 'One email as it goes over the wire',
    description: 'Without a signature, which is added on the way. One of a campaign is rendered as it would be now.',
    answers: 'The message.',
    answer: { contentType: 'message/rfc822' },
    async run({ options, caller, id, param }) {
      const raw = await composeEmail(options.context, caller.workspaceId, id('em'))
      if (!raw) throw new PostriderError('email_not_found', 'There is no such email.')
      return download(raw, 'message/rfc822', `${param('id')}.eml`)
    },
  }),
  keyed({
    ...common,
    path: '/api/emails/{id}/attachments/{n}',
    summary: 'One attachment of an email',
    description: 'Counted from 0, in the order of the email’s attachments.',
    answers: 'Its content.',
    answer: { contentType: 'application/octet-stream' },
    problems: ['email_not_found', 'not_found'],
    async run({ options, caller, id, param }) {
      const n = param('n')
      const file = /^\d{1,4}$/.test(n)
        ? await findAttachment(options.context.db, caller.workspaceId, id('em'), Number(n))
        : null
      if (!file) throw new RequestError('not_found', 'There is no such attachment.')
      return download(file.content, file.contentType, file.filename)
    },
  }),
]
