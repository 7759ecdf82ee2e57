// Bootstrap objects of a new server, compared with the catalogue (../shared/catalogue: objects recorded from kube-apiserver), and their
// reconciliation at later starts.

import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { describe, test } from 'node:test'
import { ApiClient } from '../../../test/kit/api-client.js'
import { startEmbedded } from '../../../test/kit/embedded.js'
import { expectStatus, until, untilStatus } from '../../../test/kit/fixtures.js'
import { repoRoot } from '../../../test/kit/paths.js'
import { newFolder, skipWithWorkers } from '../../../test/kit/server-process.js'

const catalogue = `${process.env['CATALOGUE_ROOT'] ?? `${repoRoot}../shared/catalogue`}/`
const hasCatalogue = existsSync(`${catalogue}bootstrap.json`)

interface Recorded {
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

const paths: Readonly<Record<string, string>> = {
  clusterroles: '/apis/rbac.authorization.cluster.io/v1/clusterroles',
  clusterrolebindings: '/apis/rbac.authorization.cluster.io/v1/clusterrolebindings',
  roles: '/apis/rbac.authorization.cluster.io/v1/roles',
  rolebindings: '/apis/rbac.authorization.cluster.io/v1/rolebindings',
  flowschemas: '/apis/flowcontrol.apiserver.cluster.io/v1beta3/flowschemas',
  prioritylevelconfigurations: '/apis/flowcontrol.apiserver.cluster.io/v1beta3/prioritylevelconfigurations',
  apiservices: '/apis/apiregistration.cluster.io/v1/apiservices',
  endpoints: '/api/v1/endpoints',
  endpointslices: '/apis/discovery.cluster.io/v1/endpointslices',
  leases: '/apis/coordination.cluster.io/v1/leases',
  services: '/api/v1/services',
  priorityclasses: '/apis/scheduling.cluster.io/v1/priorityclasses',
  namespaces: '/api/v1/namespaces',
}

const counts: Readonly<Record<string, number>> = {
  clusterroles: 63,
  clusterrolebindings: 44,
  // Roles and RoleBindings: one more than in kube-apiserver, for the ConfigMap cluster-info.
  roles: 8,
  rolebindings: 8,
  flowschemas: 13,
  prioritylevelconfigurations: 8,
  apiservices: 27,
  endpoints: 1,
  endpointslices: 1,
  leases: 1,
  services: 1,
  priorityclasses: 2,
  namespaces: 4,
}

const everyVersion = [
  '--runtime-config=api/all=true',
  '--feature-gates=DynamicResourceAllocation=true,ValidatingAdmissionPolicy=true,APISelfSubjectReview=true',
  '--advertise-address=192.0.2.7',
  '--secure-port=0',
]

/** The catalogue was recorded without controllers, so aggregated roles are empty in it. */
const noAggregation = '--controllers=*,-clusterrole-aggregation'

interface BootstrapOptions {
  readonly dataDir?: string
  readonly flags?: readonly string[]
  readonly identity?: 'cluster' | 'kubernetes'
}

async function withServer(
  { flags = [], identity = 'cluster', dataDir }: BootstrapOptions,
  use: (client: ApiClient) => Promise<void>,
): Promise<void> {
  const engine = dataDir === undefined ? 'memory' : 'lmdb'
  const { client, close } = await startEmbedded(engine, [`--identity=${identity}`, ...flags], dataDir)
  try {
    await use(client)
  } finally {
    await close()
  }
}

/** Removes server-specific fields; `<…>` in the recording matches anything. */
function comparable(value: unknown, recorded: unknown): unknown {
  if (typeof recorded === 'string' && /<[a-z-]+>/.test(recorded)) return recorded
  if (Array.isArray(value)) return value.map((item, i) => comparable(item, Array.isArray(recorded) ? recorded[i] : undefined))
  if (typeof value !== 'object' || value === null) return value
  const other = (recorded ?? {}) as Readonly<Record<string, unknown>>
  const served = ['uid', 'resourceVersion', 'creationTimestamp', 'managedFields']
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !served.includes(name))
      .map(([name, item]) => [name, comparable(item, other[name])]),
  )
}

function recordedOf(name: string): readonly Recorded[] {
  const all = JSON.parse(readFileSync(`${catalogue}bootstrap.json`, 'utf8')) as Readonly<Record<string, unknown>>
  const entry = all[name]
  if (Array.isArray(entry)) return entry as readonly Recorded[]
  return JSON.parse(readFileSync(`${catalogue}${(entry as { readonly file: string }).file}`, 'utf8')) as readonly Recorded[]
}

