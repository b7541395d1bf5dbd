import { isDatabaseUnavailable } from '../../db/client.js'
import { readSubscription, resubscribe, type Subscription, unsubscribe } from '../../operations/unsubscribe.js'
import { type Endpoint, open } from '../endpoint.js'
import { laterPage, subscriptionPage, unknownLinkPage } from '../unsubscribe-page.js'

/**
 * The links in mails. Scanners follow every link of every mail, so asking changes nothing; only a POST does, by the
 * page's button or by the mail program's own (RFC 8058). There is no limit on how often: a scanner in front of many
 * mailboxes asks a lot from one address, and must not keep people from leaving.
 */
const common = {
  path: '/u/{token}',
  access: 'open',
  tag: 'Links',
  answers: 'A page.',
  answer: { contentType: 'text/html' },
} as const

export const unsubscribeEndpoints: readonly Endpoint[] = [
  open({
    ...common,
    method: 'get',
    summary: 'Show an unsubscribe link’s page',
    description: 'Changes nothing. A link that is not ours gets a page too, with the status 404.',
    run: ({ options, param }) => show(readSubscription(options.context, param('token'))),
  }),
  open({
    ...common,
    method: 'post',
    summary: 'Unsubscribe',
    description:
      'RFC 8058: with the body List-Unsubscribe=One-Click, as a form; the page’s button sends action=unsubscribe, and its undo action=resubscribe. Acts at once, without a login, and may be repeated.',
    async run({ options: { context }, param, form }) {
      const fields = await form()
      const token = param('token')
      if (fields.get('action') === 'resubscribe') return show(resubscribe(context, token))
      return show(unsubscribe(context, token, fields.get('list-unsubscribe') === 'One-Click' ? 'one_click' : 'link'))
    },
  }),
]

async function show(asked: Promise<Subscription | null>): Promise<Response> {
  try {
    const subscription = await asked
    return subscription ? subscriptionPage(subscription) : unknownLinkPage()
  } catch (error) {
    // Somebody is looking at this in a browser.
    if (isDatabaseUnavailable(error)) return laterPage()
    throw error
  }
}
