// Admission policy parameters: nobody reads an object through a policy or binding that they are not authorized to read.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, newNamespace, until } from '../kit/fixtures.js'
import { apply, as, grant, json, merge, type RuleInput, strategic } from './acting.js'

const flags = ['--feature-gates=ValidatingAdmissionPolicy=true', '--runtime-config=api/alpha=true']
const group = 'admissionregistration.cluster.io'
const policies = `/apis/${group}/v1alpha1/validatingadmissionpolicies`
const bindings = `/apis/${group}/v1alpha1/validatingadmissionpolicybindings`
const definitions = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'

const writePolicies: RuleInput = {
  apiGroups: [group],
  resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
  verbs: ['get', 'create', 'update', 'patch', 'delete'],
}
const maps: RuleInput = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] }
const secretKind = { apiVersion: 'v1', kind: 'Secret' }
const mapKind = { apiVersion: 'v1', kind: 'ConfigMap' }

interface PolicyOptions {
  readonly paramKind?: object | undefined
  readonly expression?: string
  readonly resource?: string
}

/** Applies to a resource that is never created, unless it is named. */
const policyOf = (name: string, { paramKind, expression = 'true', resource = 'nothing' }: PolicyOptions = {}) => ({
  metadata: { name },
  spec: {
    ...(paramKind === undefined ? {} : { paramKind }),
    matchConstraints: { resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: [resource] }] },
    validations: [{ expression }],
  },
})

const policyBindingOf = (name: string, policyName: string, paramRef?: object) => ({
  metadata: { name },
  spec: { policyName, ...(paramRef === undefined ? {} : { paramRef }) },
})

type Answer = Parameters<typeof expectFailure>[0]

function expectRefusal(answer: Answer, field: 'spec.paramKind' | 'spec.paramRef', text: RegExp): void {
  const { message = '', details } = expectFailure(answer, 422, 'Invalid')
  assert.match(message, text)
  const causes = (details as { causes?: readonly { reason: string; field: string }[] }).causes ?? []
  assert.deepEqual(
    causes.map(({ reason, field: at }) => [reason, at]),
    [['FieldValueForbidden', field]],
  )
}

const kindRefusal = /is invalid: spec\.paramKind: Forbidden: user .* must have "get" permission on all objects of the referenced paramKind/
const refRefusal = /is invalid: spec\.paramRef: Forbidden: user .* does not have "get" permission on the object referenced by paramRef$/

type Way = readonly [method: string, path: string, body: unknown, headers?: Record<string, string>]

/** Every request that writes `wanted` at a name that exists and at one that does not. */
function waysToWrite(path: string, kind: string, exists: string, wanted: (name: string) => { readonly metadata: object; spec: object }) {
  const typed = { apiVersion: `${group}/v1alpha1`, kind }
  const fresh = `${exists}-fresh`
  const { spec } = wanted(exists)
  const ways: readonly Way[] = [
    ['POST', path, wanted(fresh)],
    ['POST', path, { metadata: { generateName: 'g-' }, spec }],
    ['PATCH', `${path}/${exists}`, { spec }, merge],
    ['PATCH', `${path}/${exists}`, { spec }, strategic],
    ['PATCH', `${path}/${exists}`, [{ op: 'replace', path: '/spec', value: spec }], json],
    ['PATCH', `${path}/${exists}?fieldManager=m&force=true`, { ...typed, ...wanted(exists) }, apply],
    ['PATCH', `${path}/${fresh}?fieldManager=m&force=true`, { ...typed, ...wanted(fresh) }, apply],
  ]
  return { ways, fresh }
}

const dryRunOf = ([method, path, ...rest]: Way): Way => [method, `${path}${path.includes('?') ? '&' : '?'}dryRun=All`, ...rest]

