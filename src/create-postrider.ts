import { createPostrider as compose } from './compose.js'
import { checkOptions } from './library-input.js'
import type { Postrider, PostriderOptions } from './postrider.js'

/** The library's front door. The command line has checked its settings when it gets to `compose`. */
export async function createPostrider(options: PostriderOptions = {}): Promise<Postrider> {
  checkOptions(options)
  return compose(options)
}
