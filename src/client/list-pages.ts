// Lists in pages: each page names where the next one begins, and all show the same moment.

import { ProtocolError } from './errors.js'
import type { ObjectList } from './objects.js'
import type { ListOptions } from './query.js'

const usualLimit = 500

export async function* listPages<T>(
  list: (options: ListOptions) => Promise<ObjectList<T>>,
  options: ListOptions,
): AsyncGenerator<ObjectList<T>, void, undefined> {
  const progress = new PageProgress()
  let page = await list({ limit: usualLimit, ...options })
  yield page
  // What says how to begin is for the first page alone.
  const { resourceVersion: _version, resourceVersionMatch: _match, ...rest } = options
  for (let next = page.metadata.continue ?? ''; next !== ''; next = page.metadata.continue ?? '') {
    progress.check(next, page.items.length)
    page = await list({ limit: usualLimit, ...rest, continue: next })
    yield page
  }
}

/** A page may have no items where none of those that the server looked at are meant. */
const mostEmpty = 100

/** Who follows pages comes to an end, also with a server that does not: it names the same page again, or one without anything after another. */
export class PageProgress {
  private last = ''
  private empty = 0

  /** `next`: where the page that has so many items says that the next one begins. */
  check(next: string, count: number): void {
    this.empty = count === 0 ? this.empty + 1 : 0
    if (next === this.last) throw new ProtocolError('the list has no end: the server names the same page as the next one again')
    if (this.empty > mostEmpty) throw new ProtocolError(`the list has no end: the server gave ${this.empty} pages in a row without items`)
    this.last = next
  }
}
