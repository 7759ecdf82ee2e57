// How tests name objects: text and values, and what is wrong with a ref.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { defineResource, type ResourceDefinition } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { objectMeta } from '@cluster-apiserver/api/api/meta.schema.js'
import * as s from '@cluster-apiserver/api/schema/node.js'
import { type ObjectRef, resolveRef } from './object-ref.js'

const define = (group: string, kind: string, namespaced = true): ResourceDefinition => {
  const schema = s.struct(kind, { metadata: s.field(1, objectMeta) }, { typeMeta: true })
  const versions = [
    { name: 'v1', schema, stored: true },
    { name: 'v1beta1', schema },
  ]
  return defineResource({ group, kind, resource: `${kind.toLowerCase()}s`, namespaced, versions, nameProblems: () => [] })
}

const definitions = [
  define('', 'Box'),
  define('', 'Room', false),
  define('shop.example.com', 'Ware'),
  define('shop.example.com', 'Box'),
  define('a.example.com', 'Cup'),
  define('b.example.com', 'Cup'),
]
const catalog = new Catalog({ identity: identityOf('cluster'), definitions, isServed: () => true })

test('an object is named by text, or by a value with apiVersion, kind and metadata', () => {
  const cases: readonly (readonly [ObjectRef, string, string])[] = [
    ['boxs/shop/red', 'boxs/shop/red', 'v1'],
    ['boxs.shop.example.com/shop/red', 'boxs.shop.example.com/shop/red', 'shop.example.com/v1'],
    ['rooms/kitchen', 'rooms/kitchen', 'v1'],
    // One group has it, so that the group may be omitted.
    ['wares/shop/apple', 'wares.shop.example.com/shop/apple', 'shop.example.com/v1'],
    [{ apiVersion: 'v1', kind: 'Room', metadata: { name: 'kitchen' } }, 'rooms/kitchen', 'v1'],
    [
      { apiVersion: 'shop.example.com/v1beta1', kind: 'Ware', metadata: { namespace: 'shop', name: 'apple' } },
      'wares.shop.example.com/shop/apple',
      'shop.example.com/v1beta1',
    ],
  ]
  for (const [ref, text, apiVersion] of cases) {
    const resolved = resolveRef(catalog, ref)
    assert.deepEqual([resolved.text, resolved.resource.apiVersion], [text, apiVersion])
  }
})

test('the error of a ref says what to write instead', () => {
  const cases: readonly (readonly [ObjectRef, RegExp])[] = [
    ['boxs', /object "boxs": must be RESOURCE\[\.GROUP\]\/\[NAMESPACE\/\]NAME/],
    ['boxs//red', /must be RESOURCE/],
    ['boxs/red', /boxs have a namespace; write boxs\/NAMESPACE\/red/],
    ['rooms/shop/kitchen', /rooms have no namespace; write rooms\/kitchen/],
    ['cups/shop/red', /several groups have cups: write one of cups\.a\.example\.com, cups\.b\.example\.com/],
    ['box/shop/red', /no resource "box"; did you mean boxs\?/],
    ['wares.other.example.com/shop/apple', /did you mean wares\.shop\.example\.com\?/],
    ['trees/shop/oak', /no resource "trees"$/],
    [{ apiVersion: 'v1', kind: 'Ware', metadata: { name: 'apple' } }, /object Ware "apple": the server has no kind "Ware" in version "v1"/],
    [{ apiVersion: 'v1', kind: 'Room' }, /the name of the object is missing/],
    [{ kind: 'Room' }, /needs apiVersion, kind and metadata\.name/],
  ]
  for (const [ref, message] of cases) assert.throws(() => resolveRef(catalog, ref), { name: 'TypeError', message })
})
