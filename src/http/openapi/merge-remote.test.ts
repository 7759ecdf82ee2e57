// What others say comes behind what we say, and never in its place.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RemoteSpec, SpecPart } from '../../api/remote-openapi.js'
import { mergeRemote } from './merge-remote.js'
import { type DocumentParts, wholeDocument } from './rendering.js'

const ref = (name: string) => ({ $ref: `#/definitions/${name}` })
const own: DocumentParts = {
  head: { swagger: '2.0' },
  paths: () => [['/own', { get: 1 }]],
  tail: () => ({ definitions: { Meta: { type: 'object' }, Time: { type: 'string' } }, security: [] }),
}
const specOf = (group: string, paths: { [path: string]: SpecPart }, definitions: { [name: string]: SpecPart }): RemoteSpec => ({
  name: `v1.${group}`,
  group,
  version: 'v1',
  paths: new Map(Object.entries(paths)),
  definitions: new Map(Object.entries(definitions)),
})

test('paths and definitions of others are added; of two with the same name and another meaning, the later one is renamed', () => {
  const first = specOf(
    'a',
    { '/own': { get: 2 }, '/a': { get: { schema: ref('Meta'), list: [ref('Time')] } } },
    { Meta: { type: 'object', description: 'ours' }, Time: { type: 'string' }, A: { items: ref('Meta') } },
  )
  const second = specOf('b', { '/b': { get: ref('Meta') } }, { Meta: { type: 'string' } })
  assert.deepEqual(wholeDocument(mergeRemote(own, [first, second])), {
    swagger: '2.0',
    paths: {
      '/own': { get: 1 },
      '/a': { get: { schema: ref('Meta_v2'), list: [ref('Time')] } },
      '/b': { get: ref('Meta_v3') },
    },
    definitions: {
      Meta: { type: 'object' },
      Time: { type: 'string' },
      Meta_v2: { type: 'object', description: 'ours' },
      A: { items: ref('Meta_v2') },
      Meta_v3: { type: 'string' },
    },
    security: [],
  })
  assert.equal(mergeRemote(own, []), own)
})
