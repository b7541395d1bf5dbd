import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask } from '../../api/client'
import { useMayAct } from '../../shell/session'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Code } from '../../ui/code'
import { Confirm, Dialog } from '../../ui/dialog'
import { Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { Loading } from '../../ui/spinner'
import { Time } from '../../ui/time'
import { say } from '../../ui/toasts'
import type { FillingRequest } from './filling'
import { PreviewView } from './preview-view'
import { type Template, type TemplateVersion, versionPages } from './template-queries'

/** What a template was before, to be looked at and brought back. */
export function VersionsPanel({
  template,
  filling,
  onRestored,
}: {
  readonly template: Template
  readonly filling: FillingRequest | null
  readonly onRestored: (template: Template) => void
}) {
  const mayAct = useMayAct()
  const client = useQueryClient()
  const query = useInfiniteQuery(versionPages(template.id))
  const [looked, setLooked] = useState<TemplateVersion | null>(null)
  const [restored, setRestored] = useState<TemplateVersion | null>(null)
  const versions = query.data?.pages.flatMap(({ data }) => data) ?? []
  const restore = async ({ subject, html, text, version }: TemplateVersion) => {
    const params = { path: { id: template.id } }
    const made = await ask(api.PATCH('/api/templates/{id}', { params, body: { subject, html, text } }))
    await client.invalidateQueries({ queryKey: ['templates'] })
    onRestored(made)
    say(
      made.version === template.version
        ? `It is as version ${version} was`
        : `Version ${version} is back, as version ${made.version}`,
    )
  }
  return (
    <Panel title="Versions" flush>
      {query.isPending && <Loading />}
      <ul className="divide-y text-sm">
        {versions.map((version) => (
          <li key={version.version} className="flex flex-wrap items-center justify-between gap-2 px-4 py-2">
            <span className="flex min-w-0 items-center gap-2">
              <span className="font-medium tabular-nums">Version {version.version}</span>
              {version.version === template.version && <Badge mood="good">newest</Badge>}
              <span className="text-soft">
                <Time at={version.created_at} />
              </span>
            </span>
            <span className="flex gap-1">
              <Button small onClick={() => setLooked(version)} aria-label={`Look at version ${version.version}`}>
                Look
              </Button>
              {mayAct && version.version !== template.version && (
                <Button small onClick={() => setRestored(version)} aria-label={`Bring back version ${version.version}`}>
                  Bring back
                </Button>
              )}
            </span>
          </li>
        ))}
      </ul>
      {query.hasNextPage && (
        <div className="border-t p-2">
          <Button small tone="quiet" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Show older ones
          </Button>
        </div>
      )}
      {looked && <LookAt version={looked} filling={filling} onClose={() => setLooked(null)} />}
      <Confirm
        open={restored !== null}
        onClose={() => setRestored(null)}
        title={`Bring back version ${restored?.version}?`}
        lead={`Its subject, html and text become version ${template.version + 1}. Version ${template.version} stays; campaigns that are under way keep theirs.`}
        action={`Bring back version ${restored?.version}`}
        run={() => restore(restored!)}
      />
    </Panel>
  )
}

function LookAt({
  version,
  filling,
  onClose,
}: {
  readonly version: TemplateVersion
  readonly filling: FillingRequest | null
  readonly onClose: () => void
}) {
  const { template_id: id, version: number, subject, html, text } = version
  const query = useQuery({
    queryKey: ['templates', id, 'version-preview', number, filling],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () =>
      ask(
        api.POST('/api/templates/{id}/preview', {
          params: { path: { id } },
          body: { version: number, ...(filling && { ...filling, data: { ...filling.data } }) },
        }),
      ),
  })
  const source = [`Subject: ${subject}`, html, text].filter((part) => part !== null).join('\n\n')
  return (
    <Dialog open wide onClose={onClose} title={`Version ${number}`} lead={<Time at={version.created_at} />}>
      <QueryView query={query} what="Rendering">
        {(preview) => (
          <PreviewView state={{ preview, late: false, error: null, marks: { subject: [], html: [], text: [] } }} />
        )}
      </QueryView>
      <details>
        <summary className="text-sm text-soft">As it was written</summary>
        <div className="mt-2">
          <Code text={source} />
        </div>
      </details>
    </Dialog>
  )
}
