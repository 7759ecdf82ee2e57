// Documents of version 3 out of those of version 2: what they say, and that nobody waits for a long one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SpecPart, SpecParts } from '../../api/remote-openapi.js'
import { convertSpec } from './convert-spec.js'

const partsOf = (parts: { readonly [name: string]: SpecPart }): SpecParts =>
  new Map(Object.entries(parts).map(([name, part]) => [name, Buffer.from(JSON.stringify(part))]))

const specOf = (paths: { readonly [path: string]: SpecPart }, definitions: { readonly [name: string]: SpecPart }) => ({
  name: 'v1.g',
  group: 'g',
  version: 'v1',
  paths: partsOf(paths),
  definitions: partsOf(definitions),
})

function convert(spec: ReturnType<typeof specOf>): { readonly document: unknown; readonly steps: number } {
  const work = convertSpec(spec)
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next()
    if (done === true) return { document: JSON.parse(Buffer.from(value).toString()), steps }
  }
}

test('paths and definitions are where version 3 has them', () => {
  const get = {
    parameters: [{ name: 'x', in: 'query', type: 'string' }],
    produces: ['application/json'],
    responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/A' } } },
  }
  const { document } = convert(specOf({ '/apis/g/v1/as': { get } }, { A: { properties: { b: { $ref: '#/definitions/B' } } }, B: {} }))
  assert.deepEqual(document, {
    openapi: '3.0.0',
    info: { title: 'g', version: 'v1' },
    paths: {
      '/apis/g/v1/as': {
        get: {
          parameters: [{ name: 'x', in: 'query', schema: { type: 'string' } }],
          responses: { 200: { description: 'OK', content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } } },
        },
      },
    },
    components: { schemas: { A: { properties: { b: { $ref: '#/components/schemas/B' } } }, B: {} } },
  })
  assert.deepEqual((convert(specOf({}, {})).document as { readonly components: object }).components, { schemas: {} })
})

test('each part is a step of its own', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`D${i}`, { type: 'object' }]))
  assert.equal(convert(specOf({}, many)).steps, 100)
})
