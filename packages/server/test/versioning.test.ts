// Served API versions, deprecation warnings, --runtime-config and --feature-gates; componentstatuses and reviews.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { startServer } from 'cluster-apiserver'
import type { ApiClient } from '../../../test/kit/api-client.js'
import { clientOf, type Embedded, startEmbedded } from '../../../test/kit/embedded.js'
import { expectFailure, expectStatus, namesOf, untilStatus } from '../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../test/kit/network/json-object.js'
import { newFolder, skipWithWorkers } from '../../../test/kit/server-process.js'

const flows = (version: string): string => `/apis/flowcontrol.apiserver.cluster.io/${version}/flowschemas`

describe('default settings', () => {
  let embedded: Embedded
  const client = (): ApiClient => embedded.client
  before(async () => {
    embedded = await startEmbedded('memory')
  })
  after(() => embedded.close())

  test('a deprecated version returns a warning and sets the metric', async () => {
    const gauges = async () =>
      (await client().get('/metrics')).text.split('\n').filter((line) => line.startsWith('apiserver_requested_deprecated_apis{'))
    assert.deepEqual(await gauges(), [])
    expectStatus(await client().get(flows('v1beta3')), 200)
    assert.deepEqual(await gauges(), [], 'a version that stays is not counted')
    const response = expectStatus(await client().get(`${flows('v1beta2')}/exempt`), 200)
    assert.match(
      String(response.headers['warning']),
      /^299 - ".*v1beta2 FlowSchema is deprecated in v1\.26\+, unavailable in v1\.29\+; use /,
    )
    await client().get(`${flows('v1beta2')}/exempt/status`)
    await client().get('/api/v1/componentstatuses')
    await client().get('/api/v1/componentstatuses')
    const flow =
      'apiserver_requested_deprecated_apis{group="flowcontrol.apiserver.cluster.io",removed_release="1.29",resource="flowschemas"'
    assert.deepEqual((await gauges()).sort(), [
      'apiserver_requested_deprecated_apis{group="",removed_release="",resource="componentstatuses",subresource="",version="v1"} 1',
      `${flow},subresource="",version="v1beta2"} 1`,
      `${flow},subresource="status",version="v1beta2"} 1`,
    ])
  })

  test('a deprecated version of a custom resource warns also where a subresource is missing', async () => {
    const schema = { openAPIV3Schema: { type: 'object' } }
    const crd = {
      metadata: { name: 'olds.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'olds', kind: 'Old' },
        versions: [{ name: 'v1', served: true, storage: true, deprecated: true, schema }],
      },
    }
    expectStatus(await client().post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', crd), 201)
    const oldsPath = '/apis/example.com/v1/olds'
    await untilStatus(() => client().post(oldsPath, { apiVersion: 'example.com/v1', kind: 'Old', metadata: { name: 'a' } }), 201)
    const { headers } = expectStatus(await client().get(`${oldsPath}/a/status`), 404)
    assert.equal(headers['warning'], '299 - "example.com/v1 Old is deprecated"')
  })

  test('componentstatuses are computed on request', { skip: skipWithWorkers('lists the workers, too') }, async () => {
    const path = '/api/v1/componentstatuses'
    const list = expectStatus(await client().get(path), 200).json
    assert.equal(list.kind, 'ComponentStatusList')
    assert.deepEqual(list.metadata, {}, 'a computed list has no resourceVersion')
    assert.deepEqual(namesOf(list), ['controller-manager', 'etcd-0', 'scheduler'])
    const states = list.items.map((item) => (item['conditions'] as readonly JsonObject[]).map(({ status }) => status).join())
    assert.deepEqual(states, ['False', 'True', 'False'])
    const one = expectStatus(await client().get(`${path}/etcd-0`), 200).json
    assert.deepEqual(one, { kind: 'ComponentStatus', apiVersion: 'v1', ...list.items[1] })
    assert.deepEqual(namesOf((await client().get(`${path}?fieldSelector=metadata.name%3Dscheduler`)).json), ['scheduler'])
    assert.deepEqual(namesOf((await client().get(`${path}?labelSelector=a`)).json), [])
    expectFailure(await client().get(`${path}/nobody`), 404, 'NotFound')
    expectFailure(await client().get(`${path}?watch=1`), 405, 'MethodNotAllowed')
    const table = (await client().get(path, { accept: 'application/json;as=Table;g=meta.cluster.io;v=v1' })).json
    const cells = (table['rows'] as readonly { readonly cells: readonly string[] }[]).map((row) => row.cells.slice(0, 2))
    assert.deepEqual(cells, [
      ['controller-manager', 'Unhealthy'],
      ['etcd-0', 'Healthy'],
      ['scheduler', 'Unhealthy'],
    ])
  })

  test('reviews are defaulted, then validated; errors name the group only', async () => {
    const local = '/apis/authorization.cluster.io/v1/namespaces/default/localsubjectaccessreviews'
    const spec = { user: 'u', resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } }
    const accessReview = expectStatus(await client().post(local, { spec }), 201).json
    assert.equal(accessReview.metadata.namespace, 'default', 'from the path')
    const inOtherNamespace = { ...spec, resourceAttributes: { ...spec.resourceAttributes, namespace: 'other' } }
    const refused = expectFailure(await client().post(local, { spec: inOtherNamespace }), 422, 'Invalid')
    assert.match(String(refused['message']), /^\.authorization\.cluster\.io "" is invalid: spec\.resourceAttributes\.namespace/)
    assert.equal((refused['details'] as JsonObject).kind, undefined)
    const tokens = '/apis/authentication.cluster.io/v1/tokenreviews'
    expectFailure(await client().post(tokens, { spec: {} }), 400, 'BadRequest')
    const review = expectStatus(await client().post(tokens, { spec: { token: 'x' }, status: { user: { username: 'me' } } }), 201).json
    assert.deepEqual(review.status, { user: { username: 'me' }, error: 'invalid bearer token' })
  })

  test('the root lists every path, health checks included', async () => {
    const { paths } = expectStatus(await client().get('/'), 200).json as unknown as { readonly paths: readonly string[] }
    for (const path of [
      '/api',
      '/api/v1',
      '/apis',
      '/apis/',
      '/apis/apps/v1',
      '/healthz/ping',
      '/livez/etcd',
      '/readyz/shutdown',
      '/version',
    ])
      assert.ok(paths.includes(path), path)
    assert.deepEqual(paths, [...paths].sort())
    for (const path of paths) assert.ok((await client().get(path, { accept: '*/*' })).status < 400, path)
  })

  test('removed versions return 404 like unknown ones', async () => {
    const responses = async (path: string) => {
      const { status, text } = await client().get(path)
      return { status, text }
    }
    for (const group of ['extensions', 'never']) {
      assert.deepEqual(await responses(`/apis/${group}/v1beta1/ingresses`), { status: 404, text: '404 page not found\n' })
      assert.deepEqual(await responses(`/apis/${group}/v1beta1`), { status: 404, text: '404 page not found\n' })
    }
    for (const version of ['v1beta1', 'v7']) {
      expectFailure(await client().get(`/apis/policy/${version}/podsecuritypolicies`), 404, 'NotFound')
      expectFailure(await client().get(`/apis/rbac.authorization.cluster.io/${version}/clusterroles`), 404, 'NotFound')
      expectFailure(await client().get(`/apis/batch/${version}`), 404, 'NotFound')
    }
  })
})

