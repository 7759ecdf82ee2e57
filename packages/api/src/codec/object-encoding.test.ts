// Objects, lists and events that are put together around items that were made before are the bytes of those that are written at once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Catalog, type Resource } from '../api/catalog.js'
import { identityOf } from '../api/identity.js'
import { listMeta, partialObjectMetadataList } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { definitions } from '../resources/index.js'
import * as s from '../schema/node.js'
import { encodeMessage } from '../schema/protobuf.js'
import { writeStoredFields, writeValue } from '../schema/write.js'
import { type ItemSource, noSeparator, type Pieces } from './item-form.js'
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
  { name: 'stored JSON', representation: { format: 'json', pretty: false } },
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
      const form = wireFormOf(resource, row.representation, catalog.identity)
      const isBinary = row.representation.format === 'protobuf'
      for (const object of objects) {
        const whole = typed(resource, catalog, row, object)
        const json = writeValue(whole.schema, whole.object)
        const source = sourceOf(resource, object)
        same(form.object(source), isBinary ? encodeProtobuf(whole) : `${json}\n`)
        same(
          form.frame('MODIFIED', source),
          isBinary ? frameOf('MODIFIED', encodeProtobuf(whole)) : `{"type":"MODIFIED","object":${json}}\n`,
        )
      }
      for (const count of [0, 1, 3]) {
        const some = objects.slice(0, count)
        same(listIn(form, some), listOf(resource, catalog, row, some))
      }
    }
  })
}

/** An object that was stored. */
const sourceOf = (resource: Resource, object: ApiObject): ItemSource => ({
  item: (form) => form.item(object).slice(),
  render: (head, end) => Buffer.concat([head, Buffer.from(writeStoredFields(resource.schema, object)), end]),
})

/** The list with its items in one slice or two. */
function listIn(form: WireForm, objects: readonly ApiObject[]): Buffer {
  const items = objects.map((object, i) => Buffer.concat([i === 0 ? noSeparator : form.separator, form.item(object)]))
  const slices = items.length < 3 ? items : [Buffer.concat(items.slice(0, 2)), ...items.slice(2)]
  const measure = (): number => items.reduce((sum, { length }) => sum + length, 0)
  const next = form.list(listMetadata, { next: () => slices.shift(), measure }, 0) as Pieces
  const pieces: Uint8Array[] = []
  for (let piece = next(); piece !== undefined; piece = next()) pieces.push(piece as Uint8Array)
  return Buffer.concat(pieces)
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
  if (version === undefined && representation.format === 'json') {
    const texts = items.map((object) => writeValue(resource.schema, object))
    return `{"kind":"${type.kind}","apiVersion":"${apiVersion}","metadata":${writeValue(listMeta, listMetadata)},"items":[${texts}]}\n`
  }
  const shown = items.map((object) => typed(resource, catalog, row, object).object)
  const object = { ...type, metadata: listMetadata, items: shown }
  return representation.format === 'protobuf'
    ? encodeProtobuf({ type, schema, object })
    : `${writeValue(partialObjectMetadataList, object)}\n`.replace(/"items":\[\]}\n$/, '"items":null}\n')
}

test('another version than the stored one goes as JSON of its own', () => {
  for (const catalog of catalogs) {
    const resource = catalog.all().find(({ fromStored }) => fromStored !== undefined) as Resource
    const { kind, apiVersion } = resource
    const form = wireFormOf(resource, { format: 'json', pretty: false }, catalog.identity)
    const object = { metadata: meta('a') }
    same(form.object(sourceOf(resource, object)), `${writeValue(resource.schema, { kind, apiVersion, ...object })}\n`)
    assert.deepEqual(JSON.parse(listIn(form, [object, object]).toString()), {
      kind: `${kind}List`,
      apiVersion,
      metadata: listMetadata,
      items: [object, object].map((one) => JSON.parse(writeValue(resource.schema, one))),
    })
  }
})

test('there is one form for everybody who wants the same, and one of them is what is stored', () => {
  const [first, second] = catalogs as [Catalog, Catalog]
  const protobuf = { format: 'protobuf', pretty: false } as const
  const json = { format: 'json', pretty: false } as const
  const resource = configMaps(first)
  assert.equal(wireFormOf(resource, protobuf, first.identity), wireFormOf(resource, { ...protobuf }, first.identity))
  assert.notEqual(wireFormOf(resource, protobuf, first.identity), wireFormOf(configMaps(second), protobuf, second.identity))
  const storedForms = catalogs.flatMap((catalog) => catalog.all().filter((one) => wireFormOf(one, json, catalog.identity).isStored))
  assert.deepEqual(
    storedForms,
    catalogs.flatMap((catalog) => catalog.all().filter(({ fromStored }) => fromStored === undefined)),
  )
})
