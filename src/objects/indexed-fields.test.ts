// The fields of an index are found without a look at labels, of which there may be thousands.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog, type Resource } from '../api/catalog.js'
import { identityOf } from '../api/identity.js'
import type { ApiObject } from '../api/object.js'
import { definitions } from '../resources/index.js'
import { encodeStored, StoredObject } from './stored-object.js'

const catalog = new Catalog({ identity: identityOf('cluster'), definitions, isServed: () => true })
const secrets = catalog.find('', 'v1', 'secrets') as Resource
const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`label-${i}`, 'x']))
const metadata = { name: 'a', namespace: 'n', uid: 'u', creationTimestamp: '2020-01-01T00:00:00Z' }
const labels = { ...many, f: '"f":{', zz: '","f":{"type":"other"}' }

for (const type of ['cluster.io/service-account-token', 'x","f":{"type":"y"}', '\\"f":{\\'])
  test(`they are the same, and the labels are not parsed: ${type}`, (t) => {
    const value = encodeStored(secrets, { metadata: { ...metadata, labels }, type } as ApiObject)
    const entry = { key: 'secrets/n/a', revision: 1, value }
    const { fields } = new StoredObject(entry).index(secrets)
    assert.equal(fields?.['type'], type)
    const parse = t.mock.method(JSON, 'parse')
    assert.deepEqual(new StoredObject(entry).fields(secrets), fields)
    assert.ok(parse.mock.calls.every(({ arguments: [text] }) => text.length < 1000))
  })
