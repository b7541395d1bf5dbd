import { api, ask } from '../../api/client'
import type { Shape } from '../../api/types'
import type { Decision } from './decisions'

/** Tells the server what was decided about one email. `at` is for another time. */
export function decideOne(id: string, decision: Decision, at: string | null): Promise<Shape<'EmailReference'>> {
  const params = { path: { id } }
  switch (decision) {
    case 'retry':
      return ask(api.POST('/api/emails/{id}/retry', { params }))
    case 'cancel':
      return ask(api.POST('/api/emails/{id}/cancel', { params }))
    case 'dismiss':
      return ask(api.DELETE('/api/admin/outbox/{id}', { params }))
    case 'reschedule':
      return ask(api.PATCH('/api/emails/{id}', { params, body: { scheduled_at: at ?? '' } }))
    case 'sent':
    case 'resend':
      return ask(api.POST('/api/emails/{id}/resolve', { params, body: { outcome: decision } }))
  }
}