/** Names that depend on the installation are compared by prefix. */
const keyOf = ({ metadata }: Recorded): string => `${metadata.namespace ?? ''}/${metadata.name.replace(/^(cluster-apiserver-).*/, '$1')}`

describe('bootstrap objects of a new server', () => {
  for (const identity of ['cluster', 'kubernetes'] as const) {
    test(`as many of each kind as kube-apiserver, identity ${identity}`, () =>
      withServer({ identity, flags: everyVersion }, async (client) => {
        for (const [name, path] of Object.entries(paths)) {
          const servedPath = identity === 'cluster' ? path : path.replace('cluster.io', 'k8s.io')
          const { items } = expectStatus(await client.get(servedPath), 200).json
          assert.equal(items.length, counts[name], name)
        }
      }))
  }

  test('extension-apiserver-authentication and the role that reads it, with the default CAs', () =>
    withServer({}, async (client) => {
      const path = '/api/v1/namespaces/cluster-system/configmaps/extension-apiserver-authentication'
      const { data } = expectStatus(await client.get(path), 200).json
      assert.deepEqual(Object.keys(data ?? {}), ['client-ca-file'])
      const roles = '/apis/rbac.authorization.cluster.io/v1/namespaces/cluster-system/roles'
      expectStatus(await client.get(`${roles}/extension-apiserver-authentication-reader`), 200)
      expectStatus(await client.delete(path), 200)
      await untilStatus(() => client.get(path), 200)
    }))

  test('cluster-info in the public namespace, which anonymous clients can read', async () => {
    const { server, close } = await startEmbedded('memory', ['--advertise-address=192.0.2.7', '--secure-port=0'])
    const anonymous = new ApiClient({ url: server.url, ca: server.caPem })
    try {
      const configMaps = '/api/v1/namespaces/cluster-public/configmaps'
      const { data } = expectStatus(await anonymous.get(`${configMaps}/cluster-info`), 200).json
      const { kubeconfig = '' } = data as { readonly kubeconfig?: string }
      assert.match(kubeconfig, /^ {4}server: https:\/\/192\.0\.2\.7:6443$/m)
      const [, ca = ''] = /certificate-authority-data: (\S+)/.exec(kubeconfig) ?? []
      assert.equal(Buffer.from(ca, 'base64').toString(), server.caPem)
      expectStatus(await anonymous.get(configMaps), 403)
    } finally {
      anonymous.close()
      await close()
    }
  })

  test('every object equals the catalogue', { skip: !hasCatalogue && 'no catalogue next to the repository' }, () =>
    withServer({ flags: [...everyVersion, noAggregation] }, async (client) => {
      for (const [name, path] of Object.entries(paths)) {
        const { items } = expectStatus(await client.get(path), 200).json
        const byKey = new Map(items.map((item) => [keyOf(item), item]))
        for (const recorded of recordedOf(name)) {
          const found = byKey.get(keyOf(recorded))
          assert.ok(found, `${name} ${keyOf(recorded)} is missing`)
          const { kind: _kind, apiVersion: _apiVersion, ...rest } = recorded as Recorded & { kind: string; apiVersion: string }
          assert.deepEqual(comparable(found, rest), rest, `${name} ${keyOf(recorded)}`)
          if (name !== 'leases')
            assert.equal(JSON.stringify(comparable(found, rest)), JSON.stringify(comparable(rest, rest)), 'in this order')
        }
      }
    }),
  )

  test('identity kubernetes uses the names of Kubernetes', () =>
    withServer({ identity: 'kubernetes' }, async (client) => {
      const roles = '/apis/rbac.authorization.k8s.io/v1'
      const approver = expectStatus(
        await client.get(`${roles}/clusterroles/system:certificates.k8s.io:kube-apiserver-client-approver`),
        200,
      ).json as unknown as { rules: readonly { resourceNames: readonly string[]; apiGroups: readonly string[] }[] }
      assert.deepEqual(approver.rules[0]?.resourceNames, ['kubernetes.io/kube-apiserver-client'])
      assert.deepEqual(approver.rules[0]?.apiGroups, ['certificates.k8s.io'])
      const locking = `${roles}/namespaces/kube-system/roles/system::leader-locking-kube-scheduler`
      expectStatus(await client.get(locking), 200)
      const { metadata } = expectStatus(await client.get('/apis/flowcontrol.apiserver.k8s.io/v1beta3/flowschemas/kube-scheduler'), 200).json
      assert.equal(metadata.annotations?.['apf.kubernetes.io/autoupdate-spec'], 'true')
      const service = expectStatus(await client.get('/apis/apiregistration.k8s.io/v1/apiservices/v1.apps'), 200).json
      assert.deepEqual(service.metadata.labels, { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' })
      assert.equal(service.metadata.managedFields?.[0]?.manager, 'kube-apiserver')
    }))
})

/** Changes no object; the build has prepared no bootstrap objects for this gate. */
const otherGate = '--feature-gates=MinimizeIPTablesRestore=true'

async function everythingOf(client: ApiClient, identity: 'cluster' | 'kubernetes'): Promise<readonly string[]> {
  const shown: string[] = []
  for (const path of [...Object.values(paths), '/api/v1/serviceaccounts']) {
    const servedPath = identity === 'cluster' ? path : path.replace('cluster.io', 'k8s.io')
    const { items } = expectStatus(await client.get(servedPath), 200).json
    for (const { metadata, ...item } of items) {
      const { uid, resourceVersion, creationTimestamp, ...rest } = metadata
      assert.ok(uid && resourceVersion && creationTimestamp, metadata.name)
      const lasting = JSON.stringify({ ...item, metadata: rest })
        .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
        .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>')
      shown.push(`${path} ${lasting}`)
    }
  }
  return shown
}

describe('bootstrap objects prepared by the build equal those created at start', () => {
  for (const [identity, storage] of [
    ['cluster', 'in a folder'],
    ['kubernetes', 'in memory'],
  ] as const)
    test(`identity ${identity}, ${storage}`, { skip: storage === 'in memory' && skipWithWorkers('not in memory') }, async () => {
      const dataDir = newFolder()
      const folders = storage === 'in memory' ? [{}, {}] : [{ dataDir: `${dataDir}/a` }, { dataDir: `${dataDir}/b` }]
      const options = { identity, flags: ['--advertise-address=192.0.2.7'] }
      let prepared: readonly string[] = []
      try {
        await withServer({ ...options, ...folders[0] }, async (client) => {
          prepared = await everythingOf(client, identity)
        })
        assert.ok(prepared.length > 150)
        await withServer({ ...options, ...folders[1], flags: [...options.flags, otherGate] }, async (client) => {
          const created = await until(
            () => everythingOf(client, identity),
            (found) => found.join() === prepared.join(),
          ).catch(() => everythingOf(client, identity))
          assert.deepEqual(created, prepared)
        })
      } finally {
        rmSync(dataDir, { recursive: true, force: true })
      }
    })

  test('without the clusterrole-aggregation controller, aggregated roles have no rules', () =>
    withServer({ flags: [noAggregation] }, async (client) => {
      const { json } = expectStatus(await client.get('/apis/rbac.authorization.cluster.io/v1/clusterroles/admin'), 200)
      assert.equal(json['rules'], null)
    }))
})

describe('reconciliation at a later start', () => {
  for (const [before, flags] of Object.entries({ 'with more versions': everyVersion, 'with the same versions': [] }))
    test(`roles, flow schemas and API services of a server that was started ${before}`, () => checkReconciliation(flags))

  const checkReconciliation = async (firstFlags: readonly string[]): Promise<void> => {
    const dataDir = newFolder()
    const roles = '/apis/rbac.authorization.cluster.io/v1'
    const flows = '/apis/flowcontrol.apiserver.cluster.io/v1beta3'
    const merge = { 'content-type': 'application/merge-patch+json' }
    const patch = async (client: ApiClient, path: string, body: object) =>
      expectStatus(await client.send({ method: 'PATCH', path, headers: merge, body }), 200)
    const customRule = { verbs: ['get'], apiGroups: ['example.com'], resources: ['things'] }
    const autoupdate = 'rbac.authorization.cluster.io/autoupdate'
    try {
      let before = ''
      await withServer({ dataDir, flags: firstFlags }, async (client) => {
        before = (await client.get(`${roles}/clusterroles/system:heapster`)).json.metadata.resourceVersion
        await patch(client, `${roles}/clusterroles/system:discovery`, { rules: [customRule] })
        await patch(client, `${roles}/clusterroles/system:monitoring`, {
          rules: [customRule],
          metadata: { annotations: { [autoupdate]: 'false' } },
        })
        await patch(client, `${roles}/clusterrolebindings/cluster-admin`, { subjects: [] })
        expectStatus(await client.send({ method: 'DELETE', path: `${roles}/clusterroles/view` }), 200)
        await patch(client, `${flows}/flowschemas/probes`, { spec: { matchingPrecedence: 77 } })
        await patch(client, `${flows}/flowschemas/system-nodes`, {
          spec: { matchingPrecedence: 78 },
          metadata: { annotations: { 'apf.cluster.io/autoupdate-spec': 'false' } },
        })
      })
      await withServer({ dataDir }, async (client) => {
        const rulesOf = async (name: string) =>
          (expectStatus(await client.get(`${roles}/clusterroles/${name}`), 200).json as unknown as { rules: readonly object[] }).rules
        const discovery = await rulesOf('system:discovery')
        assert.equal(discovery.length, 2, 'the missing rule is added')
        assert.deepEqual(discovery[0], customRule, 'an added rule stays')
        assert.deepEqual(await rulesOf('system:monitoring'), [customRule], 'a role with autoupdate=false is not changed')
        const admins = (await client.get(`${roles}/clusterrolebindings/cluster-admin`)).json as unknown as { subjects: readonly object[] }
        assert.equal(admins.subjects.length, 1)
        expectStatus(await client.get(`${roles}/clusterroles/view`), 200)
        const precedence = async (name: string) =>
          ((await client.get(`${flows}/flowschemas/${name}`)).json as unknown as { spec: { matchingPrecedence: number } }).spec
            .matchingPrecedence
        assert.equal(await precedence('probes'), 2)
        assert.equal(await precedence('system-nodes'), 78)
        const untouched = (await client.get(`${roles}/clusterroles/system:heapster`)).json.metadata.resourceVersion
        assert.equal(untouched, before, 'unchanged objects are not written')
        const services = '/apis/apiregistration.cluster.io/v1/apiservices'
        expectStatus(await client.get(`${services}/v1alpha1.resource.cluster.io`), 404)
        expectStatus(await client.get(`${services}/v1.apps`), 200)
      })
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
})

describe('flow schemas', () => {
  const path = '/apis/flowcontrol.apiserver.cluster.io/v1beta3/flowschemas'
  const asTable = { accept: 'application/json;as=Table;g=meta.cluster.io;v=v1' }
  const shown = async (client: ApiClient, query = ''): Promise<readonly (readonly unknown[])[]> => {
    const { rows } = (await client.get(`${path}${query}`, asTable)).json as unknown as { rows: readonly { cells: readonly unknown[] }[] }
    return rows.map(({ cells }) => cells)
  }

  test('tables are ordered by precedence and name, other lists by name', () =>
    withServer({}, async (client) => {
      const rows = await shown(client)
      assert.deepEqual(
        rows.slice(0, 2).map(([name]) => name),
        ['exempt', 'probes'],
      )
      assert.equal(rows.at(-1)?.[0], 'catch-all')
      const ranks = rows.map(([, , precedence]) => Number(precedence))
      assert.deepEqual(
        ranks,
        [...ranks].sort((a, b) => a - b),
      )
      assert.deepEqual(
        rows.filter(([, , rank]) => rank === 800).map(([name]) => name),
        ['cluster-controller-manager', 'cluster-scheduler'],
      )
      const { items } = (await client.get(path)).json
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name),
        rows.map(([name]) => String(name)).sort(),
      )
      assert.deepEqual(
        (await shown(client, '?limit=3')).map(([name]) => name),
        ['cluster-controller-manager', 'cluster-scheduler', 'catch-all'],
      )
    }))
})

test('componentstatuses probes the components', () =>
  withServer({}, async (client) => {
    const { items } = expectStatus(await client.get('/api/v1/componentstatuses'), 200).json as unknown as {
      items: readonly { metadata: { name: string }; conditions: readonly { status: string; message: string }[] }[]
    }
    const shown = new Map(items.map(({ metadata, conditions }) => [metadata.name, conditions[0]]))
    assert.deepEqual(
      [...shown.keys()].filter((name) => !name.startsWith('worker-')),
      ['controller-manager', 'etcd-0', 'scheduler'],
    )
    assert.deepEqual(shown.get('etcd-0'), { type: 'Healthy', status: 'True' })
    // Nothing listens there, unless a component runs on this machine.
    const { status, message = '' } = shown.get('scheduler') ?? {}
    assert.ok(status === 'True' || /^Get "https:\/\/127\.0\.0\.1:10259\/healthz": |statuscode/.test(message), message)
  }))

test('aggregated ClusterRoles contain the rules of matching roles', () =>
  withServer({}, async (client) => {
    const path = '/apis/rbac.authorization.cluster.io/v1/clusterroles'
    const rulesOf = async (name: string): Promise<string> => JSON.stringify((await client.get(`${path}/${name}`)).json['rules'])
    await until(
      () => rulesOf('admin'),
      (rules) => rules.includes('"rolebindings"') && rules.includes('"secrets"'),
    )
    const labels = { 'rbac.authorization.cluster.io/aggregate-to-view': 'true' }
    const rules = [{ verbs: ['get'], apiGroups: ['example.com'], resources: ['things'] }]
    expectStatus(await client.post(path, { metadata: { name: 'things', labels }, rules }), 201)
    for (const name of ['view', 'edit', 'admin']) {
      await until(
        () => rulesOf(name),
        (found) => found.includes('"things"'),
      )
    }
  }))
