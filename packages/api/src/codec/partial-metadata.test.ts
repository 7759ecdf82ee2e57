// Tests of PartialObjectMetadata v1 as JSON: omitted annotations, and the 406 error for lists.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../api/identity.js'
import { listKindMismatch, partialMetadataJson, partialMetadataOptionsOf } from './partial-metadata.js'

const v1 = { identity: identityOf('cluster'), version: 'v1' } as const
const object = { metadata: { name: 'a', resourceVersion: '3' }, data: { k: 'v' } }

test('PartialObjectMetadata as JSON', () => {
  assert.equal(
    partialMetadataJson(v1, object),
    '{"kind":"PartialObjectMetadata","apiVersion":"meta.cluster.io/v1","metadata":{"name":"a","resourceVersion":"3","creationTimestamp":null}}',
  )
})

test('annotations that replace fields are omitted', () => {
  const options = partialMetadataOptionsOf({ definition: { fieldAnnotations: () => ['hidden'] } }, v1)
  const annotationsOf = (annotations: { readonly [name: string]: string }) =>
    JSON.parse(partialMetadataJson(options, { metadata: { name: 'a', annotations } })).metadata.annotations
  assert.deepEqual(annotationsOf({ hidden: 'x', other: 'y' }), { other: 'y' })
  assert.equal(annotationsOf({ hidden: 'x' }), undefined)
  assert.deepEqual(annotationsOf({ other: 'y' }), { other: 'y' })
})

test('PartialObjectMetadata of a list returns 406', () => {
  assert.equal(
    listKindMismatch('PartialObjectMetadata', 'ConfigMapList').message,
    'you requested PartialObjectMetadata, but the requested object is a list (ConfigMapList)',
  )
  assert.equal(listKindMismatch('PartialObjectMetadataList', 'ConfigMap').status.code, 406)
})
