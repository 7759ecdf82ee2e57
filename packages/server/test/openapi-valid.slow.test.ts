// OpenAPI documents, validated against the official schemas of the format.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { type Embedded, startEmbedded } from '../../../test/kit/embedded.js'
import { expectStatus } from '../../../test/kit/fixtures.js'

const everything = ['--runtime-config=api/all=true', '--feature-gates=AllAlpha=true']

interface Index {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>
}

/** One kind has a field named `$ref`, which the validator would resolve, so it is renamed. */
function withoutNamedRef(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNamedRef)
  if (typeof value !== 'object' || value === null) return value
  const memberName = (name: string, member: unknown): string => (name === '$ref' && typeof member === 'object' ? 'reference' : name)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [memberName(name, member), withoutNamedRef(member)]))
}

/** Shared, because it reads the schemas once. */
const validator = new Validator()

async function problemsOf(document: object): Promise<string> {
  const { valid, errors } = await validator.validate(withoutNamedRef(document) as Readonly<Record<string, unknown>>)
  return valid ? '' : JSON.stringify(errors).slice(0, 2000)
}

describe('OpenAPI documents are valid', () => {
  let embedded: Embedded
  before(async () => {
    embedded = await startEmbedded('memory', everything)
  })
  after(() => embedded.close())

  test('version 2', async () => {
    const document = expectStatus(await embedded.client.get('/openapi/v2'), 200).json
    assert.equal(await problemsOf(document), '')
  })

  test('version 3, every document', async () => {
    const { paths } = expectStatus(await embedded.client.get('/openapi/v3'), 200).json as unknown as Index
    assert.ok(Object.keys(paths).length > 40)
    for (const [name, { serverRelativeURL }] of Object.entries(paths)) {
      const document = expectStatus(await embedded.client.get(serverRelativeURL), 200).json
      assert.equal(await problemsOf(document), '', name)
    }
  })

  test('the validator detects an error', async () => {
    const document = expectStatus(await embedded.client.get('/openapi/v2'), 200).json as unknown as Record<string, unknown>
    assert.notEqual(await problemsOf({ ...document, info: { title: 'no version' } }), '')
  })
})
