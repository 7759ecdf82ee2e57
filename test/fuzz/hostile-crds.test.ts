// Hostile CRDs, CEL expressions and policies: rejected or bounded, while other requests are served.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, newNamespace, until } from '../kit/fixtures.js'

const crdPath = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
const base = '/apis/admissionregistration.cluster.io/v1alpha1'

const crdOf = (plural: string, schema: object): object => ({
  apiVersion: 'apiextensions.cluster.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.hostile.example.com` },
  spec: {
    group: 'hostile.example.com',
    scope: 'Namespaced',
    names: { plural, singular: plural.slice(0, -1), kind: plural, listKind: `${plural}List` },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } } }],
  },
})

describe('hostile CRDs and policies', () => {
  let embedded: Embedded
  let namespace = ''
  before(async () => {
    embedded = await startEmbedded('memory', ['--feature-gates=ValidatingAdmissionPolicy=true', '--runtime-config=api/alpha=true'])
    namespace = await newNamespace(embedded.client)
  })
  after(() => embedded.close())

  const objectsOf = (plural: string): string => `/apis/hostile.example.com/v1/namespaces/${namespace}/${plural}`
  const objectOf = (plural: string, spec: unknown): object => ({
    apiVersion: 'hostile.example.com/v1',
    kind: plural,
    metadata: { generateName: 'o' },
    spec,
  })

  /** Creates a CRD and returns the response to a custom resource. */
  async function serveAndCreate(plural: string, schema: object, spec: unknown) {
    const { client } = embedded
    expectStatus(await client.post(crdPath, crdOf(plural, schema)), 201)
    return until(
      () => client.post(objectsOf(plural), objectOf(plural, spec)),
      ({ status }) => status !== 404,
    )
  }

  it('a schema with ten thousand properties is served', async () => {
    const properties = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}`, { type: 'string' }]))
    const response = await serveAndCreate('wides', { type: 'object', properties }, { p1: 'x', p9999: 'y', unknown: 'z' })
    assert.deepEqual((expectStatus(response, 201).json as unknown as { spec: object }).spec, { p1: 'x', p9999: 'y' })
  })

  it('a schema with a thousand levels is rejected or served', async () => {
    let schema: object = { type: 'string' }
    for (let i = 0; i < 1000; i++) schema = { type: 'object', properties: { a: schema } }
    const response = await embedded.client.post(crdPath, crdOf('deeps', schema))
    assert.ok([201, 400, 422].includes(response.status), String(response.status))
    expectStatus(await embedded.client.get('/readyz'), 200)
  })

  it('nested iterations over unbounded lists are rejected by the cost estimate', async () => {
    const list = { type: 'array', items: { type: 'integer' } }
    const rule = 'self.all(a, self.all(b, self.all(c, self.all(d, a + b + c + d >= 0))))'
    const response = await embedded.client.post(crdPath, crdOf('nests', { ...list, 'x-kubernetes-validations': [{ rule }] }))
    assert.match(expectFailure(response, 422, 'Invalid').message ?? '', /estimated rule cost exceeds budget by factor of more than 100x/)
  })

  it('patterns with catastrophic backtracking take linear time', async () => {
    const response = await serveAndCreate('bombs', { type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}!`)
    expectFailure(response, 422, 'Invalid')
  })

  it('the cost of regular expressions and iterations in a policy is bounded, and its failure is reported', async () => {
    const { client } = embedded
    const data = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`k${i}`, 'a'.repeat(30)]))
    const policy = (expression: string) => ({
      metadata: { name: 'hostile' },
      spec: {
        matchConstraints: { resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }] },
        validations: [{ expression }],
      },
    })
    const costlyExpression =
      'object.data.all(a, object.data.all(b, object.data[a].matches("(a+)+$") && object.data[b].matches("(a|aa)+$")))'
    expectStatus(await client.post(`${base}/validatingadmissionpolicies`, policy(costlyExpression)), 201)
    const binding = { metadata: { name: 'hostile' }, spec: { policyName: 'hostile' } }
    expectStatus(await client.post(`${base}/validatingadmissionpolicybindings`, binding), 201)
    const response = client.post(configMaps(namespace), configMapOf('large', { data }))
    // Other requests are served meanwhile.
    const others = await Promise.all(Array.from({ length: 20 }, () => client.get('/api/v1/namespaces')))
    for (const other of others) expectStatus(other, 200)
    assert.match(expectFailure(await response, 422, 'Invalid').message ?? '', /operation cancelled: actual cost limit exceeded$/)
    expectStatus(await client.send({ method: 'DELETE', path: `${base}/validatingadmissionpolicybindings/hostile` }), 200)
  })
})
