// Lists in pages: each page names where the next one begins, and all show the same moment.

import type { ObjectList } from './objects.js'
import type { ListOptions } from './query.js'

const usualLimit = 500

export async function* listPages<T>(
  list: (options: ListOptions) => Promise<ObjectList<T>>,
  options: ListOptions,
): AsyncGenerator<ObjectList<T>, void, undefined> {
  let page = await list({ limit: usualLimit, ...options })
  yield page
  // What says how to begin is for the first page alone.
  const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = options
  for (let next = page.metadata.continue ?? ''; next !== ''; next = page.metadata.continue ?? '') {
    page = await list({ limit: usualLimit, ...rest, continue: next })
    yield page
  }
}
