// Paged lists: follows continue tokens until the last page.

import { ProtocolError } from '../errors.js'
import type { ListOptions } from '../requests/request-options.js'
import type { ObjectList } from './objects.js'

const defaultPageLimit = 500

export async function* listPages<T>(
  list: (options: ListOptions) => Promise<ObjectList<T>>,
  options: ListOptions,
): AsyncGenerator<ObjectList<T>, void, undefined> {
  const progress = new PageProgress()
  let page = await list({ limit: defaultPageLimit, ...options })
  yield page
  const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = options
  for (let next = page.metadata.continue ?? ''; next !== ''; next = page.metadata.continue ?? '') {
    progress.check(next, page.items.length)
    page = await list({ limit: defaultPageLimit, ...rest, continue: next })
    yield page
  }
}

const maxEmptyPages = 100

/** Throws if a broken server repeats a continue token or sends more than 100 empty pages in a row. */
export class PageProgress {
  private lastToken = ''
  private emptyPages = 0

  check(next: string, count: number): void {
    this.emptyPages = count === 0 ? this.emptyPages + 1 : 0
    if (next === this.lastToken) throw new ProtocolError('endless list: the server repeats the same continue token')
    if (this.emptyPages > maxEmptyPages)
      throw new ProtocolError(`endless list: the server returned ${this.emptyPages} empty pages in a row`)
    this.lastToken = next
  }
}
