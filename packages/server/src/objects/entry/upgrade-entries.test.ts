// The upgrade turns entries and keys of format 0 into exactly those that are written now, and leaves other keys and values alone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storedVersions } from '@cluster-apiserver/api/api/catalog/bind-resource.js'
import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import { box, boxes } from '../box-store.fixture.js'
import { oldEntry } from './format-0-entry.fixture.js'
import { format0Versions } from './format-0-versions.js'
import { encodeStored } from './stored-object.js'
import { entryUpgrade } from './upgrade-entries.js'

const { upgradeKey, upgradeValue } = entryUpgrade(new Map([['boxes', 'v1']]))

const metadataWithOwners = (...uids: readonly string[]): NonNullable<ApiObject['metadata']> => ({
  ...box('a').metadata,
  ownerReferences: uids.map((uid) => ({ apiVersion: 'v1', kind: 'Box', name: 'o', uid })),
})

const rows: readonly { readonly name: string; readonly object: ApiObject }[] = [
  { name: 'without labels and owners', object: box('a') },
  { name: 'with labels and fields', object: box('a', { labels: { b: '2', a: '1' }, color: 'ü' }) },
  { name: 'with owners', object: { metadata: metadataWithOwners('one', 'two', 'one') } },
  { name: 'with empty ownerReferences', object: { metadata: metadataWithOwners() } },
  { name: 'whose text contains ownerReferences', object: { ...box('a', { color: '"ownerReferences":[' }) } },
]
for (const { name, object } of rows) {
  test(`an entry ${name} is upgraded`, () => {
    const expected = encodeStored(boxes, object)
    const upgraded = upgradeValue('boxes/n/a', oldEntry(boxes, object))
    assert.deepEqual(upgraded, expected)
    assert.equal(upgradeValue('boxes/n/a', upgraded), upgraded)
  })
}

test('values that are not objects of a known kind are unchanged', () => {
  const value = oldEntry(boxes, box('a'))
  for (const key of ['servers/x', 'others.example.com/n/a', 'claims.ports/80']) assert.equal(upgradeValue(key, value), value)
  const short = Buffer.from('short')
  assert.equal(upgradeValue('boxes/n/a', short), short)
})

test('only keys claims.<name>/… are renamed, to unique.<name>/…', () => {
  assert.equal(upgradeKey('claims.service-addresses/10.0.0.1'), 'unique.service-addresses/10.0.0.1')
  for (const key of ['unique.ports/80', 'claims.example.com/n/a', 'claims/n/a', 'boxes/claims.x/a']) assert.equal(upgradeKey(key), key)
})

test('storedVersions has the storage version of every collection', () => {
  for (const name of identityNames) {
    const identity = identityOf(name)
    const versions = storedVersions(identity, definitions)
    for (const resource of new Catalog({ identity, definitions, isServed: () => true }).all())
      assert.equal(versions.get(resource.collection), resource.storedApiVersion, resource.collection)
  }
})

/** Collections newer than format 0, or with another storage version since. Add a collection here when its storage version changes. */
const changedSince: readonly string[] = []

test('the API versions of format 0 do not follow changes of storage versions', () => {
  for (const name of identityNames) {
    const identity = identityOf(name)
    const present = storedVersions(identity, definitions)
    const written = format0Versions(identity)
    const differing = [...present].filter(([collection, version]) => written.get(collection) !== version).map(([collection]) => collection)
    assert.deepEqual(differing, changedSince, 'the table of format 0 must not change')
    assert.equal(written.get(`deployments.${identity.group('apps')}`), `${identity.group('apps')}/v1`)
    assert.equal(written.get('pods'), 'v1')
  }
})
