// What others say comes behind what we say, and never in its place.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { RemoteSpec, SpecPart, SpecParts } from '../../api/remote-openapi.js'
import { atOnce } from '../../base/pieces.js'
import { checkDocument, type Json } from './check-document.fixture.js'
import { openApiDocuments } from './documents.js'
import { jsonV2 } from './json-form.js'
import { type OwnWords, placementKey, placeSpecs, renderSpec } from './place-specs.js'
import { thingsCatalog } from './things.fixture.js'

const ref = (name: string) => ({ $ref: `#/definitions/${name}` })
const definitions: { readonly [name: string]: SpecPart } = { Meta: { type: 'object' }, Time: { type: 'string' } }
const own: OwnWords = {
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

test('paths and definitions of others are added; of two with the same name and another meaning, the later one is renamed', () => {
  const first = specOf(
    'a',
    { '/own': { get: 2 }, '/a': { get: { schema: ref('Meta'), list: [ref('Time')] } } },
    { Meta: { type: 'object', description: 'ours' }, Time: { type: 'string' }, A: { items: ref('Meta') } },
  )
  const second = specOf('b', { '/b': { get: ref('Meta') } }, { Meta: { type: 'string' }, Meta_v3: {}, A: { items: ref('Meta_v2') } })
  const placements = atOnce(placeSpecs([first, second], own))
  const rendered = placements.map((placement) => {
    const { paths, definitions: types } = atOnce(renderSpec(placement, jsonV2))
    return { paths: entries(paths), types: entries(types) }
  })
  assert.deepEqual(rendered, [
    {
      paths: { '/a': { get: { schema: ref('Meta_v2'), list: [ref('Time')] } } },
      types: { Meta_v2: { type: 'object', description: 'ours' }, A: { items: ref('Meta_v2') } },
    },
    { paths: { '/b': { get: ref('Meta_v4') } }, types: { Meta_v4: { type: 'string' }, Meta_v3: {} } },
  ])
  assert.notEqual(placementKey(placements[0] as (typeof placements)[0]), placementKey(placements[1] as (typeof placements)[0]))
})

test('a type of a custom kind is nobody else’s', () => {
  const [placement] = atOnce(placeSpecs([specOf('a', {}, { Custom: {} })], own))
  assert.deepEqual([...(placement?.names ?? [])], [['Custom', 'Custom_v2']])
})

test('the document of version 2 has them, and that of another catalog without rendering them again', async () => {
  const answer = { 200: { description: 'OK', schema: ref('Other') } }
  const get = { operationId: 'readOther', responses: answer }
  const spec = specOf('other.example', { '/apis/other.example/v1/others': { get } }, { Other: { type: 'object' } })
  const documents = openApiDocuments({ describe: () => undefined, release: 'v1.26.8' })
  const remote = { specs: [spec], addresses: new Map<string, string>() }
  const catalog = thingsCatalog()
  const read = async (form: 'json' | 'protobuf') => gunzipSync(await (await documents.v2({ catalog, remote }, form)).compressed())
  const document = JSON.parse((await read('json')).toString()) as { readonly paths: Json; readonly definitions: Json }
  assert.deepEqual(document.paths['/apis/other.example/v1/others'], { get })
  assert.deepEqual(document.definitions['Other'], { type: 'object' })
  assert.deepEqual(checkDocument(document), [])
  assert.ok((await read('protobuf')).includes('/apis/other.example/v1/others'))
  const converted = await documents.v3({ catalog, remote }, 'apis/other.example/v1', 'json')
  assert.equal(JSON.parse(gunzipSync((await converted?.compressed()) ?? '').toString()).openapi, '3.0.0')
})
