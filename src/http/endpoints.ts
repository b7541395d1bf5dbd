import type { Endpoint } from './endpoint.js'
import { apiKeyEndpoints } from './routes/api-keys.js'
import { cronEndpoints } from './routes/cron.js'
import { documentationEndpoints } from './routes/documentation.js'
import { emailEndpoints } from './routes/emails.js'
import { eventEndpoints } from './routes/events.js'
import { healthEndpoints } from './routes/health.js'
import { inboxEndpoints } from './routes/inbox.js'
import { outboxEndpoints } from './routes/outbox.js'
import { sendEndpoints } from './routes/send.js'
import { senderEndpoints } from './routes/senders.js'
import { suppressionEndpoints } from './routes/suppressions.js'

/** Everything there is. Where two paths match one request, the first is taken. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...sendEndpoints,
  ...emailEndpoints,
  ...outboxEndpoints,
  ...senderEndpoints,
  ...suppressionEndpoints,
  ...inboxEndpoints,
  ...eventEndpoints,
  ...apiKeyEndpoints,
  ...cronEndpoints,
  ...documentationEndpoints(() => ENDPOINTS),
  ...healthEndpoints,
]
