// Defaults of pods, subresources (binding, eviction, log, exec, proxy, scale), Service addresses and reviews.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { everyKind, onDefaultEngine } from '../../../../test/kit/embedded.js'
import { expectFailure, expectStatus, newNamespace, untilStatus } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'

const pods = (namespace: string, rest = ''): string => `/api/v1/namespaces/${namespace}/pods${rest}`
const services = (namespace: string, rest = ''): string => `/api/v1/namespaces/${namespace}/services${rest}`
const podOf = (name: string, more: object = {}) => ({
  metadata: { name, labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'i' }], ...more },
})

/** A namespace with its default ServiceAccount, in which pods can be created. */
async function namespaceForPods(client: ApiClient, prefix: string): Promise<string> {
  const namespace = await newNamespace(client, prefix)
  await untilStatus(() => client.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`), 200)
  return namespace
}

const specOf = (object: JsonObject) => object['spec'] as { readonly [field: string]: unknown }

// The disruption controller is off: the tests set disruptionsAllowed of PodDisruptionBudgets.
onDefaultEngine(
  'subresources',
  (client) => {
    test('a new pod gets its ServiceAccount, priority, tolerations and token volume', async () => {
      const namespace = await namespaceForPods(client(), 'defaults')
      const spec = specOf(expectStatus(await client().post(pods(namespace), podOf('p')), 201).json)
      assert.equal(spec['serviceAccountName'], 'default')
      assert.equal(spec['priority'], 0)
      assert.equal((spec['tolerations'] as readonly unknown[]).length, 2)
      assert.equal((spec['volumes'] as readonly unknown[]).length, 1)
      expectFailure(await client().post(pods(namespace), podOf('q', { serviceAccountName: 'missing' })), 403, 'Forbidden')
      expectFailure(await client().post(pods(namespace), podOf('q', { priorityClassName: 'none' })), 403, 'Forbidden')
      expectFailure(await client().post(pods(namespace), podOf('q', { runtimeClassName: 'none' })), 403, 'Forbidden')
      const critical = await client().post(pods(namespace), podOf('critical', { priorityClassName: 'system-node-critical' }))
      assert.equal(specOf(expectStatus(critical, 201).json)['priority'], 2_000_001_000)
    })

    test('an update without the fields of the priority class keeps them', async () => {
      const namespace = await namespaceForPods(client(), 'priority')
      const created = expectStatus(
        await client().post(pods(namespace), podOf('p', { priorityClassName: 'system-node-critical' })),
        201,
      ).json
      const { priority: _, preemptionPolicy: __, ...spec } = specOf(created)
      const kept = specOf(expectStatus(await client().put(pods(namespace, '/p'), { ...created, spec }), 200).json)
      assert.equal(kept['priority'], 2_000_001_000)
      assert.equal(kept['preemptionPolicy'], 'PreemptLowerPriority')
      expectFailure(await client().put(pods(namespace, '/p'), { ...created, spec: { ...spec, priority: 1 } }), 422, 'Invalid')
    })

    test('a grace period beyond the range of times is capped', async () => {
      const namespace = await namespaceForPods(client(), 'long-grace')
      for (const [name, gracePeriodSeconds] of [
        ['p', '9007199254740991'],
        ['q', '9223372036854775807'],
      ] as const) {
        expectStatus(await client().post(pods(namespace), podOf(name, { nodeName: 'n1' })), 201)
        const terminating = expectStatus(
          await client().delete(pods(namespace, `/${name}`), `{"gracePeriodSeconds":${gracePeriodSeconds}}`),
          200,
        ).json
        assert.match(String(terminating.metadata.deletionTimestamp), /^9999-12-31T23:59:5/)
        expectStatus(await client().delete(pods(namespace, `/${name}`), { gracePeriodSeconds: 0 }), 200)
      }
    })

    test('a pod is bound once, and is then deleted with its grace period', async () => {
      const namespace = await namespaceForPods(client(), 'placed')
      expectStatus(await client().post(pods(namespace), podOf('p')), 201)
      const binding = (node: string) => ({ metadata: { name: 'p' }, target: { kind: 'Node', name: node } })
      expectFailure(await client().post(pods(namespace, '/p/binding'), binding('')), 400, 'BadRequest')
      const misnamed = { metadata: { name: 'other' }, target: { kind: 'Node', name: 'n1' } }
      expectFailure(await client().post(pods(namespace, '/p/binding'), misnamed), 400, 'BadRequest')
      expectStatus(await client().post(pods(namespace, '/p/binding'), binding('n1')), 201)
      expectFailure(await client().post(pods(namespace, '/p/binding'), binding('n2')), 409, 'Conflict')
      expectFailure(
        await client().post(`/api/v1/namespaces/${namespace}/bindings`, { metadata: { name: 'nope' }, target: { name: 'n' } }),
        404,
        'NotFound',
      )
      assert.equal(specOf((await client().get(pods(namespace, '/p'))).json)['nodeName'], 'n1')
      const terminating = expectStatus(await client().delete(pods(namespace, '/p')), 200).json
      assert.equal(terminating.metadata.deletionGracePeriodSeconds, 30)
      const shorter = expectStatus(await client().delete(pods(namespace, '/p?gracePeriodSeconds=5')), 200).json
      assert.equal(shorter.metadata.deletionGracePeriodSeconds, 5)
      assert.equal(
        expectStatus(await client().delete(pods(namespace, '/p?gracePeriodSeconds=60')), 200).json.metadata.deletionGracePeriodSeconds,
        5,
      )
      expectStatus(await client().delete(pods(namespace, '/p?gracePeriodSeconds=0')), 200)
      expectStatus(await client().get(pods(namespace, '/p')), 404)
    })

    test('watchers see a pod terminating before it is deleted; DELETE returns the version of the deletion', async () => {
      const namespace = await namespaceForPods(client(), 'marked')
      const created = expectStatus(await client().post(pods(namespace), podOf('p')), 201).json
      const watch = await client().watch(pods(namespace, `?watch=1&resourceVersion=${created.metadata.resourceVersion}`))
      const response = expectStatus(await client().delete(pods(namespace, '/p')), 200).json
      const events = await watch.atLeast(2)
      watch.close()
      assert.deepEqual(
        events.map(({ type, object }) => [type, object.metadata['deletionGracePeriodSeconds']]),
        [
          ['MODIFIED', 0],
          ['DELETED', 0],
        ],
      )
      assert.equal(events[1]?.object.metadata.resourceVersion, response.metadata.resourceVersion)
    })

    test('eviction respects the PodDisruptionBudget and names it when no disruption is left', async () => {
      const namespace = await namespaceForPods(client(), 'evicted')
      const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`
      const eviction = (name: string) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } })
      for (const name of ['pending', 'one', 'two']) expectStatus(await client().post(pods(namespace), podOf(name)), 201)
      expectStatus(await client().post(pods(namespace, '/pending/eviction'), eviction('pending')), 201)
      const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
      for (const name of ['one', 'two']) {
        const pod = (await client().get(pods(namespace, `/${name}`))).json
        expectStatus(await client().put(pods(namespace, `/${name}/status`), { ...pod, status: ready }), 200)
      }
      const created = expectStatus(
        await client().post(budgets, { metadata: { name: 'b' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } } }),
        201,
      ).json
      const withoutStatus = await client().post(pods(namespace, '/one/eviction'), eviction('one'))
      expectFailure(withoutStatus, 429, 'TooManyRequests')
      assert.equal(withoutStatus.headers['retry-after'], '10')
      const status = { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 }
      expectStatus(await client().put(`${budgets}/b/status`, { ...created, status }), 200)
      expectFailure(await client().post(pods(namespace, '/one/eviction'), eviction('other')), 400, 'BadRequest')
      const inOtherNamespace = { ...eviction('one'), metadata: { name: 'one', namespace: 'default' } }
      expectFailure(await client().post(pods(namespace, '/one/eviction'), inOtherNamespace), 400, 'BadRequest')
      expectStatus(await client().post(pods(namespace, '/one/eviction'), eviction('one')), 201)
      expectFailure(await client().post(pods(namespace, '/two/eviction'), eviction('two')), 429, 'TooManyRequests')
      const charged = (await client().get(`${budgets}/b`)).json['status'] as {
        readonly disruptionsAllowed: number
        readonly conditions: readonly { readonly lastTransitionTime?: string }[]
      }
      assert.equal(charged.disruptionsAllowed, 0)
      const { lastTransitionTime, ...condition } = charged.conditions[0] ?? {}
      assert.match(lastTransitionTime ?? '', /^\d{4}-/)
      const expected = { type: 'DisruptionAllowed', status: 'False', observedGeneration: 1, reason: 'InsufficientPods', message: '' }
      assert.deepEqual(condition, expected)
    })

    test('an evicted pod has the DisruptionTarget condition; a dry run changes nothing', async () => {
      const namespace = await namespaceForPods(client(), 'told')
      const created = expectStatus(await client().post(pods(namespace), podOf('p', { nodeName: 'n1' })), 201).json
      const evict = (deleteOptions: object) =>
        client().post(pods(namespace, '/p/eviction'), { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions })
      expectStatus(await evict({ dryRun: ['All'] }), 201)
      expectFailure(await evict({ preconditions: { resourceVersion: '1' } }), 409, 'Conflict')
      assert.equal((await client().get(pods(namespace, '/p'))).json.metadata.resourceVersion, created.metadata.resourceVersion)
      expectStatus(await evict({ preconditions: { resourceVersion: created.metadata.resourceVersion } }), 201)
      const { metadata, status } = (await client().get(pods(namespace, '/p'))).json
      const { conditions } = status as unknown as { readonly conditions: readonly { readonly [name: string]: unknown }[] }
      assert.equal(metadata.deletionGracePeriodSeconds, 30)
      assert.deepEqual(
        conditions.map(({ type, status: is, reason }) => [type, is, reason]),
        [['DisruptionTarget', 'True', 'EvictionByEvictionAPI']],
      )
    })

    test('log, exec and proxy of an unscheduled pod are rejected or empty', async () => {
      const namespace = await namespaceForPods(client(), 'connected')
      expectStatus(
        await client().post(
          pods(namespace),
          podOf('p', {
            containers: [
              { name: 'c', image: 'i' },
              { name: 'd', image: 'i' },
            ],
          }),
        ),
        201,
      )
      expectFailure(await client().get(pods(namespace, '/p/log')), 400, 'BadRequest')
      expectFailure(await client().get(pods(namespace, '/p/log?container=e')), 400, 'BadRequest')
      expectFailure(await client().get(pods(namespace, '/p/log?container=c&tailLines=-1')), 422, 'Invalid')
      expectFailure(await client().get(pods(namespace, '/p/log?container=c&limitBytes=0')), 422, 'Invalid')
      expectFailure(await client().get(pods(namespace, '/p/log?container=c&sinceSeconds=1&sinceTime=2024-01-01T00:00:00Z')), 422, 'Invalid')
      expectFailure(await client().get(pods(namespace, '/p/log?container=c&tailLines=few')), 400, 'BadRequest')
      assert.equal(expectStatus(await client().get(pods(namespace, '/p/log?container=c')), 204).text, '')
      expectFailure(await client().get(pods(namespace, '/p/exec?container=c&command=ls')), 400, 'BadRequest')
      expectFailure(await client().get(pods(namespace, '/none/log')), 404, 'NotFound')
      expectFailure(await client().get(pods(namespace, '/p/proxy/some/path')), 400, 'BadRequest')
      expectFailure(await client().get(services('default', '/cluster/proxy/')), 503, 'ServiceUnavailable')
    })

    test('two Services never have the same clusterIP, and a released address can be reused', async () => {
      const namespace = await newNamespace(client(), 'addresses')
      const serviceOf = (name: string, more: object = {}) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...more } })
      const created = await Promise.all(Array.from({ length: 20 }, (_, i) => client().post(services(namespace), serviceOf(`s${i}`))))
      const addresses = created.map((response) => specOf(expectStatus(response, 201).json)['clusterIP'] as string)
      assert.equal(new Set(addresses).size, 20)
      const [first = ''] = addresses
      expectFailure(await client().post(services(namespace), serviceOf('same', { clusterIP: first })), 422, 'Invalid')
      expectFailure(await client().post(services(namespace), serviceOf('own', { clusterIP: '10.0.0.1' })), 422, 'Invalid')
      expectStatus(await client().delete(services(namespace, '/s0')), 200)
      expectStatus(await client().post(services(namespace), serviceOf('same', { clusterIP: first })), 201)
      const ported = expectStatus(
        await client().post(services(namespace), serviceOf('np', { type: 'NodePort', ports: [{ port: 80, nodePort: 30123 }] })),
        201,
      )
      assert.equal((specOf(ported.json)['ports'] as readonly { nodePort: number }[])[0]?.nodePort, 30123)
      expectFailure(
        await client().post(services(namespace), serviceOf('np2', { type: 'NodePort', ports: [{ port: 80, nodePort: 30123 }] })),
        422,
        'Invalid',
      )
    })

    test('scale reads and writes the replicas of its object', async () => {
      const namespace = await newNamespace(client(), 'scaled')
      const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`
      const template = { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
      expectStatus(
        await client().post(deployments, { metadata: { name: 'd' }, spec: { selector: { matchLabels: { app: 'd' } }, template } }),
        201,
      )
      const scale = expectStatus(await client().get(`${deployments}/d/scale`), 200).json
      assert.deepEqual([scale.kind, specOf(scale)['replicas']], ['Scale', 1])
      expectStatus(await client().put(`${deployments}/d/scale`, { ...scale, spec: { replicas: 3 } }), 200)
      expectFailure(await client().put(`${deployments}/d/scale`, { ...scale, spec: { replicas: 4 } }), 409, 'Conflict')
      expectFailure(await client().put(`${deployments}/d/scale`, { metadata: { name: 'd' }, spec: { replicas: -1 } }), 422, 'Invalid')
      const deployment = (await client().get(`${deployments}/d`)).json
      assert.deepEqual([specOf(deployment)['replicas'], deployment.metadata['generation']], [3, 2])
      expectFailure(await client().get(`${deployments}/none/scale`), 404, 'NotFound')
    })

    interface Entry {
      readonly manager: string
      readonly subresource?: string
      readonly fieldsV1: object
    }

    test('apply on scale takes a Scale and records the field manager in the parent object', async () => {
      const namespace = await newNamespace(client(), 'applied')
      const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`
      const template = { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
      const body = { metadata: { name: 'd' }, spec: { replicas: 1, selector: { matchLabels: { app: 'd' } }, template } }
      expectStatus(await client().post(`${deployments}?fieldManager=maker`, body), 201)
      const applyScale = (replicas: number, query: string) =>
        client().patch(`${deployments}/d/scale?fieldManager=sizer${query}`, 'application/apply-patch+yaml', {
          apiVersion: 'autoscaling/v1',
          kind: 'Scale',
          metadata: { name: 'd' },
          spec: { replicas },
        })
      const refused = await applyScale(4, '')
      expectFailure(refused, 409, 'Conflict')
      assert.match(refused.text, /conflict with \\"maker\\" using autoscaling\/v1: \.spec\.replicas/)
      assert.equal(specOf(expectStatus(await applyScale(4, '&force=true'), 200).json)['replicas'], 4)
      expectStatus(await applyScale(4, ''), 200)
      const { metadata, spec } = (await client().get(`${deployments}/d`)).json
      assert.equal((spec as { readonly replicas: number }).replicas, 4)
      const entries = metadata['managedFields'] as unknown as readonly Entry[]
      assert.deepEqual(
        entries.map(({ manager, subresource, fieldsV1 }) => [manager, subresource, JSON.stringify(fieldsV1).includes('f:replicas')]),
        [
          ['sizer', 'scale', true],
          ['maker', undefined, false],
        ],
      )
    })

    test('reviews get a response and are not stored', async () => {
      const access = '/apis/authorization.cluster.io/v1/selfsubjectaccessreviews'
      const review = await client().post(access, { spec: { resourceAttributes: { verb: 'delete', resource: 'pods' } } })
      assert.equal((expectStatus(review, 201).json['status'] as { allowed: boolean }).allowed, true)
      expectFailure(await client().post(access, { spec: {} }), 422, 'Invalid')
      const other = await client().post('/apis/authorization.cluster.io/v1/subjectaccessreviews', {
        spec: { user: 'bob', nonResourceAttributes: { path: '/metrics', verb: 'get' } },
      })
      assert.equal((expectStatus(other, 201).json['status'] as { allowed: boolean }).allowed, false)
      const token = await client().post('/apis/authentication.cluster.io/v1/tokenreviews', { spec: { token: 'wrong' } })
      assert.notEqual((expectStatus(token, 201).json['status'] as { authenticated?: boolean }).authenticated, true)
    })
  },
  [...everyKind, '--controllers=*,-disruption'],
)
