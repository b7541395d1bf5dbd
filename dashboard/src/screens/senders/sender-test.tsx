import { useQuery } from '@tanstack/react-query'
import { api, ask } from '../../api/client'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { Facts } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import type { Sender } from './sender-queries'

/** Connects and logs in as the sender would, and shows how far it came. */
export function SenderTest({
  sender: { id, address },
  onClose,
}: {
  readonly sender: Sender
  readonly onClose: () => void
}) {
  const test = useQuery({
    queryKey: ['sender-test', id],
    queryFn: () => ask(api.POST('/api/senders/{id}/test', { params: { path: { id } } })),
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  })
  return (
    <Dialog open onClose={onClose} title={`Test of ${address}`} lead="Connects and logs in. Nothing is sent.">
      <QueryView query={test} what="Connecting">
        {({ ok, evidence }) => (
          <div className="flex flex-col gap-3">
            <p>
              <Badge mood={ok ? 'good' : 'bad'}>{ok ? 'It works' : 'It does not work'}</Badge>
            </p>
            {evidence && (
              <Facts
                facts={[
                  ['Came to', evidence.phase],
                  ['Server', evidence.remote_host ?? '—'],
                  ['Code', [evidence.code, evidence.enhanced_code].filter(Boolean).join(' ') || '—'],
                  ['Reply', evidence.reply || '—'],
                  ['Took', `${Math.round(evidence.duration_ms)} ms`],
                ]}
              />
            )}
          </div>
        )}
      </QueryView>
      <div className="flex justify-end gap-2">
        <Button busy={test.isFetching} onClick={() => void test.refetch()}>
          Again
        </Button>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}
