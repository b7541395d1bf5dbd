import { PostriderError } from '../errors.js'

/** Brokers' clients are optional: whoever uses none installs none. */
export async function loadClient<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new PostriderError('setting_invalid', `BROKER_URL needs the package ${name}: run "npm install ${name}".`, {
      cause: error,
    })
  }
}
