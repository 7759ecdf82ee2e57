// The Protobuf encoding of OpenAPI documents, decoded by field numbers.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { documentBytes, documentV2, documentV3, sourcesByDocument } from '../documents/whole-document.fixture.js'
import { sampleBlueprint } from '../sample-kinds.fixture.js'

interface WireField {
  readonly number: number
  readonly value: number | Uint8Array
}

/** Decodes varints and length-delimited fields, and skips doubles. */
function readMessage(bytes: Uint8Array): readonly WireField[] {
  const fields: WireField[] = []
  let offset = 0
  const varint = (): number => {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[offset++] as number
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }
  while (offset < bytes.length) {
    const tag = varint()
    const number = tag >>> 3
    if ((tag & 7) === 0) fields.push({ number, value: varint() })
    else if ((tag & 7) === 1) offset += 8
    else {
      assert.equal(tag & 7, 2)
      const length = varint()
      fields.push({ number, value: bytes.subarray(offset, offset + length) })
      offset += length
    }
  }
  return fields
}

const valueIn = (bytes: Uint8Array, ...numbers: readonly number[]): Uint8Array =>
  numbers.reduce((message, number) => readMessage(message).find((field) => field.number === number)?.value as Uint8Array, bytes)
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString()
const textIn = (bytes: Uint8Array, ...numbers: readonly number[]): string => text(valueIn(bytes, ...numbers))
const valuesIn = (bytes: Uint8Array, number: number): readonly Uint8Array[] =>
  readMessage(bytes).flatMap((field) => (field.number === number ? [field.value as Uint8Array] : []))
/** The value with a name in a list of named values. */
const namedValue = (bytes: Uint8Array, number: number, name: string): Uint8Array =>
  valueIn(valuesIn(bytes, number).find((entry) => textIn(entry, 1) === name) as Uint8Array, 2)

const blueprint = await sampleBlueprint()

const path = '/apis/small.things.cluster.io/v1/namespaces/{namespace}/things/{name}'

