// Merging the specs of extension servers into the OpenAPI v2 document, and publishing them as v3 documents.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { RemoteSpec, SpecPart, SpecParts } from '@cluster-apiserver/api/api/catalog/remote-openapi.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { checkDocument, type Json } from '../documents/check-document.fixture.js'
import { jsonV2 } from '../documents/document-encoding.js'
import { openApiDocuments } from '../documents/documents.js'
import { sampleCatalog } from '../sample-kinds.fixture.js'
import { type LocalSpec, mergeKey, planMerge, renderSpec } from './merge-remote-specs.js'

const ref = (name: string) => ({ $ref: `#/definitions/${name}` })
const definitions: { readonly [name: string]: SpecPart } = { Meta: { type: 'object' }, Time: { type: 'string' } }
const local: LocalSpec = {
  hasDefinition: (name) => name in definitions || name === 'Custom',
  definitionOf: (name) => definitions[name],
  pathsOf: (group) => new Set(group === 'a' ? ['/own'] : []),
}
const partsOf = (parts: { readonly [name: string]: SpecPart }): SpecParts =>
  new Map(Object.entries(parts).map(([name, part]) => [name, Buffer.from(JSON.stringify(part))]))
const specOf = (group: string, paths: { [path: string]: SpecPart }, types: { [name: string]: SpecPart }): RemoteSpec => ({
  name: `v1.${group}`,
  group,
  version: 'v1',
  paths: partsOf(paths),
  definitions: partsOf(types),
})

const entries = (bytes: Uint8Array | undefined): unknown => JSON.parse(`{${Buffer.from(bytes ?? []).toString()}}`)

test('remote paths and definitions are added; a conflicting definition is renamed', async () => {
  const first = specOf(
    'a',
    { '/own': { get: 2 }, '/a': { get: { schema: ref('Meta'), list: [ref('Time')] } } },
    { Meta: { type: 'object', description: 'changed' }, Time: { type: 'string' }, A: { items: ref('Meta') } },
  )
  const second = specOf('b', { '/b': { get: ref('Meta') } }, { Meta: { type: 'string' }, Meta_v3: {}, A: { items: ref('Meta_v2') } })
  const merges = await planMerge([first, second], local, turnBudget)
  const rendered: object[] = []
  for (const merge of merges) {
    const { paths, definitions: types } = await renderSpec(merge, jsonV2, turnBudget)
    rendered.push({ paths: entries(paths), types: entries(types) })
  }
  assert.deepEqual(rendered, [
    {
      paths: { '/a': { get: { schema: ref('Meta_v2'), list: [ref('Time')] } } },
      types: { Meta_v2: { type: 'object', description: 'changed' }, A: { items: ref('Meta_v2') } },
    },
    { paths: { '/b': { get: ref('Meta_v4') } }, types: { Meta_v4: { type: 'string' }, Meta_v3: {} } },
  ])
  assert.notEqual(mergeKey(merges[0] as (typeof merges)[0]), mergeKey(merges[1] as (typeof merges)[0]))
})

test('a definition with the name of a custom kind is renamed', async () => {
  const [merge] = await planMerge([specOf('a', {}, { Custom: {} })], local, turnBudget)
  assert.deepEqual([...(merge?.names ?? [])], [['Custom', 'Custom_v2']])
})

test('the v2 document contains remote paths and definitions, and v3 a converted document', async () => {
  const responses = { 200: { description: 'OK', schema: ref('Other') } }
  const get = { operationId: 'readOther', responses }
  const spec = specOf('other.example', { '/apis/other.example/v1/others': { get } }, { Other: { type: 'object' } })
  const documents = openApiDocuments({ describe: () => undefined, release: 'v1.26.8' })
  const remote = { specs: [spec], addresses: new Map<string, string>() }
  const catalog = sampleCatalog()
  const read = async (encoding: 'json' | 'protobuf') => gunzipSync((await documents.v2({ catalog, remote }, encoding)).compressed())
  const document = JSON.parse((await read('json')).toString()) as { readonly paths: Json; readonly definitions: Json }
  assert.deepEqual(document.paths['/apis/other.example/v1/others'], { get })
  assert.deepEqual(document.definitions['Other'], { type: 'object' })
  assert.deepEqual(checkDocument(document), [])
  assert.ok((await read('protobuf')).includes('/apis/other.example/v1/others'))
  const converted = await documents.v3({ catalog, remote }, 'apis/other.example/v1', 'json')
  assert.equal(JSON.parse(gunzipSync(converted?.compressed() ?? '').toString()).openapi, '3.0.0')
})
