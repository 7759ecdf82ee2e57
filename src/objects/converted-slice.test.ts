// A slice of a list whose objects somebody else converts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ItemForm } from '../codec/item-form.js'
import { convertedSlice } from './list-source.js'
import type { StoredObject } from './stored-object.js'

test('an item that was at hand is sent, though it is forgotten while others are converted', async () => {
  const separator = Buffer.from(',')
  let isForgotten = false
  const forgotten = {
    key: 'a',
    keptItem: () => (isForgotten ? undefined : Buffer.from('{"kept":true}')),
    item: () => {
      throw new Error('a was not converted before it was asked for')
    },
  }
  const made: string[] = []
  const heavy = { key: 'b', keptItem: () => undefined, item: () => Buffer.from(made.join()) }
  const ahead = async (): Promise<void> => {
    await Promise.resolve()
    isForgotten = true
    made.push('{"made":true}')
  }
  const objects = [forgotten, heavy] as unknown as readonly StoredObject[]
  const form = { separator, resource: {} } as unknown as ItemForm
  const reads = { large: { ahead } } as unknown as Parameters<typeof convertedSlice>[0]
  const { bytes, count, lastKey } = await convertedSlice(reads, objects, form)
  assert.deepEqual([String(bytes), count, lastKey], [',{"kept":true},{"made":true}', 2, 'b'])
})