describe('version 2', async () => {
  const document = await documentV2(blueprint)
  const bytes = await documentBytes(blueprint, blueprint.sources, { version: 2, name: 'protobuf' })

  test('the document, with all paths and definitions in order', () => {
    assert.equal(textIn(bytes, 1), '2.0')
    assert.equal(textIn(bytes, 2, 1), 'Cluster')
    assert.equal(textIn(bytes, 2, 2), 'v1.26.8')
    const names = (number: number, inner: number): readonly string[] =>
      valuesIn(valueIn(bytes, number), inner).map((entry) => textIn(entry, 1))
    assert.deepEqual(names(8, 2), Object.keys(document['paths'] as object))
    assert.deepEqual(names(9, 1), Object.keys(document['definitions'] as object))
    assert.deepEqual(
      readMessage(bytes).map(({ number }) => number),
      [1, 2, 8, 9, 12, 13],
    )
    const scheme = namedValue(valueIn(bytes, 13), 1, 'BearerToken')
    assert.equal(textIn(scheme, 2, 1), 'apiKey')
    assert.equal(textIn(scheme, 2, 2), 'authorization')
    assert.equal(textIn(bytes, 12, 1, 1), 'BearerToken')
  })

  test('a definition', () => {
    const thing = namedValue(valueIn(bytes, 9), 1, 'io.k8s.api.things.v1.Thing')
    assert.equal(textIn(thing, 4), 'Thing')
    assert.equal(textIn(thing, 22, 1), 'object')
    const properties = valueIn(thing, 25)
    assert.equal(textIn(namedValue(properties, 1, 'metadata'), 1), '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')
    assert.equal(textIn(namedValue(properties, 1, 'metadata'), 4), 'Thing metadata')
    assert.deepEqual(JSON.parse(textIn(namedValue(thing, 31, 'x-kubernetes-group-version-kind'), 2)), [
      { group: 'small.things.cluster.io', version: 'v1', kind: 'Thing' },
    ])
    const list = namedValue(valueIn(bytes, 9), 1, 'io.k8s.api.things.v1.ThingList')
    assert.deepEqual(valuesIn(list, 19).map(text), ['items'])
    assert.equal(textIn(namedValue(valueIn(list, 25), 1, 'items'), 23, 1, 1), '#/definitions/io.k8s.api.things.v1.Thing')
    const size = namedValue(valueIn(namedValue(valueIn(bytes, 9), 1, 'io.k8s.api.things.v1.ThingSpec'), 25), 1, 'size')
    assert.equal(textIn(size, 2), 'int32')
    const labels = namedValue(valueIn(namedValue(valueIn(bytes, 9), 1, 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'), 25), 1, 'labels')
    assert.equal(textIn(labels, 21, 1, 22, 1), 'string')
  })

  test('an operation', () => {
    const item = namedValue(valueIn(bytes, 8), 2, path)
    const put = valueIn(item, 3)
    assert.equal(textIn(put, 5), 'replaceSmallThingsV1NamespacedThing')
    assert.equal(textIn(put, 1), 'smallThings_v1')
    assert.deepEqual(valuesIn(put, 6).map(text), ['application/json', 'application/yaml', 'application/vnd.cluster.protobuf'])
    assert.deepEqual(valuesIn(put, 7).map(text), ['*/*'])
    assert.deepEqual(valuesIn(put, 10).map(text), ['https'])
    assert.deepEqual(
      valuesIn(valueIn(put, 9), 1).map((entry) => textIn(entry, 1)),
      ['200', '201', '401'],
    )
    assert.equal(textIn(namedValue(valueIn(put, 9), 1, '200'), 1, 2, 1, 1), '#/definitions/io.k8s.api.things.v1.Thing')
    assert.equal(textIn(namedValue(put, 13, 'x-kubernetes-action'), 2), '"put"\n')
    const [body, dryRun] = valuesIn(put, 8)
    assert.equal(textIn(body as Uint8Array, 1, 1, 2), 'body')
    assert.equal(textIn(body as Uint8Array, 1, 1, 5, 1), '#/definitions/io.k8s.api.things.v1.Thing')
    assert.deepEqual(
      readMessage(valueIn(body as Uint8Array, 1, 1)).find(({ number }) => number === 4),
      { number: 4, value: 1 },
    )
    assert.equal(textIn(dryRun as Uint8Array, 1, 2, 3, 4), 'dryRun')
    assert.equal(textIn(dryRun as Uint8Array, 1, 2, 3, 6), 'string')
    const shared = valuesIn(item, 9).map((parameter) => readMessage(valueIn(parameter, 1, 2))[0] as WireField)
    assert.deepEqual(
      shared.map(({ number, value }) => `${number} ${textIn(value as Uint8Array, 4)} ${textIn(value as Uint8Array, number === 4 ? 5 : 6)}`),
      ['4 name string', '4 namespace string', '3 pretty string'],
    )
  })
})

describe('version 3', async () => {
  const sources = sourcesByDocument(blueprint).get('apis/small.things.cluster.io/v1') ?? []
  const document = await documentV3(blueprint, sources)
  const bytes = await documentBytes(blueprint, sources, { version: 3, name: 'protobuf' })

  test('the document', () => {
    assert.equal(textIn(bytes, 1), '3.0.0')
    assert.equal(textIn(bytes, 2, 6), 'v1.26.8')
    assert.deepEqual(
      valuesIn(valueIn(bytes, 4), 1).map((entry) => textIn(entry, 1)),
      Object.keys(document['paths'] as object),
    )
    assert.equal(textIn(namedValue(valueIn(bytes, 5, 7), 1, 'BearerToken'), 1, 1), 'apiKey')
  })

  test('a schema', () => {
    const schemas = valueIn(bytes, 5, 1)
    const thing = valueIn(namedValue(schemas, 1, 'io.k8s.api.things.v1.Thing'), 1)
    assert.equal(textIn(thing, 25), 'object')
    const metadata = valueIn(namedValue(valueIn(thing, 31), 1, 'metadata'), 1)
    assert.equal(textIn(metadata, 26, 2, 1), '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')
    assert.equal(valueIn(metadata, 33).length, 0)
    assert.equal(textIn(metadata, 34), 'Thing metadata')
    const reference = valueIn(namedValue(schemas, 1, 'io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference'), 1)
    const name = valueIn(namedValue(valueIn(reference, 31), 1, 'name'), 1)
    assert.equal(textIn(name, 33, 3), '')
    assert.deepEqual(valuesIn(reference, 23).map(text), ['apiVersion', 'kind', 'name', 'uid'])
  })

  test('an operation', () => {
    const patch = valueIn(namedValue(valueIn(bytes, 4), 1, path), 10)
    assert.equal(textIn(patch, 5), 'patchSmallThingsV1NamespacedThing')
    const content = valueIn(patch, 7, 1, 2)
    assert.equal(
      textIn(namedValue(content, 1, 'application/merge-patch+json'), 1, 2, 1),
      '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Patch',
    )
    assert.equal(
      textIn(namedValue(valueIn(namedValue(valueIn(patch, 8), 2, '200'), 1, 3), 1, 'application/yaml'), 1, 2, 1),
      '#/components/schemas/io.k8s.api.things.v1.Thing',
    )
    const [dryRun] = valuesIn(patch, 6)
    assert.equal(textIn(dryRun as Uint8Array, 1, 1), 'dryRun')
    assert.equal(textIn(dryRun as Uint8Array, 1, 10, 1, 25), 'string')
  })
})
