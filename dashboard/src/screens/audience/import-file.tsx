import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { apiUrl } from '../../api/client'
import { type Problem, ProblemError } from '../../api/problem'
import type { Shape } from '../../api/types'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { TextField, textOf } from '../../ui/field'
import { ProblemNote } from '../../ui/problem-note'
import { Progress } from '../../ui/progress'
import { RecentImports } from './recent-imports'

type Import = Shape<'Import'>

/** Sends a CSV file as it is; rows are counted as they are read, and the page of the import shows the rest. */
export function ImportFile({ listId, onClose }: { readonly listId: string; readonly onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [sent, setSent] = useState<{ readonly done: number; readonly total: number } | null>(null)
  const [error, setError] = useState<unknown>(null)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const file = form.get('file')
    if (!(file instanceof File)) return
    setError(null)
    setSent({ done: 0, total: file.size })
    try {
      const one = await upload(listId, file, textOf(form, 'map').trim(), (done) => {
        setSent({ done, total: file.size })
        void client.invalidateQueries({ queryKey: ['imports'] })
      })
      await Promise.all(
        ['imports', 'lists', 'contacts'].map((topic) => client.invalidateQueries({ queryKey: [topic] })),
      )
      await navigate({ to: '/imports/$id', params: { id: one.id } })
    } catch (failure) {
      setError(failure)
      setSent(null)
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Import a CSV file"
      lead="The first line names the columns. Rows are merged by address, and nobody who opted out is revived."
    >
      <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
        <TextField
          label="File"
          name="file"
          type="file"
          accept=".csv,.tsv,.txt,text/csv"
          className="py-1.5"
          required
          disabled={sent !== null}
        />
        <TextField
          label="What columns are"
          name="map"
          placeholder="E-Mail=email,Firma=company,Notes=-"
          hint="Only where the headings do not say it: email, name, timezone, anything else is an attribute, - leaves it out."
          disabled={sent !== null}
        />
        {error !== null && <ProblemNote error={error} />}
        {sent && (
          <div role="status" className="flex flex-col gap-2 text-sm text-soft">
            <Progress
              label="Sent"
              total={sent.total}
              parts={[{ label: 'sent', value: sent.done, className: 'bg-accent' }]}
            />
            {sent.done < sent.total ? 'Sending the file…' : 'Sent. Its last rows are being read…'}
            <RecentImports listId={listId} />
          </div>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{sent ? 'Close, and let it go on' : 'Leave it'}</Button>
          <Button type="submit" tone="primary" busy={sent !== null}>
            Import
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** `fetch` does not say how much it has sent. */
function upload(listId: string, file: File, map: string, onProgress: (done: number) => void): Promise<Import> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const query = map ? `?map=${encodeURIComponent(map)}` : ''
    request.open('POST', apiUrl(`/api/lists/${encodeURIComponent(listId)}/import${query}`))
    request.setRequestHeader('Content-Type', 'text/csv')
    request.setRequestHeader('X-Postrider-Dashboard', '1')
    request.responseType = 'json'
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded))
    request.addEventListener('load', () =>
      request.status < 300 ? resolve(request.response as Import) : reject(new ProblemError(problemFrom(request))),
    )
    request.addEventListener('error', () => reject(new ProblemError(UNREACHABLE)))
    request.send(file)
  })
}

const UNREACHABLE: Problem = {
  status: 0,
  code: 'unreachable',
  title: 'The connection broke',
  detail: 'What was read until then is kept. Import the file again: rows that are there already are merged.',
}
const problemFrom = (request: XMLHttpRequest): Problem =>
  (request.response as Problem | null) ?? { ...UNREACHABLE, status: request.status }
