import type { Endpoint } from './endpoint.js'
import { apiKeyEndpoints } from './routes/api-keys.js'
import { auditEndpoints } from './routes/audit.js'
import { campaignEmailEndpoints } from './routes/campaign-emails.js'
import { campaignFailureEndpoints } from './routes/campaign-failures.js'
import { campaignFunnelEndpoints } from './routes/campaign-funnel.js'
import { campaignEndpoints } from './routes/campaigns.js'
import { contactEndpoints } from './routes/contacts.js'
import { cronEndpoints } from './routes/cron.js'
import { dashboardLoginEndpoints } from './routes/dashboard-login.js'
import { dashboardUserEndpoints } from './routes/dashboard-users.js'
import { documentationEndpoints } from './routes/documentation.js'
import { emailPartEndpoints } from './routes/email-parts.js'
import { emailEndpoints } from './routes/emails.js'
import { enrollmentEndpoints } from './routes/enrollments.js'
import { eventEndpoints } from './routes/events.js'
import { figureEndpoints } from './routes/figures.js'
import { healthEndpoints } from './routes/health.js'
import { importEndpoints } from './routes/imports.js'
import { inboxEndpoints } from './routes/inbox.js'
import { listMemberEndpoints } from './routes/list-members.js'
import { listEndpoints } from './routes/lists.js'
import { outboxEndpoints } from './routes/outbox.js'
import { overviewEndpoints } from './routes/overview.js'
import { paceEndpoints } from './routes/pace.js'
import { sendEndpoints } from './routes/send.js'
import { senderEndpoints } from './routes/senders.js'
import { settingsEndpoints } from './routes/settings.js'
import { simulateEndpoints } from './routes/simulate.js'
import { sequenceEndpoints } from './routes/sequences.js'
import { streamEndpoints } from './routes/stream.js'
import { suppressionEndpoints } from './routes/suppressions.js'
import { templateEndpoints } from './routes/templates.js'
import { unsubscribeEndpoints } from './routes/unsubscribe.js'

/** Everything there is. Where two paths match one request, the first is taken. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...sendEndpoints,
  ...emailEndpoints,
  ...emailPartEndpoints,
  ...outboxEndpoints,
  ...overviewEndpoints,
  ...figureEndpoints,
  ...settingsEndpoints,
  ...senderEndpoints,
  ...paceEndpoints,
  ...suppressionEndpoints,
  ...contactEndpoints,
  ...listEndpoints,
  ...listMemberEndpoints,
  ...importEndpoints,
  ...templateEndpoints,
  ...sequenceEndpoints,
  ...campaignEndpoints,
  ...campaignFunnelEndpoints,
  ...simulateEndpoints,
  ...campaignEmailEndpoints,
  ...campaignFailureEndpoints,
  ...enrollmentEndpoints,
  ...inboxEndpoints,
  ...streamEndpoints,
  ...eventEndpoints,
  ...apiKeyEndpoints,
  ...dashboardLoginEndpoints,
  ...dashboardUserEndpoints,
  ...auditEndpoints,
  ...unsubscribeEndpoints,
  ...cronEndpoints,
  ...documentationEndpoints(() => ENDPOINTS),
  ...healthEndpoints,
]
