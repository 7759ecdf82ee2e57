// --authorization-mode: Node, ABAC, Webhook, and their order.

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus } from '../../../../test/kit/fixtures.js'
import { FlagFiles } from './make-pki.js'
import { as, bindingOf, rbac, roleOf } from './users.js'

const rulesReviews = '/apis/authorization.cluster.io/v1/selfsubjectrulesreviews'

describe('the Node authorizer', () => {
  let running: Embedded
  before(async () => {
    running = await startEmbedded('lmdb')
  })
  after(() => running.close())
  const kubelet = (node: string) => as(running.client, `system:node:${node}`)
  const nodes = { 'impersonate-group': 'system:nodes' }

  test('kubelets read what pods on their node reference, and write their own Lease', async () => {
    const core = '/api/v1/namespaces/default'
    for (const name of ['used', 'other'])
      expectStatus(await running.client.post(`${core}/secrets`, { metadata: { name }, data: { k: 'eA==' } }), 201)
    const secret = (node: string, name: string) => kubelet(node)('GET', `${core}/secrets/${name}`, undefined, nodes)
    expectFailure(await secret('n1', 'used'), 403, 'Forbidden')
    const volumes = [{ name: 'v', secret: { secretName: 'used' } }]
    const spec = { nodeName: 'n1', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }], volumes }
    expectStatus(await running.client.post(`${core}/pods`, { metadata: { name: 'p' }, spec }), 201)
    expectStatus(await secret('n1', 'used'), 200)
    expectFailure(await secret('n1', 'other'), 403, 'Forbidden')
    const refused = expectFailure(await secret('n2', 'used'), 403, 'Forbidden')
    assert.match(refused.message ?? '', /: no relationship found between node 'n2' and this object$/)
    // The user name alone does not make a kubelet.
    expectFailure(await kubelet('n1')('GET', `${core}/secrets/used`), 403, 'Forbidden')
    expectStatus(await running.client.delete(`${core}/pods/p?gracePeriodSeconds=0`), 200)
    expectFailure(await secret('n1', 'used'), 403, 'Forbidden')
    const leases = '/apis/coordination.cluster.io/v1/namespaces/cluster-node-lease/leases'
    expectStatus(await kubelet('n1')('POST', leases, { metadata: { name: 'n1' } }, nodes), 201)
    expectStatus(await kubelet('n1')('GET', `${leases}/n1`, undefined, nodes), 200)
    expectFailure(await kubelet('n2')('GET', `${leases}/n1`, undefined, nodes), 403, 'Forbidden')
  })
})

describe('the ABAC authorizer', () => {
  const files = new FlagFiles()
  let running: Embedded
  before(async () => {
    const policy = (spec: object) => JSON.stringify({ apiVersion: 'abac.authorization.cluster.io/v1beta1', kind: 'Policy', spec })
    const lines = [
      '# who may',
      policy({ user: 'ann', namespace: 'default', resource: 'configmaps', readonly: true }),
      '{"user":"old","resource":"secrets"}',
    ]
    const path = files.write('policies.jsonl', lines.join('\n'))
    running = await startEmbedded('memory', ['--authorization-mode=ABAC', `--authorization-policy-file=${path}`])
  })
  after(async () => {
    await running.close()
    files.remove()
  })

  test('policies of the file decide, and roles do not', async () => {
    const ann = as(running.client, 'ann')
    expectStatus(await ann('GET', configMaps('default')), 200)
    const refused = expectFailure(await ann('POST', configMaps('default'), configMapOf('a')), 403, 'Forbidden')
    assert.match(refused.message ?? '', /: No policy matched\.$/)
    expectFailure(await ann('GET', '/livez'), 403, 'Forbidden')
    expectStatus(await as(running.client, 'old')('GET', '/api/v1/secrets'), 200)
    expectStatus(await running.client.post(`${rbac}/clusterrolebindings`, bindingOf('ann', 'ClusterRole', 'cluster-admin', 'ann')), 201)
    expectFailure(await ann('GET', '/api/v1/secrets'), 403, 'Forbidden')
  })

  test('an invalid policy file prevents the start', async () => {
    const wrong = files.write('wrong.jsonl', '{"user":"ann"}\n\n{"user":5}\n')
    await assert.rejects(
      startEmbedded('memory', ['--authorization-mode=ABAC', `--authorization-policy-file=${wrong}`]),
      /authorization-policy-file.*line 3: its field "user" must be a string/,
    )
  })
})

describe('the Webhook authorizer', () => {
  const files = new FlagFiles()
  let service: Server
  let running: Embedded
  let calls = 0
  before(async () => {
    service = createServer((request, response) => {
      let text = ''
      request.on('data', (part) => {
        text += part
      })
      request.on('end', () => {
        calls += 1
        const review = JSON.parse(text) as { spec: { user: string } }
        const { user } = review.spec
        if (request.headers.authorization !== 'Bearer hook-secret' || user === 'broken') response.writeHead(403).end('no')
        else response.end(JSON.stringify({ ...review, status: { allowed: user === 'ann', denied: user === 'eve', reason: `as ${user}` } }))
      })
    })
    await new Promise<void>((resolve) => void service.listen(0, '127.0.0.1', resolve))
    const { port } = service.address() as AddressInfo
    const config = files.write(
      'hook.yaml',
      `kind: Config\nclusters: [{name: h, cluster: {server: "http://127.0.0.1:${port}/authorize"}}]\nusers: [{name: u, user: {token: hook-secret}}]\n`,
    )
    running = await startEmbedded('memory', [
      '--authorization-mode=Webhook,RBAC',
      `--authorization-webhook-config-file=${config}`,
      '--authorization-webhook-version=v1',
    ])
    const reader = roleOf('reader', { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] })
    expectStatus(await running.client.post(`${rbac}/clusterroles`, reader), 201)
    for (const user of ['bob', 'eve', 'broken'])
      expectStatus(await running.client.post(`${rbac}/clusterrolebindings`, bindingOf(user, 'ClusterRole', 'reader', user)), 201)
  })
  after(async () => {
    await running.close()
    service.closeAllConnections()
    service.close()
    files.remove()
  })

  test('allows, denies before later authorizers, or has no opinion', async () => {
    expectStatus(await as(running.client, 'ann')('GET', '/api/v1/secrets'), 200)
    expectStatus(await as(running.client, 'bob')('GET', configMaps('default')), 200)
    const denied = expectFailure(await as(running.client, 'bob')('GET', '/api/v1/secrets'), 403, 'Forbidden')
    assert.match(denied.message ?? '', /: as bob$/)
    assert.match(expectFailure(await as(running.client, 'eve')('GET', configMaps('default')), 403, 'Forbidden').message ?? '', /: as eve$/)
    const before = calls
    expectStatus(await as(running.client, 'ann')('GET', '/api/v1/secrets'), 200)
    assert.equal(calls, before, 'the response is cached')
    const rules = (await as(running.client, 'bob')('POST', rulesReviews, { spec: { namespace: 'default' } })).json['status'] as Record<
      string,
      unknown
    >
    assert.deepEqual([rules['incomplete'], rules['evaluationError']], [true, 'webhook authorizer does not support user rule resolution'])
  })

  test('while it fails, other authorizers may allow; otherwise the client gets 500', async () => {
    expectStatus(await as(running.client, 'broken')('GET', configMaps('default')), 200)
    const failed = expectStatus(await as(running.client, 'broken')('GET', '/api/v1/secrets'), 500)
    assert.match(failed.text, /^Internal Server Error: "\/api\/v1\/secrets": the authorization webhook failed: status 403\n$/)
  })
})
