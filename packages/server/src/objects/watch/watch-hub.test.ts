// The watch hub: selectors and watchers that throw, several versions of a kind, changed and removed kinds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { CompiledFieldSelector } from '@cluster-apiserver/api/api/selectors/field-selector.js'
import { box, boxes, definition, put, storeOfBoxes } from '../box-store.fixture.js'
import { everything, type Matcher } from '../list/selection.js'

const byColor = (text: string): CompiledFieldSelector => ({ text, isEverything: false }) as CompiledFieldSelector

test('a selector that throws ends its own watchers only', async () => {
  const store = await storeOfBoxes()
  const seen: string[] = []
  const watch = (name: string, matches: Matcher | undefined): void => {
    const stop = store.watch({
      resource: boxes,
      namespace: 'n',
      matches,
      deliver: ({ object }) => seen.push(`${name} ${object.key.split('/').at(-1)}`),
      fail: (thrown) => {
        stop()
        seen.push(`${name} ${thrown}`)
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

test('a watcher that throws does not affect others', async () => {
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

test('watchers with field selectors of different versions of a kind do not share events', async () => {
  const store = await storeOfBoxes()
  const seen: string[] = []
  for (const [name, resource, matches] of [
    ['old', boxes, () => false],
    ['new', { ...boxes }, () => true],
  ] as const)
    store.watch({
      resource,
      namespace: 'n',
      matches,
      selection: { ...everything, fields: byColor('color=red') },
      deliver: () => seen.push(name),
    })
  await put(store, box('a', { color: 'red' }))
  assert.deepEqual(seen, ['new'])
  store.close()
})

test('a watch ends when its kind is removed, not when it is changed', async () => {
  const store = await storeOfBoxes()
  const catalogs = new CatalogSource(new Catalog({ identity: identityOf('cluster'), definitions: [definition], isServed: () => true }))
  catalogs.onChange(store.endWatchesOfRemovedKinds)
  let ends = 0
  store.watch({ resource: boxes, namespace: 'n', matches: undefined, deliver: () => undefined, end: () => ends++ })
  catalogs.change({ put: [{ ...definition }] })
  assert.equal(ends, 0)
  catalogs.change({ remove: [definition] })
  assert.equal(ends, 1)
  store.close()
})

test('a watch ends when its version is removed; watches of other versions continue', async () => {
  const store = await storeOfBoxes()
  const [v1] = definition.versions
  const withBothVersions = { ...definition, versions: [...definition.versions, { ...v1, name: 'v2', stored: false }] } as typeof definition
  const catalogs = new CatalogSource(
    new Catalog({ identity: identityOf('cluster'), definitions: [withBothVersions], isServed: () => true }),
  )
  catalogs.onChange(store.endWatchesOfRemovedKinds)
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
