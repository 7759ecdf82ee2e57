// Conversion of an OpenAPI v2 spec to v3.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SpecPart, SpecParts } from '@cluster-apiserver/api/api/catalog/remote-openapi.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { convertSpec } from './convert-v2-to-v3.js'

const partsOf = (parts: { readonly [name: string]: SpecPart }): SpecParts =>
  new Map(Object.entries(parts).map(([name, part]) => [name, Buffer.from(JSON.stringify(part))]))

const specOf = (paths: { readonly [path: string]: SpecPart }, definitions: { readonly [name: string]: SpecPart }) => ({
  name: 'v1.g',
  group: 'g',
  version: 'v1',
  paths: partsOf(paths),
  definitions: partsOf(definitions),
})

const convert = async (spec: ReturnType<typeof specOf>): Promise<unknown> =>
  JSON.parse(Buffer.from(await convertSpec(spec, turnBudget)).toString())

test('paths, definitions and references are converted to v3', async () => {
  const get = {
    parameters: [{ name: 'x', in: 'query', type: 'string' }],
    produces: ['application/json'],
    responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/A' } } },
  }
  const document = await convert(specOf({ '/apis/g/v1/as': { get } }, { A: { properties: { b: { $ref: '#/definitions/B' } } }, B: {} }))
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
  assert.deepEqual(((await convert(specOf({}, {}))) as { readonly components: object }).components, { schemas: {} })
})
