// What is kept of a namespace follows its objects, and of many only those are decoded anew that have changed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LimitRange } from '../resources/core/v1.schema.js'
import { keptByNamespace } from './kept-by-namespace.js'
import { stageOf } from './stage.fixture.js'

for (const [size, pad] of [
  ['small', ''],
  ['large', 'x'.repeat(100_000)],
] as const)
  test(`of many ${size} objects only that which has changed is decoded anew`, async () => {
    const stage = await stageOf()
    const resource = stage.find('limitranges')
    const put = (name: string, word = ''): Promise<void> =>
      stage.put(resource, { metadata: { name, namespace: 'n', annotations: { pad } }, spec: { limits: [{ type: word }] } })
    for (const name of ['a', 'c']) await put(name)
    const keptIn = keptByNamespace<LimitRange>(stage.store, resource)
    const shown = (): string[] => keptIn('n').map(({ object }) => `${object.metadata?.name}${object.spec?.limits?.[0]?.type}`)
    const [before] = keptIn('n')
    assert.deepEqual(shown(), ['a', 'c'])
    await put('c', '2')
    assert.deepEqual(shown(), ['a', 'c2'])
    assert.equal(keptIn('n')[0]?.object, before?.object)
    await put('b')
    assert.deepEqual(shown(), ['a', 'b', 'c2'])
    const stored = stage.store.read({ resource, namespace: 'n', name: 'c' })
    assert.ok(stored !== undefined)
    await stage.store.remove(stored)
    assert.deepEqual(shown(), ['a', 'b'])
    stage.store.close()
  })
