import type { Problem } from '../errors.js'

type Path = Problem['path']

/** RFC 6901. */
export const toPointer = (path: Path): string =>
  path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/**
 * Operations speak of `attachments 0 contentType`, clients sent `attachments 0 content_type`. What stands below
 * `headers` and `variables` was named by the client and stays as it is.
 */
export function toJsonPath(path: Path): Path {
  const free = path.findIndex((segment) => segment === 'headers' || segment === 'variables')
  return path.map((segment, index) =>
    typeof segment === 'number' || (free !== -1 && index > free) ? segment : toSnakeCase(segment),
  )
}

const toSnakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
