// Large and small objects get the same responses. Each request runs with commas as padding, which makes its steps run in worker threads,
// and with semicolons, which does not.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ApiClient, ApiResponse } from '../../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus } from '../../../../test/kit/fixtures.js'

const paddings = { small: `a${';'.repeat(12_000)}a`, large: `a${','.repeat(12_000)}a` }
const namespace = '/api/v1/namespaces/default'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const autoscalers = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
const merge = 'application/merge-patch+json'
const apply = 'application/apply-patch+yaml'

const padded = (name: string, pad: string, more: object = {}): object => ({ name, annotations: { pad }, ...more })

const podTemplate = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }

function deployment(name: string, pad: string, more: object = {}, replicas = 2): object {
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'c', image: 'i', env: [{ name: 'SECRET', value: 'hunter2' }] }] },
  }
  const spec = { replicas, selector: { matchLabels: { a: 'b' } }, template }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: padded(name, pad, more), spec }
}

const scale = (name: string, replicas: number): object => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name, namespace: 'default' },
  spec: { replicas },
})

/** Entries of managedFields are ordered by time, which differs. */
function sorted(text: string): string {
  if (!text.startsWith('{')) return text
  return JSON.stringify(JSON.parse(text), (key, value: unknown) =>
    key === 'managedFields' && Array.isArray(value) ? value.map(({ time: _time, ...entry }) => JSON.stringify(entry)).sort() : value,
  )
}

/** The fields of two responses that must be equal. */
const masked = ({ status, headers, text }: ApiResponse, size: string): string =>
  `${status} ${headers['warning'] ?? ''} ${headers['content-type']} ${sorted(text)}`
    .replaceAll(size, 'x')
    .replaceAll(/a[,;]{12000}a/g, 'PAD')
    .replaceAll(/"?uid"?: ?"?[0-9a-f-]{36}"?/g, '')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z|"\d+s"/g, '')
    .replaceAll(/"?resourceVersion"?: ?"\d+"/g, '')

type Operation = (client: ApiClient, name: (prefix: string) => string, pad: string) => Promise<ApiResponse>

const representations = {
  JSON: 'application/json',
  YAML: 'application/yaml',
  Table: 'application/json;as=Table;g=meta.cluster.io;v=v1',
  PartialObjectMetadata: 'application/json;as=PartialObjectMetadata;g=meta.cluster.io;v=v1',
  PartialObjectMetadataList: 'application/json;as=PartialObjectMetadataList;g=meta.cluster.io;v=v1',
}

/** Run in this order: later requests use objects of earlier ones. */
const operations: Readonly<Record<string, Operation>> = {
  create: (client, name, pad) => client.post(deployments, deployment(name('d'), pad)),
  'create again': (client, name, pad) => client.post(deployments, deployment(name('d'), pad)),
  'create as a dry run, in YAML': (client, name, pad) =>
    client.send({
      method: 'POST',
      path: `${deployments}?dryRun=All`,
      body: deployment(name('e'), pad),
      headers: { accept: 'application/yaml' },
    }),
  'create with an unknown field': (client, name, pad) =>
    client.post(`${deployments}?dryRun=All`, { ...deployment(name('e'), pad), odd: 1 }),
  'create with strict validation': (client, name, pad) =>
    client.post(`${deployments}?fieldValidation=Strict`, { ...deployment(name('e'), pad), odd: 1 }),
  'create in another namespace': (client, name, pad) => client.post(deployments, deployment(name('e'), pad, { namespace: 'other' })),
  'create invalid': (client, name, pad) => client.post(deployments, deployment(name('E_'), pad)),
  ...Object.fromEntries(
    Object.entries(representations).flatMap(([title, accept]) =>
      ['', '/scale', '/status', '?pretty=true', '/scale?pretty=true'].map((part): readonly [string, Operation] => [
        `get ${part} as ${title}`,
        (client, name) => client.get(`${deployments}/${name('d')}${part}`, { accept }),
      ]),
    ),
  ),
  'create a replication controller': (client, name, pad) =>
    client.post(`${namespace}/replicationcontrollers`, { metadata: padded(name('r'), pad), spec: { replicas: 0, template: podTemplate } }),
  'update the scale': (client, name) => client.put(`${deployments}/${name('d')}/scale`, scale(name('d'), 5)),
  ...Object.fromEntries(
    [merge, 'application/strategic-merge-patch+json'].flatMap((type) =>
      ['', '/scale', '/status'].map((part): readonly [string, Operation] => [
        `${type} of ${part}`,
        (client, name) =>
          client.patch(`${deployments}/${name('d')}${part}?fieldManager=m`, type, { spec: { replicas: 4 }, status: { replicas: 3 } }),
      ]),
    ),
  ),
  'JSON patch of a missing field': (client, name, pad) =>
    client.patch(`${deployments}/${name('d')}`, 'application/json-patch+json', [{ op: 'replace', path: '/spec/nope/x', value: pad }]),
  'JSON patch that tests zero values': (client, name) =>
    client.patch(`${namespace}/replicationcontrollers/${name('r')}`, 'application/json-patch+json', [
      { op: 'test', path: '/status', value: { replicas: 0 } },
    ]),
  'merge patch with nulls in lists': (client, name) =>
    client.patch(`${deployments}/${name('d')}`, merge, {
      spec: { template: { spec: { tolerations: [{ key: null, operator: 'Exists', value: null }] } } },
    }),
  'merge patch that leaves no apiVersion': (client, name) => client.patch(`${deployments}/${name('d')}`, merge, { apiVersion: null }),
  'merge patch of the wrong type': (client, name) => client.patch(`${deployments}/${name('d')}`, merge, { metadata: null, spec: 1 }),
  'malformed merge patch': (client, name, pad) => client.patch(`${deployments}/${name('d')}`, merge, `{"${pad}`),
  'malformed merge patch of a missing object': (client, name, pad) => client.patch(`${deployments}/${name('none')}`, merge, `{"${pad}`),
  'apply of an unknown version': (client, name, pad) =>
    client.patch(`${deployments}/${name('a')}?fieldManager=m`, apply, { ...deployment(name('a'), pad), apiVersion: '/abs' }),
  'apply creates': (client, name, pad) => client.patch(`${deployments}/${name('a')}?fieldManager=m`, apply, deployment(name('a'), pad)),
  'apply in conflict': (client, name, pad) =>
    client.patch(`${deployments}/${name('a')}?fieldManager=n`, apply, deployment(name('a'), pad, {}, 9)),
  'apply to the scale': (client, name) =>
    client.patch(`${deployments}/${name('a')}/scale?fieldManager=n&force=true`, apply, scale(name('a'), 7)),
  'get the applied object': (client, name) => client.get(`${deployments}/${name('a')}`),
  'create in another version': (client, name, pad) =>
    client.post(autoscalers('v1'), {
      metadata: padded(name('h'), pad),
      spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 50, scaleTargetRef: { kind: 'Deployment', name: 'd' } },
    }),
  'get v2': (client, name) => client.get(`${autoscalers('v2')}/${name('h')}`),
  'patch v2': (client, name) => client.patch(`${autoscalers('v2')}/${name('h')}`, merge, { spec: { minReplicas: 2 } }),
  'get v1': (client, name) => client.get(`${autoscalers('v1')}/${name('h')}`),
  'PUT that creates': (client, name, pad) =>
    client.put(`/apis/coordination.cluster.io/v1/namespaces/default/leases/${name('l')}`, { metadata: padded(name('l'), pad), spec: {} }),
  'create with a finalizer': (client, name, pad) =>
    client.post(`${namespace}/configmaps`, { metadata: padded(name('c'), pad, { finalizers: ['a.b/c'] }) }),
  'delete with a finalizer': (client, name) => client.delete(`${namespace}/configmaps/${name('c')}`),
  'remove the finalizer': (client, name) => client.patch(`${namespace}/configmaps/${name('c')}`, merge, { metadata: { finalizers: null } }),
  'numbers beyond 2^53': (client, name, pad) =>
    client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', crdOf(name('numbers'), pad)),
}