interface Row {
  readonly title: string
  readonly flags: readonly string[]
  readonly served?: readonly string[]
  readonly unknown?: readonly string[]
}

const claims = '/apis/resource.cluster.io/v1alpha1/resourceclaims'
const capacities = '/apis/storage.cluster.io/v1beta1/csistoragecapacities'
const deployments = '/apis/apps/v1/deployments'
const withClaims = '--feature-gates=DynamicResourceAllocation=true'

const rows: readonly Row[] = [
  { title: 'no flags', flags: [], served: [deployments, capacities, flows('v1beta2')], unknown: [claims] },
  { title: 'a gate alone does not serve an alpha version', flags: [withClaims], unknown: [claims] },
  { title: 'an alpha version needs its gate', flags: ['--runtime-config=api/all=true'], unknown: [claims] },
  { title: 'api/all', flags: ['--runtime-config=api/all', withClaims], served: [claims, capacities, deployments] },
  { title: 'api/alpha', flags: ['--runtime-config=api/alpha=true', withClaims], served: [claims] },
  { title: 'AllAlpha', flags: ['--runtime-config=api/alpha=true', '--feature-gates=AllAlpha=true'], served: [claims] },
  { title: 'api/beta=false', flags: ['--runtime-config=api/beta=false'], served: [deployments], unknown: [capacities, flows('v1beta2')] },
  { title: 'api/legacy', flags: ['--runtime-config=api/legacy=false'], served: ['/api/v1/pods', deployments] },
  {
    title: 'a version enabled, its stability level disabled',
    flags: ['--runtime-config=api/beta=false,storage.cluster.io/v1beta1=true'],
    served: [capacities],
    unknown: [flows('v1beta3')],
  },
  { title: 'a group version', flags: ['--runtime-config=resource.cluster.io/v1alpha1', withClaims], served: [claims] },
  {
    title: 'a resource disabled',
    flags: ['--runtime-config=apps/v1/deployments=false'],
    served: ['/apis/apps/v1/daemonsets'],
    unknown: [deployments],
  },
]

