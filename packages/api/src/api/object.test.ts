// Tests of copying objects with changed metadata.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withMetadata } from './object.js'

test('withMetadata returns the same object if nothing changes', () => {
  const object = { metadata: { name: 'a', uid: 'u' } }
  assert.equal(withMetadata(object, { name: 'a', uid: 'u', namespace: undefined }), object)
  assert.equal(withMetadata(object, {}), object)
})

test('withMetadata copies, sets changed fields and removes undefined ones', () => {
  const object = Object.freeze({ data: 1, metadata: Object.freeze({ name: 'a', uid: 'u' }) })
  assert.deepEqual(withMetadata(object, { name: 'b' }), { data: 1, metadata: { name: 'b', uid: 'u' } })
  assert.deepEqual(Object.keys(withMetadata(object, { uid: undefined, namespace: 'n' }).metadata), ['name', 'namespace'])
  assert.deepEqual(withMetadata<{ metadata?: object }>({}, { name: undefined }), { metadata: {} })
})

test('withMetadata copies a member __proto__ like any other', () => {
  const object = JSON.parse('{"__proto__":{"spec":1},"metadata":{}}') as { metadata?: object }
  assert.equal(JSON.stringify(withMetadata(object, { name: 'b' })), '{"__proto__":{"spec":1},"metadata":{"name":"b"}}')
})