function crdOf(plural: string, pad: string): object {
  const properties = {
    n: { type: 'number', maximum: 1e17 },
    i: { type: 'integer', enum: [1, 9_007_199_254_740_991] },
    text: { type: 'string' },
  }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } }]
  const names = { plural, singular: plural, kind: plural.replaceAll('-', '').replace(/^./, 'N') }
  return {
    metadata: padded(`${plural}.example.com`, pad),
    spec: { group: 'example.com', scope: 'Cluster', names: { ...names, listKind: `${names.kind}List` }, versions },
  }
}

describe('large and small objects get the same responses', () => {
  let embedded: Embedded
  before(async () => {
    embedded = await startEmbedded('memory')
  })
  after(() => embedded.close())

  for (const [title, operation] of Object.entries(operations)) {
    test(`${title}`, async () => {
      const responses: string[] = []
      for (const [size, pad] of Object.entries(paddings))
        responses.push(masked(await operation(embedded.client, (prefix) => `${prefix}-${size}`, pad), size))
      const [small = '', large] = responses
      assert.equal(large, small)
      if (title.includes('/scale')) assert.ok(!small.includes('hunter2'), 'a scale shows nothing of the pod template')
    })
  }
})

test('a policy with failurePolicy Ignore is enforced when worker threads are overloaded', async () => {
  const flags = ['--feature-gates=ValidatingAdmissionPolicy=true', '--runtime-config=api/alpha=true', '--worker-threads=1']
  const { client, close } = await startEmbedded('memory', flags)
  try {
    const group = '/apis/admissionregistration.cluster.io/v1alpha1'
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]
    const spec = {
      failurePolicy: 'Ignore',
      matchConstraints: { resourceRules },
      validations: [{ expression: "object.metadata.name == 'never'" }],
    }
    expectStatus(await client.post(`${group}/validatingadmissionpolicies`, { metadata: { name: 'p' }, spec }), 201)
    const binding = { metadata: { name: 'p' }, spec: { policyName: 'p' } }
    expectStatus(await client.post(`${group}/validatingadmissionpolicybindings`, binding), 201)
    const data = { text: 'x'.repeat(1_400_000) }
    const sent = Array.from({ length: 60 }, (_, i) => client.post(`${namespace}/configmaps`, { metadata: { name: `c-${i}` }, data }))
    const statuses = new Set((await Promise.all(sent)).map(({ status }) => status))
    assert.ok(!statuses.has(201), [...statuses].join())
    assert.ok(statuses.has(422))
  } finally {
    await close()
  }
})