describe('--runtime-config and --feature-gates', () => {
  for (const { title, flags, served = [], unknown = [] } of rows) {
    test(title, async () => {
      const server = await startServer({ flags })
      const client = clientOf(server)
      try {
        for (const path of served) expectStatus(await client.get(path), 200)
        for (const path of unknown) assert.equal((await client.get(path)).status, 404, path)
      } finally {
        client.close()
        await server.close({ immediately: true })
      }
    })
  }

  test('managedFields of a version that is no longer served are kept', async () => {
    const dataDir = newFolder()
    const path = '/namespaces/default/horizontalpodautoscalers'
    const scaler = { metadata: { name: 'web' }, spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'web' } } }
    const withServer = async (flags: readonly string[], work: (client: ApiClient) => Promise<unknown>): Promise<void> => {
      const server = await startServer({ flags, dataDir })
      const client = clientOf(server)
      try {
        await work(client)
      } finally {
        client.close()
        await server.close({ immediately: true })
      }
    }
    try {
      await withServer([], async (client) => expectStatus(await client.post(`/apis/autoscaling/v1${path}?fieldManager=first`, scaler), 201))
      await withServer(['--runtime-config=autoscaling/v1=false'], async (client) => {
        assert.equal((await client.get(`/apis/autoscaling/v1${path}/web`)).status, 404)
        const { json } = expectStatus(await client.get(`/apis/autoscaling/v2${path}/web`), 200)
        const changed = { ...json, spec: { ...(json['spec'] as object), minReplicas: 2 } }
        const { metadata } = expectStatus(await client.put(`/apis/autoscaling/v2${path}/web?fieldManager=second`, changed), 200).json
        const owners = (metadata.managedFields ?? []).map((entry) => `${entry.manager} ${(entry as { apiVersion?: string }).apiVersion}`)
        assert.deepEqual(owners.sort(), ['first autoscaling/v1', 'second autoscaling/v2'])
      })
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  })

  for (const [flag, problem] of [
    ['--runtime-config=apps/v9=true', /--runtime-config: unknown API group, version or resource "apps\/v9"/],
    ['--runtime-config=api/gamma=true', /--runtime-config: "api\/gamma" is unknown/],
    ['--runtime-config=apps/v1=maybe', /--runtime-config: .*neither true nor false/],
    ['--feature-gates=Nonsense=true', /--feature-gates: unrecognized feature gate: Nonsense/],
    ['--feature-gates=CSIMigration=false', /--feature-gates: cannot set feature gate CSIMigration to false, feature is locked to true/],
    ['--feature-gates=AllBeta', /--feature-gates: missing bool value for AllBeta/],
  ] as const)
    test(`${flag} is rejected`, () => assert.rejects(startServer({ flags: [flag] }), { message: problem }))
})
