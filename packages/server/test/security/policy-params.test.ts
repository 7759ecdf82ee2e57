// Admission policy parameters: writers of policies and bindings need permission to read the parameters.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, newNamespace, untilStatus } from '../../../../test/kit/fixtures.js'
import { apply, as, grant, json, merge, type RuleInput, strategic } from './users.js'

const flags = ['--feature-gates=ValidatingAdmissionPolicy=true', '--runtime-config=api/alpha=true']
const group = 'admissionregistration.cluster.io'
const policiesPath = `/apis/${group}/v1alpha1/validatingadmissionpolicies`
const bindingsPath = `/apis/${group}/v1alpha1/validatingadmissionpolicybindings`
const crdPath = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'

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

/** A policy for creates of `resource`; the default matches no resource. */
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

type ApiResponse = Parameters<typeof expectFailure>[0]

function expectRejection(response: ApiResponse, field: 'spec.paramKind' | 'spec.paramRef', text: RegExp): void {
  const { message = '', details } = expectFailure(response, 422, 'Invalid')
  assert.match(message, text)
  const causes = (details as { causes?: readonly { reason: string; field: string }[] }).causes ?? []
  assert.deepEqual(
    causes.map(({ reason, field: at }) => [reason, at]),
    [['FieldValueForbidden', field]],
  )
}

const kindRejection =
  /is invalid: spec\.paramKind: Forbidden: user .* must have "get" permission on all objects of the referenced paramKind/
const refRejection = /is invalid: spec\.paramRef: Forbidden: user .* does not have "get" permission on the object referenced by paramRef$/

type Setup = readonly [method: string, path: string, body: unknown, headers?: Record<string, string>]

/** Requests that write `objectOf(name)`: POST, each patch type at an existing name, and apply at an existing and at a new name. */
function writesOf(path: string, kind: string, exists: string, objectOf: (name: string) => { readonly metadata: object; spec: object }) {
  const typed = { apiVersion: `${group}/v1alpha1`, kind }
  const newName = `${exists}-fresh`
  const { spec } = objectOf(exists)
  const writes: readonly Setup[] = [
    ['POST', path, objectOf(newName)],
    ['POST', path, { metadata: { generateName: 'g-' }, spec }],
    ['PATCH', `${path}/${exists}`, { spec }, merge],
    ['PATCH', `${path}/${exists}`, { spec }, strategic],
    ['PATCH', `${path}/${exists}`, [{ op: 'replace', path: '/spec', value: spec }], json],
    ['PATCH', `${path}/${exists}?fieldManager=m&force=true`, { ...typed, ...objectOf(exists) }, apply],
    ['PATCH', `${path}/${newName}?fieldManager=m&force=true`, { ...typed, ...objectOf(newName) }, apply],
  ]
  return { writes, fresh: newName }
}

