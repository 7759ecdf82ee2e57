// Tests of objects, lists and watch frames built from cached items: same bytes as when encoded whole.

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { Catalog } from '../api/catalog/catalog.js'
import type { Resource } from '../api/catalog/resource.js'
import { identityOf } from '../api/identity.js'
import { listMeta, partialObjectMetadataList } from '../api/meta.schema.js'
import type { ApiObject } from '../api/object.js'
import { definitions } from '../resources/index.js'
import { writeStoredFields, writeValue } from '../schema/json/write.js'
import * as s from '../schema/node.js'
import { encodeMessage } from '../schema/protobuf/protobuf.js'
import type { Representation } from './content-negotiation.js'
import { type ItemSource, noSeparator } from './item-encoding.js'
import { type ObjectEncoding, objectEncodingOf } from './object-encoding.js'
import { type PartialMetadataOptions, partialMetadata, partialObjectMetadataListV1beta1 } from './partial-metadata.js'
import { encodeProtobuf, listSchemaOf, type TypedObject } from './protobuf-envelope.js'

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
  readonly metadataVersion?: PartialMetadataOptions['version']
}

const cases: readonly Case[] = [
  { name: 'stored JSON', representation: { format: 'json', pretty: false } },
  { name: 'Protobuf', representation: { format: 'protobuf', pretty: false } },
  ...(['v1', 'v1beta1'] as const).flatMap((version) =>
    (['json', 'protobuf'] as const).map((format) => ({
      name: `PartialObjectMetadata, ${version}, ${format}`,
      representation: { format, pretty: false, as: { kind: 'PartialObjectMetadata', version } } as const,
      metadataVersion: version,
    })),
  ),
]

const configMaps = (catalog: Catalog): Resource => catalog.find('', 'v1', 'configmaps') as Resource

const typedObject = (resource: Resource, catalog: Catalog, { metadataVersion }: Case, object: ApiObject): TypedObject => {
  const { kind, apiVersion, schema } = resource
  if (metadataVersion !== undefined) return partialMetadata({ identity: catalog.identity, version: metadataVersion }, object)
  return { type: { kind, apiVersion }, schema, object: { kind, apiVersion, ...object } }
}

const assertSameBytes = (found: Uint8Array, expected: Uint8Array | string): void => {
  assert.equal(
    Buffer.compare(found, Buffer.from(expected as Uint8Array)),
    0,
    `${Buffer.from(found)}\n is not\n${Buffer.from(expected as Uint8Array)}`,
  )
}

for (const row of cases) {
  test(`${row.name}: objects, watch frames and lists`, async () => {
    for (const catalog of catalogs) {
      const resource = configMaps(catalog)
      const encoding = objectEncodingOf(resource, row.representation, catalog.identity)
      const isBinary = row.representation.format === 'protobuf'
      for (const object of objects) {
        const whole = typedObject(resource, catalog, row, object)
        const json = writeValue(whole.schema, whole.object)
        const source = sourceOf(resource, object)
        assertSameBytes(encoding.object(source), isBinary ? encodeProtobuf(whole) : `${json}\n`)
        assertSameBytes(
          encoding.frame('MODIFIED', source),
          isBinary ? wholeFrame('MODIFIED', encodeProtobuf(whole)) : `{"type":"MODIFIED","object":${json}}\n`,
        )
      }
      for (const count of [0, 1, 3]) {
        const subset = objects.slice(0, count)
        assertSameBytes(await listFromItems(encoding, subset), wholeList(resource, catalog, row, subset))
      }
    }
  })
}

/** An ItemSource of a stored object. */
const sourceOf = (resource: Resource, object: ApiObject): ItemSource => ({
  item: (encoding) => encoding.item(object).slice(),
  render: (head, end) => Buffer.concat([head, Buffer.from(writeStoredFields(resource.schema, object)), end]),
})

/** The list built from cached items, in one slice or two. */
async function listFromItems(encoding: ObjectEncoding, objects: readonly ApiObject[]): Promise<Buffer> {
  const items = objects.map((object, i) => Buffer.concat([i === 0 ? noSeparator : encoding.separator, encoding.item(object)]))
  const slices = items.length < 3 ? items : [Buffer.concat(items.slice(0, 2)), ...items.slice(2)]
  const measure = async (): Promise<number> => items.reduce((sum, { length }) => sum + length, 0)
  const chunks: Uint8Array[] = []
  for await (const chunk of encoding.list(listMetadata, Object.assign(Readable.from(slices), { measure }), 0)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** The watch frame encoded whole. */
function wholeFrame(type: string, envelope: Uint8Array): Buffer {
  const message = s.struct('WatchEvent', { type: s.field(1, s.string), object: s.field(2, s.struct('Raw', { raw: s.field(1, s.bytes) })) })
  const event = encodeMessage(message, { type, object: { raw: Buffer.from(envelope).toString('base64') } })
  const length = Buffer.alloc(4)
  length.writeUInt32BE(event.length)
  return Buffer.concat([length, event])
}

/** The list encoded whole. */
function wholeList(resource: Resource, catalog: Catalog, row: Case, items: readonly ApiObject[]): Uint8Array | string {
  const { representation, metadataVersion: version } = row
  const apiVersion = version === undefined ? resource.apiVersion : `${catalog.identity.group({ stem: 'meta' })}/${version}`
  const type = { kind: version === undefined ? `${resource.kind}List` : 'PartialObjectMetadataList', apiVersion }
  const metadataSchema = version === 'v1' ? partialObjectMetadataList : partialObjectMetadataListV1beta1
  const schema = version === undefined ? listSchemaOf(resource.schema) : metadataSchema
  if (version === undefined && representation.format === 'json') {
    const texts = items.map((object) => writeValue(resource.schema, object))
    return `{"kind":"${type.kind}","apiVersion":"${apiVersion}","metadata":${writeValue(listMeta, listMetadata)},"items":[${texts}]}\n`
  }
  const encodedObjects = items.map((object) => typedObject(resource, catalog, row, object).object)
  const object = { ...type, metadata: listMetadata, items: encodedObjects }
  return representation.format === 'protobuf'
    ? encodeProtobuf({ type, schema, object })
    : `${writeValue(partialObjectMetadataList, object)}\n`.replace(/"items":\[\]}\n$/, '"items":null}\n')
}

test('a version other than the stored one is encoded as its own JSON', async () => {
  for (const catalog of catalogs) {
    const resource = catalog.all().find(({ fromStored }) => fromStored !== undefined) as Resource
    const { kind, apiVersion } = resource
    const encoding = objectEncodingOf(resource, { format: 'json', pretty: false }, catalog.identity)
    const object = { metadata: meta('a') }
    assertSameBytes(encoding.object(sourceOf(resource, object)), `${writeValue(resource.schema, { kind, apiVersion, ...object })}\n`)
    assert.deepEqual(JSON.parse(String(await listFromItems(encoding, [object, object]))), {
      kind: `${kind}List`,
      apiVersion,
      metadata: listMetadata,
      items: [object, object].map((one) => JSON.parse(writeValue(resource.schema, one))),
    })
  }
})
