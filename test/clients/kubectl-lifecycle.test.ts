// kubectl (Debian): wait, delete, drain, certificate approval.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep, until } from '../kit/fixtures.js'
import { kubectlSuite, skipBefore } from './kubectl-suite.js'
import { deploymentOf, nodeOf, podOf } from './manifests.js'

/** SelfSubjectReview is alpha in release 1.26. */
const flags = ['--feature-gates=APISelfSubjectReview=true', '--runtime-config=authentication.k8s.io/v1alpha1=true']

kubectlSuite({ title: 'kubectl wait, delete, drain', flags }, (fixture) => {
  test('wait for a condition', async () => {
    const { server, inNewNamespace } = fixture()
    const kubectl = await inNewNamespace()
    await kubectl.send('create -f -', podOf('one'))
    const waiting = kubectl.run('wait --for=condition=Ready pod/one --timeout=20s')
    await sleep(500)
    const status = { status: { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' } }
    const path = `/api/v1/namespaces/${kubectl.access.namespace}/pods/one/status`
    assert.equal((await server.client.patch(path, 'application/merge-patch+json', status)).status, 200)
    const { code, stdout, stderr } = await waiting
    assert.deepEqual({ code, stdout }, { code: 0, stdout: 'pod/one condition met\n' }, stderr)
    assert.match(await kubectl.ok('get pod one'), /^one +0\/1 +Running /m)
    await kubectl.fails('wait --for=condition=Initialized pod/one --timeout=1s', /timed out waiting for the condition/)
  })

  test('wait --for=delete, and delete --wait', async () => {
    const { server, inNewNamespace } = fixture()
    // A kind that no other test watches: they share the server.
    const watches = async (): Promise<number> => {
      const { text } = await server.client.get('/metrics')
      return [...text.matchAll(/^apiserver_longrunning_requests\{.*resource="limitranges".*\} (\d+)$/gm)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      )
    }
    const kubectl = await inNewNamespace()
    await kubectl.send('create -f -', podOf('one', { finalizers: ['test.example/hold'] }))
    assert.match(await kubectl.ok('delete pod one --wait=false'), /pod "one" deleted/)
    assert.match(await kubectl.ok('get pod one'), /^one +0\/1 +Terminating /m)
    const metadata = { name: 'two', finalizers: ['test.example/hold'] }
    await kubectl.send('create -f -', { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits: [] } })
    await kubectl.ok('delete limitrange two --wait=false')
    const waiting = kubectl.run('wait --for=delete limitrange/two --timeout=60s')
    const deleting = kubectl.run('delete limitrange two --timeout=60s')
    await until(watches, (count) => count >= 2)
    for (const target of ['pod one', 'limitrange two'])
      await kubectl.ok(`patch ${target} --type=json -p`, '[{"op":"remove","path":"/metadata/finalizers"}]')
    assert.equal((await waiting).code, 0)
    assert.equal((await deleting).code, 0)
    for (const target of ['pod one', 'limitrange two']) await kubectl.fails(`get ${target}`, /NotFound/)
  })

  test('delete with its options', async () => {
    const kubectl = await fixture().inNewNamespace()
    const pods = ['a', 'b', 'c', 'd', 'e'].map((name) => podOf(name, { labels: { name } }))
    await kubectl.send('create -f -', ...pods, deploymentOf('web'))
    assert.match(await kubectl.ok('delete pod a --now'), /pod "a" deleted/)
    assert.match(await kubectl.ok('delete pod b --grace-period=0 --force'), /pod "b" force deleted/)
    assert.match(await kubectl.ok('delete pods -l', 'name in (c)'), /pod "c" deleted/)
    assert.equal(await kubectl.ok('get pods -o name'), 'pod/d\npod/e\n')
    assert.match(await kubectl.ok('delete deployment/web pod/d'), /deployment\.apps "web" deleted\npod "d" deleted/)
    assert.match(await kubectl.ok('delete pods --all'), /pod "e" deleted/)
    await kubectl.fails('delete pod a', /Error from server \(NotFound\): pods "a" not found/)
    assert.equal(await kubectl.ok('delete pod a --ignore-not-found'), '')
    await kubectl.send('create -f -', podOf('last'))
    assert.match(await kubectl.ok('delete pod last --dry-run=client'), /dry run/)
    await kubectl.ok('delete --raw', `/api/v1/namespaces/${kubectl.access.namespace}/pods/last`)
    await kubectl.fails('get pod last', /NotFound/)
  })

  test('delete namespace deletes its content', async () => {
    const { kubectl, inNewNamespace } = fixture()
    const namespaced = await inNewNamespace()
    await namespaced.send('create -f -', deploymentOf('web'), podOf('one', { finalizers: ['test.example/hold'] }))
    const deleting = kubectl.run(`delete namespace ${namespaced.access.namespace} --timeout=25s`)
    const isTerminating = (text: string): boolean => / Terminating /.test(text)
    await until(() => kubectl.ok(`get namespace ${namespaced.access.namespace}`), isTerminating)
    await until(
      () => namespaced.ok('get deployments -o name'),
      (text) => text === '',
    )
    await namespaced.fails('create configmap late', /because it is being terminated/)
    await namespaced.ok('patch pod one --type=merge -p', '{"metadata":{"finalizers":null}}')
    const { code, stderr } = await deleting
    assert.equal(code, 0, stderr)
    await kubectl.fails(`get namespace ${namespaced.access.namespace}`, /NotFound/)
  })

  test('a PodDisruptionBudget blocks a drain', async () => {
    const { server, inNewNamespace } = fixture()
    const kubectl = await inNewNamespace()
    const node = `guarded-by-${kubectl.access.namespace}`
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'one' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'x' } } },
    }
    await kubectl.send('create -f -', nodeOf(node), budget, podOf('one', { labels: { app: 'x' } }, { nodeName: node }))
    const merge = (path: string, body: unknown) =>
      server.client.patch(`${path.replace('~', kubectl.access.namespace ?? '')}/status`, 'application/merge-patch+json', body)
    const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }
    assert.equal((await merge('/api/v1/namespaces/~/pods/one', running)).status, 200)
    const budgetStatus = { status: { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 } }
    assert.equal((await merge('/apis/policy/v1/namespaces/~/poddisruptionbudgets/one', budgetStatus)).status, 200)
    const { code, stderr } = await kubectl.run(`drain ${node} --force --timeout=2s`)
    assert.equal(code, 1)
    assert.match(stderr, /Cannot evict pod as it would violate the pod's disruption budget/)
    assert.equal((await kubectl.json('get pod one')).metadata.deletionTimestamp, undefined)
  })

  test('nodes: taint, cordon, drain', async () => {
    const { server, inNewNamespace } = fixture()
    const kubectl = await inNewNamespace()
    const node = `node-of-${kubectl.access.namespace}`
    await kubectl.send('create -f -', nodeOf(node), podOf('one', { labels: { app: 'x' } }, { nodeName: node }))
    assert.match(await kubectl.ok(`taint node ${node} role=db:NoSchedule`), /tainted/)
    assert.equal(await kubectl.ok(`get node ${node} -o`, 'jsonpath={.spec.taints[?(@.key=="role")].value}'), 'db')
    await kubectl.ok(`taint node ${node} role-`)
    assert.match(await kubectl.ok(`label node ${node} node-role.kubernetes.io/worker=`), /labeled/)
    assert.match(await kubectl.ok(`get node ${node}`), /Unknown +worker +/)
    assert.match(await kubectl.ok(`cordon ${node}`), /cordoned/)
    assert.match(await kubectl.ok(`get node ${node}`), /SchedulingDisabled/)
    await kubectl.fails(`drain ${node} --timeout=5s`, /declare no controller|not managed by ReplicationController/)
    const draining = kubectl.run(`drain ${node} --force --grace-period=0 --timeout=20s`)
    await sleep(700)
    // No kubelet runs, so the test confirms the deletion of the pod.
    await server.client.delete(`/api/v1/namespaces/${kubectl.access.namespace}/pods/one`, { gracePeriodSeconds: 0 })
    const { code, stderr } = await draining
    assert.equal(code, 0, stderr)
    assert.match(await kubectl.ok(`uncordon ${node}`), /uncordoned/)
  })

  test('auth whoami', skipBefore(27), async () => {
    assert.match(await fixture().kubectl.ok('auth whoami'), /system:masters/)
  })

  test('certificate approve', async () => {
    const { kubectl } = fixture()
    await kubectl.send('create -f -', signingRequest)
    assert.match(await kubectl.ok('get csr jane'), /^jane .* Pending/m)
    assert.match(await kubectl.ok('certificate approve jane'), /certificatesigningrequest\.certificates\.k8s\.io\/jane approved/)
    assert.match(await kubectl.ok('get csr jane'), /^jane .* Approved/m)
  })
})

/** Created with openssl for the user jane; its key was discarded. */
const pem = `-----BEGIN CERTIFICATE REQUEST-----
MIHIMHECAQAwDzENMAsGA1UEAwwEamFuZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABG/7IL1tf8OUgVS60KsMjQsK60cYjC9eoH1IWkE0hp3HoIc1kniY7rHEau3c
0/HlsV+3x4VII+2jpjgjW+BszoKgADAKBggqhkjOPQQDAgNHADBEAiAVyKRDN9tc
2GXn8J4TMZfT/vDi4zl6zUADqms2xFjmWQIgZNAskBHKvLvsz9J3va+BYjolJQaj
ewTO24zISjZe+Fs=
-----END CERTIFICATE REQUEST-----
`

const signingRequest = {
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'jane' },
  spec: { request: Buffer.from(pem).toString('base64'), signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
}
