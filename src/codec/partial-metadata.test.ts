// Metadata alone; its other versions and formats are tested with the forms on the wire.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../api/identity.js'
import { metadataFormOf, notThatMany, partialMetadataJson } from './partial-metadata.js'

const v1 = { identity: identityOf('cluster'), version: 'v1' } as const
const object = { metadata: { name: 'a', resourceVersion: '3' }, data: { k: 'v' } }

test('one object as JSON', () => {
  assert.equal(
    partialMetadataJson(v1, object),
    '{"kind":"PartialObjectMetadata","apiVersion":"meta.cluster.io/v1","metadata":{"name":"a","resourceVersion":"3","creationTimestamp":null}}',
  )
})

test('annotations that stand for fields are not shown', () => {
  const form = metadataFormOf({ definition: { fieldAnnotations: () => ['hidden'] } }, v1)
  const shown = (annotations: { readonly [name: string]: string }) =>
    JSON.parse(partialMetadataJson(form, { metadata: { name: 'a', annotations } })).metadata.annotations
  assert.deepEqual(shown({ hidden: 'x', other: 'y' }), { other: 'y' })
  assert.equal(shown({ hidden: 'x' }), undefined)
  assert.deepEqual(shown({ other: 'y' }), { other: 'y' })
})

test('one for many is refused', () => {
  assert.equal(
    notThatMany('PartialObjectMetadata', 'ConfigMapList').message,
    'you requested PartialObjectMetadata, but the requested object is a list (ConfigMapList)',
  )
  assert.equal(notThatMany('PartialObjectMetadataList', 'ConfigMap').status.code, 406)
})