describe('parameters of admission policies', { concurrency: 4 }, () => {
  let running: Embedded
  let namespace: string
  before(async () => {
    running = await startEmbedded('memory', flags)
    const { client } = running
    namespace = await newNamespace(client, 'params')
    expectStatus(await client.post(`/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: 's' }, stringData: { key: 'pw' } }), 201)
    await grant(client, 'tenant', [writePolicies, maps])
    await grant(client, 'one-secret', [
      writePolicies,
      maps,
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['s'], verbs: ['get'] },
    ])
    await grant(client, 'secret-reader', [writePolicies, { apiGroups: [''], resources: ['secrets'], verbs: ['get'] }])
    await grant(client, 'reader', [writePolicies, { apiGroups: ['*'], resources: ['*'], verbs: ['get'] }])
    await grant(client, 'shop-reader', [writePolicies, { apiGroups: ['shop.example.com'], resources: ['*'], verbs: ['get'] }])
    expectStatus(await client.post(policies, policyOf('of-secrets', { paramKind: secretKind })), 201)
    expectStatus(await client.post(policies, policyOf('of-maps', { paramKind: mapKind })), 201)
  })
  after(() => running.close())
  const secret = () => ({ name: 's', namespace })

  async function versionOf(path: string): Promise<string> {
    const { json: object } = expectStatus(await running.client.get(path), 200)
    return (object['metadata'] as { resourceVersion: string }).resourceVersion
  }

  async function expectSuccess(user: string, way: Way): Promise<void> {
    const { status } = await as(running.client, user)(...way)
    assert.ok(status === 200 || status === 201, `${way[0]} ${way[1]}: ${status}`)
  }

  async function putOf(path: string, object: { readonly metadata: { readonly name: string } }): Promise<Way> {
    const at = `${path}/${object.metadata.name}`
    return ['PUT', at, { ...object, metadata: { ...object.metadata, resourceVersion: await versionOf(at) } }]
  }

  test('a policy: every way to name a kind that the writer cannot read', async () => {
    const tenant = as(running.client, 'tenant')
    expectStatus(await tenant('POST', policies, policyOf('own', { paramKind: mapKind })), 201)
    const wanted = (name: string) => policyOf(name, { paramKind: secretKind })
    const { ways, fresh } = waysToWrite(policies, 'ValidatingAdmissionPolicy', 'own', wanted)
    const put = await putOf(policies, wanted('own'))
    for (const way of [...ways, put].flatMap((one) => [one, dryRunOf(one)]))
      expectRefusal(await tenant(...way), 'spec.paramKind', kindRefusal)
    const { json: kept } = expectStatus(await running.client.get(`${policies}/own`), 200)
    assert.deepEqual((kept['spec'] as { paramKind: unknown }).paramKind, mapKind)
    expectFailure(await running.client.get(`${policies}/${fresh}`), 404, 'NotFound')
    for (const way of [...ways, put].map(dryRunOf)) await expectSuccess('secret-reader', way)
  })

  test('a policy: permission on one name or in one namespace is not enough', async () => {
    await grant(running.client, 'local', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }], namespace)
    await grant(running.client, 'local', [writePolicies])
    for (const user of ['one-secret', 'local'])
      expectRefusal(
        await as(running.client, user)('POST', policies, policyOf(`of-${user}`, { paramKind: secretKind })),
        'spec.paramKind',
        kindRefusal,
      )
  })

  test('a binding: every way to name an object that the writer cannot read', async () => {
    const tenant = as(running.client, 'tenant')
    expectStatus(await tenant('POST', bindings, policyBindingOf('bound', 'of-secrets')), 201)
    const wanted = (name: string) => policyBindingOf(name, 'of-secrets', secret())
    const { ways, fresh } = waysToWrite(bindings, 'ValidatingAdmissionPolicyBinding', 'bound', wanted)
    const put = await putOf(bindings, wanted('bound'))
    for (const way of [...ways, put].flatMap((one) => [one, dryRunOf(one)]))
      expectRefusal(await tenant(...way), 'spec.paramRef', refRefusal)
    expectFailure(await running.client.get(`${bindings}/${fresh}`), 404, 'NotFound')
    for (const way of [...ways, put].map(dryRunOf)) await expectSuccess('one-secret', way)
    expectRefusal(
      await as(running.client, 'one-secret')('POST', bindings, policyBindingOf('other', 'of-secrets', { ...secret(), name: 't' })),
      'spec.paramRef',
      refRefusal,
    )
  })

  test('a binding: another policy makes the same reference a different object', async () => {
    const tenant = as(running.client, 'tenant')
    expectStatus(await tenant('POST', bindings, policyBindingOf('moved', 'of-maps', secret())), 201)
    const moved = { spec: { policyName: 'of-secrets' } }
    expectRefusal(await tenant('PATCH', `${bindings}/moved`, moved, merge), 'spec.paramRef', refRefusal)
    // The policy cannot be moved to the kind either.
    expectStatus(await tenant('POST', policies, policyOf('turned', { paramKind: mapKind })), 201)
    expectStatus(await tenant('POST', bindings, policyBindingOf('turned', 'turned', secret())), 201)
    const turned = { spec: { paramKind: secretKind } }
    expectRefusal(await tenant('PATCH', `${policies}/turned`, turned, merge), 'spec.paramKind', kindRefusal)
    // Nor with a step without any kind in between.
    const plain = { spec: { paramKind: null } }
    expectStatus(await tenant('PATCH', `${policies}/turned`, plain, merge), 200)
    expectRefusal(await tenant('PATCH', `${policies}/turned`, turned, merge), 'spec.paramKind', kindRefusal)
  })

  test('a missing policy or one without paramKind: only readers of everything may name parameters', async () => {
    expectStatus(await running.client.post(policies, policyOf('plain')), 201)
    for (const policyName of ['missing', 'plain']) {
      const wanted = policyBindingOf(`to-${policyName}`, policyName, secret())
      for (const user of ['tenant', 'secret-reader'])
        expectRefusal(await as(running.client, user)('POST', bindings, wanted), 'spec.paramRef', refRefusal)
      expectStatus(await as(running.client, 'reader')('POST', bindings, wanted), 201)
      expectStatus(await as(running.client, 'tenant')('POST', bindings, policyBindingOf(`no-ref-${policyName}`, policyName)), 201)
    }
  })

  test('a kind that is not served: only readers of the whole API group may name it', async () => {
    const wanted = (name: string) => policyOf(name, { paramKind: { apiVersion: 'shop.example.com/v1', kind: 'Shelf' } })
    for (const user of ['tenant', 'secret-reader'])
      expectRefusal(await as(running.client, user)('POST', policies, wanted('shelf')), 'spec.paramKind', kindRefusal)
    for (const user of ['shop-reader', 'reader']) expectStatus(await as(running.client, user)('POST', policies, wanted(`by-${user}`)), 201)
    const ref = { name: 'x', namespace }
    const toShelf = policyBindingOf('to-shelf', 'by-reader', ref)
    expectRefusal(await as(running.client, 'tenant')('POST', bindings, toShelf), 'spec.paramRef', refRefusal)
    expectStatus(await as(running.client, 'shop-reader')('POST', bindings, toShelf), 201)
    const definition = {
      metadata: { name: 'shelves.shop.example.com' },
      spec: {
        group: 'shop.example.com',
        scope: 'Namespaced',
        names: { plural: 'shelves', kind: 'Shelf' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    }
    expectStatus(await running.client.post(definitions, definition), 201)
    await until(
      () => running.client.get('/apis/shop.example.com/v1/shelves'),
      ({ status }) => status === 200,
    )
    // Once it is served, permission on the resource is enough, and still needed.
    expectRefusal(await as(running.client, 'tenant')('POST', policies, wanted('shelf')), 'spec.paramKind', kindRefusal)
    await grant(running.client, 'shelf-reader', [
      writePolicies,
      { apiGroups: ['shop.example.com'], resources: ['shelves'], verbs: ['get'] },
    ])
    expectStatus(await as(running.client, 'shelf-reader')('POST', policies, wanted('shelf')), 201)
  })

  test('writes that leave the parameters alone need no permission on them', async () => {
    const { client } = running
    expectStatus(await client.post(policies, policyOf('admin', { paramKind: secretKind })), 201)
    expectStatus(await client.post(bindings, policyBindingOf('admin', 'admin', secret())), 201)
    const tenant = as(client, 'tenant')
    const labels = { metadata: { labels: { a: 'b' }, finalizers: ['a/b'] } }
    for (const path of [`${policies}/admin`, `${bindings}/admin`]) {
      expectStatus(await tenant('PATCH', path, labels, merge), 200)
      expectStatus(await tenant('PATCH', path, { metadata: { finalizers: null } }, merge), 200)
    }
    expectStatus(await tenant('PATCH', `${policies}/admin`, { spec: { failurePolicy: 'Ignore' } }, merge), 200)
    const printing = { spec: { validations: [{ expression: 'string(params.data.key) == object.metadata.name' }] } }
    expectRefusal(await tenant('PATCH', `${policies}/admin`, printing, merge), 'spec.paramKind', kindRefusal)
    expectStatus(await tenant('PATCH', `${bindings}/admin`, { spec: { matchResources: { matchPolicy: 'Exact' } } }, merge), 200)
    expectStatus(await tenant('PATCH', `${bindings}/admin`, { spec: { paramRef: null } }, merge), 200)
    expectStatus(await tenant('PATCH', `${policies}/admin`, { spec: { paramKind: null } }, merge), 200)
  })

  test('an invalid object is refused for its other faults first', async () => {
    const wanted = policyOf('faulty', { paramKind: secretKind, expression: 'nothing.here' })
    const { message = '' } = expectFailure(await as(running.client, 'tenant')('POST', policies, wanted), 422, 'Invalid')
    assert.match(message, /undeclared reference/)
    assert.doesNotMatch(message, /permission/)
  })

  test('a secret cannot be guessed from denials, also with a policy that is validated in the worker thread', async () => {
    const tenant = as(running.client, 'tenant')
    const guess = `string(params.data.key).startsWith('c')${' '.repeat(6000)}`
    const wanted = policyOf('guess', { paramKind: secretKind, expression: guess, resource: 'configmaps' })
    expectRefusal(await tenant('POST', policies, wanted), 'spec.paramKind', kindRefusal)
    const harmless = policyOf('guess', { paramKind: mapKind, expression: guess, resource: 'configmaps' })
    expectStatus(await tenant('POST', policies, harmless), 201)
    const only = { matchResources: { objectSelector: { matchLabels: { guess: 'yes' } } } }
    const bound = policyBindingOf('guess', 'guess', secret())
    expectStatus(await tenant('POST', bindings, { ...bound, spec: { ...bound.spec, ...only } }), 201)
    expectRefusal(await tenant('PATCH', `${policies}/guess`, { spec: { paramKind: secretKind } }, merge), 'spec.paramKind', kindRefusal)
    const object = configMapOf('guess')
    const labelled = { ...object, metadata: { ...object.metadata, labels: { guess: 'yes' } } }
    const { message } = expectFailure(await tenant('POST', configMaps(namespace), labelled), 422, 'Invalid')
    assert.match(message ?? '', /failed to configure binding: s not found$/)
  })
})

test('parameters of admission policies under the original identifiers', async () => {
  const running = await startEmbedded('memory', [...flags, '--identity=kubernetes'])
  const [policyGroup, rbacGroup] = ['admissionregistration.k8s.io', 'rbac.authorization.k8s.io']
  const role = { metadata: { name: 'tenant' }, rules: [{ ...writePolicies, apiGroups: [policyGroup] }] }
  const roleRef = { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'tenant' }
  const binding = { metadata: { name: 'tenant' }, roleRef, subjects: [{ kind: 'User', name: 'tenant' }] }
  expectStatus(await running.client.post(`/apis/${rbacGroup}/v1/clusterroles`, role), 201)
  expectStatus(await running.client.post(`/apis/${rbacGroup}/v1/clusterrolebindings`, binding), 201)
  const path = `/apis/${policyGroup}/v1alpha1/validatingadmissionpolicies`
  const answer = await as(running.client, 'tenant')('POST', path, policyOf('p', { paramKind: secretKind }))
  expectRefusal(answer, 'spec.paramKind', kindRefusal)
  await running.close()
})
