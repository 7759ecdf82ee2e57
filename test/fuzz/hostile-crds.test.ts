// Definitions, expressions and policies of somebody who means ill: refused or bounded, with a clear answer, while others are served.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, newNamespace, until } from '../kit/fixtures.js'

const definitions = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
const base = '/apis/admissionregistration.cluster.io/v1alpha1'

const definition = (plural: string, schema: object): object => ({
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

describe('hostile definitions and policies', () => {
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

  /** Serves a definition and gives the answer to an object of it. */
  async function serveAndCreate(plural: string, schema: object, spec: unknown) {
    const { client } = embedded
    expectStatus(await client.post(definitions, definition(plural, schema)), 201)
    return until(
      () => client.post(objectsOf(plural), objectOf(plural, spec)),
      ({ status }) => status !== 404,
    )
  }

  it('ten thousand properties are served', async () => {
    const properties = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}`, { type: 'string' }]))
    const answer = await serveAndCreate('wides', { type: 'object', properties }, { p1: 'x', p9999: 'y', unknown: 'z' })
    assert.deepEqual((expectStatus(answer, 201).json as unknown as { spec: object }).spec, { p1: 'x', p9999: 'y' })
  })

  it('a thousand levels are refused or served, and nothing falls over', async () => {
    let schema: object = { type: 'string' }
    for (let i = 0; i < 1000; i++) schema = { type: 'object', properties: { a: schema } }
    const answer = await embedded.client.post(definitions, definition('deeps', schema))
    assert.ok([201, 400, 422].includes(answer.status), String(answer.status))
    expectStatus(await embedded.client.get('/readyz'), 200)
  })

  it('nested walks over lists without a bound are refused by their estimate', async () => {
    const list = { type: 'array', items: { type: 'integer' } }
    const rule = 'self.all(a, self.all(b, self.all(c, self.all(d, a + b + c + d >= 0))))'
    const answer = await embedded.client.post(definitions, definition('nests', { ...list, 'x-kubernetes-validations': [{ rule }] }))
    assert.match(expectFailure(answer, 422, 'Invalid').message ?? '', /estimated rule cost exceeds budget by factor of more than 100x/)
  })

  it('patterns that explode elsewhere take no time', async () => {
    const begunMs = performance.now()
    const answer = await serveAndCreate('bombs', { type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}!`)
    expectFailure(answer, 422, 'Invalid')
    assert.ok(performance.now() - begunMs < 40_000)
  })

  it('regular expressions and walks of a policy are bounded, and its failure is told', async () => {
    const { client } = embedded
    const data = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`k${i}`, 'a'.repeat(30)]))
    const policy = (expression: string) => ({
      metadata: { name: 'hostile' },
      spec: {
        matchConstraints: { resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }] },
        validations: [{ expression }],
      },
    })
    const walk = 'object.data.all(a, object.data.all(b, object.data[a].matches("(a+)+$") && object.data[b].matches("(a|aa)+$")))'
    expectStatus(await client.post(`${base}/validatingadmissionpolicies`, policy(walk)), 201)
    const binding = { metadata: { name: 'hostile' }, spec: { policyName: 'hostile' } }
    expectStatus(await client.post(`${base}/validatingadmissionpolicybindings`, binding), 201)
    const answer = client.post(configMaps(namespace), configMapOf('large', { data }))
    // Others are answered meanwhile.
    const others = await Promise.all(Array.from({ length: 20 }, () => client.get('/api/v1/namespaces')))
    for (const other of others) expectStatus(other, 200)
    assert.match(expectFailure(await answer, 422, 'Invalid').message ?? '', /operation cancelled: actual cost limit exceeded$/)
    expectStatus(await client.send({ method: 'DELETE', path: `${base}/validatingadmissionpolicybindings/hostile` }), 200)
  })
})
