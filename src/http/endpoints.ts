import type { Endpoint } from './endpoint.js'
import { apiKeyEndpoints } from './routes/api-keys.js'
import { campaignEndpoints } from './routes/campaigns.js'
import { contactEndpoints } from './routes/contacts.js'
import { cronEndpoints } from './routes/cron.js'
import { documentationEndpoints } from './routes/documentation.js'
import { emailEndpoints } from './routes/emails.js'
import { eventEndpoints } from './routes/events.js'
import { healthEndpoints } from './routes/health.js'
import { importEndpoints } from './routes/imports.js'
import { inboxEndpoints } from './routes/inbox.js'
import { listMemberEndpoints } from './routes/list-members.js'
import { listEndpoints } from './routes/lists.js'
import { outboxEndpoints } from './routes/outbox.js'
import { paceEndpoints } from './routes/pace.js'
import { sendEndpoints } from './routes/send.js'
import { senderEndpoints } from './routes/senders.js'
import { suppressionEndpoints } from './routes/suppressions.js'
import { templateEndpoints } from './routes/templates.js'
import { unsubscribeEndpoints } from './routes/unsubscribe.js'

/** Everything there is. Where two paths match one request, the first is taken. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...sendEndpoints,
  ...emailEndpoints,
  ...outboxEndpoints,
  ...senderEndpoints,
  ...paceEndpoints,
  ...suppressionEndpoints,
  ...contactEndpoints,
  ...listEndpoints,
  ...listMemberEndpoints,
  ...importEndpoints,
  ...templateEndpoints,
  ...campaignEndpoints,
  ...inboxEndpoints,
  ...eventEndpoints,
  ...apiKeyEndpoints,
  ...unsubscribeEndpoints,
  ...cronEndpoints,
  ...documentationEndpoints(() => ENDPOINTS),
  ...healthEndpoints,
]
