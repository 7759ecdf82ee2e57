// An entry of the format before becomes exactly the entry that would have been written now, and what is none is left alone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storedVersions } from '../api/bind-resource.js'
import { Catalog } from '../api/catalog.js'
import { identityNames, identityOf } from '../api/identity.js'
import type { ApiObject } from '../api/object.js'
import { definitions } from '../resources/index.js'
import { firstFormatVersions } from './first-format-versions.js'
import { box, boxes } from './fixture.js'
import { oldEntry } from './old-entry.fixture.js'
import { encodeStored } from './stored-object.js'
import { entryUpgrade } from './upgrade-entries.js'

const { upgradeKey, upgradeValue } = entryUpgrade(new Map([['boxes', 'v1']]))

const owners = (...uids: readonly string[]): NonNullable<ApiObject['metadata']> => ({
  ...box('a').metadata,
  ownerReferences: uids.map((uid) => ({ apiVersion: 'v1', kind: 'Box', name: 'o', uid })),
})

const rows: readonly { readonly name: string; readonly object: ApiObject }[] = [
  { name: 'plain', object: box('a') },
  { name: 'with labels and fields', object: box('a', { labels: { b: '2', a: '1' }, color: 'ü' }) },
  { name: 'with owners', object: { metadata: owners('one', 'two', 'one') } },
  { name: 'with a list of no owners', object: { metadata: owners() } },
  { name: 'that speaks of owners', object: { ...box('a', { color: '"ownerReferences":[' }) } },
]
for (const { name, object } of rows) {
  test(`an entry ${name}`, () => {
    const wanted = encodeStored(boxes, object)
    const upgraded = upgradeValue('boxes/n/a', oldEntry(boxes, object))
    assert.deepEqual(upgraded, wanted)
    assert.equal(upgradeValue('boxes/n/a', upgraded), upgraded)
  })
}

test('what is no object of a known kind stays as it is', () => {
  const value = oldEntry(boxes, box('a'))
  for (const key of ['servers/x', 'others.example.com/n/a', 'claims.ports/80']) assert.equal(upgradeValue(key, value), value)
  const short = Buffer.from('short')
  assert.equal(upgradeValue('boxes/n/a', short), short)
})

test('unique keys have another name, and nothing else does', () => {
  assert.equal(upgradeKey('claims.service-addresses/10.0.0.1'), 'unique.service-addresses/10.0.0.1')
  for (const key of ['unique.ports/80', 'claims.example.com/n/a', 'claims/n/a', 'boxes/claims.x/a']) assert.equal(upgradeKey(key), key)
})

test('every collection has its version, that in which its kinds are written', () => {
  for (const name of identityNames) {
    const identity = identityOf(name)
    const versions = storedVersions(identity, definitions)
    for (const resource of new Catalog({ identity, definitions, isServed: () => true }).all())
      assert.equal(versions.get(resource.collection), resource.storedApiVersion, resource.collection)
  }
})

/** Collections that came after that format, or are stored in another version since: whoever changes a storage version names it here. */
const changedSince: readonly string[] = []

test('what servers of that format wrote stays what it is when kinds are stored in other versions', () => {
  for (const name of identityNames) {
    const identity = identityOf(name)
    const present = storedVersions(identity, definitions)
    const written = firstFormatVersions(identity)
    const differing = [...present].filter(([collection, version]) => written.get(collection) !== version).map(([collection]) => collection)
    assert.deepEqual(differing, changedSince, 'the table of that format must not follow')
    assert.equal(written.get(`deployments.${identity.group('apps')}`), `${identity.group('apps')}/v1`)
    assert.equal(written.get('pods'), 'v1')
  }
})
