// Metadata alone, in both versions and both formats.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../api/identity.js'
import { partialObjectMetadataList } from '../api/meta.schema.js'
import {
  notThatMany,
  partialMetadataJson,
  partialMetadataListJson,
  partialMetadataListProtobuf,
  partialMetadataProtobuf,
  partialObjectMetadataListV1beta1,
} from './partial-metadata.js'
import { decodeProtobuf, readEnvelope } from './protobuf.js'

const v1 = { identity: identityOf('cluster'), version: 'v1' } as const
const v1beta1 = { identity: identityOf('kubernetes'), version: 'v1beta1' } as const
const object = { metadata: { name: 'a', resourceVersion: '3' }, data: { k: 'v' } }
const list = { metadata: { resourceVersion: '9', continue: 'c' }, objects: [object] }

test('one object as JSON', () => {
  assert.equal(
    partialMetadataJson(v1, object),
    '{"kind":"PartialObjectMetadata","apiVersion":"meta.cluster.io/v1","metadata":{"name":"a","resourceVersion":"3","creationTimestamp":null}}',
  )
})

test('a list as JSON: every item says what it is', () => {
  assert.deepEqual(JSON.parse(partialMetadataListJson(v1beta1, list)), {
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1beta1',
    metadata: { resourceVersion: '9', continue: 'c' },
    items: [
      {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1beta1',
        metadata: { name: 'a', resourceVersion: '3', creationTimestamp: null },
      },
    ],
  })
})

test('one object as Protobuf', () => {
  const { apiVersion, kind } = readEnvelope(partialMetadataProtobuf(v1, object))
  assert.deepEqual({ apiVersion, kind }, { apiVersion: 'meta.cluster.io/v1', kind: 'PartialObjectMetadata' })
})

for (const { form, schema } of [
  { form: v1, schema: partialObjectMetadataList },
  { form: v1beta1, schema: partialObjectMetadataListV1beta1 },
]) {
  test(`a list as Protobuf in ${form.version}`, () => {
    const { kind, raw } = readEnvelope(Buffer.concat(partialMetadataListProtobuf(form, list)))
    assert.equal(kind, 'PartialObjectMetadataList')
    assert.deepEqual(decodeProtobuf(schema, raw), { metadata: list.metadata, items: [{ metadata: object.metadata }] })
  })
}

test('the two versions differ in the order of the fields', () => {
  const newer = readEnvelope(Buffer.concat(partialMetadataListProtobuf(v1, list))).raw
  assert.notDeepEqual(decodeProtobuf(partialObjectMetadataListV1beta1, newer), { metadata: list.metadata })
})

test('one for many is refused', () => {
  assert.equal(
    notThatMany('PartialObjectMetadata', 'ConfigMapList').message,
    'you requested PartialObjectMetadata, but the requested object is a list (ConfigMapList)',
  )
  assert.equal(notThatMany('PartialObjectMetadataList', 'ConfigMap').status.code, 406)
})
