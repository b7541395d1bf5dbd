import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, ask } from '../../api/client'
import { ProblemError } from '../../api/problem'
import { useDebounced } from '../../ui/use-debounced'
import { type FillingRequest, type Mark, markOf, marksOfMissing, type Part } from './filling'
import { type Content, type Preview, toBody } from './template-queries'

export interface PreviewState {
  readonly preview: Preview | undefined
  /** What is shown is not yet of what is written. */
  readonly late: boolean
  /** What is wrong beyond the parts, or null. */
  readonly error: unknown
  /** What is wrong with each part, and where. */
  readonly marks: Readonly<Record<Part, readonly Mark[]>>
}

const NOTHING: PreviewState['marks'] = { subject: [], html: [], text: [] }

/** What is being written, rendered by the server as it would be sent, a moment after the last key. */
export function usePreview(content: Content | null, filling: FillingRequest | null): PreviewState {
  const wanted = useMemo(() => (content && filling ? { content, filling } : null), [content, filling])
  const asked = useDebounced(wanted)
  const query = useQuery({
    queryKey: ['templates', 'preview', asked],
    enabled: asked !== null,
    retry: false,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: () =>
      ask(
        api.POST('/api/templates/preview', {
          body: { ...toBody(asked!.content), ...asked!.filling, data: { ...asked!.filling.data } },
        }),
      ),
  })
  const late = query.isFetching || asked !== wanted
  const { error } = query
  if (error instanceof ProblemError && error.problem.errors) {
    const of = (part: Part) =>
      error.problem.errors!.filter(({ pointer }) => pointer === `/${part}`).map(({ detail }) => markOf(detail))
    const marks = { subject: of('subject'), html: of('html'), text: of('text') }
    const isOfParts = marks.subject.length + marks.html.length + marks.text.length > 0
    return { preview: undefined, late, error: isOfParts ? null : error, marks }
  }
  const missing = query.data?.missing ?? []
  const marks = content
    ? {
        subject: marksOfMissing(content.subject, missing),
        html: marksOfMissing(content.html, missing),
        text: marksOfMissing(content.text, missing),
      }
    : NOTHING
  return { preview: query.data, late, error, marks }
}
