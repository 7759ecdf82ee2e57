// Watchers beside one whose selection cannot be tested, and watchers of a kind that has changed: each sees what is meant for it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog, type Resource } from '../api/catalog.js'
import { CatalogSource } from '../api/catalog-source.js'
import type { CompiledFieldSelector } from '../api/field-selector.js'
import { identityOf } from '../api/identity.js'
import { box, boxes, definition, put, storeOfBoxes } from './fixture.js'
import { everything, type Matcher } from './selection.js'

const byColor = (text: string): CompiledFieldSelector => ({ text, isEverything: false }) as CompiledFieldSelector

test('a selection that cannot be tested ends its own watchers, and nobody else misses anything', async () => {
  const store = await storeOfBoxes()
  const seen: string[] = []
  const watch = (word: string, matches: Matcher | undefined): void => {
    const stop = store.watch({
      resource: boxes,
      namespace: 'n',
      matches,
      deliver: ({ object }) => seen.push(`${word} ${object.key.split('/').at(-1)}`),
      fail: (thrown) => {
        stop()
        seen.push(`${word} ${thrown}`)
      },
    })
  }
  watch('faulty', () => {
    throw new Error('not converted')
  })
  watch('all', undefined)
  watch('some', () => true)
  await put(store, box('a'))
  await put(store, box('b'))
  assert.deepEqual(seen, ['faulty Error: not converted', 'all a', 'some a', 'all b', 'some b'])
  store.close()
})

test('a watcher that throws is alone in that', async () => {
  const store = await storeOfBoxes()
  const seen: string[] = []
  const broken = (): never => {
    throw new Error('broken')
  }
  store.watch({ resource: boxes, namespace: 'n', matches: undefined, deliver: broken, fail: (thrown) => seen.push(String(thrown)) })
  store.watch({ resource: boxes, namespace: 'n', matches: undefined, deliver: ({ object }) => seen.push(object.key.slice(-1)) })
  await put(store, box('a'))
  assert.deepEqual(seen, ['Error: broken', 'a'])
  store.close()
})

test('whoever selects by the fields of a kind that has changed does not get what the old fields select', async () => {
  const store = await storeOfBoxes()
  const seen: string[] = []
  for (const [word, resource, matches] of [
    ['old', boxes, () => false],
    ['new', { ...boxes }, () => true],
  ] as const)
    store.watch({
      resource,
      namespace: 'n',
      matches,
      selection: { ...everything, fields: byColor('color=red') },
      deliver: () => seen.push(word),
    })
  await put(store, box('a', { color: 'red' }))
  assert.deepEqual(seen, ['new'])
  store.close()
})

test('a watch ends with its kind, and not because the kind was changed', async () => {
  const store = await storeOfBoxes()
  const catalogs = new CatalogSource(new Catalog({ identity: identityOf('cluster'), definitions: [definition], isServed: () => true }))
  catalogs.onChange(store.endWatchesOfGone)
  let ends = 0
  store.watch({ resource: boxes, namespace: 'n', matches: undefined, deliver: () => undefined, end: () => ends++ })
  catalogs.change({ put: [{ ...definition }] })
  assert.equal(ends, 0)
  catalogs.change({ remove: [definition] })
  assert.equal(ends, 1)
  store.close()
})

test('a watch ends with its version, and those of other versions go on', async () => {
  const store = await storeOfBoxes()
  const [v1] = definition.versions
  const both = { ...definition, versions: [...definition.versions, { ...v1, name: 'v2', stored: false }] } as typeof definition
  const catalogs = new CatalogSource(new Catalog({ identity: identityOf('cluster'), definitions: [both], isServed: () => true }))
  catalogs.onChange(store.endWatchesOfGone)
  const ended: string[] = []
  const seen: string[] = []
  for (const version of ['v1', 'v2']) {
    const resource = catalogs.current.find('', version, 'boxes') as Resource
    const stop = store.watch({
      resource,
      namespace: 'n',
      matches: undefined,
      deliver: () => seen.push(version),
      end: () => {
        ended.push(version)
        stop()
      },
    })
  }
  catalogs.change({ put: [definition] })
  assert.deepEqual(ended, ['v2'])
  await put(store, box('a'))
  assert.deepEqual(seen, ['v1'])
  catalogs.change({ remove: [definition] })
  assert.deepEqual(ended, ['v2', 'v1'])
  store.close()
})
