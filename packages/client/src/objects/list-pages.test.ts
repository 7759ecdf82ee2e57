// Pages come to an end, whatever the server says.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProtocolError } from './errors.js'
import { follow } from './follow.js'
import { listPages } from './list-pages.js'
import type { ObjectList } from './objects.js'

/** Pages without end, as `next` names them. */
const endless = (next: (page: number) => string, itemsOn: (page: number) => number) => {
  let page = 0
  const list = async (): Promise<ObjectList<object>> => {
    page++
    if (page > 1000) throw new Error('it goes on for ever')
    return { metadata: { continue: next(page) }, items: Array.from({ length: itemsOn(page) }, () => ({})) }
  }
  return { list, asked: () => page }
}

const drain = async (pages: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of pages);
}

test('the same page again, or nothing but empty ones, is an error', async () => {
  const same = endless(
    () => 'again',
    () => 3,
  )
  await assert.rejects(drain(listPages(same.list, {})), (error) => error instanceof ProtocolError && /has no end/.test(error.message))
  assert.equal(same.asked(), 2)
  const empty = endless(String, () => 0)
  await assert.rejects(drain(listPages(empty.list, {})), (error) => error instanceof ProtocolError && /101 pages/.test(error.message))
  // What is watched is listed as well.
  const watched = endless(
    () => 'again',
    () => 1,
  )
  const openWatch = (): never => assert.fail('there is no list to watch from')
  await assert.rejects(drain(follow({ list: watched.list, openWatch }, {})), ProtocolError)
})

test('pages without items between others are none', async () => {
  const sparse = endless(
    (page) => (page < 500 ? String(page) : ''),
    (page) => (page % 50 === 0 ? 1 : 0),
  )
  await drain(listPages(sparse.list, {}))
  assert.equal(sparse.asked(), 500)
})
