import { readOverview } from '../../operations/read-overview.js'
import { type Endpoint, keyed } from '../endpoint.js'
import { overviewSchema, toOverview } from '../overview-json.js'
import { emailCountEndpoints } from './email-counts.js'

/** What somebody looks at first, and what the screens behind it are made of. */
export const overviewEndpoints: readonly Endpoint[] = [
  keyed({
    method: 'get',
    path: '/api/admin/dashboard',
    scope: 'read',
    tag: 'Outbox',
    summary: 'How it stands',
    description:
      'Counts of deliveries, how late they are, senders, campaigns under way, and what somebody should look at.',
    answers: 'All of it as of one moment.',
    answer: overviewSchema,
    run: async ({ options, caller }) =>
      toOverview(await readOverview(options.context, caller.workspaceId, options.brokerDown?.() ?? null)),
  }),
  ...emailCountEndpoints,
]