const dryRunOf = ([method, path, ...rest]: Setup): Setup => [method, `${path}${path.includes('?') ? '&' : '?'}dryRun=All`, ...rest]

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
    expectStatus(await client.post(policiesPath, policyOf('of-secrets', { paramKind: secretKind })), 201)
    expectStatus(await client.post(policiesPath, policyOf('of-maps', { paramKind: mapKind })), 201)
  })
  after(() => running.close())
  const secret = () => ({ name: 's', namespace })

  async function versionOf(path: string): Promise<string> {
    const { json: object } = expectStatus(await running.client.get(path), 200)
    return (object['metadata'] as { resourceVersion: string }).resourceVersion
  }

  async function expectSuccess(user: string, write: Setup): Promise<void> {
    const { status } = await as(running.client, user)(...write)
    assert.ok(status === 200 || status === 201, `${write[0]} ${write[1]}: ${status}`)
  }

  async function putOf(path: string, object: { readonly metadata: { readonly name: string } }): Promise<Setup> {
    const at = `${path}/${object.metadata.name}`
    return ['PUT', at, { ...object, metadata: { ...object.metadata, resourceVersion: await versionOf(at) } }]
  }

  test('a policy: every way to name a kind that the writer cannot read', async () => {
    const tenant = as(running.client, 'tenant')
    expectStatus(await tenant('POST', policiesPath, policyOf('own', { paramKind: mapKind })), 201)
    const objectOf = (name: string) => policyOf(name, { paramKind: secretKind })
    const { writes, fresh } = writesOf(policiesPath, 'ValidatingAdmissionPolicy', 'own', objectOf)
    const put = await putOf(policiesPath, objectOf('own'))
    for (const write of [...writes, put].flatMap((each) => [each, dryRunOf(each)]))
      expectRejection(await tenant(...write), 'spec.paramKind', kindRejection)
    const { json: stored } = expectStatus(await running.client.get(`${policiesPath}/own`), 200)
    assert.deepEqual((stored['spec'] as { paramKind: unknown }).paramKind, mapKind)
    expectFailure(await running.client.get(`${policiesPath}/${fresh}`), 404, 'NotFound')
    for (const write of [...writes, put].map(dryRunOf)) await expectSuccess('secret-reader', write)
  })

  test('a policy: permission on one name or in one namespace is not enough', async () => {
    await grant(running.client, 'local', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }], namespace)
    await grant(running.client, 'local', [writePolicies])
    for (const user of ['one-secret', 'local'])
      expectRejection(
        await as(running.client, user)('POST', policiesPath, policyOf(`of-${user}`, { paramKind: secretKind })),
        'spec.paramKind',
        kindRejection,
      )
  })

  test('a binding: every way to name an object that the writer cannot read', async () => {
    const tenant = as(running.client, 'tenant')
    expectStatus(await tenant('POST', bindingsPath, policyBindingOf('bound', 'of-secrets')), 201)
    const objectOf = (name: string) => policyBindingOf(name, 'of-secrets', secret())
    const { writes, fresh } = writesOf(bindingsPath, 'ValidatingAdmissionPolicyBinding', 'bound', objectOf)
    const put = await putOf(bindingsPath, objectOf('bound'))
    for (const write of [...writes, put].flatMap((each) => [each, dryRunOf(each)]))
      expectRejection(await tenant(...write), 'spec.paramRef', refRejection)
    expectFailure(await running.client.get(`${bindingsPath}/${fresh}`), 404, 'NotFound')
    for (const write of [...writes, put].map(dryRunOf)) await expectSuccess('one-secret', write)
    expectRejection(
      await as(running.client, 'one-secret')('POST', bindingsPath, policyBindingOf('other', 'of-secrets', { ...secret(), name: 't' })),
      'spec.paramRef',
      refRejection,
    )
  })

  test('a binding: another policy makes the same reference a different object', async () => {
    const tenant = as(running.client, 'tenant')
    expectStatus(await tenant('POST', bindingsPath, policyBindingOf('moved', 'of-maps', secret())), 201)
    const toOtherPolicy = { spec: { policyName: 'of-secrets' } }
    expectRejection(await tenant('PATCH', `${bindingsPath}/moved`, toOtherPolicy, merge), 'spec.paramRef', refRejection)
    expectStatus(await tenant('POST', policiesPath, policyOf('turned', { paramKind: mapKind })), 201)
    expectStatus(await tenant('POST', bindingsPath, policyBindingOf('turned', 'turned', secret())), 201)
    const withSecretKind = { spec: { paramKind: secretKind } }
    expectRejection(await tenant('PATCH', `${policiesPath}/turned`, withSecretKind, merge), 'spec.paramKind', kindRejection)
    const withoutParamKind = { spec: { paramKind: null } }
    expectStatus(await tenant('PATCH', `${policiesPath}/turned`, withoutParamKind, merge), 200)
    expectRejection(await tenant('PATCH', `${policiesPath}/turned`, withSecretKind, merge), 'spec.paramKind', kindRejection)
  })

  test('a missing policy or one without paramKind: only readers of everything may name parameters', async () => {
    expectStatus(await running.client.post(policiesPath, policyOf('plain')), 201)
    for (const policyName of ['missing', 'plain']) {
      const binding = policyBindingOf(`to-${policyName}`, policyName, secret())
      for (const user of ['tenant', 'secret-reader'])
        expectRejection(await as(running.client, user)('POST', bindingsPath, binding), 'spec.paramRef', refRejection)
      expectStatus(await as(running.client, 'reader')('POST', bindingsPath, binding), 201)
      expectStatus(await as(running.client, 'tenant')('POST', bindingsPath, policyBindingOf(`no-ref-${policyName}`, policyName)), 201)
    }
  })

  test('a kind that is not served: only readers of the whole API group may name it', async () => {
    const objectOf = (name: string) => policyOf(name, { paramKind: { apiVersion: 'shop.example.com/v1', kind: 'Shelf' } })
    for (const user of ['tenant', 'secret-reader'])
      expectRejection(await as(running.client, user)('POST', policiesPath, objectOf('shelf')), 'spec.paramKind', kindRejection)
    for (const user of ['shop-reader', 'reader'])
      expectStatus(await as(running.client, user)('POST', policiesPath, objectOf(`by-${user}`)), 201)
    const ref = { name: 'x', namespace }
    const toShelf = policyBindingOf('to-shelf', 'by-reader', ref)
    expectRejection(await as(running.client, 'tenant')('POST', bindingsPath, toShelf), 'spec.paramRef', refRejection)
    expectStatus(await as(running.client, 'shop-reader')('POST', bindingsPath, toShelf), 201)
    const definition = {
      metadata: { name: 'shelves.shop.example.com' },
      spec: {
        group: 'shop.example.com',
        scope: 'Namespaced',
        names: { plural: 'shelves', kind: 'Shelf' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    }
    expectStatus(await running.client.post(crdPath, definition), 201)
    await untilStatus(() => running.client.get('/apis/shop.example.com/v1/shelves'), 200)
    // Once the kind is served, permission on its resource is enough, and still needed.
    expectRejection(await as(running.client, 'tenant')('POST', policiesPath, objectOf('shelf')), 'spec.paramKind', kindRejection)
    await grant(running.client, 'shelf-reader', [
      writePolicies,
      { apiGroups: ['shop.example.com'], resources: ['shelves'], verbs: ['get'] },
    ])
    expectStatus(await as(running.client, 'shelf-reader')('POST', policiesPath, objectOf('shelf')), 201)
  })

  test('writes that leave the parameters alone need no permission on them', async () => {
    const { client } = running
    expectStatus(await client.post(policiesPath, policyOf('admin', { paramKind: secretKind })), 201)
    expectStatus(await client.post(bindingsPath, policyBindingOf('admin', 'admin', secret())), 201)
    const tenant = as(client, 'tenant')
    const labels = { metadata: { labels: { a: 'b' }, finalizers: ['a/b'] } }
    for (const path of [`${policiesPath}/admin`, `${bindingsPath}/admin`]) {
      expectStatus(await tenant('PATCH', path, labels, merge), 200)
      expectStatus(await tenant('PATCH', path, { metadata: { finalizers: null } }, merge), 200)
    }
    expectStatus(await tenant('PATCH', `${policiesPath}/admin`, { spec: { failurePolicy: 'Ignore' } }, merge), 200)
    const printing = { spec: { validations: [{ expression: 'string(params.data.key) == object.metadata.name' }] } }
    expectRejection(await tenant('PATCH', `${policiesPath}/admin`, printing, merge), 'spec.paramKind', kindRejection)
    expectStatus(await tenant('PATCH', `${bindingsPath}/admin`, { spec: { matchResources: { matchPolicy: 'Exact' } } }, merge), 200)
    expectStatus(await tenant('PATCH', `${bindingsPath}/admin`, { spec: { paramRef: null } }, merge), 200)
    expectStatus(await tenant('PATCH', `${policiesPath}/admin`, { spec: { paramKind: null } }, merge), 200)
  })

  test('an invalid object is rejected by validation first', async () => {
    const policy = policyOf('faulty', { paramKind: secretKind, expression: 'nothing.here' })
    const { message = '' } = expectFailure(await as(running.client, 'tenant')('POST', policiesPath, policy), 422, 'Invalid')
    assert.match(message, /undeclared reference/)
    assert.doesNotMatch(message, /permission/)
  })

  test('a secret cannot be guessed from denials, also with a policy that is validated in the worker thread', async () => {
    const tenant = as(running.client, 'tenant')
    const guess = `string(params.data.key).startsWith('c')${' '.repeat(6000)}`
    const policy = policyOf('guess', { paramKind: secretKind, expression: guess, resource: 'configmaps' })
    expectRejection(await tenant('POST', policiesPath, policy), 'spec.paramKind', kindRejection)
    const harmless = policyOf('guess', { paramKind: mapKind, expression: guess, resource: 'configmaps' })
    expectStatus(await tenant('POST', policiesPath, harmless), 201)
    const only = { matchResources: { objectSelector: { matchLabels: { guess: 'yes' } } } }
    const bound = policyBindingOf('guess', 'guess', secret())
    expectStatus(await tenant('POST', bindingsPath, { ...bound, spec: { ...bound.spec, ...only } }), 201)
    expectRejection(
      await tenant('PATCH', `${policiesPath}/guess`, { spec: { paramKind: secretKind } }, merge),
      'spec.paramKind',
      kindRejection,
    )
    const object = configMapOf('guess')
    const labelled = { ...object, metadata: { ...object.metadata, labels: { guess: 'yes' } } }
    const { message } = expectFailure(await tenant('POST', configMaps(namespace), labelled), 422, 'Invalid')
    assert.match(message ?? '', /failed to configure binding: s not found$/)
  })
})

test('parameters of admission policies with identity kubernetes', async () => {
  const running = await startEmbedded('memory', [...flags, '--identity=kubernetes'])
  const [policyGroup, rbacGroup] = ['admissionregistration.k8s.io', 'rbac.authorization.k8s.io']
  const role = { metadata: { name: 'tenant' }, rules: [{ ...writePolicies, apiGroups: [policyGroup] }] }
  const roleRef = { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'tenant' }
  const binding = { metadata: { name: 'tenant' }, roleRef, subjects: [{ kind: 'User', name: 'tenant' }] }
  expectStatus(await running.client.post(`/apis/${rbacGroup}/v1/clusterroles`, role), 201)
  expectStatus(await running.client.post(`/apis/${rbacGroup}/v1/clusterrolebindings`, binding), 201)
  const path = `/apis/${policyGroup}/v1alpha1/validatingadmissionpolicies`
  const response = await as(running.client, 'tenant')('POST', path, policyOf('p', { paramKind: secretKind }))
  expectRejection(response, 'spec.paramKind', kindRejection)
  await running.close()
})
