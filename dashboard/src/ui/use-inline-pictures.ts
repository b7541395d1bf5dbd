import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { readProblem } from '../api/client'

export interface InlinePicture {
  readonly contentId: string
  readonly url: string
}

const NONE: ReadonlyMap<string, string> = new Map()

/** Pictures that came with an email, by content id, as the only kind of address its frame may load from: `data:`. */
export function useInlinePictures(pictures: readonly InlinePicture[]): ReadonlyMap<string, string> {
  const found = useQueries({
    queries: pictures.map(({ url }) => ({
      queryKey: ['inline picture', url],
      queryFn: () => readAsData(url),
      staleTime: Number.POSITIVE_INFINITY,
    })),
    combine: (results) => results.map(({ data }) => data ?? ''),
  })
  const key = found.map((data) => data.length).join(' ')
  return useMemo(
    () =>
      pictures.length === 0
        ? NONE
        : new Map(pictures.flatMap(({ contentId }, i) => (found[i] ? [[contentId, found[i]] as const] : []))),
    [key, pictures.map(({ url }) => url).join(' ')],
  )
}

async function readAsData(url: string): Promise<string> {
  const response = await fetch(url, { credentials: 'same-origin' })
  if (!response.ok) throw await readProblem(response)
  const blob = await response.blob()
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(reader.result as string))
    reader.addEventListener('error', () => reject(reader.error ?? new Error('The picture could not be read.')))
    reader.readAsDataURL(blob)
  })
}
