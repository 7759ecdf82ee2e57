// Objects, lists and events that are put together around items that were made before are the bytes of those that are written at once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog, type Resource } from '../api/catalog.js'
import { identityOf } from '../api/identity.js'
import { partialObjectMetadataList } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { definitions } from '../resources/index.js'
import * as s from '../schema/node.js'
import { encodeMessage } from '../schema/protobuf.js'
import { writeValue } from '../schema/write.js'
import type { Representation } from './negotiation.js'
import { type MetadataForm, partialMetadata, partialObjectMetadataListV1beta1 } from './partial-metadata.js'
import { encodeProtobuf, listSchemaOf, type TypedObject } from './protobuf.js'
import { type WireForm, wireFormOf } from './wire-form.js'

const catalogs = (['cluster', 'kubernetes'] as const).map(
  (name) => new Catalog({ identity: identityOf(name), definitions, isServed: () => true }),
)
const meta = (name: string) => ({
  name,
  namespace: 'n',
  uid: 'u',
  resourceVersion: '12',
  creationTimestamp: '2024-03-01T11:00:00Z',
  labels: { a: 'ü' },
})
const objects: readonly ApiObject[] = [
  { metadata: meta('a'), data: { key: 'ä < b', other: 'x'.repeat(70_000) } } as ApiObject,
  { metadata: meta('b') },
  { metadata: meta('c'), data: {} } as ApiObject,
]
const listMetadata = { resourceVersion: '20', continue: 'c', remainingItemCount: 4 }

interface Case {
  readonly name: string
  readonly representation: Representation
  readonly metadataVersion?: MetadataForm['version']
}

const cases: readonly Case[] = [
  { name: 'Protobuf', representation: { format: 'protobuf', pretty: false } },
  ...(['v1', 'v1beta1'] as const).flatMap((version) =>
    (['json', 'protobuf'] as const).map((format) => ({
      name: `metadata alone, ${version}, ${format}`,
      representation: { format, pretty: false, as: { kind: 'PartialObjectMetadata', version } } as const,
      metadataVersion: version,
    })),
  ),
]

const configMaps = (catalog: Catalog): Resource => catalog.find('', 'v1', 'configmaps') as Resource

const typed = (resource: Resource, catalog: Catalog, { metadataVersion }: Case, object: ApiObject): TypedObject => {
  const { kind, apiVersion, schema } = resource
  if (metadataVersion !== undefined) return partialMetadata({ identity: catalog.identity, version: metadataVersion }, object)
  return { type: { kind, apiVersion }, schema, object: { kind, apiVersion, ...object } }
}

const same = (found: Uint8Array, expected: Uint8Array | string): void => {
  assert.equal(
    Buffer.compare(found, Buffer.from(expected as Uint8Array)),
    0,
    `${Buffer.from(found)}\n is not\n${Buffer.from(expected as Uint8Array)}`,
  )
}

for (const row of cases) {
  test(`${row.name}: objects, events and lists`, () => {
    for (const catalog of catalogs) {
      const resource = configMaps(catalog)
      const form = wireFormOf(resource, row.representation, catalog.identity) as WireForm
      const isBinary = row.representation.format === 'protobuf'
      for (const object of objects) {
        const whole = typed(resource, catalog, row, object)
        const json = writeValue(whole.schema, whole.object)
        const item = form.item(object).slice()
        same(Buffer.concat(form.object(item)), isBinary ? encodeProtobuf(whole) : `${json}\n`)
        same(form.frame('MODIFIED', item), isBinary ? frameOf('MODIFIED', encodeProtobuf(whole)) : `{"type":"MODIFIED","object":${json}}\n`)
      }
      for (const count of [0, 1, 3]) {
        const some = objects.slice(0, count)
        same(
          Buffer.concat([...form.list(listMetadata, () => some.map((object) => form.item(object)))]),
          listOf(resource, catalog, row, some),
        )
      }
    }
  })
}

/** The event written as a message of its own. */
function frameOf(type: string, envelope: Uint8Array): Buffer {
  const message = s.struct('WatchEvent', { type: s.field(1, s.string), object: s.field(2, s.struct('Raw', { raw: s.field(1, s.bytes) })) })
  const event = encodeMessage(message, { type, object: { raw: Buffer.from(envelope).toString('base64') } })
  const length = Buffer.alloc(4)
  length.writeUInt32BE(event.length)
  return Buffer.concat([length, event])
}

/** The list written as an object of its own. */
function listOf(resource: Resource, catalog: Catalog, row: Case, items: readonly ApiObject[]): Uint8Array | string {
  const { representation, metadataVersion: version } = row
  const apiVersion = version === undefined ? resource.apiVersion : `${catalog.identity.group({ stem: 'meta' })}/${version}`
  const type = { kind: version === undefined ? `${resource.kind}List` : 'PartialObjectMetadataList', apiVersion }
  const metadataSchema = version === 'v1' ? partialObjectMetadataList : partialObjectMetadataListV1beta1
  const schema = version === undefined ? listSchemaOf(resource.schema) : metadataSchema
  const shown = items.map((object) => typed(resource, catalog, row, object).object)
  const object = { ...type, metadata: listMetadata, items: shown }
  return representation.format === 'protobuf'
    ? encodeProtobuf({ type, schema, object })
    : // A list that is answered has items even when there are none; only in what is stored are none like nothing.
      `${writeValue(partialObjectMetadataList, object)}\n`
}

test('another version than the stored one goes as JSON of its own', () => {
  for (const catalog of catalogs) {
    const resource = catalog.all().find(({ fromStored }) => fromStored !== undefined) as Resource
    const { kind, apiVersion } = resource
    const form = wireFormOf(resource, { format: 'json', pretty: false }, catalog.identity) as WireForm
    const object = { metadata: meta('a') }
    same(Buffer.concat(form.object(form.item(object))), `${writeValue(resource.schema, { kind, apiVersion, ...object })}\n`)
    assert.deepEqual(JSON.parse(Buffer.concat([...form.list(listMetadata, () => [form.item(object), form.item(object)])]).toString()), {
      kind: `${kind}List`,
      apiVersion,
      metadata: listMetadata,
      items: [object, object].map((one) => JSON.parse(writeValue(resource.schema, one))),
    })
  }
})

test('there is one form for everybody who wants the same, and none for what is stored', () => {
  const [first, second] = catalogs as [Catalog, Catalog]
  const protobuf = { format: 'protobuf', pretty: false } as const
  const resource = configMaps(first)
  assert.equal(wireFormOf(resource, protobuf, first.identity), wireFormOf(resource, { ...protobuf }, first.identity))
  assert.notEqual(wireFormOf(resource, protobuf, first.identity), wireFormOf(configMaps(second), protobuf, second.identity))
  assert.equal(wireFormOf(resource, { format: 'json', pretty: false }, first.identity), undefined)
})
