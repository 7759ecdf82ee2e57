// Paged lists of broken servers end with an error.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProtocolError } from '../errors.js'
import { resumingWatch } from '../watch/resuming-watch.js'
import { listPages } from './list-pages.js'
import type { ObjectList } from './objects.js'

/** Endless pages with continue tokens of `next`. */
const endless = (next: (page: number) => string, itemsOn: (page: number) => number) => {
  let page = 0
  const list = async (): Promise<ObjectList<object>> => {
    page++
    if (page > 1000) throw new Error('more than 1000 pages')
    return { metadata: { continue: next(page) }, items: Array.from({ length: itemsOn(page) }, () => ({})) }
  }
  return { list, requests: () => page }
}

const drain = async (pages: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of pages);
}

test('a repeated continue token and 101 empty pages are errors', async () => {
  const same = endless(
    () => 'again',
    () => 3,
  )
  await assert.rejects(drain(listPages(same.list, {})), (error) => error instanceof ProtocolError && /endless list/.test(error.message))
  assert.equal(same.requests(), 2)
  const emptyPages = endless(String, () => 0)
  await assert.rejects(
    drain(listPages(emptyPages.list, {})),
    (error) => error instanceof ProtocolError && /101 empty pages/.test(error.message),
  )
  // A watch lists first, with the same check.
  const watched = endless(
    () => 'again',
    () => 1,
  )
  const openWatch = (): never => assert.fail('the list must fail first')
  await assert.rejects(drain(resumingWatch({ list: watched.list, openWatch }, {})), ProtocolError)
})

test('empty pages between others are allowed', async () => {
  const sparse = endless(
    (page) => (page < 500 ? String(page) : ''),
    (page) => (page % 50 === 0 ? 1 : 0),
  )
  await drain(listPages(sparse.list, {}))
  assert.equal(sparse.requests(), 500)
})
