// Large CRDs of other projects: accepted and served; custom resources created, applied and shown as tables.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { expectFailure, expectStatus, newNamespace, untilStatus } from '../kit/fixtures.js'
import { type FoundSchema, minValue, obtainCrdPackages, readSchemas, type Schema } from './obtain-crds.js'

const obtained = await obtainCrdPackages()
const crdPath = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
/** The 30 largest schemas, with one version per kind. */
const selectedSchemas = obtained.skip === false ? firstOfEachKind(readSchemas(obtained.path)).slice(0, 30) : []

function firstOfEachKind(schemas: readonly FoundSchema[]): readonly FoundSchema[] {
  const seen = new Set<string>()
  return schemas.filter(({ group, kind }) => {
    const name = `${kind}.${group}`
    if (seen.has(name)) return false
    seen.add(name)
    return true
  })
}

const pluralOf = ({ kind }: FoundSchema): string => `${kind.toLowerCase()}s`
/** Renames groups of *.k8s.io, which need an approval annotation. */
const groupOf = ({ group }: FoundSchema): string => group.replace(/\.k8s\.io$/, '.example.com')

const crdOf = (found: FoundSchema): object => ({
  apiVersion: 'apiextensions.cluster.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${pluralOf(found)}.${groupOf(found)}` },
  spec: {
    group: groupOf(found),
    scope: 'Namespaced',
    names: { plural: pluralOf(found), singular: found.kind.toLowerCase(), kind: found.kind, listKind: `${found.kind}List` },
    versions: [
      {
        name: found.version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: found.schema },
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Spec', type: 'string', jsonPath: '.spec', priority: 1 },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      },
    ],
  },
})

describe('published CRDs', { skip: obtained.skip }, () => {
  let embedded: Embedded
  let namespace = ''
  let created = 0
  before(async () => {
    embedded = await startEmbedded('memory')
    namespace = await newNamespace(embedded.client)
  })
  after(() => embedded.close())

  it('are many and large', () => {
    assert.ok(selectedSchemas.length >= 20)
    assert.ok((selectedSchemas[9]?.bytes ?? 0) > 100_000)
  })

  for (const found of selectedSchemas) {
    it(`${found.kind} of ${found.group}, ${Math.round(found.bytes / 1024)} KB`, async () => {
      const { client } = embedded
      expectStatus(await client.post(`${crdPath}?fieldValidation=Strict`, crdOf(found)), 201)
      const apiVersion = `${groupOf(found)}/${found.version}`
      const objects = `/apis/${apiVersion}/namespaces/${namespace}/${pluralOf(found)}`
      await untilStatus(() => client.get(objects), 200)
      const { spec: specSchema } = found.schema['properties'] as { readonly spec?: Schema }
      const spec = minValue(specSchema ?? {})
      const body = { apiVersion, kind: found.kind, metadata: { name: 'made' }, ...(specSchema === undefined ? {} : { spec }) }
      const createResponse = await client.post(`${objects}?fieldValidation=Strict`, body)
      // The minimal object may not satisfy combinators; only those errors are accepted.
      if (createResponse.status === 422) assert.match(createResponse.text, /should match|must validate|oneOf|anyOf|allOf|not/)
      else expectStatus(createResponse, 201)
      if (createResponse.status === 201) {
        created++
        const applied = await client.send({
          method: 'PATCH',
          path: `${objects}/applied?fieldManager=test`,
          headers: { 'content-type': 'application/apply-patch+yaml' },
          body: { ...body, metadata: { name: 'applied', labels: { a: 'b' } } },
        })
        expectStatus(applied, 201)
        const again = await client.send({
          method: 'PATCH',
          path: `${objects}/applied?fieldManager=test`,
          headers: { 'content-type': 'application/apply-patch+yaml' },
          body: { ...body, metadata: { name: 'applied' } },
        })
        assert.equal(expectStatus(again, 200).json.metadata.labels, undefined)
      }
      const wrong = { ...body, metadata: { name: 'wrong' }, spec: 5 }
      if (specSchema !== undefined) expectFailure(await client.post(objects, wrong), 422, 'Invalid')
      const table = await client.send({ path: objects, headers: { accept: 'application/json;as=Table;g=meta.cluster.io;v=v1' } })
      const { rows, columnDefinitions } = table.json as unknown as {
        readonly rows: readonly { readonly cells: readonly unknown[] }[]
        readonly columnDefinitions: readonly { readonly name: string }[]
      }
      assert.deepEqual(
        columnDefinitions.map(({ name }) => name),
        ['Name', 'Spec', 'Ready', 'Age'],
      )
      assert.deepEqual(
        rows.map(({ cells }) => cells[0]),
        createResponse.status === 201 ? ['applied', 'made'] : [],
      )
    })
  }

  it('accept the minimal object of most schemas', () => assert.ok(created >= 25, `${created} were created`))
})
