// ValidatingAdmissionPolicy in a whole server: changes, custom resources as objects and parameters, metrics.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { startEmbedded } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, newNamespace, until } from '../../../../test/kit/fixtures.js'
import { readMetrics } from '../../../../test/kit/metrics-text.js'

const flags = ['--feature-gates=ValidatingAdmissionPolicy=true', '--runtime-config=api/alpha=true']
const base = '/apis/admissionregistration.cluster.io/v1alpha1'
const policiesPath = `${base}/validatingadmissionpolicies`
const bindingsPath = `${base}/validatingadmissionpolicybindings`
const merge = { 'content-type': 'application/merge-patch+json' }

const policyOf = (name: string, expression: string, [apiGroup, version, resource]: readonly string[], more: object = {}) => ({
  metadata: { name },
  spec: {
    matchConstraints: {
      resourceRules: [{ operations: ['CREATE', 'UPDATE'], apiGroups: [apiGroup], apiVersions: [version], resources: [resource] }],
    },
    validations: [{ expression }],
    ...more,
  },
})

async function createWithBinding(client: ApiClient, policy: ReturnType<typeof policyOf>, more: object = {}): Promise<void> {
  expectStatus(await client.post(policiesPath, policy), 201)
  const { name } = policy.metadata
  expectStatus(await client.post(bindingsPath, { metadata: { name }, spec: { policyName: name, ...more } }), 201)
}

const configMapsResource = ['', 'v1', 'configmaps']

test('a policy applies from the next request, to small and large objects, until its binding is deleted', async () => {
  const { client, close } = await startEmbedded('memory', flags)
  const namespace = await newNamespace(client)
  const path = configMaps(namespace)
  await createWithBinding(client, policyOf('few', 'size(object.data) < 3', configMapsResource))
  const rejection = expectFailure(await client.post(path, configMapOf('many', { data: { a: '', b: '', c: '' } })), 422, 'Invalid')
  assert.match(
    rejection.message ?? '',
    /"many" is forbidden: ValidatingAdmissionPolicy 'few' with binding 'few' denied request: failed expression/,
  )
  expectStatus(await client.post(path, configMapOf('two', { data: { a: '', b: '' } })), 201)
  expectFailure(await client.send({ method: 'PATCH', path: `${path}/two`, headers: merge, body: { data: { c: '' } } }), 422, 'Invalid')
  const large = configMapOf('large', { data: { a: 'a'.repeat(700_000), b: '', c: '' } })
  expectFailure(await client.post(path, large), 422, 'Invalid')
  const { samples } = readMetrics((await client.get('/metrics')).text)
  const sampleOf = (metric: string) => samples.find(({ name }) => name === `apiserver_validating_admission_policy_${metric}`)
  assert.equal(sampleOf('definition_total')?.value, 1)
  assert.deepEqual(sampleOf('check_total')?.labels, { enforcement_action: 'deny', policy: 'few', policy_binding: 'few', state: 'active' })
  expectStatus(await client.send({ method: 'DELETE', path: `${bindingsPath}/few` }), 200)
  expectStatus(await client.post(path, large), 201)
  await close()
})

test('custom resources as objects and parameters', async () => {
  const { client, close } = await startEmbedded('memory', flags)
  const kind = (plural: string, Kind: string, scope: string) => ({
    apiVersion: 'apiextensions.cluster.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope,
      names: { plural, kind: Kind },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  })
  for (const definition of [kind('shops', 'Shop', 'Namespaced'), kind('limits', 'Limit', 'Cluster')])
    expectStatus(await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', definition), 201)
  const limits = '/apis/example.com/v1/limits'
  const isServed = ({ status }: { status: number }): boolean => status !== 404
  const limit = { apiVersion: 'example.com/v1', kind: 'Limit', metadata: { name: 'l' }, most: 3 }
  expectStatus(await until(() => client.post(limits, limit), isServed), 201)
  const namespace = await newNamespace(client)
  const shops = `/apis/example.com/v1/namespaces/${namespace}/shops`
  const expression = 'object.size <= params.most && !has(object.metadata.resourceVersion) && object.metadata.name == request.name'
  const paramKind = { apiVersion: 'example.com/v1', kind: 'Limit' }
  await createWithBinding(client, policyOf('size', expression, ['example.com', '*', 'shops'], { paramKind }), { paramRef: { name: 'l' } })
  const shop = (name: string, size: number) => ({ apiVersion: 'example.com/v1', kind: 'Shop', metadata: { name }, size })
  expectStatus(await until(() => client.post(shops, shop('small', 3)), isServed), 201)
  expectFailure(await client.post(shops, shop('large', 4)), 422, 'Invalid')
  expectStatus(await client.send({ method: 'PATCH', path: `${limits}/l`, headers: merge, body: { most: 4 } }), 200)
  expectStatus(await client.post(shops, shop('large', 4)), 201)
  expectStatus(await client.send({ method: 'DELETE', path: `${limits}/l` }), 200)
  const { message } = expectFailure(await client.post(shops, shop('more', 1)), 422, 'Invalid')
  assert.match(message ?? '', /denied request: failed to configure binding: l not found$/)
  await close()
})

test('without the feature gate policies are stored and not enforced', async () => {
  const { client, close } = await startEmbedded('memory', ['--runtime-config=api/all=true'])
  try {
    const spec = {
      matchConstraints: { resourceRules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }] },
      validations: [{ expression: 'false' }],
    }
    expectStatus(await client.post(policiesPath, { metadata: { name: 'never' }, spec }), 201)
    const binding = { metadata: { name: 'never' }, spec: { policyName: 'never' } }
    expectStatus(await client.post(bindingsPath, binding), 201)
    expectStatus(await client.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } }), 201)
    const { json } = await client.get('/apis/admissionregistration.cluster.io')
    const { versions } = json as unknown as { readonly versions: readonly { readonly version: string }[] }
    assert.deepEqual(
      versions.map(({ version }) => version),
      ['v1', 'v1alpha1'],
    )
  } finally {
    await close()
  }
})
