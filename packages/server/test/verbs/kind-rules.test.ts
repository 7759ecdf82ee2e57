// Rules of single kinds, as seen in recordings of kube-apiserver.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiResponse } from '../../../../test/kit/api-client.js'
import { onDefaultEngine } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, makeConfigMap, newNamespace } from '../../../../test/kit/fixtures.js'

const merge = 'application/merge-patch+json'
const apply = 'application/apply-patch+yaml'
const container = { name: 'c', image: 'i' }

interface Details {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
}

const detailsOf = (response: ApiResponse): Details => response.json['details'] as Details

onDefaultEngine('rules of single kinds', (client) => {
  test('annotations that become integer fields must be integers', async () => {
    const namespace = await newNamespace(client(), 'numbers')
    const labels = { a: 'b' }
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } }
    for (const [resource, key] of [
      ['daemonsets', 'deprecated.daemonset.template.generation'],
      ['deployments', 'deprecated.deployment.rollback.to'],
    ] as const) {
      const path = `/apis/apps/v1/namespaces/${namespace}/${resource}`
      const post = (value: string) => client().post(path, { metadata: { name: 'n', annotations: { [key]: value } }, spec })
      for (const value of ['x', '1.5', '9223372036854775808']) expectFailure(await post(value), 400, 'BadRequest')
      expectStatus(await post('3'), 201)
      expectFailure(await client().patch(`${path}/n`, merge, { metadata: { annotations: { [key]: 'x' } } }), 422, 'Invalid')
    }
  })

  test('an error about the clusterIP of a Service names the generated name', async () => {
    const services = `/api/v1/namespaces/${await newNamespace(client(), 'named')}/services`
    const service = { metadata: { generateName: 'g-' }, spec: { clusterIP: '8.8.8.8', ports: [{ port: 80 }] } }
    const { details, message = '' } = expectFailure(await client().post(services, service), 422, 'Invalid')
    assert.match(details?.name ?? '', /^g-[a-z0-9]{5}$/)
    assert.ok(message.startsWith(`Service "${details?.name}" is invalid: spec.clusterIPs`), message)
  })

  test('the template generation annotation of a DaemonSet is not part of PartialObjectMetadata', async () => {
    const namespace = await newNamespace(client(), 'alone')
    const sets = `/apis/apps/v1/namespaces/${namespace}/daemonsets`
    const labels = { a: 'b' }
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } }
    const { json } = expectStatus(await client().post(sets, { metadata: { name: 'd' }, spec }), 201)
    assert.deepEqual(Object.keys(json.metadata.annotations ?? {}), ['deprecated.daemonset.template.generation'])
    const acceptHeader = (as: string) => ({ accept: `application/json;as=${as};v=v1;g=meta.cluster.io` })
    const partial = expectStatus(await client().get(`${sets}/d`, acceptHeader('PartialObjectMetadata')), 200)
    assert.equal(partial.json.metadata.annotations, undefined)
    const list = expectStatus(await client().get(sets, acceptHeader('PartialObjectMetadataList')), 200)
    assert.equal(list.json.items[0]?.metadata.annotations, undefined)
    const rows = async (query: string) =>
      expectStatus(await client().get(`${sets}${query}`, acceptHeader('Table')), 200).json['rows'] as readonly {
        readonly object: typeof json
      }[]
    assert.equal((await rows(''))[0]?.object.metadata.annotations, undefined)
    assert.deepEqual((await rows('?includeObject=Object'))[0]?.object.metadata.annotations, json.metadata.annotations)
  })

  test('clients cannot set deletionTimestamp or deletionGracePeriodSeconds', async () => {
    const namespace = await newNamespace(client(), 'going')
    const deletionTimestamp = '2020-01-01T00:00:00Z'
    const created = await client().post(configMaps(namespace), {
      metadata: { name: 'a', deletionTimestamp, deletionGracePeriodSeconds: 5 },
    })
    assert.equal(expectStatus(created, 201).json.metadata.deletionTimestamp, undefined)
    const path = configMaps(namespace, 'a')
    expectFailure(await client().patch(path, merge, { metadata: { deletionTimestamp } }), 422, 'Invalid')
    expectFailure(await client().patch(path, merge, { metadata: { deletionGracePeriodSeconds: 5 } }), 422, 'Invalid')
    expectFailure(await client().put(path, { metadata: { name: 'a', deletionTimestamp } }), 422, 'Invalid')
    await makeConfigMap(client(), namespace, configMapOf('b', { finalizers: ['x.io/y'] }))
    const terminating = expectStatus(await client().delete(configMaps(namespace, 'b')), 200).json
    const unchanged = expectStatus(await client().patch(configMaps(namespace, 'b'), merge, { metadata: { deletionTimestamp } }), 200).json
    assert.equal(unchanged.metadata.deletionTimestamp, terminating.metadata.deletionTimestamp)
    expectFailure(await client().patch(configMaps(namespace, 'b'), merge, { metadata: { deletionGracePeriodSeconds: 9 } }), 422, 'Invalid')
  })

  test('apply that removes the last finalizer of a terminating object deletes it', async () => {
    const namespace = await newNamespace(client(), 'released')
    const path = `${configMaps(namespace, 'a')}?fieldManager=m`
    const config = (metadata: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata }, data: { k: 'v' } })
    expectStatus(await client().patch(path, apply, config({ finalizers: ['x.io/y'] })), 201)
    expectStatus(await client().delete(configMaps(namespace, 'a')), 200)
    expectStatus(await client().patch(path, apply, config({})), 200)
    expectFailure(await client().get(configMaps(namespace, 'a')), 404, 'NotFound')
  })

  test('podFailurePolicy without conditions, claims in a PersistentVolumeClaim, quantities above 2^63', async () => {
    const namespace = await newNamespace(client(), 'amounts')
    const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs?dryRun=All`
    const job = (rule: object) => ({
      metadata: { name: 'j' },
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [container] } },
        podFailurePolicy: { rules: [{ action: 'Ignore', ...rule }] },
      },
    })
    expectFailure(await client().post(jobs, job({ onPodConditions: [] })), 422, 'Invalid')
    expectStatus(await client().post(jobs, job({ onPodConditions: [], onExitCodes: { operator: 'In', values: [1] } })), 201)
    const claim = await client().post(`/api/v1/namespaces/${namespace}/persistentvolumeclaims`, {
      metadata: { name: 'c' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' }, limits: { storage: '2500m' }, claims: [{ name: 'x' }] },
      },
    })
    const { resources } = expectStatus(claim, 201).json['spec'] as { readonly resources: object }
    assert.deepEqual(resources, { requests: { storage: '1Gi' }, limits: { storage: '2500m' } })
    assert.match(String(claim.headers['warning']), /limits\[storage\]: fractional byte value/)
    const quota = { metadata: { name: 'q' }, spec: { hard: { pods: '10E' } } }
    expectFailure(await client().post(`/api/v1/namespaces/${namespace}/resourcequotas`, quota), 422, 'Invalid')
    const csi = { driver: 'd', volumeHandle: 'h' }
    const volume = (storage: string, secret: string) => ({
      metadata: { name: namespace },
      spec: {
        capacity: { storage },
        accessModes: ['ReadWriteOnce'],
        csi: { ...csi, nodePublishSecretRef: { name: secret, namespace: 'n' } },
      },
    })
    expectFailure(await client().post('/api/v1/persistentvolumes?dryRun=All', volume('10E', 's')), 422, 'Invalid')
    expectFailure(await client().post('/api/v1/persistentvolumes?dryRun=All', volume('1E', 's.t')), 422, 'Invalid')
    expectStatus(await client().post('/api/v1/persistentvolumes?dryRun=All', volume('1E', 's')), 201)
  })

  test('null in data is an empty string; an empty PartialObjectMetadataList has null items', async () => {
    const namespace = await newNamespace(client(), 'nothing')
    const created = await client().post(configMaps(namespace), { metadata: { name: 'a' }, data: { t: null }, binaryData: { b: null } })
    const { data, binaryData } = expectStatus(created, 201).json as unknown as { data: object; binaryData: object }
    assert.deepEqual({ data, binaryData }, { data: { t: '' }, binaryData: { b: '' } })
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.cluster.io'
    const limits = `/api/v1/namespaces/${namespace}/limitranges`
    assert.equal(expectStatus(await client().get(limits, { accept }), 200).json['items'], null)
    expectStatus(await client().post(limits, { metadata: { name: 'l' }, spec: { limits: [] } }), 201)
    assert.equal(expectStatus(await client().get(limits, { accept }), 200).json.items.length, 1)
    assert.deepEqual(expectStatus(await client().get(`/api/v1/namespaces/${namespace}/secrets`), 200).json.items, [])
  })

  test('a failed delete precondition names the kind as other errors of the kind do', async () => {
    const namespace = await newNamespace(client(), 'unmet')
    const policies = `/apis/networking.cluster.io/v1/namespaces/${namespace}/networkpolicies`
    expectStatus(await client().post(policies, { metadata: { name: 'n' }, spec: { podSelector: {} } }), 201)
    const preconditions = { uid: 'other' }
    assert.deepEqual(detailsOf(await client().delete(`${policies}/n`, { preconditions })), {
      name: 'n',
      group: 'extensions',
      kind: 'NetworkPolicy',
    })
    const ofNamespace = await client().delete(`/api/v1/namespaces/${namespace}`, { preconditions })
    assert.deepEqual(detailsOf(ofNamespace), { name: namespace, kind: 'namespaces' })
    await makeConfigMap(client(), namespace, configMapOf('a'))
    assert.deepEqual(detailsOf(await client().delete(configMaps(namespace, 'a'), { preconditions })), { name: 'a', kind: 'ConfigMap' })
  })

  test('DELETE of a Job warns about its pods, also with 404; errors about a pod without a name call it Unknown', async () => {
    const namespace = await newNamespace(client(), 'warned')
    const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`
    const missing = await client().delete(`${jobs}/none`)
    expectFailure(missing, 404, 'NotFound')
    assert.match(String(missing.headers['warning']), /child pods are preserved by default/)
    assert.equal((await client().delete(`${jobs}/none?propagationPolicy=Orphan`)).headers['warning'], undefined)
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const pod = (metadata: object) => ({
      metadata,
      spec: { priorityClassName: 'none', serviceAccountName: 'none', containers: [container] },
    })
    assert.equal(detailsOf(await client().post(pods, pod({}))).name, 'Unknown')
    assert.equal(detailsOf(await client().post(pods, pod({ generateName: 'g-' }))).name, 'g-')
  })
})
