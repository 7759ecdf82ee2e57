// What one worker process has acknowledged holds on the others at once: kinds, admission, permissions, accounts, namespaces, addresses.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Access, ApiClient } from '../../../../test/kit/api-client.js'
import { configMapOf, configMaps, expectStatus, until, untilStatus, wareCrd } from '../../../../test/kit/fixtures.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'

const crds = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
const policies = '/apis/admissionregistration.cluster.io/v1alpha1'
const rbac = '/apis/rbac.authorization.cluster.io/v1/namespaces'
const rounds = 5

interface Crd {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

const isEstablished = (crd: Crd): boolean =>
  crd.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true

describe('two worker processes', () => {
  let server: ServerProcess
  let clients: readonly [ApiClient, ApiClient]
  before(async () => {
    const gate = ['--feature-gates=ValidatingAdmissionPolicy=true', '--runtime-config=api/alpha=true']
    // Each request in the log has the number of its worker.
    server = await ServerProcess.start({ flags: ['--workers=2', '--v=6', ...gate] })
    clients = await clientOfEach(server.access)
  })
  after(async () => {
    for (const client of clients) client.close()
    await server.stop()
  })

  /** Consecutive requests of one client use one connection, so one worker. */
  async function clientOfEach(access: Access): Promise<readonly [ApiClient, ApiClient]> {
    const found = new Map<number, ApiClient>()
    for (let i = 0; found.size < 2; i++) {
      const client = new ApiClient(access)
      const path = `/of-which-worker/${access.token?.slice(-20)}/${i}`
      await client.get(path)
      const line = await until(
        async () => server.stderr.split('\n').find((text) => text.includes(`"${path}"`)),
        (text) => text !== undefined,
      )
      const { worker } = JSON.parse(line ?? '') as { readonly worker: number }
      if (found.has(worker)) client.close()
      else found.set(worker, client)
    }
    return [...found.values()] as [ApiClient, ApiClient]
  }

  const inBothOrders = async (run: (first: ApiClient, second: ApiClient, round: number) => Promise<void>): Promise<void> => {
    const [one, two] = clients
    for (let round = 0; round < rounds; round++) await (round % 2 === 0 ? run(one, two, round) : run(two, one, round))
  }

  test('a kind, its new schema and its removal', () =>
    inBothOrders(async (first, second) => {
      const crdWith = (maximum: number) => wareCrd({ type: 'object', properties: { spec: { type: 'integer', maximum } } })
      const path = `${crds}/wares.shop.example.com`
      const wares = '/apis/shop.example.com/v1/namespaces/default/wares'
      const wareOf = (name: string, spec: number) => ({ apiVersion: 'shop.example.com/v1', kind: 'Ware', metadata: { name }, spec })
      expectStatus(await first.post(crds, crdWith(1)), 201)
      // Without a pause: the second worker is asked as early as possible.
      for (let tries = 0; !isEstablished((await first.get(path)).json as Crd); tries++) assert.ok(tries < 10_000, 'not established')
      expectStatus(await second.post(wares, wareOf('a', 1)), 201)
      expectStatus(await second.get('/apis/shop.example.com/v1'), 200)
      expectStatus(await second.get('/openapi/v3/apis/shop.example.com/v1'), 200)
      expectStatus(await second.post(wares, wareOf('b', 2)), 422)
      expectStatus(await first.patch(path, 'application/merge-patch+json', { spec: crdWith(2).spec }), 200)
      expectStatus(await second.post(wares, wareOf('b', 2)), 201)
      expectStatus(await first.delete(path), 200)
      await untilStatus(() => first.get(path), 404)
      expectStatus(await second.get(wares), 404)
    }))

  test('a policy and its removal', () =>
    inBothOrders(async (first, second, round) => {
      const name = `policy-${round}`
      const resourceRules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]
      const validations = [{ expression: `object.metadata.name != '${name}'` }]
      expectStatus(
        await first.post(`${policies}/validatingadmissionpolicies`, {
          metadata: { name },
          spec: { matchConstraints: { resourceRules }, validations },
        }),
        201,
      )
      const bindings = `${policies}/validatingadmissionpolicybindings`
      expectStatus(await first.post(bindings, { metadata: { name }, spec: { policyName: name } }), 201)
      expectStatus(await second.post(configMaps('default'), configMapOf(name)), 422)
      expectStatus(await first.delete(`${bindings}/${name}`), 200)
      expectStatus(await second.post(configMaps('default'), configMapOf(name)), 201)
    }))

  test('an account, its permission, and the end of both', () =>
    inBothOrders(async (first, second, round) => {
      const name = `account-${round}`
      const accounts = '/api/v1/namespaces/default/serviceaccounts'
      expectStatus(await first.post(accounts, { metadata: { name } }), 201)
      const { status } = expectStatus(await second.post(`${accounts}/${name}/token`, { spec: {} }), 201).json as unknown as {
        readonly status: { readonly token: string }
      }
      const robots = await clientOfEach({ ...server.access, token: status.token })
      const expectAll = async (code: number): Promise<void> => {
        for (const robot of robots) expectStatus(await robot.get(configMaps('default')), code)
      }
      await expectAll(403)
      const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
      expectStatus(await first.post(`${rbac}/default/roles`, { metadata: { name }, rules }), 201)
      const roleRef = { apiGroup: 'rbac.authorization.cluster.io', kind: 'Role', name }
      const subjects = [{ kind: 'ServiceAccount', namespace: 'default', name }]
      expectStatus(await second.post(`${rbac}/default/rolebindings`, { metadata: { name }, roleRef, subjects }), 201)
      await expectAll(200)
      expectStatus(await first.put(`${rbac}/default/roles/${name}`, { metadata: { name }, rules: [] }), 200)
      await expectAll(403)
      expectStatus(await second.delete(`${accounts}/${name}`), 200)
      await expectAll(401)
      for (const robot of robots) robot.close()
    }))

  test('a namespace and its end', () =>
    inBothOrders(async (first, second, round) => {
      const name = `namespace-${round}`
      expectStatus(await first.post('/api/v1/namespaces', { metadata: { name } }), 201)
      expectStatus(await second.post(configMaps(name), configMapOf('a', { finalizers: ['example.com/wait'] })), 201)
      expectStatus(await first.delete(`/api/v1/namespaces/${name}`), 200)
      expectStatus(await second.post(configMaps(name), configMapOf('b')), 403)
      expectStatus(await second.patch(configMaps(name, 'a'), 'application/merge-patch+json', { metadata: { finalizers: null } }), 200)
      await untilStatus(() => first.get(`/api/v1/namespaces/${name}`), 404)
      expectStatus(await second.post(configMaps(name), configMapOf('b')), 404)
    }))

  test('one of two requests gets an address, a node port or the last eviction', () =>
    inBothOrders(async (first, second, round) => {
      const both = [first, second]
      const services = '/api/v1/namespaces/default/services'
      const createdOf = (responses: readonly { readonly status: number }[]) => responses.filter(({ status }) => status === 201).length
      const { spec } = expectStatus(
        await first.post(services, { metadata: { name: `first-${round}` }, spec: { ports: [{ port: 80 }] } }),
        201,
      ).json as unknown as { readonly spec: { readonly clusterIP: string } }
      expectStatus(await second.delete(`${services}/first-${round}`), 200)
      const send = (serviceSpec: object, kind: string) =>
        Promise.all(both.map((client, i) => client.post(services, { metadata: { name: `${kind}-${round}-${i}` }, spec: serviceSpec })))
      assert.equal(createdOf(await send({ clusterIP: spec.clusterIP, ports: [{ port: 80 }] }, 'address')), 1)
      assert.equal(createdOf(await send({ type: 'NodePort', ports: [{ port: 80, nodePort: 30100 + round }] }, 'port')), 1)
      const pods = '/api/v1/namespaces/default/pods'
      const labels = { app: `pods-${round}` }
      await until(
        () => first.get('/api/v1/namespaces/default/serviceaccounts/default'),
        ({ status }) => status === 200,
      )
      for (const i of [0, 1]) {
        const containers = [{ name: 'main', image: 'app:1' }]
        expectStatus(await first.post(pods, { metadata: { name: `pod-${round}-${i}`, labels }, spec: { containers } }), 201)
        const conditions = [{ type: 'Ready', status: 'True' }]
        const status = { phase: 'Running', conditions }
        expectStatus(await second.patch(`${pods}/pod-${round}-${i}/status`, 'application/merge-patch+json', { status }), 200)
      }
      const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
      const name = `budget-${round}`
      expectStatus(await first.post(budgets, { metadata: { name }, spec: { minAvailable: 1, selector: { matchLabels: labels } } }), 201)
      const status = { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, observedGeneration: 1 }
      expectStatus(await second.patch(`${budgets}/${name}/status`, 'application/merge-patch+json', { status }), 200)
      const evictions = both.map((client, i) =>
        client.post(`${pods}/pod-${round}-${i}/eviction`, {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: `pod-${round}-${i}` },
        }),
      )
      assert.equal(createdOf(await Promise.all(evictions)), 1)
    }))
})
